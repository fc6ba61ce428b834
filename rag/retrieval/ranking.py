"""Rankings as every step of a search makes them: scored chunks looked up, hits counted from 1."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from rag.index.catalog import Catalog
from rag.types import Hit


def looked_up(catalog: Catalog, scored: Sequence[tuple[str, float]]) -> tuple[Hit, ...]:
    """Hits for ids of chunks with their scores, best first.

    An id that the catalog does not hold is left out: it is left over from an interrupted sync, or was replaced by one
    that runs meanwhile.
    """
    chunks = catalog.chunks([id_ for id_, _ in scored])
    return numbered(Hit(chunks[id_], score, 0) for id_, score in scored if id_ in chunks)


def numbered(hits: Iterable[Hit]) -> tuple[Hit, ...]:
    """The hits with their rank in this order, from 1."""
    return tuple(replace(hit, rank=rank) for rank, hit in enumerate(hits, start=1))
