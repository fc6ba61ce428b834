"""Which words of a web page nobody sees: in the colour of the page, a pixel high, see-through, moved out of the window.

The page's own styles are looked at: attributes, and rules of its style sheets that name one element, class or id.
Style sheets beside the page are not fetched; where a page has some, and an element has a class or an id that they may
speak of, its background counts as unknown, and its colour says nothing.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from rag.sources.hidden import letters
from rag.sources.markup import Node
from rag.types import Concealment

Colour = tuple[int, int, int]

FEWEST_WORDS = 3
"""Words that hidden text has at least; fewer are labels for screen readers and the like."""

_FEWEST_LETTERS = 12  # of a writing without spaces between words
_TINY = 4.0  # pixels
_FAR = 400.0  # pixels to the left of the window or above it
_OPAQUE = 0.1
_LONGEST = 200  # characters of a value in which a colour or a length is looked for
_ALIKE = 30  # steps of 255 in each of red, green and blue

_INLINE = {
    *("a", "abbr", "b", "bdi", "bdo", "cite", "code", "data", "del", "dfn", "em", "font", "i", "ins", "kbd", "label"),
    *("mark", "q", "s", "samp", "small", "span", "strong", "sub", "sup", "time", "u", "var", "wbr", "nobr", "tt"),
}
_NO_WORDS = {"script", "style", "template", "noscript", "head", "svg", "canvas", "iframe", "object", "button", "select"}

_A_SENTENCE = 6  # words

_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_BRACE = re.compile(r"([{}])")
_SELECTOR = re.compile(r"(?:[a-z][\w-]*)?(?:[.#][\w-]+)?", re.IGNORECASE)
_LENGTH = re.compile(r"(-?(?:[0-9]+\.?[0-9]*|\.[0-9]+))(px|pt|em|rem|%|)")
_PIXELS = {"px": 1.0, "": 1.0, "pt": 4 / 3, "rem": 16.0}
_NAMED: dict[str, Colour] = {
    "white": (255, 255, 255), "snow": (255, 250, 250), "ivory": (255, 255, 240), "whitesmoke": (245, 245, 245),
    "ghostwhite": (248, 248, 255), "floralwhite": (255, 250, 240), "mintcream": (245, 255, 250),
    "azure": (240, 255, 255), "black": (0, 0, 0), "red": (255, 0, 0), "green": (0, 128, 0), "blue": (0, 0, 255),
    "yellow": (255, 255, 0), "gray": (128, 128, 128), "grey": (128, 128, 128), "navy": (0, 0, 128),
    "lightgray": (211, 211, 211), "lightgrey": (211, 211, 211), "silver": (192, 192, 192),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Look:
    """What an element hands down to those in it; a background of None is unknown."""

    colour: Colour = (0, 0, 0)
    background: Colour | None = (255, 255, 255)
    size: float = 16.0  # pixels


def is_left_out(node: Node) -> bool:
    """Whether an element says of itself that it is not to be shown; its words are not read."""
    attributes = node.attributes
    return "hidden" in attributes or ("style" in attributes and bool(_HIDDEN_STYLE.search(attributes["style"])))


def left_out_words(root: Node) -> Iterator[str]:
    """What is written in the elements that are left out (:func:`is_left_out`), block by block; no menus or labels."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.name in _NO_WORDS or node.name == "nav":
            continue
        if is_left_out(node):
            yield from (words for words in _blocks(node) if len(words.split()) >= _A_SENTENCE)
        else:
            waiting.extend(child for child in reversed(node.children) if isinstance(child, Node))


def hidden_words(root: Node) -> Iterator[tuple[Concealment, str]]:
    """The words of a page that are not to be seen, block by block, in order.

    What an element's own attributes leave out (``hidden``, ``display: none``) is not among them.

    Args:
        root: The page.
    """
    styles = _Styles(root)
    waiting = [(root, _Look())]
    while waiting:
        node, look = waiting.pop()
        if node.name in _NO_WORDS:
            continue
        style = styles.of(node)
        look = styles.handed_down(node, style, look)
        if how := _concealed(style, look):
            for words in _blocks(node):
                if len(words.split()) >= FEWEST_WORDS or (
                    not words.isascii() and len(letters(words)) > _FEWEST_LETTERS
                ):
                    yield how, words
            continue
        waiting.extend((child, look) for child in reversed(node.children) if isinstance(child, Node))


def _concealed(style: Mapping[str, str], look: _Look) -> Concealment | None:
    """What keeps an element from being seen; None when it is seen."""
    if style.get("display") == "none" or style.get("visibility") in ("hidden", "collapse"):
        return "style"
    if look.size < _TINY:
        return "tiny"
    opacity = style.get("opacity", "1")
    number = _length(opacity)
    if number and number[0] / (100 if number[1] == "%" else 1) < _OPAQUE:
        return "transparent"
    if style.get("color") == "transparent":
        return "transparent"
    if any(_pixels(style.get(name, ""), look.size) <= -_FAR for name in ("left", "top", "text-indent", "margin-left")):
        return "outside"
    if _is_clipped(style, look.size):
        return "outside"
    if "color" not in style or look.background is None:
        return None  # who inherits a colour is seen or hidden with the element that has it
    alike = all(abs(one - other) < _ALIKE for one, other in zip(look.colour, look.background, strict=True))
    return "colour" if alike else None


