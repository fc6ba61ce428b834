"""Numbers in a text, in figures and in words, with their units.

Understood are ``1,234.5``, ``1.234,5``, ``1 234,5`` and ``1'234.5``; full-width figures; ``4.5 million``, ``4,5 Mio.``
and ``450万``; ``3×10^5``; ranges (``12–16 h`` are 12 h and 16 h); and number words of English, German and Japanese. A
number that can be read in two ways (``1.234``) counts as both. Every text here is normalised (see
:func:`rag.answering.facts.read`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from rag.answering.taken import Taken
from rag.answering.units import UNIT, Unit, unit_of
from rag.types import Span


@dataclass(frozen=True, slots=True)
class Number:
    """A number as it stands in a text.

    Attributes:
        span: Where it is, its unit included.
        values: What it can mean; one value, or two where the notation leaves it open.
        unit: What it counts; None where no unit is written, or none that is known.
        name: Its spelling where it is no quantity (``8.3.2``, ``1/2``); it is compared as it is written.
        loose: True for what may be no number at all: words such as "two" and "once", the number of a list's item.
            A loose number can confirm another one.
    """

    span: Span
    values: frozenset[float]
    unit: Unit | None = None
    name: str = ""
    loose: bool = False


_LETTER = "A-Za-zÀ-ɏ"
_GROUPED = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?:\.\d{3})+(?:,\d+)?|\d{1,3}(?:['’]\d{3})+(?:[.,]\d+)?"
_SPACED = r"\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?:[.,]\d+)?"
_FIGURES = rf"(?:{_GROUPED}|{_SPACED}|\d+(?:[.,]\d+)?)(?![.,]?\d)"
_SCALES: dict[str, tuple[float, ...]] = {
    "hundred": (1e2,), "hundert": (1e2,), "thousand": (1e3,), "tausend": (1e3,), "million": (1e6,), "millions": (1e6,),
    "millionen": (1e6,), "mio": (1e6,), "milliarde": (1e9,), "milliarden": (1e9,), "mrd": (1e9,), "bn": (1e9,),
    # What is a billion in English is a Milliarde in German, whose Billion is a thousand of them.
    "billion": (1e9, 1e12), "billions": (1e9,), "billionen": (1e12,), "trillion": (1e12, 1e18), "trillions": (1e12,),
    "trillionen": (1e18,), "dozen": (12.0,), "dutzend": (12.0,),
}  # fmt: skip
_MYRIADS = {"千": 1e3, "万": 1e4, "億": 1e8, "兆": 1e12, "萬": 1e4, "亿": 1e8}
_SCALE = "|".join(sorted(_SCALES, key=len, reverse=True))
_CURRENCY = r"(?:US)?\$|€|£|¥|EUR|USD|GBP|CHF"

_CODE = rf"(?<![{_LETTER}\d_])(?<![{_LETTER}_]-)(?<!\d[.,:/])"
_VERSION = re.compile(rf"{_CODE}\d+(?:\.\d+){{2,}}(?![{_LETTER}\d])|{_CODE}\d+[:/]\d+(?![\d:/])")
_NUMBER = re.compile(
    rf"{_CODE}(?:(?P<currency>{_CURRENCY})\s?)?(?P<sign>(?<![\d{_LETTER}])[-−–](?=\d)|(?i:minus\s)|マイナス)?"
    rf"(?P<figures>{_FIGURES})(?P<exponent>\s?[×x*·]\s?10\^[-−]?\d+|[eE][-+]?\d+(?![\d{_LETTER}]))?"
    rf"(?P<myriads>\s?[千万億兆萬亿](?:\s?\d[\d,]*\s?[千万億兆萬亿])*\d*)?"
    rf"(?:\s?(?P<scale>(?i:{_SCALE}))\.?(?![{_LETTER}]))?(?P<half>\s(?i:and a half|einhalb)\b)?"
    rf"(?:(?:[ \u00a0\u202f]{{0,3}}|-)(?P<unit>{UNIT})(?P<halved>半)?)?"
)
_ORDINAL = re.compile(r"(?:st|nd|rd|th)(?![a-z])")
_JOINED = re.compile(
    r"\s?(?:[-–—~〜～x×]|\bto\b|\bbis\b|\bbetween\b|\band\b|\bund\b|\bor\b|\boder\b|から)\s?", re.IGNORECASE
)
_LIST_ITEM = re.compile(r"^[ \t]*(?:[-*+][ \t]+)?\(?(\d{1,3})[.)](?=\s)|(?<=\s)\(?(\d{1,2})\)(?=\s)", re.MULTILINE)


def numbers(text: str) -> list[Number]:
    """The numbers of a normalised text, in order."""
    found: list[Number] = []
    taken = Taken(len(text))
    items = {match.start(match.lastindex or 0) for match in _LIST_ITEM.finditer(text)}
    for match in _VERSION.finditer(text):
        above, slash, below = match.group().partition("/")
        share = frozenset({float(above) / float(below)}) if slash and float(below) else frozenset[float]()
        found.append(Number(Span(*match.span()), share, name=match.group()))
        taken.add(Span(*match.span()))
    before: re.Match[str] | None = None
    for match in _NUMBER.finditer(text):
        start, end = match.span()
        if taken.meets(Span(start, end)):
            continue
        if match["unit"] is None and not match["currency"] and re.match(rf"[{_LETTER}_]", text[end : end + 1]):
            ordinal = _ORDINAL.match(text, end)
            if ordinal is None:
                continue  # "3D", "2x": a name
            end = ordinal.end()
        unit = _unit(match)
        few = text.startswith("つ", end) and match["figures"] in ("1", "2")  # 1つ is often no more than "one"
        number = Number(Span(start, end), _values(match), unit, loose=few or match.start("figures") in items)
        if before is not None and _JOINED.fullmatch(text, before.end(), start) and found and found[-1].unit is None:
            found[-1] = Number(found[-1].span, found[-1].values, unit, loose=found[-1].loose)
        found.append(number)
        before = match
    found += _in_words(text)
    return sorted(found, key=lambda number: number.span.start)


def _unit(match: re.Match[str]) -> Unit | None:
    if match["currency"]:
        return unit_of(match["currency"])
    return unit_of(match["unit"]) if match["unit"] else None


def _values(match: re.Match[str]) -> frozenset[float]:
    values = readings(match["figures"])
    if match["exponent"]:
        power = re.sub(r".*(?:10\^|[eE])", "", match["exponent"]).replace("−", "-")
        values = {value * float(f"1e{power}") for value in values}
    if match["myriads"]:
        values = {_with_myriads(value, match["myriads"]) for value in values}
    if match["scale"]:
        values = {value * scale for value in values for scale in _SCALES[match["scale"].casefold()]}
    if match["half"] or match["halved"]:
        values = {value + 0.5 for value in values}
    return frozenset(-value if match["sign"] else value for value in values)


def readings(figures: str) -> set[float]:
    """What figures can mean: ``1.234`` is 1234 and 1.234, ``1.234,5`` only 1234.5."""
    plain = re.sub(r"[ \u00a0\u202f'’]", "", figures)
    if "," in plain and "." in plain:
        decimal = max(plain.rfind(","), plain.rfind("."))
        return {float(f"{re.sub('[.,]', '', plain[:decimal])}.{plain[decimal + 1 :]}")}
    parts = re.split("[.,]", plain)
    if len(parts) == 1:
        return {float(plain)}
    whole = {float("".join(parts))} if all(len(part) == 3 for part in parts[1:]) and parts[0].lstrip("0") else set()
    return whole | ({float(f"{parts[0]}.{parts[1]}")} if len(parts) == 2 else set())


def _with_myriads(first: float, rest: str) -> float:
    """``1`` and ``億2000万`` → 120,000,000."""
    total, current = 0.0, first
    for figures, myriad in re.findall(r"(\d[\d,]*)?\s?([千万億兆萬亿]|$)", rest):
        current = float(figures.replace(",", "")) if figures else current
        total += current * _MYRIADS.get(myriad, 1.0)
        current = 0.0
    return total


# --------------------------------------------------------------------------------------------------- numbers in words

_SMALL = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
eighteen nineteen
"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_NTH = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
_KLEIN = """
null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn
neunzehn
"""
_ZEHNER = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig"


def _counted(listed: str, start: float = 0.0, step: float = 1.0) -> dict[str, float]:
    return {word: start + step * at for at, word in enumerate(listed.split())}


_ENGLISH = _counted(_SMALL)
_ENGLISH_TENS = _counted(_TENS, 20.0, 10.0)
_ENGLISH_ORDINALS = _counted(_NTH, 1.0)
_ENGLISH_LOOSE = {"once": 1.0, "twice": 2.0, "both": 2.0, "pair": 2.0, "double": 2.0, "triple": 3.0, "half": 0.5,
                  "single": 1.0, "dozen": 12.0, "quarter": 4.0, "couple": 2.0}  # fmt: skip
_GERMAN = _counted(_KLEIN)
_GERMAN_TENS = _counted(_ZEHNER, 20.0, 10.0)
_GERMAN_ORDINALS = {"erst": 1.0, "zweit": 2.0, "dritt": 3.0, "viert": 4.0, "fünft": 5.0, "sechst": 6.0, "siebt": 7.0,
                    "acht": 8.0, "neunt": 9.0, "zehnt": 10.0, "elft": 11.0, "zwölft": 12.0}  # fmt: skip
_GERMAN_LOOSE = {"eins": 1.0, "doppelt": 2.0, "halb": 0.5, "halbe": 0.5, "hälfte": 0.5, "beide": 2.0, "beiden": 2.0,
                 "einmal": 1.0, "dutzend": 12.0, "anderthalb": 1.5, "paar": 2.0}  # fmt: skip
_KANJI = {figure: float(value) for value, figure in enumerate("〇一二三四五六七八九")} | {"零": 0.0}
_KANJI_TENS = {"十": 10.0, "百": 100.0, "千": 1000.0}
_COUNTERS = "人個本枚台回件名冊倍階種"

_ENGLISH_WORDS = re.compile(
    rf"\b(?:(?P<tens>{'|'.join(_ENGLISH_TENS)})(?:[- ](?P<unit>{'|'.join(list(_ENGLISH)[1:10])}))?"
    rf"|(?P<small>{'|'.join(_ENGLISH)}))(?P<hundred>\shundred)?(?:\s(?P<scale>thousand|millions?|billions?|trillions?))?"
    rf"(?P<half>\sand\sa\shalf)?\b(?:[ -](?P<of>{UNIT}))?",
    re.IGNORECASE,
)
_ORDINAL_WORDS = re.compile(rf"\b(?:{'|'.join(_ENGLISH_ORDINALS)})s?\b", re.IGNORECASE)
_GERMAN_WORD = re.compile(rf"\b[{_LETTER}]{{3,80}}\b")  # the longest that are written have some sixty letters
_AFTER_A_WORD = re.compile(rf"(?:\s(?P<scale>Millionen|Milliarden?|Billionen))?(?:[ -](?P<of>{UNIT}))?")
_KANJI_RUN = re.compile(rf"(?<!\d)[{''.join([*_KANJI, *_KANJI_TENS])}][{''.join([*_KANJI, *_KANJI_TENS])}万億兆]*")


def _in_words(text: str) -> Iterator[Number]:
    for match in _ENGLISH_WORDS.finditer(text):
        value = _ENGLISH_TENS.get((match["tens"] or "").casefold(), 0.0)
        value += _ENGLISH.get((match["unit"] or match["small"] or "").casefold(), 0.0)
        value *= (100.0 if match["hundred"] else 1.0) * _SCALES.get((match["scale"] or "").casefold(), (1.0,))[0]
        value += 0.5 if match["half"] else 0.0
        unit = unit_of(match["of"]) if match["of"] else None
        yield Number(Span(*match.span()), frozenset({value}), unit, loose=value < _SURELY_COUNTED)
    for match in _ORDINAL_WORDS.finditer(text):
        word = match.group().casefold()
        value = _ENGLISH_ORDINALS[word if word in _ENGLISH_ORDINALS else word[:-1]]
        yield Number(Span(*match.span()), frozenset({value}), loose=True)
    for match in re.finditer(rf"\b(?:{'|'.join(_ENGLISH_LOOSE)})\b", text, re.IGNORECASE):
        yield Number(Span(*match.span()), frozenset({_ENGLISH_LOOSE[match.group().casefold()]}), loose=True)
    for match in _GERMAN_WORD.finditer(text):
        value_of_word = _german(match.group().casefold())
        if value_of_word is not None:
            value, loose = value_of_word
            after = _AFTER_A_WORD.match(text, match.end())
            end = after.end() if after else match.end()
            if after and after["scale"]:
                value *= _SCALES[after["scale"].casefold()][0]
            unit = unit_of(after["of"]) if after and after["of"] else None
            yield Number(Span(match.start(), end), frozenset({value}), unit, loose=loose or value < _SURELY_COUNTED)
    for match in _KANJI_RUN.finditer(text):
        value_of_run = _kanji(match.group())
        if value_of_run is not None:
            counted = text[match.end() : match.end() + 1] in _COUNTERS and match.end() < len(text)
            yield Number(Span(*match.span()), frozenset({value_of_run}), loose=not counted or value_of_run < 2)


_SURELY_COUNTED = 3.0
"""Words below ("one of them", "the two") count for too little to be called wrong."""


@lru_cache(2**14)
def _german(word: str) -> tuple[float, bool] | None:
    """The value of a German number word and whether it is loose: ``fünfundzwanzig``, ``dritten``, ``viereinhalb``."""
    if word in _GERMAN_LOOSE:
        return _GERMAN_LOOSE[word], True
    if word in ("tausend", "hundert"):
        return _SCALES[word][0], False
    value = _german_cardinal(word)
    if value is not None:
        return value, False
    for ending, more in (("einhalb", 0.5), ("mal", 0.0), ("fach", 0.0), ("malig", 0.0)):
        value = _german_cardinal(word.removesuffix(ending)) if word.endswith(ending) else None
        if value is not None:
            return value + more, not more
    stem = re.sub(r"(?:e[rnsm]?|ens)$", "", word)
    if stem != word and stem in _GERMAN_ORDINALS:
        return _GERMAN_ORDINALS[stem], True
    return None


def _german_cardinal(word: str) -> float | None:
    for scale, size in (("tausend", 1000.0), ("hundert", 100.0)):
        before, found, after = word.partition(scale)
        if found:
            above = _german_cardinal(before) if before else 1.0
            below = _german_cardinal(after.removeprefix("und")) if after else 0.0
            return None if above is None or below is None else above * size + below
    if word in _GERMAN:
        return _GERMAN[word]
    if word in _GERMAN_TENS:
        return _GERMAN_TENS[word]
    unit, found, tens = word.partition("und")
    if found and unit in _GERMAN and tens in _GERMAN_TENS:
        return _GERMAN[unit] + _GERMAN_TENS[tens]
    return None


def _kanji(run: str) -> float | None:
    """The value of a run of Japanese numerals; None where it is none that is written."""
    if not any(figure in _KANJI for figure in run) and len(run) > 1:
        return None
    total = section = 0.0
    digits = ""
    for figure in run:
        if figure in _KANJI:
            digits += f"{_KANJI[figure]:.0f}"
        elif figure in _KANJI_TENS:
            section += float(digits or 1) * _KANJI_TENS[figure]
            digits = ""
        else:
            total += (section + float(digits or not section)) * _MYRIADS[figure]
            section, digits = 0.0, ""
    return total + section + float(digits or 0)
