"""The sparse leg: tokens that question and passage share, each weighed by the embedder in its place."""

from __future__ import annotations

import time
from collections.abc import Mapping

from rag.index.library import Library
from rag.index.selection import Selection
from rag.retrieval.ranking import looked_up
from rag.types import Stage

_FEW = 2000
"""Chunks let through by filters up to which they are looked up before the search, rather than among what it found."""


def search_sparse(library: Library, weights: Mapping[int, float], limit: int, within: Selection | None = None) -> Stage:
    """Searches the library's sparse weights.

    Args:
        library: The library.
        weights: The query's, by the number of the token.
        limit: Hits at most.
        within: The chunks that the search is held to; None: all.
    """
    started = time.perf_counter()
    found = library.vectors.search_weights(weights, limit) if within is None else _held(library, weights, limit, within)
    hits = looked_up(library.catalog, found)
    note = ""
    if not library.vectors.has_weights:
        note = "This library was built without sparse weights; build it anew to have them searched."
    elif not hits:
        note = "No passage shares a token with the question."
    return Stage("sparse", "m3 sparse", hits, time.perf_counter() - started, 1.0 if hits else 0.0, note)


def _held(library: Library, weights: Mapping[int, float], limit: int, within: Selection) -> list[tuple[str, float]]:
    """The best of some chunks."""
    if within.count > _FEW:
        candidates = 2 * limit * library.catalog.counts()[1] // within.count
        found = library.vectors.search_weights(weights, candidates)
        allowed = within.among([chunk_id for chunk_id, _ in found])
        if len(allowed) >= limit or len(found) < candidates:
            return [hit for hit in found if hit[0] in allowed][:limit]
    return library.vectors.search_weights(weights, limit, within.ids())
