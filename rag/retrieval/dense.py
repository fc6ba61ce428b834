"""The dense leg: nearest vectors by cosine."""

from __future__ import annotations

import time
from collections.abc import Sequence

from rag.index.library import Library
from rag.types import Hit, Stage


def search_dense(library: Library, vector: Sequence[float], limit: int) -> Stage:
    """Searches the library's vectors.

    Args:
        library: The library.
        vector: The embedded query. Shape: (dimension,), L2-normalised.
        limit: Hits at most.
    """
    started = time.perf_counter()
    found = library.vectors.search(vector, limit)
    chunks = library.catalog.chunks([chunk_id for chunk_id, _ in found])
    # A vector without a chunk is left over from an interrupted sync; it is no passage of this library.
    known = [(chunks[chunk_id], cosine) for chunk_id, cosine in found if chunk_id in chunks]
    hits = tuple(Hit(chunk, cosine, rank) for rank, (chunk, cosine) in enumerate(known, start=1))
    return Stage("dense", "cosine", hits, time.perf_counter() - started)
