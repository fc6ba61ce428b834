"""Text on a PDF page that nobody sees: white on white, a point high, or see-through. What lies beside it is not read.

What the file says of its colours is not enough to tell: white text may stand on a dark bar, and the text layer of a
scan is see-through by design. So a page with such text is drawn, and the drawing decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rag.types import Concealment

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Box = tuple[float, float, float, float]

_TINY = 2.0
"""Points; print is seldom below 4, and labels in figures seldom below 3."""

_PALE = 200
"""Brightness, 0 to 255, from which on a colour might not be seen on white paper."""

_CONTRAST = 24
"""Steps of brightness, of 255, below which text and what is behind it look the same."""

_SEEN = 32  # of 255: text that is less opaque might not be seen
_MAX_PIXELS = 2e6
_DRAWN = 0b110000  # bits of a span's flags: its characters are filled, or have an outline
_INNER = 0.2  # of a line's height is left out above and below, where neighbours reach in


@dataclass(frozen=True, slots=True)
class _Suspect:
    """A run of text that may not be seen."""

    text: str
    box: Box
    brightness: int
    drawn: bool


def hidden_runs(page: Any, blocks: list[Any]) -> list[tuple[Concealment, str]]:
    """Finds the text of a page that is not to be seen, in the order of the file.

    Args:
        page: A ``pymupdf.Page``.
        blocks: What its ``get_text("dict")`` gave.
    """
    found: list[tuple[Concealment, str] | _Suspect] = []
    for line, span in _spans(blocks):
        if span["size"] < _TINY and len(span["text"]) > 1 and line["wmode"] == 0:
            found.append(("tiny", span["text"]))
        elif suspect := _suspect(span):
            found.append(suspect)
    suspects = [one for one in found if isinstance(one, _Suspect)]
    drawing = _drawn(page) if _outside_of_pictures(page, suspects) else None
    runs: list[tuple[Concealment, str]] = []
    for one in found:
        if not isinstance(one, _Suspect):
            runs.append(one)
        elif drawing is not None and (how := _looked_at(page, one, drawing)):
            runs.append((how, one.text))
    return runs


def _spans(blocks: list[Any]) -> Iterator[tuple[Any, Any]]:
    for block in blocks:
        for line in block.get("lines", ()):
            for span in line["spans"]:
                if span["text"].strip():
                    yield line, span


def _suspect(span: Any) -> _Suspect | None:
    """A run whose colour or opacity might keep it from being seen."""
    colour = span["color"]
    brightness = round(0.299 * (colour >> 16 & 255) + 0.587 * (colour >> 8 & 255) + 0.114 * (colour & 255))
    drawn = bool(span["char_flags"] & _DRAWN)
    if drawn and span["alpha"] >= _SEEN and brightness < _PALE:
        return None
    return _Suspect(span["text"], tuple(span["bbox"]), brightness, drawn and span["alpha"] >= _SEEN)


def _outside_of_pictures(page: Any, suspects: list[_Suspect]) -> bool:
    """Whether there is anything to draw the page for: see-through text over a picture is the text layer of a scan."""
    if not suspects:
        return False
    if any(one.drawn for one in suspects):
        return True
    pictures = [picture["bbox"] for picture in page.get_image_info()]
    return not all(any(_middle_in(one.box, picture) for picture in pictures) for one in suspects)


def _middle_in(box: Box, picture: Box) -> bool:
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    return picture[0] <= x <= picture[2] and picture[1] <= y <= picture[3]


@dataclass(frozen=True, slots=True)
class _Drawing:
    """A page as it is seen: brightness of its pixels. Shape: (height, width), uint8."""

    pixels: NDArray[np.uint8]
    zoom: float


def _drawn(page: Any) -> _Drawing:
    import numpy as np
    import pymupdf

    area = max(page.rect.width * page.rect.height, 1.0)
    zoom = min(1.5, (_MAX_PIXELS / area) ** 0.5)
    picture = page.get_pixmap(matrix=pymupdf.Matrix(zoom, zoom), colorspace=pymupdf.csGRAY, alpha=False)
    pixels = np.frombuffer(picture.samples, dtype=np.uint8).reshape(picture.height, picture.stride)
    return _Drawing(pixels[:, : picture.width], zoom)


def _looked_at(page: Any, suspect: _Suspect, drawing: _Drawing) -> Concealment | None:
    """What keeps a run from being seen where it stands; None where it is seen."""
    import numpy as np
    import pymupdf

    place = pymupdf.Rect(suspect.box) * page.rotation_matrix * drawing.zoom
    place.normalize()
    # Only the middle of the line: neighbours reach into its box, and may be all that is seen there.
    upright = place.height <= place.width
    inset = _INNER * min(place.height, place.width)
    left, right = (place.x0, place.x1) if upright else (place.x0 + inset, place.x1 - inset)
    top, bottom = (place.y0 + inset, place.y1 - inset) if upright else (place.y0, place.y1)
    there = drawing.pixels[max(0, int(top)) : max(0, int(bottom)) + 1, max(0, int(left)) : max(0, int(right)) + 1]
    if not there.size:
        return None
    if suspect.drawn:
        behind = float(np.median(there))
        return "colour" if abs(behind - suspect.brightness) < _CONTRAST else None
    return "transparent" if int(there.max()) - int(there.min()) < _CONTRAST else None
