"""The words of the keyword index: what counts as one term, for texts and for queries alike.

Terms are NFKC-normalised and case-folded. Numbers with inner points or dashes (``8.3.2``, ``2024-05-01``, ``A.1``)
and identifiers (``num_ctx``) stay whole, since people look for exactly them. Chinese, Japanese and Korean, which are
written without spaces or with long inflected words, become overlapping character pairs.
"""

from __future__ import annotations

import re
import unicodedata

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff々〆"
_LETTER = rf"(?:(?![{_CJK}])[\w§\u0300-\u036f\u0900-\u109f\u0e00-\u0eff\u0591-\u05c7\u0610-\u065f])"
_PIECE = re.compile(rf"[{_CJK}]+|{_LETTER}+(?:[.\-_'’]{_LETTER}+)*")
_IS_CJK = re.compile(rf"[{_CJK}]")


def terms(text: str) -> list[str]:
    """Splits a text into the terms that are indexed and searched, in order, repeats included."""
    found: list[str] = []
    for match in _PIECE.finditer(unicodedata.normalize("NFKC", text).casefold()):
        piece = match.group().replace("’", "'")
        if not _IS_CJK.match(piece):
            found.append(piece)
            # "read-only" must also be found by "read"; "8.3.2" must not be found by "8".
            parts = re.split(r"[.\-_']", piece)
            if len(parts) > 1 and not any(part.isdigit() for part in parts):
                found.extend(part for part in parts if len(part) > 1)
        elif len(piece) == 1:
            found.append(piece)
        else:
            found.extend(piece[at : at + 2] for at in range(len(piece) - 1))
    return found
