"""What the rest of Footnote knows of a model: two small interfaces, whoever runs the weights."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

import numpy as np
from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel
from numpy.typing import ArrayLike, NDArray

from rag.errors import ModelFailed
from rag.models.memory import CardUse, Residence
from rag.types import ChatModelIdentity, EmbedderIdentity, Message

_SENTENCE = "Represent this sentence for searching relevant passages: "
_TASK = "Instruct: Given a question, retrieve passages that answer it\nQuery: "
# What models were trained to see before a question and before a passage, as their authors' model cards say.
_PREFIXES = (
    (r"e5-.*instruct|qwen3-embedding", (_TASK, "")),
    (r"\be5-", ("query: ", "passage: ")),
    (r"nomic-embed-text", ("search_query: ", "search_document: ")),
    (r"bge-\w+-en|mxbai-embed-large", (_SENTENCE, "")),
)


def known_prefixes(model: str) -> tuple[str, str]:
    """What a model of that name wants before a question and before a passage; two empty strings when not known."""
    found = (prefixes for pattern, prefixes in _PREFIXES if re.search(pattern, model.lower()))
    return next(found, ("", ""))


def batches(tokens: Sequence[int], budget: int) -> list[list[int]]:
    """Groups texts so that each group, padded to its longest, stays within a budget of tokens.

    Args:
        tokens: Length of each text.
        budget: Tokens in a group; a text that is longer alone makes a group alone.

    Returns:
        Indices into ``tokens``, the longest first, so that a lack of memory shows at once.
    """
    groups: list[list[int]] = []
    longest = 0
    for index in sorted(range(len(tokens)), key=lambda index: -tokens[index]):
        if not groups or longest * (len(groups[-1]) + 1) > budget:
            groups.append([])
            longest = tokens[index]
        groups[-1].append(index)
    return groups


def unit_rows(vectors: ArrayLike, model: str) -> list[list[float]]:
    """Vectors scaled to L2 norm 1. Shape: (n, dimension), in and out.

    Raises:
        ModelFailed: A vector has no direction, or holds what is no number.
    """
    rows = np.asarray(vectors, dtype=np.float32)
    norms = np.linalg.norm(rows, axis=-1, keepdims=True)
    if not np.all(np.isfinite(norms) & (norms > 0)):
        raise ModelFailed(
            f"{model} gave a vector that is zero or holds no numbers.",
            "Try again on the CPU (FOOTNOTE_DEVICE=cpu), or choose another embedder.",
        )
    unit: list[list[float]] = (rows / norms).tolist()
    return unit


def estimate_tokens(text: str) -> int:
    """A cautious number of tokens of a text whose vocabulary is not at hand.

    UTF-8 bytes are the measure, since they hold across scripts: the usual vocabularies take three to four bytes a
    token in Latin prose and one character, three bytes, in Chinese or Japanese. Digits, spaces before them, and signs
    count singly, as many models read them.
    """
    single = len(re.findall(r"[!-@\[-`{-~]|\s(?=\d)", text))
    return single - (-(len(text.encode(errors="replace")) - single) // 3)


def is_small(size: str) -> bool:
    """Whether a size (``1.5B``, ``270M``) or a name that holds one (``qwen3:1.7b``) is below 3 billion parameters.

    An unknown size counts as not small.
    """
    found = re.search(r"(?<![\w.])(\d+(?:\.\d+)?)\s*([bm])(?![a-z])", size.lower())
    return found is not None and float(found[1]) / (1 if found[2] == "b" else 1000) < 3


@dataclass(frozen=True, slots=True)
class Embedded:
    """What one pass through an embedder gives for some texts.

    Attributes:
        vectors: One a text. Shape: (n_texts, dimension), L2-normalised.
        weights: Of each text, the weight of every token of the model's vocabulary that it is about; None where the
            model has no sparse head.
    """

    vectors: list[list[float]]
    weights: list[dict[int, float]] | None = None


class Embedder(Embeddings):
    """LangChain's ``Embeddings`` and what an index needs beside it.

    Implementations hold one lock around their encoder: encoders and tokenizers are not thread-safe.

    Attributes:
        identity: What makes two vectors comparable, prefixes included.
        device: Where it runs at present, for people: ``cpu``, ``cuda:0``, ``mps``, ``ollama``.
        exact_counts: Whether ``count_tokens`` is the model's own count rather than a cautious estimate.
    """

    identity: EmbedderIdentity
    device: str
    exact_counts: bool = True

    @abstractmethod
    def count_tokens(self, text: str) -> int:
        """Number of tokens the model reads for ``text`` as a passage, prefix and special tokens included."""

    @abstractmethod
    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embeds passages; the prefix is put in front here.

        Returns:
            One vector a text, in order. Shape: (n_texts, dimension), float32 values, L2-normalised.

        Raises:
            InputTooLong: A text is longer than ``identity.max_tokens``; nothing is cut.
            ModelError: The model failed.
        """

    @abstractmethod
    def embed_query(self, text: str) -> list[float]:
        """Embeds a question; like ``embed_documents`` with the other prefix. Shape: (dimension,)."""

    def embed_passages(self, texts: list[str]) -> Embedded:
        """Like ``embed_documents``, with the sparse weights that the same pass gives."""
        return Embedded(self.embed_documents(texts))

    def embed_question(self, text: str) -> Embedded:
        """Like ``embed_query``, with the sparse weights that the same pass gives; for one text."""
        return Embedded([self.embed_query(text)])

    def sparse_weights(self, texts: list[str]) -> list[dict[int, float]] | None:
        """The sparse weights of passages; None where the model has no such head. See :class:`Embedded`."""
        return self.embed_passages(texts).weights

    def token_vectors(self, texts: list[str]) -> list[NDArray[np.float32]] | None:
        """A vector for every token of a text, questions and passages alike; None where the model has no such head.

        Returns:
            One matrix a text, in order. Shape: (n_tokens, dimension), float32, rows L2-normalised.

        Raises:
            InputTooLong: A text is longer than ``identity.max_tokens``; nothing is cut.
            ModelError: The model failed.
        """
        return None

    def card_use(self) -> CardUse | None:
        """What it takes of this machine's graphics card; None for one that never runs there."""
        return None

    def move(self, *, to_card: bool) -> None:  # most embedders have one place only
        """Runs on the graphics card from now on, or on the CPU; waits for the batch at work.

        Nothing happens where it is there already, or where :meth:`card_use` says that it stays.

        Raises:
            ModelFailed: There is no room for it; it stays where it was.
        """

    def close(self) -> None:  # most embedders hold nothing that needs an end
        """Frees what the model holds; calling it twice is harmless."""


