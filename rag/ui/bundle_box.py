"""Diagnostics: an answer saved as a replay bundle, a bundle opened, and its question asked once more."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from typing import Any

import gradio as gr

from rag.errors import RagError
from rag.inspection.bundle import Bundle, Replay, from_json, to_json
from rag.types import Trace
from rag.ui import render, render_bundle, texts
from rag.ui.background import Background
from rag.ui.desk import Desk, Shown, script, told

_FOLLOW = 0.2
"""Seconds between two looks at a second run."""

_KEPT = 8
"""Answers that can be saved from pages that are still open."""


@dataclass
class BundleBox:
    """The box's components, and what it holds between two clicks.

    Attributes:
        controls: Save and open.
        run: Asks the question once more.
        stop: Ends that.
        result: What it showed.
        kept: By the id of an answer that is or was shown, where it was asked and what is known of it.
        opened: By the id of an answer, the bundle that it was opened from.
        work: The second run at work, or the last one.
        then: The answer that it repeats.
    """

    controls: gr.HTML
    run: gr.Button
    stop: gr.Button
    result: gr.HTML
    kept: dict[str, Shown] = field(default_factory=dict)
    opened: dict[str, Bundle] = field(default_factory=dict)
    work: Background[Replay] | None = None
    then: Trace | None = None

    @property
    def changing(self) -> list[Any]:
        """What :func:`updates` changes."""
        return [self.controls, self.run, self.stop, self.result]


def bundle_box(desk: Desk) -> BundleBox:
    """Builds the box, closed."""

    def save(asked: dict[str, str]) -> dict[str, str]:
        shown = box.kept.get(asked["key"])
        if shown is None or shown.trace is None:
            return {}
        try:
            bundle = _bundle(desk, box, shown)
        except RagError:  # a library that cannot be opened says so where it is chosen
            return {}
        stem = re.sub(r"[^\w-]+", " ", bundle.trace.retrieval.question).strip()[:60] or "answer"
        if asked["kind"] == "html":
            return {"name": f"{stem}.html", "type": "text/html", "text": render_bundle.page(bundle)}
        return {"name": f"{stem}.footnote.json", "type": "application/json", "text": to_json(bundle)}

    with gr.Accordion(texts.BUNDLE, open=False, elem_id="bundle"):
        controls = gr.HTML(
            render_bundle.controls(None),
            js_on_load=script("bundle.js"),
            server_functions=[save],
            apply_default_css=False,
            elem_id="bundle-controls",
        )
        with gr.Row(elem_classes="fn-buttons"):
            run = gr.Button(texts.REPLAY, interactive=False, min_width=140, elem_id="replay")
            stop = gr.Button(texts.REPLAY_STOP, visible=False, min_width=90, elem_id="replay-stop")
        result = gr.HTML(apply_default_css=False, elem_id="replayed")
    box = BundleBox(controls, run, stop, result)
    return box


def updates(box: BundleBox, shown: Shown | None) -> dict[Any, Any]:
    """The buttons that fit what is shown, and how far the second run of it is."""
    trace = shown.trace if shown is not None else None
    if shown is not None and trace is not None:
        box.kept[trace.id] = shown
        for some in (box.kept, box.opened):
            while len(some) > _KEPT:
                some.pop(next(iter(some)))
    running = box.work is not None and box.work.running
    return {
        box.controls: render_bundle.controls(trace),
        box.run: gr.update(interactive=trace is not None and not running),
        box.stop: gr.update(visible=running),
        box.result: _result(box) if trace is not None and box.then is not None and box.then.id == trace.id else "",
    }


def _result(box: BundleBox) -> str:
    if box.work is None or box.then is None:
        return ""
    last = box.work.events[-1] if box.work.events else Replay()
    body = render_bundle.replay(box.then, last)
    if box.work.error is not None:
        return body + render.notice(box.work.error.message, box.work.error.hint, "error")
    stopped = not box.work.running and last.differences is None
    return body + (render.notice(texts.REPLAY_STOPPED, kind="quiet") if stopped else "")


def _bundle(desk: Desk, box: BundleBox, shown: Shown) -> Bundle:
    """The bundle that an answer was opened from, else one made of it now."""
    if shown.trace is None:
        raise ValueError("A search without an answer has no bundle.")
    return box.opened.get(shown.trace.id) or desk.engine.inspector.bundle(shown.library, shown.trace)


def _giving_way(events: Generator[Replay, None, None], is_busy: Callable[[], bool]) -> Iterator[Replay]:
    """A second run that ends where chat wants the model: it can be begun again, and chat need not wait."""
    try:
        for event in events:
            yield event
            if is_busy() and event.differences is None:
                return
    finally:
        events.close()


def wire_bundle(
    desk: Desk,
    box: BundleBox,
    library: gr.State,
    shown: gr.State,
    show: Callable[[Shown], dict[Any, Any]],
    showing: list[Any],
) -> None:
    """Lets the person save, open and run again.

    Args:
        desk: What the page shares.
        box: The box.
        library: The library in use; the question of a bundle is asked of it.
        shown: What the part speaks of.
        show: Shows something else in the part.
        showing: The components that ``show`` changes.
    """

    def is_answering() -> bool:
        return desk.answering is not None and desk.answering.work.running

    @told
    def opened(event: gr.EventData, in_library: str) -> dict[Any, Any]:
        bundle = from_json(str(event.text))
        box.opened[bundle.trace.id] = bundle
        return show(Shown(in_library, bundle.trace.retrieval, bundle.trace))

    @told
    def run(of: Shown | None) -> dict[Any, Any]:
        if of is not None and of.trace is not None and not (box.work is not None and box.work.running):
            if is_answering():
                gr.Info(texts.REPLAY_AFTER_CHAT, title="")
            else:
                bundle = _bundle(desk, box, of)
                box.then = bundle.trace
                box.work = Background(_giving_way(desk.engine.inspector.replay(of.library, bundle), is_answering))
        return updates(box, of)

    def follow(of: Shown | None) -> Iterator[dict[Any, Any]]:
        for _ in box.work.changes(_FOLLOW) if box.work is not None else ():
            yield updates(box, of)

    def stop(of: Shown | None) -> dict[Any, Any]:
        if box.work is not None:
            box.work.stop()
        return updates(box, of)

    quiet: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
    box.controls.opened(opened, library, showing, **quiet)
    box.run.click(run, shown, box.changing, **quiet).then(follow, shown, box.changing, concurrency_limit=None, **quiet)
    box.stop.click(stop, shown, box.changing, queue=False, **quiet)
    shown.change(lambda of: updates(box, of), shown, box.changing, **quiet)
