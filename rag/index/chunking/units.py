"""What chunks are packed from: the smallest parts of a text that are not torn.

Paragraphs, code blocks and tables are units where they fit, else their sentences, lines and rows, else words. A caption
stays with what it captions, and a line that ends in a colon with what it announces.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from rag.index.chunking.measure import Measure
from rag.index.chunking.sentences import LINE, PARAGRAPH, SENTENCE, WORD, parts, stripped
from rag.types import Span

_DELIMITER_ROW = re.compile(
    # No two runs of white space side by side, which would take time by the square of their length.
    r"^(?=[ \t|:-]*-)[ \t]*(?:\|[ \t]*)?:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*(?:\|[ \t]*)?$",
    re.MULTILINE,
)
_FENCE = re.compile(r"^[ \t]*(?P<fence>`{3,}|~{3}(?!~))(?P<info>[^`\n]*)$", re.MULTILINE)
_TABLE_CAPTION = re.compile(
    r"(?:<[^>\n]*>|[\W_])*(?:table|tab|tabelle|tableau|tabla|tabella|tabela|таблица|表|표)[\W_]*[\dIVXA-Z]",
    re.IGNORECASE,
)
_FIGURE_CAPTION = re.compile(
    r"(?:<[^>\n]*>|[\W_])*(?:figure|fig|abbildung|abb|figura|listing|рисунок|рис|図|リスト|图|圖|示例|그림)[\W_]*[\dIVXA-Z]",
    re.IGNORECASE,
)
_LABEL = re.compile(r"<[^>\n]+>.*</[^>\n]+>|(?P<mark>\*\*|__|\*|_|`)(?!\s).+(?P=mark):?")
_ASIAN = "[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\U00020000-\U0002ffff]"
_WORDS = re.compile(rf"{_ASIAN}{{1,4}}[^\w\s]*|(?:(?!{_ASIAN})\S)+")
_PROSE = (PARAGRAPH, SENTENCE, WORD)
_CODE = (PARAGRAPH, LINE, WORD)
_LONGEST_CAPTION = 300  # characters


@dataclass(frozen=True, slots=True)
class Units:
    """A text's units.

    Attributes:
        spans: In order; together they cover all but white space.
        context: What has to be read above a piece that begins at a character (the head of a table), and how many
            tokens the piece may have.
    """

    spans: list[Span]
    context: Callable[[int], tuple[str, int]]


def line_units(measure: Measure, span: Span, limit: int) -> Units:
    """Lines, or parts of them."""
    return Units(list(_smaller(measure, span, lambda _: limit, (LINE, WORD))), lambda _: ("", limit))


def word_units(measure: Measure, span: Span, limit: int) -> Units:
    """Words, or a few characters of scripts that do not part them."""
    spans: list[Span] = []
    for word in _WORDS.finditer(measure.text, span.start, span.end):
        spans += _smaller(measure, Span(word.start(), word.end()), lambda _: limit, ())
    return Units(spans, lambda _: ("", limit))


def text_units(measure: Measure, span: Span, limit: int, room: int) -> Units:
    """Paragraphs, code blocks and tables, or parts of them.

    Args:
        measure: Counts tokens.
        span: The part of the text.
        limit: The most tokens that a piece may have.
        room: The most that a piece may have with its context.
    """
    layout = _Layout(measure, span, limit, room)
    return Units(list(layout.units()), layout.context)


@dataclass(frozen=True, slots=True)
class _Table:
    """A Markdown table: from its caption or header on, its first row after the delimiter, its end, and its head."""

    start: int
    body: int
    end: int
    caption: str
    head: str


class _Layout:
    """The tables, code blocks and paragraphs of a part of a text."""

    def __init__(self, measure: Measure, span: Span, limit: int, room: int) -> None:
        self._measure = measure
        self._text = measure.text
        self._span = span
        self._limit = limit
        self._fenced = list(_fenced(measure.text, span))
        self._tables = list(_tables(measure.text, span, self._fenced))
        self._contexts = [self._context_of(table, room) for table in self._tables]

    def units(self) -> Iterator[Span]:
        """What belongs together is one unit, where it fits."""
        held: Span | None = None
        for unit in self._parts():
            joined = held and self._belongs(held, unit) and Span(held.start, unit.end)
            if held and joined and self._measure.fits(joined, self._most(joined.start)):
                held = joined
                continue
            if held:
                yield held
            held = unit
        if held:
            yield held

    def context(self, start: int) -> tuple[str, int]:
        """What has to be read above a piece that begins at ``start``, and how many tokens the piece may have."""
        at = bisect_right(self._tables, start, key=lambda table: table.body) - 1
        if at >= 0 and start < self._tables[at].end:
            return self._contexts[at]
        return "", self._limit

    def _most(self, start: int) -> int:
        return self.context(start)[1]

    def _parts(self) -> Iterator[Span]:
        at = self._span.start
        solid: list[_Table | Span] = sorted((*self._tables, *self._fenced), key=lambda part: part.start)
        for part in solid:
            if part.start < at:
                continue
            yield from self._paragraphs(Span(at, part.start))
            yield from self._rows(part) if isinstance(part, _Table) else self._smaller(part, _CODE)
            at = part.end
        yield from self._paragraphs(Span(at, self._span.end))

    def _paragraphs(self, span: Span) -> Iterator[Span]:
        for paragraph in parts(self._text, span, PARAGRAPH):
            yield from self._smaller(paragraph)

    def _rows(self, table: _Table) -> Iterator[Span]:
        """A table: whole if it fits, else its head with the first row, and every other row."""
        whole = stripped(self._text, Span(table.start, table.end))
        if whole is not None and self._measure.fits(whole, self._limit):
            yield whole
            return
        start = table.start
        for line in re.finditer(r"[^\n]+", self._text[table.body : table.end]):
            row = stripped(self._text, Span(start, table.body + line.end()))
            if row is None:
                continue
            if start == table.start and not self._measure.fits(row, self._limit):
                if head := stripped(self._text, Span(table.start, table.body)):
                    yield from self._smaller(head)
                row = stripped(self._text, Span(table.body, table.body + line.end()))
            if row is not None:
                yield from self._smaller(row)
            start = table.body + line.end()
        if rest := stripped(self._text, Span(start, table.end)):
            yield from self._smaller(rest)

    def _smaller(self, span: Span, separators: tuple[re.Pattern[str], ...] = _PROSE) -> Iterator[Span]:
        inner = stripped(self._text, span)
        return _smaller(self._measure, inner, self._most, separators) if inner else iter(())

    def _belongs(self, before: Span, unit: Span) -> bool:
        """Whether a unit is to be read with the one before it: one is the other's caption, or announces it."""
        if "\n" not in self._text[before.end : unit.start]:
            return False
        above = self._measure.of(before).rsplit("\n\n", 1)[-1]
        first_line = self._measure.of(unit).partition("\n")[0]
        return (
            above.endswith((":", "："))
            or (len(above) <= _LONGEST_CAPTION and _TABLE_CAPTION.match(above) is not None)
            or (_LABEL.fullmatch(above) is not None and first_line.lstrip().startswith(("```", "~~~", "|")))
            or _FIGURE_CAPTION.match(first_line) is not None
            or (above.endswith("|") and _TABLE_CAPTION.match(first_line) is not None)
        )

    def _context_of(self, table: _Table, room: int) -> tuple[str, int]:
        for context in filter(None, ("\n".join(filter(None, (table.caption, table.head))), table.head)):
            tokens = self._measure.count(context + "\n")
            if tokens <= room // 2:
                return context, min(self._limit, room - tokens)
        return "", self._limit


