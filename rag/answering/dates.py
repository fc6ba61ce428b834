"""Dates, weekdays and times of the day in a text, and whether other dates confirm them.

Understood are dates in figures (``2024-05-01``, ``1.5.2024``, ``5/1/2024`` either way round), with the names of months
in English, German, French, Spanish, Italian, Dutch and Portuguese, and with 年月日 and the Japanese eras. Every text
here is normalised (see :func:`rag.answering.facts.read`).
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from rag.answering.taken import Taken
from rag.answering.units import UNIT
from rag.types import Span


@dataclass(frozen=True, slots=True)
class Date:
    """A date or a time as far as it is told.

    Attributes:
        span: Where it is.
        year: Of our era; 0 when it is not told.
        days: ``(month, day)`` as it can be read, 0 for what is not told; empty for a year or a time alone.
        weekday: 1 for Monday to 7; 0 when it is not told.
        minutes: Since midnight; None when no time is told.
        half_day: Whether the time says which half of the day it is in.
    """

    span: Span
    year: int = 0
    days: frozenset[tuple[int, int]] = frozenset()
    weekday: int = 0
    minutes: int | None = None
    half_day: bool = False


_MONTHS: dict[str, int] = {}
for _number, _names in enumerate(
    (
        "january jan januar jänner janvier janv enero gennaio januari janeiro",
        "february feb februar februari février févr febrero febbraio fevereiro",
        "march mar märz mär mrz mars marzo maart março",
        "april apr avril avr abril aprile",
        "may mai mayo maggio mei maio",
        "june jun juni juin junio giugno junho",
        "july jul juli juillet juil julio luglio julho",
        "august aug août agosto augustus",
        "september sept sep septembre septiembre settembre setembro",
        "october oct oktober okt octobre octubre ottobre outubro",
        "november nov novembre noviembre novembro",
        "december dec dezember dez décembre déc diciembre dicembre dezembro",
    ),
    start=1,
):
    _MONTHS |= dict.fromkeys(_names.split(), _number)
_WEEKDAYS: dict[str, int] = {}
for _number, _names in enumerate(
    (
        "monday montag lundi lunes lunedì", "tuesday dienstag mardi martes martedì",
        "wednesday mittwoch mercredi miércoles mercoledì", "thursday donnerstag jeudi jueves giovedì",
        "friday freitag vendredi viernes venerdì", "saturday samstag sonnabend samedi sábado sabato",
        "sunday sonntag dimanche domingo domenica",
    ),
    start=1,
):  # fmt: skip
    _WEEKDAYS |= dict.fromkeys(_names.split(), _number)
_LOOK_BACK = 12  # characters, for the word before a month
_ERAS = {"令和": 2018, "平成": 1988, "昭和": 1925, "大正": 1911, "明治": 1867}

_MONTH = rf"(?i:{'|'.join(sorted(_MONTHS, key=len, reverse=True))})(?![A-Za-zÀ-ɏ])"
_WHOLE = [name.capitalize() for name in _MONTHS if len(name) > 4 or name in ("june", "july", "juni", "juli", "märz")]
_FULL_MONTH = rf"(?:{'|'.join(sorted(_WHOLE, key=len, reverse=True))}|May|Mai)(?![A-Za-zÀ-ɏ])"
_ALONE = r"(?<![\dA-Za-zÀ-ɏ._/:-])"
_DAY = r"(?:0?[1-9]|[12]\d|3[01])(?!\d)"
_NTH = r"(?:st|nd|rd|th|º|er)?\.?"
_YEAR = r"[12]\d{3}(?!\d)"
_PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{_ALONE}(?P<year>{_YEAR})(?P<sign>[-/.])(?P<month>0?[1-9]|1[0-2])(?P=sign)(?P<day>{_DAY})",
        rf"{_ALONE}(?P<day>{_DAY})\.\s?(?P<month>0?[1-9]|1[0-2])\.\s?(?P<year>{_YEAR}|\d\d(?!\d))",
        rf"{_ALONE}(?P<either>\d\d?)/(?P<other>\d\d?)/(?P<year>{_YEAR}|\d\d(?!\d))",
        rf"(?:(?P<year>{_YEAR})|(?P<era>{'|'.join(_ERAS)})(?P<era_year>\d\d?|元))\s?年"
        rf"(?:\s?(?P<month>1[0-2]|0?[1-9])\s?月(?:\s?(?P<day>{_DAY})\s?[日号])?)?",
        rf"(?<!\d)(?P<month>1[0-2]|0?[1-9])\s?月\s?(?P<day>{_DAY})\s?[日号](?:\s?(?:から|[-~〜～–])\s?(?P<to>{_DAY})\s?日)?",
        r"(?<!\d)(?P<month>1[0-2]|0?[1-9])月(?!間)",
        rf"{_ALONE}(?P<day>{_DAY}){_NTH}(?:\s?(?:[-–]|to|bis|and|und|,|/)\s?(?P<to>{_DAY}){_NTH})?\s(?:of\s|de\s|day\sof\s)?"
        rf"(?P<name>{_MONTH})\.?(?:,?\s(?:de\s)?(?P<year>{_YEAR}))?",
        rf"(?<![A-Za-zÀ-ɏ])(?P<name>{_MONTH})\.?\s(?P<day>{_DAY}){_NTH}(?![.,]?\d)"
        rf"(?:\s?(?:[-–]|to|and)\s?(?P<to>{_DAY}){_NTH})?(?:,?\s(?P<year>{_YEAR}))?",
        rf"(?<![A-Za-zÀ-ɏ])(?P<name>{_MONTH})\.?,?\s(?:of\s|de\s)?(?P<year>{_YEAR})",
        rf"{_ALONE}(?P<year>{_YEAR})-(?P<month>0[1-9]|1[0-2])(?![-\d])",
        rf"(?<![A-Za-zÀ-ɏ-])(?P<name>{_FULL_MONTH})",
    )
)
_WEEKDAY = re.compile(rf"\b(?:{'|'.join(_WEEKDAYS)})(?:s|en)?\b", re.IGNORECASE)
_YOUBI = re.compile(r"([月火水木金土日])曜")
_TIMES = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?<![\d:.])(?P<hour>[01]?\d|2[0-4]):(?P<minute>[0-5]\d)(?::[0-5]\d)?(?![:\d])"
        r"(?:\s?(?P<half>[apAP])\.?[mM]\b\.?)?",
        # In German "am" before a day is no half of the day.
        r"(?<![\w:.])(?P<hour>1[0-2]|0?[1-9])(?:\.(?P<minute>[0-5]\d))?\s?(?P<half>[apAP])\.?[mM]\b\.?(?!\s[A-ZÀ-Þ\d])",
        r"(?<![\d:.,])(?P<hour>[01]?\d|2[0-4])(?:[.:](?P<minute>[0-5]\d))?\s?Uhr(?:\s(?P<later>[0-5]?\d)(?![\d.,]))?",
        r"(?P<half>午前|午後)?\s?(?<!\d)(?P<hour>[01]?\d|2[0-4])\s?時(?!間)(?:\s?(?P<minute>[0-5]?\d)\s?分|(?P<thirty>半))?",
    )
)
_LONELY_YEAR = re.compile(rf"(?<![\d.,:/\w-])(?:1[5-9]|20|21)\d\d(?=s?\b|er\b)(?![.,:/]?\d|-\d)(?!\s(?:{UNIT})|[%°€$])")
_DECADE = re.compile(r"(?:(?P<century>[12]?\d)\s?世[纪紀]\s?)(?P<decade>\d0)\s?年代")


def dates(text: str) -> list[Date]:
    """The dates, weekdays and times of a normalised text, in order; years alone are among them."""
    found: list[Date] = []
    taken = Taken(len(text))
    for pattern in (*_PATTERNS, *_TIMES):
        for match in pattern.finditer(text):
            if not taken.meets(Span(*match.span())):
                new = list(_date(match, text) if pattern in _PATTERNS else _time(match))
                found += new
                for one in new[:1]:  # all of the same place
                    taken.add(one.span)
    for match in _WEEKDAY.finditer(text):
        name = match.group().casefold()
        number = _WEEKDAYS.get(name) or _WEEKDAYS.get(name.removesuffix("s")) or _WEEKDAYS.get(name[:-2], 0)
        found.append(Date(Span(*match.span()), weekday=number))
    for match in _YOUBI.finditer(text):
        found.append(Date(Span(*match.span()), weekday="月火水木金土日".index(match.group(1)) + 1))
    for match in _DECADE.finditer(text):
        found.append(Date(Span(*match.span()), 100 * (int(match["century"]) - 1) + int(match["decade"])))
    for match in _LONELY_YEAR.finditer(text):
        if not taken.meets(Span(*match.span())):
            found.append(Date(Span(*match.span()), int(match.group())))
    return sorted(found, key=lambda date: date.span.start)


def _date(match: re.Match[str], text: str) -> Iterator[Date]:
    groups = match.groupdict()
    name = (groups.get("name") or "").casefold()
    if name in ("may", "march", "mar", "mars") and not (groups.get("day") or groups.get("year")):
        before = text[max(0, match.start() - _LOOK_BACK) : match.start()].rstrip().rpartition(" ")[2].casefold()
        if before not in (
            "in",
            "since",
            "until",
            "till",
            "by",
            "every",
            "from",
            "to",
            "of",
            "mid",
            "early",
            "late",
            "last",
        ):
            return  # "May I", "March on"
    year = int(groups.get("year") or 0)
    if 0 < year < 100:
        year += 2000 if year < 70 else 1900
    if era := groups.get("era"):
        written = groups["era_year"]
        year = _ERAS[era] + (1 if written == "元" else int(written))
    span = Span(*match.span())
    if groups.get("either"):
        pairs = [(int(match["either"]), int(match["other"])), (int(match["other"]), int(match["either"]))]
        days = frozenset((month, day) for month, day in pairs if month <= 12 and day <= 31)
        if days:
            yield Date(span, year, days)
        return
    month = _MONTHS[name] if name else int(groups.get("month") or 0)
    for day in filter(None, (groups.get("day"), groups.get("to"))):
        yield Date(span, year, frozenset({(month, int(day))}))
    if not groups.get("day"):
        yield Date(span, year, frozenset({(month, 0)}) if month else frozenset())


def _time(match: re.Match[str]) -> Iterator[Date]:
    groups = match.groupdict()
    half = (groups.get("half") or "").casefold()
    hour = int(groups["hour"])
    if half in ("p", "午後"):
        hour = hour % 12 + 12
    elif half in ("a", "午前"):
        hour %= 12
    minute = int(groups.get("minute") or groups.get("later") or (30 if groups.get("thirty") else 0))
    yield Date(Span(*match.span()), minutes=(60 * hour + minute) % 1440, half_day=bool(half) or hour > 12)


@dataclass
class Calendar:
    """The dates of a text, to confirm others with."""

    years: set[int] = field(default_factory=set)
    days: set[tuple[int, int]] = field(default_factory=set)
    months: set[int] = field(default_factory=set)
    weekdays: set[int] = field(default_factory=set)
    times: set[tuple[int, bool]] = field(default_factory=set)

    def add(self, found: Iterable[Date]) -> None:
        """Adds dates; their weekdays are reckoned where the year is told."""
        for date in found:
            self.years |= {date.year} - {0}
            self.days |= {pair for pair in date.days if pair[1]}
            self.months |= {month for month, _ in date.days}
            self.weekdays |= {date.weekday} - {0}
            self.weekdays |= {_weekday(date.year, *pair) for pair in date.days if date.year and pair[1]} - {0}
            if date.minutes is not None:
                self.times.add((date.minutes, date.half_day))

    def confirms(self, date: Date, numbers: set[float]) -> bool:
        """Whether the text tells this date.

        Args:
            date: What is to be confirmed.
            numbers: The text's bare numbers: a table may give the day alone, and the month above it.
        """
        if date.year and date.year not in self.years and date.year not in numbers:
            return False
        if date.weekday and date.weekday not in self.weekdays:
            return False
        if date.minutes is not None and not any(_same_time(date, *time) for time in self.times):
            return False
        return not date.days or any(
            pair in self.days or (pair[0] in self.months and (not pair[1] or pair[1] in numbers)) for pair in date.days
        )


def _weekday(year: int, month: int, day: int) -> int:
    try:
        return datetime.date(year, month, day).isoweekday()
    except ValueError:
        return 0


def _same_time(date: Date, minutes: int, half_day: bool) -> bool:
    if date.minutes == minutes:
        return True
    unsure = not (date.half_day and half_day)
    return unsure and date.minutes is not None and date.minutes % 720 == minutes % 720
