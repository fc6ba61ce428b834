"""Plain text and source code: the headings that are plain to see, the furniture of printed pages, line numbers."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from rag.errors import SourceError
from rag.sources.dates import plain_date
from rag.sources.encodings import Decoded, decode, decode_text
from rag.types import DEFAULT_READING, Mark, ReadOptions, Section, SourceDocument, Span

_NUMBERED = re.compile(
    r"(?P<number>(?:Annex|Appendix|Anhang|Anlage) (?:[A-Z]|[IVX]+|\d{1,3})(?=[.: ]|$)|[A-Z](?:\.\d{1,3})+"
    r"|(?:(?P<kind>§|Part|Teil|Section|Chapter|Abschnitt|Kapitel|Article|Artikel) ?)?\d{1,3}(?:\.\d{1,3})*[a-z]?"
    r"|第 ?[\d一二三四五六七八九十百]{1,6} ?(?P<unit>[部編编章節节条條]))[.:]?"
    r"(?:[ \t]{1,4}(?:--? |– )?(?P<title>\S.*)|　(?P<wide>\S.*))?",
)
_RANKS = {"Part": 0, "Teil": 0, "部": 0, "編": 0, "编": 0, "節": 2, "节": 2, "条": 3, "條": 3} | dict.fromkeys(
    ("§", "Article", "Artikel"), 3
)
_RFC = re.compile(r"^Request for Comments: +(\d+)\b", re.MULTILINE)
_FRONT_PAGE = 3_000  # characters
_UNDERLINE = re.compile(r"(=|-|~){3,}[ \t]*")
_DEFINITION = re.compile(
    r"(?:(?:export|default|pub(?:\([^)\n]{1,30}\))?|public|private|protected|internal|static|final|abstract|sealed|async"
    r"|unsafe|extern|inline|data|case|open|override|partial|local|create|or|replace|CREATE|OR|REPLACE)[ \t]+)*"
    r"(?:def|class|function|func|fn|fun|struct|enum|trait|interface|impl|module|namespace|object|protocol|macro|sub|proc"
    r"|package|type|record|table|view|procedure|trigger|TABLE|VIEW|FUNCTION|PROCEDURE|TRIGGER)\b[ \t]*[\w<(&'\"`\[].*"
    r"|(?!(?:else|if|for|while|switch|return|elif|except|with|case|do|new|throw|await|catch|print|from|import|using)\b)"
    r"[A-Za-z_][\w:<>,*&~\[\]]*(?:[ \t]+[\w:<>,*&~\[\]]+){1,6}[ \t]*\([^;={}]*\)"
    r"[ \t]*(?:const|noexcept|override)?[ \t]*\{?"
    r"|[\w.-]+[ \t]*\(\)[ \t]*\{?"
    r"|[\w.]+[ \t]*(?:<-|=|:=)[ \t]*(?:async[ \t]+)?function\b.*"
    r"|(?:export[ \t]+)?const[ \t]+\w+[ \t]*=[ \t]*(?:async[ \t]*)?(?:\([^)\n]*\)|\w+)[ \t]*=>.*"
)
_ABOVE_DEFINITION = ("#", "//", "/*", " *", "*/", "@", "--", "%", ";;", "[<")
TAKEN_OUT = "\0"
"""Stands in a line where something was taken out, until the lines are put together; no decoded text has it."""

_LONGEST_HEADING = 90  # characters
_PAGES_ALIKE = 3


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading that a reader found: where it starts, how deep it is (1 is outermost), and its words."""

    start: int
    level: int
    title: str


def read_text(data: bytes, title: str, options: ReadOptions = DEFAULT_READING) -> SourceDocument:
    """Reads a plain text file.

    Running headers and footers beside form feeds are taken out.

    Args:
        data: The file's bytes.
        title: Taken when the text does not begin with a heading.

    Raises:
        SourceError: It is not text, or there is nothing in it.
    """
    decoded = decode(data, options.encoding)
    lines = list(enumerate(decoded.text.split("\n"), 1))
    text, marks = join_lines(_without_furniture(lines) if "\f" in decoded.text else lines)
    if not text.strip():
        raise SourceError("There is no text in the file, only blanks.")
    headings = _headings(text)
    if headings and not text[: headings[0].start].strip():
        title = headings[0].title
    printed, dated = _front_page(text)
    return replace(decoded_document(data, printed or title, decoded, text, headings, marks), date=dated)


