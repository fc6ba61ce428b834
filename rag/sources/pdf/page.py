"""From the pieces of a page to its paragraphs and tables in reading order, and to text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby

from rag.sources.pdf.grids import Box
from rag.sources.pdf.order import Paragraph, Row, Table, goes_on, paragraphs, regions, rows
from rag.sources.pdf.tables import aligned, fill, inside, is_caption, markdown
from rag.sources.pdf.text import PageText, Piece, Zone
from rag.sources.pdf.verdict import is_unreadable_line

Block = Paragraph | Table

_HYPHEN_AT_LINE_END = re.compile(r"(?<=[^\W\d_])[-\u00ad\u2010]\n(?=[a-zß-öø-ÿ])")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_SPACES = re.compile(r"[^\S\n]")  # of any width: which one it is belongs to the typesetting
_BULLETS = re.compile(r"^[\uf0a7\uf0b7\uf0d8\uf076\uf0fc\uf06e\uf071\uf02d\uf0a8]\s*", re.MULTILINE)


def arrange(page: PageText, left_out: Sequence[Row] = ()) -> list[Block]:
    """Puts a page in reading order.

    Args:
        page: What is on it.
        left_out: Rows of it that are not to be read.
    """
    gone = {id(piece) for row in left_out for piece in row.pieces}
    pieces = [piece for piece in page.pieces if id(piece) not in gone]
    tables: list[Table] = []
    known = [zone.grid for zone in page.zones if zone.grid is not None]
    drawn = [grid for grid in page.grids if not any(_overlap(grid.box, other.box) for other in known)]
    for grid in [*known, *drawn]:
        within = [piece for piece in pieces if inside(piece.box, grid.box)]
        if within and (table := fill(grid, within, grid in known)):
            tables.append(table)
            pieces = _without(pieces, (piece for row in table.rows for cell in row for piece in cell))
    pictures = [zone.box for zone in page.zones if zone.kind == "picture"]
    labels = [[piece for piece in pieces if inside(piece.box, box)] for box in pictures]
    pieces = _without(pieces, (piece for group in labels for piece in group))
    blocks: list[Block] = []
    for region in regions([*pieces, *tables]):
        found = _region(region, page.zones)
        if blocks and found:
            last, first = blocks[-1], found[0]
            if isinstance(last, Paragraph) and isinstance(first, Paragraph) and goes_on(last, first):
                last.rows += first.rows
                del found[0]
        blocks += found
    for other in [*labels, *page.aside]:
        blocks += (Paragraph(paragraph.rows, aside=True) for paragraph in paragraphs(rows(other)))
    return _with_captions_above(blocks)


def block_text(block: Block) -> str:
    """A paragraph's or table's text, clean."""
    if isinstance(block, Table):
        return clean(markdown(block))
    return clean("\n".join(row.text for row in block.rows))


def blocks_text(blocks: Sequence[Block]) -> list[str]:
    """The texts of blocks, each with what parts it from the next; a caption and its table stay together."""
    texts = [block_text(block) for block in blocks]
    for index, following in enumerate(blocks[1:]):
        if texts[index]:
            texts[index] += "\n" if isinstance(following, Table) and is_caption(texts[index]) else "\n\n"
    return texts


def clean(text: str) -> str:
    """Joins hyphenated words, and takes out what does not print."""
    text = _HYPHEN_AT_LINE_END.sub("", _CONTROLS.sub("", text)).replace("\N{SOFT HYPHEN}", "")
    text = _BULLETS.sub("• ", _SPACES.sub(" ", text))
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def pieces_of(block: Block) -> list[list[Piece]]:
    """A block's pieces by row or cell, in the order of its text."""
    if isinstance(block, Table):
        return [cell for row in block.rows for cell in row]
    return [row.pieces for row in block.rows]


def _overlap(box: Box, other: Box) -> bool:
    return box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]


def _without(pieces: Sequence[Piece], others: Iterable[Piece]) -> list[Piece]:
    taken = set(map(id, others))
    return [piece for piece in pieces if id(piece) not in taken]


def _region(region: Sequence[Piece | Table], zones: Sequence[Zone]) -> list[Block]:
    """Blocks of a region, from top to bottom."""
    tables = sorted((atom for atom in region if isinstance(atom, Table)), key=lambda table: table.box[1])
    found = rows([atom for atom in region if isinstance(atom, Piece)])
    blocks: list[Block] = []
    for table in tables:
        count = sum(1 for row in found if (row.box[1] + row.box[3]) / 2 < table.box[1])
        blocks += [*_rows_to_blocks(found[:count], zones), table]
        found = found[count:]
    return blocks + _rows_to_blocks(found, zones)


def _rows_to_blocks(found: Sequence[Row], zones: Sequence[Zone]) -> list[Block]:
    blocks: list[Block] = []
    for item, group in groupby(
        aligned(found), key=lambda item: item if isinstance(item, Table) else _zone(item, zones)
    ):
        if isinstance(item, Table):
            blocks.append(item)
            continue
        parts = paragraphs([row for row in group if isinstance(row, Row)])
        for part in parts:
            part.heading = isinstance(item, Zone) and item.kind == "heading"
        blocks += parts
    return blocks


def _zone(row: Row, zones: Sequence[Zone]) -> Zone | str:
    """The heading or formula that a row is part of; lines of unreadable signs are set apart, too."""
    for zone in zones:
        if zone.kind in ("heading", "formula") and inside(row.box, zone.box):
            return zone
    return "unreadable" if is_unreadable_line(row.text) else ""


def _with_captions_above(blocks: list[Block]) -> list[Block]:
    """Puts a caption that stands below its table above it, so that no cut comes between them."""
    for index in range(len(blocks) - 1):
        table, caption = blocks[index], blocks[index + 1]
        if not isinstance(table, Table) or not isinstance(caption, Paragraph) or not is_caption(block_text(caption)):
            continue
        before = blocks[index - 1] if index else None
        has_one = isinstance(before, Paragraph) and is_caption(block_text(before))
        others = index + 2 < len(blocks) and isinstance(blocks[index + 2], Table)
        if not has_one and not others:
            blocks[index], blocks[index + 1] = caption, table
    return blocks
