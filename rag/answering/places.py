"""Where a passage is, in words, by what its format counts in: pages, slides, rows, cells, lines."""

from __future__ import annotations

from rag.types import Chunk, Unit

_PLURALS: dict[Unit, str] = {"slide": "slides", "row": "rows", "cell": "cells", "line": "lines"}


def place(chunk: Chunk, page: int | None = None) -> str:
    """A passage's library where several were searched, file, page or other place, and headings.

    Args:
        chunk: The passage.
        page: The very page of the cited words, where that is known.
    """
    file = f"{chunk.library}: {chunk.path}" if chunk.library else chunk.path
    return ", ".join(filter(None, (file, numbered_place(chunk, page), " › ".join(chunk.heading_path))))


def numbered_place(chunk: Chunk, page: int | None = None) -> str:
    """``page 3``, ``pages 3–4``, ``slide 2``, ``rows 2–40``, ``lines 7–12``; empty where the format counts nothing."""
    if page is not None:
        return f"page {page}"
    if chunk.page is not None:
        return _range("page", "pages", chunk.page, chunk.page_end or chunk.page)
    if chunk.place is not None:
        return _range(chunk.place.unit, _PLURALS[chunk.place.unit], chunk.place.first, chunk.place.last)
    return ""


def _range(one: str, many: str, first: int, last: int) -> str:
    return f"{one} {first}" if first == last else f"{many} {first}–{last}"
