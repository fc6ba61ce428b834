"""Embedders that run in torch: BGE-M3 or any other sentence-transformers model, from the disk, never from the hub."""

from __future__ import annotations

from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag.errors import InputTooLong, ModelFailed, ModelMissing, ModelUnavailable
from rag.models.base import Embedder, batches, known_prefixes, unit_rows
from rag.models.hub import cached_model
from rag.settings import Settings
from rag.types import EmbedderIdentity

_UNKNOWN_LENGTH = 512
_LONGEST = 100_000  # tokenizers write a huge number where they know no limit
_SMALLEST_BUDGET = 64


class SentenceTransformerEmbedder(Embedder):
    """A sentence-transformers model; loading takes seconds, and the hub is never asked.

    Args:
        settings: Device and tokens in a batch. ``auto`` takes CUDA, then Apple's MPS, then the CPU; weights are half
            precision on a GPU and single precision on the CPU.
        name: The model's name on the hub, or its folder.

    Raises:
        ModelMissing: It is not on this disk.
        ModelUnavailable: torch cannot be loaded, or the device that the settings name is not there.
        ModelFailed: It is there and cannot be loaded.
    """

    def __init__(self, settings: Settings, name: str) -> None:
        folder = Path(name).expanduser()
        if not folder.is_dir():
            cached = cached_model(name)
            if cached is None:
                raise ModelMissing(
                    f"The embedder {name} is not on this machine.",
                    f"Fetch it with `python -m rag models pull {'bge-m3' if name == 'BAAI/bge-m3' else f'hf:{name}'}`.",
                )
            folder = cached
        self._name = name
        self._budget = settings.embed_batch_tokens
        self._lock = Lock()
        self._model, self.device = _load(folder, settings.device)
        query_prefix, passage_prefix = _prefixes(self._model, name)
        self.identity = EmbedderIdentity(
            provider="sentence-transformers",
            model=name,
            revision=folder.name if folder.parent.name == "snapshots" else "",
            dimension=self._model.get_embedding_dimension(),
            normalized=True,
            query_prefix=query_prefix,
            passage_prefix=passage_prefix,
            max_tokens=_max_tokens(self._model),
        )

    def count_tokens(self, text: str) -> int:
        """Number of tokens the model reads, prefix and special tokens included."""
        return self._count([self.identity.passage_prefix + text])[0]

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """See the base class. Where memory runs out, a batch is halved until it fits."""
        return self._embed(texts, self.identity.passage_prefix)

    def embed_query(self, text: str) -> list[float]:
        """See the base class."""
        return self._embed([text], self.identity.query_prefix)[0]

    def close(self) -> None:
        """Frees the weights; calling it twice is harmless."""
        with self._lock:
            self._model = None
        self._free_memory()

    def _count(self, texts: list[str]) -> list[int]:
        with self._lock:
            encoded = self._model.tokenizer(texts, truncation=False, verbose=False)
        return [len(ids) for ids in encoded["input_ids"]]

    def _embed(self, texts: list[str], prefix: str) -> list[list[float]]:
        if not texts:
            return []
        counts = self._count([prefix + text for text in texts])
        longest = max(range(len(texts)), key=counts.__getitem__)
        if counts[longest] > self.identity.max_tokens:
            raise InputTooLong(
                f"A text of {counts[longest]} tokens does not fit the {self.identity.max_tokens} of {self._name}: "
                f"{texts[longest][:60]!r}…",
                "Make the chunks smaller (FOOTNOTE_CHUNK_TOKENS) or the question shorter.",
            )
        vectors = np.empty((len(texts), self.identity.dimension), dtype=np.float32)
        for group in batches(counts, self._budget):
            vectors[group] = self._encode([texts[index] for index in group], prefix)
        return unit_rows(vectors, self._name)

    def _encode(self, texts: list[str], prefix: str) -> NDArray[np.float32]:
        """One batch, in halves where memory runs out. Shape: (n_texts, dimension), float32."""
        try:
            with self._lock:
                encoded: NDArray[np.float32] = self._model.encode(
                    texts, prompt=prefix, batch_size=len(texts), show_progress_bar=False
                )
            return encoded
        except RuntimeError as error:
            out_of_memory = "out of memory" in str(error) or "not enough memory" in str(error)
            if not out_of_memory:
                raise ModelFailed(f"{self._name} failed: {error}", "Try FOOTNOTE_DEVICE=cpu.") from error
            if len(texts) == 1:
                raise ModelFailed(
                    f"{self._name} has no memory left on {self.device} for a single text.",
                    "Close other programs that use it, or set FOOTNOTE_DEVICE=cpu or smaller chunks.",
                ) from error
        # Outside the handler, since the exception holds on to the tensors that filled the memory.
        self._free_memory()
        self._budget = max(_SMALLEST_BUDGET, self._budget // 2)
        half = len(texts) // 2
        return np.concatenate([self._encode(texts[:half], prefix), self._encode(texts[half:], prefix)])

    def _free_memory(self) -> None:
        import torch

        if self.device.startswith("cuda"):
            torch.cuda.empty_cache()
        elif self.device == "mps":
            torch.mps.empty_cache()


def _load(folder: Path, device: str) -> tuple[Any, str]:
    """The model and the device that it is on."""
    try:
        import torch
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging as transformers_logging
    except (ImportError, OSError) as error:
        raise ModelUnavailable(
            f"sentence-transformers cannot run on this system ({error}).", "Install the requirements again."
        ) from error
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    device = _best_device(torch) if device == "auto" else device
    try:
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise ModelUnavailable(
            f"The device {device} cannot be used: {str(error).splitlines()[0]}", "Set FOOTNOTE_DEVICE to auto or cpu."
        ) from error
    # Said for both, since a file of half-precision weights would otherwise stay so on the CPU, where it is slow.
    precision = torch.float32 if device == "cpu" else torch.float16
    try:
        model = SentenceTransformer(
            str(folder), device=device, local_files_only=True, model_kwargs={"dtype": precision}
        )
    except (OSError, ValueError, KeyError, RuntimeError, ImportError, AttributeError) as error:
        raise ModelFailed(
            f"The embedder in {folder} cannot be loaded: {str(error).splitlines()[0]}", "Fetch it again."
        ) from error
    return model, str(model.device)


def _best_device(torch: Any) -> str:
    if torch.cuda.is_available():
        return "cuda:0"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _max_tokens(model: Any) -> int:
    limits = (model.max_seq_length, model.tokenizer.model_max_length)
    return min((int(limit) for limit in limits if limit and limit < _LONGEST), default=_UNKNOWN_LENGTH)


def _prefixes(model: Any, name: str) -> tuple[str, str]:
    """What the model's own configuration puts before a question and a passage, else what is known for its name."""
    own = model.prompts
    prefixes = own.get("query") or "", own.get("document") or own.get("passage") or ""
    return prefixes if any(prefixes) else known_prefixes(name)
