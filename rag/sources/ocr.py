"""Text on pictures, by RapidOCR where a person installed it: ``pip install rapidocr onnxruntime``.

Its wheel brings models for Latin script, Chinese and Japanese. They are named by path here: left to itself, RapidOCR
fetches a model anew where it doubts the file.
"""

from __future__ import annotations

import io
import logging
import os
from collections.abc import Iterator
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

from rag.errors import SourceError
from rag.sources.pdf.grids import Box
from rag.sources.pdf.page import arrange, blocks_text
from rag.sources.pdf.text import PageText, Piece

INSTALL = "pip install rapidocr onnxruntime"
"""What a person types to have one."""

_MODELS = {"Det.model_path": "*_det_*.onnx", "Cls.model_path": "*_cls_*.onnx", "Rec.model_path": "*_rec_*.onnx"}
_DOUBTFUL = 0.8  # mean score below which a picture may stand on its head

_LINE = 12.0  # points, the height of most lines
_MARGIN = 0.2  # of a line's height, by which a box is too wide on each side

_Line = tuple[str, Box, float]
"""Text, place in pixels, and the engine's confidence from 0 to 1."""


def available() -> str:
    """The name of the engine that recognises text here; empty where none is installed. Loads nothing."""
    return "RapidOCR" if find_spec("rapidocr") and find_spec("onnxruntime") else ""


def frames(image: bytes) -> Iterator[bytes]:
    """The pictures in a file, one after the other: a TIFF may hold many, any other file holds one.

    Args:
        image: As for :func:`recognise`.

    Raises:
        SourceError: It is no picture, or the next one in it is damaged.
    """
    from PIL import Image

    try:
        with Image.open(io.BytesIO(image)) as file:
            count = getattr(file, "n_frames", 1) if file.format == "TIFF" else 1
            if count == 1:
                yield image
                return
            for number in range(count):
                file.seek(number)
                frame = io.BytesIO()
                file.save(frame, "TIFF", compression="raw")
                yield frame.getvalue()
    except (EOFError, OSError, SyntaxError, ValueError, TypeError, Image.DecompressionBombError) as error:
        raise SourceError("The picture is damaged, or of a kind that is not known.") from error


def recognise(image: bytes) -> str:
    """Reads the text on a picture in reading order; empty where there is none.

    A picture that lies on its side or stands on its head is turned.

    Args:
        image: A PNG, JPEG, WebP, BMP or TIFF file.

    Raises:
        SourceError: It is no picture, or no engine is installed.
    """
    return "".join(blocks_text(arrange(recognised(image)))).strip()


def recognised(image: bytes) -> PageText:
    """The text on a picture with its places, the picture turned upright.

    Args:
        image: As for :func:`recognise`.

    Raises:
        SourceError: It is no picture, or no engine is installed.
    """
    if not available():
        raise SourceError("No engine that recognises text is installed.", f"Install one: {INSTALL}")
    import numpy as np
    from PIL import Image
    from rapidocr.utils.load_image import LoadImageError

    try:
        pixels = _engine().load_img(image)
    except (LoadImageError, OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise SourceError("The picture is damaged, or of a kind that is not known.") from error
    lines = _lines(pixels)
    lying = sum(1 for _, box, _ in lines if box[3] - box[1] > 1.5 * (box[2] - box[0])) > len(lines) / 2
    tries = {0: lines}
    for quarters in (1, 3) if lying else (2,) if _confidence(lines) < _DOUBTFUL else ():
        tries[quarters] = _lines(np.ascontiguousarray(np.rot90(pixels, quarters)))
    if lying:
        del tries[0]  # a line that was read upwards looks as sure as one that was not
    quarters = max(tries, key=lambda turn: _confidence(tries[turn]))
    height, width = pixels.shape[:2] if quarters % 2 == 0 else pixels.shape[1::-1]
    found = tries[quarters]
    # In points of a page whose lines are as high as those of a book; what orders a page counts on that.
    scale = _LINE / median(box[3] - box[1] for _, box, _ in found) if found else 1.0
    pieces = [_piece(text, box, scale) for text, box, _ in found]
    return PageText((scale * width, scale * height), (0.0, 0.0), pieces, [], [])


def _piece(text: str, box: Box, scale: float) -> Piece:
    left, top, right, bottom = (scale * side for side in box)
    height = bottom - top
    # The engine's boxes are a little wide, and lines of one type differ in height by the letters that are in them.
    margin = min(_MARGIN * height, (right - left) / 4)
    size = _LINE if _LINE / 1.3 < height < 1.3 * _LINE else height
    return Piece(text, (left + margin, top, right - margin, bottom), 0.8 * size, False, False, 0)


def _lines(pixels: Any) -> list[_Line]:
    found = _engine()(pixels, use_cls=False)
    if not found.txts:
        return []
    return [
        (text, _around(corners.tolist()), float(score))
        for text, corners, score in zip(found.txts, found.boxes, found.scores, strict=True)
    ]


def _around(corners: list[list[float]]) -> Box:
    lefts, tops = zip(*corners, strict=True)
    return min(lefts), min(tops), max(lefts), max(tops)


def _confidence(lines: list[_Line]) -> float:
    """The mean score, by characters; 1 where there is nothing to read."""
    count = sum(len(text) for text, _, _ in lines)
    return sum(score * len(text) for text, _, score in lines) / count if count else 1.0


@lru_cache(maxsize=1)
def _engine() -> Any:
    import rapidocr

    # It logs each step to the terminal through a handler of its own.
    logger = logging.getLogger("RapidOCR")
    logger.handlers.clear()
    folder = Path(rapidocr.__file__).parent / "models"
    models = {name: str(path) for name, pattern in _MODELS.items() for path in sorted(folder.glob(pattern))[:1]}
    if len(models) < len(_MODELS):
        raise SourceError("RapidOCR is installed without its models.", "Install it anew: pip install -U rapidocr")
    more = {
        "Global.log_level": "critical",
        "EngineConfig.onnxruntime.intra_op_num_threads": max(1, (os.cpu_count() or 1) // 4),
        # Finding lines on a smaller picture is quicker, and keeps columns apart that a larger one runs together.
        "Det.limit_type": "max",
        "Det.limit_side_len": 1280,
    }
    return rapidocr.RapidOCR(params=models | more)
