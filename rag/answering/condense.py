"""A follow-up question → a query that can be searched without the conversation."""

from __future__ import annotations

import re
from collections.abc import Sequence

from langchain_core.messages import BaseMessage

from rag.answering.prompts import condense_messages
from rag.index.terms import terms
from rag.models.base import ChatModel
from rag.models.thinking import without_thinking
from rag.retrieval.language import language_of
from rag.types import Turn

_POINTS_BACK = {
    "en": r"\b(it|its|they|them|their|this|that|these|those|he|she|his|her|there|then|same|other|else|why)\b"
    r"|^(and|but|or|so|what about|how about)\b",
    "de": r"\b(er|sie|ihn|ihm|ihr|ihre|dies\w*|jene\w*|dort|davon|darin|daran|damit|warum|wieso|deren|dessen)\b"
    r"|^(und|aber|oder|wie steht es mit)\b",
    "fr": r"\b(il|elle|ils|elles|cela|ceci|celui|celle|leur|pourquoi)\b|^(et|mais|ou)\b",
    "es": r"\b(ello|ese|esa|eso|este|esta|esto|su|sus|ellos|ellas|por qué)\b|^¿?(y|pero|o)\b",
    "ja": r"それ|これ|あれ|その|この|あの|彼|そこ|他に|なぜ|どうして|^(では|じゃあ)",
    "zh": r"它|他们|她|那个|这个|其|该|为什么|^那",
}
"""Words that point back to something said before, or join on to it, by language."""

_SHORT = 3
"""Terms at most that leave a question too bare to stand alone."""

_HISTORY = 3
"""Earlier exchanges that the model is shown."""


def condense(question: str, history: Sequence[Turn], chat: ChatModel | None) -> tuple[str, str]:
    """Makes a follow-up understandable by itself, where that is needed.

    Args:
        question: As typed.
        history: Earlier turns, oldest first.
        chat: The model that rewrites; without one the previous question is put in front.

    Returns:
        The query, and why it is what it is.
    """
    if not history:
        return question, "First question of the conversation: searched as typed."
    if not _leans_on_history(question):
        return question, "Understandable by itself: searched as typed."
    previous = next((turn.text for turn in reversed(history) if turn.role == "user"), "")
    joined = f"{previous} {question}"
    if chat is None:
        return joined, "A follow-up, and no model to rewrite it: searched together with the question before it."
    conversation = "\n".join(
        f"{'Q' if turn.role == 'user' else 'A'}: {turn.text[:300]}" for turn in history[-2 * _HISTORY :]
    )
    rewritten = _first_line(chat, condense_messages(question, conversation), limit=2 * len(joined) + 80)
    if not rewritten:
        return joined, "The model's rewriting was unusable: searched together with the question before it."
    if rewritten == question:
        return question, "The model left the question as typed."
    return rewritten, "A follow-up: rewritten by the model with the conversation."


def _first_line(chat: ChatModel, messages: list[BaseMessage], limit: int) -> str:
    """The first line that the model says; empty when it does not come to an end within ``limit`` characters."""
    said = ""
    for piece in without_thinking(piece.text for piece in chat.runnable.stream(messages)):
        said = (said + piece).lstrip()
        if "\n" in said or len(said) > limit:
            break
    line = said.split("\n")[0].strip().strip('"“”')
    return "" if len(line) > limit else line


def _leans_on_history(question: str) -> bool:
    points_back = _POINTS_BACK.get(language_of(question))
    return len(set(terms(question))) <= _SHORT or bool(points_back and re.search(points_back, question, re.IGNORECASE))
