"""Tables on a PDF page: drawn as a grid, or to be seen by cells that stand below each other.

Prose in columns, numbered lists, code and charts look like tables too; they are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from rag.sources.pdf.grids import Box, Grid, around
from rag.sources.pdf.order import Row, Table, rows
from rag.sources.pdf.text import Piece

_MOST_TRIES = 8
_BULLET = re.compile(r"[^\w\s]{1,2}|[([]?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,5})[.):\]]{1,2}|[\d.]{1,8}|[•◦▪‣]")
_LEADER = re.compile(r"(?:[.·…_] ?){5}")  # of a table of contents
_PAGE_NUMBER = re.compile(r"\d{1,4}|[ivxlc]+", re.IGNORECASE)
_CAPTION = re.compile(
    r"(?:table|tab\.|tabelle|tableau|tabla|tabella|tabela|таблица|表|표)\s*[\dA-Z一二三四五六七八九十]", re.I
)


def fill(grid: Grid, pieces: Sequence[Piece], certain: bool = False) -> Table | None:
    """Puts pieces into the cells of a grid; None where it holds no table.

    Rows on top with a single cell are titles, and are left to the text above the table.

    Args:
        grid: The table's lines.
        pieces: What stands inside.
        certain: Whether it is known to be a table.
    """
    cells: list[list[list[Piece]]] = [[[] for _ in grid.columns[1:]] for _ in grid.rows[1:]]
    for piece in pieces:
        column = _slot(grid.columns, min((piece.box[0] + piece.box[2]) / 2, piece.box[0] + 4 * piece.size))
        row = _slot(grid.rows, (piece.box[1] + piece.box[3]) / 2)
        cells[row][column].append(piece)
    used = [any(cells[row][column] for row in range(len(cells))) for column in range(len(cells[0]))]
    kept = [[cell for cell, keep in zip(row, used, strict=True) if keep] for row in cells if any(row)]
    while len(kept) > 2 and sum(1 for cell in kept[0] if cell) == 1:
        del kept[0]
    if len(kept) < 2 or sum(used) < 2:
        return None
    filled = sum(1 for row in kept for cell in row if cell)
    if not certain and (filled < 0.3 * len(kept) * sum(used) or any(_is_frame(row, grid) for row in kept)):
        return None
    box = around(piece.box for row in kept for cell in row for piece in cell)
    return Table(box, [[_in_order(cell) for cell in row] for row in kept])


def _is_frame(row: Sequence[Sequence[Piece]], grid: Grid) -> bool:
    """Whether a row of a grid only frames what has rows of its own: short lines side by side, more than one in a cell.

    Lines that were broken to fit a cell fill it.
    """
    lines = [rows(cell) for cell in row if cell]
    if max(map(len, lines)) > 25:
        return True
    if sum(1 for cell in lines if len(cell) >= 3) < 2:
        return False
    wide = (grid.columns[-1] - grid.columns[0]) / (len(grid.columns) - 1)
    return all(median(line.box[2] - line.box[0] for line in cell) < 0.6 * wide for cell in lines)


def inside(inner: Box, outer: Box) -> bool:
    """Whether the middle of a box is in another."""
    left, top, right, bottom = outer
    x, y = (inner[0] + inner[2]) / 2, (inner[1] + inner[3]) / 2
    return left - 1 <= x <= right + 1 and top - 1 <= y <= bottom + 1


def aligned(found: Sequence[Row]) -> list[Row | Table]:
    """Finds tables without rules among the rows of one region: what is no part of one stays as it is."""
    result: list[Row | Table] = []
    index = tries = 0
    while index < len(found):
        end = _run(found, index)
        if end - index < 3:
            result.append(found[index])
            index, tries = index + 1, 0
        elif table := _aligned_table(found[index:end]):
            result.append(table)
            index, tries = end, 0
        elif tries < _MOST_TRIES:  # without its first row, it may be one
            result.append(found[index])
            index, tries = index + 1, tries + 1
        else:
            result += found[index:end]
            index, tries = end, 0
    return result


def repeat_head(above: Table, below: Table) -> bool:
    """Gives a table that goes on from the page before the head it has there.

    Args:
        above: The last thing on a page.
        below: The first thing on the next page; it is changed.

    Returns:
        Whether it goes on, with another head than it had.
    """
    head = above.rows[0]
    same_columns = len(head) == len(below.rows[0])
    same_place = all(abs(above.box[side] - below.box[side]) < 0.1 * (above.box[2] - above.box[0]) for side in (0, 2))
    if not same_columns or not same_place or not _is_head(above):
        return False
    if [cell_text(cell) for cell in head] == [cell_text(cell) for cell in below.rows[0]]:
        return False
    below.rows.insert(0, head)
    return True


def _is_head(table: Table) -> bool:
    """Whether the first row names the columns: bold over plain cells, or words over numbers."""
    first, *rest = table.rows
    if not rest or not all(first):
        return False
    if all(piece.bold for cell in first for piece in cell):
        return not all(piece.bold for cell in rest[0] for piece in cell)
    digits = [any(character.isdigit() for character in cell_text(cell)) for cell in first]
    below = [
        any(character.isdigit() for row in rest for character in cell_text(row[column])) for column in range(len(first))
    ]
    return not any(digits) and sum(below) >= len(first) / 2


def is_caption(text: str) -> bool:
    """Whether a paragraph is a table's caption."""
    return len(text) < 400 and _CAPTION.match(text) is not None


def markdown(table: Table) -> str:
    """A table as Markdown; its first row is the head."""
    texts = [[cell_text(cell) for cell in row] for row in table.rows]
    lines = ["| " + " | ".join(row) + " |" for row in texts]
    lines.insert(1, "|" + " --- |" * len(texts[0]))
    return "\n".join(lines)


