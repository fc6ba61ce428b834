"""A document → its chunks: one section at a time, packed from paragraphs, long ones cut at sentences.

Invariants, checked by tests:

* a chunk's text is ``document.text[span.start:span.end]``, without white space at either end;
* chunks are in order, and every character that is not white space lies in at least one of them;
* no chunk is longer than the limit, in the embedder's own tokens;
* only pieces of one split section overlap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rag.index.sentences import PARAGRAPH, SENTENCE, WORD, parts, stripped
from rag.types import Section, SourceDocument, Span

VERSION = "1"
"""Changes when the same document would be cut differently."""

CountTokens = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Piece:
    """A chunk before it has a place in a library: where it is in the document, and its length."""

    span: Span
    heading_path: tuple[str, ...]
    page: int | None
    page_end: int | None
    tokens: int
    page_breaks: tuple[int, ...] = ()


def chunk_document(document: SourceDocument, count_tokens: CountTokens, limit: int, overlap: int) -> list[Piece]:
    """Cuts a document into chunks.

    Args:
        document: What was read.
        count_tokens: Tokens of a text, without prefix and special tokens.
        limit: Longest chunk, in tokens.
        overlap: Tokens that neighbouring pieces of one split section may share; less than half of ``limit``.
    """
    overlap = min(overlap, limit // 2 - 1)
    pieces = []
    for section in _with_their_text(document.text, document.sections):
        for span in _split(document.text, section.span, count_tokens, limit, overlap):
            touched = [page for page in document.pages if page.span.start < span.end and span.start < page.span.end]
            first, last = (touched[0].number, touched[-1].number) if touched else (None, None)
            breaks = tuple(page.span.start for page in touched[1:])
            tokens = count_tokens(document.text[span.start : span.end])
            pieces.append(Piece(span, section.heading_path, first, last, tokens, breaks))
    return pieces


def _with_their_text(text: str, sections: tuple[Section, ...]) -> Iterator[Section]:
    """Joins a section that is only a heading to the section after it: a heading alone answers nothing."""
    start: int | None = None
    for at, section in enumerate(sections):
        if start is None:
            start = section.span.start
        body = text[start : section.span.end].strip()
        bare = section.heading_path and "\n" not in body
        if bare and at + 1 < len(sections) and len(sections[at + 1].heading_path) > len(section.heading_path):
            continue
        yield Section(section.heading_path, Span(start, section.span.end))
        start = None


def _split(text: str, span: Span, count_tokens: CountTokens, limit: int, overlap: int) -> Iterator[Span]:
    """Packs the section's paragraphs, sentences or words into spans of at most ``limit`` tokens."""
    whole = stripped(text, span)
    if whole is None:
        return
    if count_tokens(text[whole.start : whole.end]) <= limit:
        yield whole
        return
    units = list(_units(text, whole, count_tokens, limit))
    sizes = [count_tokens(text[unit.start : unit.end]) for unit in units]
    first = 0
    while first < len(units):
        last = first
        size = sizes[first]
        while last + 1 < len(units):
            # Token counts of parts do not add up exactly; the sum is a guide, the joined text decides.
            if size + sizes[last + 1] > limit * 1.2:
                break
            if count_tokens(text[units[first].start : units[last + 1].end]) > limit:
                break
            last += 1
            size += sizes[last]
        yield Span(units[first].start, units[last].end)
        if last + 1 == len(units):
            return
        # Begin the next piece a little earlier, so that a thought cut in two is whole in one of them.
        following = last + 1
        shared = 0
        while following - 1 > first and shared + sizes[following - 1] <= overlap:
            following -= 1
            shared += sizes[following]
        while following <= last and count_tokens(text[units[following].start : units[last + 1].end]) > limit:
            following += 1
        first = following


def _units(text: str, span: Span, count_tokens: CountTokens, limit: int) -> Iterator[Span]:
    """The largest parts that fit the limit: paragraphs, else sentences, else words, else runs of characters."""
    for separator in (PARAGRAPH, SENTENCE, WORD):
        smaller = list(parts(text, span, separator))
        if len(smaller) > 1:
            for part in smaller:
                if count_tokens(text[part.start : part.end]) <= limit:
                    yield part
                else:
                    yield from _units(text, part, count_tokens, limit)
            return
    middle = (span.start + span.end) // 2
    for half in (Span(span.start, middle), Span(middle, span.end)):
        if half.end - half.start <= 1 or count_tokens(text[half.start : half.end]) <= limit:
            yield half
        else:
            yield from _units(text, half, count_tokens, limit)
