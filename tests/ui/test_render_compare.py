"""Two answers side by side: what is shown of them, and that nothing in them becomes part of the page."""

from __future__ import annotations

from dataclasses import replace

import pytest
from page_values import CHAT, HOSTILE, make_chunk, make_prompt, make_retrieval, make_trace, parse

from rag.inspection.agreement import Mark, Origin
from rag.inspection.comparison import Comparison, Side
from rag.types import Answer, Citation, Generation, Hit, Outcome, Span
from rag.ui import texts
from rag.ui.render_compare import comparison

RETRIEVAL = make_retrieval(make_chunk(1), question=f"Why? {HOSTILE}")
NOTES = (Hit(make_chunk(1), 1.0, 1),)


def _side(text: str, *origins: Origin, alone: bool = False, outcome: Outcome = "answered") -> Side:
    """A finished side, each of whose lines is a sentence with one of the origins."""
    trace = replace(
        make_trace(RETRIEVAL, make_prompt(RETRIEVAL, 1, read=321), Answer(text, outcome)),
        generation=Generation(text, tokens=50, ended="stop", loading=0.2),
    )
    marks, at = [], 0
    for line, origin in zip(text.splitlines(), origins, strict=True):
        held = origin in (Origin.NOTES, Origin.BOTH)
        marks.append(Mark(Span(at, at + len(line)), origin, held=held))
        at += len(line) + 1
    return Side(CHAT, alone, text, trace, loading=1.5, marks=tuple(marks))


def _compared(left: Side, right: Side, kind: str = "notes") -> Comparison:
    return Comparison("notes" if kind == "notes" else "models", RETRIEVAL, NOTES, left, right)


@pytest.mark.parametrize(
    ("left", "right", "told"),
    [
        ((Origin.DISAGREE,), (Origin.DISAGREE,), texts.COMPARE_DISAGREE),
        ((Origin.NOTES,), (Origin.MODEL,), texts.COMPARE_FROM_NOTES),
        ((Origin.NOTES,), (Origin.UNSURE,), texts.COMPARE_FROM_NOTES),
        ((Origin.BOTH,), (Origin.BOTH,), texts.COMPARE_KNOWN),
        ((Origin.MODEL,), (Origin.MODEL,), texts.COMPARE_NOT_FROM_NOTES),
    ],
)
def test_one_sentence_says_what_the_two_sides_come_to(
    left: tuple[Origin, ...], right: tuple[Origin, ...], told: str
) -> None:
    page = parse(comparison(_compared(_side("It is 5 m.", *left), _side("It is 6 m.", *right, alone=True))))
    assert told in page.text


def test_a_refusal_that_a_passage_contradicts_is_told() -> None:
    refused = _side("", outcome="not_in_notes")
    missed = comparison(_compared(refused, _side("Lyon.", Origin.BOTH, alone=True)))
    assert texts.COMPARE_MISSED in parse(missed).text
    right = comparison(_compared(refused, _side("Lyon.", Origin.MODEL, alone=True)))
    assert texts.COMPARE_REFUSED in parse(right).text


def test_every_sentence_carries_its_origin_and_only_the_signs_in_use_are_explained() -> None:
    left = _side("From a note.\nFrom nowhere.", Origin.NOTES, Origin.MODEL)
    html = comparison(_compared(left, _side("Hm.", Origin.UNSURE, alone=True)))
    page = parse(html)
    assert 'class="fn-origin notes"' in html
    assert 'class="fn-origin unsure"' in html
    assert 'class="fn-origin disagree"' not in html
    assert texts.ORIGINS["unsure"] in page.text
    assert texts.ORIGINS["disagree"] not in page.text


def test_disagreeing_sentences_stand_under_each_other_with_their_words() -> None:
    left, right = _side("It is 5 m deep.", Origin.DISAGREE), _side("It is 6 m deep.", Origin.DISAGREE, alone=True)
    span = Span(0, 15)
    left = replace(left, marks=(Mark(span, Origin.DISAGREE, (Span(6, 9),), span, held=True),))
    right = replace(right, marks=(Mark(span, Origin.DISAGREE, (Span(6, 9),), span),))
    html = comparison(_compared(left, right))
    assert html.count("<b>5 m</b>") == 2, "in its side and in the list"
    assert html.count("<b>6 m</b>") == 2
    assert html.count("<li>") == 1
    only_one = comparison(_compared(left, replace(right, marks=())))
    assert "<b>5 m</b>" in only_one


def test_the_costs_of_both_are_in_one_table() -> None:
    page = parse(comparison(_compared(_side("A.", Origin.NOTES), _side("B.", Origin.NOTES), "models")))
    assert "321" in page.text
    assert "25.0" in page.text, "tokens a second"
    assert "0.300 s" in page.text, "the first word without the loading"
    assert "1 of 1" in page.text


def test_a_side_that_failed_shows_why_and_no_table_stands_for_nothing() -> None:
    failed = Side(CHAT, problem=f"It broke {HOSTILE}", hint="Ask again.")
    html = comparison(_compared(failed, replace(failed, alone=True)))
    assert "Ask again." in parse(html).text
    assert "<table" not in html


def test_while_it_runs_what_is_said_so_far_is_shown() -> None:
    waiting = comparison(_compared(Side(CHAT, text="It is"), Side(CHAT, alone=True)))
    page = parse(waiting)
    assert "It is" in page.text
    assert texts.COMPARE_WAITING in page.text
    assert 'data-state="running"' in waiting
    opening = parse(comparison(_compared(_side("A.", Origin.NOTES), Side(), "models")))
    assert texts.COMPARE_OPENING in opening.text


def test_nothing_that_a_model_or_a_name_says_becomes_part_of_the_page() -> None:
    hostile = _side(HOSTILE, Origin.DISAGREE)
    named = replace(hostile, model=replace(CHAT, name=HOSTILE))
    citation = Citation(1, make_chunk(1, HOSTILE), Span(100, 110), Span(0, 10), "model", 0.1, (HOSTILE[:20],))
    assert hostile.trace is not None
    answer = replace(hostile.trace.answer, citations=(citation,), warnings=(HOSTILE,))
    cited = replace(named, trace=replace(hostile.trace, answer=answer))
    for kind in ("notes", "models"):
        parse(comparison(_compared(cited, named, kind)))
