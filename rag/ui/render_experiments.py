"""Experiments as HTML: how far one is, and how other ways of making a library compare with how it is now."""

from __future__ import annotations

from collections.abc import Sequence

from rag.inspection.experiments import DEPTH, FEWEST, Experiment, Outcome, Sample, Step, Variant
from rag.ui import render_plots, texts
from rag.ui.render import duration, escape, figure, many, notice, progress, table, term
from rag.ui.render_plots import Axis, Plane

_KINDS = ("now", "one", "two", "three", "four")
"""Colours of the ways, the present one first; plots show no more ways than there are colours."""

_VERDICTS = {"better": "good", "worse": "bad", "noise": ""}
_LONGEST = 2500  # tokens of passages on the plot: more does not fit a small model's window


def name(variant: Variant) -> str:
    """A way in a few words."""
    parts = []
    if variant.cut:
        parts.append(texts.WAY_CUTS[variant.cut].format(limit=variant.limit, overlap=variant.overlap))
    if variant.embedder:
        parts.append(texts.WAY_EMBEDDER.format(name=variant.embedder))
    if variant.hyde is not None:
        parts.append(texts.WAY_HYDE if variant.hyde else texts.WAY_NO_HYDE)
    if variant.rerank is not None:
        parts.append(texts.WAY_RERANK if variant.rerank else texts.WAY_NO_RERANK)
    return ", ".join(parts) or texts.WAY_NOW


def _explained(variant: Variant) -> str:
    """A way's name with a sentence on what it is, on hover."""
    kind = variant.cut or (variant.embedder and "embedder")
    kind = kind or ("hyde" if variant.hyde is not None else "rerank" if variant.rerank is not None else "now")
    return f'<abbr title="{escape(texts.WAYS_PLAIN[kind])}">{escape(name(variant))}</abbr>'


def sample(taken: Sample) -> str:
    """What would be tried with, and which questions cannot be measured."""
    if not taken.questions:
        return notice(texts.EXPERIMENT_NO_QUESTIONS, texts.EXPERIMENT_NO_QUESTIONS_HINT, "quiet") + _left_out(taken)
    told = texts.EXPERIMENT_SAMPLE.format(
        files=many(len(taken.files), texts.ONE_FILE, texts.MANY_FILES),
        chunks=figure(taken.chunks),
        total=figure(taken.total),
        questions=many(len(taken.questions), texts.ONE_QUESTION, texts.MANY_QUESTIONS),
    )
    return f'<p class="fn-quiet">{escape(told)}</p>{_few(taken)}{_left_out(taken)}'


def _few(taken: Sample) -> str:
    if len(taken.questions) >= FEWEST:
        return ""
    count = many(len(taken.questions), texts.ONE_QUESTION, texts.MANY_QUESTIONS)
    return notice(texts.EXPERIMENT_FEW.format(questions=count), texts.EXPERIMENT_FEW_HINT.format(count=FEWEST))


def _left_out(taken: Sample) -> str:
    if not taken.left_out:
        return ""
    rows = "".join(
        f'<li dir="auto">{escape(question.text)} <span class="fn-quiet">– {escape(why)}</span></li>'
        for question, why in taken.left_out
    )
    count = many(len(taken.left_out), texts.EXPERIMENT_LEFT_OUT_ONE, texts.EXPERIMENT_LEFT_OUT)
    return f'<details class="fn-fold"><summary>{escape(count)}</summary><ul class="fn-plain">{rows}</ul></details>'


def running(step: Step, stopping: bool) -> str:
    """How far an experiment is."""
    if stopping:
        return progress(0, 0, texts.EXPERIMENT_STOPPING)
    doing = texts.EXPERIMENT_DOING[step.doing].format(done=figure(step.done), total=figure(step.total))
    told = texts.EXPERIMENT_AT.format(nth=step.nth, ways=step.ways, way=name(step.variant), doing=doing)
    if step.left:
        told += texts.EXPERIMENT_TIME_LEFT.format(time=duration(step.left))
    # Each way counts the same, and indexing as much as asking.
    share = step.done / max(1, step.total)
    within = share / 2 if step.doing == "index" else (1 + share) / 2
    return progress(round(1000 * (step.nth - 1 + within)), 1000 * step.ways, told)


