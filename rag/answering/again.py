"""A question answered once more from what was found before: by another model, or without the notes."""

from __future__ import annotations

from dataclasses import dataclass, field

from rag.answering.budget import build_prompt, passages_wanted
from rag.answering.chain import Answering, State
from rag.answering.prompts import alone_messages, answer_messages
from rag.models.base import ChatModel
from rag.retrieval.ranking import numbered
from rag.types import Hit, Message, Prompt, Retrieval, Trace, Turn, Window

_TEMPLATE = 8
"""Tokens that a chat template adds around one message, generously."""


@dataclass(frozen=True, slots=True)
class AnsweringAgain(Answering):
    """Answers as chat does, but searches nothing.

    Attributes:
        found: What was found then.
        evidence: The passages to answer from, in the order of their numbers; those that do not fit the model's window
            are left out visibly.
        alone: Whether the model is asked without any of them, and without the conversation.
    """

    found: Retrieval = field(kw_only=True)
    evidence: tuple[Hit, ...] = field(kw_only=True)
    alone: bool = field(default=False, kw_only=True)

    def refuses(self, retrieval: Retrieval) -> bool:
        """Never: whoever compares wants to see what the model says."""
        return False

    def _condense(self, state: State) -> tuple[str, str]:
        return state["question"], ""

    def _retrieve(self, state: State) -> Retrieval:
        return self.found

    def _prompt(self, state: State) -> Prompt:
        if self.chat is None:
            raise ValueError("There is no prompt without a model.")
        question = self.found.queries[0]
        if self.alone:
            return _prompt_alone(question, self.chat, self.answer_room)
        return build_prompt(question, self.evidence, state["history"], self.chat, len(self.evidence), self.answer_room)


def evidence_of(retrieval: Retrieval, prompt: Prompt | None, *, small: bool, notes: int | None) -> tuple[Hit, ...]:
    """The passages that an answer was given, or would be given, in the order of their numbers.

    Args:
        retrieval: What was found.
        prompt: What went to the model; None where nothing did.
        small: Whether the model that would answer is a small one.
        notes: Passages for it; None: by the evidence and its size.
    """
    if prompt is None:
        return retrieval.hits[: notes or passages_wanted(retrieval, small=small)]
    read = sorted((passage for passage in prompt.passages if passage.in_prompt), key=lambda passage: passage.number)
    # Each is wanted for itself now, whatever brought it here.
    return numbered(Hit(passage.hit.chunk, passage.hit.score, 0) for passage in read)


def earlier_turns(trace: Trace) -> tuple[Turn, ...]:
    """The conversation before an answer, as far as it went to the model; empty where that cannot be told any more."""
    if trace.prompt is None or trace.model is None:
        return ()
    bare = answer_messages(trace.retrieval.queries[0], [], [], small=trace.model.small)[:-1]
    before, said = trace.prompt.messages[: len(bare)], trace.prompt.messages[len(bare) : -1]
    if [message.content for message in before] != [str(message.content) for message in bare]:
        return ()  # from a version that worded its prompt otherwise
    return tuple(Turn("user" if message.role == "user" else "assistant", message.content) for message in said)


def _prompt_alone(question: str, chat: ChatModel, answer_room: int) -> Prompt:
    """The question by itself. It is short: a window that it does not fit is refused by the model."""
    contents = [str(message.content) for message in alone_messages(question)]
    system, asked = chat.count_tokens(contents)
    messages = (Message("system", contents[0], system), Message("user", contents[1], asked))
    window = Window(
        total=chat.identity.context_tokens,
        system=system + _TEMPLATE * len(messages),
        history=0,
        passages=0,
        question=asked,
        answer_room=answer_room,
        exact=chat.exact_counts,
    )
    return Prompt(messages, (), window)
