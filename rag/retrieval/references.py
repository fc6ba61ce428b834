"""Where the best passages refer to another place of their document ("see Table C.4"), that place: one hop, marked."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rag.index.chunking.clauses import canonical
from rag.index.library import Library
from rag.index.selection import Selection
from rag.types import Chunk, Hit, Stage

_FOLLOWED_FROM = 3
"""Passages whose references are followed: the model seldom reads more."""

_MOST = 4
"""Passages that references may add."""

_NUMBER = r"(?:[A-Z](?:\.\d{1,3})+|\d{1,3}(?:\.\d{1,3})*[a-z]?|[A-Z](?![\w.])|[IVX]{1,5}\b)"
_REFERENCE = re.compile(
    rf"\b(?P<figure>Tables?|Figures?|Fig\.|Tabellen?|Abbildung(?:en)?|Abb\.|Tableaux?)\s*(?P<captioned>{_NUMBER})"
    rf"|\b(?P<label>Sections?|Sec\.|Clauses?|Annex(?:es)?|Appendix|Chapters?|Articles?|Abschnitte?n?|Anhang|Kapitel|Artikel)"
    rf"\s*(?P<section>{_NUMBER})"
    r"|(?P<paragraph>§§?\s*\d{1,4}[a-z]?)"
    r"|(?P<kanji>第[\d一二三四五六七八九十百]{1,4}[章条條節节])"
    r"|(?P<cjk_figure>[表図图])\s*(?P<cjk_captioned>\d{1,3}(?:[.\-]\d{1,3})*)"
    r"|\b(?:see|siehe|gemäß|according to|(?:specified|defined|described|given|stated|required|listed) (?:in|by))\s+"
    r"(?P<bare>\d{1,3}(?:\.\d{1,3})+)(?![\d%])"
    r"|\b(?:in|of|by|with|under|nach)\s+(?P<deep>\d{1,3}(?:\.\d{1,3}){2,5})(?![\d%])"
)
_ELSEWHERE = re.compile(
    r"(?:\s*(?:Abs(?:atz|\.)|Satz|Nr\.|Nummer|Buchstabe)\s*\w{1,3})*\s*\)?\s*(?:of|in|des|der)\s+"
    r"(?!this\b|the (?:present|same)\b|diese[rs]\b|Annex|Appendix|Section|Clause|Anhang|Abschnitt|Kapitel)"
    r"(?:the\s+)?[\[\"“A-ZÄÖÜ]"
)
"""After a reference: it is to another document ("Section 5 of [RFC7234]", "§ 10 des Flaggenrechtsgesetzes")."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference in a text.

    Attributes:
        words: As it stands there.
        section: The canonical number of the section meant; empty for a figure or table.
        caption: The number of the figure or table meant; else empty.
    """

    words: str
    section: str = ""
    caption: str = ""


def references(text: str) -> Iterator[Reference]:
    """The references of a text to places of its own document, in order."""
    for found in _REFERENCE.finditer(text):
        if _ELSEWHERE.match(text, found.end()):
            continue
        words = found["bare"] or found["deep"] or " ".join(found.group().split())
        caption = found["captioned"] or found["cjk_captioned"]
        if caption:
            yield Reference(words, caption=caption)
        elif section := canonical(words):
            yield Reference(words, section=section)


def follow(hits: Sequence[Hit], places: Sequence[tuple[Library, Selection | None]]) -> Stage:
    """The passages that the best hits refer to, each once, and not those that are among the best already.

    Args:
        hits: The ranking so far, best first.
        places: The libraries where they were found, each with what filters let through (None: everything).
    """
    started = time.perf_counter()
    held = {library.name: (library, within) for library, within in places}
    seen = {hit.chunk.id for hit in hits[:_FOLLOWED_FROM]}
    found: list[Hit] = []
    for hit in hits[:_FOLLOWED_FROM]:
        library, within = held.get(hit.chunk.library) or places[0]
        chunks: tuple[Chunk, ...] | None = None
        for reference in dict.fromkeys(references(hit.chunk.text)):
            if len(found) == _MOST:
                break
            if reference.caption:
                chunks = library.catalog.chunks_of(hit.chunk.file_id) if chunks is None else chunks
                chunk = _captioned(reference.caption, chunks, hit.chunk)
            else:
                chunk = _in_section(reference.section, hit.chunk, library)
            if chunk is None or chunk.id in seen or (within is not None and not within.among([chunk.id])):
                continue
            seen.add(chunk.id)
            note = f"“{reference.words}” in passage {hit.rank}"
            found.append(Hit(replace(chunk, library=hit.chunk.library), 0.0, len(found) + 1, note=note))
    return Stage("follow", "", tuple(found), time.perf_counter() - started)


def _in_section(number: str, referring: Chunk, library: Library) -> Chunk | None:
    if number == referring.section:
        return None
    return library.catalog.first_in_section(number, referring.file_id)


def _captioned(number: str, chunks: Sequence[Chunk], referring: Chunk) -> Chunk | None:
    """The chunk that holds the caption; not the passage that refers to it."""
    caption = re.compile(
        rf"^[\W_]*(?:Table|Figure|Fig\.|Tab\.|Tabelle|Abbildung|Abb\.|Tableau|表|図|图)\s*{re.escape(number)}(?![\w.]*\w)",
        re.MULTILINE | re.IGNORECASE,
    )
    return next(
        (chunk for chunk in chunks if chunk.id != referring.id and not chunk.contents and caption.search(chunk.text)),
        None,
    )