def results(found: Experiment, stopped: bool = False) -> str:
    """How the ways did, and what that means.

    Args:
        found: The experiment so far.
        stopped: It was stopped before the end.
    """
    tried = [outcome for outcome in found.outcomes if outcome.ranks]
    if not tried:
        return notice(texts.EXPERIMENT_STOPPED, kind="quiet") if stopped else ""
    told = notice(texts.EXPERIMENT_STOPPED, kind="quiet") if stopped else ""
    return (
        f'<section class="fn-box fn-experiment"><h3>{escape(texts.SECTION_WAYS)}</h3>{told}{_few(found.sample)}'
        f"{_in_short(tried)}{_table(found.outcomes)}{_untouched(found)}</section>"
        f'<div class="fn-two">{_depths(tried)}{_lengths(tried)}</div>'
        f"{''.join(_changes(found.sample, tried[0], outcome) for outcome in tried[1:])}"
    )


def _in_short(tried: Sequence[Outcome]) -> str:
    """What the comparison says, in sentences."""
    lines = []
    for verdict, sentence in texts.EXPERIMENT_SAYS.items():
        names = [name(one.variant) for one in tried if one.difference is not None and one.difference.verdict == verdict]
        if names:
            lines.append(sentence.format(ways=_listed(names)))
    return "".join(f"<p>{escape(line)}</p>" for line in lines)


def _listed(names: Sequence[str]) -> str:
    return "; ".join(f"“{one}”" for one in names)


def _table(outcomes: Sequence[Outcome]) -> str:
    columns = (
        (texts.COLUMN_WAY_TRIED, ""),
        (term("found among", texts.COLUMN_FOUND_FIRST), "num"),
        (texts.COLUMN_FOUND_THREE, "num"),
        (texts.COLUMN_FOUND_TEN, "num"),
        (term("mrr", texts.COLUMN_MRR), "num"),
        (term("noise band", texts.COLUMN_AGAINST_NOW), ""),
        (term("passages cut", texts.COLUMN_PASSAGES), "num"),
        (texts.COLUMN_SEARCH_TIME, "num"),
        (texts.COLUMN_REBUILD, "num"),
    )
    head = "".join(f'<th scope="col" class="{kind}">{label}</th>' for label, kind in columns)
    rows = "".join(_row(outcome) for outcome in outcomes)
    return table(texts.SECTION_WAYS, head, rows)


def _row(outcome: Outcome) -> str:
    problem = f'<p class="fn-fate">{escape(outcome.problem)}</p>' if outcome.problem else ""
    label = f'<th scope="row">{_explained(outcome.variant)}{problem}</th>'
    if not outcome.ranks:
        return f'<tr>{label}<td colspan="8" class="fn-quiet">{escape(texts.WAY_NOT_TRIED)}</td></tr>'
    shares = "".join(f'<td class="num">{outcome.found(depth):.2f}</td>' for depth in (1, 3, DEPTH))
    rebuild = texts.WAY_NO_REBUILD if outcome.rebuild is None else f"≈ {duration(outcome.rebuild)}"
    length = escape(texts.WAY_TOKENS.format(count=round(outcome.tokens)))
    return (
        f'<tr>{label}{shares}<td class="num">{outcome.mrr:.3f}</td><td class="fn-against">{_against(outcome)}</td>'
        f'<td class="num">{figure(outcome.chunks)} <small>{length}</small></td>'
        f'<td class="num">{duration(outcome.seconds)}</td><td class="num">{escape(rebuild)}</td></tr>'
    )


def _against(outcome: Outcome) -> str:
    difference = outcome.difference
    if difference is None:
        return "–"
    counts = texts.WON_AND_LOST.format(better=len(difference.wins), worse=len(difference.losses))
    return (
        f'<span class="fn-change {_VERDICTS[difference.verdict]}">{_signed(difference.mean)}</span> '
        f"<small>{escape(texts.WAY_NOISE.format(noise=f'{difference.noise:.3f}'))}</small><br>"
        f"<small>{escape(texts.WAY_VERDICTS[difference.verdict])}; {escape(counts)}</small>"
    )


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("-", "−")


