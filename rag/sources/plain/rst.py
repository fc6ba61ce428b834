"""reStructuredText: headings by their adornment, directives and roles as their words; comments and targets left out."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag.sources.encodings import decode
from rag.sources.plain.text import TAKEN_OUT, lines_document, without_gaps
from rag.types import DEFAULT_READING, ReadOptions, SourceDocument

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*[ \t]*")
_EXPLICIT = re.compile(r"(?P<indent>[ \t]*)\.\.(?:[ \t]+(?P<words>.*))?$")
_DIRECTIVE = re.compile(r"(?:\|(?P<substitution>[^|]+)\|[ \t]+)?(?P<name>[\w:+.-]*\w)[ \t]*::(?:[ \t]+(?P<words>.*))?$")
_FOOTNOTE = re.compile(r"\[(?P<label>[^\]\s]+)\][ \t]+")
_OPTION = re.compile(r"[ \t]*:(?P<name>[\w-]+(?: [\w-]+)*):(?:[ \t]+(?P<value>.*))?$")
_ROLE = re.compile(r":[a-zA-Z][\w:+.-]{0,40}:`(?P<words>[^`\n]+)`")
_REFERENCE = re.compile(r"(?<!`)`(?P<words>[^`\n]+)`_{1,2}")
_LITERAL = re.compile(r"``(?P<words>[^\n]+?)``")
_TARGET_IN_WORDS = re.compile(r"[ \t]*<[^<>]*>$")
_SUBSTITUTION = re.compile(r"\|(?P<name>[^|\s][^|\n]*)\|")

_ADMONITIONS = ("attention", "caution", "danger", "error", "hint", "important", "note", "tip", "warning", "seealso")
_CODE = ("code", "code-block", "sourcecode", "parsed-literal", "doctest", "testcode", "math", "prompt")
# What they hold is for a program: names of files, of index entries, markup of other languages.
_UNREAD = (
    "toctree",
    "index",
    "raw",
    "meta",
    "contents",
    "include",
    "literalinclude",
    "default-role",
    "role",
    "highlight",
)
_ELSEWHERE = ("include", "literalinclude")
_PICTURES = ("image", "figure")
_SPOKEN_OPTIONS = ("alt", "caption")
_LONGEST_HEADING = 500  # characters


def read_rst(data: bytes, title: str, options: ReadOptions = DEFAULT_READING) -> SourceDocument:
    """Reads a reStructuredText file.

    Args:
        data: The file's bytes.
        title: Taken when no heading gives one.

    Raises:
        SourceError: It is not text, or there is nothing in it.
    """
    decoded = decode(data, options.encoding)
    parser = _Parser(decoded.text.split("\n"))
    lines = list(without_gaps(enumerate(parser.lines, 1)))
    index_of = {number: index for index, (number, _) in enumerate(lines)}
    headings = [(index_of[number], level, words) for number, level, words in parser.headings if number in index_of]
    notes = [f"includes {name}, which is read where it is a file of its own" for name in parser.elsewhere]
    return lines_document(data, headings[0][2] if headings else title, decoded, lines, headings, notes)


class _Parser:
    """Goes through the lines once.

    Attributes:
        lines: As they are to be read, as many as there were.
        headings: Line number, level and words of each.
        elsewhere: Files that are included.
    """

    def __init__(self, source: Sequence[str]) -> None:
        self.lines: list[str] = []
        self.headings: list[tuple[int, int, str]] = []
        self.elsewhere: list[str] = []
        self._source = source
        self._styles: list[tuple[str, bool]] = []
        self._substitutions = self._substituted()
        while len(self.lines) < len(source):
            self._next()

    def _substituted(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for line in self._source:
            if line.startswith(".. |") and (match := _DIRECTIVE.match(line[3:])) and match["name"] == "replace":
                found[match["substitution"] or ""] = match["words"] or ""
        return found

    def _line(self, index: int) -> str:
        return self._source[index] if index < len(self._source) else ""

    def _next(self) -> None:
        index = len(self.lines)
        line = self._source[index]
        if self._heading(index):
            return
        if explicit := _EXPLICIT.match(line):
            self._block(index, len(explicit["indent"]), explicit["words"] or "")
        elif line.rstrip().endswith("::"):
            self.lines.append(self._words(line.rstrip()[:-1]) if line.strip() != "::" else TAKEN_OUT)
            self._verbatim(len(line) - len(line.lstrip()))
        elif line.startswith("__ "):
            self.lines.append(TAKEN_OUT)
        else:
            self.lines.append(self._words(line))

    def _heading(self, index: int) -> bool:
        """Takes a heading with its adornment, if one begins here."""
        line, below, second = self._line(index), self._line(index + 1), self._line(index + 2)
        if index and self._source[index - 1].strip() and not _ADORNMENT.fullmatch(self._source[index - 1]):
            return False
        over = bool(_is_adornment(line) and below.strip() and _is_adornment(second) and line[0] == second[0])
        words, under = (below, second) if over else (line, below)
        if not _is_adornment(under) or not words.strip() or (not over and (words[0].isspace() or _is_adornment(words))):
            return False
        if len(words) > _LONGEST_HEADING or len(under.rstrip()) < min(len(words.strip()), 4):
            return False
        style = under[0], over
        if style not in self._styles:
            self._styles.append(style)
        title = self._words(words.strip())
        if over:
            self.lines.append(TAKEN_OUT)
        self.headings.append((len(self.lines) + 1, self._styles.index(style) + 1, title))
        self.lines += (title, TAKEN_OUT)
        return True

    def _block(self, index: int, indent: int, words: str) -> None:
        """A directive, footnote, target or comment, with the indented lines that belong to it."""
        if footnote := _FOOTNOTE.match(words):
            self.lines.append(f"[{footnote['label']}] {self._words(words[footnote.end() :])}")
            return
        directive = _DIRECTIVE.match(words)
        if directive is None or directive["substitution"]:
            self.lines.append(TAKEN_OUT)
            self._drop(indent)
            return
        name = directive["name"].rpartition(":")[2].lower()
        argument = directive["words"] or ""
        if name in _ELSEWHERE and argument:
            self.elsewhere.append(argument)
        if name in _UNREAD:
            self.lines.append(TAKEN_OUT)
            self._drop(indent)
            return
        shown = argument
        if name in _ADMONITIONS:
            shown = f"{name.capitalize()}: {argument}".rstrip()
        elif name in _PICTURES or (name in _CODE and name != "math"):
            shown = ""
        self.lines.append(" " * indent + self._words(shown) if shown else TAKEN_OUT)
        while (option := _OPTION.match(self._line(len(self.lines)))) and _indent(option.string) > indent:
            spoken = option["value"] if option["name"] in _SPOKEN_OPTIONS else ""
            self.lines.append(self._words(spoken) if spoken else TAKEN_OUT)
        if name in _CODE:
            self._verbatim(indent)

    def _drop(self, indent: int) -> None:
        while len(self.lines) < len(self._source):
            line = self._source[len(self.lines)]
            if line.strip() and _indent(line) <= indent:
                break
            self.lines.append(TAKEN_OUT if line.strip() else "")

    def _verbatim(self, indent: int) -> None:
        """Takes the indented lines that follow as they are."""
        while len(self.lines) < len(self._source):
            line = self._source[len(self.lines)]
            if line.strip() and _indent(line) <= indent:
                break
            self.lines.append(line)

    def _words(self, line: str) -> str:
        """A line without the markup inside of it."""
        if "`" in line:
            line = _ROLE.sub(lambda match: _without_target(match["words"]), line)
            line = _LITERAL.sub(r"`\g<words>`", line)
            line = _REFERENCE.sub(lambda match: _without_target(match["words"]), line)
        if "|" in line and self._substitutions:
            line = _SUBSTITUTION.sub(lambda match: self._substitutions.get(match["name"], match.group()), line)
        return line


def _without_target(words: str) -> str:
    return _TARGET_IN_WORDS.sub("", words).strip().removeprefix("~") or words.strip(" <>")


def _is_adornment(line: str) -> bool:
    return len(line.rstrip()) >= 2 and bool(_ADORNMENT.fullmatch(line))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
