import json
import threading
from dataclasses import replace

import pytest
from fakes.hash_embedder import HashEmbedder
from material import make_chunk, make_hit, write_notes

from rag.errors import QuestionsError
from rag.index.chunking.chunks import ChunkProfile
from rag.index.library import Library
from rag.index.plan import make_plan
from rag.index.sync import apply_plan
from rag.inspection.questions import (
    Expected,
    added,
    answered_by,
    change,
    fingerprint,
    from_lines,
    load,
    new_question,
    positions,
    problem,
    to_lines,
)
from rag.types import Hit

VALVE = (
    "The relief valve of the boiler opens at a pressure of sixteen bar. It is checked in April by the inspector, who "
    "writes the reading into the boiler book and seals the valve again with a leaden seal."
)
ROSES = "The roses in the garden are cut back every year in the month of March, when the frost is over for good."
JAPANESE = "ボイラーの安全弁は十六バールの圧力で開きます。毎年四月に検査官が点検し、記録簿に数値を書き込みます。"


def test_a_place_is_known_by_file_page_and_phrase() -> None:
    chunk = make_chunk(
        "The valve opens at 16\n bar.", path="plant/Boiler.pdf", page=3, page_end=4, heading_path=("Safety",)
    )
    assert Expected("boiler.pdf").found_in(chunk)
    assert Expected("plant\\boiler.pdf", 4).found_in(chunk)
    assert Expected(phrase="OPENS at 16 bar").found_in(chunk)
    assert Expected("plant/Boiler.pdf", 3, "１６ bar").found_in(chunk)
    assert Expected(phrase="safety").found_in(chunk)
    assert not Expected("oiler.pdf").found_in(chunk)
    assert not Expected("boiler.pdf", 5).found_in(chunk)
    assert not Expected("boiler.pdf", 3, "17 bar").found_in(chunk)
    assert not Expected(page=3).found_in(make_chunk("No pages here."))
    assert not Expected().found_in(chunk)


@pytest.mark.parametrize("text", [VALVE, JAPANESE])
def test_a_passage_that_was_pointed_at_is_found_however_it_is_cut(text: str) -> None:
    place = Expected("boiler.md", prints=fingerprint(text))
    half = len(text) // 2
    for piece in (text, f"{ROSES} {text} {ROSES}", text[:half], text[half:], text.replace("April", "May")):
        assert place.found_in(make_chunk(piece, path="moved.md")), piece
    for other in (ROSES, "", "Yes.", f"{ROSES} {text[:20]}"):
        assert not place.found_in(make_chunk(other)), other


def test_a_fingerprint_holds_no_words_and_is_short() -> None:
    prints = fingerprint(VALVE * 40)
    assert len(prints) == 48
    assert all(len(one) == 8 and int(one, 16) >= 0 for one in prints)
    assert fingerprint(VALVE.upper()) == fingerprint(VALVE.replace(" ", "\n"))


def test_positions_count_places_once_and_copies_with_their_twin() -> None:
    valve, roses = Expected(phrase="relief valve"), Expected(phrase="roses")
    hits = [
        make_hit("Nothing.", 1), make_hit(VALVE, 2), make_hit(VALVE, 3),
        Hit(make_chunk("Other.", "9"), 0.1, 4, copies=(make_chunk(ROSES, "8"),)),
    ]  # fmt: skip
    assert positions([valve, roses], hits) == (2, 4)
    assert positions([Expected(phrase="tulips")], hits) == (None,)
    assert positions([], hits) == ()


def test_a_passage_with_two_places_counts_as_two() -> None:
    both = make_hit(f"{VALVE} {ROSES}", 1)
    assert positions([Expected(phrase="roses"), Expected(phrase="relief valve")], [both]) == (1, 2)
    assert positions([Expected(phrase="roses"), Expected(phrase="relief valve")], [make_hit("x", 2), both]) == (2, 3)


def test_pointing_at_a_second_passage_adds_it_and_at_none_takes_all_away() -> None:
    questions = answered_by((), "When is it checked?", make_chunk(VALVE, path="a.md", page=2, page_end=2))
    questions = answered_by(questions, "when is it  CHECKED?", make_chunk(ROSES, path="b.md"))
    questions = answered_by(questions, "When is it checked?", make_chunk(VALVE, path="a.md", page=2, page_end=2))
    (only,) = questions
    assert [(place.path, place.page) for place in only.expected] == [("b.md", None), ("a.md", 2)]
    assert "April" not in to_lines(questions)
    (refused,) = added(questions, [new_question("When is it checked?", answerable=False)])
    assert (refused.id, refused.answerable, refused.expected) == (only.id, False, ())


