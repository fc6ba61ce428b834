"""Diagnostics, third part: whether everything on this machine is well, and what to do where it is not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gradio as gr

from rag.ui import render, render_machine, texts
from rag.ui.desk import Desk, told
from rag.ui.untrusted_box import UntrustedBox, untrusted_box, wire_untrusted


@dataclass
class MachinePart:
    """The part's components; ``page`` is the sub-tab, which looks at the machine when it is opened."""

    page: gr.Tab
    health: gr.HTML
    check: gr.Button
    measure: gr.Button
    sharing: gr.HTML
    way: gr.Radio
    untrusted: UntrustedBox


def machine_part(desk: Desk, page: gr.Tab) -> MachinePart:
    """Builds the part."""
    health = gr.HTML(
        f'<p class="fn-quiet">{render.escape(texts.HEALTH_WAITING)}</p>', apply_default_css=False, elem_id="health"
    )
    with gr.Row(elem_classes="fn-buttons"):
        check = gr.Button(texts.HEALTH_AGAIN, min_width=120, elem_id="check")
        measure = gr.Button(texts.MACHINE_MEASURE, min_width=160, elem_id="measure-embedding")
    sharing = gr.HTML(apply_default_css=False, elem_id="sharing")
    way = gr.Radio(
        label=texts.SHARING_CHOOSE,
        info=texts.SHARING_CHOOSE_INFO,
        choices=[(label, name) for name, label in texts.SHARING_CHOICES.items()],
        value=desk.engine.inspector.sharing.wanted,
        visible=False,
        elem_id="sharing-way",
    )
    return MachinePart(page, health, check, measure, sharing, way, untrusted_box())


def updates(desk: Desk, part: MachinePart, library: str) -> dict[Any, Any]:
    """The machine as it is now."""
    return {part.health: render_machine.health(desk.engine.health(library)), **_shared(desk, part, library)}


def _shared(desk: Desk, part: MachinePart, library: str) -> dict[Any, Any]:
    inspector = desk.engine.inspector
    plan = inspector.sharing_plan(library)
    fixed = desk.engine.settings.sharing != "auto"
    return {
        part.sharing: render_machine.sharing(plan, inspector.sharing.taken, "FOOTNOTE_SHARING" if fixed else ""),
        part.way: gr.update(value=plan.wanted, visible=plan.way != "none" and not fixed),
    }


def wire_machine(desk: Desk, part: MachinePart, library: gr.State) -> None:
    """Looks when the part is opened and when a person wants it; lets the person choose how the card is shared."""
    everything = [part.health, part.sharing, part.way]
    events: dict[str, Any] = {"show_progress": "minimal", "api_visibility": "private"}

    @told
    def look(in_library: str) -> dict[Any, Any]:
        return updates(desk, part, in_library)

    @told
    def measure(in_library: str) -> dict[Any, Any]:
        desk.engine.inspector.measure(in_library)
        return updates(desk, part, in_library)

    @told
    def choose(way: str, in_library: str) -> dict[Any, Any]:
        desk.engine.inspector.sharing.choose(way)
        return _shared(desk, part, in_library)

    wire_untrusted(desk, part.untrusted, library)
    part.page.select(look, library, everything, show_progress="hidden", api_visibility="private")
    part.check.click(look, library, everything, **events)
    part.measure.click(measure, library, everything, **events)
    part.way.input(choose, [part.way, library], [part.sharing, part.way], **events)
