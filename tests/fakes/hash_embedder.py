"""An embedder without a model: the same text always has the same vector, and costs next to nothing."""

from __future__ import annotations

import hashlib
import time
import zlib

import numpy as np

from rag.models.base import Embedded, Embedder, unit_rows
from rag.types import EmbedderIdentity


class HashEmbedder(Embedder):
    """Unit vectors from a hash of the text.

    Args:
        model: Another name gives other vectors.
        seconds: How long a text takes.
        weights: Whether it gives sparse weights too, one for each word.
    """

    device = "cpu"

    def __init__(self, model: str = "hash", seconds: float = 0.0, weights: bool = False) -> None:
        self.identity = EmbedderIdentity("test", model, "1", 32, True, "", "", 512)
        self.embedded = 0
        self._seconds = seconds
        self._weights = weights

    def count_tokens(self, text: str) -> int:
        return len(text.split()) + 2

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        time.sleep(self._seconds * len(texts))
        self.embedded += len(texts)
        return unit_rows([self._row(text) for text in texts], self.identity.model)

    def embed_passages(self, texts: list[str]) -> Embedded:
        weights = [{zlib.crc32(word.encode()): 1.0 for word in text.split()} for text in texts]
        return Embedded(self.embed_documents(texts), weights if self._weights else None)

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]

    def _row(self, text: str) -> np.ndarray:
        seed = hashlib.sha256(f"{self.identity.model} {text}".encode()).digest()
        return np.random.default_rng(list(seed)).normal(size=self.identity.dimension)
