"""Tables in plain text: CSV and its relatives, as a Markdown table whose rows keep their numbers."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from rag.errors import SourceError
from rag.sources.encodings import decode_text
from rag.sources.plain.text import decoded_document
from rag.types import DEFAULT_READING, Mark, ReadOptions, SourceDocument

_DELIMITERS = "\t;|,"  # of two that fit equally well, the first: commas also stand inside of numbers
_NO_DELIMITER = "\x1f"  # for a single column; decoded text has none
_SAMPLE_LINES = 200
_SAMPLE_CHARACTERS = 100_000
_LEAST_SHARE = 0.5  # of the lines have to hold a character before it counts as a delimiter
_OPEN_QUOTES = 20  # quotes that are never closed, before quotes count as plain characters
_NAMED_ROWS = 5
_WIDER = 10  # cells; one endless row must not make all others as long

_EXCEL_HINT = re.compile(r"sep=([^\"\n])\n")

csv.field_size_limit(2**31 - 1)  # bounds nothing: the file is in memory already


def read_table(data: bytes, title: str, options: ReadOptions = DEFAULT_READING) -> SourceDocument:
    """Reads a table of values that commas, semicolons, tabs or bars part.

    The first row is taken as the head. Rows are numbered as a spreadsheet program numbers them; a row with more or
    fewer cells than the head is kept as it is and named in a note.

    Args:
        data: The file's bytes.
        title: The file's name.

    Raises:
        SourceError: It is not text, or there is nothing in it.
    """
    decoded = decode_text(data, options.encoding)
    text = decoded.text
    hint = _EXCEL_HINT.match(text)
    if hint:
        text = text[hint.end() :]
    lines = text.removesuffix("\n").split("\n")
    numbered, notes = _rows(lines, hint[1] if hint else _delimiter(lines))
    rows = [(number, row) for number, row in numbered if any(row)]
    if not rows:
        raise SourceError("There is nothing in the table's cells.")
    head = len(rows[0][1])
    ragged = [number for number, row in rows if len(row) != head]
    if ragged:
        more = f" and {len(ragged) - _NAMED_ROWS} more" if len(ragged) > _NAMED_ROWS else ""
        notes.append(
            f"not as many cells as the first row ({head}): row{'s' * (len(ragged) > 1)} "
            f"{', '.join(map(str, ragged[:_NAMED_ROWS]))}{more}"
        )
    table, marks = _render(rows)
    return decoded_document(data, title, decoded, table, marks=marks, notes=notes)


def _delimiter(lines: Sequence[str]) -> str:
    """The character that parts most lines into equally many cells."""
    sample: list[str] = []
    length = 0
    for line in lines[:_SAMPLE_LINES]:
        sample.append(line[: _SAMPLE_CHARACTERS - length])
        length += len(line)
        if length >= _SAMPLE_CHARACTERS:
            break

    def fit(delimiter: str) -> float:
        widths = [len(row) for row in csv.reader((line + "\n" for line in sample), delimiter=delimiter) if row]
        share = sum(1 for width in widths if width > 1) / max(1, len(widths))
        if share < _LEAST_SHARE:
            return 0.0
        return share + Counter(widths).most_common(1)[0][1] / len(widths)

    best = max(_DELIMITERS, key=fit)
    return best if fit(best) else _NO_DELIMITER


def _rows(lines: Sequence[str], delimiter: str) -> tuple[list[tuple[int, list[str]]], list[str]]:
    """All rows with their numbers, and notes on quotes that are never closed."""
    rows: list[tuple[int, list[str]]] = []
    notes: list[str] = []
    start = 0
    for _ in range(_OPEN_QUOTES):
        parsed = list(_parsed(lines, start, delimiter))
        rows += [(number, row) for number, (_, row) in enumerate(parsed, len(rows) + 1)]
        opened = parsed[-1][0] if parsed else len(lines)
        if opened == len(lines) or not _left_open(lines[opened:], rows[-1][1], delimiter):
            return rows, notes
        # The last row has swallowed all that came after its open quote.
        notes.append(f"a quotation mark in row {rows[-1][0]} is never closed")
        rows[-1] = rows[-1][0], _plain(lines[opened], delimiter)
        start = opened + 1
    rows += [(len(rows) + number, _plain(line, delimiter)) for number, line in enumerate(lines[start:], 1)]
    return rows, [f"quotation marks are not in pairs from row {len(rows) - len(lines) + start + 1} on"]


def _parsed(lines: Sequence[str], start: int, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Each row with the index of the line that it begins in."""
    reader = csv.reader((lines[index] + "\n" for index in range(start, len(lines))), delimiter=delimiter)
    before = start
    for row in reader:
        yield before, row
        before = start + reader.line_num


def _left_open(lines: Sequence[str], row: list[str], delimiter: str) -> bool:
    """Whether a row that reaches to the end of the file does so for want of a closing quote."""
    return "\n".join(lines).count('"') % 2 == 1 and row != _plain(lines[0], delimiter)


def _plain(line: str, delimiter: str) -> list[str]:
    return next(csv.reader([line], delimiter=delimiter, quoting=csv.QUOTE_NONE), [])


def _render(rows: Sequence[tuple[int, list[str]]]) -> tuple[str, tuple[Mark, ...]]:
    """A Markdown table, and marks where the rows' numbers do not go up by one a line."""
    usual = Counter(len(row) for _, row in rows).most_common(1)[0][0]
    widest = max(len(row) for _, row in rows)
    width = widest if widest <= 2 * usual + _WIDER else max(usual, len(rows[0][1]))
    first = rows[0][0]
    lines = [_line(rows[0][1], width), "| " + " | ".join(["---"] * width) + " |"]
    marks = [Mark(0, "row", first), Mark(len(lines[0]) + 1, "row", first)]  # the ruler counts as the head
    start = sum(map(len, lines)) + 2
    expected = first + 1
    for number, row in rows[1:]:
        if number != expected:
            marks.append(Mark(start, "row", number))
        line = _line(row, width)
        lines.append(line)
        start += len(line) + 1
        expected = number + 1
    return "\n".join(lines), tuple(marks)


def _line(row: Sequence[str], width: int) -> str:
    cells = "\0".join(row)
    if "|" in cells:
        cells = cells.replace("|", "\\|")
    if "\n" in cells or "  " in cells:
        cells = re.sub(r"\s+", " ", cells)
    return "| " + cells.replace("\0", " | ") + " | " * max(0, width - len(row)) + " |"
