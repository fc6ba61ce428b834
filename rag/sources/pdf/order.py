"""The order in which a page is read: columns one after another, rows from the top, paragraphs apart.

The order in which a page was written is often right, and often not: spreadsheets and forms write their headings last.
Sorting by position mixes columns. So columns are found first, and within one column rows are read as they stand.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from rag.sources.pdf.grids import Box, around
from rag.sources.pdf.text import Piece

_ENOUGH = 12  # characters of a line that count as prose, where a wide character counts twice
_MOST_GUTTERS = 24  # that are tried
_MOST_ATOMS = 4000  # on a page; more is a map or a list of numbers
_RIGHT_TO_LEFT = re.compile(r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")
_SENTENCE_END = re.compile(r"[.!?:;…。！？]['\"”’»)\]]*\s*$")


@dataclass(slots=True)
class Table:
    """Rows of cells; a cell is the pieces in it, in order."""

    box: Box
    rows: list[list[list[Piece]]]


Atom = Piece | Table
"""What is put in order as a whole."""


@dataclass(slots=True)
class Row:
    """What stands side by side, in reading direction."""

    pieces: list[Piece]

    @property
    def box(self) -> Box:
        """Around all of it."""
        return self.pieces[0].box if len(self.pieces) == 1 else around(piece.box for piece in self.pieces)

    @property
    def text(self) -> str:
        """With a wide gap as two spaces, and as none where there is none."""
        parts = [self.pieces[0].text.strip()]
        for before, piece in pairwise(self.pieces):
            gap = max(piece.box[0] - before.box[2], before.box[0] - piece.box[2])
            parts.append("" if gap < 0.12 * piece.size else " " if gap < 0.6 * piece.size else "  ")
            parts.append(piece.text.strip())
        return "".join(parts)

    @property
    def size(self) -> float:
        """The font's size, of the piece with most text."""
        return max(self.pieces, key=lambda piece: len(piece.text)).size

    @property
    def bold(self) -> bool:
        """Whether all of it is bold."""
        return all(piece.bold for piece in self.pieces)


@dataclass(slots=True)
class Paragraph:
    """Rows that belong together.

    Attributes:
        aside: It is no part of the running text: it runs in another direction, or labels a picture.
        heading: Layout analysis takes it for a heading.
    """

    rows: list[Row]
    aside: bool = False
    heading: bool = False


def regions(atoms: Sequence[Atom]) -> list[list[Atom]]:
    """Parts of a page in reading order; each is read from top to bottom, over its whole width."""
    found = _columns(atoms)
    if found is None:
        return [list(atoms)] if atoms else []
    return [region for part in found for region in regions(part)]


def rows(pieces: Sequence[Piece]) -> list[Row]:
    """Pieces that stand side by side, from top to bottom."""
    if len(pieces) == 1:
        return [Row(list(pieces))]
    found: list[tuple[Piece, Row]] = []  # with the piece that the row is measured by
    for piece in sorted(pieces, key=lambda each: (each.box[1] + each.box[3], each.box[0])):
        for first, row in reversed(found[-4:]):
            shared = min(first.box[3], piece.box[3]) - max(first.box[1], piece.box[1])
            if shared > 0.5 * min(first.height, piece.height):
                row.pieces.append(piece)
                break
        else:
            found.append((piece, Row([piece])))
    for _, row in found:
        backwards = is_right_to_left("".join(piece.text for piece in row.pieces))
        row.pieces.sort(key=lambda each: -each.box[2] if backwards else each.box[0])
    return [row for _, row in found]


def is_right_to_left(text: str) -> bool:
    """Whether most of its letters are Hebrew, Arabic or of the like."""
    if text.isascii():
        return False
    return 2 * len(_RIGHT_TO_LEFT.findall(text)) > sum(map(str.isalpha, text))


