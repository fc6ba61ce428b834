"""What PyMuPDF finds on a PDF page, as runs of text and rules with upright boxes.

Boxes are given as if the text stood upright: a page of text turned by 90 degrees and a page of vertical Japanese are
turned until lines run left to right and follow each other downwards, so that what comes after knows one case only.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

from rag.sources.pdf.grids import Box, Grid, grids
from rag.sources.pdf.hidden import hidden_runs
from rag.types import Concealment

_LAYOUT = "pymupdf.layout"
_BOLD = 16  # flags of a span
_MONOSPACED = 8
_THIN = 3.0  # points
_BOLD_NAME = re.compile(r"bold|black|heavy|demi|CMBX|SFBX", re.IGNORECASE)
_MONOSPACED_NAME = re.compile(r"mono|courier|typewriter|consol|menlo|CMTT|SFTT", re.IGNORECASE)

_TURNS: dict[tuple[int, int], Callable[[Box], Box]] = {
    (1, 0): lambda box: box,
    (0, 1): lambda box: (box[1], -box[2], box[3], -box[0]),
    (0, -1): lambda box: (-box[3], box[0], -box[1], box[2]),
    (-1, 0): lambda box: (-box[2], -box[3], -box[0], -box[1]),
}
"""From the page's own coordinates to upright ones, by the direction that lines run in."""


@dataclass(frozen=True, slots=True)
class Character:
    """One character, with its place on the page (not upright: this is where it is marked)."""

    text: str
    box: Box


@dataclass(slots=True)
class Piece:
    """A run of text on one line, without the wide gaps that part columns and cells.

    Attributes:
        size: Of the font that most of it is set in, in points.
        bold: Whether all of it is bold.
        block: Pieces of one number were written as one paragraph, as MuPDF sees it.
        characters: Empty unless they were asked for.
    """

    text: str
    box: Box
    size: float
    bold: bool
    monospaced: bool
    block: int
    characters: tuple[Character, ...] = ()

    @property
    def height(self) -> float:
        """Of the line, in points."""
        return self.box[3] - self.box[1]


@dataclass(frozen=True, slots=True)
class Zone:
    """A part of a page that is known to be something; a table has its grid."""

    kind: Literal["table", "heading", "formula", "picture"]
    box: Box
    grid: Grid | None = None


@dataclass(slots=True)
class PageText:
    """The text of a page before it is put in order.

    Attributes:
        size: Width and height of the page when it is turned so that most of its text is upright.
        origin: Left and top of that page in the boxes' coordinates.
        pieces: Upright text, in the order it was written.
        aside: Text that runs in other directions, by direction.
        grids: What is drawn as a table, upright with the pieces.
        zones: What layout analysis found; empty where it was not asked for.
        hidden: Text that is not to be seen on the page, and what keeps it from being seen; it is among the pieces, too.
    """

    size: tuple[float, float]
    origin: tuple[float, float]
    pieces: list[Piece]
    aside: list[list[Piece]]
    grids: list[Grid]
    zones: list[Zone] = field(default_factory=list)
    hidden: list[tuple[Concealment, str]] = field(default_factory=list)


def leave_layout_out() -> None:
    """Keeps PyMuPDF from loading its layout analysis, and what turns pages into Markdown, when it is first imported: a
    reader would start half as fast."""
    for name in (_LAYOUT, "pymupdf4llm"):
        sys.modules.setdefault(name, None)  # type: ignore[arg-type]  # "not there", as the import system notes it


def _load_layout() -> None:
    if sys.modules.get(_LAYOUT) is None:
        sys.modules.pop(_LAYOUT, None)
        importlib.import_module(_LAYOUT)


