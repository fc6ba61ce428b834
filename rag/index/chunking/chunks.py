"""A document → its chunks: sections, long ones cut between paragraphs, sentences and table rows; or windows of words.

Invariants, checked by tests:

* a chunk's text is ``document.text[span.start:span.end]``, without white space at either end;
* chunks are in order, and every character that is not white space lies in at least one of them;
* no chunk is longer than the limit, in the embedder's own tokens, and with what is put in front of it, it fits;
* a numbered section begins a chunk;
* only pieces of one split section overlap;
* where a document is cut again after an edit, no cut moves but those beside the edit.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from rag.index.chunking.blocks import Block, blocks_of, joined
from rag.index.chunking.clauses import carried
from rag.index.chunking.cutting import Cutter, Known
from rag.index.chunking.measure import CountTokens, Measure
from rag.index.chunking.places import Places
from rag.index.chunking.units import line_units, text_units, word_units
from rag.types import Chunk, Place, SourceDocument, Span, Stance

VERSION = 4
"""Counted up when the same document would be cut or embedded differently."""

_LONGEST_PART = 60  # characters of a title or heading in the header

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
    measure = Measure(document.text, count_tokens, known or {})
    cut = _Windows if profile.name == "words" else _Sections
    places = Places(document)
    pieces = []
    for span, block, context in cut(document, measure, profile, longest, Known(known or ())).pieces():
        first, last, breaks = places.pages(span)
        pieces.append(
            Piece(
                span=span,
                heading_path=block.heading_path,
                page=first,
                page_end=last,
                tokens=measure.tokens(span),
                page_breaks=breaks,
                place=places.place(span),
                context=context,
                section=block.clause.number,
                stance=block.clause.stance,
                contents=block.contents,
            )
        )
    return pieces


def numbered_path(heading_path: Sequence[str], section: str) -> tuple[str, ...]:
    """The headings above a chunk, with its section's number where none of them carries it."""
    if not section or any(carried(heading) == section for heading in heading_path):
        return tuple(heading_path)
    return (*heading_path[:-1], " ".join((section, *heading_path[-1:])))


def header_of(title: str, heading_path: Sequence[str], section: str) -> str:
    """The line put before a chunk when it is embedded: the document's title and the headings above the chunk."""
    path = numbered_path(heading_path, section)
    if path and title.casefold() in path[0].casefold():  # the first heading of a document is often its title
        title, path = path[0], path[1:]
    # Of a deep path, the innermost headings say most.
    return " › ".join(map(_shortened, (title, *path[-3:])))


def _shortened(words: str) -> str:
    """A title as long as it can be, with its end, where names of laws and standards have what they are called by."""
    return words if len(words) <= _LONGEST_PART else f"{words[: _LONGEST_PART - 21]}…{words[-20:]}"


def embedded_text(title: str, heading_path: Sequence[str], section: str, context: str, text: str) -> str:
    """What is embedded for a chunk; what is shown and cited is the chunk's text alone."""
    return "\n".join(filter(None, (header_of(title, heading_path, section), context, text)))


def embedded_text_of(chunk: Chunk) -> str:
    """What was embedded for a chunk of a library, and what else a model reads of it to judge it."""
    return embedded_text(chunk.title, chunk.heading_path, chunk.section, chunk.context, chunk.text)


class _Cut:
    """A document that is being cut."""

    def __init__(
        self, document: SourceDocument, measure: Measure, profile: ChunkProfile, longest: int, known: Known
    ) -> None:
        self._document = document
        self._measure = measure
        self._profile = profile
        self._longest = longest
        self._known = known


class _Sections(_Cut):
    """A document cut by its sections."""

    def pieces(self) -> Iterator[tuple[Span, Block, str]]:
        """The chunks, each with its block and what has to be read above it."""
        minimum = min(self._profile.minimum, self._profile.limit // 2)
        blocks = blocks_of(self._document)
        if minimum > 0:
            blocks = list(joined(blocks, self._measure, minimum, self._limit, self._known))
        for block in blocks:
            room = self._room(block)
            if self._measure.fits(block.span, room if block.whole else self._limit(block)):
                yield block.span, block, ""
                continue
            limit = self._limit(block)
            if block.contents:
                units, overlap = line_units(self._measure, block.span, limit), 0
            else:
                units = text_units(self._measure, block.span, limit, room)
                overlap = min(self._profile.overlap, limit // 2 - 1)
            for span in Cutter(self._measure, units, overlap, minimum, self._known).pieces():
                yield span, block, units.context(span.start)[0]

    def _room(self, block: Block) -> int:
        """Tokens that the embedder takes beside the block's header."""
        header = header_of(self._document.title, block.heading_path, block.clause.number)
        return max(_SMALLEST, self._longest - self._measure.count(header + "\n"))

    def _limit(self, block: Block) -> int:
        return min(self._profile.limit, self._room(block))


class _Windows(_Cut):
    """A document cut into windows of words, wherever its sections begin."""

    def pieces(self) -> Iterator[tuple[Span, Block, str]]:
        """The chunks, each with the block that most of it lies in."""
        blocks = blocks_of(self._document)
        headers = {header_of(self._document.title, block.heading_path, block.clause.number) for block in blocks}
        header = max((self._measure.count(header + "\n") for header in headers), default=0)
        limit = min(self._profile.limit, max(_SMALLEST, self._longest - header))
        minimum = min(self._profile.minimum, limit // 2)
        units = word_units(self._measure, Span(0, len(self._document.text)), limit)
        cutter = Cutter(self._measure, units, min(self._profile.overlap, limit // 2 - 1), minimum, self._known)
        starts = [block.span.start for block in blocks]
        for span in cutter.pieces():
            at = max(0, bisect_right(starts, span.start) - 1)
            touched = blocks[at : max(at + 1, bisect_right(starts, span.end - 1))]
            yield span, max(touched, key=lambda block: _common(block.span, span)), ""


def _common(one: Span, other: Span) -> int:
    return min(one.end, other.end) - max(one.start, other.start)
