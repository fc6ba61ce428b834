"""A library's passages laid out in the plane, with a question and what was found for it among them.

The plane is the one in which the passages differ most (principal components; Pearson 1901). It holds a part of the
differences only, so that what lies close together on it need not be alike: the cosines are what a search goes by.
"""

from __future__ import annotations

import heapq
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag.errors import LibraryEmpty
from rag.index.library import Library
from rag.types import Chunk, Hit

SHOWN = 1200
"""Passages on a map at most; of a larger library a sample, always the same."""

HITS = 8
"""Of what was found, so many are on the map."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A passage on the map; ``x`` and ``y`` in the units of the vectors, from the middle of all passages."""

    x: float
    y: float
    chunk: Chunk


@dataclass(frozen=True, slots=True)
class PassageMap:
    """A library's passages in the plane.

    Attributes:
        spots: Passages, those of ``hits`` not among them.
        hits: What was found, best first, as far as the library still has it.
        question: Where the question lies; None where there is none.
        held: Share of the passages' differences that the plane holds, 0 to 1.
        total: Passages in the library.
    """

    spots: tuple[Spot, ...]
    hits: tuple[Spot, ...]
    question: tuple[float, float] | None
    held: float
    total: int


def draw_map(library: Library, hits: Sequence[Hit] = (), question: Sequence[float] | None = None) -> PassageMap:
    """Lays out a library's passages.

    Args:
        library: The library.
        hits: What was found for the question, best first; what lies in other libraries is left out.
        question: Its vector. Shape: (dimension,).

    Raises:
        LibraryEmpty: There are not enough passages to draw.
    """
    ids = library.catalog.chunk_ids()
    found = [hit.chunk.id for hit in hits[:HITS] if hit.chunk.id in ids]
    # By a hash of the id, so that a library's sample stays as it is while others come and go.
    some = heapq.nsmallest(SHOWN, ids, key=lambda id_: (zlib.crc32(id_.encode()), id_))
    shown = [*found, *(id_ for id_ in some if id_ not in found)]
    vectors, chunks = library.vectors.get(shown), library.catalog.chunks(shown)
    shown = [id_ for id_ in shown if id_ in vectors and id_ in chunks]
    if len(shown) < 3:  # two lie on a line
        raise LibraryEmpty(f"“{library.name}” has too few passages for a map.", "Index a folder in the Ingest tab.")
    rows = np.array([vectors[id_] for id_ in shown], dtype=np.float64)
    middle = rows.mean(axis=0)
    directions, held = _widest(rows - middle)
    placed = (rows - middle) @ directions.T
    asked = None if question is None else ((np.asarray(question) - middle) @ directions.T).tolist()
    spots = [Spot(x, y, chunks[id_]) for id_, (x, y) in zip(shown, placed.tolist(), strict=True)]
    first = sum(id_ in vectors for id_ in found)
    return PassageMap(
        spots=tuple(spots[first:]),
        hits=tuple(spots[:first]),
        question=None if asked is None else (asked[0], asked[1]),
        held=held,
        total=len(ids),
    )


def _widest(rows: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """The two directions in which centred rows differ most, and the share of their variance that lies in them.

    Args:
        rows: Shape: (n, dimension).

    Returns:
        Directions of length 1. Shape: (2, dimension).
    """
    variances, directions = np.linalg.eigh(rows.T @ rows)  # smallest first
    widest = directions[:, :-3:-1].T
    # A direction and its opposite are as good; which one comes out, must not depend on the machine.
    widest = widest * np.where(widest[np.arange(2), np.abs(widest).argmax(axis=1)] < 0, -1.0, 1.0)[:, np.newaxis]
    whole = float(variances.sum())
    return widest, float(variances[-2:].sum()) / whole if whole > 0 else 0.0
