"""How good a ranking is."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

CUTS = (1, 5, 10)
"""Ranks down to which recall is measured."""


@dataclass(frozen=True, slots=True)
class Quality:
    """Measures of one ranking, or their means.

    Attributes:
        ndcg: Discounted cumulative gain down to rank 10 by the best possible one.
        recall: Share of the right passages among the first so many, by :data:`CUTS`.
        mrr: One by the rank of the first right passage, 0 where none was found.
    """

    ndcg: float
    recall: tuple[float, ...]
    mrr: float

    @property
    def at(self) -> dict[int, float]:
        """Recall by cut."""
        return dict(zip(CUTS, self.recall, strict=True))


def quality(ranked: Sequence[str], right: frozenset[str]) -> Quality:
    """Measures a ranking whose right passages all count the same; a name that comes again counts once."""
    names = list(dict.fromkeys(ranked))
    gain = sum(1 / math.log2(rank + 1) for rank, name in enumerate(names[:10], 1) if name in right)
    best = sum(1 / math.log2(rank + 1) for rank in range(1, min(10, len(right)) + 1))
    first = next((rank for rank, name in enumerate(names, 1) if name in right), 0)
    recall = tuple(len(right.intersection(names[:cut])) / len(right) for cut in CUTS)
    return Quality(gain / best, recall, 1 / first if first else 0.0)


def mean(found: Iterable[Quality]) -> Quality:
    """The mean over questions."""
    rows = list(found)
    recall = tuple(fmean(row.recall[at] for row in rows) for at in range(len(CUTS)))
    return Quality(fmean(row.ndcg for row in rows), recall, fmean(row.mrr for row in rows))