def _front_page(text: str) -> tuple[str, str]:
    """Title and date of an RFC, as its first page prints them below each other; empty for other texts."""
    paragraphs = [part for part in re.split(r"\n(?:[ \t]*\n)+", text[:_FRONT_PAGE]) if part.strip()]
    for head, title in pairwise(paragraphs):
        if found := _RFC.search(head):
            return f"RFC {found[1]}: {' '.join(title.split())}", plain_date(head)
    return "", ""


def read_code(data: bytes, title: str, options: ReadOptions = DEFAULT_READING) -> SourceDocument:
    """Reads source code; what is defined at the margin, in most languages, begins a section.

    Args:
        data: The file's bytes.
        title: The file's name.

    Raises:
        SourceError: It is not text, or there is nothing in it.
    """
    decoded = decode_text(data, options.encoding)
    text = decoded.text
    return decoded_document(data, title, decoded, text, _definitions(text), (Mark(0, "line", 1),))


def decoded_document(
    data: bytes,
    title: str,
    decoded: Decoded,
    text: str,
    headings: Iterable[Heading] = (),
    marks: Iterable[Mark] = (),
    *,
    problem: str = "",
    notes: Iterable[str] = (),
) -> SourceDocument:
    """A document made of a text file, with what its decoding left to say.

    Args:
        data: The file's bytes.
        title: Of the document.
        decoded: How the bytes were decoded.
        text: What the reader made of the characters.
        headings: In order of their start.
        marks: Where the text is in the file.
        problem: What the reader found wrong; empty: nothing.
        notes: Beside those of ``decoded``.
    """
    return SourceDocument(
        text=text,
        title=title,
        sections=sections(text, headings),
        sha256=hashlib.sha256(data).hexdigest(),
        problems=(*decoded.problems, problem) if problem else decoded.problems,
        marks=tuple(marks),
        encoding=decoded.encoding,
        remedies=decoded.remedies,
        notes=(*decoded.notes, *notes),
    )


def join_lines(lines: Iterable[tuple[int, str]]) -> tuple[str, tuple[Mark, ...]]:
    """Puts numbered lines of a file together.

    Returns:
        The text, and a mark wherever the numbers do not go up by one.
    """
    marks: list[Mark] = []
    kept: list[str] = []
    start, expected = 0, None
    for number, line in lines:
        if number != expected:
            marks.append(Mark(start, "line", number))
        kept.append(line)
        start += len(line) + 1
        expected = number + 1
    return "\n".join(kept), tuple(marks)


