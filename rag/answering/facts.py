"""What in a sentence can be checked against a passage without a model: numbers, units, dates, names, quoted words.

Compared is what is said, not how it is written: ``1,234.5`` with ``1.234,5`` and ``１２３４.5``; 10 mm with 1 cm; 4
March 2019 with ``2019-03-04`` and 2019年3月4日; "three" with 3. Out of scope, and so marked where the passage does not
have them in so many words: what was rounded, reckoned or counted, and units that have no fixed ratio (months to days,
one currency to another). Not marked: a number that the passage has of something else; names and quotations where answer
and passage are in different languages.

Measured with ``python -m tests.bench.audit --natural``: in 100 answers of our own, 99 of 100 wrong numbers, 82 of 82
wrong units, 63 of 63 wrong dates and 67 of 70 wrong names are found, with no false mark; in 4,578 questions that other
people wrote about paragraphs, 26 numbers, 18 dates and 74 names are marked, many of them rightly, and of 472 figures
changed in them 465 are found.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rag.answering.dates import Calendar, dates
from rag.answering.names import Words, is_code, names
from rag.answering.numbers import Number, numbers
from rag.answering.taken import Taken
from rag.answering.units import DEGREES, Unit, can_be_compared
from rag.retrieval.language import language_of
from rag.types import FactKind, Flag, Span

_UNCOMMON = re.compile(
    r"(?:[^\x00-\x7f]|[*`]|.(?=[\u0300-\u036f\u3099\u309a\uff9e\uff9f]))[\u0300-\u036f\u3099\u309a\uff9e\uff9f]*",
    re.DOTALL,
)
"""A character outside ASCII with its accents, or a sign of Markdown's."""

