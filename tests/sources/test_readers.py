from __future__ import annotations

import gzip
import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest
from office_files import docx, packed, paragraph

from rag.errors import SourceError
from rag.sources.readers import READERS, format_of, read, read_bytes, why_not_read
from rag.types import DEFAULT_READING, SourceDocument, SourceFile

MakeFile = Callable[[str, bytes], SourceFile]


def test_the_reader_is_picked_by_ending_in_any_case(make_file: MakeFile):
    assert read(make_file("A.MD", b"# Title\n")).title == "Title"
    assert read(make_file("A.Txt", b"# no title")).title == "A"
    assert set(READERS) >= {".txt", ".md", ".pdf"}


def test_the_hash_is_that_of_the_bytes_read(make_file: MakeFile):
    data = b"\xef\xbb\xbfwords\r\n"
    document = read(make_file("a.txt", data))
    assert document.sha256 == hashlib.sha256(data).hexdigest()
    assert document.text == "words\n"


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.pdf", "a.docx", "a.png", "a.eml"])
def test_an_empty_file_says_so(make_file: MakeFile, name: str):
    with pytest.raises(SourceError, match=r"^The file is empty\.$"):
        read(make_file(name, b""))


def test_a_missing_file_and_one_without_reader(make_file: MakeFile):
    file = make_file("a.txt", b"x")
    file.absolute.unlink()
    with pytest.raises(SourceError, match="cannot be opened: No such file"):
        read(file)
    with pytest.raises(SourceError, match=r"no reader for \.xyz"):
        read(make_file("a.xyz", bytes(range(256))))


def test_the_content_decides_where_the_name_says_otherwise(shared_data: Path):
    folder = shared_data / "formats/broken-generated"

    def notes(name: str) -> tuple[str, ...]:
        return read_bytes((folder / name).read_bytes(), name, DEFAULT_READING).notes

    assert notes("docx_named.pdf") == ("named .pdf, but it is a Word document and was read as one",)
    assert notes("pdf_named.docx") == ("named .docx, but it is a PDF and was read as one",)
    assert notes("text_named.docx") == ("named .docx, but it is plain text and was read as one",)
    rtf = read_bytes(rb"{\rtf1 words}", "letter.doc", DEFAULT_READING)
    assert (rtf.text, rtf.notes) == ("words", ("named .doc, but it is rich text and was read as one",))
    page = read_bytes(b"<html><table><tr><td>1<td>2</table>", "export.xls", DEFAULT_READING)
    assert page.text.startswith("| 1 | 2 |")


def test_a_text_that_speaks_of_a_format_is_not_taken_for_it():
    assert read_bytes(b"# Notes\n\nIt begins with %PDF-1.7.\n", "pdf.md", DEFAULT_READING).notes == ()
    assert read_bytes(b"<html> is the root element.\n", "html.txt", DEFAULT_READING).text.startswith("<html>")


def test_compressed_files_are_read_by_the_name_within():
    data = gzip.compress(b"# Changes\n") + gzip.compress(b"more\n")
    document = read_bytes(data, "doc/notes.md.gz", DEFAULT_READING)
    assert (document.title, document.text) == ("Changes", "# Changes\nmore\n")
    assert document.sha256 == hashlib.sha256(data).hexdigest()
    assert format_of("notes.md.gz") is format_of("notes.md")
    with pytest.raises(SourceError, match="cut short"):
        read_bytes(gzip.compress(b"words" * 100)[:-9], "a.txt.gz", DEFAULT_READING)
    with pytest.raises(SourceError, match="unpacks to more than"):
        read_bytes(gzip.compress(bytes(210_000_000), 1), "a.txt.gz", DEFAULT_READING)
    nested = b"words"
    for _ in range(20):
        nested = gzip.compress(nested)
    with pytest.raises(SourceError, match="files deep inside of others"):
        read_bytes(nested, "a.txt" + ".gz" * 20, DEFAULT_READING)


@pytest.mark.parametrize(
    ("name", "ocr", "reason"),
    [
        ("a.docx", False, ""),
        ("letter.doc", False, ""),
        ("photo.JPG", True, ""),
        ("photo.JPG", False, "an image; it is read when text recognition (OCR) is on"),
        ("all.zip", False, "an archive; unpack it to have its files read"),
        ("all.tar.gz", False, "an archive; unpack it to have its files read"),
        ("deck.key", False, "an Apple Keynote presentation; export it as PowerPoint or PDF"),
        ("a.xyz", False, "no reader for .xyz"),
        ("unknown", False, "no reader for files without an ending"),
    ],
)
def test_why_a_file_is_left_out_by_its_name(name: str, ocr: bool, reason: str):
    assert why_not_read(name, ocr) == reason


def test_an_archive_under_the_name_of_a_document_says_what_it_is():
    with pytest.raises(SourceError, match="It is an archive") as caught:
        read_bytes(packed({"a.txt": "x"}), "a.docx", DEFAULT_READING)
    assert caught.value.hint == "Unpack it to have its files read."


@pytest.mark.parametrize(
    ("name", "problems"),
    [
        ("bad_xml.docx", ("word/document.xml is damaged XML; text may be missing",)),
        ("inflate_60MB.docx", ()),
        ("path_traversal.docx", ()),
    ],
)
def test_broken_office_files_give_what_they_hold(
    shared_data: Path, check_document: Callable[[SourceDocument], None], name: str, problems: tuple[str, ...]
):
    document = read_bytes((shared_data / "formats/broken-generated" / name).read_bytes(), name, DEFAULT_READING)
    check_document(document)
    assert len(document.text) > 3000
    assert document.problems == problems


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("entity_bomb.docx", r"word/document\.xml declares XML entities"),
        ("no_document_xml.docx", r"word/document\.xml is not in it"),
        ("truncated.docx", "cut short or damaged"),
        ("zero.docx", "The file is empty"),
    ],
)
def test_hopeless_office_files_end_with_the_reason(shared_data: Path, name: str, reason: str):
    with pytest.raises(SourceError, match=reason):
        read_bytes((shared_data / "formats/broken-generated" / name).read_bytes(), name, DEFAULT_READING)


def test_every_public_file_of_these_formats_is_read_whole(
    shared_data: Path, check_document: Callable[[SourceDocument], None]
):
    files = [
        path
        for path in sorted((shared_data / "formats").rglob("*"))
        if path.is_file() and "groundtruth" not in path.parts and "broken-generated" not in path.parts
    ]
    assert len(files) > 90
    for path in files:
        document = read_bytes(path.read_bytes(), path.name, DEFAULT_READING)
        check_document(document)
        assert document.problems == (), path
        assert [mark.start for mark in document.marks] == sorted(mark.start for mark in document.marks)


def test_a_word_document_stays_one_under_any_of_its_endings():
    for name in ("a.docx", "a.docm", "a.dotx", "a.doc"):
        assert read_bytes(docx(paragraph("words")), name, DEFAULT_READING).notes == ()


def test_half_a_character_is_replaced_wherever_it_stands():
    source = rb'{"nbformat": 4, "cells": [{"cell_type": "markdown", "source": "# T\ud83d\n\nhello \ud83d world"}]}'
    found = read_bytes(source, "a.ipynb", DEFAULT_READING)
    assert found.text == "# T\ufffd\n\nhello \ufffd world"
    assert (found.title, found.sections[0].heading_path) == ("T\ufffd", ("T\ufffd",))
    assert found.problems == ("halves of characters, replaced: 2",)
