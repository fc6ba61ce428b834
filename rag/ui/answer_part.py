"""Diagnostics, first part: what was searched, found, sent, answered and measured for one question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gradio as gr

from rag.answering.remarks import was_asked
from rag.engine import Engine
from rag.errors import RagError
from rag.ui import render, render_diagnostics, render_ledger, texts
from rag.ui.bundle_box import BundleBox, bundle_box, wire_bundle
from rag.ui.compare_box import CompareBox, compare_box, wire_compare
from rag.ui.desk import Desk, Shown, script, told
from rag.ui.plots_box import PlotsBox, plots_box, wire_plots
from rag.ui.why_box import WhyBox, why_box, wire_why


@dataclass
class AnswerPart:
    """The part's components.

    Attributes:
        engine: Where the answers come from.
        query: Words to search without an answer.
        last: Shows the library's last question.
        shown: Holds the :class:`~rag.ui.desk.Shown` that all of the part speaks of, or None.
        report: The five steps, and each of them in its order.
        prompt: What was sent to the model.
        why: Why a passage was not read.
        compare: The question answered a second time, otherwise.
        plots: Scores step by step, and a map.
        bundle: The answer as a file, and its question asked once more.
    """

    engine: Engine
    query: gr.Textbox
    last: gr.Button
    shown: gr.State
    report: gr.HTML
    prompt: gr.HTML
    why: WhyBox
    compare: CompareBox
    plots: PlotsBox
    bundle: BundleBox


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
    prompt = gr.HTML("", js_on_load=script("actions.js"), apply_default_css=False, elem_id="prompt")
    why = why_box(desk)
    compare = compare_box()
    plots = plots_box()
    bundle = bundle_box(desk)
    return AnswerPart(desk.engine, query, last, shown, report, prompt, why, compare, plots, bundle)


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
    return [part.shown, part.report, part.prompt]


def updates(part: AnswerPart, shown: Shown | None) -> dict[Any, Any]:
    """The part for what is shown, or how to get something to look at."""
    if shown is None:
        return {part.shown: None, part.report: _waiting(part.engine), part.prompt: ""}
    also = {hit.chunk.library for hit in shown.retrieval.hits} - {""}
    reading = part.engine.inspector.reading(shown.library, *also, found=shown.retrieval)
    sent = shown.trace.prompt if shown.trace is not None and was_asked(shown.trace) else None
    return {
        part.shown: shown,
        part.report: render_diagnostics.report(shown.retrieval, shown.trace, reading),
        part.prompt: render_ledger.prompt(sent) if shown.trace is not None else "",
    }


def _waiting(engine: Engine) -> str:
    """What there is to see before the first question."""
    try:
        return render_ledger.waiting(engine.inspector.reading(engine.default_library()))
    except RagError:  # a library that cannot be opened says so where it is chosen
        return render.notice(texts.DIAGNOSTICS_EMPTY, kind="quiet")


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

    def rendered(shown: Shown | None) -> Any:
        trace = shown.trace if shown is not None else None
        if trace is None:
            return gr.skip()
        try:
            return render_ledger.prompt(trace.prompt, desk.engine.inspector.rendered(trace))
        except RagError as error:
            return render_ledger.prompt(trace.prompt, problem=f"{error.message} {error.hint}")

    events: dict[str, Any] = {"show_progress": "minimal", "api_visibility": "private"}
    part.query.submit(search, [part.query, library], outputs(part), **events)
    part.last.click(last, library, outputs(part), **events)
    part.prompt.rendered(rendered, part.shown, part.prompt, **events)
    wire_why(desk, part.why, library, part.shown, part.report)
    wire_compare(desk, part.compare, part.shown)
    wire_plots(desk, part.plots, part.shown)
    wire_bundle(desk, part.bundle, library, part.shown, lambda new: updates(part, new), outputs(part))
