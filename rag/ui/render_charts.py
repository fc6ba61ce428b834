"""Charts of one question and of a library: scores by step, ranks by step, lengths of passages, and a map of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from rag.inspection.map import PassageMap, Spot
from rag.types import Chunk, Hit, Prompt, Retrieval, Stage
from rag.ui import render_plots, texts
from rag.ui.render import escape, figure, score, term
from rag.ui.render_plots import WIDTH, Axis, Plane

MARKED = 5
"""Passages that are told apart where no prompt says which ones count."""

_WITHOUT_SCORES = ("fold", "follow")
_GROUPS = ("one", "two", "three", "four")
_MOVES = (*_GROUPS, "now")
_BARS = 24
_MARGIN = 12  # of the map
_HIGHEST = 280


def scores(retrieval: Retrieval, prompt: Prompt | None) -> str:
    """The scores of every step, best first, and how the passages that count moved from step to step.

    Args:
        retrieval: The search.
        prompt: What was sent to the model; None: the first passages of the search are marked instead.
    """
    marked = _marked(retrieval, prompt)
    steps = [stage for stage in retrieval.stages if stage.name not in _WITHOUT_SCORES and len(stage.hits) > 1]
    if not steps:
        return ""
    drawn = "".join(_scores_of(stage, marked) for stage in steps)
    what = texts.CHART_IN_PROMPT if prompt is not None else texts.CHART_FIRST
    legend = render_plots.legend([("chosen", escape(what)), ("rest", escape(texts.CHART_OTHERS))])
    moves = _moves(steps, retrieval.hits, marked)
    return (
        f'<section class="fn-box"><h3>{escape(texts.SECTION_SCORES)}</h3>{legend}'
        f'<div class="fn-charts">{drawn}{moves}</div>'
        f'<p class="fn-quiet">{escape(texts.SCORES_CAPTION)}</p></section>'
    )


def _marked(retrieval: Retrieval, prompt: Prompt | None) -> dict[str, int]:
    """Number of the passages that count, by the id of their chunk."""
    if prompt is None:
        return {hit.chunk.id: at for at, hit in enumerate(retrieval.hits[:MARKED], 1)}
    numbers: dict[str, int] = {}
    for passage in prompt.passages:
        if passage.in_prompt:
            numbers |= {chunk.id: passage.number for chunk in (passage.hit.chunk, *passage.joined)}
    return numbers


def _scores_of(stage: Stage, marked: dict[str, int]) -> str:
    values = [hit.score for hit in stage.hits]
    low, high = min(values), max(values)
    room = (high - low) * 0.08 or 0.5
    plane = Plane(
        Axis(texts.AXIS_RANK, 0, len(values) + 1, _ranks(len(values))),
        Axis(stage.score_name, low - room, high + room),
        height=170,
    )
    drawn = plane.line([(hit.rank, hit.score) for hit in stage.hits], "rest")
    numbers = ""
    for hit in stage.hits:
        number = marked.get(hit.chunk.id)
        told = f"{hit.rank}. {_place(hit.chunk)}: {score(stage.score_name, hit.score)}"
        drawn += plane.dot(hit.rank, hit.score, "chosen" if number else "rest", told, 4 if number else 2)
        numbers += plane.note(hit.rank, hit.score, str(number)) if number else ""
    name = texts.CHART_STAGE.format(name=stage.name, score=stage.score_name)
    silent = f" <small>{escape(texts.NO_VOTE)}</small>" if not stage.weight else ""
    title = term(stage.name.partition(":")[0], stage.name)
    return render_plots.figure(plane.drawn(drawn + numbers, name), f"<b>{title}</b>{silent}")


def _ranks(count: int) -> tuple[tuple[float, str], ...]:
    step = max(5, 5 * round(count / 20))
    return tuple((at, str(at)) for at in (1, *range(step, count + 1, step)) if at <= count)


def _moves(steps: Sequence[Stage], hits: Sequence[Hit], marked: dict[str, int]) -> str:
    """The ranks of the passages that count, from step to step; at the bottom where a step did not find one."""
    kept = [hit for hit in hits if hit.chunk.id in marked]
    if len(steps) < 2 or not kept:
        return ""
    deepest = max((hit.rank for stage in steps for hit in stage.hits if hit.chunk.id in marked), default=1)
    nowhere = max(deepest, 8) + max(2, deepest // 8)
    ticks = [(at, str(at)) for at in (1, *range(5, deepest + 1, 5 if deepest <= 20 else 10))]
    plane = Plane(
        Axis("", 0, len(steps) - 1, tuple((at, _short(stage.name)) for at, stage in enumerate(steps))),
        Axis(texts.AXIS_RANK, nowhere + 0.5, 0.5, (*ticks, (nowhere, "–"))),
    )
    drawn = ""
    for hit in kept:
        ranks = [
            next((found.rank for found in stage.hits if found.chunk.id == hit.chunk.id), nowhere) for stage in steps
        ]
        points = [*enumerate(ranks)]
        number = marked[hit.chunk.id]
        kind = _MOVES[(number - 1) % len(_MOVES)]
        drawn += plane.line(points, kind)
        for (at, rank), stage in zip(points, steps, strict=True):
            said = str(rank) if rank < nowhere else texts.WENT_NOT_FOUND
            drawn += plane.dot(at, rank, kind, f"[{number}] {_place(hit.chunk)}. {stage.name}: {said}", 3.5)
        drawn += plane.note(len(steps) - 1, ranks[-1], str(number))
    return render_plots.figure(plane.drawn(drawn, texts.CHART_MOVES), f"<b>{escape(texts.CHART_MOVES)}</b>")


def _short(name: str) -> str:
    """A step's name with what else it searched cut to a letter or two: there is little room under an axis."""
    leg, _, other = name.partition(": ")
    return f"{leg} ({other[0]})" if other else leg


