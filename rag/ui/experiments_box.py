"""Other ways of making a library, tried on a sample of it: which, how far that is, and what came of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import gradio as gr

from rag.errors import QuestionsError
from rag.inspection.experiments import Step, Variant
from rag.ui import render_charts, render_experiments, texts
from rag.ui.background import Background
from rag.ui.desk import Desk, told
from rag.ui.render import escape, notice

_FOLLOW = 0.3
"""Seconds between two looks at an experiment that is running."""

_SIZES = (150, 300, 1000, 3000)
_EVERYTHING = 10**9


@dataclass
class ExperimentsBox:
    """The box's components, and the experiment that is running or was the last.

    Attributes:
        is_open: Whether what it offers has to follow the library.
        library: Where it is made.
        work: Its steps; it goes on when the page is left, and is found again.
    """

    box: gr.Accordion
    is_open: gr.State
    sizes: gr.HTML
    ways: gr.CheckboxGroup
    size: gr.Dropdown
    sample: gr.HTML
    begin: gr.Button
    stop: gr.Button
    running: gr.HTML
    results: gr.HTML
    library: str = ""
    work: Background[Step] | None = None

    @property
    def changing(self) -> list[Any]:
        """What :func:`updates` changes."""
        return [self.begin, self.stop, self.running, self.results]


def experiments_box(desk: Desk) -> ExperimentsBox:
    """Builds the box, closed."""
    offered = [(f"{size:,}", size) for size in _SIZES]
    with gr.Accordion(texts.EXPERIMENTS, open=False, elem_id="experiments") as box:
        gr.HTML(f'<p class="fn-quiet">{escape(texts.EXPERIMENTS_INFO)}</p>', apply_default_css=False)
        sizes = gr.HTML(apply_default_css=False, elem_id="sizes")
        ways = gr.CheckboxGroup(label=texts.EXPERIMENT_WAYS, elem_id="ways")
        size = gr.Dropdown(
            label=texts.EXPERIMENT_SIZE,
            info=texts.EXPERIMENT_SIZE_INFO,
            choices=[*offered, (texts.EXPERIMENT_ALL, _EVERYTHING)],
            value=_SIZES[1],
            filterable=False,
            elem_id="sample-size",
        )
        sample = gr.HTML(apply_default_css=False, elem_id="sample")
        with gr.Row(elem_classes="fn-buttons"):
            begin = gr.Button(texts.EXPERIMENT_TRY, variant="primary", min_width=140, elem_id="try-ways")
            stop = gr.Button(texts.EXPERIMENT_STOP, visible=False, min_width=90, elem_id="stop-ways")
        running = gr.HTML(apply_default_css=False, elem_id="trying")
        results = gr.HTML(apply_default_css=False, elem_id="tried")
    return ExperimentsBox(box, gr.State(False), sizes, ways, size, sample, begin, stop, running, results)


def updates(box: ExperimentsBox, library: str) -> dict[Any, Any]:
    """How far the experiment with this library is, and the buttons that fit; nothing of one with another library."""
    work = box.work if box.library == library else None
    latest = work.events[-1] if work is not None and work.events else None
    going = work is not None and work.running
    shown = ""
    if work is not None and latest is not None:
        stopped = not work.running and not latest.experiment.after
        shown = render_experiments.results(latest.experiment, stopped and work.error is None)
    if work is not None and work.error is not None:
        shown = notice(work.error.message, work.error.hint, "error") + shown
    return {
        box.begin: gr.update(interactive=not going),
        box.stop: gr.update(visible=going, interactive=work is not None and not work.stopping),
        box.running: render_experiments.running(latest, work.stopping) if going and work and latest else "",
        box.results: shown,
    }


def _key(variant: Variant) -> str:
    return json.dumps(asdict(variant))


def wire_experiments(desk: Desk, box: ExperimentsBox, library: gr.State) -> None:
    """Lets the person choose ways, try them, look on and stop."""

    @told
    def opened(in_library: str, size: int) -> dict[Any, Any]:
        inspector = desk.engine.inspector
        found = [(render_experiments.name(way), _key(way)) for way in inspector.ways(in_library)]
        return {
            box.is_open: True,
            box.sizes: render_charts.sizes(*inspector.chunk_sizes(in_library)),
            box.ways: gr.update(choices=found, value=[]),
            box.sample: render_experiments.sample(inspector.sample(in_library, size)),
        }

    @told
    def sampled(in_library: str, size: int) -> str:
        return render_experiments.sample(desk.engine.inspector.sample(in_library, size))

    def changed(in_library: str, size: int, is_open: bool) -> Any:
        return opened(in_library, size) if in_library and is_open else gr.skip()

    @told
    def begin(in_library: str, ways: Sequence[str], size: int) -> dict[Any, Any]:
        if not ways:
            raise QuestionsError(texts.EXPERIMENT_CHOOSE)
        if box.work is not None and box.work.running:
            gr.Info(escape(texts.EXPERIMENT_BUSY.format(library=box.library)), title="")
        else:
            chosen = [Variant(**json.loads(way)) for way in ways]
            box.library = in_library
            box.work = Background(desk.engine.inspector.experiment(in_library, chosen, size))
        return updates(box, in_library)

    def follow(in_library: str) -> Iterator[Any]:
        if box.work is None or box.library != in_library:
            yield updates(box, in_library)
            return
        for _ in box.work.changes(_FOLLOW):
            yield updates(box, in_library)

    def stop(in_library: str) -> dict[Any, Any]:
        if box.work is not None and box.library == in_library:
            box.work.stop()
        return updates(box, in_library)

    quiet: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
    following: dict[str, Any] = {**quiet, "concurrency_limit": None}
    offered = [box.is_open, box.sizes, box.ways, box.sample]
    box.box.expand(opened, [library, box.size], offered, **quiet).then(follow, library, box.changing, **following)
    box.box.collapse(lambda: False, None, box.is_open, **quiet)
    box.size.input(sampled, [library, box.size], box.sample, **quiet)
    box.begin.click(begin, [library, box.ways, box.size], box.changing, **quiet).then(
        follow, library, box.changing, **following
    )
    box.stop.click(stop, library, box.changing, queue=False, **quiet)
    library.change(changed, [library, box.size, box.is_open], offered, **quiet).then(
        follow, library, box.changing, **following
    )
