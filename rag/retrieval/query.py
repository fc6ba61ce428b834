"""What was typed → what is searched, and the filters that the question itself holds.

::

    What does it say of valves?  file:boiler  folder:plant/unit-2  after:2023  before:2024-05
    section:8.3  is:normative  "word for word"  -draft

A colon makes a filter only right behind one of these six words and right before its value, so that neither "HTTP: The
Definitive Guide" nor a ratio or an address does. A minus sign makes one only between white space and a letter.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import fields, replace
from datetime import date
from typing import Any

from rag.errors import QueryError
from rag.index.chunking.clauses import canonical
from rag.types import Filters

_CLOSING = {'"': '"', "＂": "＂", "“": "”“", "„": '“”"', "«": "»", "»": "«", "「": "」", "『": "』"}
_QUOTED = "|".join(f"{opening}[^{closing}]+[{closing}]" for opening, closing in _CLOSING.items())
_FILTER = re.compile(
    rf"(?<!\S)(?P<name>file|folder|after|before|section|is)[:：](?!//)(?P<value>{_QUOTED}|\S+)"
    rf"|(?<!\S)[-－−](?P<without>{_QUOTED}|[^\W\d_][\w'’.-]+)"
    # An inch mark stands behind its number.
    rf"|(?P<phrase>(?<!\w)\"[^\"]+\"(?!\w)|(?![\"])(?:{_QUOTED}))",
    re.IGNORECASE,
)
_DATE = re.compile(r"(\d{4})(?:[-/.年](\d{1,2})(?:[-/.月](\d{1,2}))?)?[年月日]?")
_STANCES = ("normative", "informative")
_AT_THE_END = "?!.,;。、，？！"


def parse_query(typed: str) -> tuple[str, Filters]:
    """What is searched, and the filters that the question itself holds; a quoted phrase is both.

    Raises:
        QueryError: A filter cannot be read, or nothing is left to be searched.
    """
    found: dict[str, list[str]] = defaultdict(list)
    text, at = "", 0
    while match := _FILTER.search(typed, at):
        text += typed[at : match.start()]
        at = match.end()
        name, value = (match["name"] or "").lower(), _unquoted(match["value"] or match["without"] or match["phrase"])
        if not value:  # "What is in the file:?"
            text += match.group()
        elif match["phrase"]:
            text += value
            found["phrases"].append(value)
        elif match["without"]:
            found["without"].append(value)
        elif name == "section":
            number = canonical(value)
            if not number and (following := re.compile(r"\s+\S+").match(typed, at)):  # "section:Annex C"
                number, at = canonical(_unquoted(value + following.group())), following.end()
            found["sections"].append(number or _section(value))
        elif name == "is":
            if value.lower() not in _STANCES:
                raise QueryError(f"“is:{value}” is no filter.", "Write is:normative or is:informative.")
            found["stance"].append(value.lower())
        elif name in ("after", "before"):
            found[name].append(_date(name, value))
        else:
            found[f"{name}s"].append(value)
    text = " ".join((text + typed[at:]).split()) or " ".join(found.get("sections", ()))
    if found and not any(character.isalnum() for character in text):
        raise QueryError("There are only filters, and nothing to search for.", "Add the words of a question.")
    return text, _filters(found)


def readable(filters: Filters) -> Filters:
    """Filters that were written into fields or options, with dates and section numbers in their one form.

    Raises:
        QueryError: A date or a section's number cannot be read.
    """
    return replace(
        filters,
        after=filters.after and _date("after", filters.after),
        before=filters.before and _date("before", filters.before),
        sections=tuple(_section(number) for number in filters.sections),
    )


def merged(one: Filters, other: Filters) -> Filters:
    """Filters that hold what both do; of two dates the narrower, of two stances the first."""
    both = {
        field.name: [*_listed(getattr(one, field.name)), *_listed(getattr(other, field.name))] for field in fields(one)
    }
    return _filters(both)


def _filters(found: dict[str, list[str]]) -> Filters:
    single: dict[str, Any] = {
        "after": max(found["after"], default=""),
        "before": min(found["before"], key=lambda day: day.ljust(10, "~"), default=""),
        "stance": next(iter(found["stance"]), ""),
    }
    several: dict[str, Any] = {
        name: tuple(dict.fromkeys(values)) for name, values in found.items() if name not in single
    }
    return Filters(**several, **single)


def _listed(value: str | Iterable[str]) -> list[str]:
    # A blank one, as from a field left empty, asks for nothing.
    return [one for one in ([value] if isinstance(value, str) else value) if one.strip()]


def _unquoted(value: str) -> str:
    if value[0] in _CLOSING:
        value = value[1:-1] if value[-1] in _CLOSING[value[0]] else value[1:]
    else:
        value = value.rstrip(_AT_THE_END)
    return " ".join(unicodedata.normalize("NFKC", value).split())


def _section(value: str) -> str:
    """A section's number as chunks hold it."""
    number = canonical(value)
    if not number:
        raise QueryError(f"“section:{value}” names no section.", "Write its number: section:8.3, section:§5.")
    return number


def _date(name: str, value: str) -> str:
    """A date as filters hold it: ``2024``, ``2024-05`` or ``2024-05-01``."""
    written = _DATE.fullmatch(value)
    numbers = [int(number) for number in written.groups() if number] if written else []
    try:
        date(*[*numbers, 1, 1][:3])
    except (TypeError, ValueError) as error:
        raise QueryError(
            f"“{name}:{value}” is no date.", f"Write {name}:2024, {name}:2024-05 or {name}:2024-05-01."
        ) from error
    return "-".join([f"{numbers[0]:04}", *(f"{number:02}" for number in numbers[1:])])
