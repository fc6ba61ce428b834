"""Where sentences end, in scripts with and without spaces between them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag.types import Span

PARAGRAPH = re.compile(r"\n[ \t]*\n+")
SENTENCE = re.compile(r"(?<=[.!?؟])[\"'”’)\]]*\s+|(?<=[。！？])[」』）]*|\n+")
LINE = re.compile(r"\n")
WORD = re.compile(r"\s+")

# A point after these does not end a sentence.
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|cf|vs|etc|approx|ca|no|nr|fig|sec|dr|mr|mrs|ms|prof|st|abs|bzw|z\.b|d\.h|p|pp|vol)|\b[A-Z])\.$",
    re.IGNORECASE,
)

# Nor after the number of a day or a century in German, with the word that comes before it.
_GERMAN_ORDINAL = re.compile(
    r"\b(?:am|vom|zum|beim|im|bis|ab|seit|und|der|die|das|dem|den|des|jeden)\s\d{1,2}\.$", re.IGNORECASE
)

_LIST_NUMBER = re.compile(r"\s*(?:[-*+]\s+)?\(?(?:\d{1,3}(?:\.\d{1,3})*|[A-Za-z])[.)]")
_LONGEST_NUMBER = 20  # characters


def parts(text: str, span: Span, separator: re.Pattern[str]) -> Iterator[Span]:
    """The parts of ``span`` between matches of ``separator``, stripped of white space; empty ones are left out."""
    start = span.start
    for match in separator.finditer(text, span.start, span.end):
        if separator is SENTENCE and not _ends(text[start : match.start()]):
            continue
        if part := stripped(text, Span(start, match.end())):
            yield part
        start = match.end()
    if part := stripped(text, Span(start, span.end)):
        yield part


def _ends(sentence: str) -> bool:
    """Whether what seems to be a sentence is one: it ends in no abbreviation, and is no number of a list's item."""
    end = sentence[-12:].rstrip()
    if _ABBREVIATION.search(end) or _GERMAN_ORDINAL.search(end):
        return False
    return len(sentence) > _LONGEST_NUMBER or _LIST_NUMBER.fullmatch(sentence) is None


def sentences(text: str) -> list[Span]:
    """The sentences of a text; a line break ends one too, so that list items and headings stand alone."""
    return list(parts(text, Span(0, len(text)), SENTENCE))


def stripped(text: str, span: Span) -> Span | None:
    """The span without white space at its ends; None when nothing is left."""
    inner = text[span.start : span.end]
    if not inner.strip():
        return None
    return Span(span.end - len(inner.lstrip()), span.start + len(inner.rstrip()))
