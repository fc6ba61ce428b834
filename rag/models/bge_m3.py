"""BGE-M3's other two heads: the same pass through the model that gives a text's vector also gives sparse weights and
token vectors.

Source: Chen, Xiao, Zhang, Luo, Lian and Liu 2024, "M3-Embedding: Multi-Linguality, Multi-Functionality,
Multi-Granularity Text Embeddings Through Self-Knowledge Distillation", section 3.2, and FlagEmbedding, the authors'
code, where the paper leaves something open: both heads have a bias, sparse weights leave out the special tokens, and
token vectors leave out the first token only, so that the one that ends a text stays.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag.errors import ModelFailed

_SPARSE = "sparse_linear.pt"
_MULTI_VECTOR = "colbert_linear.pt"

Output = dict[str, Any]
"""What sentence-transformers gives for one text, as torch tensors: ``sentence_embedding``, ``token_embeddings``,
``input_ids``, ``attention_mask``; the last three padded to the longest text of the batch."""


def has_heads(folder: Path) -> bool:
    """Whether the two heads lie beside the model in that folder."""
    return (folder / _SPARSE).is_file() and (folder / _MULTI_VECTOR).is_file()


class M3Heads:
    """The sparse and the multi-vector head.

    Args:
        folder: The model's folder.
        model: The sentence-transformers model, loaded: its tokenizer knows the special tokens, and the heads run where
            it runs, in single precision.

    Raises:
        ModelFailed: A head cannot be read, or does not fit the model.
    """

    def __init__(self, folder: Path, model: Any) -> None:
        width = int(model.transformers_model.config.hidden_size)
        self._sparse = _head(folder / _SPARSE, width, model.device)
        self._multi_vector = _head(folder / _MULTI_VECTOR, width, model.device)
        tokenizer = model.tokenizer
        special = (tokenizer.cls_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id, tokenizer.unk_token_id)
        self._special = np.array([token for token in special if token is not None])

    def move(self, device: str) -> None:
        """Runs where the model runs now."""
        self._sparse.to(device)
        self._multi_vector.to(device)

    def vectors_and_weights(self, outputs: list[Output]) -> list[tuple[NDArray[np.float32], dict[int, float]]]:
        """A text's vector, and the weights of its tokens: ``relu(w · h + b)``, of a token that repeats the greatest.

        Returns:
            For each text a vector, shape: (dimension,), float32; and weights above 0 by the token's number.
        """
        weights = self._each(outputs, self._sparse, first=0)
        return [
            (
                _array(output["sentence_embedding"].float()),
                self._by_token(_array(_read(output, "input_ids")), of_text[:, 0]),
            )
            for output, of_text in zip(outputs, weights, strict=True)
        ]

    def token_vectors(self, outputs: list[Output]) -> list[NDArray[np.float32]]:
        """A text's token vectors, ``W · h + b`` scaled to length 1, for every token but the first.

        Returns:
            For each text a matrix. Shape: (n_tokens - 1, dimension), float32.
        """
        return [
            rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
            for rows in self._each(outputs, self._multi_vector, first=1)
        ]

    def _each(self, outputs: list[Output], head: Any, first: int) -> list[NDArray[np.float32]]:
        """A head's results for each text, from its token ``first`` on. Shape: (n_tokens - first, width of the head)."""
        import torch

        states = [_read(output, "token_embeddings")[first:] for output in outputs]
        with torch.inference_mode():
            rows = _array(head(torch.cat(states).float()))
        return np.split(rows, np.cumsum([len(state) for state in states])[:-1])

    def _by_token(self, tokens: NDArray[np.int64], weights: NDArray[np.float32]) -> dict[int, float]:
        counts = (weights > 0) & ~np.isin(tokens, self._special)
        strongest: dict[int, float] = {}
        for token, weight in zip(tokens[counts].tolist(), weights[counts].tolist(), strict=True):
            strongest[token] = max(weight, strongest.get(token, 0.0))
        return strongest


def multi_vector_score(query: NDArray[np.float32], passage: NDArray[np.float32]) -> float:
    """How well a passage answers a query: over the query's token vectors, the mean of the best cosine in the passage.

    Args:
        query: Shape: (n_query_tokens, dimension), rows L2-normalised.
        passage: Shape: (n_passage_tokens, dimension), rows L2-normalised.
    """
    return float((query @ passage.T).max(axis=1).mean())


def _head(path: Path, width: int, device: Any) -> Any:
    """A linear layer that reads states of that width."""
    import pickle

    import torch

    try:
        kept = torch.load(path, map_location="cpu", weights_only=True)
        head = torch.nn.Linear(width, len(kept["weight"]))
        head.load_state_dict(kept)
    except (OSError, EOFError, pickle.UnpicklingError, RuntimeError, KeyError, TypeError, AttributeError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ModelFailed(f"{path} cannot be read: {reason}", "Fetch the model again.") from error
    return head.to(device)


def _read(output: Output, name: str) -> Any:
    """What is said of a text's own tokens, without the padding."""
    return output[name][output["attention_mask"].bool()]


def _array(tensor: Any) -> NDArray[Any]:
    array: NDArray[Any] = tensor.cpu().numpy()
    return array
