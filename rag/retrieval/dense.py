"""The dense leg: nearest vectors by cosine."""

from __future__ import annotations

import time
from collections.abc import Sequence

from rag.index.library import Library
from rag.index.selection import Selection
from rag.retrieval.ranking import looked_up
from rag.types import Stage

_FEW = 2000
"""Chunks let through by filters up to which all their vectors are compared: about as long as a search of the index."""

_MOST = 4000
"""Nearest vectors of all that are looked through for those let through."""


def search_dense(library: Library, vector: Sequence[float], limit: int, within: Selection | None = None) -> Stage:
    """Searches the library's vectors.

    Args:
        library: The library.
        vector: The embedded query. Shape: (dimension,), L2-normalised.
        limit: Hits at most.
        within: The chunks that the search is held to; None: all.
    """
    started = time.perf_counter()
    found = library.vectors.search(vector, limit) if within is None else _held(library, vector, limit, within)
    return Stage("dense", "cosine", looked_up(library.catalog, found), time.perf_counter() - started)


def _held(library: Library, vector: Sequence[float], limit: int, within: Selection) -> list[tuple[str, float]]:
    """The nearest of some chunks: all of them compared where they are few, else picked from the nearest of all."""
    total = library.catalog.total()
    candidates = 3 * limit * total // (2 * max(1, within.count))
    while within.count > _FEW and candidates < min(total, _MOST):
        found = library.vectors.search(vector, candidates)
        allowed = within.among([chunk_id for chunk_id, _ in found])
        if len(allowed) >= limit:
            return [hit for hit in found if hit[0] in allowed][:limit]
        candidates *= 4
    return library.vectors.exact(vector, limit, within.ids())
