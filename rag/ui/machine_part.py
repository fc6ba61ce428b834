"""Diagnostics, third part: whether everything on this machine is well, and what to do where it is not."""

from __future__ import annotations

from dataclasses import dataclass

import gradio as gr

from rag.ui import render, render_diagnostics, texts
from rag.ui.desk import Desk, told


@dataclass
class MachinePart:
    """The part's components."""

    health: gr.HTML
    check: gr.Button


def machine_part(desk: Desk) -> MachinePart:
    """Builds the part."""
    health = gr.HTML(
        f'<p class="fn-quiet">{render.escape(texts.HEALTH_WAITING)}</p>', apply_default_css=False, elem_id="health"
    )
    check = gr.Button(texts.HEALTH_AGAIN, size="sm", elem_id="check")
    return MachinePart(health, check)


def wire_machine(desk: Desk, part: MachinePart, library: gr.State) -> None:
    """Lets the person look again."""

    @told
    def check(in_library: str) -> str:
        return render_diagnostics.health(desk.engine.health(in_library))

    part.check.click(check, library, part.health, show_progress="minimal", api_visibility="private")
