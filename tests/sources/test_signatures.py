from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from office_files import docx, epub, opendocument, packed, paragraph, pptx, shape, xlsx

from rag.sources.signatures import ending_by_content


@pytest.mark.parametrize(
    ("data", "ending"),
    [
        (docx(paragraph("x")), ".docx"),
        (pptx(shape("x")), ".pptx"),
        (xlsx({"S": ""}), ".xlsx"),
        (opendocument("text", ""), ".odt"),
        (opendocument("presentation", ""), ".odp"),
        (opendocument("spreadsheet", ""), ".ods"),
        (epub({}), ".epub"),
        (packed({"a.txt": "x", "b.txt": "y"}), ".zip"),
        (packed({"[Content_Types].xml": "<x/>"}), ""),
        (docx(paragraph("x"))[:-40], ""),
        (b"{\\rtf1 x}", ".rtf"),
        (b"\x89PNG\r\n\x1a\n", ".png"),
        (b"RIFF\0\0\0\0WEBPVP8 ", ".webp"),
        (gzip.compress(b"x"), ".gz"),
        (b"rubbish\n%PDF-1.7", ".pdf"),
        (b" " * 2000 + b"%PDF-1.7", ""),
        (b"\xef\xbb\xbf<!-- a --><!DOCTYPE HTML><p>", ".html"),
        (b"Date: now\r\nMIME-Version: 1.0\r\nContent-Type: multipart/related;\r\n\tboundary=b\r\n\r\n--b", ".mhtml"),
        (b"MIME-Version: 1.0\nContent-Type: multipart/mixed\n\nContent-Type: multipart/related\n", ""),
        (b"<p>words", ""),
        (b"words", ""),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), ""),
    ],
)
def test_content_tells_the_format(data: bytes, ending: str):
    assert ending_by_content(data) == ending


def test_an_outlook_mail(shared_data: Path):
    assert ending_by_content((shared_data / "formats/markitdown/test_outlook_msg.msg").read_bytes()) == ".msg"
