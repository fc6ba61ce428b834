"""What one running page shares between its tabs: the engine, and the work that must survive a reload."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ParamSpec, TypeVar, cast

import gradio as gr

from rag.engine import SAMPLES, Engine
from rag.errors import QueryError, RagError
from rag.types import (
    AnswerDone,
    AnswerEvent,
    LibraryInfo,
    ModelChoice,
    Prompt,
    PullProgress,
    Retrieval,
    RetrievalDone,
    TextDelta,
    Trace,
)
from rag.ui import texts
from rag.ui.background import Background
from rag.ui.render import escape

EXAMPLES = 4
"""Questions offered to begin with."""

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


@dataclass
class Answering:
    """An answer that is being written.

    Attributes:
        library: Where it was asked.
        conversation: In which conversation.
        index: The exchange's place in it, from 0.
        question: As typed.
        work: The engine's events.
    """

    library: str
    conversation: int
    index: int
    question: str
    work: Background[AnswerEvent]

    @property
    def found(self) -> tuple[Retrieval | None, Prompt | None]:
        """What was found, and the prompt, once they are known."""
        for event in self.work.events[:1]:
            if isinstance(event, RetrievalDone):
                return event.retrieval, event.prompt
        return None, None

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(event.text for event in tuple(self.work.events) if isinstance(event, TextDelta))

    @property
    def trace(self) -> Trace | None:
        """The finished answer's trace, once it is there."""
        last = self.work.events[-1] if self.work.events else None
        return last.trace if isinstance(last, AnswerDone) else None


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """What the Diagnostics tab shows: one search, and the answer that came of it.

    Each is itself only: gradio hashes a state to see whether it has changed, and a search holds what has no hash.

    Attributes:
        library: Where it was asked.
        retrieval: The search.
        trace: The record of the answer; None for a search without one.
    """

    library: str
    retrieval: Retrieval
    trace: Trace | None = None


@dataclass
class Download:
    """A model that is being fetched."""

    model: str
    label: str
    work: Background[PullProgress]


@dataclass
class Desk:
    """Everything that the tabs of one page have in common. One person works at it, maybe in several browser tabs.

    Attributes:
        engine: The engine.
        conversations: By library, the conversation that was last open; None for a new one.
        answering: The answer being written, or the last one.
        download: The model being fetched, or the last one.
    """

    engine: Engine
    conversations: dict[str, int | None] = field(default_factory=dict)
    answering: Answering | None = None
    download: Download | None = None

    def info(self, library: str) -> LibraryInfo:
        """The library at a glance; an empty one of that name when it is gone."""
        for info in self.engine.libraries():
            if info.name == library:
                return info
        return LibraryInfo(library, (), 0, 0, "")

    def rename(self, library: str, new_name: str) -> None:
        """Keeps what is known of a library that is now called otherwise."""
        if library in self.conversations:
            self.conversations[new_name] = self.conversations.pop(library)
        if self.answering is not None and self.answering.library == library:
            self.answering.library = new_name

    def first_conversation(self, library: str) -> int | None:
        """The conversation to show: the last one open, else the newest; None begins a new one."""
        listed = self.engine.conversations(library)
        if library in self.conversations:
            last = self.conversations[library]
            if last is None or any(info.id == last for info in listed):
                return last
        return listed[0].id if listed else None

    def turns(self, library: str, conversation: int | None) -> int:
        """How many questions a conversation holds; 0 for one that has not begun or is gone."""
        return next((info.turns for info in self.engine.conversations(library) if info.id == conversation), 0)

    def examples(self, library: str) -> Sequence[str]:
        """Questions to begin with; only the sample notes have some."""
        path = self.engine.sample_folder().parent / "sample_questions.jsonl"
        if library != SAMPLES or not path.is_file():
            return ()
        lines = path.read_text(encoding="utf-8").splitlines()
        return [json.loads(line)["question"] for line in lines if line.strip()][:EXAMPLES]

    def offered_model(self) -> ModelChoice | None:
        """The chat model that one click can fetch; None when there is none."""
        return next((choice for choice in self.engine.models() if choice.id == "embedded" and not choice.ready), None)


def script(name: str) -> str:
    """The JavaScript beside this module, for a component's ``js_on_load``."""
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def page_number(typed: str) -> int | None:
    """A page's number that a person typed; None where nothing was typed.

    Raises:
        QueryError: It is no number.
    """
    number = typed.strip()
    if number and not (number.isdecimal() and int(number)):
        raise QueryError(texts.PAGE_IS_NO_NUMBER.format(typed=number))
    return int(number) if number else None


def warn(error: RagError) -> None:
    """Shows a failure as a message on the page."""
    gr.Warning(escape(f"{error.message} {error.hint}".strip()), duration=12, title="")


def told(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Makes an event handler show a :class:`RagError` as a message and leave the page as it is."""

    @functools.wraps(function)
    def guarded(*arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
        try:
            return function(*arguments, **named)
        except RagError as error:
            warn(error)
            return cast(Result, gr.skip())  # gradio's word for "change nothing"

    return guarded
