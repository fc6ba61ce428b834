"""Pictures: their text, where recognition is on and an engine is installed."""

from __future__ import annotations

import hashlib

from rag.errors import SourceError
from rag.sources import ocr
from rag.types import DEFAULT_READING, Page, PageVerdict, ReadOptions, Remedy, Section, SourceDocument, Span

_MOST_PAGES = 500  # of a TIFF
_PAGE_BREAK = "\n\n"


def read_image(data: bytes, title: str, options: ReadOptions = DEFAULT_READING) -> SourceDocument:
    """Reads the text in a picture.

    Args:
        data: The file's bytes.
        title: Of the document.

    Returns:
        The recognised text, with pages where the file holds several pictures; without any text, and with the reason,
        where recognition is off or not installed.

    Raises:
        SourceError: It is no picture, or no text was found in it.
    """
    texts: list[str] = []
    problems = ["an image without text"]
    recognises = options.ocr and bool(ocr.available())
    if recognises:
        texts, problems = _recognised(data)
        if not any(texts):
            raise SourceError("No text was recognised in the image.")
    text = _PAGE_BREAK.join(texts)
    return SourceDocument(
        text=text,
        title=title,
        sections=(Section((), Span(0, len(text))),),
        sha256=hashlib.sha256(data).hexdigest(),
        pages=_pages(texts) if len(texts) > 1 else (),
        problems=tuple(problems),
        remedies=() if recognises else (Remedy.OCR,),
        notes=(f"text recognised in the image by {ocr.available()}",) if recognises else (),
    )


def _recognised(data: bytes) -> tuple[list[str], list[str]]:
    """The text of each picture in a file, and what could not be read."""
    texts: list[str] = []
    try:
        for frame in ocr.frames(data):
            if len(texts) == _MOST_PAGES:
                return texts, [f"pages after the first {_MOST_PAGES}: not read"]
            texts.append(ocr.recognise(frame))
    except SourceError as error:
        if not texts:
            raise
        return texts, [f"pages from {len(texts) + 1} on: {error.message.rstrip('.')}"]
    return texts, []


def _pages(texts: list[str]) -> tuple[Page, ...]:
    pages: list[Page] = []
    start = 0
    for number, text in enumerate(texts, start=1):
        verdict = PageVerdict.RECOGNISED if text else PageVerdict.EMPTY
        pages.append(Page(number, Span(start, start + len(text)), verdict=verdict))
        start += len(text) + len(_PAGE_BREAK)
    return tuple(pages)
