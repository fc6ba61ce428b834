"""A document → its chunks: one section at a time, packed from paragraphs, long ones cut at sentences and table rows.

Invariants, checked by tests:

* a chunk's text is ``document.text[span.start:span.end]``, without white space at either end;
* chunks are in order, and every character that is not white space lies in at least one of them;
* no chunk is longer than the limit, in the embedder's own tokens, and with what is put in front of it, it fits;
* only pieces of one split section overlap;
* where a document is cut again after an edit, no cut moves but those beside the edit.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from rag.index.clauses import carried
from rag.index.sentences import PARAGRAPH, SENTENCE, WORD, parts, stripped
from rag.types import Mark, Place, Section, SourceDocument, Span, Stance

VERSION = 2
"""Counted up when the same document would be cut or embedded differently."""

CountTokens = Callable[[str], int]

_DELIMITER_ROW = re.compile(r"^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$", re.MULTILINE)
_CAPTION = re.compile(
    r"[\W_]*(?:table|tab|tabelle|tableau|tabla|tabella|tabela|таблица|表|표)[\W_]*[\dIVXA-Z]", re.IGNORECASE
)
_LONGEST_CAPTION = 300  # characters
_SHORTEST_KNOWN = 48  # characters; shorter chunks are cheap to embed again
_LONGEST_TOKENS = 20
"""Characters; longer ones are rare."""

_SMALLEST = 16
"""Tokens that every document's chunks may have, however long its headings are."""


@dataclass(frozen=True, slots=True)
class ChunkProfile:
    """How documents are cut: sizes in the embedder's tokens.

    Attributes:
        limit: The longest chunk.
        overlap: What neighbouring pieces of one split section may share; less than half of the limit is taken of it.
    """

    limit: int
    overlap: int
    name: Literal["sections", "words"] = "sections"
    minimum: int = 0


@dataclass(frozen=True, slots=True)
class Piece:
    """A chunk before it has a place in a library; the attributes are those of :class:`rag.types.Chunk`."""

    span: Span
    heading_path: tuple[str, ...]
    page: int | None
    page_end: int | None
    tokens: int
    page_breaks: tuple[int, ...] = ()
    place: Place | None = None
    context: str = ""
    section: str = ""
    stance: Stance = ""
    contents: bool = False


