"""Passages that say nearly the same → the best of them, with the others as its copies."""

from __future__ import annotations

import re
import time
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass, replace

from rag.retrieval.ranking import numbered
from rag.types import Hit, Stage

NEARLY = 0.8
"""Share of sequences of three words that two passages have in common from which on they count as copies.

Source: the resemblance of Broder 1997, "On the resemblance and containment of documents".
"""

_SEQUENCE = 3
_ASIAN = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[{_ASIAN}]|[^\W_{_ASIAN}]+")


def fold(ranking: Stage, asked_for: Collection[str] = ()) -> Stage:
    """Folds copies into the best-ranked passage, and lets what only lists other passages follow them.

    Passages in which other numbers stand are no copies, however alike they are: a reading of 12 bar is not one of 13.

    Args:
        ranking: What was found.
        asked_for: Ids of chunks that the question names by their number; they stay where they are.
    """
    started = time.perf_counter()
    kept: list[Hit] = []
    prints: list[_Print] = []
    contents: list[Hit] = []
    folded = 0
    for hit in ranking.hits:
        if hit.chunk.contents and hit.chunk.id not in asked_for:
            contents.append(hit)
            continue
        fingerprint = _fingerprint(hit.chunk.text)
        twin = next((at for at, other in enumerate(prints) if fingerprint.is_copy_of(other)), None)
        if twin is None:
            kept.append(hit)
            prints.append(fingerprint)
        else:
            folded += 1
            kept[twin] = replace(kept[twin], copies=(*kept[twin].copies, hit.chunk))
    hits = numbered((*kept, *contents))
    return Stage("fold", ranking.score_name, hits, time.perf_counter() - started, note=_note(folded, len(contents)))


@dataclass(frozen=True, slots=True)
class _Print:
    numbers: tuple[str, ...]
    sequences: frozenset[tuple[str, ...]]

    def is_copy_of(self, other: _Print) -> bool:
        if self.numbers != other.numbers or not self.sequences:
            return False
        fewer, more = sorted((len(self.sequences), len(other.sequences)))
        if fewer < NEARLY * more:  # then the sequences in common are too few, whatever they are
            return False
        common = len(self.sequences & other.sequences)
        return common >= NEARLY * (fewer + more - common)


def _fingerprint(text: str) -> _Print:
    found = _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
    return _Print(
        tuple(sorted({word for word in found if not word.isalpha() and any(map(str.isdigit, word))})),
        frozenset(zip(*(found[at:] for at in range(_SEQUENCE)), strict=False)) or frozenset([tuple(found)]),
    )


def _note(folded: int, contents: int) -> str:
    notes = []
    if folded:
        notes.append(f"Nearly the same as a better one, and folded into it: {folded}.")
    if contents:
        notes.append(f"Only list what follows, and put last: {contents}.")
    return " ".join(notes)
