"""Where the parts of a document are: on which pages, in which lines, rows, slides or cells."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right

from rag.index.chunking.sentences import stripped
from rag.types import Mark, Place, SourceDocument, Span


class Places:
    """Where spans of a document are, in pages and in its format's own words."""

    def __init__(self, document: SourceDocument) -> None:
        self._text = document.text
        self._pages = [page for page in document.pages if page.span.start < page.span.end]
        self._page_starts = [page.span.start for page in self._pages]
        self._marks = document.marks
        self._mark_starts = [mark.start for mark in document.marks]
        counted = any(mark.unit in ("line", "row") for mark in document.marks)
        self._line_breaks = [match.start() for match in re.finditer("\n", document.text)] if counted else []

    def pages(self, span: Span) -> tuple[int | None, int | None, tuple[int, ...]]:
        """First and last page of a span, and where each page after the first begins."""
        at = max(0, bisect_right(self._page_starts, span.start) - 1)
        touched = []
        while at < len(self._pages) and self._page_starts[at] < span.end:
            if self._pages[at].span.end > span.start:
                touched.append(self._pages[at])
            at += 1
        if not touched:
            return None, None, ()
        return touched[0].number, touched[-1].number, tuple(page.span.start for page in touched[1:])

    def place(self, span: Span) -> Place | None:
        """The slides, rows, cells or lines that a span touches; of several units, those of the first."""
        place: Place | None = None
        at = max(0, bisect_right(self._mark_starts, span.start) - 1)
        while at < len(self._marks) and self._mark_starts[at] < span.end:
            mark = self._marks[at]
            at += 1
            end = self._mark_starts[at] if at < len(self._marks) else span.end
            inner = stripped(self._text, Span(max(mark.start, span.start), max(mark.start, min(end, span.end))))
            if mark.number == 0 or inner is None:
                continue
            if place is None:
                place = Place(mark.unit, self._number(mark, inner.start), self._number(mark, inner.end - 1))
            elif place.unit == mark.unit:
                place = Place(place.unit, place.first, max(place.last, self._number(mark, inner.end - 1)))
        return place

    def _number(self, mark: Mark, offset: int) -> int:
        if mark.unit not in ("line", "row"):
            return mark.number
        return mark.number + bisect_left(self._line_breaks, offset) - bisect_left(self._line_breaks, mark.start)