def chunk_document(
    document: SourceDocument,
    count_tokens: CountTokens,
    profile: ChunkProfile,
    longest: int,
    known: Mapping[str, int] | None = None,
) -> list[Piece]:
    """Cuts a document into chunks.

    Args:
        document: What was read.
        count_tokens: Tokens of a text, without prefix and special tokens.
        profile: The sizes wanted.
        longest: Tokens that the embedder takes for a chunk with all that is put in front of it.
        known: Texts of the chunks that the document had before, with their tokens. Where one of them stands in the text
            as it did, it is cut as it was, so that what an edit did not touch need not be embedded again.
    """
    before = _Known(known or {})
    places = _Places(document)
    pieces = []
    for section in _with_their_text(document.text, document.sections):
        header = count_tokens(header_of(document.title, section.heading_path, "") + "\n")
        room = max(_SMALLEST, longest - header)
        limit = min(profile.limit, room)
        cutter = _Cutter(document.text, count_tokens, limit, min(profile.overlap, limit // 2 - 1), room, before)
        for span, context in cutter.pieces(section):
            first, last, breaks = places.pages(span)
            place, tokens = places.place(span), cutter.count(span)
            pieces.append(Piece(span, section.heading_path, first, last, tokens, breaks, place, context))
    return pieces


def numbered_path(heading_path: Sequence[str], section: str) -> tuple[str, ...]:
    """The headings above a chunk, with its section's number where none of them carries it."""
    if not section or any(carried(heading) == section for heading in heading_path):
        return tuple(heading_path)
    return (*heading_path[:-1], " ".join((section, *heading_path[-1:])))


def header_of(title: str, heading_path: Sequence[str], section: str) -> str:
    """The line put before a chunk when it is embedded: the document's title and the headings above the chunk."""
    # The first heading of a document is often its title; of a deep path, the innermost headings say most.
    above = heading_path[1:] if heading_path[:1] and heading_path[0].casefold() == title.casefold() else heading_path
    return " › ".join(part[:60] for part in (title, *numbered_path(above, section)[-3:]))


def embedded_text(title: str, heading_path: Sequence[str], section: str, context: str, text: str) -> str:
    """What is embedded for a chunk; what is shown and cited is the chunk's text alone."""
    return "\n".join(filter(None, (header_of(title, heading_path, section), context, text)))


def _with_their_text(text: str, sections: tuple[Section, ...]) -> Iterator[Section]:
    """Joins a section that is only a heading to the section after it: a heading alone answers nothing."""
    start: int | None = None
    for at, section in enumerate(sections):
        if start is None:
            start = section.span.start
        body = text[start : section.span.end].strip()
        bare = section.heading_path and not section.whole and "\n" not in body
        if bare and at + 1 < len(sections) and len(sections[at + 1].heading_path) > len(section.heading_path):
            continue
        yield Section(section.heading_path, Span(start, section.span.end), section.whole)
        start = None


class _Places:
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


class _Known:
    """Chunks that a document had before."""

    def __init__(self, tokens: Mapping[str, int]) -> None:
        self.tokens = tokens
        self._by_start: dict[str, list[str]] = defaultdict(list)
        for text in tokens:
            if len(text) >= _SHORTEST_KNOWN:
                self._by_start[text[:_SHORTEST_KNOWN]].append(text)

    def at(self, text: str, start: int) -> Iterator[str]:
        """Those that stand in a text at a place."""
        for known in self._by_start.get(text[start : start + _SHORTEST_KNOWN], ()):
            if text.startswith(known, start):
                yield known


@dataclass(frozen=True, slots=True)
class _Table:
    """A Markdown table: from its caption or header on, its first row after the delimiter, its end, and its head."""

    start: int
    body: int
    end: int
    caption: str
    head: str


class _Cutter:
    """Cuts one section into spans of at most ``limit`` tokens."""

    def __init__(
        self,
        text: str,
        count_tokens: CountTokens,
        limit: int,
        overlap: int,
        room: int,
        known: _Known,
    ) -> None:
        self._text = text
        self._count_tokens = count_tokens
        self._limit = limit
        self._overlap = overlap
        self._room = room
        self._known = known
        self._tables: list[_Table] = []
        self._contexts: list[tuple[str, int]] = []  # by table: what is repeated, and the tokens that rows may have
        self._units: list[Span] = []
        self._counted: dict[tuple[int, int], int] = {}

    def pieces(self, section: Section) -> Iterator[tuple[Span, str]]:
        """The spans, each with what has to be read above it."""
        whole = stripped(self._text, section.span)
        if whole is None:
            return
        limit = self._room if section.whole else self._limit
        # The longest texts are not counted: packing finds out, should one be of few tokens.
        if whole.end - whole.start <= _LONGEST_TOKENS * limit and self.count(whole) <= limit:
            yield whole, ""
            return
        self._tables = list(_tables(self._text, whole))
        self._contexts = [self._context_of(table) for table in self._tables]
        self._units = list(self._units_of(whole))
        for first, last in self._packed():
            start = self._units[first].start
            yield Span(start, self._units[last].end), self._context(start)[0]

    def count(self, span: Span) -> int:
        """Tokens of a part of the text."""
        place = (span.start, span.end)
        if place not in self._counted:
            self._counted[place] = self._count_tokens(self._text[span.start : span.end])
        return self._counted[place]

    def _size(self, unit: int) -> int:
        return self.count(self._units[unit])

    # ------------------------------------------------------------------------------------------------------- packing

    def _packed(self) -> Iterator[tuple[int, int]]:
        """First and last unit of each piece."""
        kept = self._kept()
        starts = sorted(kept)
        end = len(self._units)
        first = 0
        done = -1
        while True:
            last = kept.get(first, -1)
            following: int | None = None
            if last <= done:
                last = self._reach(first)
                following = self._next_kept(first, last, kept, starts[bisect_right(starts, max(first, done + 1)) :])
                if following is not None:
                    last = self._shared(following, min(last, kept[following] - 1))
            yield first, last
            if last + 1 == end:
                return
            if following is None:
                following = self._start_after(first, last)
                again = bisect_left(starts, following)
                while again < len(starts) and starts[again] <= last + 1 and kept[starts[again]] <= last:
                    again += 1
                if again < len(starts) and starts[again] <= last + 1:
                    following = starts[again]
                elif again < len(starts) and self._reach(last + 1) >= starts[again] - 1:
                    # With less in common, the next piece reaches to where the cuts are as they were.
                    while following <= last and self._reach(following) < starts[again] - 1:
                        following += 1
            first, done = following, last

    def _reach(self, first: int) -> int:
        """The last unit of the longest piece that begins with ``first``."""
        limit = self._context(self._units[first].start)[1]
        last = first
        size = self._size(first)
        while last + 1 < len(self._units) and size + self._size(last + 1) <= limit:
            last += 1
            size += self._size(last)
        # Token counts of parts do not add up exactly: the joined text decides.
        while last > first and self.count(Span(self._units[first].start, self._units[last].end)) > limit:
            last -= 1
        return last

    def _start_after(self, first: int, last: int) -> int:
        """Where the next piece begins: a little earlier, so that a thought cut in two is whole in one of them."""
        following = last + 1
        shared = 0
        while following - 1 > first and shared + self._size(following - 1) <= self._overlap:
            following -= 1
            shared += self._size(following)
        while following <= last and self._reach(following) <= last:
            following += 1
        return following

    def _shared(self, following: int, most: int) -> int:
        """The last unit of a piece before one that begins with ``following``, with what they may have in common."""
        last = following - 1
        shared = 0
        while last < most and shared + self._size(last + 1) <= self._overlap:
            last += 1
            shared += self._size(last)
        return last

    # ------------------------------------------------------------------------------------------- cuts that are kept

    def _kept(self) -> dict[int, int]:
        """Last unit of the known chunks that stand here as they were, by their first unit."""
        kept: dict[int, int] = {}
        unit_at_end = {unit.end: at for at, unit in enumerate(self._units)} if self._known.tokens else {}
        for at, unit in enumerate(self._units if unit_at_end else ()):
            for known in self._known.at(self._text, unit.start):
                end, tokens = unit.start + len(known), self._known.tokens[known]
                last = unit_at_end.get(end, -1)
                if last > kept.get(at, at - 1) and tokens <= self._context(unit.start)[1]:
                    kept[at] = last
                    self._counted[unit.start, end] = tokens
        return kept

    def _next_kept(self, first: int, last: int, kept: dict[int, int], starts: Sequence[int]) -> int | None:
        """Where a new piece, from ``first`` to at most ``last``, ends before a known chunk; None: there is none near.

        Args:
            first: Its first unit.
            last: The last unit that it has room for.
            kept: The known chunks.
            starts: The units after ``first`` that they begin with.
        """
        if not starts or starts[0] > last + 1:
            return None
        between = Span(self._units[first].start, self._units[starts[0] - 1].end)
        if self.count(between) < self._limit // 4:
            # A crumb: joined with the known chunk, where both are one piece.
            after = starts[1] if len(starts) > 1 else len(self._units)
            if last >= max(after - 1, kept[starts[0]]):
                return after if after < len(self._units) else None
        return starts[0]

    # --------------------------------------------------------------------------------------------------------- units

    def _units_of(self, span: Span) -> Iterator[Span]:
        """What pieces are packed from: paragraphs and tables that fit, else sentences and rows, else words."""
        at = span.start
        for table in self._tables:
            yield from self._paragraphs(Span(at, table.start))
            yield from self._rows(table)
            at = table.end
        yield from self._paragraphs(Span(at, span.end))

    def _paragraphs(self, span: Span) -> Iterator[Span]:
        for paragraph in parts(self._text, span, PARAGRAPH):
            yield from self._smaller(paragraph)

    def _rows(self, table: _Table) -> Iterator[Span]:
        """A table: whole if it fits, else its head with the first row, and every other row."""
        whole = stripped(self._text, Span(table.start, table.end))
        if whole is not None and self.count(whole) <= self._limit:
            yield whole
            return
        start = table.start
        for line in re.finditer(r"[^\n]+", self._text[table.body : table.end]):
            row = stripped(self._text, Span(start, table.body + line.end()))
            if row is None:
                continue
            if start == table.start and self.count(row) > self._limit:
                if head := stripped(self._text, Span(table.start, table.body)):
                    yield from self._smaller(head)
                row = stripped(self._text, Span(table.body, table.body + line.end()))
            if row is not None:
                yield from self._smaller(row)
            start = table.body + line.end()
        if rest := stripped(self._text, Span(start, table.end)):
            yield from self._smaller(rest)

    def _smaller(self, span: Span) -> Iterator[Span]:
        """The span if it fits, else the largest parts that do: sentences, else words, else runs of characters."""
        limit = self._context(span.start)[1]
        # No token is shorter than a byte, and counting takes time.
        if len(self._text[span.start : span.end].encode(errors="replace")) < limit or self.count(span) <= limit:
            yield span
            return
        for separator in (PARAGRAPH, SENTENCE, WORD):
            smaller = list(parts(self._text, span, separator))
            if len(smaller) > 1:
                for part in smaller:
                    yield from self._smaller(part)
                return
        if span.end - span.start <= 1:
            yield span
            return
        middle = (span.start + span.end) // 2
        yield from self._smaller(Span(span.start, middle))
        yield from self._smaller(Span(middle, span.end))

    # ------------------------------------------------------------------------------------------------ heads of tables

    def _context(self, start: int) -> tuple[str, int]:
        """What has to be read above a piece that begins at ``start``, and how many tokens the piece may have."""
        at = bisect_right(self._tables, start, key=lambda table: table.body) - 1
        if at >= 0 and start < self._tables[at].end:
            return self._contexts[at]
        return "", self._limit

    def _context_of(self, table: _Table) -> tuple[str, int]:
        for context in filter(None, ("\n".join(filter(None, (table.caption, table.head))), table.head)):
            tokens = self._count_tokens(context + "\n")
            if tokens <= self._room // 2:
                return context, min(self._limit, self._room - tokens)
        return "", self._limit


def _tables(text: str, span: Span) -> Iterator[_Table]:
    """The Markdown tables in a span, in order."""
    end = span.start
    for delimiter in _DELIMITER_ROW.finditer(text, span.start, span.end):
        if delimiter.start() < end or "|" not in delimiter.group() or delimiter.start() == span.start:
            continue
        header = text.rfind("\n", span.start, delimiter.start() - 1) + 1 or span.start
        if header < end or "|" not in text[header : delimiter.start()]:
            continue
        body = min(delimiter.end() + 1, span.end)
        last = body
        for line in re.compile(r"[^\n]*\n?").finditer(text, body, span.end):
            if "|" not in line.group():
                break
            last = line.end()
        caption = _caption(text, max(span.start, end), header)
        captioned = text[caption.start : caption.end].strip() if caption else ""
        yield _Table(
            caption.start if caption else header, body, last, captioned, text[header : delimiter.end()].strip()
        )
        end = last


def _caption(text: str, start: int, header: int) -> Span | None:
    """The line above a table's header, if it is the table's caption: right above it, or named as one."""
    above = text[start:header]
    line = above.rstrip().rsplit("\n", 1)[-1]
    if not line.strip() or len(line) > _LONGEST_CAPTION:
        return None
    begins = start + above.rstrip().rfind("\n") + 1
    blank_lines = above[len(above.rstrip()) :].count("\n") - 1
    if line.lstrip().startswith("#") or blank_lines > 1 or (blank_lines == 1 and not _CAPTION.match(line)):
        return None
    return Span(begins, begins + len(line))
