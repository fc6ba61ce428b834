"""BGE-M3 and its reranker in small: the same architecture and files, with chance for weights and few words.

Beside them their arithmetic once more in numpy, which shares no line with torch or the product.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

WIDTH, HEADS, LAYERS, LONGEST = 32, 4, 2, 128
CLS, PAD, EOS, UNK = 0, 1, 2, 3
_SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]
_WORDS = [
    "tide", "moon", "sea", "bread", "note", "number", "about", "the", "of", "a", "pump", "valve", "bar", "runs", "at", "is", "and", "in", "question", "answer", "water", "pressure", "zebra", "sleeps", "noon", "heading", "more", "opens", "closes", "what", "which", "how", "high", "low", "flour", "yeast", "dough", "rises",
]  # fmt: skip
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789.,:;#?!-'\""


def save_embedder(folder: Path, *, heads: bool = True) -> Path:
    """An XLM-RoBERTa with pooling by its first token, as sentence-transformers keeps one, and BGE-M3's two heads."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer
    from transformers import XLMRobertaModel

    torch.manual_seed(1)
    parts = folder.with_name(f"{folder.name}-parts")
    XLMRobertaModel(_configuration(), add_pooling_layer=False).save_pretrained(parts)
    _tokenizer().save_pretrained(parts)
    transformer = Transformer(str(parts), max_seq_length=LONGEST)
    model = SentenceTransformer(modules=[transformer, Pooling(WIDTH, "cls"), Normalize()], device="cpu")
    model.save(str(folder))
    if heads:
        torch.save(torch.nn.Linear(WIDTH, 1).state_dict(), folder / "sparse_linear.pt")
        torch.save(torch.nn.Linear(WIDTH, WIDTH).state_dict(), folder / "colbert_linear.pt")
    return folder


def save_reranker(folder: Path, labels: int = 1) -> Path:
    """An XLM-RoBERTa that gives a pair of texts a score."""
    import torch
    from transformers import XLMRobertaForSequenceClassification

    torch.manual_seed(2)
    XLMRobertaForSequenceClassification(_configuration(num_labels=labels)).save_pretrained(folder)
    _tokenizer().save_pretrained(folder)
    return folder


def _configuration(**more: int):
    from transformers import XLMRobertaConfig

    return XLMRobertaConfig(
        vocab_size=len(_vocabulary()),
        hidden_size=WIDTH,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        intermediate_size=2 * WIDTH,
        max_position_embeddings=LONGEST + 2,
        type_vocab_size=1,
        layer_norm_eps=1e-5,
        initializer_range=0.3,  # of weights so small that all texts look alike, a test would see nothing
        **more,
    )


def _vocabulary() -> list[tuple[str, float]]:
    pieces = [(f"▁{word}", -2.0) for word in _WORDS]
    pieces += [(letter, -9.0) for letter in ("▁", *_LETTERS)]
    return [(special, 0.0) for special in _SPECIAL] + pieces + [("<mask>", 0.0)]


def _tokenizer():
    from transformers import XLMRobertaTokenizer

    return XLMRobertaTokenizer(vocab=_vocabulary(), model_max_length=LONGEST)


def token_ids(folder: Path, *texts: str) -> list[int]:
    """What the model reads for a text, or for a pair of texts."""
    from transformers import AutoTokenizer

    ids: list[list[int]] = AutoTokenizer.from_pretrained(folder)(*([text] for text in texts))["input_ids"]
    return ids[0]


def linear(folder: Path, name: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weight and bias of a head. Shape: (width of the head, WIDTH) and (width of the head,)."""
    import torch

    kept = torch.load(folder / name, weights_only=True)
    return kept["weight"].numpy().astype(float), kept["bias"].numpy().astype(float)


class NumpyEncoder:
    """XLM-RoBERTa (Conneau et al. 2020) for one text, without padding.

    Args:
        folder: Where its weights lie.
        prefix: What their names begin with.
    """

    def __init__(self, folder: Path, prefix: str = "") -> None:
        from safetensors.numpy import load_file

        kept = load_file(folder / "model.safetensors")
        self._kept = {name.removeprefix(prefix): values.astype(float) for name, values in kept.items()}

    def states(self, ids: list[int]) -> NDArray[np.float64]:
        """The last layer's states. Shape: (n_tokens, WIDTH)."""
        places = np.arange(len(ids)) + PAD + 1
        states = self._of("embeddings.word_embeddings")[ids] + self._of("embeddings.position_embeddings")[places]
        states = self._normed(states + self._of("embeddings.token_type_embeddings")[0], "embeddings.LayerNorm")
        for layer in range(LAYERS):
            states = self._layer(states, f"encoder.layer.{layer}")
        return states

    def score(self, ids: list[int]) -> float:
        """The number that a cross-encoder gives."""
        inner = np.tanh(self.project(self.states(ids)[:1], "classifier.dense"))
        return float(self.project(inner, "classifier.out_proj")[0, 0])

    def project(self, rows: NDArray[np.float64], name: str) -> NDArray[np.float64]:
        return rows @ self._of(name).T + self._of(name, "bias")

    def _layer(self, states: NDArray[np.float64], name: str) -> NDArray[np.float64]:
        query, key, value = (
            self.project(states, f"{name}.attention.self.{part}").reshape(len(states), HEADS, -1).transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        logits = query @ key.transpose(0, 2, 1) / math.sqrt(WIDTH // HEADS)
        shares = np.exp(logits - logits.max(axis=-1, keepdims=True))
        mixed = (shares / shares.sum(axis=-1, keepdims=True)) @ value
        mixed = mixed.transpose(1, 0, 2).reshape(len(states), WIDTH)
        states = self._normed(
            states + self.project(mixed, f"{name}.attention.output.dense"), f"{name}.attention.output.LayerNorm"
        )
        inner = self.project(states, f"{name}.intermediate.dense")
        inner = inner * 0.5 * (1 + np.vectorize(math.erf)(inner / math.sqrt(2)))
        return self._normed(states + self.project(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm")

    def _normed(self, rows: NDArray[np.float64], name: str) -> NDArray[np.float64]:
        spread = np.sqrt(rows.var(axis=-1, keepdims=True) + 1e-5)
        return (rows - rows.mean(axis=-1, keepdims=True)) / spread * self._of(name) + self._of(name, "bias")

    def _of(self, name: str, kind: str = "weight") -> NDArray[np.float64]:
        return self._kept[f"{name}.{kind}"]
