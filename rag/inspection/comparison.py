"""One question answered twice, side by side: with the notes and without them, or by two models from the same notes."""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Literal

from rag.answering.again import AnsweringAgain, earlier_turns, evidence_of
from rag.answering.chain import AnswerRun
from rag.answering.remarks import was_asked
from rag.errors import RagError
from rag.inspection.agreement import Mark, compare_answers
from rag.models.base import ChatModel
from rag.retrieval.retriever import Retriever
from rag.types import AnswerDone, ChatModelIdentity, Hit, Retrieval, TextDelta, Trace, Turn

Kind = Literal["notes", "models"]


@dataclass(frozen=True, slots=True)
class Side:
    """What one model says to the question.

    Attributes:
        model: The model; None while it is being opened.
        alone: Whether it is asked without the notes.
        text: What it has said so far.
        trace: The finished answer with its record; None before.
        loading: Seconds until the model was in memory, as far as that can be told apart from its answer.
        kept: Whether this is the answer that chat gave, not a new one.
        problem: Why there is no answer, and with ``hint`` what to do; else empty.
        marks: The answer's sentences with where they come from; empty before both sides have ended.
    """

    model: ChatModelIdentity | None = None
    alone: bool = False
    text: str = ""
    trace: Trace | None = None
    loading: float = 0.0
    kept: bool = False
    problem: str = ""
    hint: str = ""
    marks: tuple[Mark, ...] = ()

    @property
    def ended(self) -> bool:
        """Whether nothing more will come."""
        return self.trace is not None or bool(self.problem)


@dataclass(frozen=True, slots=True)
class Comparison:
    """How far a comparison is, and what it found.

    Attributes:
        kind: ``notes``: the left side has the notes, the right side has none; ``models``: both have the same ones.
        retrieval: The search that found the notes; it holds the question.
        notes: The notes, in the order of their numbers.
        left: The side of the model in use.
        right: The other side.
    """

    kind: Kind
    retrieval: Retrieval
    notes: tuple[Hit, ...]
    left: Side
    right: Side

    @property
    def ended(self) -> bool:
        """Whether both sides have ended."""
        return self.left.ended and self.right.ended


@dataclass(frozen=True, slots=True)
class Given:
    """What a comparison starts from.

    Attributes:
        retriever: Of the libraries that were searched; nothing is searched again.
        retrieval: What was found.
        trace: The answer that chat gave; None where there is none.
        notes: Passages for a model; None: by the evidence and the model's size.
        answer_room: Tokens that an answer may have.
    """

    retriever: Retriever
    retrieval: Retrieval
    trace: Trace | None
    notes: int | None
    answer_room: int


def with_and_without(given: Given, chat: ChatModel) -> Generator[Comparison, None, None]:
    """Answers with the notes and without them, with the same model, seed and settings.

    The answer that chat gave stands on the left where the same model gave it; it is not asked for again. Without the
    notes the earlier turns are left out too, since they may tell what the notes say.

    Yields:
        The comparison as it grows; the last one has both answers and their marks. Closing the iterator stops the model.
    """
    kept = _from_chat(given, chat)
    left = _kept(kept) if kept else Side(chat.identity)
    comparison = Comparison("notes", given.retrieval, _notes(given, chat), left, Side(chat.identity, alone=True))
    yield comparison
    if kept is None:
        for left in _ask(given, chat, comparison.notes, comparison.left):
            yield (comparison := replace(comparison, left=left))
    for right in _ask(given, chat, comparison.notes, comparison.right):
        yield (comparison := replace(comparison, right=right))
    yield _marked(comparison)


def two_models(
    given: Given, chat: ChatModel, other: AbstractContextManager[ChatModel]
) -> Generator[Comparison, None, None]:
    """Lets two models answer from the same notes, each with the prompt that fits its size.

    Args:
        given: What the comparison starts from.
        chat: The model in use.
        other: Opens the other model, once the first has ended, and closes it.

    Yields:
        The comparison as it grows; the last one has both answers and their marks. Closing the iterator stops the model.
    """
    kept = _from_chat(given, chat)
    if kept is not None and not was_asked(kept):
        kept = None  # the verdict refused; here the models themselves are to be compared
    comparison = Comparison(
        "models", given.retrieval, _notes(given, chat), _kept(kept) if kept else Side(chat.identity), Side()
    )
    yield comparison
    if kept is None:
        for left in _ask(given, chat, comparison.notes, comparison.left):
            yield (comparison := replace(comparison, left=left))
    started = time.perf_counter()
    try:
        with other as second:
            opened = Side(second.identity, loading=time.perf_counter() - started)
            for right in _ask(given, second, comparison.notes, opened):
                yield (comparison := replace(comparison, right=right))
    except RagError as error:
        yield (comparison := replace(comparison, right=_failed(comparison.right, error)))
    yield _marked(comparison)


def _notes(given: Given, chat: ChatModel) -> tuple[Hit, ...]:
    prompt = given.trace.prompt if given.trace else None
    return evidence_of(given.retrieval, prompt, small=chat.identity.small, notes=given.notes)


def _from_chat(given: Given, chat: ChatModel) -> Trace | None:
    """The answer that chat gave, where the same model gave it and came to an end."""
    trace = given.trace
    ended = trace is not None and trace.answer.outcome in ("answered", "not_in_notes")
    return trace if trace is not None and ended and trace.model == chat.identity else None


def _kept(trace: Trace) -> Side:
    loading = trace.generation.loading if trace.generation else 0.0
    return Side(trace.model, text=trace.answer.text, trace=trace, loading=loading, kept=True)


def _failed(side: Side, error: RagError) -> Side:
    return replace(side, problem=error.message, hint=error.hint)


def _ask(given: Given, chat: ChatModel, notes: Sequence[Hit], side: Side) -> Generator[Side, None, None]:
    """Asks a model; what goes wrong is told in the side, so that the other side stays."""
    history: Sequence[Turn] = () if side.alone or given.trace is None else earlier_turns(given.trace)
    started = time.perf_counter()
    try:
        answering = AnsweringAgain(
            given.retriever,
            chat,
            given.notes,
            given.answer_room,
            found=given.retrieval,
            evidence=tuple(notes),
            alone=side.alone,
        )
        run = AnswerRun(answering, given.retrieval.question, history)
        opening = time.perf_counter() - started
        events = run.events()
        try:
            for event in events:
                if isinstance(event, TextDelta):
                    side = replace(side, text=side.text + event.text)
                elif isinstance(event, AnswerDone):
                    side = _ended(side, event.trace, opening)
                yield side
        finally:
            events.close()
    except RagError as error:
        yield _failed(side, error)


def _ended(side: Side, trace: Trace, opening: float) -> Side:
    loading = side.loading + opening + (trace.generation.loading if trace.generation else 0.0)
    return replace(side, text=trace.answer.text, trace=trace, loading=loading)


def _marked(comparison: Comparison) -> Comparison:
    """The comparison with its sentences marked, where there are two answers."""
    left, right = comparison.left, comparison.right
    if left.trace is None or right.trace is None:
        return comparison
    marks, others = compare_answers(
        comparison.retrieval.queries[0],
        left.trace.answer,
        right.trace.answer,
        [hit.chunk for hit in comparison.notes],
        alone=right.alone,
    )
    return replace(comparison, left=replace(left, marks=marks), right=replace(right, marks=others))
