"""Numbered sections: what number a heading carries, in one form that questions meet, and whether a section binds.

A number is kept as ``8.3.2``, ``A.1``, ``Annex C``, ``§ 5``, ``§ 5 Abs. 2``, ``Article 7``, ``Part 2`` or ``IV``,
however a document or a question writes it: "Section 8.3.2", "Abschnitt 8.3.2" and "8.3.2." are one; so are "Anhang C",
"Appendix C", "附属書C" and a lone "C", or 第5条 and "Art. 5", or 第三章 and "Chapter 3".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from rag.types import Section, SourceDocument, Stance

_KINDS = {
    "": (
        "sections section sect sec subsection clauses clause subclause chapters chapter chap ch abschnitt abschn"
        " kapitel kap ziffer chapitre sección capítulo apartado sezione capitolo seção secção hoofdstuk"
    ),
    "Annex": "annex appendix anhang anlage annexe anexo allegato appendice apéndice bijlage 附属書 附录 附錄 付録 부록",
    "Article": "articles article artikel art artículo articolo artigo",
    "Part": "part teil partie parte deel",
    "§": "paragraf paragraph",
}
_KIND_OF = {word: kind for kind, words in _KINDS.items() for word in words.split()}
_UNITS = {"章": "", "節": "", "节": "", "条": "Article", "條": "Article", "部": "Part", "編": "Part", "编": "Part"}
_DIGITS = {numeral: value for value, numeral in enumerate("〇一二三四五六七八九")}
_TENS = {"十": 10, "百": 100}
_NUMERALS = "".join((*_DIGITS, *_TENS))
_ROMANS = [
    tens + ones
    for tens in ("", "X", "XX", "XXX")
    for ones in ("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX")
]

_PART = r"\.(?:0|[1-9]\d{0,2})"
_DOTTED = rf"(?:[A-Z]|\d{{1,3}})(?:{_PART})+(?!\.?\d)"
_ROMAN = r"(?=[IVX])X{0,3}(?:IX|IV|V?I{0,3})"
_ASIAN_LETTER = "[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
_NUMBER = re.compile(
    r"(?:§{1,2}\s*(?P<law>\d{1,4}(?:\.\d{1,4})*(?:[a-z]\b)?)(?:\s*(?:Abs(?:atz|\.)?\s*|\()(?P<inside>\d{1,2}[a-z]?)\b\)?)?"
    rf"|第\s*(?P<asian>\d{{1,4}}|[{_NUMERALS}]{{1,7}})\s*(?P<unit>[{''.join(_UNITS)}])"
    rf"|(?P<kind>{'|'.join(sorted(_KIND_OF, key=len, reverse=True))})\.?\s*"
    rf"(?P<named>(?-i:{_DOTTED})|\d{{1,3}}(?:[a-z]\b)?|(?-i:(?:{_ROMAN}|[A-Z])\b))"
    rf"|(?P<dotted>(?-i:{_DOTTED}))"
    rf"|(?P<whole>\d{{1,3}})|(?P<roman>(?-i:{_ROMAN}))|(?P<letter>(?-i:[A-Z]))|(?P<counted>[{_NUMERALS}]{{1,4}}))"
    rf"(?=$|[\s:、,;()\[\]–—-]|[.](?!\w)|{_ASIAN_LETTER})",
    re.IGNORECASE,
)
_DEEPER = re.compile(
    r"(?:[\s,]*(?:Abs(?:atz|\.)|S(?:atz|\.)|N(?:r|ummer)\.?|Buchst(?:abe|\.)?|lit\.?)\s*\w+|\s*\(?\w\))*[.:]?",
    re.IGNORECASE,
)
_MARKED = {"roman": ".:)", "letter": ".)", "counted": "、"}
"""By sort of number, what has to follow it in a heading: without that, it is a word more often than a number."""

_MONTH = re.compile(r"\.?\s*(?:jan|feb|m[aä]r|apr|ma[iy]|jun|jul|aug|sep|o[ck]t|nov|de[cz]|月|年)", re.IGNORECASE)

_STANCE_WORD = (
    r"(?P<informative>(?:non[- ]?normativ|informativ)[aeo]?|参考|资料性(?:附录)?)"
    r"|(?P<normative>normativ[aeo]?|規定|规定|规范性(?:附录)?)"
)
_IN_BRACKETS = re.compile(rf"[(（]\s*(?:{_STANCE_WORD})\s*[)）]", re.IGNORECASE)
_SAID = re.compile(
    rf"^[\s>*_(]*(?:(?:this|the following|dieser?|dieses|cette|ce)\s+[\w-]+\s+(?:is|are|ist|est)\s+(?:\w+\s+)?)?"
    rf"(?:{_STANCE_WORD})[\s.*_)]*$",
    re.IGNORECASE | re.MULTILINE,
)
_SAID_WITHIN = 600  # characters of a section
_REQUIREMENT = re.compile(
    r"(?<![A-Z]['’ ])(?<![A-Z][,;] )(?<![\"“‘'])\b"
    r"(?:MUST|SHALL|SHOULD|REQUIRED|RECOMMENDED|MAY|OPTIONAL)(?: NOT)?\b(?![\"”’'])(?! [A-Z]{2})"
)
_KEY_WORDS = re.compile(r"RFC ?2119|BCP ?14\b|\bkey ?words\b[^.]{0,40}\bMUST\b")
"""By this a document says that it requires nothing but by such words."""

_REQUIREMENTS = 3
"""Words in capitals from which on a document is taken to set requirements by them.

