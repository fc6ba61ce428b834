"""Embedders that run in torch: BGE-M3 or any other sentence-transformers model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rag.errors import InputTooLong
from rag.models.base import Embedded, Embedder, known_prefixes, unit_rows
from rag.models.bge_m3 import M3Heads, Output, has_heads
from rag.models.memory import CardUse
from rag.models.torch_model import TorchModel
from rag.settings import Settings
from rag.types import EmbedderIdentity

_UNKNOWN_LENGTH = 512
_LONGEST = 100_000  # tokenizers write a huge number where they know no limit

Result = TypeVar("Result")


class SentenceTransformerEmbedder(Embedder):
    """A sentence-transformers model; where BGE-M3's heads lie beside it, with sparse weights and token vectors.

    Args:
        settings: Device and tokens in a batch; see :class:`~rag.models.torch_model.TorchModel`.
        name: The model's name on the hub, or its folder.

    Raises:
        ModelMissing: It is not on this disk.
        ModelUnavailable: torch cannot be loaded, or the device that the settings name is not there.
        ModelFailed: It is there and cannot be loaded.
    """

    def __init__(self, settings: Settings, name: str) -> None:
        self._torch = TorchModel(settings, name, "SentenceTransformer")
        model = self._torch.model
        self.device = self._torch.device
        self._heads = M3Heads(self._torch.folder, model) if has_heads(self._torch.folder) else None
        query_prefix, passage_prefix = _prefixes(model, name)
        self.identity = EmbedderIdentity(
            provider="sentence-transformers",
            model=name,
            revision=self._torch.revision,
            dimension=model.get_embedding_dimension(),
            normalized=True,
            query_prefix=query_prefix,
            passage_prefix=passage_prefix,
            max_tokens=_max_tokens(model),
        )

    def count_tokens(self, text: str) -> int:
        """Number of tokens the model reads, prefix and special tokens included."""
        return self._count([self.identity.passage_prefix + text])[0]

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """See the base class."""
        return self.embed_passages(texts).vectors

    def embed_query(self, text: str) -> list[float]:
        """See the base class."""
        return self.embed_question(text).vectors[0]

    def embed_passages(self, texts: list[str]) -> Embedded:
        """See the base class."""
        return self._embed(texts, self.identity.passage_prefix)

    def embed_question(self, text: str) -> Embedded:
        """See the base class."""
        return self._embed([text], self.identity.query_prefix)

    def token_vectors(self, texts: list[str]) -> list[NDArray[np.float32]] | None:
        """See the base class."""
        if self._heads is None:
            return None
        return self._run(texts, "", self._heads.token_vectors) if texts else []

    def card_use(self) -> CardUse | None:
        """See the base class."""
        return self._torch.card_use()

    def move(self, *, to_card: bool) -> None:
        """See the base class."""
        self._torch.move(to_card=to_card, beside=self._heads.move if self._heads is not None else None)
        self.device = self._torch.device

    def close(self) -> None:
        """Frees the weights; calling it twice is harmless."""
        self._heads = None
        self._torch.close()

    def _embed(self, texts: list[str], prefix: str) -> Embedded:
        if not texts:
            return Embedded([], None if self._heads is None else [])
        if self._heads is None:
            return Embedded(unit_rows(self._run(texts, prefix, _vectors), self.identity.model))
        both = self._run(texts, prefix, self._heads.vectors_and_weights)
        vectors = unit_rows([vector for vector, _ in both], self.identity.model)
        return Embedded(vectors, [weights for _, weights in both])

    def _run(self, texts: list[str], prefix: str, read: Callable[[list[Output]], Sequence[Result]]) -> list[Result]:
        """Sends texts through the model and reads from its outputs what is wanted; none may be too long."""
        counts = self._count([prefix + text for text in texts])
        longest = max(range(len(texts)), key=counts.__getitem__)
        if counts[longest] > self.identity.max_tokens:
            raise InputTooLong(
                f"A text of {counts[longest]} tokens does not fit the {self.identity.max_tokens} of "
                f"{self.identity.model}: {texts[longest][:60]!r}…",
                "Make the chunks smaller (FOOTNOTE_CHUNK_TOKENS) or the question shorter.",
            )

        def forward(some: list[str]) -> Sequence[Result]:
            encode = self._torch.model.encode
            return read(encode(some, prompt=prefix, batch_size=len(some), show_progress_bar=False, output_value=None))

        return self._torch.run(texts, counts, forward)

    def _count(self, texts: list[str]) -> list[int]:
        with self._torch.lock:
            encoded = self._torch.model.tokenizer(texts, truncation=False, verbose=False)
        return [len(ids) for ids in encoded["input_ids"]]


def _vectors(outputs: list[Output]) -> list[NDArray[np.float32]]:
    """Shape of each: (dimension,), float32."""
    return [output["sentence_embedding"].float().cpu().numpy() for output in outputs]


def _max_tokens(model: Any) -> int:
    limits = (model.max_seq_length, model.tokenizer.model_max_length)
    return min((int(limit) for limit in limits if limit and limit < _LONGEST), default=_UNKNOWN_LENGTH)


def _prefixes(model: Any, name: str) -> tuple[str, str]:
    """What the model's own configuration puts before a question and a passage, else what is known for its name."""
    own = model.prompts
    prefixes = own.get("query") or "", own.get("document") or own.get("passage") or ""
    return prefixes if any(prefixes) else known_prefixes(name)