_SUPERSCRIPT = {ord(sign): digit for sign, digit in zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-", strict=True)}
_FRACTIONS = {"½": ".5", "¼": ".25", "¾": ".75", "⅛": ".125", "⅜": ".375", "⅝": ".625", "⅞": ".875"}
_QUOTED = re.compile(
    r"“([^“”„\n]+)[”“]|„([^“”„\n]+)[“”]|«([^«»\n]+)»|»([^«»\n]+)«|「([^「」\n]+)」|『([^『』\n]+)』|\"([^\"\n]+)\"|"
    r"(?<![\w’])‘([^‘\n]+?)’(?!\w)"
)
_SIGNS = re.compile(r"[\W_]+")
_SHORTEST_QUOTE = 2  # letters
_ENOUGH = 2000  # characters, to tell a language by
_LONGEST = 4000  # characters of a sentence; what is longer is a table or a program, and is looked at so far


@dataclass(frozen=True, slots=True)
class Normal:
    """A text in one notation, and where its characters come from.

    Attributes:
        text: NFKC, without Markdown's signs of emphasis, superscripts as ``^2``.
        starts: By character of ``text``, where in the source it begins.
        ends: By character of ``text``, where in the source it ends.
    """

    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    def source(self, span: Span) -> Span:
        """A range of ``text`` as a range of the source."""
        return Span(self.starts[span.start], self.ends[span.end - 1])


def read(source: str) -> Normal:
    """Brings a text into one notation."""
    text: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    at = 0
    for match in _UNCOMMON.finditer(source):
        start, end = match.span()
        text.append(source[at:start])
        starts += range(at, start)
        ends += range(at + 1, start + 1)
        at = end
        plain = _plain(match.group(), source[max(0, start - 1) : start], source[end : end + 1])
        text.append(plain)
        starts += [start] * len(plain)
        ends += [end] * len(plain)
    text.append(source[at:])
    starts += range(at, len(source))
    ends += range(at + 1, len(source) + 1)
    return Normal("".join(text), starts, ends)


def _plain(written: str, before: str, after: str) -> str:
    """A character in the one notation; empty for a sign of emphasis."""
    if written == "`" or (written == "*" and not (before + after).isdigit() and (before + after).strip()):
        return ""
    if written in _FRACTIONS:
        return _FRACTIONS[written] if before.isdigit() else f"0{_FRACTIONS[written]}"
    if ord(written[0]) in _SUPERSCRIPT:
        return ("" if before and ord(before) in _SUPERSCRIPT else "^") + written.translate(_SUPERSCRIPT)
    return unicodedata.normalize("NFKC", written)


_GERMAN = """
der die das den dem des ein eine einen einem einer und ist nicht mit von im auf für wird wurde sich auch zu zum zur bei
nach aus am um als es sind hat haben werden er sie wie beim vom bis kann muss oder war
"""
_ENGLISH = """
the of and to is was for on with by it are from that this at be has have not or its he she they you were can
"""
_FUNCTION_WORDS = {"de": frozenset(_GERMAN.split()), "en": frozenset(_ENGLISH.split())}
_FUNCTION_WORD_SHARE = 0.15


@dataclass(frozen=True, slots=True)
class Speech:
    """How a text is written, as far as it matters for comparing: its language, ISO 639-1."""

    language: str

    @classmethod
    def of(cls, text: str) -> Speech:
        """The language of an answer or of passages; function words tell German and English apart in one sentence."""
        words = re.findall(r"[a-zäöüß]+", text.casefold())
        counts = {code: sum(word in known for word in words) for code, known in _FUNCTION_WORDS.items()}
        most, least = sorted(counts, key=lambda code: -counts[code])
        if counts[most] >= max(2, 2 * counts[least], _FUNCTION_WORD_SHARE * len(words)):
            return cls(most)
        return cls(language_of(text))


class Held:
    """What passages say, ready to confirm the facts of sentences.

    Args:
        texts: The passages with all that the model read of them: path, headings, what stands above them.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        text = "\n".join(read(one).text for one in texts)
        self._plain: dict[str, set[Unit | None]] = {}
        self._reckoned: set[tuple[str, str]] = set()
        self._spelled: set[str] = set()
        self._loose: set[str] = set()
        for number in numbers(text):
            if number.name:
                self._spelled.add(number.name)
            for value in number.values:
                if number.loose:
                    self._loose.add(_key(value))
                    continue
                self._plain.setdefault(_key(value), set()).add(number.unit)
                if number.unit is not None:
                    self._reckoned.add((number.unit.measures, _key(number.unit.base(value))))
        self._bare = {float(key) for key, units in self._plain.items() if None in units}
        self._calendar = Calendar()
        self._calendar.add(dates(text))
        self._words = Words(text)
        self.speech = Speech.of(text[:_ENOUGH])
        self._letters = _SIGNS.sub("", text.casefold())

    def lacks_number(self, number: Number) -> FactKind | None:
        """Whether a number is missing: its value, or the value with its unit."""
        if number.name and not number.values:
            return None if number.name in self._spelled else "number"
        counts_something_else = False
        for value in number.values:
            units = self._plain.get(_key(value), ())
            if units and (number.unit is None or any(u is None or _is_same(u, number.unit) for u in units)):
                return None
            if number.unit is None and _key(value) in self._loose:
                return None
            if number.unit is not None and (number.unit.measures, _key(number.unit.base(value))) in self._reckoned:
                return None
            counts_something_else = counts_something_else or bool(units)
        return "unit" if counts_something_else else "number"

    def lacking(self, sentence: str, speech: Speech) -> list[Flag]:
        """The facts of a sentence that the passages lack, in order; spans are of the sentence and do not overlap.

        Args:
            sentence: One sentence of an answer.
            speech: How the answer is written. Names and quotations are compared within one language only, since
                translation changes them; but what holds figures or several capitals is the same in all.
        """
        normal = read(sentence[:_LONGEST])
        found = list(self._lacking(normal.text, speech))
        inside = [flag for flag in found if flag.kind != "quote"]
        # Of a quotation with a wrong number in it, the number is what is wrong.
        found = inside + [
            flag for flag in found if flag.kind == "quote" and not any(flag.span.overlaps(o.span) for o in inside)
        ]
        flags = [Flag(normal.source(flag.span), flag.kind) for flag in found]
        return sorted(flags, key=lambda flag: flag.span.start)

    def _lacking(self, text: str, speech: Speech) -> Iterator[Flag]:
        translated = speech != self.speech
        taken, quoted = Taken(len(text)), Taken(len(text))
        for date in dates(text):
            taken.add(date.span)
            if not self._calendar.confirms(date, self._bare):
                yield Flag(date.span, "date")
        for number in numbers(text):
            if number.loose or taken.meets(number.span):
                continue
            taken.add(number.span)
            kind = self.lacks_number(number)
            if kind is not None:
                yield Flag(number.span, kind)
        for match in _QUOTED.finditer(text):
            span = Span(*match.span(match.lastindex or 0))
            quoted.add(span)
            if not translated and self._misquoted(text[span.start : span.end]):
                yield Flag(span, "quote")
        for name in names(text, german=speech.language == "de"):
            if taken.meets(name) or quoted.meets(name):
                continue
            if translated and not is_code(text[name.start : name.end]):
                continue
            if not self._words.hold(text[name.start : name.end]):
                yield Flag(name, "name")

    def _misquoted(self, words: str) -> bool:
        """Whether words in quotation marks stand in no passage, signs and what the quotation leaves out aside."""
        pieces = [_SIGNS.sub("", piece.casefold()) for piece in re.split(r"\.\.\.|…", words)]
        return sum(map(len, pieces)) >= _SHORTEST_QUOTE and not all(piece in self._letters for piece in pieces)


def _is_same(one: Unit, other: Unit) -> bool:
    return can_be_compared(one, other) and (one.factor == other.factor or DEGREES in (one, other))


def _key(value: float) -> str:
    """A number for looking up, so that what was reckoned differs by no rounding."""
    return f"{value:.9g}"
