"""Charts of a question and of a library."""

from __future__ import annotations

import re

from material import make_chunk, make_hit

from rag.inspection.map import PassageMap, Spot
from rag.types import Evidence, Hit, Passage, Prompt, Retrieval, Stage, Verdict, Window
from rag.ui import render_charts, texts

HITS = tuple(make_hit(f"passage {rank}", rank, 1 / rank, path=f"<b>{rank}.md") for rank in range(1, 13))


def search(*stages: Stage) -> Retrieval:
    """A search with these steps."""
    return Retrieval("Notes", "?", ("?",), "", HITS[:6], stages, Evidence(Verdict.SOME, ""))


def test_scores_are_drawn_step_by_step_and_what_the_model_read_is_marked() -> None:
    behind = (*HITS[3:], HITS[0])
    lexical = tuple(Hit(hit.chunk, 9.0 - rank, rank) for rank, hit in enumerate(behind, 1))
    found = search(
        Stage("dense", "cosine", HITS, 0.1),
        Stage("lexical", "bm25", lexical, 0.1, 0.0, "knows nothing"),
        Stage("fold", "rrf", HITS, 0.1),
    )
    sent = Prompt((), (Passage(1, HITS[2], 9), Passage(0, HITS[0], 9, "cut")), Window(9, 1, 1, 1, 1, 1, exact=True))
    drawn = render_charts.scores(found, sent)
    assert "<b>1.md" not in drawn
    assert texts.CHART_IN_PROMPT in drawn
    assert texts.CHART_MOVES in drawn
    assert texts.NO_VOTE in drawn
    assert drawn.count("<svg") == 3  # two steps, and the ranks from one to the other
    marked = re.findall(r'<circle class="chosen".*?<title>(.*?)</title>', drawn)
    assert [title.split(".")[0] for title in marked] == ["3"]  # the keyword search did not find it
    assert texts.WENT_NOT_FOUND in drawn
    without = render_charts.scores(found, None)
    assert len(re.findall(r'<circle class="chosen"', without)) == render_charts.MARKED + 3
    assert texts.CHART_FIRST in without
    assert render_charts.scores(search(), None) == ""


def test_lengths_are_counted_in_bars() -> None:
    drawn = render_charts.sizes([10, 12, 30, 199, 200], 200)
    assert drawn.count("<rect") == 3
    assert texts.SIZES_LIMIT.format(limit=200) in drawn
    assert "5 passages; half have up to 30 tokens" in drawn
    assert render_charts.sizes([], 200) == ""
    assert "<rect" in render_charts.sizes([1], 0)


def test_a_map_keeps_distances_and_names_what_was_found() -> None:
    spots = tuple(
        Spot(x / 10, y / 10, make_chunk("text", f"{x}.{y}", path=f"{'ab'[x % 2]}/{x}<i>.md"))
        for x in range(6)
        for y in range(3)
    )
    hits = (Spot(0.35, 0.1, make_chunk("found", "f1", path="a/hit<1>.md", heading_path=("Top", "Deep"))),)
    drawn = render_charts.passage_map(PassageMap(spots, hits, (0.45, 0.15), 0.183, 12_000))
    assert "<i>.md" not in drawn
    assert "a/hit&lt;1&gt;.md › Deep" in drawn
    assert "19 of 12,000 passages" in drawn
    assert "18 %" in drawn
    places = {
        title: (float(x), float(y))
        for x, y, title in re.findall(r'cx="([\d.]+)" cy="([\d.]+)" r="2.2"><title>(.*?)</title>', drawn)
    }
    circles = [(float(x), float(y)) for x, y in re.findall(r'cx="([\d.]+)" cy="([\d.]+)" r="2.2"', drawn)]
    assert len(places) == 6
    (x0, y0), (x1, y1), (x3, y3) = circles[0], circles[1], circles[3]
    assert x0 == x1
    assert abs((y0 - y1) - (x3 - x0)) < 0.2  # a tenth upwards is as long as a tenth to the right
    assert y3 == y0
    assert all(0 < x < 360 for x, _ in circles)
    assert "<path" not in render_charts.passage_map(PassageMap(spots, (), None, 0.1, 18))
    same = tuple(Spot(0.0, 0.0, spot.chunk) for spot in spots)
    assert "NaN" not in render_charts.passage_map(PassageMap(same, (), None, 0.0, 18))
