"""“Why not this?” as HTML: every gate shown, everything escaped."""

from __future__ import annotations

import pytest
from page_values import HOSTILE, make_chunk, parse

from rag.inspection.explain import Account, Explanation, Gate, Standing, Wanted, Way
from rag.inspection.unread import Lost
from rag.ui import texts
from rag.ui.render_why import button, explanation

STANDINGS = (
    Standing("dense", "cosine", 0.812, 57, 30, 1.0, recorded=False),
    Standing("lexical", "bm25", 3.2, 812, 30, 0.0, recorded=False, about=True, note="no vote"),
    Standing("fusion", "rrf", None, None, 41, 0.0, recorded=False),
)


def _account(gate: Gate | None, number: int = 0, **more: object) -> Account:
    return Account(make_chunk(1), gate, "It was 57th.", STANDINGS, number=number, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("gate", list(Gate))
def test_the_gates_before_it_are_passed_and_those_after_it_not_reached(gate: Gate) -> None:
    html = explanation(Explanation(Wanted(chunk="c1"), (_account(gate),)))
    text = parse(html).text
    at = list(Gate).index(gate)
    assert html.count('<li class="passed">') == at
    assert html.count('<li class="stopped">') == 1
    assert html.count('<li class="open">') == len(Gate) - at - 1
    assert f"{texts.WHY_GATES[gate.value]} (stopped here)" in text
    assert texts.PLAIN_WORDS[gate.value] in html


def test_what_the_model_read_passed_all_and_what_was_only_found_not_the_last_two() -> None:
    read = explanation(Explanation(Wanted(chunk="c1"), (_account(None, number=2),)))
    assert read.count('<li class="passed">') == len(Gate)
    found = explanation(Explanation(Wanted(chunk="c1"), (_account(None),)))
    assert found.count('<li class="open">') == 2


def test_figures_say_whether_they_are_on_record_and_what_was_tried() -> None:
    ways = (Way("More.", tried=True, rank=3), Way("Less.", tried=True), Way("Sync."))
    html = explanation(Explanation(Wanted(chunk="c1"), (_account(Gate.LEGS, ways=ways, remarks=("Stale.",)),)))
    text = parse(html).text
    for told in (
        "0.812", "about 812", "Not on record", "place 3 of what is found", "not found even then", "Sync.", "Stale.",
    ):  # fmt: skip
        assert told in text


def test_several_are_listed_each_with_a_button_and_the_rest_counted() -> None:
    accounts = tuple(_account(Gate.LEGS) for _ in range(3))
    html = explanation(Explanation(Wanted(file="x"), accounts, more=5, note="All of the words."))
    assert html.count('data-do="why"') == 2
    text = parse(html).text
    assert "2 more passages that fit" in text
    assert "5 more fit" in text
    assert "All of the words." in text


def test_what_was_not_read_can_be_looked_into_where_the_library_has_it() -> None:
    lost = (
        Lost("a.pdf, page 2", indexed=False, reason="A scan.", action="OCR.", file_id=7),
        Lost("b.md", indexed=True, reason="New.", action="Sync."),
    )
    html = explanation(Explanation(Wanted(file="x"), lost=lost))
    assert html.count('data-do="xray"') == 1
    assert '<tr data-id="7">' in html
    text = parse(html).text
    assert text.index("not read") < text.index("A scan.") < text.index("not indexed") < text.index("New.")
    assert texts.WHY_NOTHING in parse(explanation(Explanation(Wanted(chunk="gone")))).text


def test_nothing_that_is_shown_breaks_out() -> None:
    chunk = make_chunk(1, HOSTILE, path=HOSTILE)
    account = Account(
        chunk, Gate.LEGS, HOSTILE, (Standing(HOSTILE, "cosine", 0.5, 1, 1, 1.0, recorded=True, note=HOSTILE),),
        (Way(HOSTILE, tried=True, rank=1),), remarks=(HOSTILE,),
    )  # fmt: skip
    lost = (Lost(HOSTILE, indexed=True, reason=HOSTILE, action=HOSTILE, file_id=1),)
    assert parse(explanation(Explanation(Wanted(), (account, account), 1, lost, HOSTILE))).text.count(HOSTILE) >= 10
    parse(button(chunk))
