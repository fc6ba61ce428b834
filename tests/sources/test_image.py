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


@pytest.mark.skipif(not ocr.available(), reason="no engine that recognises text is installed")
def test_each_picture_of_a_tiff_is_a_page():
    image = pytest.importorskip("PIL.Image")
    first, blank, last = (image.open(io.BytesIO(picture(words))).convert("1") for words in ("Footnote", "", "Chapter"))
    buffer = io.BytesIO()
    first.save(buffer, "TIFF", save_all=True, append_images=[blank, last], compression="group4")
    document = read_image(buffer.getvalue(), "fax", ReadOptions(ocr=True))
    assert document.text == "Footnote\n\n\n\nChapter"
    assert [document.text[page.span.start : page.span.end] for page in document.pages] == ["Footnote", "", "Chapter"]
    assert [page.verdict for page in document.pages] == ["recognised", "empty", "recognised"]
    assert document.problems == ()


def test_a_blank_picture_is_not_taken_for_a_text():
    buffer = io.BytesIO(picture(""))
    document = read_image(buffer.getvalue(), "photo", DEFAULT_READING)
    assert document.text == ""
