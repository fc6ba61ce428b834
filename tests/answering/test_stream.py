from collections.abc import Iterator

import pytest

from rag.answering.prompts import REFUSAL
from rag.answering.stream import is_refusal, until_refusal


def _in_pieces(text: str, size: int) -> Iterator[str]:
    return (text[at : at + size] for at in range(0, len(text), size))


@pytest.mark.parametrize("size", [1, 4, 100])
@pytest.mark.parametrize("refusal", [REFUSAL, REFUSAL + ".", f'"{REFUSAL}"', "Not in the notes."])
def test_a_refusal_is_held_back(refusal: str, size: int) -> None:
    assert "".join(until_refusal(_in_pieces(refusal, size))) == REFUSAL


@pytest.mark.parametrize("size", [1, 4, 100])
@pytest.mark.parametrize("text", ["Not in the north, but in the south.", "No.", "The pump.", "NOT"])
def test_an_answer_that_begins_alike_is_passed_on_whole(text: str, size: int) -> None:
    assert "".join(until_refusal(_in_pieces(text, size))) == text


def test_text_is_passed_on_as_soon_as_it_cannot_be_a_refusal() -> None:
    stream = until_refusal(iter(["The ", "pump ", "runs."]))
    assert next(stream) == "The "


@pytest.mark.parametrize(
    "text",
    [REFUSAL, "The notes do not mention that.", "Die Notizen enthalten das nicht.", "ノートには書かれていません。"],
)
def test_refusals_in_the_models_own_words(text: str) -> None:
    assert is_refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The valve does not open below 16 bar. [1]",
        "No, it is closed.",
        "会議はありません。",
        "ノートによると、雨の日は使えません。",
        "The notes do not mention leap years, but the pump runs at 5 bar [1].",
        "The notes do not mention the pump [2].",
    ],
)
def test_answers_that_say_no_are_no_refusals(text: str) -> None:
    assert not is_refusal(text)