def _untouched(found: Experiment) -> str:
    lines = [texts.EXPERIMENT_SCOPE]
    if found.after == found.before:
        lines.append(texts.EXPERIMENT_UNTOUCHED.format(hash=found.before))
    elif found.after:
        lines.append(texts.EXPERIMENT_TOUCHED)
    return "".join(f'<p class="fn-quiet">{escape(line)}</p>' for line in lines)


def _depths(tried: Sequence[Outcome]) -> str:
    """How many questions are answered by so many passages: how many are worth giving to the model."""
    plane = Plane(Axis(texts.AXIS_DEPTH, 1, DEPTH, tuple((at, str(at)) for at in range(1, DEPTH + 1))), _shares(tried))
    drawn = []
    for kind, outcome in reversed([*zip(_KINDS, tried, strict=False)]):
        points = [(depth, outcome.found(depth)) for depth in range(1, DEPTH + 1)]
        drawn.append(plane.line(points, kind))
        drawn += [
            plane.dot(depth, share, kind, f"{name(outcome.variant)}: {share:.2f}", 2.2) for depth, share in points
        ]
    return _plot(plane, "".join(drawn), tried, texts.SECTION_DEPTHS, texts.DEPTHS_CAPTION)


def _lengths(tried: Sequence[Outcome]) -> str:
    """How many questions are answered within so many tokens: what long passages find, they also cost."""
    longest = min(_LONGEST, max(max(outcome.read) for outcome in tried))
    steps = [round(longest * at / 50) for at in range(51)]
    plane = Plane(Axis(texts.AXIS_TOKENS_READ, 0, max(longest, 1)), _shares(tried, 0.0))
    drawn = [
        plane.line([(tokens, outcome.found_within(tokens)) for tokens in steps], kind)
        for kind, outcome in reversed([*zip(_KINDS, tried, strict=False)])
    ]
    return _plot(plane, "".join(drawn), tried, texts.SECTION_LENGTHS, texts.LENGTHS_CAPTION)


def _shares(tried: Sequence[Outcome], low: float | None = None) -> Axis:
    least = min(outcome.found(1) for outcome in tried) if low is None else low
    return Axis(texts.AXIS_ANSWERED, max(0.0, least - 0.1) // 0.1 * 0.1, 1.0)


def _plot(plane: Plane, drawn: str, tried: Sequence[Outcome], title: str, caption: str) -> str:
    legend = render_plots.legend(
        [(kind, escape(name(outcome.variant))) for kind, outcome in zip(_KINDS, tried, strict=False)]
    )
    figure_drawn = render_plots.figure(plane.drawn(drawn, title), escape(caption), legend)
    return f'<section class="fn-box"><h3>{escape(title)}</h3>{figure_drawn}</section>'


def _changes(taken: Sample, now: Outcome, other: Outcome) -> str:
    """The questions that a way answers earlier or later than now."""
    difference = other.difference
    if difference is None or not (difference.wins or difference.losses):
        return ""
    rows = "".join(
        f'<tr><td dir="auto">{escape(taken.questions[at].text)}</td><td class="num">{_rank(now.ranks[at])}</td>'
        f'<td class="num"><span class="fn-change {kind}">{_rank(other.ranks[at])}</span></td></tr>'
        for kind, places in (("bad", difference.losses), ("good", difference.wins))
        for at in places
    )
    counts = texts.WON_AND_LOST.format(better=len(difference.wins), worse=len(difference.losses))
    label = texts.CHANGES_OF.format(way=name(other.variant))
    head = (
        f'<th scope="col">{escape(texts.COLUMN_QUESTION)}</th><th scope="col" class="num">{escape(texts.RANK_NOW)}</th>'
        f'<th scope="col" class="num">{escape(texts.RANK_THEN)}</th>'
    )
    return (
        f'<section class="fn-box"><details class="fn-fold"><summary><h3>{escape(label)} <small>{escape(counts)}</small>'
        f"</h3></summary>{table(label, head, rows)}</details></section>"
    )


def _rank(rank: int) -> str:
    return str(rank) if rank else escape(texts.NOT_FOUND_RANK.format(depth=DEPTH))
