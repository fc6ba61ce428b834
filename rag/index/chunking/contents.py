"""Tables of contents: where a text only lists what stands elsewhere in it, so that they can make way for that."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

from rag.types import SourceDocument, Span

_TITLE = re.compile(
    r"(?:table of )?contents|index|list of (?:figures|tables|listings)|(?:inhalt|abbildungs|tabellen)(?:s?verzeichnis)?"
    r"|inhaltsübersicht|sommaire|table des matières|índice(?: general)?|contenido|tabla de contenidos?|indice|sommario"
    r"|sumário|inhoud(?:sopgave)?|содержание|оглавление|(?:図|表)?目次|もくじ|目录|目錄|目\s*次|목차|차례"
)
_LEADER = re.compile(r"\S.*(?:\.{4}|(?:\. ){3}|…{2}|·{4}|_{5}|‥{2})[\s.]*\d{1,4}\s*$")
_LOCAL_LINK = re.compile(
    r"\s*(?:[-*+]|\d+[.)])\s+(?:[\d.]+\s+)?\[[^\]\n]+\]\((?![a-z][\w+.-]*:)[^)\s]*\)\s*$", re.IGNORECASE
)
_NUMBERED = re.compile(r"\s*(?:[-*+]\s+)?(?:\d{1,3}(?:\.\d{1,3})*\.?|[A-Z](?:\.\d{1,3})+\.?|[A-Z]\.|[IVX]+\.)\s+\S")
_PAGE_AT_END = re.compile(
    r"\s*\S.*\s(?:\d{1,4}|[ivxl]{1,6})\s*$|.*(?<![^\W_])sections? [\dA-Z][\d.]*[\W_]*$", re.IGNORECASE
)
_WITHOUT_NUMBER = re.compile(r"^[\s>*+#-]*(?:(?:\d{1,3}[.)]?|[A-Z][.)])(?:\d+(?:\.\d+)*\.?)?\s+)?|[\s.…·]*\d{0,4}\s*$")
_FEWEST_UNTITLED = 5
_FEWEST = 3
_LONGEST_ENTRY = 160  # characters


def contents_of(document: SourceDocument) -> Iterator[list[Span]]:
    """The tables of contents in each section of a document, from their title line on where they have one.

    An entry is a line with a page number behind dots, a list item that is only a link within the same place, and below
    a title such as "Contents" or "Index" also a line that is numbered, ends in a page or section, or repeats a heading.
    """
    headings = {_words(section.heading_path[-1]) for section in document.sections if section.heading_path}
    for section in document.sections:
        found: list[Span] = []
        lines = list(_lines(document.text, section.span))
        at = 0
        while at < len(lines):
            titled = _is_title(document.text[lines[at].start : lines[at].end])
            last = _last_entry(document.text, lines, at + titled, titled, headings)
            if last is None:
                at += 1
                continue
            found.append(Span(lines[at].start, lines[last].end))
            at = last + 1
        yield found


def _last_entry(text: str, lines: Sequence[Span], first: int, titled: bool, headings: set[str]) -> int | None:
    """The last line of a list of entries that begins with a line; None where there is no such list."""
    last: int | None = None
    entries = missed = 0
    for at in range(first, len(lines)):
        line = text[lines[at].start : lines[at].end]
        if _is_entry(line, titled, headings):
            last, entries, missed = at, entries + 1, 0
            continue
        missed += 1
        # An entry may run over two lines, of which the second has the page.
        if missed > 1 or last is None or len(line) > _LONGEST_ENTRY:
            break
    return last if entries >= (_FEWEST if titled else _FEWEST_UNTITLED) else None


def _is_entry(line: str, titled: bool, headings: set[str]) -> bool:
    if len(line) > _LONGEST_ENTRY:
        return False
    if _LEADER.match(line.lstrip()) or _LOCAL_LINK.match(line):
        return True
    return titled and bool(_NUMBERED.match(line) or _PAGE_AT_END.match(line) or _words(line) in headings)


def _is_title(line: str) -> bool:
    return len(line) < _LONGEST_ENTRY and _TITLE.fullmatch(_words(line)) is not None


def _words(line: str) -> str:
    """A line's words without number, markup and page."""
    line = " ".join(unicodedata.normalize("NFKC", line).split())
    return " ".join(re.sub(r"[*_#:|]", " ", _WITHOUT_NUMBER.sub("", line)).split()).casefold()


def _lines(text: str, span: Span) -> Iterator[Span]:
    """The lines that are not blank."""
    for line in re.compile(r"[^\n]+").finditer(text, span.start, span.end):
        if not line.group().isspace():
            yield Span(line.start(), line.end())
