"""Pictures: their text, where recognition is on and an engine is installed."""

from __future__ import annotations

import hashlib

from rag.errors import SourceError
from rag.sources import ocr
from rag.types import DEFAULT_READING, ReadOptions, Remedy, Section, SourceDocument, Span


def read_image(data: bytes, title: str, options: ReadOptions = DEFAULT_READING) -> SourceDocument:
    """Reads the text in a picture.

    Args:
        data: The file's bytes.
        title: Of the document.

    Returns:
        The recognised text; without any, and with the reason, where recognition is off or not installed.

    Raises:
        SourceError: It is no picture, or no text was found in it.
    """
    problem = "an image without text"
    text = ""
    if options.ocr and ocr.available():
        text = ocr.recognise(data).strip()
        if not text:
            raise SourceError("No text was recognised in the image.")
        problem = ""
    return SourceDocument(
        text=text,
        title=title,
        sections=(Section((), Span(0, len(text))),),
        sha256=hashlib.sha256(data).hexdigest(),
        problems=(problem,) if problem else (),
        remedies=(Remedy.OCR,) if problem else (),
        notes=() if problem else (f"text recognised in the image by {ocr.available()}",),
    )
