"""Numbers and their units in a sentence, compared with those of the passage it cites."""

from __future__ import annotations

import re
import unicodedata

_UNIT = (
    r"%|‰|°[CFK]?|(?:[kMGTmµnc]?(?:m|g|s|L|l|A|V|W|J|N|Pa|bar|Hz|K|B|Wh|Ω|mol))(?:/(?:s|h|min|m|m²|m³|kg|g|L|l))?[²³]?"
    r"|min|h|d|ms|t|ha|KiB|MiB|GiB|TiB|KB|MB|GB|TB|kbit|Mbit|Gbit|ppm|ppb|rpm|dB|EUR|USD|€|\$|£|¥|円"
)
_NUMBER = re.compile(rf"(?<![\w.,])[-−]?(\d+(?:[.,:’'/\-]\d+)*)(?:[ \u00a0\u202f]?({_UNIT})(?![\w]))?")


def numbers(text: str) -> list[tuple[str, str, str]]:
    """The numbers of a text: as written with the unit, in one notation for comparing, and the unit (may be empty).

    Full-width digits count as digits. Dates, times and versions (``2024-05-01``, ``14:30``, ``8.3.2``) are one number.
    """
    found = []
    for match in _NUMBER.finditer(unicodedata.normalize("NFKC", text)):
        sign = "-" if match.group()[0] in "-−" else ""
        found.append((match.group().strip(), sign + _plain(match.group(1)), match.group(2) or ""))
    return found


def missing_numbers(sentence: str, passage: str) -> tuple[str, ...]:
    """Numbers of a sentence that the passage lacks, or has only with another unit; as written in the sentence.

    No conversion is tried: 1 cm is not found in a passage that says 10 mm. A number without a unit on either side
    matches any.
    """
    held: dict[str, set[str]] = {}
    for _, plain, unit in numbers(passage):
        held.setdefault(plain, set()).add(unit)
    lacking = []
    for written, plain, unit in numbers(sentence):
        units = held.get(plain)
        if units is None or (unit and "" not in units and unit not in units):
            lacking.append(written)
    return tuple(dict.fromkeys(lacking))


def _plain(number: str) -> str:
    """``1,234.5`` and ``1.234,5`` → ``1234.5``; ``1,234`` → ``1234``; ``3,5`` → ``3.5``; others as they are."""
    number = number.replace("’", "").replace("'", "")
    if "," in number and "." in number:
        decimal = max(number.rfind(","), number.rfind("."))
        whole = re.sub(r"[.,]", "", number[:decimal])
        return f"{whole}.{number[decimal + 1 :]}"
    if re.fullmatch(r"\d{1,3}(,\d{3})+", number):
        return number.replace(",", "")
    if re.fullmatch(r"\d+,\d+", number):
        return number.replace(",", ".")
    return number
