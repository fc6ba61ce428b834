"""A made-up passage that would answer the question, searched beside it: it speaks as notes do, not as questions do.

Source: Gao, Ma, Lin and Callan 2023, "Precise Zero-Shot Dense Retrieval without Relevance Labels" (HyDE).
"""

from __future__ import annotations

from langchain_core.prompts import ChatPromptTemplate

from rag.models.base import ChatModel
from rag.models.thinking import without_thinking

_LONGEST = 600
"""Characters after which the model is stopped: the passage is to be about as long as a chunk, and costs time."""

_PROMPT = ChatPromptTemplate.from_messages(
    [
        (
            "system",
            "Write the passage of a note or a paper in which the answer to the question would stand: two or three "
            "sentences, as a fact, in the question's language. Make up what you do not know. Only the passage.",
        ),
        ("human", "How far is the plum tree from the wall?"),
        ("ai", "The plum tree was planted 4 m from the north wall of the garden. It has full sun from noon on."),
        ("human", "{question}"),
    ]
)


def write_hypothetical(question: str, chat: ChatModel) -> str:
    """Lets the model write the passage; what it claims is only searched with, and never shown to it again.

    Args:
        question: The question, understandable by itself.
        chat: The model.

    Returns:
        The passage; empty when the model said nothing.

    Raises:
        ModelError: The model failed.
    """
    said = ""
    with chat.errors():
        for piece in without_thinking(
            piece.text for piece in chat.runnable.stream(_PROMPT.format_messages(question=question))
        ):
            said += piece
            if len(said) > _LONGEST:
                break
    return " ".join(said[:_LONGEST].split())
