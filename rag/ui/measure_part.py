"""Diagnostics, second part: how well a library's own questions are found and answered, and where its cut-off lies."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import Any

import gradio as gr

from rag.engine import SAMPLES, Engine
from rag.inspection.calibration import Calibration, calibrate
from rag.inspection.evaluation import Result, Step
from rag.inspection.questions import Expected, from_lines, new_question, to_lines
from rag.types import Retrieval, Trace
from rag.ui import answer_part, render_measure, texts
from rag.ui.answer_part import AnswerPart
from rag.ui.background import Background
from rag.ui.desk import Desk, Shown, page_number, script, told
from rag.ui.experiments_box import ExperimentsBox, experiments_box, wire_experiments
from rag.ui.render import escape, notice

FOLLOW = 0.3
"""Seconds between two looks at a measurement that is running."""

_RECORDS = 200
"""Questions of a measurement whose records are kept for a closer look; others are searched once more for it."""


@dataclass
class Measuring:
    """A measurement that is running, or the last one.

    Attributes:
        library: Where.
        total: Questions.
        records: By the id of a question, what was found or answered, as chat would have it.
        work: The results so far.
    """

    library: str
    total: int
    records: dict[str, Retrieval | Trace]
    work: Background[Result]


@dataclass
class MeasurePart:
    """The part's components, and the measurement that is running or was the last."""

    questions: gr.HTML
    text: gr.Textbox
    answerable: gr.Radio
    file: gr.Textbox
    page: gr.Textbox
    phrase: gr.Textbox
    add: gr.Button
    answers: gr.Checkbox
    measure: gr.Button
    stop: gr.Button
    running: gr.HTML
    results: gr.HTML
    chart: gr.HTML
    cut: gr.Slider
    choose: gr.Row
    keep: gr.Button
    back: gr.Button
    experiments: ExperimentsBox
    measuring: Measuring | None = field(default=None)

    @property
    def changing(self) -> list[Any]:
        """What :func:`updates` changes."""
        return [
            self.questions, self.answers, self.measure, self.stop, self.running, self.results, self.chart, self.cut,
            self.choose,
        ]  # fmt: skip

    @property
    def fields(self) -> list[Any]:
        """What a person fills in for a question."""
        return [self.text, self.answerable, self.file, self.page, self.phrase]


