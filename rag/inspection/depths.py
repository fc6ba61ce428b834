"""How passages stood in each leg of a search, however deep: rank and score, worked out anew beyond what is on record.

A search hands on thirty passages a leg; where the next ten thousand stand, nobody wrote down. Question, filters and a
made-up passage are on record, so the same search can be made again to any depth, without a chat model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rag.index.library import Library
from rag.index.selection import select
from rag.models.base import Embedder
from rag.retrieval.clause import search_clause
from rag.retrieval.lexical import search_lexical, weigh_terms
from rag.types import Retrieval, Stage

_CLOSE = 1e-6
"""Cosines of the same two vectors that were summed up in another order differ by less."""

_COUNTED = 100
"""Hits of the keyword leg that are ranked as the search itself ranks them."""

_DEEP = 5_000
"""Hits of the keyword leg that are looked through beyond; their lengths are averaged over more passages there, so that
scores and ranks differ a little from those of the search."""


@dataclass(frozen=True, slots=True)
class Depth:
    """Where a passage stands in a leg.

    Attributes:
        score: As the leg gives it; None where it does not know the passage.
        rank: From 1; None without a score.
        about: Whether rank and score are near the truth only.
    """

    score: float | None = None
    rank: int | None = None
    about: bool = False


class Depths:
    """The legs of one search, made again.

    Args:
        retrieval: The search.
        libraries: Those that were searched, as they are now.
        embedder: Theirs.
    """

    def __init__(self, retrieval: Retrieval, libraries: Sequence[Library], embedder: Embedder) -> None:
        self._retrieval = retrieval
        self._embedder = embedder
        filled = [library for library in libraries if library.catalog.total()]
        self._places = [(library, select(library.catalog, retrieval.filters)) for library in filled]
        self._terms = [library.catalog for library in filled]

    def let_through(self, ids: Sequence[str]) -> set[str]:
        """Those of some chunks that the filters let through."""
        through: set[str] = set()
        for library, within in self._places:
            through |= set(library.catalog.chunks(ids)) if within is None else within.among(ids)
        return through

    def of(self, stage: Stage, ids: Sequence[str]) -> Mapping[str, Depth]:
        """Where chunks stand in a leg; those that it does not know are left out.

        Args:
            stage: The leg as it is on record.
            ids: Ids of chunks.

        Raises:
            ModelError: The embedder failed.
        """
        leg, _, label = stage.name.partition(": ")
        passage, queries = self._retrieval.hypothetical, self._retrieval.queries
        if label == "hypothetical" and not passage:
            return {}
        query = queries[-1] if label == "as typed" else queries[0]
        legs: dict[str, Callable[[], Mapping[str, Depth]]] = {
            "dense": lambda: self._dense(
                self._embedder.embed_documents([passage])[0]
                if label == "hypothetical"
                else self._embedder.embed_question(query).vectors[0],
                ids,
            ),
            "lexical": lambda: self._lexical(query, ids),
            "sparse": lambda: self._sparse(query, ids),
            "clause": lambda: self._clause(query, ids),
        }
        return legs[leg]()

    def _dense(self, vector: Sequence[float], ids: Sequence[str]) -> Mapping[str, Depth]:
        query = np.asarray(vector, dtype=np.float32)
        query = query / np.linalg.norm(query)
        wanted = set(ids)
        all_cosines = [np.empty(0, dtype=np.float32)]
        own: dict[str, float] = {}
        for library, within in self._places:
            allowed = None if within is None else set(within.ids())
            for some, rows in library.vectors.batches():
                cosines = rows @ query / np.linalg.norm(rows, axis=1)
                if allowed is not None:
                    cosines = cosines[kept := [at for at, id_ in enumerate(some) if id_ in allowed]]
                    some = [some[at] for at in kept]
                all_cosines.append(cosines)
                own |= {id_: float(cosine) for id_, cosine in zip(some, cosines, strict=True) if id_ in wanted}
        ordered = np.sort(np.concatenate(all_cosines))
        above = {id_: len(ordered) - np.searchsorted(ordered, cosine + _CLOSE, "right") for id_, cosine in own.items()}
        return {id_: Depth(own[id_], int(count) + 1) for id_, count in above.items()}

    def _lexical(self, query: str, ids: Sequence[str]) -> Mapping[str, Depth]:
        query_terms = weigh_terms(self._terms, query)
        found: dict[str, Depth] = {}
        for limit in (_COUNTED, _DEEP):
            stages = [search_lexical(library, query_terms, limit, within) for library, within in self._places]
            # Where several libraries are searched, those that know too little of the question are not listened to.
            heard = [stage for stage in stages if stage.weight > 0] or stages
            scored = {hit.chunk.id: hit.score for stage in heard for hit in stage.hits}
            deeper = _ranked(scored, [id_ for id_ in ids if id_ not in found], about=limit == _DEEP)
            found |= deeper
            if len(found) == len(ids) or all(len(stage.hits) < limit for stage in stages):
                break
        return found

    def _sparse(self, query: str, ids: Sequence[str]) -> Mapping[str, Depth]:
        embedded = self._embedder.embed_question(query).weights
        scored: dict[str, float] = {}
        for weights in embedded or ():  # of one query
            for library, within in self._places:
                among = None if within is None else within.ids()
                scored |= dict(library.vectors.search_weights(weights, library.catalog.total(), among))
        return _ranked(scored, ids)

    def _clause(self, query: str, ids: Sequence[str]) -> Mapping[str, Depth]:
        scored: dict[str, float] = {}
        for library, within in self._places:
            stage = search_clause(library, query, library.catalog.total(), within)
            # Its order is not that of its scores: the beginning of each section comes first.
            scored |= {hit.chunk.id: -hit.rank for hit in stage.hits} if stage else {}
        return {id_: Depth(None, depth.rank) for id_, depth in _ranked(scored, ids).items()}


def _ranked(scored: Mapping[str, float], ids: Sequence[str], *, about: bool = False) -> dict[str, Depth]:
    """Those of some chunks that have a score, with their rank among all scores."""
    ordered = np.sort(np.fromiter(scored.values(), dtype=np.float64))
    return {
        id_: Depth(scored[id_], len(ordered) - int(np.searchsorted(ordered, scored[id_], "right")) + 1, about)
        for id_ in ids
        if id_ in scored
    }