def without_gaps(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Drops the lines that are empty now, but for one between paragraphs, and blank lines at the top."""
    after_gap, blank_before = False, True
    top = True
    for number, line in lines:
        taken_out = TAKEN_OUT in line
        line = line.replace(TAKEN_OUT, "")
        blank = not line.strip()
        after_gap = blank and (after_gap or taken_out)
        if (blank and top) or (after_gap and blank_before):
            continue
        yield number, "" if taken_out and blank else line
        blank_before, top = blank, False


def lines_document(
    data: bytes,
    title: str,
    decoded: Decoded,
    lines: Sequence[tuple[int, str]],
    headings: Iterable[tuple[int, int, str]],
    notes: Iterable[str] = (),
) -> SourceDocument:
    """A document made of a file's lines.

    Args:
        data: The file's bytes.
        title: Of the document.
        decoded: How the bytes were decoded.
        lines: What is left of the file, each line with its number there.
        headings: Index in ``lines``, level and words of each.
        notes: Beside those of ``decoded``.

    Raises:
        SourceError: Nothing is left.
    """
    text, marks = join_lines(lines)
    if not text.strip():
        raise SourceError("There is no text in the file, only markup, comments or blanks.")
    starts = line_starts(text)
    found = [Heading(starts[index], level, words) for index, level, words in headings]
    return decoded_document(data, title, decoded, text, found, marks, notes=notes)


def line_starts(text: str) -> list[int]:
    """Where each line starts, and the end of the text."""
    starts = list(accumulate((len(line) + 1 for line in text.split("\n")), initial=0))
    starts[-1] = len(text)
    return starts


def sections(text: str, headings: Iterable[Heading]) -> tuple[Section, ...]:
    """Divides a text at its headings; together the sections cover it, without gaps.

    Args:
        text: The document's text.
        headings: In order of their start. One that starts where the one before does is taken when it is deeper (a
            chapter and its first section share a place), and left out otherwise, as one is that starts before.
    """
    found: list[Section] = []
    above: list[tuple[int, str]] = []
    path: tuple[str, ...] = ()
    start = 0
    for heading in headings:
        nested = bool(above) and heading.level > above[-1][0]
        if heading.start < start or (path and heading.start == start and not nested):
            continue
        if text[start : heading.start].strip():
            found.append(Section(path, Span(start, heading.start)))
            start = heading.start
        above = [(level, title) for level, title in above if level < heading.level]
        above.append((heading.level, heading.title))
        path = tuple(title for _, title in above)
    return (*found, Section(path, Span(start, len(text))))


def _without_furniture(lines: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Takes form feeds out, and the lines beside them that are alike on every page but for numbers.

    A paragraph that goes on over the page break is joined; where another begins, one blank line stays.
    """
    pages: list[list[tuple[int, str]]] = [[]]
    for number, line in lines:
        before, *breaks = line.split("\f")
        pages[-1].append((number, before))
        pages += [[(number, part)] for part in breaks]
    pages = [_trimmed(page) for page in pages]
    tops = Counter(_shape(page[0][1]) for page in pages if page)
    ends = Counter(_shape(page[-1][1]) for page in pages if page)
    open_sentence, first = True, True
    for page in pages:
        if page and ends[_shape(page[-1][1])] >= _PAGES_ALIKE:
            page = _trimmed(page[:-1])
        if page and tops[_shape(page[0][1])] >= _PAGES_ALIKE:
            page = _trimmed(page[1:])
        if not page:
            continue
        if not first and not (open_sentence and page[0][1].lstrip()[:1].islower()):
            yield page[0][0] - 1, ""
        yield from page
        first = False
        open_sentence = page[-1][1].rstrip()[-1:] not in ".!?:;"


def _trimmed(page: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """A page without the blank lines at its top and end."""
    filled = [index for index, (_, line) in enumerate(page) if line.strip()]
    return page[filled[0] : filled[-1] + 1] if filled else []


def _shape(line: str) -> str:
    return " ".join(re.sub(r"\d+|\b[ivxlc]+\b", "0", line).split())


def _definitions(text: str) -> Iterator[Heading]:
    """Finds what is defined at the margin; the comments and decorators right above belong to it."""
    lines = text.split("\n")
    starts = line_starts(text)
    for index, line in enumerate(lines):
        if len(line) > 300 or not _DEFINITION.fullmatch(line.rstrip()):
            continue
        first = index
        while first and lines[first - 1].startswith(_ABOVE_DEFINITION):
            first -= 1
        yield Heading(starts[first], 1, line.strip().rstrip("{:").strip()[:_LONGEST_HEADING])


def _headings(text: str) -> list[Heading]:
    """Finds headings that stand alone: numbered, underlined, or in capitals.

    A heading is one short line at the margin between blank lines. Running heads of paginated text look the same as
    headings in capitals do, so a title that comes twice is none.
    """
    lines = text.split("\n")
    starts = line_starts(text)
    found: list[Heading] = []
    for index, line in enumerate(lines):
        if not line.strip() or line[0].isspace() or (index > 0 and lines[index - 1].strip()):
            continue
        below = lines[index + 1] if index + 1 < len(lines) else ""
        if _UNDERLINE.fullmatch(below) and len(below.rstrip()) >= len(line.rstrip()) - 2:
            found.append(Heading(starts[index], 1 if below[0] == "=" else 2, line.strip()))
        elif not below.strip() and (level := _level(line.strip())) >= 0:
            found.append(Heading(starts[index], level, line.strip()))
    times = Counter(heading.title for heading in found)
    return [heading for heading in found if times[heading.title] == 1]


def _level(line: str) -> int:
    """How deep a line stands as a heading by its looks; -1 when it does not look like one."""
    if len(line) > _LONGEST_HEADING or line.endswith((".", ",", ";", ":", "!", "?")) or "...." in line:
        return -1
    if numbered := _NUMBERED.fullmatch(line):
        number, title = numbered["number"], numbered["title"] or numbered["wide"] or ""
        # "3 eggs" and "2024" are none; "15.3.1 200 OK" and a bare "4.2" are.
        plain = number.isdecimal() and (not title or title[0].isdecimal())
        rank = _RANKS.get(numbered["kind"] or numbered["unit"] or "", 1)
        return -1 if plain or (title[:1].isascii() and title[:1].islower()) else number.count(".") + rank
    letters = [character for character in line if character.isalpha()]
    return 1 if len(letters) >= 4 and all(letter.isupper() for letter in letters) else -1
