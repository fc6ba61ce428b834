"""Cross-encoders: a question and a passage read together, which tells more than two vectors, and takes longer."""

from __future__ import annotations

from threading import Lock

import numpy as np
from numpy.typing import NDArray

from rag.errors import InputTooLong, ModelFailed
from rag.models.torch_model import TorchModel, model_folder
from rag.settings import Settings

_UNKNOWN_LENGTH = 512
_LONGEST = 100_000  # tokenizers write a huge number where they know no limit
_LEAST_ROOM = 32  # tokens that a question has to leave for a passage


class Reranker:
    """A cross-encoder such as bge-reranker-v2-m3. It is loaded when it is first needed, which takes seconds.

    Args:
        settings: Device and tokens in a batch; see :class:`~rag.models.torch_model.TorchModel`.
        name: The model's name on the hub, or its folder.

    Attributes:
        name: As given.

    Raises:
        ModelMissing: It is not on this disk.
    """

    def __init__(self, settings: Settings, name: str) -> None:
        model_folder(name)
        self.name = name
        self._settings = settings
        self._loading = Lock()
        self._loaded: TorchModel | None = None
        self._to_card = True

    @property
    def device(self) -> str:
        """Where it runs: ``cpu``, ``cuda:0``, ``mps``."""
        return self._torch.device

    @property
    def max_tokens(self) -> int:
        """The longest pair that it reads at once, special tokens included."""
        model = self._torch.model
        limits = (model.max_seq_length, model.tokenizer.model_max_length)
        return min((int(limit) for limit in limits if limit and limit < _LONGEST), default=_UNKNOWN_LENGTH)

    def scores(self, query: str, texts: list[str]) -> list[float]:
        """How well each passage answers a question: the model's own number (a logit), any size, higher is better.

        A passage that is too long to be read beside the question is read in pieces that cover it all, and has the
        score of its best one. Source: Dai and Callan 2019, "Deeper Text Understanding for IR with Contextual Neural
        Language Modeling" (MaxP).

        Raises:
            InputTooLong: The question leaves no room for a passage; nothing is cut.
            ModelUnavailable: torch cannot be loaded, or the device that the settings name is not there.
            ModelFailed: It cannot be loaded, gives no single score for a pair, or failed.
        """
        if self._length(query, "") + _LEAST_ROOM > self.max_tokens:
            raise InputTooLong(
                f"The question leaves no room for a passage in the {self.max_tokens} tokens of {self.name}: "
                f"{query[:60]!r}…",
                "Ask more shortly, or switch reranking off.",
            )
        pieces = [self._pieces(query, text) for text in texts]
        pairs = [(query, piece) for of_text in pieces for piece in of_text]
        lengths = [self._length(*pair) for pair in pairs]
        scores = iter(self._torch.run(pairs, lengths, self._score))
        return [max(next(scores) for _ in of_text) for of_text in pieces]

    def reads_whole(self, query: str, text: str) -> bool:
        """Whether a passage is read in one piece beside the question."""
        return self._length(query, text) <= self.max_tokens

    def move(self, *, to_card: bool) -> None:
        """Runs on the graphics card from now on, or on the CPU; one that is not loaded yet goes there once it is.

        Raises:
            ModelFailed: There is no room for it; it stays where it was.
        """
        with self._loading:
            self._to_card = to_card
            if self._loaded is not None:
                self._loaded.move(to_card=to_card)

    def close(self) -> None:
        """Frees the weights; calling it twice is harmless."""
        with self._loading:
            if self._loaded is not None:
                self._loaded.close()
                self._loaded = None

    @property
    def _torch(self) -> TorchModel:
        with self._loading:
            if self._loaded is None:
                loaded = TorchModel(self._settings, self.name, "CrossEncoder")
                # Of a model without a trained head for it, the library would make one up by chance.
                trained = any("SequenceClassification" in kind for kind in loaded.model.config.architectures or ())
                if not trained or loaded.model.num_labels != 1:
                    raise ModelFailed(
                        f"{self.name} gives no score for a question and a passage.", "Choose a cross-encoder."
                    )
                if not self._to_card:
                    loaded.move(to_card=False)
                self._loaded = loaded
            return self._loaded

    def _length(self, query: str, text: str) -> int:
        with self._torch.lock:
            # As lists: an empty text by itself would be taken for none.
            encoded = self._torch.model.tokenizer([query], [text], truncation=False, verbose=False)
        return len(encoded["input_ids"][0])

    def _pieces(self, query: str, text: str) -> list[str]:
        """The passage whole, or cut in halves, at white space where there is some, until each fits."""
        if self.reads_whole(query, text):
            return [text]
        middle = len(text) // 2
        space = text.rfind(" ", middle // 2, middle)
        cut = middle if space < 0 else space
        return self._pieces(query, text[:cut]) + self._pieces(query, text[cut:])

    def _score(self, pairs: list[tuple[str, str]]) -> list[float]:
        import torch

        scores: NDArray[np.float32] = self._torch.model.predict(
            pairs, batch_size=len(pairs), show_progress_bar=False, activation_fn=torch.nn.Identity()
        )
        if not np.all(np.isfinite(scores)):
            raise ModelFailed(f"{self.name} gave a score that is no number.", "Set FOOTNOTE_DEVICE=cpu.")
        return [float(score) for score in scores]
