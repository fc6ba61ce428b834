"""“Why not this?”: a person names a file, a page or words, or clicks a passage, and is told how far it came."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gradio as gr

from rag.errors import QueryError
from rag.inspection.explain import Wanted
from rag.ui import render, render_why, texts
from rag.ui.desk import Desk, Shown, page_number, script, told

_SHOW = """() => setTimeout(
    () => document.getElementById("why").scrollIntoView({ block: "start", behavior: "smooth" }), 200
)"""
"""Brings the box to the top, once what it holds has been drawn."""


@dataclass
class WhyBox:
    """The box's components; ``told`` holds the account, and what is clicked in it asks for another one."""

    box: gr.Accordion
    file: gr.Textbox
    page: gr.Textbox
    phrase: gr.Textbox
    ask: gr.Button
    told: gr.HTML


def why_box(desk: Desk) -> WhyBox:
    """Builds the box, closed."""
    with gr.Accordion(texts.WHY, open=False, elem_id="why") as box:
        gr.HTML(f'<p class="fn-quiet">{render.escape(texts.WHY_INFO)}</p>', apply_default_css=False)
        with gr.Row(elem_classes="fn-fields"):
            file = gr.Textbox(label=texts.WHY_FILE, placeholder="heron, *.pdf", max_lines=1, min_width=150)
            page = gr.Textbox(label=texts.WHY_PAGE, placeholder="3", max_lines=1, min_width=90)
            phrase = gr.Textbox(
                label=texts.WHY_PHRASE, placeholder="every 6 hours", max_lines=1, min_width=200, scale=2
            )
        ask = gr.Button(texts.WHY_ASK, elem_id="ask-why")
        account = gr.HTML(js_on_load=script("actions.js"), apply_default_css=False, elem_id="why-told")
    return WhyBox(box, file, page, phrase, ask, account)


def wire_why(desk: Desk, box: WhyBox, library: gr.State, shown: gr.State, *reports: gr.HTML) -> None:
    """Wires the box, and the passages' buttons in what is rendered elsewhere.

    Args:
        desk: What the page shares.
        box: The box.
        library: The library in use.
        shown: What the part speaks of.
        *reports: Pieces of the page in which a passage can be clicked.
    """

    def account(of: Shown | None, wanted: Wanted) -> str:
        if of is None:
            raise QueryError(texts.WHY_NO_QUESTION, texts.DIAGNOSTICS_EMPTY)
        return render_why.explanation(desk.engine.inspector.why(of.library, wanted, of.retrieval, of.trace))

    @told
    def ask(of: Shown | None, file: str, page: str, phrase: str) -> str:
        return account(of, Wanted(file=file, page=page_number(page), phrase=phrase))

    @told
    def clicked(event: gr.EventData, of: Shown | None) -> dict[Any, Any]:
        return {box.box: gr.update(open=True), box.told: account(of, Wanted(chunk=str(event.chunk)))}

    events: dict[str, Any] = {"show_progress": "minimal", "api_visibility": "private"}
    asked = [shown, box.file, box.page, box.phrase]
    gr.on([box.ask.click, box.file.submit, box.page.submit, box.phrase.submit], ask, asked, box.told, **events)
    for report in (box.told, *reports):
        report.why(clicked, shown, [box.box, box.told], **events).success(None, None, None, js=_SHOW)
    shown.change(lambda: "", None, box.told, show_progress="hidden", api_visibility="private")
