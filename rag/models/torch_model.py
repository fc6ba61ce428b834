"""Weights that run in torch: found on the disk, never on the hub; loaded, fed in batches, and let go."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, Literal, TypeVar

from rag.errors import ModelFailed, ModelMissing, ModelUnavailable
from rag.models.base import batches
from rag.models.hub import cached_model, pull_name
from rag.settings import Settings

_SMALLEST_BUDGET = 64

Item = TypeVar("Item")
Result = TypeVar("Result")


class TorchModel:
    """A model of sentence-transformers behind one lock; loading takes seconds.

    Args:
        settings: Device and tokens in a batch. ``auto`` takes CUDA, then Apple's MPS, then the CPU; weights are half
            precision on a GPU and single precision on the CPU.
        name: The model's name on the hub, or its folder.
        kind: The class that loads it.

    Attributes:
        name: As given.
        folder: Where the weights lie.
        device: Where they run: ``cpu``, ``cuda:0``, ``mps``.
        model: The library's own model; None once closed.
        lock: Held whenever the model or its tokenizer is at work: neither is thread-safe.

    Raises:
        ModelMissing: It is not on this disk.
        ModelUnavailable: torch cannot be loaded, or the device that the settings name is not there.
        ModelFailed: It is there and cannot be loaded.
    """

    def __init__(self, settings: Settings, name: str, kind: Literal["SentenceTransformer", "CrossEncoder"]) -> None:
        self.name = name
        self.folder = model_folder(name)
        self.lock = Lock()
        self._budget = settings.embed_batch_tokens
        self.model, self.device = _load(self.folder, settings.device, kind)

    @property
    def revision(self) -> str:
        """The commit that was fetched; empty for a folder of one's own."""
        return self.folder.name if self.folder.parent.name == "snapshots" else ""

    def run(
        self, items: Sequence[Item], tokens: Sequence[int], forward: Callable[[list[Item]], Sequence[Result]]
    ) -> list[Result]:
        """Sends everything through the model, in batches; where memory runs out, a batch is halved until it fits.

        Args:
            items: What goes in.
            tokens: Length of each.
            forward: One batch through the model; called with the lock held.

        Returns:
            One result an item, in order.

        Raises:
            ModelFailed: The model failed, or not even a single item fits the memory.
        """
        results: dict[int, Result] = {}
        for group in batches(tokens, self._budget):
            results.update(zip(group, self._batch([items[at] for at in group], forward), strict=True))
        return [results[at] for at in range(len(items))]

    def close(self) -> None:
        """Frees the weights; calling it twice is harmless."""
        with self.lock:
            self.model = None
        self._free_memory()

    def _batch(self, items: list[Item], forward: Callable[[list[Item]], Sequence[Result]]) -> list[Result]:
        try:
            with self.lock:
                return list(forward(items))
        except RuntimeError as error:
            out_of_memory = "out of memory" in str(error) or "not enough memory" in str(error)
            if not out_of_memory:
                raise ModelFailed(f"{self.name} failed: {error}", "Try FOOTNOTE_DEVICE=cpu.") from error
            if len(items) == 1:
                raise ModelFailed(
                    f"{self.name} has no memory left on {self.device} for a single text.",
                    "Close other programs that use it, or set FOOTNOTE_DEVICE=cpu or smaller chunks.",
                ) from error
        # Outside the handler, since the exception holds on to the tensors that filled the memory.
        self._free_memory()
        self._budget = max(_SMALLEST_BUDGET, self._budget // 2)
        half = len(items) // 2
        return self._batch(items[:half], forward) + self._batch(items[half:], forward)

    def _free_memory(self) -> None:
        import torch

        if self.device.startswith("cuda"):
            torch.cuda.empty_cache()
        elif self.device == "mps":
            torch.mps.empty_cache()


def model_folder(name: str) -> Path:
    """Where a model's weights lie: its folder, or its newest version in the hub's cache.

    Raises:
        ModelMissing: They are not on this disk.
    """
    folder = Path(name).expanduser()
    found = folder if folder.is_dir() else cached_model(name)
    if found is None:
        raise ModelMissing(
            f"The model {name} is not on this machine.",
            f"Fetch it with `python -m rag models pull {pull_name(name)}`.",
        )
    return found


def _load(folder: Path, device: str, kind: str) -> tuple[Any, str]:
    """The model and the device that it is on."""
    try:
        import sentence_transformers
        import torch
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
        model = getattr(sentence_transformers, kind)(
            str(folder), device=device, local_files_only=True, model_kwargs={"dtype": precision}
        )
    except (OSError, ValueError, KeyError, RuntimeError, ImportError, AttributeError) as error:
        raise ModelFailed(
            f"The model in {folder} cannot be loaded: {str(error).splitlines()[0]}", "Fetch it again."
        ) from error
    return model, str(model.device)


def _best_device(torch: Any) -> str:
    if torch.cuda.is_available():
        return "cuda:0"
    return "mps" if torch.backends.mps.is_available() else "cpu"