def _smaller(
    measure: Measure, span: Span, most: Callable[[int], int], separators: tuple[re.Pattern[str], ...]
) -> Iterator[Span]:
    """The span if it fits, else the largest parts that do, else runs of characters."""
    if measure.fits(span, most(span.start)):
        yield span
        return
    for separator in separators:
        smaller = list(parts(measure.text, span, separator))
        if len(smaller) > 1:
            for part in smaller:
                yield from _smaller(measure, part, most, separators)
            return
    if span.end - span.start <= 1:
        yield span
        return
    middle = (span.start + span.end) // 2
    for half in (Span(span.start, middle), Span(middle, span.end)):
        yield from _smaller(measure, half, most, separators)


def _fenced(text: str, span: Span) -> Iterator[Span]:
    """The code blocks between fences in a span, in order; what is not closed is none."""
    opening: re.Match[str] | None = None
    for line in _FENCE.finditer(text, span.start, span.end):
        if opening is None:
            opening = line
        elif line["fence"].startswith(opening["fence"]) and not line["info"].strip():
            yield Span(opening.start(), line.end())
            opening = None


def _tables(text: str, span: Span, fenced: Iterable[Span]) -> Iterator[_Table]:
    """The Markdown tables in a span, in order; those in code are none."""
    end = span.start
    codes = list(fenced)
    for delimiter in _DELIMITER_ROW.finditer(text, span.start, span.end):
        at = bisect_right(codes, delimiter.start(), key=lambda code: code.start) - 1
        if delimiter.start() < end or "|" not in delimiter.group() or delimiter.start() == span.start:
            continue
        if at >= 0 and delimiter.start() < codes[at].end:
            continue
        header = text.rfind("\n", span.start, delimiter.start() - 1) + 1 or span.start
        if header < end or "|" not in text[header : delimiter.start()]:
            continue
        body = min(delimiter.end() + 1, span.end)
        last = body
        for line in re.compile(r"[^\n]*\n?").finditer(text, body, span.end):
            if "|" not in line.group():
                break
            last = line.end()
        begin = max(span.start, end, codes[at].end if at >= 0 else 0)
        caption = _caption(text, begin, header)
        captioned = text[caption.start : caption.end].strip() if caption else ""
        yield _Table(
            caption.start if caption else header, body, last, captioned, text[header : delimiter.end()].strip()
        )
        end = last


def _caption(text: str, start: int, header: int) -> Span | None:
    """The line above a table's header, if it is the table's caption: right above it, or named as one."""
    above = text[start:header]
    line = above.rstrip().rsplit("\n", 1)[-1]
    if not line.strip() or len(line) > _LONGEST_CAPTION:
        return None
    begins = start + above.rstrip().rfind("\n") + 1
    blank_lines = above[len(above.rstrip()) :].count("\n") - 1
    if line.lstrip().startswith("#") or blank_lines > 1 or (blank_lines == 1 and not _TABLE_CAPTION.match(line)):
        return None
    return Span(begins, begins + len(line))
