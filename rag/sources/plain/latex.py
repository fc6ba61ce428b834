"""LaTeX source: the words between the commands, with sections, title and abstract; formulas stay as they are."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import replace

from rag.sources.encodings import decode
from rag.sources.plain.text import line_starts, lines_document
from rag.types import DEFAULT_READING, ReadOptions, Section, SourceDocument, Span

_TOKEN = re.compile(
    r"\\(?P<command>[A-Za-z@]+\*?)[ \t]*|\\(?P<sign>[^A-Za-z@])|(?P<comment>%[^\n]*)|(?P<dollars>\$\$?)"
    r"|(?P<open>\{)|(?P<close>\})|(?P<quote>``|''|---?|~|&)|(?P<words>[^\\%${}`'~&-]+|[`'-])"
)
_SECTIONS = {"part": 1, "chapter": 2, "section": 3, "subsection": 4, "subsubsection": 5, "paragraph": 6}
_FORMULAS = ("equation", "align", "gather", "multline", "eqnarray", "displaymath", "math", "flalign", "alignat")
_VERBATIM = ("verbatim", "Verbatim", "lstlisting", "minted", "alltt")
_HIDDEN = ("comment", "filecontents", "tikzpicture")
_WITH_ARGUMENT = ("tabular", "tabularx", "longtable", "array", "minipage", "multicols", "wrapfigure", "thebibliography")
# Commands whose arguments are for the typesetter, with the number of arguments.
_UNREAD = {
    **dict.fromkeys(
        (
            "title",
            "author",
            "thanks",
            "label",
            "vspace",
            "hspace",
            "bibliographystyle",
            "pagestyle",
            "thispagestyle",
            "usepackage",
        ),
        1,
    ),
    **dict.fromkeys(("includegraphics", "documentclass", "bibliography", "graphicspath", "pagenumbering", "color"), 1),
    **dict.fromkeys(("setcounter", "addtocounter", "setlength", "addtolength", "definecolor", "hypersetup"), 2),
    **dict.fromkeys(("newcommand", "renewcommand", "providecommand", "DeclareMathOperator", "newtheorem"), 2),
    **dict.fromkeys(("def", "let", "cline", "rule", "phantom", "index", "nocite", "addbibresource", "date"), 1),
    **dict.fromkeys(("textcolor", "href"), 1),
    **dict.fromkeys(("multicolumn", "multirow", "resizebox"), 2),
    **dict.fromkeys(("newenvironment", "renewenvironment"), 3),
}
_CITATIONS = (
    "bibitem",
    "cite",
    "citep",
    "citet",
    "citeauthor",
    "citeyear",
    "parencite",
    "textcite",
    "autocite",
    "footcite",
)
_REFERENCES = ("ref", "eqref", "autoref", "cref", "Cref", "pageref", "nameref", "url", "path", "nolinkurl")
_INCLUDES = ("input", "include", "subfile")
_SPOKEN = {
    **{"ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "o": "ø", "O": "Ø", "aa": "å", "AA": "Å", "l": "ł"},
    **{"L": "Ł", "i": "ı", "j": "ȷ", "S": "§", "P": "¶", "dots": "…", "ldots": "…", "textellipsis": "…"},
    **{"textendash": "–", "textemdash": "—", "textbackslash": "\\", "textasciitilde": "~", "textbar": "|"},
    **{"textdegree": "°", "degree": "°", "euro": "€", "texteuro": "€", "pounds": "£", "copyright": "©", "dag": "†"},
    **{"LaTeX": "LaTeX", "TeX": "TeX", "BibTeX": "BibTeX", "quad": " ", "qquad": " ", "par": " ", "newline": " "},
    **{"textquotedblleft": "“", "textquotedblright": "”", "glqq": "„", "grqq": "“", "and": ", "},
    **{"guillemotleft": "«", "guillemotright": "»", "og": "« ", "fg": " »", "slash": "/", "textmu": "µ"},
}
_SIGNS = {"\\": " ", ",": " ", ";": " ", ":": " ", " ": " ", "\n": "\n", "!": "", "-": "", "/": "", "@": ""}
_QUOTES = {"``": "“", "''": "”", "--": "–", "---": "—", "~": " ", "&": "|"}
_ACCENTS = {
    **{"`": "\u0300", "'": "\u0301", "^": "\u0302", "~": "\u0303", '"': "\u0308", "=": "\u0304", ".": "\u0307"},
    **{"u": "\u0306", "v": "\u030c", "H": "\u030b", "c": "\u0327", "k": "\u0328", "r": "\u030a", "d": "\u0323"},
    "b": "\u0331",
}
_ACCENTED = re.compile(
    r"[ \t]*(?:\{[ \t]*(?P<grouped>\\[ij]|[^\W\d_])?[ \t]*\}|(?P<letter>\\[ij](?![A-Za-z])|[^\W\d_]))"
)
_OPTIONAL = re.compile(r"[ \t]*\[[^\[\]\n]{0,300}\]")
_ENVIRONMENT = re.compile(r"\{(?P<name>[A-Za-z@_]+)\*?\}")
# In an address a percent sign begins no comment.
_BRACE = re.compile(
    r"\\(?:url|path|nolinkurl|href)[ \t]*(?:\[[^\[\]\n]{0,300}\])?[ \t]*(?P<address>\{[^{}\n]*\})"
    r"|\\.|%[^\n]*|[{}]",
    re.DOTALL,
)
_DOLLARS = re.compile(r"(?:[^$\\\n]|\\.|\n(?![ \t]*\n)){0,3000}?\$\$?")
_MACRO = re.compile(r"\\(?:re)?newcommand\*?[ \t]*\{?\\(?P<name>[A-Za-z]+)\}?[ \t]*(?=\{)")
_NAMED = re.compile(r"\\(?P<name>title|author)[ \t]*(?:\[[^\[\]\n]{0,300}\])?[ \t\n]*(?=\{)")
_BETWEEN_AUTHORS = re.compile(r"\\(?:and|And|AND)\b|\\\\")
_LONGEST_FORMULA = 20_000  # characters
_LONGEST_HEADING = 500  # characters
_DEEPEST = 8  # arguments inside of arguments that are read


def read_latex(data: bytes, title: str, options: ReadOptions = DEFAULT_READING) -> SourceDocument:
    """Reads LaTeX source. Files that it includes are named in notes, and read where they are files of their own.

    Args:
        data: The file's bytes.
        title: Taken when the source names none.

    Raises:
        SourceError: It is not text, or there is nothing in it.
    """
    decoded = decode(data, options.encoding)
    source = decoded.text
    begin = source.find("\\begin{document}")
    first = begin + len("\\begin{document}") if begin >= 0 else 0
    last = source.find("\\end{document}", first)
    reader = _Reader(source)
    body = reader.words(first, last if last >= 0 else len(source)).split("\n")
    written = source[first:].split("\n")
    top = 1 + source.count("\n", 0, first)
    # A line that held nothing but commands leaves no blank line behind: that would part a paragraph.
    kept: list[int] = []
    for index, line in enumerate(body):
        if line.strip() or (kept and body[kept[-1]].strip() and not written[index].strip()):
            kept.append(index)
    place = {index: at for at, index in enumerate(kept)}
    headings = [(place[index], level, words) for index, level, words in reader.headings if index in place]
    document = lines_document(
        data,
        reader.title or next((words for _, _, words in headings), title),
        decoded,
        [(top + index, body[index].rstrip()) for index in kept],
        headings,
        [f"includes {name}, which is read where it is a file of its own" for name in reader.includes],
    )
    starts = line_starts(document.text)
    abstract = [place[index] for index in reader.abstract if index in place]
    if abstract:
        span = Span(starts[abstract[0]], starts[abstract[-1] + 1])
        document = replace(document, sections=tuple(_apart(document, span)))
    return replace(document, authors=reader.authors)


def _apart(document: SourceDocument, abstract: Span) -> Iterator[Section]:
    """The sections, with the abstract as one of its own that is not divided."""
    text = document.text
    for section in document.sections:
        start, end = section.span.start, section.span.end
        if not start <= abstract.start < end:
            yield section
            continue
        cut = abstract.start if text[start : abstract.start].strip() else start
        if start < cut:
            yield replace(section, span=Span(start, cut))
        rest = min(abstract.end, end)
        if not text[rest:end].strip():
            rest = end
        yield Section(("Abstract",), Span(cut, rest), whole=True)
        if rest < end:
            yield replace(section, span=Span(rest, end))


class _Reader:
    """Turns ranges of LaTeX source into words with as many line breaks as the range has.

    Attributes:
        title: The paper's; empty when it has none.
        authors: Their names.
        headings: Line from the first one read, level and words of each.
        abstract: Lines of the abstract, counted likewise.
        includes: Files that are included.
    """

    def __init__(self, source: str) -> None:
        self.headings: list[tuple[int, int, str]] = []
        self.abstract = range(0)
        self.includes: list[str] = []
        self._source = source
        self._closing = _matching_braces(source)
        self._macros = {match["name"]: match.end() for match in _MACRO.finditer(source)}
        self._missing: dict[str, int] = {}
        self._depth = 0
        self._line = 0
        named = {match["name"]: match.end() for match in _NAMED.finditer(source)}
        self.title = self._in_one_line(*self._group(named["title"])) if "title" in named else ""
        self.authors = tuple(self._names(*self._group(named["author"]))) if "author" in named else ()

    def words(self, start: int, end: int) -> str:
        """The words in ``source[start:end]``."""
        parts: list[str] = []
        position = start
        while position < end:
            match = _TOKEN.match(self._source, position, end)
            words, after = self._token(match, end) if match else ("", position + 1)
            breaks = self._source.count("\n", position, after)
            parts += (words, "\n" * (breaks - words.count("\n")))
            if self._depth == 0:
                self._line += breaks
            position = after
        return "".join(parts)

    def _token(self, match: re.Match[str], end: int) -> tuple[str, int]:
        """The words that a token stands for, and where what belongs to it ends."""
        after = match.end()
        if match["words"]:
            return match["words"], after
        if match["quote"]:
            return _QUOTES[match["quote"]], after
        if match["command"]:
            return self._command(match["command"].rstrip("*"), after, end, match.group()[-1] in " \t")
        if sign := match["sign"]:
            return self._sign(sign, after, end)
        if match["dollars"] and (formula := _DOLLARS.match(self._source, after, end)):
            return self._source[match.start() : formula.end()], formula.end()
        return "", after

    def _command(self, name: str, after: int, end: int, spaced: bool) -> tuple[str, int]:
        source = self._source
        if name in ("begin", "end") and (environment := _ENVIRONMENT.match(source, after, end)):
            return self._environment(environment["name"], name == "begin", environment, end)
        if name in _ACCENTS and (accented := _ACCENTED.match(source, after, end)):
            return _accent(name, accented), accented.end()
        if name in ("verb", "lstinline") and after < end:
            closing = source.find(source[after], after + 1, min(end, after + _LONGEST_HEADING))
            return (f"`{source[after + 1 : closing]}`", closing + 1) if closing > 0 else ("", after)
        if name in _SPOKEN:
            return _SPOKEN[name], after
        if name in self._macros and self._depth < _DEEPEST:
            return self._in_one_line(*self._group(self._macros[name])) + " " * spaced, after
        if name == "item":
            return "- ", after
        after = self._after_options(after, end)
        if name in _UNREAD:
            for _ in range(_UNREAD[name]):
                after = self._group(after)[1] + 1 if self._opens(after, end) else after
            return "", after
        if not self._opens(after, end):
            return "", after
        start, stop = self._group(after)
        if name in _CITATIONS:
            return f"[{source[start:stop]}]", stop + 1
        if name in _REFERENCES:
            return source[start:stop], stop + 1
        if name in _INCLUDES:
            self.includes.append(source[start:stop].strip())
            return "", stop + 1
        if name in _SECTIONS and (title := self._in_one_line(start, stop)):
            if self._depth == 0:
                self.headings.append((self._line, _SECTIONS[name], title))
            return title, stop + 1
        if name == "footnote":
            return f" ({self._in_one_line(start, stop)})", stop + 1
        return "", after

    def _environment(self, name: str, begins: bool, match: re.Match[str], end: int) -> tuple[str, int]:
        after = match.end()
        if name == "abstract" and self._depth == 0:
            self.abstract = range(self._line, self._line + 1) if begins else range(self.abstract.start, self._line + 1)
        if not begins:
            return "", after
        if name in _FORMULAS or name in _VERBATIM or name in _HIDDEN:
            closing = match.group().replace("{", "\\end{", 1)
            stop = self._find(closing, after, end)
            if stop < 0:
                return "", after
            if name in _HIDDEN:
                return "", stop + len(closing)
            if name in _FORMULAS:
                return f"\\begin{match.group()}{self._source[after : stop + len(closing)]}", stop + len(closing)
            after = self._after_options(after, stop)
            if name == "minted" and self._opens(after, stop):
                after = self._group(after)[1] + 1
            first, line_end, code = self._source[after:stop].partition("\n")
            if not line_end:
                return f"`{first.strip()}`", stop + len(closing)
            return f"```{first.strip()}\n{code}```", stop + len(closing)
        after = self._after_options(after, end)
        while name in _WITH_ARGUMENT and self._opens(after, end):
            after = self._group(after)[1] + 1
        return "", after

    def _sign(self, sign: str, after: int, end: int) -> tuple[str, int]:
        """A command of one character that is no letter."""
        if sign in "([":
            closing = "\\)" if sign == "(" else "\\]"
            stop = self._source.find(closing, after, min(end, after + _LONGEST_FORMULA))
            return (self._source[after - 2 : stop + 2], stop + 2) if stop >= 0 else ("", after)
        if sign in _ACCENTS and (accented := _ACCENTED.match(self._source, after, end)):
            return _accent(sign, accented), accented.end()
        if sign == "\\":
            return " ", self._after_options(after, end)
        return _SIGNS.get(sign, sign), after

    def _after_options(self, position: int, end: int) -> int:
        while match := _OPTIONAL.match(self._source, position, end):
            position = match.end()
        return position

    def _opens(self, position: int, end: int) -> bool:
        return position < end and self._source[position] == "{" and self._closing.get(position, end) < end

    def _group(self, position: int) -> tuple[int, int]:
        """The range inside the braces that open at a position; empty where they never close."""
        return position + 1, self._closing.get(position, position + 1)

    def _find(self, needle: str, start: int, end: int) -> int:
        """Like ``str.find``, but looks for what is missing only once."""
        if start >= self._missing.get(needle, end):
            return -1
        found = self._source.find(needle, start, end)
        if found < 0:
            self._missing[needle] = start
        return found

    def _in_one_line(self, start: int, end: int) -> str:
        if self._depth >= _DEEPEST:
            return self._source[start:end]
        self._depth += 1
        words = " ".join(self.words(start, end).split())
        self._depth -= 1
        return words

    def _names(self, start: int, end: int) -> Iterator[str]:
        """Authors' names; what stands below a name in the same group is a place of work."""
        position = start
        for match in [*_BETWEEN_AUTHORS.finditer(self._source, start, end), None]:
            stop = match.start() if match else end
            if position >= 0 and (name := self._in_one_line(position, stop)):
                yield name
            if match:
                position = match.end() if match.group() != "\\\\" else -1


def _accent(sign: str, match: re.Match[str]) -> str:
    letter = (match["grouped"] or match["letter"] or "").lstrip("\\")
    return unicodedata.normalize("NFC", letter + _ACCENTS[sign]) if letter else ""


def _matching_braces(source: str) -> dict[int, int]:
    """Where each opening brace is closed."""
    closing: dict[int, int] = {}
    opened: list[int] = []
    for match in _BRACE.finditer(source):
        if match["address"]:
            closing[match.start("address")] = match.end() - 1
        elif match.group() == "{":
            opened.append(match.start())
        elif match.group() == "}" and opened:
            closing[opened.pop()] = match.start()
    return closing
