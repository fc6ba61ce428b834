from __future__ import annotations

import io

import pytest

from rag.sources import ocr
from rag.sources.image import read_image
from rag.types import DEFAULT_READING, ReadOptions, Remedy


def picture(text: str) -> bytes:
    """A PNG with words on it."""
    pymupdf = pytest.importorskip("pymupdf")
    with pymupdf.open() as document:
        page = document.new_page(width=400, height=100)
        page.insert_text((20, 60), text, fontsize=32)
        return bytes(page.get_pixmap(dpi=150).tobytes("png"))


def test_without_recognition_it_offers_it():
    document = read_image(picture("Hello"), "photo", DEFAULT_READING)
    assert document.text == ""
    assert document.problems == ("an image without text",)
    assert document.remedies == (Remedy.OCR,)


@pytest.mark.skipif(not ocr.available(), reason="no engine that recognises text is installed")
def test_with_recognition_its_words_are_read():
    document = read_image(picture("Footnote 2026"), "photo", ReadOptions(ocr=True))
    assert "Footnote" in document.text
    assert document.problems == ()
    assert document.notes == (f"text recognised in the image by {ocr.available()}",)


def test_a_blank_picture_is_not_taken_for_a_text():
    buffer = io.BytesIO(picture(""))
    document = read_image(buffer.getvalue(), "photo", DEFAULT_READING)
    assert document.text == ""
