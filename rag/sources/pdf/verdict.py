"""Whether the text of a page can be what is printed on it."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise

_UNREADABLE = 0.15  # share of characters that stand for nothing
_SCATTERED = 0.25  # share of neighbouring letters that belong to different scripts
_ENOUGH = 120  # letters; fewer tell nothing
_MIXED = {"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HALFWIDTH", "FULLWIDTH", "LATIN"}
_WORD = re.compile(r"[^\W\d_]{2,}")


def is_unreadable(character: str) -> bool:
    """Whether a character says nothing: replaced, of private use, or not assigned."""
    return character == "\N{REPLACEMENT CHARACTER}" or unicodedata.category(character) in ("Co", "Cn")


def is_unreadable_line(text: str) -> bool:
    """Whether most of a line says nothing, as a formula does whose font has no table of its signs."""
    printed = "".join(text.split())
    return not printed.isascii() and sum(map(is_unreadable, printed)) > 0.5 * len(printed)


def is_garbled(text: str) -> bool:
    """Whether a page's characters are not those that are printed, for want of a font's table or for a wrong one.

    Three signs, each of which is enough: many characters that stand for nothing; letters of different scripts side by
    side in words; Latin words that nobody can say, as when every letter was moved in the alphabet.
    """
    printed = "".join(text.split())
    if not printed:
        return False
    if not printed.isascii() and sum(map(is_unreadable, printed)) > _UNREADABLE * len(printed):
        return True
    if len(printed) < _ENOUGH:
        return False
    if sum(map(str.isalnum, printed)) < 0.35 * len(printed) and _LEADERS.sub("", text) == text:
        return True
    return _is_scattered(text) or _is_unspeakable(text)


_LEADERS = re.compile(r"([^\w\s])(?: ?\1){4,}")


def _is_scattered(text: str) -> bool:
    pairs = changes = 0
    for word in _WORD.findall(text):
        pairs += len(word) - 1
        if not word.isascii():
            scripts = map(_script, word)
            changes += sum(
                1 for before, after in pairwise(scripts) if before != after and not _go_together(before, after)
            )
    return pairs >= _ENOUGH / 2 and changes > _SCATTERED * pairs


def _go_together(before: str, after: str) -> bool:
    return before in _MIXED and after in _MIXED


def _is_unspeakable(text: str) -> bool:
    """Whether Latin words have next to no vowels; no language writes so, and lists of abbreviations are short."""
    words = _WORD.findall(text)
    latin = "".join(word for word in words if word.isascii() or all(_script(letter) == "LATIN" for letter in word))
    if len(latin) < 2 * _ENOUGH or len(latin) < 0.5 * sum(map(len, words)):
        return False
    letters = unicodedata.normalize("NFD", latin).casefold()
    return sum(map(letters.count, "aeiouy")) < 0.2 * len(latin)


@lru_cache(maxsize=4096)
def _script(letter: str) -> str:
    return unicodedata.name(letter, "?").split()[0]