def measure_part(desk: Desk) -> MeasurePart:
    """Builds the part."""

    def export(asked: dict[str, str]) -> str:
        return to_lines(desk.engine.inspector.questions(asked["library"]))

    gr.HTML(f'<p class="fn-quiet">{escape(texts.MEASURE_INFO)}</p>', apply_default_css=False)
    questions = gr.HTML(
        js_on_load=script("measure.js"),
        server_functions=[export],
        apply_default_css=False,
        elem_id="own-questions",
    )
    with gr.Accordion(texts.QUESTION_ADD, open=False, elem_id="add-question"):
        text = gr.Textbox(label=texts.COLUMN_QUESTION, max_lines=4, elem_id="own-question")
        answerable = gr.Radio(
            [(texts.ANSWERABLE, True), (texts.UNANSWERABLE, False)],
            value=True,
            label=texts.ANSWERABLE_LABEL,
            info=texts.ANSWERABLE_INFO,
            elem_id="own-answerable",
        )
        with gr.Row(elem_classes="fn-fields"):
            file = gr.Textbox(
                label=texts.PLACE_FILE, placeholder="project/decisions.md", max_lines=1, min_width=180,
                elem_id="own-file",
            )  # fmt: skip
            page = gr.Textbox(label=texts.PLACE_PAGE_LABEL, max_lines=1, min_width=90, elem_id="own-page")
            phrase = gr.Textbox(
                label=texts.PLACE_PHRASE,
                placeholder=texts.PLACE_PHRASE_AS,
                max_lines=2,
                min_width=220,
                elem_id="own-phrase",
            )
        with gr.Row(elem_classes="fn-buttons"):
            add = gr.Button(texts.QUESTION_ADD_DO, min_width=140, elem_id="add-own")
    answers = gr.Checkbox(label=texts.MEASURE_ANSWERS, info=texts.MEASURE_ANSWERS_INFO, elem_id="measure-answers")
    with gr.Row(elem_classes="fn-buttons"):
        measure = gr.Button(texts.MEASURE, variant="primary", min_width=140, elem_id="measure-now")
        stop = gr.Button(texts.MEASURE_STOP, visible=False, min_width=90, elem_id="measure-stop")
    running = gr.HTML(apply_default_css=False, elem_id="measuring")
    results = gr.HTML(apply_default_css=False, elem_id="measured")
    with gr.Accordion(texts.SECTION_CALIBRATE, open=False, elem_id="calibrate"):
        gr.HTML(f'<p class="fn-quiet">{escape(texts.CALIBRATE_INFO)}</p>', apply_default_css=False)
        chart = gr.HTML(apply_default_css=False, elem_id="calibration")
        cut = gr.Slider(0, 1, 0, step=1, label=texts.CUT, info=texts.CUT_INFO, visible=False, buttons=[], elem_id="cut")
        with gr.Row(elem_classes="fn-buttons", visible=False) as choose:
            keep = gr.Button(texts.CUT_KEEP, min_width=170, elem_id="keep-cut")
            back = gr.Button(texts.CUT_BACK, min_width=170, elem_id="own-cut")
    return MeasurePart(
        questions, text, answerable, file, page, phrase, add, answers, measure, stop, running, results, chart, cut,
        choose, keep, back, experiments_box(desk),
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------------ what is shown


def updates(desk: Desk, part: MeasurePart, library: str) -> dict[Any, Any]:
    """Everything in the part for a library as it is now."""
    inspector = desk.engine.inspector
    listed, runs = inspector.questions(library), inspector.runs(library)
    run = runs[-1] if runs else None
    kept = inspector.cut_off(library)
    has_model = desk.engine.status().chat is not None
    current = run is None or inspector.is_current(library, run)
    if part.measuring is not None and not current:
        part.measuring.records.clear()  # of files that may be forgotten by now
    found = calibrate(run.results) if run is not None else None
    return {
        part.questions: render_measure.questions(
            library, listed, run, inspector.missing_places(library), sample=library == SAMPLES
        ),
        part.answers: gr.update(
            interactive=has_model, info=texts.MEASURE_ANSWERS_INFO if has_model else texts.MEASURE_ANSWERS_NONE
        ),
        **_progress(part, library),
        part.results: render_measure.results(runs, current=current),
        **_calibration(part, found, kept, kept),
    }


def _progress(part: MeasurePart, library: str) -> dict[Any, Any]:
    """How far the measurement of this library is, and the buttons that fit."""
    now = part.measuring if part.measuring is not None and part.measuring.library == library else None
    running = now is not None and now.work.running
    told_here = ""
    if now is not None and running:
        done = tuple(now.work.events)
        told_here = render_measure.running(len(done), now.total, sum(one.right for one in done), now.work.stopping)
    elif now is not None and now.work.error is not None:
        told_here = notice(now.work.error.message, now.work.error.hint, "error")
    return {
        part.running: told_here,
        part.measure: gr.update(interactive=not running),
        part.stop: gr.update(visible=running, interactive=now is not None and not now.work.stopping),
    }


def _calibration(part: MeasurePart, found: Calibration | None, chosen: float, kept: float) -> dict[Any, Any]:
    has_choice = found is not None and len(found.points) > 1
    last = len(found.points) - 1 if found is not None else 1
    place = found.points.index(found.at(chosen)) if found is not None else 0
    return {
        part.chart: render_measure.calibration(found, chosen, kept),
        part.cut: gr.update(maximum=max(1, last), value=place, visible=has_choice),
        part.choose: gr.update(visible=has_choice),
    }


# ---------------------------------------------------------------------------------------------------------------- work


def _measured(engine: Engine, library: str, records: dict[str, Retrieval | Trace], answers: bool) -> Iterator[Result]:
    """The results of a measurement as they come; closing the iterator keeps those that have come."""
    steps: Generator[Step, None, None] = engine.inspector.evaluate(library, answers=answers)
    try:
        for step in steps:
            if step.record is not None and len(records) < _RECORDS:
                records[step.result.question] = step.record
            yield step.result
    finally:
        steps.close()


def _cut_at(desk: Desk, library: str, place: float) -> tuple[Calibration | None, float]:
    """The costs of all cut-offs by the latest run, and the cut-off at a place of the slider."""
    runs = desk.engine.inspector.runs(library)
    if not runs:
        return None, 0.0
    found = calibrate(runs[-1].results)
    point = found.points[min(int(place), len(found.points) - 1)]
    # A cut-off between the same two questions as Footnote's own is Footnote's own.
    return found, 0.0 if point == found.at(0.0) else point.strictness


def wire_measure(desk: Desk, part: MeasurePart, library: gr.State, parts: gr.Tabs, answer: AnswerPart) -> None:
    """Wires the part.

    Args:
        desk: What the page shares.
        part: The part.
        library: The library's name.
        parts: Switches to the part that shows one answer.
        answer: That part.
    """
    engine = desk.engine

    @told
    def seen(in_library: str) -> Any:
        return updates(desk, part, in_library) if in_library else gr.skip()

    @told
    def add(in_library: str, text: str, answerable: bool, file: str, page: str, phrase: str) -> dict[Any, Any]:
        place = Expected(file.strip(), page_number(page), phrase.strip())
        expected = (place,) if place != Expected() else ()
        engine.inspector.add_questions(in_library, [new_question(text, answerable=answerable, expected=expected)])
        return {**updates(desk, part, in_library), part.text: "", part.page: "", part.phrase: ""}

    @told
    def take_in(event: gr.EventData, in_library: str) -> dict[Any, Any]:
        more = from_lines(str(event.text))
        engine.inspector.add_questions(in_library, more)
        gr.Info(escape(texts.QUESTIONS_IMPORTED.format(count=len(more))), title="")
        return updates(desk, part, in_library)

    @told
    def take_sample(in_library: str) -> dict[Any, Any]:
        engine.inspector.import_questions(in_library, engine.sample_questions())
        return updates(desk, part, in_library)

    @told
    def drop(event: gr.EventData, in_library: str) -> dict[Any, Any]:
        engine.inspector.drop_questions(in_library, {str(event.question)})
        return updates(desk, part, in_library)

    @told
    def look(event: gr.EventData, in_library: str) -> dict[Any, Any]:
        wanted = str(event.question)
        question = next((one for one in engine.inspector.questions(in_library) if one.id == wanted), None)
        if question is None:
            return updates(desk, part, in_library)
        updates(desk, part, in_library)  # lets go of records of files that have changed
        now = part.measuring
        record = now.records.get(wanted) if now is not None and now.library == in_library else None
        if record is None:
            record = engine.search(in_library, question.text)
        retrieval, trace = (record.retrieval, record) if isinstance(record, Trace) else (record, None)
        return {
            parts: gr.Tabs(selected="answer"),
            **answer_part.updates(answer, Shown(in_library, retrieval, trace)),
        }

    @told
    def measure(in_library: str, answers: bool) -> dict[Any, Any]:
        if part.measuring is None or not part.measuring.work.running:
            records: dict[str, Retrieval | Trace] = {}
            work = Background(_measured(engine, in_library, records, answers))
            part.measuring = Measuring(in_library, len(engine.inspector.questions(in_library)), records, work)
        elif part.measuring.library != in_library:
            gr.Info(escape(texts.MEASURE_BUSY.format(library=part.measuring.library)), title="")
        return _progress(part, in_library)

    def follow(in_library: str) -> Iterator[Any]:
        now = part.measuring
        if now is None or now.library != in_library:
            yield gr.skip()
            return
        # One of a few questions may be over before it is followed: what it left is shown all the same.
        for _ in now.work.changes(FOLLOW):
            yield _progress(part, in_library)
        yield updates(desk, part, in_library)

    def stop(in_library: str) -> dict[Any, Any]:
        if part.measuring is not None and part.measuring.library == in_library:
            part.measuring.work.stop()
        return _progress(part, in_library)

    @told
    def move(in_library: str, place: float) -> str:
        found, chosen = _cut_at(desk, in_library, place)
        return render_measure.calibration(found, chosen, engine.inspector.cut_off(in_library))

    def set_cut(in_library: str, strictness: float, said: str) -> dict[Any, Any]:
        engine.inspector.keep_cut_off(in_library, strictness)
        gr.Info(escape(said), title="")
        return updates(desk, part, in_library)

    @told
    def keep(in_library: str, place: float) -> dict[Any, Any]:
        return set_cut(in_library, _cut_at(desk, in_library, place)[1], texts.CUT_KEPT)

    @told
    def back(in_library: str) -> dict[Any, Any]:
        return set_cut(in_library, 0.0, texts.CUT_IS_OWN)

    quiet: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
    busy: dict[str, Any] = {"show_progress": "minimal", "api_visibility": "private"}
    progress = [part.running, part.measure, part.stop]
    for begin in (library.change, part.questions.seen):
        begin(seen, library, part.changing, **quiet).then(
            follow, library, part.changing, concurrency_limit=None, **quiet
        )
    part.add.click(add, [library, *part.fields], [*part.changing, *part.fields], **busy)
    part.questions.take_in(take_in, library, part.changing, **busy)
    part.questions.sample(take_sample, library, part.changing, **quiet)
    part.questions.drop(drop, library, part.changing, **quiet)
    part.questions.look(look, library, [parts, *part.changing, *answer_part.outputs(answer)], **busy)
    part.measure.click(measure, [library, part.answers], progress, **quiet).then(
        follow, library, part.changing, concurrency_limit=None, **quiet
    )
    part.stop.click(stop, library, progress, queue=False, **quiet)
    part.cut.input(move, [library, part.cut], part.chart, trigger_mode="always_last", **quiet)
    part.keep.click(keep, [library, part.cut], part.changing, **quiet)
    part.back.click(back, library, part.changing, **quiet)
    wire_experiments(desk, part.experiments, library)
