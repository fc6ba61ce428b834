from __future__ import annotations

from collections.abc import Callable

import pytest

from rag.errors import SourceError
from rag.sources.draft import Draft, label, lowered, raised
from rag.types import Mark, Page, Remedy, Section, SourceDocument, Span


def test_blocks_headings_and_lists(check_document: Callable[[SourceDocument], None]):
    draft = Draft()
    draft.paragraph("  first\r\nline  \x00\ud83d\ude00 ")
    draft.heading(1, "A  long\nheading")
    draft.item("one\nmore")
    draft.item("two", 1, "a)")
    draft.line("    code()")
    draft.line("    more()")
    draft.table([["a", ""], ["", ""], ["b|c", ""]])
    draft.table([["x", "y"]])
    document = draft.finish(b"data", "")
    check_document(document)
    assert document.title == "A long heading"
    assert document.text == (
        "first\nline  😀\n\nA long heading\n\n- one\n  more\n  a) two\n    code()\n    more()\n\na\nb|c\n\n| x | y |\n| --- | --- |"
    )
    assert [section.heading_path for section in document.sections] == [(), ("A long heading",)]


def test_rows_keep_their_numbers_where_some_are_left_out():
    draft = Draft()
    draft.numbered_table([(3, ["h", "i"]), (4, ["1", "2"]), (5, ["", "\x01"]), (6, ["3", "4"]), (7, ["5", "6"])])
    document = draft.finish(b"", "t")
    assert [(document.text[mark.start :].split("\n")[0], mark.number) for mark in document.marks] == [
        ("| h | i |", 3),
        ("| --- | --- |", 3),
        ("| 3 | 4 |", 6),
    ]


def test_another_document_is_appended_with_its_sections_places_and_pages():
    text = "one\n\ntwo"
    inner = SourceDocument(
        text, "inner", (Section(("H",), Span(0, len(text))),), "0" * 64,
        pages=(Page(1, Span(0, 3)), Page(2, Span(5, 8))),
    )  # fmt: skip
    lines = SourceDocument("a\nb", "lines", (Section((), Span(0, 3)),), "0" * 64, marks=(Mark(0, "line", 1),))
    draft = Draft()
    draft.append(inner, "File", 1)
    draft.append(lines, "Other", 1)
    draft.paragraph("after")
    document = draft.finish(b"", "t")
    sections = [
        (section.heading_path, document.text[section.span.start : section.span.end].strip())
        for section in document.sections
    ]
    assert sections == [
        (("File",), "File"),
        (("File", "H", "page 1"), "one"),
        (("File", "H", "page 2"), "two"),
        (("Other",), "Other\n\na\nb\n\nafter"),
    ]
    assert document.marks == (
        Mark(document.text.index("a\nb"), "line", 1),
        Mark(document.text.index("after"), "line", 0),
    )


def test_labels_and_raised_text():
    assert label("2025") == "2025"
    assert label("word " * 40) == ""
    assert (raised("-3"), raised("th"), lowered("2"), lowered("max")) == ("⁻³", "th", "₂", "max")


def test_a_draft_without_words_says_why():
    draft = Draft()
    draft.problems.append("page 1 is torn")
    draft.remedies.append(Remedy.OCR)
    with pytest.raises(SourceError, match=r"^There is no text in the file: page 1 is torn\.$") as caught:
        draft.finish(b"", "t")
    assert caught.value.remedy is Remedy.OCR
