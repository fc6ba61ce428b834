"""A library's own questions as HTML: the list, what was measured with them, and what another cut-off would cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rag.inspection.calibration import Calibration, Point
from rag.inspection.evaluation import Conditions, Difference, Measure, Result, Run, compared, measures
from rag.inspection.questions import Expected, Question
from rag.types import Verdict
from rag.ui import render_plots, texts
from rag.ui.render import date, duration, escape, figure, many, notice, progress, table, term

LISTED = 300
"""Questions that the list shows at most; those that went wrong come first."""


# ---------------------------------------------------------------------------------------------------------- questions


def questions(
    library: str, listed: Sequence[Question], run: Run | None, missing: Mapping[str, str], *, sample: bool = False
) -> str:
    """The questions with what answers them and how each went in the latest run, those that went wrong first.

    Args:
        library: The library's name.
        listed: Its questions.
        run: The latest run; None before the first.
        missing: By the id of a question, why no search can find its place.
        sample: Whether this is the library of the sample notes, for which there are questions.
    """
    tools = (
        f'<label class="fn-file"><input type="file" accept=".jsonl,.json,.txt" data-do="import">'
        f"<span>{escape(texts.QUESTIONS_IMPORT)}</span></label>"
        + (f'<button type="button" data-do="export">{escape(texts.QUESTIONS_EXPORT)}</button>' if listed else "")
    )
    answerable = sum(question.answerable for question in listed)
    count = texts.QUESTIONS_COUNT.format(answerable=figure(answerable), unanswerable=figure(len(listed) - answerable))
    head = (
        f'<div class="fn-list-head" data-library="{escape(library)}"><h3>{escape(texts.SECTION_QUESTIONS)} '
        f'<small>{escape(count) if listed else ""}</small></h3><div class="fn-tools">{tools}</div></div>'
    )
    if not listed:
        take = f'<button type="button" data-do="sample">{escape(texts.QUESTIONS_SAMPLE)}</button>'
        offer = f'<div class="fn-actions">{take}</div>' if sample else ""
        none = notice(texts.QUESTIONS_NONE, kind="quiet")
        return f'<section class="fn-box fn-questions">{head}{none}{offer}</section>'
    results = {result.question: result for result in run.results} if run is not None else {}
    ranked = sorted(listed, key=lambda question: _order(question, results.get(question.id), missing))
    rows = "".join(_row(one, results.get(one.id), missing.get(one.id, "")) for one in ranked[:LISTED])
    more = len(ranked) - LISTED
    told = f'<p class="fn-quiet">{escape(texts.QUESTIONS_MORE.format(count=figure(more)))}</p>' if more > 0 else ""
    names = (texts.COLUMN_QUESTION, texts.COLUMN_ANSWERED_BY, texts.COLUMN_LATEST, texts.COLUMN_ACTIONS)
    columns = "".join(f'<th scope="col">{escape(name)}</th>' for name in names)
    body = table(texts.SECTION_QUESTIONS, columns, rows)
    return f'<section class="fn-box fn-questions">{head}{body}{told}</section>'


def _order(question: Question, result: Result | None, missing: Mapping[str, str]) -> int:
    if question.id in missing:
        return 0
    return 2 if result is None or result.right else 1


def _row(question: Question, result: Result | None, missing: str) -> str:
    places = "".join(f'<p dir="auto">{place(expected)}</p>' for expected in question.expected)
    if not question.answerable:
        places = f'<p class="fn-quiet">{escape(texts.PLACE_NOWHERE)}</p>'
    elif not places:
        places = f'<p class="fn-quiet">{escape(texts.PLACE_SOMEWHERE)}</p>'
    if missing:
        places += f'<p class="fn-fate">{escape(texts.PLACE_MISSING.format(why=missing))}</p>'
    state, told = outcome(result)
    latest = f'<span class="fn-state {state}">{escape(told)}</span>' if told else '<span class="fn-quiet">–</span>'
    return (
        f'<tr data-question="{escape(question.id)}"><td dir="auto">{escape(question.text)}</td><td>{places}</td>'
        f'<td>{latest}</td><td><div class="fn-row-actions"><button type="button" data-do="look" '
        f'title="{escape(texts.QUESTION_LOOK_TITLE)}">{escape(texts.QUESTION_LOOK)}</button>'
        f'<button type="button" data-do="drop" title="{escape(texts.QUESTION_DROP_TITLE)}">'
        f"{escape(texts.QUESTION_DROP)}</button></div></td></tr>"
    )


def place(expected: Expected) -> str:
    """Where an answer stands, in words; a passage that was pointed at is known by its fingerprint only."""
    parts = [f'<span class="fn-path">{escape(expected.path)}</span>' if expected.path else ""]
    parts.append(escape(texts.PLACE_PAGE.format(page=expected.page)) if expected.page else "")
    parts.append(f"“{escape(expected.phrase)}”" if expected.phrase else "")
    parts.append(escape(texts.PLACE_POINTED) if expected.prints else "")
    return ", ".join(part for part in parts if part)


def outcome(result: Result | None) -> tuple[str, str]:
    """How a question went: a class of the style, and words; empty words where it was not asked."""
    if result is None:
        return "off", ""
    if result.error:
        return "error", result.error
    if not result.answerable:
        return ("ok", texts.WENT_REFUSED) if result.refused else ("error", texts.WENT_ANSWERED)
    if result.refused:
        by = texts.WENT_REFUSED_EVIDENCE if result.verdict is Verdict.NONE else texts.WENT_REFUSED_MODEL
        return "error", by
    if not result.ranks:
        return "ok", texts.WENT_NOT_REFUSED
    found = [rank for rank in result.ranks if rank]
    if not found:
        return "error", texts.WENT_NOT_FOUND
    told = texts.WENT_FOUND.format(ranks=", ".join(map(str, sorted(found))))
    if len(found) < len(result.ranks):
        told = texts.WENT_FOUND_SOME.format(ranks=", ".join(map(str, sorted(found))), count=len(result.ranks))
    if result.cites is not None:
        told += texts.WENT_CITED if result.cites else texts.WENT_NOT_CITED
    return ("ok" if result.right and result.cites is not False else "warning"), told


# ------------------------------------------------------------------------------------------------------- measurements


def running(done: int, total: int, right: int, stopping: bool) -> str:
    """How far a measurement is."""
    if stopping:
        return progress(done, total, texts.MEASURE_STOPPING)
    return progress(done, total, texts.MEASURE_RUNNING.format(done=figure(done), total=figure(total), right=right))


def results(runs: Sequence[Run], *, current: bool) -> str:
    """What the latest run says, and how it differs from the one before; nothing before the first run.

    Args:
        runs: The runs that are kept, oldest first.
        current: Whether the library's files are still those of the latest run.
    """
    if not runs:
        return ""
    run, before = runs[-1], runs[-2] if len(runs) > 1 else None
    differences = {one.name: one for one in compared(before, run)} if before is not None else {}
    rows = "".join(
        _measure(one, differences.get(one.name), compared_to=bool(differences)) for one in measures(run.results)
    )
    against = f'<th scope="col">{escape(texts.COLUMN_AGAINST)}</th>' if differences else ""
    stopped = notice(many(len(run.results), texts.RUN_STOPPED_ONE, texts.RUN_STOPPED)) if run.stopped else ""
    failed = sum(bool(one.error) for one in run.results)
    stopped += "" if current else notice(texts.RUN_OLD)
    stopped += notice(many(failed, texts.RUN_FAILED_ONE, texts.RUN_FAILED)) if failed else ""
    changed = f"<p>{escape(_changes(before.conditions, run.conditions))}</p>" if before is not None else ""
    columns = (
        f'<th scope="col">{escape(texts.COLUMN_MEASURE)}</th>'
        f'<th scope="col" class="num">{escape(texts.COLUMN_VALUE)}</th>'
        f'<th scope="col">{term("interval", texts.COLUMN_INTERVAL)}</th>'
        f'<th scope="col" class="num">{escape(texts.COLUMN_QUESTIONS)}</th>{against}'
    )
    return (
        f'<section class="fn-box fn-measures"><h3>{escape(texts.SECTION_MEASURES)} '
        f"<small>{escape(date(run.at))}</small></h3>{stopped}{_in_short(run.results)}"
        f'<p class="fn-quiet">{escape(_conditions(run))}</p>{changed}'
        f"{table(texts.SECTION_MEASURES, columns, rows)}{_earlier(runs)}</section>"
    )


def _earlier(runs: Sequence[Run]) -> str:
    """All runs that are kept, the latest first, with a few figures each."""
    if len(runs) < 2:
        return ""
    shown = ("recall@5", "mrr", "refused", "wrongly refused")
    head = "".join(f'<th scope="col" class="num">{term(one, texts.MEASURE_NAMES.get(one, one))}</th>' for one in shown)
    rows = ""
    for run in reversed(runs):
        found = {one.name: one for one in measures(run.results)}
        cells = "".join(f'<td class="num">{f"{found[one].value:.2f}" if one in found else "–"}</td>' for one in shown)
        rows += (
            f'<tr><th scope="row">{escape(date(run.at))}</th><td class="num">{figure(len(run.results))}</td>{cells}'
            f"<td>{escape(_conditions(run))}</td></tr>"
        )
    columns = (
        f'<th scope="col">{escape(texts.COLUMN_RUN)}</th>'
        f'<th scope="col" class="num">{escape(texts.COLUMN_QUESTIONS)}</th>{head}'
        f'<th scope="col">{escape(texts.COLUMN_CONDITIONS)}</th>'
    )
    title = texts.RUNS_EARLIER.format(count=figure(len(runs)))
    return f'<details class="fn-fold"><summary>{escape(title)}</summary>{table(texts.RUNS, columns, rows)}</details>'


def _in_short(found: Sequence[Result]) -> str:
    """The run in a sentence or two."""
    placed = [one for one in found if one.answerable and one.ranks and not one.error]
    refusable = [one for one in found if not one.answerable and not one.error]
    answerable = [one for one in found if one.answerable and not one.error]
    lines = []
    if placed:
        among = sum(one.first is not None and one.first <= 5 for one in placed)
        lines.append(texts.IN_SHORT_FOUND.format(count=figure(among), total=figure(len(placed))))
    refusals = [
        label.format(count=figure(sum(one.refused for one in asked)), total=figure(len(asked)))
        for label, asked in ((texts.IN_SHORT_WRONGLY, answerable), (texts.IN_SHORT_RIGHTLY, refusable))
        if asked
    ]
    lines.append(texts.IN_SHORT_REFUSED.format(refusals=", ".join(refusals)) if refusals else "")
    return f"<p>{escape(' '.join(lines))}</p>"


def _measure(measure: Measure, difference: Difference | None, *, compared_to: bool) -> str:
    top = 1.25 * measure.high if measure.name == "seconds" else 1.0
    low, high, value = (100 * part / (top or 1) for part in (measure.low, measure.high, measure.value))
    shown = texts.BETWEEN.format(low=_value(measure.name, measure.low), high=_value(measure.name, measure.high))
    cells = (
        f'<td class="num"><b>{escape(_value(measure.name, measure.value))}</b></td>'
        f'<td><span class="fn-range" aria-hidden="true"><i style="left:{low:.1f}%;width:{high - low:.1f}%"></i>'
        f'<b style="left:{value:.1f}%"></b></span><small>{escape(shown)}</small></td>'
        f'<td class="num">{figure(measure.count)}</td>'
    )
    if compared_to:
        cells += f"<td>{_difference(difference) if difference is not None else '–'}</td>"
    name = texts.MEASURE_NAMES.get(measure.name, measure.name)
    return f'<tr><th scope="row">{term(measure.name, name)}</th>{cells}</tr>'


def _value(name: str, value: float) -> str:
    return duration(value) if name == "seconds" else f"{value:.2f}"


def _difference(difference: Difference) -> str:
    better, worse = len(difference.better), len(difference.worse)
    if not better and not worse:
        return f'<span class="fn-quiet">{escape(texts.SAME)}</span>'
    if difference.name == "seconds":  # other work on the machine moves it as much
        return f"{difference.value:+.2f} s"
    gain = -difference.value if difference.name == "wrongly refused" else difference.value
    kind = ("good" if gain > 0 else "bad") if difference.is_certain else "unsure"
    chance = "" if difference.is_certain else f" {escape(texts.MAY_BE_CHANCE)}"
    counts = texts.WON_AND_LOST.format(better=figure(better), worse=figure(worse))
    return f'<span class="fn-change {kind}">{difference.value:+.2f}</span>{chance} <small>{escape(counts)}</small>'


def _conditions(run: Run) -> str:
    made = run.conditions
    asked = texts.RUN_WITH_MODEL.format(model=made.model) if made.model else texts.RUN_SEARCH_ONLY
    cut = f", {texts.RUN_CUT.format(strictness=f'{made.strictness:+.2f}')}" if made.strictness else ""
    return texts.RUN_CONDITIONS.format(
        asked=asked, embedder=made.embedder, chunks=figure(made.chunks), settings=made.settings + cut
    )


def _changes(before: Conditions, after: Conditions) -> str:
    """What differs in the conditions of two runs."""
    pairs = [
        (texts.CHANGED_MODEL, before.model or texts.CHANGED_NO_MODEL, after.model or texts.CHANGED_NO_MODEL),
        (texts.CHANGED_EMBEDDER, before.embedder, after.embedder),
        (texts.CHANGED_SETTINGS, before.settings, after.settings),
        (texts.CHANGED_CUT, f"{before.strictness:+.2f}", f"{after.strictness:+.2f}"),
        (texts.CHANGED_FILES, figure(before.chunks), figure(after.chunks)),
    ]
    changed = [texts.CHANGED_FROM_TO.format(what=what, old=old, new=new) for what, old, new in pairs if old != new]
    if before.index != after.index and before.chunks == after.chunks:
        changed.append(texts.CHANGED_INDEX)
    return texts.CHANGED.format(changes="; ".join(changed)) if changed else texts.CHANGED_NOTHING


# -------------------------------------------------------------------------------------------------------- calibration


def calibration(found: Calibration | None, chosen: float, kept: float) -> str:
    """The chart of wrong answers against wrong refusals, and what the chosen cut-off costs.

    Args:
        found: The costs of all cut-offs; None before the first run.
        chosen: The cut-off that is looked at, as a library keeps it.
        kept: The library's own.
    """
    if found is None:
        return notice(texts.CALIBRATE_NONE, kind="quiet")
    if not found.points[0].answerable or not found.points[0].unanswerable:
        return notice(texts.CALIBRATE_ONE_KIND)
    here, now, own = found.at(chosen), found.at(kept), found.at(0.0)
    caution = notice(found.caution) if found.caution else ""
    fixed = f" {many(found.fixed, texts.CALIBRATE_FIXED_ONE, texts.CALIBRATE_FIXED)}" if found.fixed else ""
    by_model = texts.CALIBRATE_WITH_MODEL if found.by_model else texts.CALIBRATE_SEARCH
    marks = [("one", texts.LEGEND_CURVE), ("dot two", texts.LEGEND_CHOSEN), ("dot three", texts.LEGEND_KEPT)]
    drawn = render_plots.figure(
        _curve(found, here, now),
        escape(f"{texts.CALIBRATE_CAPTION} {by_model}{fixed}"),
        render_plots.legend([(kind, escape(label)) for kind, label in marks]),
    )
    lines = [(texts.COST_CHOSEN, here)]
    lines += [(texts.COST_KEPT, now)] if kept else []
    lines += [(texts.COST_OWN, own)]
    costs = "".join(f"<dt>{escape(label)}</dt><dd>{_cost(point)}</dd>" for label, point in lines)
    return f'{caution}<div class="fn-two">{drawn}<dl class="fn-pairs fn-costs">{costs}</dl></div>'


def _cost(point: Point) -> str:
    low, high = point.answers_range
    few, much = point.refusals_range
    answers = texts.COST_ANSWERS.format(
        count=figure(point.answered), total=figure(point.unanswerable), low=f"{low:.2f}", high=f"{high:.2f}"
    )
    refusals = texts.COST_REFUSALS.format(
        count=figure(point.refused), total=figure(point.answerable), low=f"{few:.2f}", high=f"{much:.2f}"
    )
    return f"<p>{escape(answers)}</p><p>{escape(refusals)}</p>"


def _curve(found: Calibration, here: Point, now: Point) -> str:
    across = render_plots.Axis(texts.AXIS_REFUSALS, 0, 1)
    plane = render_plots.Plane(across, render_plots.Axis(texts.AXIS_ANSWERS, 0, 1), height=300)
    points = [(point.wrong_refusals, point.wrong_answers) for point in found.points]
    inside = plane.line(points, "one")
    for point in found.points:
        inside += plane.dot(point.wrong_refusals, point.wrong_answers, "one", _told(point), 2)
    inside += plane.dot(now.wrong_refusals, now.wrong_answers, "three", _told(now), 5)
    inside += plane.dot(here.wrong_refusals, here.wrong_answers, "two", _told(here), 4)
    return plane.drawn(inside, texts.CALIBRATE_ALT)


def _told(point: Point) -> str:
    return texts.POINT.format(
        strictness=f"{point.strictness:+.2f}",
        answered=figure(point.answered),
        unanswerable=figure(point.unanswerable),
        refused=figure(point.refused),
        answerable=figure(point.answerable),
    )
