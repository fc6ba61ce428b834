"""Untrusted text in the library: all passages that hold hidden text, or text that speaks to a model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import gradio as gr

from rag.errors import RagError
from rag.ui import render_untrusted, texts
from rag.ui.desk import Desk, script
from rag.ui.render import escape, notice


@dataclass
class UntrustedBox:
    """The box's components."""

    look: gr.Button
    stop: gr.Button
    found: gr.HTML


def untrusted_box() -> UntrustedBox:
    """Builds the box, closed."""
    with gr.Accordion(texts.UNTRUSTED, open=False, elem_id="untrusted"):
        gr.HTML(f'<p class="fn-quiet">{escape(texts.UNTRUSTED_INFO)}</p>', apply_default_css=False)
        with gr.Row(elem_classes="fn-buttons"):
            look = gr.Button(texts.UNTRUSTED_LOOK, min_width=160, elem_id="look-untrusted")
            stop = gr.Button(texts.UNTRUSTED_STOP, visible=False, min_width=90, elem_id="stop-untrusted")
        found = gr.HTML(js_on_load=script("actions.js"), apply_default_css=False, elem_id="found-untrusted")
    return UntrustedBox(look, stop, found)


def wire_untrusted(desk: Desk, box: UntrustedBox, library: gr.State) -> None:
    """Looks through the library when a person wants it, and lets them stop."""
    changing = [box.look, box.stop, box.found]
    quiet: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}

    def buttons(*, running: bool) -> dict[Any, Any]:
        return {box.look: gr.update(interactive=not running), box.stop: gr.update(visible=running)}

    def look(in_library: str) -> Iterator[dict[Any, Any]]:
        try:
            for screening in desk.engine.inspector.untrusted(in_library):
                yield {**buttons(running=True), box.found: render_untrusted.screening(screening)}
        except RagError as error:
            yield {box.found: notice(error.message, error.hint, "error")}
        yield buttons(running=False)

    def stop() -> dict[Any, Any]:
        return buttons(running=False)

    looking = box.look.click(look, library, changing, concurrency_limit=None, **quiet)
    box.stop.click(stop, None, [box.look, box.stop], cancels=[looking], **quiet)
    library.change(lambda: "", None, box.found, **quiet)  # what was found was in another library
