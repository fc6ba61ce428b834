"""Spreadsheets (xlsx, xlsm, xlsb, xls, ods) through calamine: sheet by sheet, rows by their own numbers."""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from typing import Any

from rag.errors import SourceError
from rag.sources.archive import Archive
from rag.sources.draft import Draft, label
from rag.sources.markup import refuse_entities
from rag.sources.office.lock import unlocked
from rag.types import DEFAULT_READING, ReadOptions, SourceDocument

_MOST_CELLS = 20_000_000  # of a sheet's rectangle; calamine keeps the empty ones too, 24 bytes each
_FILLED_CELL = re.compile(rb"<(?:\w+:)?c\b[^>]*?\br\s*=\s*[\"']([A-Z]{1,9})([0-9]{1,19})[\"'][^>]*(?<!/)>")
_ROW = re.compile(rb"<table:table-row\b([^>]*)(?<!/)>(.*?)</table:table-row>", re.DOTALL)
_OPEN_CELL = re.compile(rb"<table:table-cell\b[^>]*(?<!/)>")
_REPEATED = re.compile(rb"-repeated=[\"']([0-9]{1,9})")
_NO_VALUE = re.compile(rb"</(?:\w+:)?f>\s*(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v>\s*</(?:\w+:)?v>)?\s*</(?:\w+:)?c>")
_THREADED = re.compile(r"\A\[Threaded comment\].*?Comment:\s*", re.DOTALL)


def read_sheets(data: bytes, title: str, options: ReadOptions = DEFAULT_READING) -> SourceDocument:
    """Reads a workbook; each sheet is a section, and its blocks of rows are tables.

    Formulas come by the value that was saved with them, dates and times as ISO 8601 writes them, and of merged cells
    the first one only. Hidden sheets are read and say so. Comments follow the rows of their sheet.

    Args:
        data: The file's bytes.
        title: Of the document: a workbook has none of its own.

    Raises:
        SourceError: It is no workbook, damaged, encrypted, or empty.
    """
    import python_calamine

    archive = Archive(data) if data.startswith(b"PK") else None
    draft = Draft()
    parts = _sheet_parts(archive) if archive else {}
    large = _too_large(archive, parts, draft) if archive else {}
    try:
        with python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(data)) as workbook:
            for sheet in workbook.sheets_metadata:
                reason = large.get(sheet.name)
                if reason:
                    draft.problems.append(f"sheet {sheet.name}: {reason}")
                elif sheet.typ == python_calamine.SheetTypeEnum.WorkSheet:
                    hidden = sheet.visible != python_calamine.SheetVisibleEnum.Visible
                    _write_sheet(workbook, sheet.name, hidden, draft)
                if archive:
                    _write_comments(archive, parts.get(sheet.name, ""), draft)
    except python_calamine.PasswordError as error:
        if archive:
            raise SourceError(
                "The workbook is encrypted, and cannot be read so.", "Save a copy without the password."
            ) from error
        return replace(read_sheets(unlocked(data, options.passwords), title), sha256=hashlib.sha256(data).hexdigest())
    except (python_calamine.CalamineError, python_calamine.ZipError, python_calamine.XmlError, OSError) as error:
        reason = next(iter(archive.problems), "") if archive else ""
        raise SourceError(f"The workbook is damaged: {reason or str(error).rstrip('.')}.") from error
    if archive:
        draft.problems += archive.problems
        draft.notes += archive.notes
    if not draft.length:
        first = next(iter(draft.problems), "")
        raise SourceError(f"{first[0].upper()}{first[1:]}." if first else "The sheets are empty.")
    return draft.finish(data, title)


def _write_sheet(workbook: Any, name: str, hidden: bool, draft: Draft) -> None:
    import python_calamine

    try:
        sheet = workbook.get_sheet_by_name(name)
        rows = sheet.iter_rows() if sheet.start else ()  # they begin with the sheet's first row, filled or not
    except python_calamine.WorksheetNotFound:
        return  # a sheet that holds a chart only
    except (python_calamine.CalamineError, python_calamine.XmlError) as error:
        draft.problems.append(f"sheet {name}: damaged: {str(error).rstrip('.')}")
        return
    if not rows:
        return
    draft.mark("row", 0)
    draft.heading(1, f"{name} (hidden sheet)" if hidden else name)
    for block in _blocks(_numbered(rows, sheet)):
        draft.numbered_table(block)
    draft.mark("row", 0)


