"""Whether the text of a page can be what is printed on it."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise

_UNREADABLE = 0.15  # share of characters that stand for nothing
_SCATTERED = 0.25  # share of neighbouring letters that belong to different scripts
_ENOUGH = 120  # letters; fewer tell nothing
_MIXED = {"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HALFWIDTH", "FULLWIDTH", "BOPOMOFO", "HANGUL"}
_VOWELS = frozenset("aeiouy")
_WORD = re.compile(r"[^\W\d_]{2,}")


def is_unreadable(character: str) -> bool:
    """Whether a character says nothing: replaced, of private use, or not assigned."""
    return character == "\N{REPLACEMENT CHARACTER}" or unicodedata.category(character) in ("Co", "Cn")


def is_garbled(text: str) -> bool:
    """Whether a page's characters are not those that are printed, for want of a font's table or for a wrong one.

    Three signs, each of which is enough: many characters that stand for nothing; letters of different scripts side by
    side in words; Latin words that nobody can say, as when every letter was moved in the alphabet.
    """
    printed = [character for character in text if not character.isspace()]
    if not printed:
        return False
    if sum(map(is_unreadable, printed)) > _UNREADABLE * len(printed):
        return True
    if len(printed) < _ENOUGH:
        return False
    if sum(map(str.isalnum, printed)) < 0.35 * len(printed) and _LEADERS.sub("", text) == text:
        return True
    return _is_scattered(text) or _is_unspeakable(text)


_LEADERS = re.compile(r"([^\w\s])(?: ?\1){4,}")


def _is_scattered(text: str) -> bool:
    pairs = changes = 0
    for before, after in pairwise(text):
        if before.isalpha() and after.isalpha():
            scripts = {_script(before), _script(after)}
            pairs += 1
            changes += len(scripts - _MIXED) > 1 or (len(scripts) > 1 and not scripts <= _MIXED | {"LATIN"})
    return pairs >= _ENOUGH / 2 and changes > _SCATTERED * pairs


def _is_unspeakable(text: str) -> bool:
    """Whether Latin words have next to no vowels; no language writes so, and lists of abbreviations are short."""
    words = [word for word in _WORD.findall(text) if all(_script(letter) == "LATIN" for letter in word)]
    letters = unicodedata.normalize("NFD", "".join(words)).lower()
    plain = [letter for letter in letters if letter.isalpha()]
    if len(plain) < 2 * _ENOUGH or sum(map(len, words)) < 0.5 * sum(map(str.isalpha, text)):
        return False
    return sum(1 for letter in plain if letter in _VOWELS) < 0.2 * len(plain)


@lru_cache(maxsize=4096)
def _script(letter: str) -> str:
    return unicodedata.name(letter, "?").split()[0]
