"""Passages that say something else than the answer: two notes that contradict each other, seen without a model.

The model picks one of two notes and cites it, and nothing about the answer looks wrong. So each sentence of it is
compared with the passages that it does not cite: where one of them speaks of the same and gives another number, date or
name, both are shown, and the person decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from rag.answering.facts import Held, Speech
from rag.index.chunking.sentences import sentences
from rag.index.terms import terms
from rag.inspection.agreement import disagreements
from rag.types import Answer, Chunk, Span, Trace

_MOST = 0.5
"""Share of the question's words that a sentence holds which speaks of the same."""

_SHORT = 3  # letters, of words like "the" and "set"
_LOOKED_AT = 8
"""Passages of the ranking that are compared, whether the model read them or not."""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A sentence of the answer, and a passage that says something else in its place.

    Attributes:
        sentence: The sentence, in the answer's text.
        words: What of it the passage does not say, as spans of the answer's text.
        chunk: The passage.
        number: Its number in the prompt; 0 where the model did not read it.
        span: What it says instead, as a span of its text.
    """

    sentence: Span
    words: tuple[Span, ...]
    chunk: Chunk
    number: int
    span: Span

    @property
    def says(self) -> str:
        """What the passage says instead."""
        return self.chunk.text[self.span.start : self.span.end].strip()


def contradictions(trace: Trace) -> tuple[Contradiction, ...]:
    """Where passages that were found say something else than the answer's cited sentences, in their order."""
    answer = trace.answer
    if answer.outcome != "answered" or not answer.citations:
        return ()
    return opposed_by(trace.retrieval.question, answer, tuple(_compared(trace)))


@lru_cache(256)
def opposed_by(question: str, answer: Answer, passages: tuple[tuple[int, Chunk], ...]) -> tuple[Contradiction, ...]:
    """What passages say against an answer; kept, since a conversation is drawn again with every question.

    Args:
        question: What was asked.
        answer: The answer.
        passages: The passages with their numbers in the prompt, 0 where the model did not read one.
    """
    about, speech = _telling(question), Speech.of(question)

    def is_about(says: str) -> bool:
        """Whether a sentence of a passage speaks of what was asked: "line 2" is not "line 3"."""
        if len(about & _telling(says)) < _MOST * len(about):
            return False
        return not any(flag.kind in ("number", "date") for flag in Held([says]).lacking(question, speech))

    said = [
        (number, chunk, span)
        for number, chunk in passages
        for span in sentences(chunk.text)
        if is_about(chunk.text[span.start : span.end])
    ]
    cited = {(citation.answer_span.start, citation.number) for citation in answer.citations}
    with_citation = {start for start, _ in cited}
    found = []
    for at, mark in disagreements(question, answer, [chunk.text[span.start : span.end] for _, chunk, span in said]):
        number, chunk, span = said[at]
        if mark.span.start in with_citation and (mark.span.start, number) not in cited:
            found.append(Contradiction(mark.span, mark.own, chunk, number, span))
    found.sort(key=lambda one: (one.sentence.start, one.number == 0))
    # One passage a sentence is enough to look: the others mostly say the same.
    return tuple(next(ones) for _, ones in groupby(found, key=lambda one: one.sentence))


def _compared(trace: Trace) -> Iterator[tuple[int, Chunk]]:
    read = [passage for passage in trace.prompt.passages if passage.in_prompt] if trace.prompt else []
    seen = {chunk.id for passage in read for chunk in (passage.hit.chunk, *passage.joined)}
    yield from ((passage.number, passage.hit.chunk) for passage in read)
    yield from ((0, hit.chunk) for hit in trace.retrieval.hits[:_LOOKED_AT] if hit.chunk.id not in seen)


def _telling(text: str) -> set[str]:
    """The words of a text that are long enough to say what it is about."""
    return {term for term in terms(text) if len(term) > _SHORT or term.isdigit() or not term.isascii()}
