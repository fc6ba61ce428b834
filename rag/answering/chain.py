"""From question to answer as one LangChain chain, and its stream as Footnote's events.

::

    condense ─► retrieve ─► prompt ─┬─ evidence "none": no model call
                                    └─ model stream ─► citations checked ─► AnswerDone

Each ``RunnablePassthrough.assign`` adds one key to the state, and ``.stream()`` hands out each key as soon as it is
there: the retrieval and the prompt before the model's first token.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableBranch, RunnableLambda, RunnablePassthrough

from rag.answering.budget import build_prompt, passages_wanted, with_read_tokens
from rag.answering.citations import check_citations
from rag.answering.condense import condense
from rag.answering.prompts import REFUSAL, refusal_text
from rag.answering.remarks import was_cut
from rag.answering.stream import is_refusal, until_refusal
from rag.errors import ModelError
from rag.models.base import ChatModel
from rag.models.thinking import without_thinking
from rag.retrieval.lexical import weigh_terms
from rag.retrieval.query import merged, parse_query
from rag.retrieval.retriever import Retriever
from rag.types import (
    DEFAULT_SEARCH,
    Answer,
    AnswerDone,
    AnswerEvent,
    Generation,
    Outcome,
    Prompt,
    Retrieval,
    RetrievalDone,
    SearchOptions,
    TextDelta,
    Trace,
    Turn,
    Verdict,
)

SEARCH_ONLY = "There is no chat model, so Footnote only searches. These passages fit the question best."

_ONLY_THOUGHT = "The model only thought and gave no answer; choose another one, or raise FOOTNOTE_ANSWER_TOKENS."
_SAID_NOTHING = "The model gave an empty answer; ask again, or choose another one."

_MESSAGES = {"system": SystemMessage, "user": HumanMessage, "assistant": AIMessage}


State = dict[str, Any]
"""What the chain carries: ``question`` and ``history`` go in; ``query`` (text and note), ``retrieval``, ``prompt`` and
``answer`` (message chunks) are added in this order."""


@dataclass(frozen=True, slots=True)
class Answering:
    """What is needed to answer.

    Attributes:
        retriever: Over the libraries that are asked.
        chat: The model; None: Footnote only searches.
        notes: Passages for the model; None: by the evidence and its size.
        answer_room: Tokens that the answer may have.
        options: What the person decided for this question.
        settings: What else decides the answer, for the record.
    """

    retriever: Retriever
    chat: ChatModel | None
    notes: int | None
    answer_room: int
    options: SearchOptions = DEFAULT_SEARCH
    settings: Mapping[str, str] = field(default_factory=dict)

    def chain(self, seconds: dict[str, float]) -> Runnable[State, State]:
        """The chain; without a model it ends after the retrieval.

        Args:
            seconds: Takes up how long each step before the model's answer took.
        """
        searching = RunnablePassthrough.assign(
            query=_timed("condense", self._condense, seconds)
        ) | RunnablePassthrough.assign(retrieval=_timed("search", self._retrieve, seconds))
        if self.chat is None:
            return searching
        asking = RunnableLambda(_messages) | self.chat.runnable
        return (
            searching
            | RunnablePassthrough.assign(prompt=_timed("prompt", self._prompt, seconds))
            | RunnablePassthrough.assign(answer=RunnableBranch((self._refuses, RunnableLambda(_silence)), asking))
        )

    def refuses(self, retrieval: Retrieval) -> bool:
        """Whether the model is not asked, since the notes do not seem to say."""
        return retrieval.evidence.verdict is Verdict.NONE and not (self.options.anyway and retrieval.hits)

    def _refuses(self, state: State) -> bool:
        return self.refuses(state["retrieval"])

    def _condense(self, state: State) -> tuple[str, str]:
        if self.options.rewrite:
            return parse_query(self.options.rewrite)[0], "Searched as told."
        text, _ = parse_query(state["question"])
        return condense(text, state["history"], self.chat)

    def _retrieve(self, state: State) -> Retrieval:
        query, note = state["query"]
        filters = merged(parse_query(self.options.rewrite)[1], self.options.filters)
        return self.retriever.search(state["question"], query, note, replace(self.options, filters=filters))

    def _prompt(self, state: State) -> Prompt:
        if self.chat is None:
            raise ValueError("There is no prompt without a model.")
        retrieval = state["retrieval"]
        wanted = self.notes or passages_wanted(retrieval, small=self.chat.identity.small)
        return build_prompt(retrieval.queries[0], retrieval.hits, state["history"], self.chat, wanted, self.answer_room)


def _timed(name: str, step: Callable[[State], Any], seconds: dict[str, float]) -> Runnable[State, Any]:
    """A step that notes its time by itself: what it hands on may be waited for by then, or fetched much later."""

    def run(state: State) -> Any:
        started = time.perf_counter()
        done = step(state)
        seconds[name] = time.perf_counter() - started
        return done

    return RunnableLambda(run)


def _silence(state: State) -> None:
    """No model call: what the notes do not speak of is not asked."""


def _messages(state: State) -> list[BaseMessage]:
    return [_MESSAGES[message.role](message.content) for message in state["prompt"].messages]


class AnswerRun:
    """One question's way through the chain, as events.

    Args:
        answering: What to answer with.
        question: As typed.
        history: Earlier turns, oldest first, question and answer in turn.
    """

    def __init__(self, answering: Answering, question: str, history: Sequence[Turn] = ()) -> None:
        self._answering = answering
        self._question = question
        self._asked_at = time.time()
        self._started = time.perf_counter()
        self._seconds: dict[str, float] = {}
        chain = answering.chain(self._seconds)  # a model inside this process is loaded here, if it is not yet
        self._lap("loading")
        self._states = chain.stream({"question": question, "history": history})
        self._retrieval: Retrieval | None = None
        self._prompt: Prompt | None = None
        self._text = ""
        self._read: int | None = None
        self._generation: Generation | None = None

    def events(self) -> Generator[AnswerEvent, None, None]:
        """Answers.

        Yields:
            RetrievalDone, TextDelta for every piece of text, then AnswerDone. Closing the iterator stops the model.

        Raises:
            LibraryError: The library cannot be searched.
            ModelError: The embedder failed, or the chat model did before its first word; a model that breaks off later
                ends the answer with outcome ``failed`` and what it had said.
        """
        retrieval = self._search()
        yield RetrievalDone(retrieval, self._prompt)
        if self._prompt is None:
            yield self._done(SEARCH_ONLY, "search_only")
        elif self._answering.refuses(retrieval):
            yield self._done(refusal_text(self._question), "not_in_notes")
        else:
            yield from self._generate()

    def stopped(self) -> Trace | None:
        """The answer as far as it went when it was stopped; None when nothing had been found yet."""
        if self._retrieval is None:
            return None
        if "first token" in self._seconds:
            self._lap("generation")
        return self._done(self._text, "stopped").trace

    def _errors(self) -> AbstractContextManager[None]:
        chat = self._answering.chat
        return chat.errors() if chat else nullcontext()

    def _search(self) -> Retrieval:
        """Runs the chain up to the model."""
        with self._errors():
            for state in self._states:
                found: Retrieval | None = state.get("retrieval", self._retrieval)
                self._retrieval = found
                self._prompt = state.get("prompt", self._prompt)
                if found is not None and (self._prompt or self._answering.chat is None):
                    return found
        raise ValueError("The chain ended without a retrieval.")

    def _generate(self) -> Iterator[AnswerEvent]:
        outcome: Outcome = "answered"
        warnings: tuple[str, ...] = ()
        try:
            for piece in until_refusal(without_thinking(self._pieces())):
                self._text += piece
                if self._text != REFUSAL:
                    yield TextDelta(piece)
        except ModelError as error:
            if not self._text:
                raise
            outcome, warnings = "failed", (str(error),)
        self._lap("generation")
        if outcome == "answered" and is_refusal(self._text):
            self._text = refusal_text(self._question)
            outcome = "not_in_notes"
        elif outcome == "answered" and not self._text.strip():
            outcome, warnings = "failed", (_ONLY_THOUGHT if self._has_thought else _SAID_NOTHING,)
        yield self._done(self._text, outcome, warnings)

    @property
    def _has_thought(self) -> bool:
        said = self._generation
        return said is not None and bool(said.thinking or "<think>" in said.text[:200])

    def _pieces(self) -> Iterator[str]:
        """The model's text; what its chunks report beside it is kept."""
        said = self._generation = Generation("")
        with self._errors():
            for state in self._states:
                chunk = state.get("answer")
                if not isinstance(chunk, AIMessageChunk):
                    continue
                if "first token" not in self._seconds:
                    self._lap("first token")
                if chunk.usage_metadata:
                    self._read = chunk.usage_metadata["input_tokens"]
                said = self._generation = _with_chunk(said, chunk)
                if chunk.text:
                    yield chunk.text

    def _done(self, text: str, outcome: Outcome, warnings: tuple[str, ...] = ()) -> AnswerDone:
        started = time.perf_counter()
        answer = self._checked(text, outcome, warnings)
        self._seconds["citations"] = time.perf_counter() - started
        return AnswerDone(self._trace(answer))

    def _checked(self, text: str, outcome: Outcome, warnings: tuple[str, ...]) -> Answer:
        warnings += self._window_warnings()
        if outcome in ("not_in_notes", "search_only") or self._prompt is None:
            return Answer(text, outcome, warnings=warnings)
        catalogs = [library.catalog for library in self._answering.retriever.libraries]
        passages = [passage.hit.chunk for passage in self._prompt.passages if passage.in_prompt]
        checked = check_citations(text, passages, lambda sentence: weigh_terms(catalogs, sentence).weights)
        if self._generation is not None and self._generation.ended == "length":
            warnings += (f"The answer was cut at {self._answering.answer_room} tokens.",)
        return Answer(
            checked.text,
            outcome,
            checked.citations,
            checked.unknown_numbers,
            checked.unsupported,
            warnings,
            checked.flags,
        )

    def _window_warnings(self) -> tuple[str, ...]:
        """Whether the model read what we think it read."""
        if self._prompt is None or self._read is None:
            return ()
        self._prompt = with_read_tokens(self._prompt, self._read)
        used = self._prompt.window.used
        if not was_cut(self._prompt.window):
            return ()
        return (f"The model read {self._read} tokens of a prompt of about {used}: part of the notes may be unread.",)

    def _trace(self, answer: Answer) -> Trace:
        if self._retrieval is None:
            raise ValueError("There is no trace before the retrieval.")
        chat = self._answering.chat
        return Trace(
            id=uuid.uuid4().hex,
            asked_at=self._asked_at,
            retrieval=self._retrieval,
            prompt=self._prompt,
            model=chat.identity if chat else None,
            embedder=self._answering.retriever.embedder.identity,
            answer=answer,
            seconds=dict(self._seconds),
            generation=self._generation,
            settings=self._answering.settings,
        )

    def _lap(self, step: str) -> None:
        """Notes the time since the step before."""
        self._seconds[step] = time.perf_counter() - self._started - sum(self._seconds.values())


def _with_chunk(said: Generation, chunk: AIMessageChunk) -> Generation:
    """What the model said, with one more chunk and what its server tells along with it."""
    told = chunk.response_metadata
    return Generation(
        text=said.text + chunk.text,
        thinking=said.thinking + str(chunk.additional_kwargs.get("reasoning_content") or ""),
        tokens=chunk.usage_metadata["output_tokens"] if chunk.usage_metadata else said.tokens,
        ended=str(told.get("finish_reason") or told.get("done_reason") or said.ended),
        loading=float(told.get("load_duration") or 0) / 1e9 or said.loading,  # Ollama counts nanoseconds
    )
