"""A document while a reader writes it: blocks of text with their headings, places and faults, in order."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence

from rag.errors import SourceError
from rag.sources.hidden import Noted, note, placed, shortened
from rag.sources.plain.text import Heading, sections
from rag.types import Concealment, Hidden, Mark, Remedy, Section, SourceDocument, Span, Unit

_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x84\x86-\x9f\ufeff\u200b]")
_LETTER = "[A-Za-z\u00c0-\u024f\u0370-\u052f]"  # of writings that need no sign to say where a line may break
_CUT_WORD = re.compile(f"{_LETTER}*{_LETTER}[\ufeff\u200b]+{_LETTER}(?:{_LETTER}|[\ufeff\u200b])*")
_SURROGATES = re.compile(r"[\ud800-\udfff]")
_LINE_END = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_SPACES_AT_LINE_END = re.compile(r"[^\S\n]+(?=\n|\Z)")
_LONGEST_LABEL = 60  # characters
_MOST_CHARACTERS = 30_000_000  # forty thousand pages

_SUPERSCRIPTS = str.maketrans("0123456789+-=()ni\N{MINUS SIGN}", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ⁻")
_SUBSCRIPTS = str.maketrans("0123456789+-=()\N{MINUS SIGN}", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎₋")


class Draft:
    """Collects a document's text from top to bottom.

    Blocks are parted by a blank line, items of a list by a line break. Control characters, lone surrogates and blanks
    at the ends of lines are taken out.
    """

    def __init__(self) -> None:
        self.problems: list[str] = []
        self.notes: list[str] = []
        self.remedies: list[Remedy] = []
        self.encoding = ""
        self._text: list[str] = []
        self._length = 0
        self._headings: list[Heading] = []
        self._marks: list[Mark] = []
        self._noted: list[Noted] = []
        self._hidden: list[Hidden] = []
        self._left_out: list[str] = []
        self._list_open = False

    @property
    def length(self) -> int:
        """Characters so far."""
        return self._length

    @property
    def text(self) -> str:
        """All text so far."""
        return "".join(self._text)

    @property
    def first_heading(self) -> str:
        """The words of the first heading; empty as long as there is none."""
        return self._headings[0].title if self._headings else ""

    def heading(self, level: int, title: str) -> None:
        """Begins a section.

        Args:
            level: How deep it is; 1 is outermost, and 0 stands above that.
            title: Its words; without any there is no section.
        """
        title = " ".join(_clean(title).split())
        if title and (start := self._add(title, "\n\n")) is not None:
            self._headings.append(Heading(start, level, title))

    def paragraph(self, text: str) -> None:
        """Adds a block."""
        self._add(text, "\n\n")

    def item(self, text: str, depth: int = 0, sign: str = "-") -> None:
        """Adds an item of a list.

        Args:
            text: Its words.
            depth: Lists around its own.
            sign: What stands before it: a dash, or its number.
        """
        text = _clean(text).strip()
        if text:
            indent = "  " * min(depth, 8)
            hanging = text.replace("\n", "\n" + indent + "  ")
            if self._add(f"{indent}{sign} {hanging}", "\n" if self._list_open else "\n\n", indented=True) is not None:
                self._list_open = True

    def line(self, text: str) -> None:
        """Adds a line of a listing, with its indentation, right below the line before."""
        if self._add(text, "\n" if self._list_open else "\n\n", indented=True) is not None:
            self._list_open = True

    def table(self, rows: Iterable[Sequence[str]]) -> None:
        """Adds a table in Markdown; the first row is its head. Empty rows and columns are left out."""
        self._add("\n".join(_table_lines([row for row in map(_cells, rows) if any(row)])), "\n\n")

    def numbered_table(self, rows: Iterable[tuple[int, Sequence[str]]]) -> None:
        """Adds a table whose rows keep the numbers that they have in their sheet."""
        kept = [(number, row) for number, row in ((number, _cells(row)) for number, row in rows) if any(row)]
        lines = _table_lines([row for _, row in kept])
        start = self._add("\n".join(lines), "\n\n")
        if start is None:
            return
        numbers = [number for number, _ in kept]
        if len(lines) > len(numbers):
            numbers.insert(0, numbers[0])  # the ruler counts as the head
        for at, line in enumerate(lines):
            if at == 0 or numbers[at] != numbers[at - 1] + 1:
                self._marks.append(Mark(start, "row", numbers[at]))
            start += len(line) + 1

    def mark(self, unit: Unit, number: int) -> None:
        """Says where the blocks that follow are, in the file's own count; 0 ends the counting."""
        self._list_open = False
        start = self._length + 2 if self._length else 0
        self._marks = [mark for mark in self._marks if mark.start < start]
        self._marks.append(Mark(start, unit, number))

    def conceal(self, how: Concealment, words: str) -> None:
        """Says that some of the words of the blocks that follow are not to be seen in the file.

        Args:
            how: What keeps them from being seen.
            words: The words; blanks and signs between them need not agree with what is added.
        """
        self._noted.append(Noted(self._length, how, words))

    def leave_out(self, words: str) -> None:
        """Says that words were left out because the file itself says that they are not to be shown."""
        if words := " ".join(_clean(words).split()):
            self._left_out.append(words)

    def take_hidden(self, other: Draft) -> None:
        """Takes over what another draft was told of hidden words, where its text becomes a part of this one's."""
        self._noted += [Noted(self._length, one.how, one.words) for one in other._noted]
        self._left_out += other._left_out

    def append(self, document: SourceDocument, heading: str, level: int) -> None:
        """Adds another document as a section of this one, with all its sections and places below.

        Its pages become the innermost headings, since one file has one count of pages only.
        """
        self.heading(level, heading)
        if not document.text.strip():
            return
        shift = self._add(document.text, "\n\n", indented=True, clean=False)
        if shift is None:
            return
        for section in _by_page(document):
            for depth, title in enumerate(section.heading_path, start=level + 1):
                self._headings.append(Heading(shift + section.span.start, depth, title))
        self._hidden += [Hidden(Span(shift + one.span.start, shift + one.span.end), one.how) for one in document.hidden]
        if document.marks:
            self._marks += [Mark(shift + mark.start, mark.unit, mark.number) for mark in document.marks]
            self._marks.append(Mark(self._length + 2, document.marks[-1].unit, 0))

    def finish(self, data: bytes, title: str) -> SourceDocument:
        """The finished document.

        Args:
            data: The bytes of the file.
            title: Of the document.

        Raises:
            SourceError: It has no text at all.
        """
        text = self.text
        if not text.strip():
            reason = f": {self.problems[0]}" if self.problems else ""
            raise SourceError(f"There is no text in the file{reason}.", remedy=next(iter(self.remedies), None))
        own = placed(text, self._noted)
        hidden = tuple(sorted((*self._hidden, *own), key=lambda one: one.span.start))
        return SourceDocument(
            text=text,
            title=" ".join(_clean(title).split()) or self.first_heading or "Untitled",
            sections=sections(text, self._headings),
            sha256=hashlib.sha256(data).hexdigest(),
            problems=tuple(dict.fromkeys(self.problems)),
            marks=tuple(mark for mark in self._marks if mark.start < len(text)),
            encoding=self.encoding,
            remedies=tuple(dict.fromkeys(self.remedies)),
            notes=tuple(dict.fromkeys((*self.notes, *_left_out(self._left_out), *note(text, own)))),
            hidden=hidden,
        )

    def _add(self, text: str, separator: str, indented: bool = False, clean: bool = True) -> int | None:
        """Adds text, and says where it starts; None when there was nothing to add, or no room."""
        if clean and ("\u200b" in text or "\ufeff" in text):
            for word in _CUT_WORD.findall(text):
                self.conceal("characters", word)
        if clean:
            text = _clean(text).rstrip() if indented else _clean(text).strip()
        if not text:
            return None
        if self._length + len(text) > _MOST_CHARACTERS:
            self.problems.append(f"more than {_MOST_CHARACTERS:,} characters; what comes after was left out")
            return None
        if self._length:
            self._text.append(separator)
            self._length += len(separator)
        start = self._length
        self._text.append(text)
        self._length += len(text)
        self._list_open = False
        return start


