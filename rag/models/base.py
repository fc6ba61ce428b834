"""What the rest of Footnote knows of a model: two small interfaces, whoever runs the weights."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager

from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel

from rag.types import ChatModelIdentity, EmbedderIdentity


class Embedder(Embeddings):
    """LangChain's ``Embeddings`` and what an index needs beside it.

    Implementations hold one lock around their encoder: encoders and tokenizers are not thread-safe.

    Attributes:
        identity: What makes two vectors comparable, prefixes included.
        device: Where it runs, for people: ``cpu``, ``cuda:0``, ``mps``, ``ollama``.
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

    def close(self) -> None:
        """Frees what the model holds; calling it twice is harmless."""


class ChatModel:
    """A LangChain chat model with its window, its token counts, and its errors in our words.

    Attributes:
        identity: Which model, with the window that its requests are held to.
        runnable: The LangChain model, ready to stand in a chain.
        exact_counts: Whether ``count_tokens`` is the model's own count.
    """

    identity: ChatModelIdentity
    runnable: BaseChatModel
    exact_counts: bool = False

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Number of tokens of each text, without chat template overhead; a cautious estimate by default.

        UTF-8 bytes are the measure, since they hold across scripts: byte-level BPE vocabularies give three to four
        bytes a token for Latin prose and about three (one character) for Chinese or Japanese.
        """
        return [-(-len(text.encode()) // 3) for text in texts]

    def errors(self) -> AbstractContextManager[None]:
        """Turns whatever the provider's library raises inside the ``with`` block into a :class:`ModelError`."""
        raise NotImplementedError


    def close(self) -> None:
        """Frees what the model holds; calling it twice is harmless."""


