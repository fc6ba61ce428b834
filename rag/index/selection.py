"""Filters → the chunks that they let through, before anything is ranked.

What filters ask of a file is answered from the list of files, what they ask of a section's number from the list of
numbers, and phrases from the texts of the few chunks that hold all their words. What comes of it is one condition that
each leg takes into its search, and the number of chunks, by which a leg decides how it searches best.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from rag.index.catalog import Catalog, Condition
from rag.index.chunking.clauses import is_within
from rag.index.terms import is_spaced, terms
from rag.types import Filters

_EVERYTHING = Condition("TRUE")


@dataclass(frozen=True, slots=True)
class Selection:
    """Chunks of one library that a search is held to.

    Attributes:
        condition: Which they are, for searches in the catalog.
        count: How many.
    """

    condition: Condition
    count: int
    _catalog: Catalog = field(repr=False)

    def ids(self) -> list[str]:
        """Their ids."""
        return sorted(self._catalog.ids_where(self.condition))

    def among(self, ids: Sequence[str]) -> set[str]:
        """Those of the given ids that are theirs."""
        return self._catalog.ids_where(self.condition, ids)


def select(catalog: Catalog, filters: Filters) -> Selection | None:
    """The chunks that filters let through; None: all of them."""
    if filters == Filters():
        return None
    parts = [_in_files(catalog, filters)]
    if filters.sections:
        numbers = [
            number for number in catalog.section_numbers() if any(is_within(number, w) for w in filters.sections)
        ]
        parts += [Condition("section != ''"), among("section", numbers)]
    if filters.stance:
        parts.append(Condition("stance = ? AND stance != ''", (filters.stance,)))
    condition = all_of(parts)
    for phrase in filters.phrases:
        condition = among("row", _rows_with(catalog, phrase, condition))
    count = catalog.total() if condition == _EVERYTHING else catalog.count_where(condition)
    for phrase in filters.without:
        rows = _rows_with(catalog, phrase, condition)
        condition, count = all_of([condition, among("row", rows, "NOT IN")]), count - len(rows)
    return Selection(condition, count, catalog)


def _in_files(catalog: Catalog, filters: Filters) -> Condition:
    """Which chunks lie in files of the right name, folder and date."""
    if not (filters.files or filters.folders or filters.after or filters.before):
        return _EVERYTHING
    facts = [(id_, _folded(path), date, mtime_ns) for id_, path, _, date, mtime_ns in catalog.file_facts()]
    patterns = [_pattern(part) for part in filters.files]
    folders = tuple(_folded(folder).replace("\\", "/").strip("/") + "/" for folder in filters.folders)
    # One that does not lie at the top is somebody's subfolder.
    deeper = [f"/{folder}" for folder in folders if not any(path.startswith(folder) for _, path, _, _ in facts)]
    right = [
        id_
        for id_, path, date, mtime_ns in facts
        if (not patterns or any(pattern.search(path) for pattern in patterns))
        and (not folders or path.startswith(folders) or any(folder in path for folder in deeper))
        and (not filters.after or _last_day(date or _day(mtime_ns)) >= _first_day(filters.after))
        and (not filters.before or _first_day(date or _day(mtime_ns)) <= _last_day(filters.before))
    ]
    return among("file_id", right)


def _pattern(part: str) -> re.Pattern[str]:
    """What finds a part of a path; with ``*``, of a whole path or a file's name."""
    inside = re.escape(_folded(part).replace("\\", "/")).replace(r"\*", ".*")
    return re.compile(rf"(?:^|/){inside}$" if "*" in part else inside)


def _day(mtime_ns: int) -> str:
    return datetime.fromtimestamp(mtime_ns / 1e9).date().isoformat()


def _first_day(date: str) -> str:
    """The first day of a year, month or day, as ``2024-05-01``."""
    return date + "-01-01"[len(date) - 4 :]


def _last_day(date: str) -> str:
    """The last day of a year, month or day, or one after it."""
    return date + "-12-31"[len(date) - 4 :]


def _rows_with(catalog: Catalog, phrase: str, within: Condition) -> list[int]:
    """The chunks in whose text a phrase stands word for word."""
    folded = _folded(phrase)
    first, *others = map(re.escape, folded.split())
    # Not inside a word: "art" is not in "start". Writing without spaces has no such ends of words. That nothing comes
    # before is asked after the first word, which is found the faster for it.
    start, end = (rf"(?<!\w{first})" if is_spaced(folded[:1]) else "", r"(?!\w)" if is_spaced(folded[-1:]) else "")
    found = re.compile(r"\s+".join((first + start, *others)) + end)
    candidates = catalog.rows_with([term for term in terms(phrase) if is_spaced(term) or len(term) > 1], within)
    return [row for row, text in candidates if _says(text, found)]


def _says(text: str, phrase: re.Pattern[str]) -> bool:
    """Whether a phrase, folded, stands in a text as it is."""
    # Most of those that say it say it as it was asked, and are found without being folded, which takes longer.
    as_asked = phrase.search(text) is not None and unicodedata.is_normalized("NFKC", text)
    return as_asked or phrase.search(_alike(text)) is not None


def _alike(text: str) -> str:
    """A text without what does not matter: case, width and the shape of apostrophes."""
    return unicodedata.normalize("NFKC", text).casefold().replace("’", "'")


def _folded(text: str) -> str:
    """The same without how much white space there is, too."""
    return " ".join(_alike(text).split())


def among(column: str, values: Iterable[int] | Iterable[str], operator: str = "IN") -> Condition:
    """Chunks of which a column's value is among some."""
    return Condition(f"{column} {operator} (SELECT value FROM json_each(?))", (json.dumps(list(values)),))


def all_of(conditions: Sequence[Condition]) -> Condition:
    """Chunks that meet every one of some conditions."""
    return Condition(
        " AND ".join(condition.sql for condition in conditions),
        tuple(value for condition in conditions for value in condition.values),
    )