Source: RFC 2119 and RFC 8174 for the words.
"""


@dataclass(frozen=True, slots=True)
class Clause:
    """What is known of a section.

    Attributes:
        number: Its number, else that of the next numbered section around it; empty where there is none.
        begins: The number is its own.
        stance: Whether it binds.
    """

    number: str = ""
    begins: bool = False
    stance: Stance = ""


def canonical(number: str) -> str:
    """A section number in the one form in which it is kept; empty where the words are none.

    Args:
        number: As somebody wrote it, with or without "Section", "§" and the like, in capitals or not.
    """
    written = " ".join(unicodedata.normalize("NFKC", number).split())
    for form in (written, written.upper()):
        found = _NUMBER.match(form)
        if found and _DEEPER.fullmatch(form, found.end()):
            return _kept(found)
    return ""


def outer(number: str) -> str:
    """The number of the section around a numbered one: ``8.3`` of ``8.3.2``; empty where the number names none."""
    if number.startswith("§"):
        return number.partition(" Abs.")[0] if " Abs." in number else ""
    above, dot, _ = number.rpartition(".")
    return (f"Annex {above}" if len(above) == 1 and above.isalpha() else above) if dot else ""


def is_within(number: str, wanted: str) -> bool:
    """Whether a section is the wanted one or lies in it; both numbers in canonical form."""
    while number and number != wanted:
        number = outer(number)
    return bool(number)


def carried(heading: str) -> str:
    """The number that a heading begins with, or what looks like one; empty where there is none."""
    return _number_of(heading)[0]


def clauses(document: SourceDocument) -> list[Clause]:
    """What is known of each section of a document, in their order."""
    numbers = _Numbering(document).numbers()
    stances = _stances(document)
    return [Clause(number, begins, stance) for (number, begins), stance in zip(numbers, stances, strict=True)]


# ------------------------------------------------------------------------------------------------------------- numbers


def _kept(found: re.Match[str]) -> str:
    """A number as it is kept."""
    if law := found["law"]:
        return f"§ {law.lower()}" + (f" Abs. {found['inside'].lower()}" if found["inside"] else "")
    if found["asian"]:
        kind = _UNITS[found["unit"]]
        return f"{kind} {_integer(found['asian'])}".strip()
    if found["counted"]:
        return str(_integer(found["counted"]))
    kind = _KIND_OF[found["kind"].lower()] if found["kind"] else ""
    number = found["named"] or found["dotted"] or found["whole"] or found["roman"] or found["letter"]
    if number[0].isdigit():
        number = re.sub(r"^0+(?=\d)", "", number.lower())
    elif "." in number or (kind == "" and (number in _ROMANS)):
        return number
    elif kind == "":
        kind = "Annex"
    return f"{kind} {number}".strip()


def _integer(numeral: str) -> int:
    """The value of a number below a thousand in digits or Chinese numerals."""
    if numeral.isdecimal():
        return int(numeral)
    value = digit = 0
    for character in numeral:
        if character in _TENS:
            value, digit = value + (digit or 1) * _TENS[character], 0
        else:
            digit = digit * 10 + _DIGITS[character]
    return value + digit


class _Numbering:
    """The numbers of a document's sections, by their headings and, where front matter begins the count, by counting."""

    def __init__(self, document: SourceDocument) -> None:
        self._sections = document.sections
        self._counted = _Counter(canonical(document.number))
        self._found = [_number_of(" ".join(section.heading_path[-1:])) for section in document.sections]
        self._known = {number for number, _ in self._found}
        self._divided = {outer(number) for number, firm in self._found if firm}

    def numbers(self) -> list[tuple[str, bool]]:
        """The number of each section, and whether its own heading carries it."""
        numbers: list[tuple[str, bool]] = []
        above: list[tuple[tuple[str, ...], str]] = []
        for at, section in enumerate(self._sections):
            path = section.heading_path
            while above and path[: len(above[-1][0])] != above[-1][0]:
                above.pop()
            if above and path == above[-1][0]:
                above.pop()
            around = next((number for _, number in reversed(above) if number), "")
            number, firm = self._found[at]
            if not firm and not self._is_likely(number, around):
                number = ""
            number = self._counted.next(len(path), number) if path else ""
            above.append((path, number))
            numbers.append((number or around, bool(number)))
        return numbers

    def _is_likely(self, number: str, around: str) -> bool:
        """Whether what may be a number is one: the document has one beside or below it, and none around it."""
        if not number or (around and not around.startswith("Part")):
            return False
        return number in self._divided or any(near in self._known for near in _beside(number))


