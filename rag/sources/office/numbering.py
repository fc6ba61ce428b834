"""The numbers that Word prints before headings and items of lists, which stand nowhere in the text."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rag.sources.markup import Node

_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl")),
    *((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
_IDEOGRAPHS = "〇一二三四五六七八九"
_COUNTED_IN_IDEOGRAPHS = ("chineseCounting", "chineseCountingThousand", "japaneseCounting", "taiwaneseCountingThousand")


@dataclass(frozen=True, slots=True)
class _Level:
    start: int
    style: str  # "decimal", "bullet", "lowerLetter", …
    pattern: str  # "%1.%2"
    legal: bool  # every number is written in digits


class Numbering:
    """Counts a document's numbered paragraphs, in their order.

    Args:
        root: The root of ``word/numbering.xml``.
    """

    def __init__(self, root: Node) -> None:
        self._levels: dict[str, dict[int, _Level]] = {}
        self._kind: dict[str, str] = {}
        self._restarts: dict[tuple[str, int], int] = {}
        self._counts: dict[str, dict[int, int]] = {}
        self._style_levels: dict[tuple[str, str], int] = {}
        for kind in root.elements("w:abstractNum"):
            identity = kind.get("w:abstractNumId")
            self._levels[identity] = {}
            for level in kind.elements("w:lvl"):
                depth = _number(level.get("w:ilvl"))
                self._levels[identity][depth] = _level(level)
                if style := level.first("w:pStyle"):
                    self._style_levels[identity, style.get("w:val")] = depth
        for used in root.elements("w:num"):
            identity = used.get("w:numId")
            kind_of = used.first("w:abstractNumId")
            self._kind[identity] = kind_of.get("w:val") if kind_of else ""
            for override in used.elements("w:lvlOverride"):
                if start := override.first("w:startOverride"):
                    self._restarts[identity, _number(override.get("w:ilvl"))] = _number(start.get("w:val"), 1)

    def depth_of_style(self, identity: str, style: str) -> int:
        """How deep a paragraph stands whose style, and not itself, is numbered."""
        return self._style_levels.get((self._kind.get(identity, ""), style), 0)

    def next(self, identity: str, depth: int) -> str:
        """Counts a paragraph and gives what is printed before it: "2.1", "(a)", "-" for any bullet.

        Empty where the list is not defined or prints nothing.
        """
        kind = self._kind.get(identity, "")
        levels = self._levels.get(kind, {})
        level = levels.get(depth)
        if level is None:
            return ""
        counts = self._counts.setdefault(kind, {})
        restart = self._restarts.pop((identity, depth), None)
        if restart is not None:
            counts[depth] = restart
        else:
            counts[depth] = counts.get(depth, level.start - 1) + 1
        for deeper in [other for other in counts if other > depth]:
            del counts[deeper]
        if level.style == "bullet":
            return "-"
        if level.style == "none":
            return ""

        def counted(match: re.Match[str]) -> str:
            other = int(match[1]) - 1
            above = levels.get(other)
            if above is None:
                return ""
            value = counts.setdefault(other, above.start)
            return _written(value, "decimal" if level.legal else above.style)

        return re.sub(r"%([1-9])", counted, level.pattern).strip()


def _level(node: Node) -> _Level:
    def value(name: str, default: str) -> str:
        found = node.first(name)
        return found.get("w:val") if found else default

    legal = node.first("w:isLgl")
    return _Level(
        start=_number(value("w:start", "1"), 1),
        style=value("w:numFmt", "decimal"),
        pattern=value("w:lvlText", ""),
        legal=legal is not None and legal.get("w:val") not in ("0", "false"),
    )


def _written(value: int, style: str) -> str:
    if style in ("lowerRoman", "upperRoman") and 0 < value < 4000:
        text = ""
        for worth, letters in _ROMAN:
            text += letters * (value // worth)
            value %= worth
        return text.upper() if style == "upperRoman" else text
    if style in ("lowerLetter", "upperLetter") and 0 < value <= 780:
        letter = chr(ord("a") + (value - 1) % 26) * ((value - 1) // 26 + 1)
        return letter.upper() if style == "upperLetter" else letter
    if style == "decimalZero":
        return f"{value:02}"
    if style in _COUNTED_IN_IDEOGRAPHS and 0 < value < 100:
        tens, ones = divmod(value, 10)
        return (_IDEOGRAPHS[tens] if tens > 1 else "") + ("十" if tens else "") + (_IDEOGRAPHS[ones] if ones else "")
    return str(value)


def _number(text: str, default: int = 0) -> int:
    return int(text) if text.isdecimal() and len(text) < 10 else default