def _left_out(parts: Sequence[str]) -> tuple[str, ...]:
    """A note on words that were left out; none where there were none."""
    words = sum(len(part.split()) for part in parts)
    counted = "1 word" if words == 1 else f"{words:,} words"
    return (f"hidden text was left out: {counted}, “{shortened(parts[0])}”",) if parts else ()


def _cells(row: Sequence[str]) -> list[str]:
    return [" ".join(_clean(cell).split()) for cell in row]


def _table_lines(rows: list[list[str]]) -> list[str]:
    """A table's lines in Markdown without its empty columns; a single column needs no bars."""
    width = max((len(row) for row in rows), default=0)
    filled = [column for column in range(width) if any(column < len(row) and row[column] for row in rows)]
    if len(filled) == 1:
        return [row[filled[0]] for row in rows]
    lines = [
        "| " + " | ".join((row[column] if column < len(row) else "").replace("|", "\\|") for column in filled) + " |"
        for row in rows
    ]
    return [*lines[:1], *(["|" + " --- |" * len(filled)] if lines else []), *lines[1:]]


def label(text: str) -> str:
    """What a cell that is merged over several rows says in those below its first: its words, if they are a label.

    A row then says by itself what it is about; a paragraph that was merged over rows stands in the first one only.
    """
    return text if len(text) <= _LONGEST_LABEL else ""


def raised(text: str) -> str:
    """Text in superscript; as it is where a character has no such form."""
    changed = text.translate(_SUPERSCRIPTS)
    return changed if all(before != after for before, after in zip(text, changed, strict=True)) else text


def lowered(text: str) -> str:
    """Text in subscript; as it is where a character has no such form."""
    changed = text.translate(_SUBSCRIPTS)
    return changed if all(before != after for before, after in zip(text, changed, strict=True)) else text


def _clean(text: str) -> str:
    if _SURROGATES.search(text):  # halves of characters, as RTF and mail may hand them out
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "ignore")
    return _SPACES_AT_LINE_END.sub("", _UNPRINTABLE.sub("", _LINE_END.sub("\n", text)))


def _by_page(document: SourceDocument) -> Iterable[Section]:
    """A document's sections, cut where its pages begin, with the page as the innermost heading."""
    if not document.pages:
        yield from document.sections
        return
    for section in document.sections:
        for page in document.pages:
            start, end = max(section.span.start, page.span.start), min(section.span.end, page.span.end)
            if start < end:
                yield Section((*section.heading_path, f"page {page.number}"), Span(start, end))