def _is_clipped(style: Mapping[str, str], size: float) -> bool:
    """Whether an element is cut down to a pixel or less."""
    cut = "hidden" in style.get("overflow", "") or "clip" in style
    sides = [_pixels(style[name], size) for name in ("width", "height", "max-height") if name in style]
    return cut and any(0 <= side <= 1 for side in sides)


class _Styles:
    """The rules of a page's own style sheets, by the element, class or id that they are for."""

    def __init__(self, root: Node) -> None:
        self._rules: dict[str, dict[str, str]] = defaultdict(dict)
        sheets = [_COMMENT.sub("", node.text()) for node in root.all("style")]
        self._is_whole = not any("stylesheet" in node.get("rel").lower() for node in root.all("link"))
        for sheet in sheets:
            self._is_whole = self._is_whole and "@import" not in sheet
            for selectors, body in _rules(sheet):
                declared = _declarations(body)
                for selector in map(str.strip, selectors.split(",")):
                    if selector and _SELECTOR.fullmatch(selector):
                        self._rules[selector.lower()] |= declared

    def of(self, node: Node) -> dict[str, str]:
        """An element's properties, those that count for more over those that count for less."""
        style: dict[str, str] = {}
        if self._rules:
            name, classes, identity = node.name.lower(), node.get("class").lower().split(), node.get("id").lower()
            for selector in (name, *(f".{one}" for one in classes), *(f"{name}.{one}" for one in classes)):
                style |= self._rules.get(selector, {})
            if identity:
                style |= self._rules.get(f"#{identity}", {}) | self._rules.get(f"{name}#{identity}", {})
        own = _declarations(node.get("style"))
        # What the attributes leave out is not read at all.
        for name in ("display", "visibility"):
            own.pop(name, None)
        style |= own
        for attribute, name in (("bgcolor", "background-color"), ("color", "color")):
            if value := node.get(attribute):
                style.setdefault(name, value.lower())
        return style

    def handed_down(self, node: Node, style: Mapping[str, str], above: _Look) -> _Look:
        """What those in an element inherit, and what is behind them."""
        look = above
        if not self._is_whole and node.name not in ("html", "body") and (node.get("class") or node.get("id")):
            look = replace(look, background=None)
        for name in ("background", "background-color"):
            if value := style.get(name, ""):
                found = _colour(value)
                if found or "(" in value or name == "background-color":
                    look = replace(look, background=found if value != "transparent" else look.background)
        if colour := _colour(style.get("color", "")):
            look = replace(look, colour=colour)
        if size := style.get("font-size", ""):
            look = replace(look, size=_size(size, look.size))
        return look


def _rules(sheet: str) -> Iterator[tuple[str, str]]:
    """The selectors and the body of each rule of a style sheet that stands in no other one, as in ``@media``."""
    around: list[str] = []  # what stands before each brace that is open
    written = ""
    for piece in _BRACE.split(sheet):
        if piece == "{":
            around.append(written.rpartition(";")[2])
        elif piece == "}" and around:
            before = around.pop()
            if not around and "@" not in before:
                yield before, written
        written = "" if piece in ("{", "}") else piece


def _declarations(text: str) -> dict[str, str]:
    """The properties of a style by their names, in lower case."""
    found: dict[str, str] = {}
    for part in text.split(";") if ":" in text else ():
        name, colon, value = part.partition(":")
        if colon:
            found[name.strip().lower()] = value.lower().replace("!important", "").strip()
    return found


def _colour(value: str) -> Colour | None:
    """The first colour in a value; None where there is none, or none that is understood."""
    for word in re.findall(r"#[0-9a-f]{3,8}|rgba?\([^)]*\)|[a-z]+", value[:_LONGEST]):
        if word in _NAMED:
            return _NAMED[word]
        if word.startswith("#") and len(word) in (4, 5, 7, 9):
            digits = word[1:] if len(word) > 5 else "".join(2 * digit for digit in word[1:])
            return int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:6], 16)
        if word.startswith("rgb"):
            numbers = re.findall(r"[0-9]+(?:\.[0-9]+)?|\.[0-9]+", word)
            if len(numbers) >= 3:
                red, green, blue = (int(min(255.0, float(number))) for number in numbers[:3])
                return red, green, blue
    return None


def _size(value: str, above: float) -> float:
    """A size of type in pixels."""
    found = _length(value)
    if found is None:
        return above
    number, unit = found
    if unit in ("em", "%"):
        return above * number / (100 if unit == "%" else 1)
    return number * _PIXELS[unit]


def _pixels(value: str, size: float) -> float:
    """A length in pixels; 10 000 where it is none, or depends on what is around."""
    found = _length(value)
    if found is None or found[1] == "%":
        return 1e4
    number, unit = found
    return number * (size if unit == "em" else _PIXELS[unit])


def _length(value: str) -> tuple[float, str] | None:
    """A number and its unit; None where it is none."""
    found = _LENGTH.fullmatch(value) if len(value) <= _LONGEST else None
    return (float(found[1]), found[2]) if found else None


def _blocks(node: Node) -> Iterator[str]:
    """The words in an element, those of each block by themselves."""
    line: list[str] = []
    waiting: list[Node | str | None] = [node]
    while waiting:
        here = waiting.pop()
        if isinstance(here, str):
            line.append(here)
        elif here is None:
            if words := " ".join("".join(line).split()):
                yield words
            line = []
        elif here.name not in _NO_WORDS:
            around: list[Node | str | None] = [] if here.name in _INLINE else [None]
            waiting += [*around, *reversed(here.children), *around]
    if words := " ".join("".join(line).split()):
        yield words