def cell_text(cell: Sequence[Piece]) -> str:
    """A cell's text on one line."""
    text = "\n".join(row.text for row in rows(cell))
    text = re.sub(r"(?<=[^\W\d_])[-\u00ad\u2010]\n(?=[a-zß-öø-ÿ])", "", text)
    return " ".join(text.split()).replace("|", "\\|")


def _slot(levels: Sequence[float], value: float) -> int:
    for index, (_, end) in enumerate(pairwise(levels)):
        if value < end:
            return index
    return len(levels) - 2


def _in_order(cell: Sequence[Piece]) -> list[Piece]:
    return [piece for row in rows(cell) for piece in row.pieces]


# ------------------------------------------------------------------------------------------------- tables without lines


def _cells(row: Row) -> list[list[Piece]]:
    """A row's pieces, those together that no gap parts."""
    found: list[list[Piece]] = []
    for piece in sorted(row.pieces, key=lambda each: each.box[0]):
        if found and piece.box[0] - found[-1][-1].box[2] < 0.6 * piece.size:
            found[-1].append(piece)
        else:
            found.append([piece])
    return found


def _run(found: Sequence[Row], start: int) -> int:
    """Where the rows of cells end that begin at ``start``; a row of one cell may stand between them."""
    end = start
    before = 0.2 * found[start].size
    for index in range(start, len(found)):
        row = found[index]
        if _LEADER.search(row.text):
            break
        if index > start:
            above = found[index - 1]
            gap = row.box[1] - above.box[3]
            far = gap > 2.5 * row.size or (gap > 1.2 * row.size and gap > 2.5 * before)
            if far or abs(row.size - above.size) > 0.15 * above.size:
                break
            before = max(gap, before)
        if len(_cells(row)) >= 2 and not all(piece.monospaced for piece in row.pieces):
            end = index + 1
        elif index - end >= 1 or index == start:
            break
    return end


def _aligned_table(found: Sequence[Row]) -> Table | None:
    split = [_cells(row) for row in found]
    columns = _columns(split)
    if len(columns) < 2:
        return None
    size = median(row.size for row in found)
    if any(right[0] - left[1] < 0.6 * size for left, right in pairwise(columns)):
        return None
    cells = [_sorted_into(columns, row) for row in split]
    many = [row for row in cells if sum(1 for cell in row if cell) >= 2]
    filled = sum(1 for row in cells for cell in row if cell)
    if len(many) < 3 or filled < 0.4 * len(cells) * len(columns):
        return None
    if _is_contents(cells):
        return None
    texts = [[" ".join(piece.text.strip() for piece in cell) for cell in row] for row in cells]
    if len(columns) == 2:
        first = [row[0] for row in texts if row[0]]
        if all(_BULLET.fullmatch(text) for text in first):
            return None
        if all(median(len(text) for text in column if text) > 50 for column in zip(*texts, strict=True)):
            return None
    return Table(around(row.box for row in found), _joined(cells))


def _is_contents(cells: Sequence[Sequence[Sequence[Piece]]]) -> bool:
    """Whether it is a table of contents: titles, and page numbers that go up."""
    last = ["".join(piece.text for piece in row[-1]).strip() for row in cells]
    titles = [sum(len(piece.text.strip()) for cell in row[:-1] for piece in cell) for row in cells]
    if not all(_PAGE_NUMBER.fullmatch(text) for text in last) or median(titles) < 8 or len(cells[0]) > 3:
        return False
    numbers = [int(text) for text in last if text.isdecimal()]
    return numbers == sorted(numbers)


def _columns(split: Sequence[Sequence[Sequence[Piece]]]) -> list[tuple[float, float]]:
    """Where the columns are, from the narrowest cells on; a cell over two columns makes no column."""
    extents = [(around(piece.box for piece in cell)[0::2]) for row in split if len(row) >= 2 for cell in row]
    columns: list[tuple[float, float]] = []
    for left, right in sorted(extents, key=lambda extent: extent[1] - extent[0]):
        touched = [column for column in columns if left < column[1] and column[0] < right]
        if not touched:
            columns.append((left, right))
        elif len(touched) == 1:
            columns.remove(touched[0])
            columns.append((min(left, touched[0][0]), max(right, touched[0][1])))
    return sorted(columns)


def _sorted_into(columns: Sequence[tuple[float, float]], row: Sequence[Sequence[Piece]]) -> list[list[Piece]]:
    cells: list[list[Piece]] = [[] for _ in columns]
    for cell in row:
        left, _, right, _ = around(piece.box for piece in cell)
        shared = [min(right, column[1]) - max(left, column[0]) for column in columns]
        touched = [index for index, width in enumerate(shared) if width > 0]
        cells[touched[0] if touched else shared.index(max(shared))] += cell
    return cells


def _joined(cells: list[list[list[Piece]]]) -> list[list[list[Piece]]]:
    """Rows of the table, where a line that continues the cells above it is no row of its own.

    Such a line has no first cell, and is nearer to the line above than rows are to each other.
    """
    tops = [min(piece.box[1] for cell in row for piece in cell) for row in cells]
    steps = [below - above for (above, below), row in zip(pairwise(tops), cells[1:], strict=True) if row[0]]
    near = 0.85 * min(steps, default=0.0)
    result = [cells[0]]
    for row, (above, below) in zip(cells[1:], pairwise(tops), strict=True):
        upper = result[-1]
        if row[0] or below - above > near or any(cell and not over for over, cell in zip(upper, row, strict=True)):
            result.append(row)
        else:
            for over, cell in zip(upper, row, strict=True):
                over += cell
    return result