class ChatModel(ABC):
    """A LangChain chat model with its window, its token counts, and its errors in our words.

    Attributes:
        identity: Which model, with the window that its requests are held to.
        exact_counts: Whether ``count_tokens`` is the model's own count.
    """

    identity: ChatModelIdentity
    exact_counts: bool = False

    @property
    @abstractmethod
    def runnable(self) -> BaseChatModel:
        """The LangChain model, ready to stand in a chain; a model inside this process starts when it is asked for.

        Raises:
            ModelError: It cannot be started.
        """

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Number of tokens of each text, without chat template overhead; a cautious estimate where not exact."""
        return [estimate_tokens(text) for text in texts]

    def rendered(self, messages: Sequence[Message]) -> str | None:
        """The messages as the one text that the model reads, by its own chat template; nothing is generated.

        Returns:
            The text; None where its server does not hand it out.

        Raises:
            ModelError: Its server does not answer, or the model cannot be loaded.
        """
        return None

    def residence(self) -> Residence:
        """How it lies in memory at this moment, as far as whoever runs it tells.

        Raises:
            ModelError: Its server does not answer.
        """
        return Residence()

    def unload(self) -> None:  # noqa: B027  # most servers have no such call
        """Leaves the graphics card until it is needed again; returns once it is gone. See ``Residence.leaves``.

        Raises:
            ModelError: Its server does not answer, or keeps it.
        """

    def load(self) -> None:  # noqa: B027
        """Comes back with the window that requests are held to, so that the next question need not wait for it.

        Raises:
            ModelError: Its server does not answer, or cannot load it.
        """

    @abstractmethod
    def errors(self) -> AbstractContextManager[None]:
        """Turns whatever the provider's library raises inside the ``with`` block into a :class:`ModelError`."""

    def close(self) -> None:  # noqa: B027  # most chat models hold nothing that needs an end
        """Frees what the model holds; calling it twice is harmless."""
