from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from office_files import ENTITIES, epub, packed

from rag.errors import SourceError
from rag.sources.web.epub import read_epub
from rag.types import SourceDocument


def test_chapters_in_reading_order_with_labels_from_the_contents(check_document: Callable[[SourceDocument], None]):
    data = epub(
        {
            "z.xhtml": "<html><body><p>no heading here</p></body></html>",
            "a.xhtml": "<html><body><h1>Own</h1><p>b</p></body></html>",
        },
        toc={"z.xhtml": "Preface", "a.xhtml": "Chapter I"},
        metadata="<dc:title>The Book</dc:title><dc:creator>A. Writer</dc:creator><dc:date>1999-05-01</dc:date>",
    )
    document = read_epub(data, "file")
    check_document(document)
    assert document.text == "Preface\n\nno heading here\n\nOwn\n\nb"
    assert (document.title, document.authors, document.year) == ("The Book", ("A. Writer",), 1999)
    assert document.date == "1999-05-01"
    assert [section.heading_path for section in document.sections] == [("Preface",), ("Own",)]


def test_a_public_book(shared_data: Path, check_document: Callable[[SourceDocument], None]):
    document = read_epub((shared_data / "formats/markitdown/test.epub").read_bytes(), "file")
    check_document(document)
    assert document.title == "Test EPUB Document"
    assert [section.heading_path for section in document.sections] == [
        ("Chapter 1: Test Content",),
        ("Chapter 2: More Content",),
    ]


def test_a_missing_chapter_is_named():
    document = read_epub(epub({"a.xhtml": "<p>words</p>", "../../gone.xhtml": "<p>outside</p>"}), "file")
    assert document.text == "words"
    assert document.problems == ("The file is damaged: gone.xhtml is not in it",)


def test_entities_stop_the_reading():
    with pytest.raises(SourceError, match="declares XML entities"):
        read_epub(packed({"mimetype": "application/epub+zip", "META-INF/container.xml": ENTITIES + "<x/>"}), "file")


def test_a_chapter_in_a_doubtful_encoding_is_a_problem():
    document = read_epub(epub({"a.xhtml": "<p>sure</p>", "b.xhtml": b"<p>\xe3\xe5</p>"}), "file")
    assert document.problems[0].startswith("OPS/b.xhtml: the encoding cannot be told for certain")
