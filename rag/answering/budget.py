"""Which passages fit the model's window, decided before anything is sent; what does not fit is left out whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from rag.answering.prompts import answer_messages, quoted
from rag.errors import InputTooLong
from rag.models.base import ChatModel
from rag.types import Hit, Message, Passage, Prompt, Turn, Window

NOTES_SMALL = 3
NOTES_LARGE = 6
"""Passages in the prompt when the person does not say; a small model cites the right one less often the more it has."""

_MESSAGE_OVERHEAD = 8
"""Tokens that a chat template adds around one message, generously."""

_HISTORY_SHARE = 4
"""The history may take a fourth of the window."""

_ROLES = {"human": "user", "ai": "assistant"}


def build_prompt(
    question: str,
    hits: Sequence[Hit],
    history: Sequence[Turn],
    chat: ChatModel,
    notes: int | None,
    answer_room: int,
) -> Prompt:
    """Fits the best passages and the latest turns into the window.

    Args:
        question: The question as it is put to the model.
        hits: The retrieval's hits, best first.
        history: Earlier turns, oldest first.
        chat: The model, for its window and its token counts.
        notes: Passages wanted; None: by the model's size.
        answer_room: Tokens kept free for the answer.

    Raises:
        InputTooLong: The question alone does not fit.
    """
    identity = chat.identity
    wanted = notes or (NOTES_SMALL if identity.small else NOTES_LARGE)
    bare = answer_messages(question, [], [], small=identity.small)
    sizes = chat.count_tokens([str(message.content) for message in bare])
    system = sum(sizes[:-1]) + _MESSAGE_OVERHEAD * len(bare)
    asking = sizes[-1]
    free = identity.context_tokens - answer_room - system - asking
    if free < 0:
        raise InputTooLong(
            f"The question needs {asking} tokens; with the instructions and {answer_room} for the answer that is more "
            f"than the window of {identity.context_tokens}.",
            "Shorten the question, or raise FOOTNOTE_CONTEXT_TOKENS.",
        )
    turns, history_size = _fitting_turns(history, chat, min(free, identity.context_tokens // _HISTORY_SHARE))
    passages, passages_size = _fitting_passages(hits, chat, wanted, free - history_size)
    if hits and not any(passage.in_prompt for passage in passages):
        raise InputTooLong(
            f"No passage fits the window of {identity.context_tokens} tokens: the shortest needs "
            f"{min(passage.tokens for passage in passages)}, and {max(0, free - history_size)} are left.",
            "Raise FOOTNOTE_CONTEXT_TOKENS, or lower FOOTNOTE_ANSWER_TOKENS or FOOTNOTE_CHUNK_TOKENS.",
        )
    messages = answer_messages(
        question, [passage.hit.chunk for passage in passages if passage.in_prompt], turns, small=identity.small
    )
    window = Window(
        total=identity.context_tokens,
        system=system,
        history=history_size,
        passages=passages_size,
        question=asking,
        answer_room=answer_room,
        exact=chat.exact_counts,
    )
    sent = tuple(Message(_ROLES.get(message.type, message.type), str(message.content)) for message in messages)
    return Prompt(sent, passages, window)


def _fitting_passages(hits: Sequence[Hit], chat: ChatModel, wanted: int, free: int) -> tuple[tuple[Passage, ...], int]:
    sizes = chat.count_tokens([quoted(hit.rank, hit.chunk) for hit in hits])
    passages: list[Passage] = []
    used = 0
    number = 0
    for hit, size in zip(hits, sizes, strict=True):
        if number == wanted:
            passages.append(Passage(0, hit, size, f"beyond the {wanted} passages asked for"))
        elif used + size + 2 > free:
            passages.append(Passage(0, hit, size, f"does not fit: {size} tokens, {free - used} left in the window"))
        else:
            number += 1
            used += size + 2
            passages.append(Passage(number, hit, size))
    return tuple(passages), used


def _fitting_turns(history: Sequence[Turn], chat: ChatModel, room: int) -> tuple[list[BaseMessage], int]:
    """The latest whole exchanges that fit; questions and answers stay together."""
    sizes = chat.count_tokens([turn.text for turn in history])
    kept: list[BaseMessage] = []
    used = 0
    for at in range(len(history) - 2, -1, -2):
        cost = sizes[at] + sizes[at + 1] + 2 * _MESSAGE_OVERHEAD
        if used + cost > room:
            break
        used += cost
        kept = [HumanMessage(history[at].text), AIMessage(history[at + 1].text), *kept]
    return kept, used


def with_read_tokens(prompt: Prompt, read: int) -> Prompt:
    """The prompt with the length that the model itself reported."""
    return replace(prompt, window=replace(prompt.window, read=read))
