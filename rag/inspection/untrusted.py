"""All passages of a library that hold hidden text, or text that speaks to a model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rag.answering.untrusted import doubts
from rag.index.catalog import Catalog
from rag.types import Chunk

MOST_SHOWN = 200
"""Passages that are kept to be shown; all are counted."""

_AT_ONCE = 250  # chunks; about a quarter of a second


@dataclass(frozen=True, slots=True)
class Screening:
    """How far a library has been looked through.

    Attributes:
        looked: Passages looked at, of ``total``.
        hidden: Passages with text that is not to be seen in their file.
        speaking: Passages with text that reads like an instruction to a model; some are among the hidden ones.
        files: Files that such passages are in.
        found: The first of them, in the order of the library.
    """

    looked: int
    total: int
    hidden: int = 0
    speaking: int = 0
    files: int = 0
    found: tuple[Chunk, ...] = ()


def screen(catalog: Catalog) -> Iterator[Screening]:
    """Looks through a library, and tells every quarter of a second or so how far it is.

    Raises:
        LibraryError: The library cannot be read.
    """
    ids = sorted(catalog.chunk_ids())
    hidden = speaking = 0
    files: set[int] = set()
    found: list[Chunk] = []
    yield Screening(0, len(ids))
    for at in range(0, len(ids), _AT_ONCE):
        some = ids[at : at + _AT_ONCE]
        for chunk in catalog.chunks(some).values():
            doubtful = doubts(chunk)
            hidden += any(doubt.hidden is not None for doubt in doubtful)
            speaking += any(doubt.aim is not None for doubt in doubtful)
            if doubtful:
                files.add(chunk.file_id)
                found += [chunk] if len(found) < MOST_SHOWN else []
        ordered = tuple(sorted(found, key=lambda chunk: (chunk.path, chunk.span.start)))
        yield Screening(at + len(some), len(ids), hidden, speaking, len(files), ordered)
