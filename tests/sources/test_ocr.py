from __future__ import annotations

import importlib.util
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from material import missing
from printed import box, pdf

from rag.errors import SourceError
from rag.sources import ocr
from rag.sources.pdf.reader import read_pdf
from rag.types import PageVerdict, ReadOptions, Remedy

WORDS = "Docling bundles PDF document conversion to JSON and Markdown in an easy self contained package"


@pytest.fixture
def engine() -> None:
    if importlib.util.find_spec("rapidocr") is None:
        missing("RapidOCR is not installed")


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("text recognition asked for the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def picture(text: str, turn: int = 0) -> bytes:
    document = pymupdf.open()
    page = document.new_page(width=420, height=160)
    box(page, (20, 20, 400, 150), text, 14)
    page.set_rotation(turn)
    return page.get_pixmap(dpi=150).tobytes("png")


def test_asking_for_the_engine_loads_nothing():
    code = "import sys; from rag.sources import ocr; ocr.available(); print([m for m in ('rapidocr','onnxruntime','cv2') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_without_an_engine_pages_are_listed_with_what_would_help(shared_data: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(ocr, "available", lambda: "")
    scan = (shared_data / "pdf/scanned/docling__ocr_test.pdf").read_bytes()
    found = read_pdf(scan, "x", ReadOptions(ocr=True))
    assert found.pages[0].verdict is PageVerdict.SCAN
    assert found.problems[-1] == "text recognition is on, but no engine is installed: pip install rapidocr onnxruntime"
    assert found.remedies == (Remedy.OCR,)
    with pytest.raises(SourceError, match="No engine"):
        ocr.recognise(b"")


@pytest.mark.usefixtures("engine", "no_network")
@pytest.mark.parametrize("name", ["docling__ocr_test.pdf", "docling__ocr_test_rotated_90.pdf"])
def test_scans_are_read_also_on_their_side(shared_data: Path, name: str, capfd: Any):
    found = read_pdf((shared_data / "pdf/scanned" / name).read_bytes(), "x", ReadOptions(ocr=True))
    assert " ".join(found.text.split()) == WORDS
    assert found.pages[0].verdict is PageVerdict.RECOGNISED
    assert (found.problems, found.remedies) == ((), ())
    assert found.notes == ("1 page was read from the picture by RapidOCR; letters and figures may be wrong",)
    printed = capfd.readouterr()
    assert printed.out + printed.err == ""


@pytest.mark.usefixtures("engine", "no_network")
@pytest.mark.parametrize("turn", [0, 180])
def test_pictures_are_read_also_on_their_head(turn: int):
    text = ocr.recognise(picture("The third sensor fails in heavy rain,\nand nobody knows the reason for it.", turn))
    assert text.split("\n") == ["The third sensor fails in heavy rain,", "and nobody knows the reason for it."]


@pytest.mark.usefixtures("engine")
def test_what_is_no_picture_is_an_error_of_ours():
    with pytest.raises(SourceError, match="picture"):
        ocr.recognise(b"no picture at all")


@pytest.mark.usefixtures("engine")
def test_an_empty_picture_holds_no_text():
    assert ocr.recognise(picture("")) == ""


@pytest.mark.usefixtures("engine")
def test_only_bad_pages_are_recognised():
    document = pymupdf.open()
    box(document.new_page(), (72, 72, 500, 120), "A page of real text.")
    scan = document.new_page()
    scan.insert_image((72, 72, 492, 232), stream=picture("A page that was scanned."))
    found = read_pdf(pdf(document), "x", ReadOptions(ocr=True))
    assert [page.verdict for page in found.pages] == [PageVerdict.TEXT, PageVerdict.RECOGNISED]
    assert found.text == "A page of real text.\n\nA page that was scanned."
