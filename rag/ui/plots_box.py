"""What a question's search looks like: scores and ranks from step to step, and a map of the library around it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gradio as gr

from rag.answering.remarks import was_asked
from rag.errors import RagError
from rag.ui import render_charts, texts
from rag.ui.desk import Desk, Shown
from rag.ui.render import notice


@dataclass
class PlotsBox:
    """The box's components; ``is_open`` says whether anything needs to be drawn."""

    box: gr.Accordion
    is_open: gr.State
    drawn: gr.HTML


def plots_box() -> PlotsBox:
    """Builds the box, closed."""
    is_open = gr.State(False)
    with gr.Accordion(texts.PLOTS, open=False, elem_id="plots") as box:
        drawn = gr.HTML(apply_default_css=False, elem_id="drawn")
    return PlotsBox(box, is_open, drawn)


def wire_plots(desk: Desk, box: PlotsBox, shown: gr.State) -> None:
    """Draws what is shown when the box is opened, and again when something else is shown."""

    def draw(of: Shown | None) -> str:
        if of is None:
            return notice(texts.PLOTS_NOTHING, kind="quiet")
        sent = of.trace.prompt if of.trace is not None and was_asked(of.trace) else None
        scores = render_charts.scores(of.retrieval, sent)
        try:
            return scores + render_charts.passage_map(desk.engine.inspector.passage_map(of.library, of.retrieval))
        except RagError as error:
            return scores + notice(error.message, error.hint, "quiet")

    def draw_again(of: Shown | None, is_open: bool) -> Any:
        return draw(of) if is_open else ""

    quiet: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
    box.box.expand(lambda: True, None, box.is_open, **quiet).then(draw, shown, box.drawn, **quiet)
    box.box.collapse(lambda: False, None, box.is_open, **quiet)
    shown.change(draw_again, [shown, box.is_open], box.drawn, **quiet)
