"""What was found, sorted anew by a model that reads the question and each passage together."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from rag.index.chunking.chunks import embedded_text_of
from rag.models.reranker import Reranker
from rag.retrieval.ranking import numbered
from rag.types import Hit, Stage


def rerank(query: str, hits: Sequence[Hit], reranker: Reranker) -> Stage:
    """Sorts passages by a cross-encoder's score.

    Args:
        query: What is searched.
        hits: All that are to be read, each at the cost of a pass through the model.
        reranker: The cross-encoder.

    Raises:
        InputTooLong: The question leaves no room for a passage.
        ModelFailed: The model failed.
    """
    started = time.perf_counter()
    texts = [embedded_text_of(hit.chunk) for hit in hits]
    scores = reranker.scores(query, texts)
    long = sum(not reranker.reads_whole(query, text) for text in texts)
    note = f"{reranker.name} read {len(texts)} passages with the question on {reranker.device}."
    if long:
        note += f" {long} of them were too long to be read at once: each has the score of its best part."
    return Stage("rerank", "reranker", sorted_anew(hits, scores), time.perf_counter() - started, note=note)


def sorted_anew(hits: Sequence[Hit], scores: Sequence[float]) -> tuple[Hit, ...]:
    """Hits by other scores, best first; equal ones stay in their order."""
    best = sorted(zip(hits, scores, strict=True), key=lambda scored: -scored[1])
    return numbered(replace(hit, score=score) for hit, score in best)
