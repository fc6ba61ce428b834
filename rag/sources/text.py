"""Plain text: from bytes to characters, and the headings that are plain to see."""

from __future__ import annotations

import codecs
import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from rag.errors import SourceError
from rag.types import DEFAULT_READING, ReadOptions, Section, SourceDocument, Span

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_GUESSING_SAMPLE = 100_000  # bytes; more makes the guess slower, not better

_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f]")
_NUMBERED = re.compile(
    r"(?P<number>(?:Annex|Appendix) [A-Z](?=[.: ]|$)|[A-Z](?:\.\d{1,3})+|\d{1,3}(?:\.\d{1,3})*)[.:]?"
    r"(?:[ \t]{1,4}(?P<title>\S.*))?",
)
_UNDERLINE = re.compile(r"(=|-|~){3,}[ \t]*")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading that a reader found: where it starts, how deep it is (1 is outermost), and its words."""

    start: int
    level: int
    title: str


def read_text(data: bytes, title: str, options: ReadOptions = DEFAULT_READING) -> SourceDocument:
    """Reads a plain text file.

    Args:
        data: The file's bytes.
        title: Taken when the text does not begin with a heading.

    Raises:
        SourceError: It is not text, or there is nothing in it.
    """
    text, problems = decode(data)
    if not text.strip():
        raise SourceError("There is no text in the file, only blanks.")
    headings = _headings(text)
    if headings and not text[: headings[0].start].strip():
        title = headings[0].title
    return SourceDocument(
        text=text,
        title=title,
        sections=sections(text, headings),
        sha256=hashlib.sha256(data).hexdigest(),
        problems=problems,
    )


def decode(data: bytes) -> tuple[str, tuple[str, ...]]:
    r"""Turns bytes into text with ``\n`` line ends and without NUL.

    Returns:
        The text, and what had to be guessed or replaced.

    Raises:
        SourceError: The bytes are not text in any encoding that is known here.
    """
    text, problem = _decode(data)
    problems = [problem] if problem else []
    if nuls := text.count("\0"):
        problems.append(f"NUL characters, replaced: {nuls}")
        text = text.replace("\0", "\N{REPLACEMENT CHARACTER}")
    return re.sub(r"\r\n?|\f", "\n", text), tuple(problems)


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


def _decode(data: bytes) -> tuple[str, str]:
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            text = data[len(mark) :].decode(encoding, "replace")
            return text, _replaced(text, encoding.upper())
    text = data.decode("utf-8", "replace")
    broken = text.count("\N{REPLACEMENT CHARACTER}") - data.count("\N{REPLACEMENT CHARACTER}".encode())
    shifted = b"\x1b$" in data  # ISO-2022-JP is made of ASCII bytes only
    wide = data.count(0) > len(data) / 10  # so is UTF-16 of Latin text, with a NUL to every letter
    if not shifted and not wide:
        letters = sum(1 for character in text if character > "\x7f") - broken
        if not broken or letters > 4 * broken:
            return text, _replaced(text, "UTF-8") if broken else ""
    guess = "iso2022_jp" if shifted else _guess(data)
    if guess in ("", "ascii", "utf_8"):
        problem = _replaced(text, "UTF-8")
    else:
        text = data.decode(guess, "replace")
        name = guess.replace("_", "-").upper()
        problem = f"the file is not UTF-8; it was read as {name}, which is a guess"
    noise = len(_CONTROLS.findall(text))
    if noise > len(text) / 20 or text.count("\N{REPLACEMENT CHARACTER}") > len(text) / 3:
        raise SourceError("The file is not text, or its encoding cannot be told.", "Save it as UTF-8 if it is text.")
    return text, problem


def _replaced(text: str, encoding: str) -> str:
    broken = text.count("\N{REPLACEMENT CHARACTER}")
    return f"characters that are not valid {encoding}, replaced: {broken}" if broken else ""


def _guess(data: bytes) -> str:
    """The likely encoding by the frequencies of letters; empty when nothing fits."""
    import charset_normalizer

    sample = data[:_GUESSING_SAMPLE]
    # A sample that ends inside a character fits no encoding; a cut at a line feed is inside one of UTF-16.
    for part in dict.fromkeys((sample[: sample.rfind(b"\n") + 1] or sample, sample)):
        if best := charset_normalizer.from_bytes(part).best():
            return best.encoding
    return ""


def _headings(text: str) -> list[Heading]:
    """Finds headings that stand alone: numbered, underlined, or in capitals.

    A heading is one short line at the margin between blank lines. Running heads of paginated text look the same as
    headings in capitals do, so a title that comes twice is none.
    """
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    found: list[Heading] = []
    for index, line in enumerate(lines):
        if not line.strip() or line[0].isspace() or (index > 0 and lines[index - 1].strip()):
            continue
        below = lines[index + 1] if index + 1 < len(lines) else ""
        if _UNDERLINE.fullmatch(below) and len(below.rstrip()) >= len(line.rstrip()) - 2:
            found.append(Heading(starts[index], 1 if below[0] == "=" else 2, line.strip()))
        elif not below.strip() and (level := _level(line.strip())):
            found.append(Heading(starts[index], level, line.strip()))
    times = Counter(heading.title for heading in found)
    return [heading for heading in found if times[heading.title] == 1]


def _level(line: str) -> int:
    """How deep a line stands as a heading by its looks; 0 when it does not look like one."""
    if len(line) > 90 or line.endswith((".", ",", ";", ":", "!", "?")) or "...." in line:
        return 0
    if numbered := _NUMBERED.fullmatch(line):
        number, title = numbered["number"], numbered["title"] or ""
        # "3 eggs" and "2024" are none; "15.3.1 200 OK" and a bare "4.2" are.
        plain = number.isdecimal() and (not title or title[0].isdecimal())
        return 0 if plain or (title[:1].isascii() and title[:1].islower()) else number.count(".") + 1
    letters = [character for character in line if character.isalpha()]
    return 1 if len(letters) >= 4 and all(letter.isupper() for letter in letters) else 0
