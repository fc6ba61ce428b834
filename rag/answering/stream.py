"""What a model says → what a person reads: the refusal's code word is held back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from rag.answering.prompts import REFUSAL

_OWN_WORDS = re.compile(
    r"\W*(the|your|these) (provided )?notes? (do|does) not (say|mention|contain|answer|specify|provide|include|state)"
    r"( \w+){0,12}\W*"
    r"|\W*(die|ihre) notizen (enthalten|erwähnen|nennen|sagen)( \w+){0,12} (nicht|keine)( \w+){0,6}\W*"
    r"|\W*(die|ihre) notizen (enthalten|erwähnen|nennen|sagen) (das|dazu|es) (nicht|nichts)\W*"
    r"|(この|その)?(ノート|メモ)(に|で)は[^。、]*(書かれて|記載されて|記載が|含まれて|言及されて|情報が|情報は)[^。、]*(ません|ない)。?"
    r"|(笔记|筆記)(中|里|裡)?(没有|沒有|未)[^。，]*。?",
    re.IGNORECASE,
)
"""A whole answer that refuses in words of the model's own; an answer that says more than that is none."""

_MARK = re.compile(r"\[\d+\]")


def until_refusal(pieces: Iterable[str]) -> Iterator[str]:
    """Passes text on, but holds the beginning back while it may become the refusal; of a refusal only its words."""
    held = ""
    decided = False
    for piece in pieces:
        if decided:
            yield piece
            continue
        held += piece
        start = held.lstrip(" \n\"'*.`").upper()
        if start.startswith(REFUSAL):
            yield REFUSAL
            return
        if start and not REFUSAL.startswith(start):
            decided = True
            yield held.lstrip()
    if held.strip() and not decided:
        yield held.strip()


def is_refusal(text: str) -> bool:
    """Whether a finished answer says, in the agreed words or its own, that the notes do not say, and nothing else."""
    text = text.strip()
    if text.lstrip("\"'*.`").upper().startswith(REFUSAL):
        return True
    return not _MARK.search(text) and bool(_OWN_WORDS.fullmatch(text))