def _numbered(rows: Iterable[list[object]], sheet: Any) -> Iterator[tuple[int, list[str]]]:
    """The rows with their numbers; labels that are merged over several rows stand in each of them."""
    first_column = sheet.start[1]
    merged: dict[int, list[tuple[int, int]]] = {}  # row, from 0 → column, and the last row that it covers
    for (top, left), (bottom, _) in sheet.merged_cell_ranges or ():
        if bottom > top and left >= first_column:
            merged.setdefault(top, []).append((left - first_column, bottom))
    down: dict[int, tuple[int, str]] = {}
    for number, row in enumerate(rows):
        line = [_written(cell) for cell in row]
        filled = any(line)
        for column, (last, words) in list(down.items()):
            if number > last:
                del down[column]
            elif filled and not line[column]:
                line[column] = words
        for column, last in merged.get(number, ()):
            if column < len(line):
                down[column] = last, label(line[column])
        yield number + 1, line


def _blocks(rows: Iterable[tuple[int, list[str]]]) -> Iterator[list[tuple[int, list[str]]]]:
    """The rows that stand together: an empty row parts them, and so does a title above a table."""
    for filled, group in groupby(rows, key=lambda row: any(row[1])):
        if not filled:
            continue
        block = list(group)
        titles = 0
        while titles < len(block) and sum(map(bool, block[titles][1])) == 1:
            titles += 1
        if 0 < titles < len(block):
            yield block[:titles]
            yield block[titles:]
        else:
            yield block


def _written(value: object) -> str:
    """A cell as a person would write it."""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, datetime.datetime):
        midnight = value.time() == datetime.time()
        return value.date().isoformat() if midnight else value.isoformat(sep=" ", timespec="seconds")
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return str(value).strip()


def _too_large(archive: Archive, parts: dict[str, str], draft: Draft) -> dict[str, str]:
    """Why sheets cannot be read, by their name: one cell in the far corner would fill the memory."""
    if "content.xml" in archive:
        content = archive.read("content.xml")
        refuse_entities(content, "content.xml")
        cells = _repeated_cells(content)
        if cells > _MOST_CELLS:
            raise SourceError(f"The workbook repeats a few cells to {cells:,}, and was not read.")
        return {}
    refused: dict[str, str] = {}
    unsaved = 0
    for name, part in parts.items():
        if not part.endswith(".xml"):
            continue  # xlsb, which is binary
        content = archive.read(part)
        rows = columns = 0
        for cell in _FILLED_CELL.finditer(content):
            rows = max(rows, int(cell[2]))
            columns = max(columns, _column(cell[1]))
        if rows * columns > _MOST_CELLS:
            refused[name] = f"its cells reach over {rows:,} rows and {columns:,} columns, and it was not read"
        unsaved += len(_NO_VALUE.findall(content))
    if unsaved:
        draft.notes.append(f"formulas without a saved value: {unsaved}; opening and saving the workbook adds them")
    return refused


def _repeated_cells(content: bytes) -> int:
    """How many filled cells an OpenDocument sheet stands for: a single one can be repeated over the whole sheet."""
    total = 0
    for row in _ROW.finditer(content):
        filled = sum(_times(cell[0]) for cell in _OPEN_CELL.finditer(row[2]))
        total += filled * _times(row[1])
    return total


def _times(tag: bytes) -> int:
    repeated = _REPEATED.search(tag)
    return int(repeated[1]) if repeated else 1


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number


def _sheet_parts(archive: Archive) -> dict[str, str]:
    """The part of each sheet, by its name."""
    main = archive.main_part("xl/workbook.xml")
    if not main.endswith(".xml"):
        return {}
    relations = archive.relations(main)
    parts = {
        sheet.get("name"): relations.get(sheet.get("r:id"), ("", ""))[1]
        for sheet in archive.xml_if_there(main).all("s:sheet")
    }
    return {name: part for name, part in parts.items() if part in archive}


def _write_comments(archive: Archive, part: str, draft: Draft) -> None:
    lines: list[str] = []
    for kind, name in archive.relations(part).values() if part else ():
        if kind != "comments":
            continue
        root = archive.xml_if_there(name)
        authors = [author.text() for author in root.all("s:author")]
        for comment in root.all("s:comment"):
            text = _THREADED.sub("", "".join(run.text() for run in comment.all("s:t")))
            author = ""
            with contextlib.suppress(ValueError, IndexError):
                author = authors[int(comment.get("authorId"))]
            by = "" if not author or author.startswith("tc=") else f" by {author}"
            lines.append(f"Comment{by} on {comment.get('ref')}: {' '.join(text.split())}")
    if lines:
        draft.heading(2, "Comments")
        for line in lines:
            draft.paragraph(line)
