"""Org files: headings, title, links as their words; drawers, comments and keywords left out, blocks kept."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag.sources.encodings import decode
from rag.sources.plain.text import TAKEN_OUT, lines_document, without_gaps
from rag.types import DEFAULT_READING, ReadOptions, SourceDocument

_HEADING = re.compile(
    r"(?P<stars>\*+)[ \t]+(?:(?:TODO|DONE|NEXT|WAITING|CANCELLED)[ \t]+)?(?:\[#\w\][ \t]*)?(?P<title>.*)"
)
_TAGS = re.compile(r"[ \t]:[\w@#%:]+:$")
_KEYWORD = re.compile(r"[ \t]*#\+(?P<key>[\w-]+)(?:\[[^\]\n]*\])?:[ \t]*(?P<value>.*)")
_BLOCK = re.compile(r"[ \t]*#\+begin_(?P<kind>\w+)(?:[ \t]+(?P<language>\S+))?.*", re.IGNORECASE)
_DRAWER = re.compile(r"[ \t]*:[\w-]+:[ \t]*")
_DRAWER_END = re.compile(r"[ \t]*:END:[ \t]*", re.IGNORECASE)
_LINK = re.compile(r"\[\[(?P<target>[^\[\]\n]+)\](?:\[(?P<words>[^\[\]\n]+)\])?\]")
_SPOKEN = ("caption", "subtitle", "description", "abstract")  # keywords whose value is text for readers
_VERBATIM = ("src", "example", "export")
_LONGEST_DRAWER = 200  # lines


def read_org(data: bytes, title: str, options: ReadOptions = DEFAULT_READING) -> SourceDocument:
    """Reads an Org file.

    Args:
        data: The file's bytes.
        title: Taken when neither a keyword nor a heading gives one.

    Raises:
        SourceError: It is not text, or there is nothing in it.
    """
    decoded = decode(data, options.encoding)
    source = decoded.text.split("\n")
    keywords = dict(_keyword(line) for line in reversed(source) if line.lstrip().startswith("#+"))
    readable, levels = _readable(source)
    lines = list(without_gaps(enumerate(readable, 1)))
    headings = [(index, levels[number], line) for index, (number, line) in enumerate(lines) if number in levels]
    named = keywords.get("title") or next((words for _, _, words in headings), title)
    return lines_document(data, named, decoded, lines, headings)


def _keyword(line: str) -> tuple[str, str]:
    match = _KEYWORD.fullmatch(line)
    return (match["key"].lower(), match["value"].strip()) if match else ("", "")


def _title(words: str) -> str:
    return _links(_TAGS.sub("", words.rstrip())).strip()


def _readable(source: Sequence[str]) -> tuple[list[str], dict[int, int]]:
    """The lines as they are to be read, as many as there were, and the level of each that is a heading."""
    lines: list[str] = []
    levels: dict[int, int] = {}
    block = ""
    hidden = 0  # the level of a heading that comments its subtree out
    drawer_end = -1
    for index, line in enumerate(source):
        heading = _HEADING.fullmatch(line) if not block else None
        if heading:
            level = len(heading["stars"])
            if not hidden or level <= hidden:
                hidden = level if heading["title"].startswith("COMMENT") else 0
        if block:
            ends = line.strip().lower() == f"#+end_{block}"
            lines.append(_fence(block, "") if ends else TAKEN_OUT if hidden or block == "comment" else line)
            block = "" if ends else block
        elif hidden or index <= drawer_end:
            lines.append(TAKEN_OUT)
        elif heading:
            lines.append(_title(heading["title"]))
            if lines[-1]:
                levels[index + 1] = len(heading["stars"])
        elif opening := _BLOCK.fullmatch(line):
            block = opening["kind"].lower()
            lines.append(_fence(block, opening["language"] or ""))
        elif _DRAWER.fullmatch(line) and not _DRAWER_END.fullmatch(line):
            drawer_end = _end_of_drawer(source, index)
            lines.append(TAKEN_OUT if drawer_end > index else line)
        elif line.lstrip().startswith("#+"):
            key, value = _keyword(line)
            lines.append(_links(value) if key in _SPOKEN else TAKEN_OUT)
        elif line.lstrip().startswith("# ") or line.strip() == "#":
            lines.append(TAKEN_OUT)
        else:
            lines.append(_links(line))
    return lines, levels


def _fence(block: str, language: str) -> str:
    return f"```{language}" if block in _VERBATIM else TAKEN_OUT


def _end_of_drawer(source: Sequence[str], start: int) -> int:
    """The line that ends a drawer; -1 when none does before the next heading."""
    for index in range(start + 1, min(start + _LONGEST_DRAWER, len(source))):
        if _DRAWER_END.fullmatch(source[index]):
            return index
        if _HEADING.fullmatch(source[index]):
            break
    return -1


def _links(line: str) -> str:
    return _LINK.sub(lambda match: match["words"] or match["target"], line) if "[[" in line else line