class _Counter:
    """Counts the headings below a first one whose number only front matter tells."""

    def __init__(self, first: str) -> None:
        self._first = first
        self._top = 0
        self._counts: list[int] = []

    def next(self, depth: int, own: str) -> str:
        """The number of the next heading.

        Args:
            depth: Headings of its path.
            own: The number that its words carry; empty: none.
        """
        if not self._first:
            return own
        if not self._top:
            self._top = depth
            return own or self._first
        below = depth - self._top
        if own or below < 1:
            return own
        del self._counts[below:]
        self._counts += [0] * (below - len(self._counts))
        self._counts[-1] += 1
        stem = self._first.removeprefix("Annex ") if self._first[-1].isalpha() else self._first
        return ".".join((stem, *map(str, self._counts)))


def _number_of(heading: str) -> tuple[str, bool]:
    """The number that a heading begins with, and whether it can be nothing else."""
    heading = unicodedata.normalize("NFKC", heading).strip()
    found = _NUMBER.match(heading)
    if found is None or _MONTH.match(heading, found.end()):
        return "", False
    sort = found.lastgroup or ""
    if sort in _MARKED and not heading[found.end() :].startswith(tuple(_MARKED[sort])):
        return "", False
    return _kept(found), sort not in ("whole", *_MARKED)


def _beside(number: str) -> Iterator[str]:
    """The numbers before and after an undotted one."""
    kind, _, last = number.rpartition(" ")
    if last in _ROMANS:
        at = _ROMANS.index(last)
        yield from (name for name in _ROMANS[max(1, at - 1) : at + 2] if name != last)
    elif last.isdecimal():
        yield from (str(int(last) - 1), str(int(last) + 1))
    else:
        yield from (f"{kind} {chr(ord(last) + step)}" for step in (-1, 1))


# -------------------------------------------------------------------------------------------------------------- stance


def _stances(document: SourceDocument) -> list[Stance]:
    """Whether each section binds: as it says, else as the one around it says, else by the words of RFC 2119."""
    texts = [document.text[section.span.start : section.span.end] for section in document.sections]
    by_words = sum(len(_REQUIREMENT.findall(text)) for text in texts) >= _REQUIREMENTS
    without: Stance = "informative" if by_words and any(map(_KEY_WORDS.search, texts)) else ""
    stances: list[Stance] = []
    above: list[tuple[tuple[str, ...], Stance]] = []
    for section, text in zip(document.sections, texts, strict=True):
        path = section.heading_path
        while above and path[: len(above[-1][0])] != above[-1][0]:
            above.pop()
        stance = _said(section, text) or (above[-1][1] if above else "")
        if stance:
            above.append((path, stance))
        elif by_words:
            stance = "normative" if _REQUIREMENT.search(text) else without
        stances.append(stance)
    return stances


def _said(section: Section, text: str) -> Stance:
    """What a section says of itself."""
    heading = section.heading_path[-1] if section.heading_path else ""
    found = _IN_BRACKETS.search(heading) or _SAID.search(text, 0, _SAID_WITHIN)
    if found is None:
        return ""
    return "informative" if found["informative"] else "normative"
