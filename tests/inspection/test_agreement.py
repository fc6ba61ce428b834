"""Where the sentences of two answers come from, by their words alone."""

from __future__ import annotations

import pytest

from rag.inspection.agreement import Mark, Origin, compare_answers
from rag.types import Answer, Chunk, Citation, Span


def _chunk(text: str) -> Chunk:
    return Chunk("c1", 1, "notes/a.md", "Notes", text, Span(0, len(text)), (), None, None, 10)


def _compare(question: str, left: str, right: str, note: str, *, alone: bool = True) -> tuple[list[str], list[str]]:
    """The origins of both sides."""
    marks, others = compare_answers(
        question, Answer(left, "answered"), Answer(right, "answered"), [_chunk(note)], alone=alone
    )
    return [mark.origin.value for mark in marks], [mark.origin.value for mark in others]


@pytest.mark.parametrize(
    ("question", "note", "right"),
    [
        ("How often do the wipers sweep?", "The wipers sweep every 6 hours.", "The wipers sweep every 12 hours."),
        ("How often do the wipers sweep?", "The wipers sweep every 6 hours.", "They sweep every 30 minutes."),
        ("What is the capital of Mongolia?", "The capital of Mongolia is Zarvoth.", "It is Ulaanbaatar."),
        ("Who leads the project?", "Anna Berg leads the project.", "The project is led by Carl Lund."),
        ("Which colour is the buoy?", "The buoy is orange.", "The buoy is yellow."),
        ("When was the tree planted?", "The tree was planted on 4 April 2021.", "It was planted on 2021-05-04."),
        ("Is that allowed?", "No, that is not allowed.", "Yes, that is allowed."),
        ("Are drones allowed there?", "Drones are not allowed there.", "Drones are allowed there."),
        ("Was ist die Hauptstadt?", "Die Hauptstadt ist Kassel.", "Die Hauptstadt ist Berlin."),
        ("Wie tief liegt H5?", "H5 liegt in 1,8 m Tiefe.", "H5 liegt in 30 m Tiefe."),
        ("日本の首都はどこですか。", "日本の首都は大阪です。", "日本の首都は東京です。"),
        ("水深は何メートルですか。", "水深は１２メートルです。", "水深は30メートルです。"),
    ],
)
def test_another_value_in_the_same_place_is_a_disagreement(question: str, note: str, right: str) -> None:
    assert _compare(question, f"{note} [1]", right, note) == (["disagree"], ["disagree"])


@pytest.mark.parametrize(
    ("question", "note", "right"),
    [
        ("How deep is it?", "It lies 10 mm deep.", "It lies 1 cm deep."),
        ("What does it cost?", "It costs 1,234.5 EUR.", "The cost is 1.234,5 EUR."),
        ("How many planets are there?", "There are eight planets.", "The solar system has 8 planets."),
        ("When was the tree planted?", "The tree was planted on 4 April 2021.", "On 2021-04-04 it was planted."),
        ("What is the capital?", "The capital is Ulaanbaatar.", "Ulaanbaatar is the capital of Mongolia."),
        ("日本の首都はどこですか。", "日本の首都は東京です。", "東京です。"),
    ],
)
def test_the_same_in_other_words_agrees(question: str, note: str, right: str) -> None:
    ours, theirs = _compare(question, f"{note} [1]", right, note)
    assert ours == ["both"]
    assert theirs[0] != "disagree"


def test_what_the_model_does_not_say_by_itself_comes_from_the_notes() -> None:
    note = "The wipers sweep the window every 6 hours."
    vague = "How often wipers sweep a window can vary with the model and the weather conditions."
    assert _compare("How often do the wipers sweep?", f"{note} [1]", vague, note) == (["notes"], ["model"])
    unsure = "I'm sorry, but I don't have information about the wipers."
    assert _compare("How often do the wipers sweep?", f"{note} [1]", unsure, note) == (["notes"], ["unsure"])


def test_what_no_passage_holds_is_the_models_own_on_either_side() -> None:
    ours, theirs = _compare(
        "What is the capital of Mongolia?",
        "The capital is Ulaanbaatar. [1] It was founded in 1639.",
        "Ulaanbaatar is the capital of Mongolia. It has 1.5 million inhabitants.",
        "The capital of Mongolia is Ulaanbaatar.",
    )
    assert (ours, theirs) == (["both", "model"], ["both", "model"])


