"""The language of a question, and of passages: what an answer is written in, and whether words can be compared."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

NAMES = {
    "ar": "Arabic", "cs": "Czech", "da": "Danish", "de": "German", "el": "Greek", "en": "English", "es": "Spanish",
    "fi": "Finnish", "fr": "French", "he": "Hebrew", "hi": "Hindi", "hu": "Hungarian", "it": "Italian",
    "ja": "Japanese", "ko": "Korean", "nl": "Dutch", "no": "Norwegian", "pl": "Polish", "pt": "Portuguese",
    "ru": "Russian", "sv": "Swedish", "tr": "Turkish", "uk": "Ukrainian", "vi": "Vietnamese", "zh": "Chinese",
}  # fmt: skip
"""Languages that are told apart, by ISO 639-1 code."""

_KANA = re.compile(r"[\u3040-\u30ff]")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_HANGUL = re.compile(r"[\uac00-\ud7af]")
_LETTERS_FOR_ONE = 4
"""Letters of an alphabet that say as much as one character of these scripts: a name in them makes no text Chinese."""


def language_of(text: str) -> str:
    """ISO 639-1 code of the text's language, one of :data:`NAMES`.

    Scripts that only one of these languages uses decide at once, since a detector needs more letters than a short
    question has.
    """
    kana, han, hangul = (len(script.findall(text)) for script in (_KANA, _HAN, _HANGUL))
    others = sum(map(str.isalpha, text)) - kana - han - hangul
    if others <= _LETTERS_FOR_ONE * (kana + han + hangul) > 0:
        if hangul > kana + han:
            return "ko"
        return "ja" if kana else "zh"
    code, confidence = _detector().classify(text)
    # Latin letters in a handful of words: names and terms mislead the detector, so it must be sure.
    return str(code) if confidence > 0.6 else "en"


@cache
def _detector() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    detector = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    detector.set_languages(list(NAMES))
    return detector
