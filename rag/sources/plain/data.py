"""JSON and JSON Lines: as they were written, but for escaped letters; laid out where all stands in one line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from rag.sources.encodings import Decoded, decode_text
from rag.sources.plain.text import decoded_document
from rag.types import DEFAULT_READING, Mark, ReadOptions, SourceDocument

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+|"')
_ESCAPED = re.compile(r"(?:\\u[0-9a-fA-F]{4})+|\\.")
_LONGEST_LINE = 1_000  # characters; a file with a longer line was not laid out for people
_DEEPEST = 40  # levels that are indented
_NAMED_LINES = 5


def read_json(data: bytes, title: str, options: ReadOptions = DEFAULT_READING) -> SourceDocument:
    """Reads a JSON file; what is not valid is read as plain text and reported.

    Args:
        data: The file's bytes.
        title: The file's name.

    Raises:
        SourceError: It is not text, or there is nothing in it.
    """
    decoded = decode_text(data, options.encoding)
    problem = _problem(decoded.text)
    if problem and next(_lines_that_fail(decoded.text), 0):
        return _document(data, title, decoded, decoded.text, problem=f"it is not valid JSON: {problem}")
    text = _readable(decoded.text)
    if not problem and max(map(len, text.split("\n"))) > _LONGEST_LINE:
        return _document(data, title, decoded, _laid_out(text), in_lines=False)
    return _document(data, title, decoded, text)


def read_json_lines(data: bytes, title: str, options: ReadOptions = DEFAULT_READING) -> SourceDocument:
    """Reads a file with one JSON value a line; lines that are none are kept and reported.

    Args:
        data: The file's bytes.
        title: The file's name.

    Raises:
        SourceError: It is not text, or there is nothing in it.
    """
    decoded = decode_text(data, options.encoding)
    failing = list(_lines_that_fail(decoded.text))
    more = f" and {len(failing) - _NAMED_LINES} more" if len(failing) > _NAMED_LINES else ""
    problem = f"lines that are not valid JSON: {', '.join(map(str, failing[:_NAMED_LINES]))}{more}" if failing else ""
    return _document(data, title, decoded, _readable(decoded.text), problem=problem)


def parse_json(text: str) -> object:
    """Parses JSON; numbers stay strings, so that none is too long.

    Raises:
        ValueError: It is not valid; the message says what and where.
    """
    try:
        return json.loads(text, parse_int=str, parse_float=str)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def _problem(text: str) -> str:
    try:
        parse_json(text)
    except json.JSONDecodeError as error:
        return f"{error.msg}, line {error.lineno}"
    except ValueError as error:
        return str(error)
    return ""


def _lines_that_fail(text: str) -> Iterator[int]:
    return (number for number, line in enumerate(text.split("\n"), 1) if line.strip() and _problem(line))


def _readable(text: str) -> str:
    """Letters that were escaped as themselves; a quotation mark, a backslash and controls stay escaped."""
    if "\\u" not in text:
        return text

    def letters(match: re.Match[str]) -> str:
        escaped = match.group()
        if not escaped.startswith("\\u"):
            return escaped
        return "".join(
            letter if letter.isprintable() and letter not in '"\\' else json.dumps(letter)[1:-1]
            for letter in json.loads(f'"{escaped}"')
        )

    return _ESCAPED.sub(letters, text)


def _laid_out(text: str) -> str:
    """One value a line, indented by its depth; every character that says something stays."""
    parts: list[str] = []
    depth = 0
    before = ""
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token in "]}":
            depth -= 1
            if before not in ("[", "{"):
                parts.append(_break(depth))
        elif before in ("[", "{", ","):
            parts.append(_break(depth))
        parts.append(": " if token == ":" else token)
        if token in "[{":
            depth += 1
        before = token
    return "".join(parts)


def _break(depth: int) -> str:
    return "\n" + "  " * min(depth, _DEEPEST)


def _document(
    data: bytes, title: str, decoded: Decoded, text: str, *, problem: str = "", in_lines: bool = True
) -> SourceDocument:
    if not in_lines:
        return decoded_document(
            data, title, decoded, text, problem=problem, notes=("laid out anew: the file has very long lines",)
        )
    return decoded_document(data, title, decoded, text, marks=(Mark(0, "line", 1),), problem=problem)