def test_a_passage_with_another_name_or_number_does_not_hold_a_sentence() -> None:
    question, note = "Who leads the project?", "Anna Berg leads the project since 2019."
    for said in ("Carl Lund leads the project.", "Anna Berg leads the project since 2017."):
        (mark,), _ = compare_answers(
            question, Answer(said, "answered"), Answer("", "failed"), [_chunk(note)], alone=True
        )
        assert (mark.origin, mark.held) == (Origin.MODEL, False)


def test_a_cited_sentence_in_another_language_than_its_passage_is_held_unless_a_fact_is_missing() -> None:
    note = _chunk("Der Wischer fährt alle 6 Stunden über das Fenster und wird jeden März geprüft.")
    text = "The wiper cleans the window every 6 hours. [1]"
    span = Span(0, len(text) - 4)

    def held(*missing: str) -> Mark:
        citation = Citation(1, note, note.span, span, "model", 0.1, missing)
        answer = Answer(text, "answered", (citation,))
        ((mark,), _) = compare_answers("How often?", answer, Answer("", "failed"), [note], alone=True)
        return mark

    assert held().origin is Origin.NOTES
    assert held("6 hours").origin is Origin.MODEL


def test_two_models_that_say_the_same_from_the_notes_are_both_held() -> None:
    note = "The plum tree stands 3.5 m from the north wall."
    assert _compare("How far?", f"{note} [1]", "3.5 m. [1]", note, alone=False) == (["notes"], ["notes"])


def test_a_refusal_has_no_sentences_to_compare() -> None:
    refusal = Answer("Your notes do not seem to say.", "not_in_notes")
    marks, others = compare_answers(
        "What is the capital?", refusal, Answer("The capital is Lyon.", "answered"), [_chunk("Lyon is the capital.")],
        alone=True,
    )  # fmt: skip
    assert marks == ()
    assert [mark.origin for mark in others] == [Origin.BOTH]


def test_the_words_that_differ_are_named_in_the_answers_own_text() -> None:
    left, right = "- **Depth**: it lies 12 m deep. [1]", "It lies 30 m deep."
    (mark,), (other,) = compare_answers(
        "How deep does it lie?", Answer(left, "answered"), Answer(right, "answered"), [_chunk("It lies 12 m deep.")],
        alone=True,
    )  # fmt: skip
    assert "12 m" in [left[span.start : span.end] for span in mark.own]
    assert [right[span.start : span.end] for span in other.own] == ["30 m"]
    assert mark.other == other.span
    assert other.other == mark.span


@pytest.mark.parametrize("text", ["", "[1]", "。", "\n\n", "12", "x" * 300, "\ud800", "| a | b |\n|--|--|\n| 1 | 2 |"])
def test_odd_answers_do_no_harm(text: str) -> None:
    for left, right in ((text, "It is 5 m."), ("It is 5 m. [1]", text), (text, text)):
        marks, others = compare_answers(
            text, Answer(left, "answered"), Answer(right, "answered"), [_chunk(text or "x")], alone=True
        )
        for mark, whole in [*((mark, left) for mark in marks), *((mark, right) for mark in others)]:
            assert 0 <= mark.span.start <= mark.span.end <= len(whole)


@pytest.mark.parametrize(
    ("overlap", "missing", "origin"), [(0.7, (), "notes"), (0.7, ("2222",), "model"), (0.5, (), "model")]
)
def test_a_cited_number_in_other_words_comes_from_the_notes(
    overlap: float, missing: tuple[str, ...], origin: str
) -> None:
    note = _chunk("SSH on port 2222, keys only, from the office network.")
    said = "SSH uses port 2222. [1]"
    citation = Citation(1, note, note.span, Span(0, 19), "model", overlap, missing)
    left = Answer(said, "answered", (citation,))
    (mark,), _ = compare_answers(
        "Which port does SSH use?", left, Answer("I do not know.", "answered"), [note], alone=True
    )
    assert mark.origin.value == origin
