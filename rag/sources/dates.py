"""Dates as documents write them → ``2024-05-01``, ``2024-05`` or ``2024``."""

from __future__ import annotations

import re
from datetime import date

_MONTHS = {
    start: number
    for number, starts in enumerate(
        (
            "jan gen ene", "feb fev fév", "mar mär mrz", "apr abr avr", "may mai mag", "jun jui giu", "jul lug",
            "aug ago aoû", "sep set", "oct okt ott out", "nov", "dec dez dic déc",
        ),
        start=1,
    )
    for start in starts.split()
}  # fmt: skip
_MONTHS["juil"] = 7
_YEAR_FIRST = re.compile(
    r"(?<!\d)(?P<year>[12]\d{3})(?:[-/.年]\s?(?P<month>\d{1,2})(?:[-/.月]\s?(?P<day>\d{1,2}))?)?(?!\d)"
)
_DAY_FIRST = re.compile(r"(?<!\d)(?P<day>\d{1,2})\.\s?(?P<month>\d{1,2})\.\s?(?P<year>[12]\d{3})(?!\d)")
_NAMED = re.compile(
    r"(?:(?<!\d)(?P<day>\d{1,2})(?:st|nd|rd|th|\.)?\s+(?:de\s+)?)?(?P<month>[^\W\d_]{3,})\.?"
    r"(?:\s+(?P<later>\d{1,2})(?:st|nd|rd|th)?,)?\s+(?:de\s+)?(?P<year>[12]\d{3})(?!\d)"
)


def plain_date(written: str) -> str:
    """The first date in a text, as far as it is told; empty where there is none that can be read for sure.

    A date in figures whose month and day could be mistaken for each other (``05/01/2024``) tells its year only.
    """
    for pattern in (_DAY_FIRST, _NAMED, _YEAR_FIRST):
        for found in pattern.finditer(written):
            groups = found.groupdict()
            month = groups["month"] or ""
            number = int(month) if month.isdecimal() else _month(month)
            if month and not number:
                continue
            day = groups["day"] or groups.get("later")
            if told := _told(int(groups["year"]), number, int(day or 0)):
                return told
    return ""


def _month(name: str) -> int:
    lowered = name.casefold()
    return _MONTHS.get(lowered[:4]) or _MONTHS.get(lowered[:3], 0)


def _told(year: int, month: int, day: int) -> str:
    """A date as it is kept; the part of it that can be, where the rest is of no calendar."""
    try:
        date(year, month or 1, day or 1)
    except ValueError:
        return f"{year:04}"
    return f"{year:04}" + (f"-{month:02}" if month else "") + (f"-{day:02}" if month and day else "")
