"""Text that is in a file and that a person who opens the file does not see: noted while reading, placed at the end.

Readers note the words where they meet them. What becomes of the words on the way (blanks joined, hyphens taken out,
lines put together) need not be known: they are looked for in the finished text by their letters alone.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rag.types import Concealment, Hidden, Span

FEWEST_LETTERS = 5
"""Letters and digits that hidden words have at least; fewer (a bullet, a page number) say nothing."""

_SHOWN = 60  # characters of hidden words in a note
_BETWEEN = 12  # characters between two hidden runs that count as one

_NAMES: dict[Concealment, str] = {
    "colour": "in the colour of what is behind it",
    "tiny": "too small to be seen",
    "transparent": "see-through",
    "outside": "beside the page",
    "style": "hidden by the page's style",
    "characters": "with characters that print nothing",
}


@dataclass(frozen=True, slots=True)
class Noted:
    """Hidden words as a reader met them.

    Attributes:
        start: A place in the document's text at which they do not begin before.
    """

    start: int
    how: Concealment
    words: str


def placed(text: str, noted: Iterable[Noted]) -> tuple[Hidden, ...]:
    """Where hidden words stand in a document's text; those that did not make it into the text are left out.

    Args:
        text: The document's text.
        noted: What was noted, in the order of the file.
    """
    wanted = [(one, letters(one.words)) for one in noted]
    wanted = [(one, words) for one, words in wanted if len(words) >= FEWEST_LETTERS]
    if not wanted:
        return ()
    begin = min(one.start for one, _ in wanted)
    found, places = _letters_with_places(text, begin)
    hidden: list[Hidden] = []
    after: dict[str, int] = defaultdict(int)  # so that words that come twice are found twice
    last = 0
    for one, words in sorted(wanted, key=lambda pair: pair[0].start):
        earliest = max(bisect_left(places, one.start), after[words])
        start = found.find(words, max(earliest, last))
        if start < 0:
            start = found.find(words, earliest)  # what was noted before it was found further on than it stands
        if start < 0:
            continue
        last = start + len(words)
        after[words] = last
        hidden.append(Hidden(Span(places[start], places[start + len(words) - 1] + 1), one.how))
    return _merged(hidden)


def letters(text: str) -> str:
    """Letters and digits only, without case and width: what is left when spacing, hyphens and ligatures differ."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


def note(text: str, hidden: Sequence[Hidden]) -> tuple[str, ...]:
    """A line for people on a document's hidden text; none where there is none."""
    if not hidden:
        return ()
    words = sum(len(text[one.span.start : one.span.end].split()) for one in hidden)
    ways = ", ".join(dict.fromkeys(_NAMES[one.how] for one in hidden))
    counted = "1 word" if words == 1 else f"{words:,} words"
    first = " ".join(text[hidden[0].span.start : hidden[0].span.end].split())
    return (f"text that is not to be seen was read and marked ({ways}): {counted}, “{shortened(first)}”",)


def shortened(words: str) -> str:
    """The beginning of hidden words, for a note."""
    return words if len(words) <= _SHOWN else f"{words[:_SHOWN].rstrip()}…"


def _letters_with_places(text: str, begin: int) -> tuple[str, list[int]]:
    """The letters of a text from a place on, and where each of them stands."""
    found: list[str] = []
    places: list[int] = []
    for at in range(begin, len(text)):
        character = text[at]
        if character.isascii():
            if character.isalnum():
                found.append(character.lower())
                places.append(at)
        else:
            for letter in letters(character):
                found.append(letter)
                places.append(at)
    return "".join(found), places


def _merged(hidden: Iterable[Hidden]) -> tuple[Hidden, ...]:
    """In order, with the runs joined that go on where another one ended."""
    merged: list[Hidden] = []
    for one in sorted(hidden, key=lambda one: (one.span.start, one.span.end)):
        last = merged[-1] if merged else None
        if last and last.how == one.how and one.span.start - last.span.end <= _BETWEEN:
            merged[-1] = Hidden(Span(last.span.start, max(last.span.end, one.span.end)), one.how)
        elif last is None or one.span.start >= last.span.end:
            merged.append(one)
    return tuple(merged)
