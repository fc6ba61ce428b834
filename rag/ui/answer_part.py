"""Diagnostics, first part: what was searched, found, sent, answered and measured for one question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gradio as gr

from rag.ui import render, render_diagnostics, texts
from rag.ui.desk import Desk, Shown, script, told


@dataclass
class AnswerPart:
    """The part's components; ``shown`` holds the :class:`~rag.ui.desk.Shown` that all of it speaks of, or None."""

    query: gr.Textbox
    last: gr.Button
    shown: gr.State
    report: gr.HTML


def answer_part(desk: Desk) -> AnswerPart:
    """Builds the part."""
    shown = gr.State(None)
    with gr.Row(elem_classes="fn-buttons"):
        query = gr.Textbox(
            label=texts.SEARCH_LABEL,
            show_label=False,
            container=False,
            placeholder=f"{texts.SEARCH_LABEL}…",
            max_lines=1,
            scale=4,
            min_width=220,
            submit_btn=texts.SEARCH,
            elem_id="query",
        )
        last = gr.Button(texts.LAST_QUESTION, scale=1, min_width=130, elem_id="last")
    report = gr.HTML(
        render.notice(texts.DIAGNOSTICS_EMPTY, kind="quiet"),
        js_on_load=script("actions.js"),
        apply_default_css=False,
        elem_id="report",
    )
    return AnswerPart(query, last, shown, report)


def last_shown(desk: Desk, library: str) -> Shown | None:
    """The library's last question."""
    trace = desk.engine.last_trace(library)
    return Shown(library, trace.retrieval, trace) if trace is not None else None


def exchange_shown(desk: Desk, library: str, conversation: int | None, index: int) -> Shown | None:
    """One exchange of a conversation."""
    exchanges = desk.engine.exchanges(library, conversation) if conversation is not None else ()
    if index >= len(exchanges):
        return last_shown(desk, library)
    trace = exchanges[index].trace
    return Shown(library, trace.retrieval, trace)


def outputs(part: AnswerPart) -> list[Any]:
    """The components that change with what is shown."""
    return [part.shown, part.report]


def updates(part: AnswerPart, shown: Shown | None) -> dict[Any, Any]:
    """The part for what is shown, or how to get something to look at."""
    if shown is None:
        return {part.shown: None, part.report: render.notice(texts.DIAGNOSTICS_EMPTY, kind="quiet")}
    return {part.shown: shown, part.report: render_diagnostics.report(shown.retrieval, shown.trace)}


def wire_answer(desk: Desk, part: AnswerPart, library: gr.State) -> None:
    """Lets the person search without answering and look at the last question."""

    @told
    def search(query: str, in_library: str) -> Any:
        if not query.strip():
            return gr.skip()
        return updates(part, Shown(in_library, desk.engine.search(in_library, query.strip())))

    @told
    def last(in_library: str) -> dict[Any, Any]:
        return updates(part, last_shown(desk, in_library))

    events: dict[str, Any] = {"show_progress": "minimal", "api_visibility": "private"}
    part.query.submit(search, [part.query, library], outputs(part), **events)
    part.last.click(last, library, outputs(part), **events)
