"""The language of a question, so that the answer can be in it."""

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


def language_of(text: str) -> str:
    """ISO 639-1 code of the text's language, one of :data:`NAMES`.

    Scripts that only one of these languages uses decide at once, since a detector needs more letters than a short
    question has.
    """
    if _KANA.search(text):
        return "ja"
    if _HANGUL.search(text):
        return "ko"
    if _HAN.search(text):
        return "zh"
    code, confidence = _detector().classify(text)
    # Latin letters in a handful of words: names and terms mislead the detector, so it must be sure.
    return str(code) if confidence > 0.6 else "en"


@cache
def _detector() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    detector = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    detector.set_languages(list(NAMES))
    return detector
