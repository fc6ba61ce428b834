"""The words of the keyword index: what counts as one term, for texts and for queries alike.

Terms are NFKC-normalised and case-folded. A word is a term, and so is its beginning without accents, so that other
forms of the word are found too, though less well than the word itself. Numbers with inner points or dashes (``8.3.2``,
``2024-05-01``, ``A.1``) and identifiers (``num_ctx``) stay whole, since people look for exactly them. Writing without
spaces between words, and Korean with its long inflected ones, become characters and overlapping pairs of them.

Measured, nDCG@10 of BM25 on the test material (XQuAD en, de, zh, ar; every second question of JSQuAD; SQuAD2)::

    words as they are, pairs of characters                    .963  .923  .965  .891  .935  .828
    stems by Snowball's English or German in their place      .969  .941                    .846
    words and their first five letters                        .966  .957        .896        .857
    … without accents, and without the Arabic article         .966  .957        .940        .859
    pairs of characters and ideographs by themselves                      .968        .939
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_MARKS = "".join(chr(code) for code in range(0x300, 0x10000) if unicodedata.category(chr(code))[0] == "M")
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_RUN = rf"(?:(?=[\w{_MARKS}])[{_UNSPACED}])+"
_WORD = rf"(?:(?![{_UNSPACED}])[\w§{_MARKS}])+"
_PIECE = re.compile(rf"(?P<run>{_RUN})|{_WORD}(?:(?:[.\-_'’]|(?<=\d),(?=\d)){_WORD})*")
_WORD_START = re.compile(_WORD)
_WITHIN_NUMBER = re.compile(r"(?<=§)\s+(?=\d)|(?<=\d),(?=\d{3}(?!\d))")
"""White space in "§ 5" and commas in "16,000", which are also written without."""

_IDEOGRAPH = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_IS_CODE = re.compile(r"[\d.,_\-']")
_ARABIC_ARTICLE = re.compile("^(?:[وفبك]?ال|لل|[وفبكل](?=....))(?=..)")
_BEGINNING = 5  # letters


def terms(text: str) -> list[str]:
    """Splits a text into the terms that are indexed and searched, in order, repeats included."""
    found: list[str] = []
    plain = _WITHIN_NUMBER.sub("", unicodedata.normalize("NFKC", text).casefold())
    for match in _PIECE.finditer(plain):
        piece = match.group().replace("’", "'")
        if match["run"]:
            found += _IDEOGRAPH.findall(piece) if len(piece) > 1 else [piece]
            found += (piece[at : at + 2] for at in range(len(piece) - 1))
            continue
        found += _word(piece)
        # "read-only" must also be found by "read"; "8.3.2" must not be found by "8".
        parts = re.split(r"[.,\-_']", piece)
        if len(parts) > 1 and not any(part.isdigit() for part in parts):
            for part in parts:
                found += _word(part) if len(part) > 1 else ()
    return found


def is_spaced(text: str) -> bool:
    """Whether a text begins in a writing that puts spaces between words."""
    return _WORD_START.match(text) is not None


@lru_cache(2**16)
def _word(word: str) -> tuple[str, ...]:
    """A word, and its beginning where that is another term."""
    if _IS_CODE.search(word):
        return (word,)
    letters = (letter for letter in unicodedata.normalize("NFD", word) if not unicodedata.combining(letter))
    beginning = _ARABIC_ARTICLE.sub("", "".join(letters))[:_BEGINNING]
    return (word,) if beginning == word or not beginning else (word, beginning)
