"""Both legs → one ranking, by reciprocal rank."""

from __future__ import annotations

import time
from collections.abc import Sequence

from rag.types import Chunk, Hit, Stage

RANK_CONSTANT = 60
"""Source: Cormack, Clarke and Büttcher 2009, "Reciprocal rank fusion"; ranks count from 1."""


def fuse(legs: Sequence[Stage]) -> Stage:
    """Adds ``weight / (60 + rank)`` over the legs for every chunk; ties go to the first leg's order."""
    started = time.perf_counter()
    scores: dict[str, float] = {}
    chunks: dict[str, Chunk] = {}
    for leg in legs:
        if leg.weight == 0.0:
            continue
        for hit in leg.hits:
            chunks[hit.chunk.id] = hit.chunk
            scores[hit.chunk.id] = scores.get(hit.chunk.id, 0.0) + leg.weight / (RANK_CONSTANT + hit.rank)
    best = sorted(scores.items(), key=lambda item: -item[1])
    hits = tuple(Hit(chunks[chunk_id], score, rank) for rank, (chunk_id, score) in enumerate(best, start=1))
    return Stage("fusion", "rrf", hits, time.perf_counter() - started)
