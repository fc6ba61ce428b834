"""Diagnostics: one question answered twice, with the notes and without them, or by two models, while one looks on."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Any

import gradio as gr

from rag.inspection.comparison import Comparison
from rag.ui import render, render_compare, texts
from rag.ui.background import Background
from rag.ui.desk import Desk, Shown, told
from rag.ui.render import escape

_FOLLOW = 0.2
"""Seconds between two looks at a comparison."""

_PATIENCE = 0.5
"""Seconds between two looks whether chat is done."""


@dataclass
class CompareBox:
    """The box's components, and the comparison that runs or ran last.

    Attributes:
        work: Its steps; it goes on when the page is left, and is found again.
        shown: What is compared.
    """

    box: gr.Accordion
    notes: gr.Button
    models: gr.Button
    other: gr.Dropdown
    stop: gr.Button
    result: gr.HTML
    work: Background[Comparison] | None = None
    shown: Shown | None = None

    @property
    def changing(self) -> list[Any]:
        """What :func:`updates` changes."""
        return [self.notes, self.models, self.stop, self.result]


def compare_box() -> CompareBox:
    """Builds the box, closed."""
    with gr.Accordion(texts.COMPARE, open=False, elem_id="compare") as box:
        gr.HTML(f'<p class="fn-quiet">{escape(texts.COMPARE_INFO)}</p>', apply_default_css=False)
        with gr.Row(elem_classes="fn-buttons fn-compare-row"):
            notes = gr.Button(texts.COMPARE_NOTES_DO, min_width=190, elem_id="compare-notes")
            other = gr.Dropdown(
                label=texts.COMPARE_OTHER,
                choices=[(texts.COMPARE_NO_OTHER_CHOICE, "")],
                value="",
                interactive=False,
                filterable=False,
                min_width=200,
                elem_id="compare-other",
            )
            models = gr.Button(texts.COMPARE_MODELS_DO, min_width=120, interactive=False, elem_id="compare-models")
            stop = gr.Button(texts.COMPARE_STOP, visible=False, min_width=90, elem_id="compare-stop")
        result = gr.HTML(apply_default_css=False, elem_id="compared")
    return CompareBox(box, notes, models, other, stop, result)


def updates(box: CompareBox, shown: Shown | None) -> dict[Any, Any]:
    """How far the comparison is, and the buttons that fit; nothing of one that was about another question."""
    running = box.work is not None and box.work.running
    stopping = running and box.work is not None and box.work.stopping
    return {
        box.notes: gr.update(interactive=not running),
        box.models: gr.update(interactive=not running and bool(box.other.choices)),
        box.stop: gr.update(visible=running, interactive=not stopping),
        box.result: _result(box) if running or box.shown == shown else "",
    }


def _result(box: CompareBox) -> str:
    if box.work is None:
        return ""
    latest = box.work.events[-1] if box.work.events else None
    body = render_compare.comparison(latest) if latest is not None else ""
    if box.work.error is not None:
        return body + render.notice(box.work.error.message, box.work.error.hint, "error")
    stopped = not box.work.running and (latest is None or not latest.ended)
    return body + (render.notice(texts.COMPARE_STOPPED, kind="quiet") if stopped else "")


def others(desk: Desk, box: CompareBox) -> dict[Any, Any]:
    """The models to compare with; asks the servers that may have some."""
    found = desk.engine.inspector.comparable()
    box.other.choices = [(model.label, model.id) for model in found]
    running = box.work is not None and box.work.running
    return {
        box.other: gr.update(
            choices=box.other.choices or [(texts.COMPARE_NO_OTHER_CHOICE, "")],
            value=found[0].id if found else "",
            interactive=bool(found),
            info=None if found else texts.COMPARE_NO_OTHER,
        ),
        box.models: gr.update(interactive=bool(found) and not running),
    }


def giving_way(
    begin: Callable[[], Generator[Comparison, None, None]], is_busy: Callable[[], bool]
) -> Iterator[Comparison]:
    """A comparison that lets chat go first: it waits for an answer that is being written, and then begins anew.

    A model that runs on this machine answers one question at a time.
    """
    while True:
        events = begin()
        try:
            for event in events:
                yield event
                if is_busy() and not event.ended:
                    break
            else:
                return
        finally:
            events.close()
        while is_busy():
            yield event  # so that a wish to stop is heard
            time.sleep(_PATIENCE)


def wire_compare(desk: Desk, box: CompareBox, shown: gr.State) -> None:
    """Lets the person compare, look on and stop."""

    def is_answering() -> bool:
        return desk.answering is not None and desk.answering.work.running

    def start(looked_at: Shown | None, begin: Callable[[Shown], Generator[Comparison, None, None]]) -> dict[Any, Any]:
        if looked_at is None:
            gr.Info(texts.COMPARE_NOTHING_SHOWN, title="")
        elif box.work is not None and box.work.running:
            gr.Info(texts.COMPARE_BUSY, title="")
        elif is_answering():
            gr.Info(texts.COMPARE_AFTER_CHAT, title="")
        else:
            box.shown = looked_at
            box.work = Background(giving_way(lambda: begin(looked_at), is_answering))
        return updates(box, looked_at)

    @told
    def compare_notes(looked_at: Shown | None) -> dict[Any, Any]:
        inspector = desk.engine.inspector
        return start(looked_at, lambda one: inspector.with_and_without(one.library, one.retrieval, one.trace))

    @told
    def compare_models(looked_at: Shown | None, other: str) -> dict[Any, Any]:
        inspector = desk.engine.inspector
        return start(looked_at, lambda one: inspector.two_models(one.library, one.retrieval, one.trace, other))

    def follow(looked_at: Shown | None) -> Iterator[dict[Any, Any]]:
        if box.work is None:
            yield updates(box, looked_at)
            return
        for _ in box.work.changes(_FOLLOW):
            yield updates(box, looked_at)

    def stop(looked_at: Shown | None) -> dict[Any, Any]:
        if box.work is not None:
            box.work.stop()
        return updates(box, looked_at)

    @told
    def opened() -> dict[Any, Any]:
        return others(desk, box)

    quiet: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
    following: dict[str, Any] = {**quiet, "concurrency_limit": None}
    box.notes.click(compare_notes, shown, box.changing, **quiet).then(follow, shown, box.changing, **following)
    box.models.click(compare_models, [shown, box.other], box.changing, **quiet).then(
        follow, shown, box.changing, **following
    )
    box.box.expand(opened, None, [box.other, box.models], **quiet).then(follow, shown, box.changing, **following)
    box.stop.click(stop, shown, box.changing, queue=False, **quiet)
    shown.change(lambda looked_at: updates(box, looked_at), shown, box.changing, **quiet)