def test_what_is_exported_is_read_again() -> None:
    questions = [
        new_question("Wie heiß ist “er”?", answerable=True, expected=(Expected("a/b.md", 3, "ß <b>"),)),
        new_question("ボイラーは？", answerable=True, expected=(Expected("c.md", prints=fingerprint(VALVE)),)),
        new_question("Who?", answerable=False),
        new_question("Where?", answerable=True),
    ]
    again = from_lines(to_lines(questions))
    assert [replace(one, id="") for one in again] == [replace(one, id="") for one in questions]
    assert "ボイラー" in to_lines(questions)


def test_lines_may_say_it_in_short() -> None:
    lines = [
        {"id": "s01", "question": " How\nheavy? ", "path": "a.md", "page": None, "evidence": ["40 kg", "forty"]},
        {"question": "Who?", "answerable": False, "path": None, "evidence": []},
        {"question": "When?", "page": 2, "phrase": "in May", "other": 1},
    ]
    heavy, who, when = from_lines("\ufeff" + "\n\n".join(json.dumps(line) for line in lines))
    assert heavy.text == "How heavy?"
    assert heavy.expected == (Expected("a.md", None, "40 kg"), Expected("a.md", None, "forty"))
    assert (who.answerable, who.expected) == (False, ())
    assert when.expected == (Expected("", 2, "in May"),)


@pytest.mark.parametrize(
    "line",
    [
        "{", "[]", "3", '{"question": 4}', '{"question": ""}', '{"question": "a", "answerable": "yes"}',
        '{"question": "a", "page": "3"}', '{"question": "a", "page": 0}', '{"question": "a", "phrase": 5}',
        '{"question": "a", "expected": 5}', '{"question": "a", "expected": [5]}', '{"question": "a", "path": 5}',
    ],
)  # fmt: skip
def test_a_line_that_is_no_question_is_named(line: str) -> None:
    with pytest.raises(QuestionsError, match="Line 2 is no question"):
        from_lines('{"question": "fine"}\n' + line)


def test_a_question_has_words_and_an_unanswerable_one_no_place() -> None:
    for text, places in (("  ", ()), ("x" * 3000, ()), ("Who?", (Expected("a.md"),))):
        with pytest.raises(QuestionsError):
            new_question(text, answerable=False, expected=places)
    with pytest.raises(QuestionsError, match="no question in this file"):
        from_lines("\n \n")


def test_questions_are_kept_whole_when_several_are_added_at_once(tmp_path) -> None:
    def add(number: int) -> None:
        change(tmp_path, lambda known: added(known, [new_question(f"Question {number}?", answerable=False)]))

    threads = [threading.Thread(target=add, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {question.text for question in load(tmp_path)} == {f"Question {number}?" for number in range(20)}
    assert [path.name for path in tmp_path.iterdir()] == ["questions.jsonl"]


def test_a_file_that_is_not_ours_is_told_and_left_alone(tmp_path) -> None:
    assert load(tmp_path) == ()
    (tmp_path / "questions.jsonl").write_text("no JSON", encoding="utf-8")
    with pytest.raises(QuestionsError):
        change(tmp_path, lambda known: known)
    assert (tmp_path / "questions.jsonl").read_text(encoding="utf-8") == "no JSON"


def test_a_place_that_is_not_in_the_library_is_told_with_the_reason(library: Library, readers, tmp_path) -> None:
    root = write_notes(tmp_path / "notes", {"boiler.md": VALVE, "garden.md": ROSES, "empty.md": ""})
    profile = ChunkProfile(200, 30)
    for _ in apply_plan(library, make_plan(library, root, profile), HashEmbedder(), readers, profile):
        pass
    assert problem(library, Expected("boiler.md", phrase="sixteen bar")) == ""
    assert problem(library, Expected(phrase="sixteen bar")) == ""
    assert problem(library, Expected("boiler.md", prints=fingerprint(VALVE))) == ""
    assert problem(library, Expected("pump.md")) == "no file “pump.md” in the library"
    assert problem(library, Expected("empty.md")) == "nothing was read from empty.md"
    assert problem(library, Expected("boiler.md", 3)) == "boiler.md has no text on page 3"
    assert problem(library, Expected("garden.md", phrase="sixteen bar")) == "“sixteen bar” is in no passage there"
    assert problem(library, Expected(phrase="seventeen bar")) == "“seventeen bar” is in no passage"
    assert problem(library, Expected("garden.md", prints=fingerprint(VALVE))) == "garden.md no longer holds the passage"
