from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rag.errors import SourceError
from rag.sources.office.rtf import read_rtf
from rag.types import SourceDocument

Check = Callable[[SourceDocument], None]

FONTS = rb"{\fonttbl{\f0\fcharset0 Times;}{\f1\fcharset128 MS Gothic;}{\f2\fcharset204 Arial;}}"


def text_of(body: bytes) -> str:
    return read_rtf(rb"{\rtf1\ansi\ansicpg1252" + FONTS + body + b"}", "file").text


def test_headings_tables_footnotes_and_lists(check_document: Check):
    data = (
        rb"{\rtf1\ansi{\stylesheet{\s1\outlinelevel0 Kapitel;}{\s2 heading 2;}}{\info{\title The title}{\author Ann}}"
        rb"\pard\s1 One\par\pard Text{\footnote A note.} end.\par\pard\s2 Two\par"
        rb"\trowd\pard\intbl a\cell b\cell\row\trowd\pard\intbl 1\cell 2\cell\row\pard{\listtext 1.\tab}item\par}"
    )
    document = read_rtf(data, "file")
    check_document(document)
    assert document.title == "The title"
    assert document.text == (
        "One\n\nText[^1] end.\n\n[^1]: A note.\n\nTwo\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n1. item"
    )
    assert [section.heading_path for section in document.sections] == [("One",), ("One", "Two")]


def test_code_pages_by_font_and_unicode_with_its_fallback():
    assert (
        text_of(rb"\f0 caf\'e9 \f1\'93\'fa\'96\'7b\f2 \'cf\'f0\f0  \u8364?uro \u26085\'93\u26412\'96!")
        == "café 日本Пр €uro 日本!"
    )
    assert text_of(rb"\u-10179?\u-8704? \uc0\u945 bc") == "😀 αbc"


def test_what_is_not_text_is_left_out():
    assert (
        text_of(rb"a{\*\unknown x{y}}b{\pict 89504e47}c{\v hidden}d{\field{\*\fldinst HYPERLINK}{\fldrslt link}}")
        == "abcdlink"
    )
    assert text_of(b"abc\\bin4 }}{{def") == "abcdef"


def test_groups_without_bottom_and_cut_files_end():
    assert text_of(b"{" * 100_000 + b"needle" + b"}" * 100_000) == "needle"
    assert read_rtf(rb"{\rtf1 abc {\pict 0000", "file").text == "abc"
    assert read_rtf(rb"{\rtf1 abc\bin99999999999 x} more", "file").text == "abc"


def test_a_public_file(shared_data: Path, check_document: Check):
    document = read_rtf((shared_data / "formats/markitdown/test.rtf").read_bytes(), "file")
    check_document(document)
    assert document.sections[0].heading_path == ("This is a Sample RTF File",)


def test_what_is_no_rtf_says_so():
    with pytest.raises(SourceError, match="no RTF"):
        read_rtf(b"plain words", "file")
