"""Running headers, footers and page numbers: found by comparing the edges of all pages of a document.

A row at the edge of a page goes when it counts the pages, or stands at the same height with the same words on three
pages or more; of two pages, in the margin only. Rows in large type, in a table or right above the cells of one stay,
and so does all that is further in than a row that stays: a heading that comes on every page is then read every time,
which is the lesser evil.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from rag.sources.pdf.order import Row, rows
from rag.sources.pdf.tables import inside
from rag.sources.pdf.text import PageText, Piece

_DEEPEST = 5  # rows from the edge
_MARGIN = 0.08  # of the page's height
_ROMAN = re.compile(r"m{0,3}(?:cm|cd|d?c{0,3})(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})")
_ROMAN_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}
_PAGE_OF = re.compile(r"\D{0,12}(?P<page>\d+)\s*(?:of|/|von|de|di|van|из|／|,? of)\s*(?P<pages>\d+)\W*", re.IGNORECASE)
_PAGE = re.compile(
    r"(?:page|seite|p\.|pagina|página|стр\.|第)?[\s\-–—|]*(?P<page>\d+)[\s\-–—|]*(?:頁|页|ページ)?", re.IGNORECASE
)


@dataclass(slots=True)
class _Edge:
    """A row at the edge of a page."""

    page: int
    row: Row
    depth: int  # rows between it and the edge
    top: bool
    key: str
    numbers: tuple[int, ...]
    gap: float  # to the next row further in, in heights of this one; endless where there is none
    in_margin: bool
    kept: bool  # looks like a part of the page's own text


def furniture(pages: Sequence[PageText]) -> list[list[Row]]:
    """Finds the rows of each page that are no text of its own."""
    edges = [edge for number, page in enumerate(pages, start=1) for edge in _edges(page, number)]
    groups: dict[tuple[bool, str], list[_Edge]] = {}
    for edge in edges:
        if not edge.kept:
            groups.setdefault((edge.top, edge.key), []).append(edge)
    chosen: set[int] = set()
    for group in groups.values():
        for same in _at_one_height(group):
            if _repeats(same, len(pages)):
                chosen |= {id(edge) for edge in same}
    result: list[list[Row]] = [[] for _ in pages]
    stopped: set[tuple[int, bool]] = set()
    for edge in sorted(edges, key=lambda each: each.depth):
        place = (edge.page, edge.top)
        if id(edge) in chosen and place not in stopped:
            result[edge.page - 1].append(edge.row)
        else:
            stopped.add(place)
    return result


def _edges(page: PageText, number: int) -> list[_Edge]:
    found = rows(page.pieces)
    if not found:
        return []
    sizes: Counter[float] = Counter()
    for piece in page.pieces:
        sizes[piece.size] += len(piece.text)
    body = sizes.most_common(1)[0][0]
    height = page.size[1]
    result: list[_Edge] = []
    for top in (True, False):
        ordered = found if top else found[::-1]
        for depth, (row, further) in enumerate(pairwise([*ordered[: _DEEPEST + 1], None])):
            if row is None or depth >= _DEEPEST:
                break
            middle = (row.box[1] + row.box[3]) / 2 - page.origin[1]
            if not (middle < 0.2 * height if top else middle > 0.8 * height):
                break
            gap = float("inf")
            if further is not None:
                gap = further.box[1] - row.box[3] if top else row.box[1] - further.box[3]
            kept = (
                row.size > 1.3 * body
                or any(inside(piece.box, grid.box) for grid in page.grids for piece in row.pieces)
                or (further is not None and gap < 1.5 * row.size and _shared_edges(row.pieces, further.pieces) >= 2)
            )
            in_margin = min(middle, height - middle) < _MARGIN * height
            key, numbers = _abstract(row.text)
            result.append(_Edge(number, row, depth, top, key, numbers, gap / max(row.size, 0.1), in_margin, kept))
    return result


def _shared_edges(pieces: Sequence[Piece], others: Sequence[Piece]) -> int:
    lefts = [round(piece.box[0]) for piece in others]
    return sum(1 for piece in pieces if any(abs(round(piece.box[0]) - left) <= 1 for left in lefts))


def _abstract(text: str) -> tuple[str, tuple[int, ...]]:
    """A row's text without its numbers, and the numbers."""
    plain = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    numbers: list[int] = []
    words: list[str] = []
    for word in re.split(r"(\d+|\b[ivxlcdm]+\b)", plain):
        if word.isdecimal():
            numbers.append(int(word[:9]))
            words.append("#")
        elif word and _ROMAN.fullmatch(word):
            numbers.append(_roman(word))
            words.append("#")
        else:
            words.append(word)
    return "".join(words), tuple(numbers)


def _roman(word: str) -> int:
    values = [_ROMAN_VALUES[letter] for letter in word]
    return sum(-value if value < below else value for value, below in pairwise([*values, 0]))


def _at_one_height(group: Sequence[_Edge]) -> list[list[_Edge]]:
    """Divides rows of the same words by their distance from the top of the page."""
    found: list[list[_Edge]] = []
    for edge in group:
        for same in found:
            if abs(same[0].row.box[1] - edge.row.box[1]) <= 4 and abs(same[0].row.size - edge.row.size) < 0.6:
                same.append(edge)
                break
        else:
            found.append([edge])
    return found


def _repeats(same: Sequence[_Edge], pages: int) -> bool:
    if len(same) > 1 and same[0].key.strip(" -–—|.") == "#":
        return median(edge.gap for edge in same) > 1
    if median(edge.gap for edge in same) < 0.35:
        return False
    if _counts(same, pages):
        return True
    numbers = sorted({edge.page for edge in same})
    if len(numbers) < 3:
        return len(numbers) == pages == 2 and all(edge.in_margin and 1 < edge.gap < float("inf") for edge in same)
    steps = [after - before for before, after in pairwise(numbers)]
    # On every page, on every left or right page, with the odd page missing.
    return sum(1 for step in steps if step <= 2) >= 0.7 * len(steps)


def _counts(same: Sequence[_Edge], pages: int) -> bool:
    """Whether a number in the rows goes up with the pages."""
    if len(same) == 1:
        edge = same[0]
        match = _PAGE_OF.fullmatch(edge.row.text)
        if match:
            return int(match["page"]) == edge.page and int(match["pages"]) == pages
        match = _PAGE.fullmatch(edge.row.text)
        return match is not None and int(match["page"]) == edge.page and edge.depth == 0 and edge.gap > 1.5
    for position in range(len(same[0].numbers)):
        offsets = Counter(edge.numbers[position] - edge.page for edge in same if position < len(edge.numbers))
        if offsets.most_common(1)[0][1] >= max(2, 0.6 * len(same)):
            return True
    return False
