"""Headings of a PDF: from its outline, else from the size and weight of its type."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rag.sources.pdf.order import Paragraph
from rag.sources.pdf.page import Block
from rag.sources.plain.text import Heading
from rag.types import Page

_NUMBERED = re.compile(r"(?:(?P<number>\d{1,2}(?:\.\d{1,3})*)\.?|(?:[A-Z]|[IVX]{1,5})[.)]|[A-Z](?:\.\d{1,3})+)\s+\S")
_NO_HEADING = re.compile(r".*[,;]|[\W\d_]*|.{161,}|.*\.\s\S.*\.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A short paragraph that stands out from the text.

    Attributes:
        start: Where it begins in the document's text.
        size: Of its type, in points.
        first: Whether it is on the first page.
    """

    start: int
    text: str
    size: float
    bold: bool
    first: bool


def outline_headings(entries: Sequence[Sequence[object]], text: str, pages: Sequence[Page]) -> Iterator[Heading]:
    """The outline's entries where their words stand on the page they lead to.

    One whose words are not there starts with its page, unless an entry before it has that page already.

    Args:
        entries: Level, title and page of each.
        text: The document's.
        pages: With their places in the text.
    """
    start, searched = -1, 0
    for level, title, page, *_ in entries:
        words = str(title).replace("\0", "").split()
        if not isinstance(page, int) or not isinstance(level, int) or not words or not 1 <= page <= len(pages):
            continue
        span = pages[page - 1].span
        pattern = r"^(?:\| )?(?:(?:\d+|[A-Z])(?:\.\d+)*\.?\s+)??" + r"\s+".join(map(re.escape, words))
        heading = re.compile(pattern, re.IGNORECASE | re.MULTILINE)
        match = heading.search(text, max(searched, span.start), span.end)
        if match:
            start, searched = match.span()
        elif span.start > start:
            start = span.start
        else:
            continue
        yield Heading(start, level, " ".join(words))


def body_size(pages: Sequence[Sequence[Block]]) -> float:
    """The size of type that most of the text is set in; 0 without text."""
    sizes: Counter[float] = Counter()
    for blocks in pages:
        for block in blocks:
            if isinstance(block, Paragraph):
                for row in block.rows:
                    sizes[row.size] += sum(len(piece.text) for piece in row.pieces)
    return sizes.most_common(1)[0][0] if sizes else 0.0


def stands_out(block: Block, body: float) -> bool:
    """Whether a block is set like a heading: larger than the text, or bold, and short."""
    if not isinstance(block, Paragraph) or block.aside or len(block.rows) > 3:
        return False
    larger = min(row.size for row in block.rows) >= 1.08 * body
    bold = all(row.bold for row in block.rows)
    if not block.heading and not larger and not (bold and block.rows[0].size >= 0.9 * body):
        return False
    text = " ".join(row.text for row in block.rows)
    if "  " in text or (len(block.rows) == 3 and block.rows[0].size < 1.3 * body):
        return False  # cells, an address
    return not _NO_HEADING.fullmatch(text) and not text.startswith("•")


def styled_headings(candidates: Sequence[Candidate], title: str, length: int) -> list[Heading]:
    """Headings from what stands out: larger type is further out, and numbers say how deep a heading is.

    Args:
        candidates: In the order of the text.
        title: The one that is printed on the first page, where it is no heading.
        length: Of the text, in characters: where a quarter of it stands out, only what is larger still is a heading.
    """
    found = [each for each in candidates if not (each.first and each.text in title)]
    if sum(len(each.text) for each in found) > length / 4:
        usual = Counter(each.size for each in found).most_common(1)[0][0]
        found = [each for each in found if each.size > usual + 0.5]
    styles = sorted({(each.size, each.bold) for each in found}, reverse=True)
    merged: list[tuple[float, bool]] = []
    for style in styles:
        if not merged or merged[-1][0] - style[0] > 0.4 or merged[-1][1] != style[1]:
            merged.append(style)
    levels = {style: _nearest(style, merged) + 1 for style in styles}
    headings: list[Heading] = []
    for each in found:
        level = levels[each.size, each.bold]
        match = _NUMBERED.match(each.text)
        if match and match["number"] and "." in match["number"]:
            # 3.1 is one deeper than 3, whatever the type.
            outer = _level_of_parent(headings, match["number"])
            level = outer + 1 if outer else max(level, match["number"].count(".") + 1)
        headings.append(Heading(each.start, level, each.text))
    return headings


def _nearest(style: tuple[float, bool], merged: Sequence[tuple[float, bool]]) -> int:
    same = [index for index, other in enumerate(merged) if other[1] == style[1]]
    return min(same, key=lambda index: abs(merged[index][0] - style[0]))


def _level_of_parent(headings: Sequence[Heading], number: str) -> int:
    parent = number.rpartition(".")[0]
    for heading in reversed(headings):
        match = _NUMBERED.match(heading.title)
        if match and match["number"] == parent:
            return heading.level
    return 0
