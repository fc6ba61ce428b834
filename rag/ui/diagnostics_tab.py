"""The Diagnostics tab: what was searched, found, sent and measured, and whether all parts are well."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gradio as gr

from rag.ui import render, render_diagnostics, texts
from rag.ui.desk import Desk, script, told


@dataclass
class DiagnosticsTab:
    """The tab's components."""

    query: gr.Textbox
    last: gr.Button
    report: gr.HTML
    health: gr.HTML
    check: gr.Button


def diagnostics_tab() -> DiagnosticsTab:
    """Builds the tab."""
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
    gr.HTML(f'<h3 class="fn-title">{render.escape(texts.SECTION_HEALTH)}</h3>', apply_default_css=False)
    health = gr.HTML(
        f'<p class="fn-quiet">{render.escape(texts.HEALTH_WAITING)}</p>', apply_default_css=False, elem_id="health"
    )
    check = gr.Button(texts.HEALTH_AGAIN, size="sm", elem_id="check")
    return DiagnosticsTab(query, last, report, health, check)


def last_report(desk: Desk, library: str) -> str:
    """The report on the library's last question, or how to get one."""
    trace = desk.engine.last_trace(library)
    if trace is None:
        return render.notice(texts.DIAGNOSTICS_EMPTY, kind="quiet")
    return render_diagnostics.report(trace.retrieval, trace)


def exchange_report(desk: Desk, library: str, conversation: int | None, index: int) -> str:
    """The report on one exchange of a conversation."""
    exchanges = desk.engine.exchanges(library, conversation) if conversation is not None else ()
    if index >= len(exchanges):
        return last_report(desk, library)
    trace = exchanges[index].trace
    return render_diagnostics.report(trace.retrieval, trace)


def wire_diagnostics(desk: Desk, tab: DiagnosticsTab, library: gr.State) -> None:
    """Lets the person search without answering and look at the last question."""

    @told
    def search(query: str, in_library: str) -> Any:
        if not query.strip():
            return gr.skip()
        return render_diagnostics.report(desk.engine.search(in_library, query.strip()), None)

    @told
    def last(in_library: str) -> str:
        return last_report(desk, in_library)

    @told
    def check(in_library: str) -> str:
        return render_diagnostics.health(desk.engine.health(in_library))

    shown: dict[str, Any] = {"show_progress": "minimal", "api_visibility": "private"}
    tab.query.submit(search, [tab.query, library], tab.report, **shown)
    tab.last.click(last, library, tab.report, **shown)
    tab.check.click(check, library, tab.health, **shown)