def paragraphs(found: Sequence[Row]) -> list[Paragraph]:
    """Joins the rows of one region where nothing parts them."""
    if not found:
        return []
    gaps = sorted(below.box[1] - above.box[3] for above, below in pairwise(found))
    usual = gaps[len(gaps) // 3] if len(gaps) >= 4 else 0.0
    torn = sum(1 for above, below in pairwise(found) if above.pieces[-1].block != below.pieces[0].block)
    # Where every line is a block of its own, blocks say nothing.
    regular = len(gaps) >= 4 and torn > 0.8 * len(gaps)
    right = max(row.box[2] for row in found)
    result = [Paragraph([found[0]])]
    for above, below in pairwise(found):
        if _parted(above, below, usual, regular, right):
            result.append(Paragraph([below]))
        else:
            result[-1].rows.append(below)
    return result


def goes_on(before: Paragraph, after: Paragraph) -> bool:
    """Whether a paragraph continues one that ended with a column."""
    last, first = before.rows[-1], after.rows[0]
    same = abs(last.size - first.size) < 0.5 and last.bold == first.bold
    return same and not _SENTENCE_END.search(last.text) and first.text[:1].islower()


def _parted(above: Row, below: Row, usual: float, regular: bool, right: float) -> bool:
    height = min(above.box[3] - above.box[1], below.box[3] - below.box[1])
    gap = below.box[1] - above.box[3]
    if abs(above.size - below.size) > 0.12 * max(above.size, below.size):
        return True
    if above.pieces[-1].block == below.pieces[0].block or (regular and usual < 1.3 * height):
        return gap > usual + 0.6 * height
    if gap > usual + 0.3 * height or above.bold != below.bold:
        return True
    indented = below.box[0] - above.box[0] > 0.8 * below.size
    ends = above.box[2] < right - 2 * above.size and bool(_SENTENCE_END.search(above.text))
    return indented or ends or gap < -2 * height


# ------------------------------------------------------------------------------------------------------------- columns


def _columns(atoms: Sequence[Atom]) -> tuple[list[Atom], list[Atom], list[Atom], list[Atom]] | None:
    """Divides a part of a page at its best gutter: above it, left and right of it, below it."""
    prose = [atom for atom in atoms if isinstance(atom, Piece) and _width(atom.text) >= _ENOUGH]
    if len(prose) < 6 or len(atoms) > _MOST_ATOMS:
        return None
    ordered = sorted(atoms, key=_middle)
    best: tuple[float, int, int] | None = None
    for gutter in _gutters(prose):
        for start, end in _free(ordered, gutter):
            if best is not None and end - start <= best[2] - best[1]:
                continue
            left, right = _sides(ordered[start:end], gutter)
            if _is_gutter(left, right):
                best = (gutter, start, end)
    if best is None:
        return None
    gutter, start, end = best
    skipped, kept = _side_by_side(ordered[start:end], gutter)
    left, right = _sides(ordered[start + skipped : start + kept], gutter)
    if is_right_to_left("".join(piece.text for piece in prose)):
        left, right = right, left
    return ordered[: start + skipped], left, right, ordered[start + kept :]


def _sides(atoms: Sequence[Atom], gutter: float) -> tuple[list[Atom], list[Atom]]:
    left = [atom for atom in atoms if atom.box[2] <= gutter]
    return left, [atom for atom in atoms if atom.box[2] > gutter]


def _gutters(prose: Sequence[Piece]) -> list[float]:
    """Where columns may meet: beside edges that several lines share."""
    lefts = Counter(round(piece.box[0] / 2) for piece in prose)
    rights = Counter(round(piece.box[2] / 2) for piece in prose)
    found = {edge * 2 - 1.5: count for edge, count in lefts.items() if count + lefts[edge + 1] >= 3}
    found |= {edge * 2 + 1.5: count for edge, count in rights.items() if count + rights[edge - 1] >= 3}
    ends = min(piece.box[0] for piece in prose), max(piece.box[2] for piece in prose)
    inner = [edge for edge in found if ends[0] + 20 < edge < ends[1] - 20]
    return sorted(inner, key=lambda edge: -found[edge])[:_MOST_GUTTERS]


def _free(ordered: Sequence[Atom], gutter: float) -> list[tuple[int, int]]:
    """Stretches of the page, from top to bottom, where nothing crosses a gutter: first and last but one, by number."""
    crossing = [number for number, atom in enumerate(ordered) if atom.box[0] < gutter < atom.box[2]]
    edges = pairwise([-1, *crossing, len(ordered)])
    return [(before + 1, after) for before, after in edges if after - before > 6]


def _is_gutter(left: Sequence[Atom], right: Sequence[Atom]) -> bool:
    """Whether two parts of a page are columns of prose, and not cells of a table."""
    sides = [[atom for atom in side if isinstance(atom, Piece)] for side in (left, right)]
    lines = [[piece for piece in side if _width(piece.text) >= _ENOUGH] for side in sides]
    if min(map(len, lines)) < 3:
        return False
    if any(len(long) < 0.6 * len(side) for side, long in zip(sides, lines, strict=True)):
        return False
    # Cells are written row by row as a rule. Prose fills its lines; cells are short, or of any length.
    one_after_another = max(piece.block for piece in sides[0]) < min(piece.block for piece in sides[1])
    if not one_after_another and not all(map(_is_filled, sides)):
        return False
    size = median(piece.size for side in lines for piece in side)
    if min(atom.box[0] for atom in right) - max(atom.box[2] for atom in left) < 0.6 * size:
        return False
    extents = [(min(piece.box[1] for piece in side), max(piece.box[3] for piece in side)) for side in lines]
    shared = min(extents[0][1], extents[1][1]) - max(extents[0][0], extents[1][0])
    if shared < 0.4 * min(bottom - top for top, bottom in extents):
        return False
    return one_after_another or not _in_step(*lines)


def _is_filled(side: Sequence[Piece]) -> bool:
    """Whether most lines are nearly as long as the long ones."""
    widths = sorted(piece.box[2] - piece.box[0] for piece in side)
    wide = 0.6 * widths[int(0.9 * (len(widths) - 1))]
    return sum(1 for width in widths if width >= wide) >= 0.5 * len(widths)


def _in_step(left: Sequence[Piece], right: Sequence[Piece]) -> bool:
    """Whether two columns have their gaps at the same heights, as the cells of a table without rules have."""
    gaps = [_gaps(side) for side in (left, right)]
    if min(map(len, gaps)) < 2:
        return False
    matched = sum(1 for gap in gaps[0] if any(gap[0] < other[1] and other[0] < gap[1] for other in gaps[1]))
    lines = min(len(left), len(right))
    return matched >= 0.7 * max(map(len, gaps)) and lines < 6 * (matched + 1)


def _gaps(pieces: Sequence[Piece]) -> list[tuple[float, float]]:
    """Where a column is empty for more than half a line."""
    found: list[tuple[float, float]] = []
    bottom = float("inf")
    for piece in sorted(pieces, key=lambda each: each.box[1]):
        if piece.box[1] - bottom > 0.45 * piece.height:
            found.append((bottom, piece.box[1]))
        bottom = piece.box[3] if bottom == float("inf") else max(bottom, piece.box[3])
    return found


def _side_by_side(ordered: Sequence[Atom], gutter: float) -> tuple[int, int]:
    """From which to which atom columns stand side by side, without what is far off and on one side only."""
    far = 3 * median(atom.box[3] - atom.box[1] for atom in ordered)
    cuts: list[int] = []
    low = ordered[0].box[3]
    for number, atom in enumerate(ordered):
        if atom.box[1] - low > far:
            cuts.append(number)
        low = max(low, atom.box[3])
    start, end = 0, len(ordered)
    if cuts and not all(_sides(ordered[: cuts[0]], gutter)):
        start = cuts[0]
    if cuts and not all(_sides(ordered[cuts[-1] :], gutter)) and cuts[-1] > start:
        end = cuts[-1]
    return start, end


def _middle(atom: Atom) -> float:
    return (atom.box[1] + atom.box[3]) / 2


def _width(text: str) -> int:
    text = text.strip()
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)
