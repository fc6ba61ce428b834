from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

import pytest
from langchain_core.language_models import BaseChatModel

from rag.answering.budget import build_prompt, joined, passages_wanted
from rag.errors import InputTooLong
from rag.models.base import ChatModel
from rag.types import (
    ChatModelIdentity,
    Chunk,
    Evidence,
    Hit,
    Passage,
    Place,
    Retrieval,
    Span,
    Stage,
    Verdict,
)

TEXT = "The valve opens at 16 bar.\nIt closes at 12 bar.\n\nIt is checked in May. The pump is checked in June."


class CountingChat(ChatModel):
    """A model of which only the window and the token count are asked: a word is a token."""

    exact_counts = True

    def __init__(self, window: int = 2000, *, small: bool = True) -> None:
        self.identity = ChatModelIdentity("embedded", "counting", "", window, small)

    @property
    def runnable(self) -> BaseChatModel:
        raise AssertionError("nothing is generated here")

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    def errors(self) -> AbstractContextManager[None]:
        return nullcontext()


def chunk(start: int, end: int, **changed: object) -> Chunk:
    text = TEXT[start:end]
    return replace(
        Chunk(f"lib.1.1.{start}", 1, "valve.md", "Valve", text, Span(start, end), ("Valve",), None, None, 10),
        **changed,  # type: ignore[arg-type]
    )


def hits(*chunks: Chunk) -> list[Hit]:
    return [Hit(one, 1.0 / rank, rank) for rank, one in enumerate(chunks, start=1)]


def others(count: int) -> list[Chunk]:
    """Chunks of other files."""
    return [chunk(0, 26, id=f"lib.{file}.1.0", file_id=file) for file in range(10, 10 + count)]


def in_prompt(passages: Sequence[Passage]) -> list[str]:
    return [passage.hit.chunk.text for passage in passages if passage.in_prompt]


FIRST, SECOND, THIRD = (0, 26), (27, 47), (49, 99)


def test_neighbours_become_one_text_that_is_the_documents() -> None:
    whole = joined(
        [chunk(*THIRD, page=3, page_end=3), chunk(*FIRST, page=2, page_end=2), chunk(20, 47, page=2, page_end=2)]
    )
    assert whole.text == TEXT[0 : len(whole.text)]
    assert whole.span == Span(0, len(whole.text))
    assert (whole.page, whole.page_end) == (2, 3)
    assert [whole.page_at(offset) for offset in (0, 46, 49, 60)] == [2, 2, 3, 3]
    assert whole.tokens == 30
    with_gap = joined([chunk(*FIRST, page=3, page_end=3), chunk(*SECOND, page=5, page_end=5)])
    assert [with_gap.page_at(offset) for offset in (0, 26, 27)] == [3, 3, 5]
    lines = joined([chunk(*FIRST, place=Place("line", 1, 1)), chunk(*SECOND, place=Place("line", 1, 4))])
    assert lines.place == Place("line", 1, 4)


def test_neighbours_of_one_section_stand_in_the_prompt_as_one_passage() -> None:
    found = hits(chunk(*SECOND), *others(1), chunk(*FIRST), chunk(*THIRD, heading_path=("Pump",)))
    prompt = build_prompt("When?", found, [], CountingChat(), 2, 100)
    assert in_prompt(prompt.passages) == [TEXT[:47], TEXT[:26]]
    first, _, third, fourth = prompt.passages
    assert [part.span for part in first.joined] == [Span(*FIRST), Span(*SECOND)]
    assert (third.number, third.reason) == (0, "joined with [1]")
    assert fourth.reason == "beyond the 2 passages wanted"
    assert TEXT[:47] in prompt.messages[-1].content


def test_what_is_followed_comes_beside_the_wanted_passages() -> None:
    followed = [replace(hit, rank=hit.rank + 4, note="“see 5.2” in passage 1") for hit in hits(*others(7)[4:])]
    prompt = build_prompt("When?", [*hits(*others(4)), *followed], [], CountingChat(), 2, 100)
    assert [passage.number for passage in prompt.passages] == [1, 2, 0, 0, 3, 4, 0]
    assert prompt.passages[-1].reason == "beyond the 2 passages that references may add"


def test_what_does_not_fit_stays_out_whole() -> None:
    long = chunk(0, 26, id="lib.9.1.0", file_id=9, text="word " * 3000)
    prompt = build_prompt("When?", hits(long, *others(1)), [], CountingChat(), 3, 100)
    assert [passage.number for passage in prompt.passages] == [0, 1]
    assert prompt.passages[0].reason.startswith("does not fit: ")
    assert prompt.window.used + prompt.window.answer_room <= prompt.window.total
    with pytest.raises(InputTooLong, match="No passage fits"):
        build_prompt("When?", hits(long), [], CountingChat(), 3, 100)


@pytest.mark.parametrize(
    ("cosines", "small", "wanted"),
    [
        ([0.90, 0.80, 0.79, 0.78, 0.78, 0.78, 0.77, 0.77], True, 2),  # one stands out
        ([0.90, 0.89, 0.89, 0.78, 0.78, 0.78, 0.77, 0.77], True, 3),
        ([0.90] * 6 + [0.78] * 6, True, 4),  # more do than a small model reads well
        ([0.90] * 6 + [0.78] * 6, False, 6),
        ([], True, 2),
    ],
)
def test_the_number_of_passages_follows_the_evidence(cosines: list[float], small: bool, wanted: int) -> None:
    found = tuple(Hit(one, score, rank) for rank, (one, score) in enumerate(zip(others(20), cosines, strict=False), 1))
    stage = Stage("dense", "cosine", found, 0.0)
    retrieval = Retrieval("notes", "q", ("q",), "", found, (stage,), Evidence(Verdict.ENOUGH, ""))
    assert passages_wanted(retrieval, small=small) == wanted
