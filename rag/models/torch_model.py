"""Weights that run in torch: found on the disk, never on the hub; loaded, fed in batches, and let go."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, Literal, TypeVar

from rag.errors import ModelFailed, ModelMissing, ModelUnavailable
from rag.models.base import batches
from rag.models.hub import cached_model, pull_name
from rag.models.memory import BYTES_A_TOKEN, CONTEXT_BYTES, CardUse
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
        self._peak = 0  # bytes that torch has set aside on the card at most, once that is known
        self._full = False  # whether a batch of about the whole budget has been through
        self._card = _best_device() if settings.device == "auto" else settings.device
        # Moved by itself only where nobody said where it runs, and where leaving the card frees memory for others.
        self._fixed = settings.device != "auto" or self._card == "mps"
        try:
            self.model, self.device = _load(self.folder, self._card, kind)
        except ModelFailed as error:
            if self._fixed or not _is_out_of_memory(error):
                raise
            self.model, self.device = _load(self.folder, "cpu", kind)

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
            self._full = self._full or 2 * len(group) * tokens[group[0]] >= self._budget
            results.update(zip(group, self._batch([items[at] for at in group], forward), strict=True))
        return [results[at] for at in range(len(items))]

    def card_use(self) -> CardUse | None:
        """What it takes of this machine's graphics card; None where there is none that torch can use."""
        if self._card == "cpu":
            return None
        with self.lock:
            weights = 2 * sum(parameter.numel() for parameter in self.model.parameters()) if self.model else 0
        question = weights + CONTEXT_BYTES
        return CardUse(
            documents=self._measured() or question + self._budget * BYTES_A_TOKEN,
            question=question,
            there=self.device != "cpu",
            fixed=self._fixed,
        )

    def move(self, *, to_card: bool, beside: Callable[[str], None] | None = None) -> None:
        """Takes the weights to the card or to the CPU, between two batches.

        Args:
            to_card: To the card that it was loaded on, or would have been with more room.
            beside: Takes what works with the weights to that device, before the next batch.

        Raises:
            ModelFailed: There is no room for them; they stay where they were.
        """
        device = self._card if to_card else "cpu"
        if self._fixed or device == self.device:
            return
        with self.lock:
            if self.model is None:
                return
            try:
                self.model.to(device=device, dtype=_precision(device))
            except RuntimeError as error:
                self.model.to(device=self.device, dtype=_precision(self.device))
                raise ModelFailed(
                    f"{self.name} cannot move to {device}: {str(error).splitlines()[0]}",
                    "It goes on where it was; close other programs that use the graphics card.",
                ) from error
            if beside is not None:
                beside(device)
            self._measured()
            self.device = device
        self._free_memory(self._card)

    def close(self) -> None:
        """Frees the weights; calling it twice is harmless."""
        with self.lock:
            self.model = None
        self._free_memory(self.device)

    def _batch(self, items: list[Item], forward: Callable[[list[Item]], Sequence[Result]]) -> list[Result]:
        try:
            with self.lock:
                return list(forward(items))
        except RuntimeError as error:
            if not _is_out_of_memory(error):
                raise ModelFailed(f"{self.name} failed: {error}", "Try FOOTNOTE_DEVICE=cpu.") from error
            if len(items) == 1:
                raise ModelFailed(
                    f"{self.name} has no memory left on {self.device} for a single text.",
                    "Close other programs that use it, or set FOOTNOTE_DEVICE=cpu or smaller chunks.",
                ) from error
        # Outside the handler, since the exception holds on to the tensors that filled the memory.
        self._free_memory(self.device)
        self._forget_peak()
        self._budget = max(_SMALLEST_BUDGET, self._budget // 2)
        half = len(items) // 2
        return self._batch(items[:half], forward) + self._batch(items[half:], forward)

    def _free_memory(self, device: str) -> None:
        import torch

        if device.startswith("cuda"):
            torch.cuda.empty_cache()
        elif device == "mps":
            torch.mps.empty_cache()

    def _measured(self) -> int:
        """Bytes of the card that whole batches took; 0 before the first one on it."""
        if self.device.startswith("cuda") and self._full:
            import torch

            self._peak = torch.cuda.max_memory_reserved(self.device) + CONTEXT_BYTES
        return self._peak

    def _forget_peak(self) -> None:
        """A batch that did not fit says nothing of the smaller ones that follow."""
        if self.device.startswith("cuda"):
            import torch

            torch.cuda.reset_peak_memory_stats(self.device)


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
    try:
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise ModelUnavailable(
            f"The device {device} cannot be used: {str(error).splitlines()[0]}", "Set FOOTNOTE_DEVICE to auto or cpu."
        ) from error
    try:
        model = getattr(sentence_transformers, kind)(
            str(folder), device=device, local_files_only=True, model_kwargs={"dtype": _precision(device)}
        )
    except (OSError, ValueError, KeyError, RuntimeError, ImportError, AttributeError) as error:
        raise ModelFailed(
            f"The model in {folder} cannot be loaded: {str(error).splitlines()[0]}", "Fetch it again."
        ) from error
    return model, str(model.device)


def _precision(device: str) -> Any:
    """Said for both, since a file of half-precision weights would otherwise stay so on the CPU, where it is slow."""
    import torch

    return torch.float32 if device == "cpu" else torch.float16


def _best_device() -> str:
    try:
        import torch
    except (ImportError, OSError):
        return "cpu"  # where loading the model says what is wrong with torch
    if torch.cuda.is_available():
        return "cuda:0"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _is_out_of_memory(error: Exception) -> bool:
    return "out of memory" in str(error) or "not enough memory" in str(error)
