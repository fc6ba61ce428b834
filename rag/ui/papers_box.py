"""Papers from arXiv: what is wanted, how far the fetch is, and what could not be had."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gradio as gr

from rag.errors import SourceError
from rag.types import FetchStatus
from rag.ui import render_ingest, texts
from rag.ui.desk import Desk, told
from rag.ui.render import escape

_MOST = 200
_USUAL = 10


@dataclass
class PapersBox:
    """The box's components."""

    wanted: gr.Textbox
    limit: gr.Number
    fetch: gr.Button
    stop: gr.Button
    status: gr.HTML

    @property
    def changing(self) -> list[Any]:
        """What :func:`updates` changes."""
        return [self.fetch, self.stop, self.status]


def papers_box() -> PapersBox:
    """Builds the box."""
    with gr.Accordion(texts.PAPERS, open=False, elem_id="papers"):
        gr.HTML(f'<p class="fn-quiet">{escape(texts.PAPERS_INFO)}</p>', apply_default_css=False)
        with gr.Row(elem_classes="fn-columns"):
            wanted = gr.Textbox(
                label=texts.PAPERS_WANTED,
                placeholder=texts.PAPERS_PLACEHOLDER,
                max_lines=4,
                scale=5,
                min_width=240,
                elem_id="wanted",
            )
            limit = gr.Number(
                label=texts.PAPERS_LIMIT,
                value=_USUAL,
                precision=0,
                minimum=1,
                maximum=_MOST,
                scale=1,
                min_width=90,
                elem_id="limit",
            )
        with gr.Row(elem_classes="fn-buttons"):
            fetch = gr.Button(texts.PAPERS_FETCH, min_width=140, elem_id="fetch")
            stop = gr.Button(texts.PAPERS_STOP, visible=False, min_width=90, elem_id="stop-fetch")
        status = gr.HTML(apply_default_css=False, elem_id="fetching")
    return PapersBox(wanted, limit, fetch, stop, status)


def is_fetching(status: FetchStatus) -> bool:
    """Whether papers are being fetched."""
    return status.state in ("running", "stopping")


def updates(box: PapersBox, status: FetchStatus) -> dict[Any, Any]:
    """How far the fetch is, and the buttons that fit."""
    running = is_fetching(status)
    return {
        box.status: render_ingest.fetch(status),
        box.fetch: gr.update(interactive=not running),
        box.stop: gr.update(visible=running, interactive=status.state == "running"),
    }


def wire_papers(desk: Desk, box: PapersBox, library: gr.State, timer: gr.Timer) -> None:
    """Lets the person fetch papers and stop."""
    engine = desk.engine

    @told
    def fetch(in_library: str, wanted: str, limit: int | None) -> dict[Any, Any]:
        if not wanted.strip():
            raise SourceError(texts.PAPERS_EMPTY)
        engine.start_fetch(in_library, wanted.strip(), limit or _USUAL)
        return {timer: gr.Timer(active=True), **updates(box, engine.fetch_status(in_library))}

    @told
    def stop(in_library: str) -> dict[Any, Any]:
        engine.stop_fetch(in_library)
        return updates(box, engine.fetch_status(in_library))

    quiet: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
    asked = [library, box.wanted, box.limit]
    box.fetch.click(fetch, asked, [timer, *box.changing], **quiet)
    box.wanted.submit(fetch, asked, [timer, *box.changing], **quiet)
    box.stop.click(stop, library, box.changing, **quiet)