def page_text(page: Any, characters: bool = False, layout: bool = False) -> PageText:
    """Takes the text and the rules from a page of PyMuPDF.

    Args:
        page: A ``pymupdf.Page``.
        characters: Whether each piece knows where its characters are; takes about twice the time.
        layout: Whether the page's layout is analysed; takes about half a second. Only where most of it is upright.
    """
    import pymupdf

    # Ligatures are taken apart: nobody searches for the one character "ﬁ".
    flags = pymupdf.TEXTFLAGS_TEXT & ~pymupdf.TEXT_PRESERVE_LIGATURES | pymupdf.TEXT_COLLECT_VECTORS
    blocks = page.get_text("rawdict" if characters else "dict", flags=flags)["blocks"]
    directed: dict[tuple[int, int], list[Piece]] = {}
    vectors: list[Box] = []
    letters: Counter[tuple[int, int]] = Counter()
    for number, block in enumerate(blocks):
        if block["type"] == 3:
            left, top, right, bottom = block["bbox"]
            if block["isrect"] or min(right - left, bottom - top) <= _THIN:  # no circles, no curves
                vectors.append(block["bbox"])
        elif block["type"] == 0:
            for line in block["lines"]:
                direction = _direction(line)
                if piece := _piece(line, number, _TURNS[direction], characters):
                    written = directed.setdefault(direction, [])
                    if line["wmode"] == 1 and written and _follows(written[-1], piece):
                        written[-1] = _joined(written[-1], piece)
                    else:
                        written.append(piece)
                    letters[direction] += len(piece.text)
    main = letters.most_common(1)[0][0] if letters else (1, 0)
    pieces = directed.pop(main, [])
    bounds = _TURNS[main]((0.0, 0.0, page.cropbox.width, page.cropbox.height))
    size = (bounds[2] - bounds[0], bounds[3] - bounds[1])
    return PageText(
        size=size,
        origin=(bounds[0], bounds[1]),
        pieces=pieces,
        aside=list(directed.values()),
        grids=grids([_TURNS[main](box) for box in vectors], size),
        zones=_zones(page) if layout and pieces and main == (1, 0) else [],
        hidden=[] if characters else hidden_runs(page, blocks),
    )


def _zones(page: Any) -> list[Zone]:
    """What PyMuPDF's layout analysis, which is a small neural network, takes parts of a page for.

    Its reading order and its headers and footers are not used: it left out text, and took titles for headers.
    """
    kinds: dict[str, Literal["table", "heading", "formula", "picture"]] = {
        "table": "table",
        "title": "heading",
        "section-header": "heading",
        "formula": "formula",
        "picture": "picture",
    }
    _load_layout()
    try:
        page.get_layout(return_raw=True)
    except (ArithmeticError, LookupError, TypeError):
        return []  # it fails on odd pages; they are read without it
    found: list[Zone] = []
    for part in page.layout_information or ():
        kind = kinds.get(part["class_name"])
        left, top, right, bottom = part["group_bbox"]
        lines = part.get("table_grid")
        if kind is None or (kind == "table" and lines is None):
            continue
        grid = None
        if lines is not None:
            columns = (left, *(left + line for line in lines.v_lines), right)
            grid = Grid(columns, (top, *(top + line for line in lines.h_lines), bottom))
        found.append(Zone(kind, (left, top, right, bottom), grid))
    return found


def _direction(line: Any) -> tuple[int, int]:
    if line["wmode"] == 1:
        return (0, 1)
    x, y = line["dir"]
    return (round(x), 0) if abs(x) >= abs(y) else (0, round(y))


def _piece(line: Any, block: int, turn: Callable[[Box], Box], characters: bool) -> Piece | None:
    sizes: Counter[float] = Counter()
    texts: list[str] = []
    found: list[Character] = []
    bold, monospaced = True, True
    for span in line["spans"]:
        if characters:
            found += (Character(each["c"], each["bbox"]) for each in span["chars"])
            text = "".join(each["c"] for each in span["chars"])
        else:
            text = span["text"]
        texts.append(text)
        if count := len(text.strip()):
            sizes[round(span["size"], 1)] += count
            style = _style(span["font"], span["flags"])
            bold = bold and style[0]
            monospaced = monospaced and style[1]
    if not sizes:
        return None
    size = sizes.most_common(1)[0][0]
    return Piece("".join(texts), turn(line["bbox"]), size, bold, monospaced, block, tuple(found))


def _follows(before: Piece, piece: Piece) -> bool:
    """Whether a piece goes on where one of vertical writing ended: MuPDF makes a line of every character of it."""
    beside = min(before.box[3], piece.box[3]) - max(before.box[1], piece.box[1]) > 0.5 * before.height
    return beside and -1 <= piece.box[0] - before.box[2] < 0.5 * piece.size


def _joined(before: Piece, piece: Piece) -> Piece:
    left, top, right, bottom = before.box
    box = (left, min(top, piece.box[1]), max(right, piece.box[2]), max(bottom, piece.box[3]))
    return Piece(
        text=before.text + piece.text,
        box=box,
        size=before.size,
        bold=before.bold and piece.bold,
        monospaced=before.monospaced and piece.monospaced,
        block=before.block,
        characters=before.characters + piece.characters,
    )


@lru_cache(maxsize=1024)
def _style(font: str, flags: int) -> tuple[bool, bool]:
    """Whether a font is bold, and whether it is monospaced."""
    return (
        bool(flags & _BOLD or _BOLD_NAME.search(font)),
        bool(flags & _MONOSPACED or _MONOSPACED_NAME.search(font)),
    )