def sizes(tokens: Sequence[int], limit: int) -> str:
    """The lengths of a library's passages, as a histogram with the longest that is asked for.

    Args:
        tokens: The length of each.
        limit: The longest that documents are cut to now; 0: it is not known.
    """
    if not tokens:
        return ""
    longest = max(max(tokens), limit)
    width = max(1, -(-longest // _BARS))
    counts = Counter((length - 1) // width for length in tokens)
    plane = Plane(
        Axis(texts.AXIS_TOKENS, 0, width * (longest // width + 1)),
        Axis(texts.AXIS_PASSAGES, 0, max(counts.values())),
        height=180,
    )
    drawn = "".join(
        plane.bar(at * width, (at + 1) * width, count, "one", texts.BAR.format(
            count=figure(count), low=at * width + 1, high=(at + 1) * width
        ))
        for at, count in sorted(counts.items())
    )  # fmt: skip
    if limit:
        drawn += plane.upright(limit, "chosen", texts.SIZES_LIMIT.format(limit=limit))
    ordered = sorted(tokens)
    caption = texts.SIZES_CAPTION.format(
        count=figure(len(tokens)),
        middle=round(median(tokens)),
        low=ordered[len(ordered) // 20],
        high=ordered[-1 - len(ordered) // 20],
    )
    drawing = render_plots.figure(plane.drawn(drawn, texts.SECTION_SIZES), escape(caption))
    return f'<section class="fn-box"><h3>{term("tokens", texts.SECTION_SIZES)}</h3>{drawing}</section>'


def passage_map(found: PassageMap) -> str:
    """The map, with a line from the question to each passage that was found, and a list of these."""
    groups = _groups([spot.chunk for spot in found.spots])
    sheet = _Sheet.around(found)
    drawn = "".join(sheet.dot(spot, f"{groups.get(_group(spot.chunk), 'rest')} faint", 2.2) for spot in found.spots)
    question = ""
    if found.question is not None:
        x, y = sheet.at(*found.question)
        for spot in found.hits:
            to_x, to_y = sheet.at(spot.x, spot.y)
            drawn += f'<line class="thread" x1="{x}" y1="{y}" x2="{to_x}" y2="{to_y}"/>'
        question = (
            f'<path class="question" d="M{x} {y - 7} l6 11 h-12 Z"><title>{escape(texts.MAP_QUESTION)}</title></path>'
        )
    for number, spot in reversed([*enumerate(found.hits, 1)]):  # the best lies on top
        x, y = sheet.at(spot.x, spot.y)
        drawn += sheet.dot(spot, "chosen", 6.5) + f'<text class="on" x="{x}" y="{y}" dy="0.34em">{number}</text>'
    entries = [("question", escape(texts.MAP_QUESTION)), ("chosen", escape(texts.MAP_HITS))] if found.hits else []
    entries += [(kind, escape(group or texts.MAP_TOP)) for group, kind in groups.items()]
    entries += (
        [("rest", escape(texts.CHART_OTHERS))] if {_group(spot.chunk) for spot in found.spots} - {*groups} else []
    )
    listed = "".join(f"<li>{escape(_place(spot.chunk))}</li>" for spot in found.hits)
    shown = len(found.spots) + len(found.hits)
    caption = texts.MAP_CAPTION.format(shown=figure(shown), total=figure(found.total), held=f"{100 * found.held:.0f} %")
    canvas = render_plots.canvas(drawn + question, texts.SECTION_MAP, sheet.height)
    drawing = render_plots.figure(canvas, escape(caption), render_plots.legend(entries))
    hits = f'<ol class="fn-plain">{listed}</ol>' if listed else ""
    return f'<section class="fn-box fn-map"><h3>{escape(texts.SECTION_MAP)}</h3><div>{drawing}{hits}</div></section>'


@dataclass(frozen=True, slots=True)
class _Sheet:
    """The canvas of a map: distances are the same in both directions.

    Attributes:
        left: The least ``x`` on the map.
        top: The greatest ``y``.
        scale: Canvas units of one unit of the map.
        height: Of the canvas.
    """

    left: float
    top: float
    scale: float
    height: float

    @classmethod
    def around(cls, found: PassageMap) -> _Sheet:
        """The canvas that a map just fits on."""
        spots = [(spot.x, spot.y) for spot in (*found.spots, *found.hits)]
        spots += [found.question] if found.question is not None else []
        across, up = ([place[axis] for place in spots] for axis in (0, 1))
        wide, high = max(across) - min(across), max(up) - min(up)
        scale = min((WIDTH - 2 * _MARGIN) / (wide or 1.0), _HIGHEST / (high or 1.0))
        left = min(across) - (WIDTH / scale - wide) / 2
        return cls(left, max(up) + _MARGIN / scale, scale, round(high * scale) + 2 * _MARGIN)

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Where a place lies on the canvas."""
        return round((x - self.left) * self.scale, 1), round((self.top - y) * self.scale, 1)

    def dot(self, spot: Spot, kind: str, radius: float) -> str:
        """A passage."""
        x, y = self.at(spot.x, spot.y)
        title = f"<title>{escape(_place(spot.chunk))}</title>"
        return f'<circle class="{kind}" cx="{x}" cy="{y}" r="{radius}">{title}</circle>'


def _groups(chunks: Sequence[Chunk]) -> dict[str, str]:
    """The folders, or where there is only one, the files that hold most passages, each with its colour."""
    counts = Counter(_group(chunk) for chunk in chunks)
    return {group: kind for (group, _), kind in zip(counts.most_common(len(_GROUPS)), _GROUPS, strict=False)}


def _group(chunk: Chunk) -> str:
    return chunk.path.rpartition("/")[0]


def _place(chunk: Chunk) -> str:
    return " › ".join((chunk.path, *chunk.heading_path[-1:]))
