from __future__ import annotations

from collections.abc import Callable

import pytest
from office_files import ENTITIES, opendocument

from rag.errors import SourceError
from rag.sources.office.opendocument import read_presentation, read_text_document
from rag.types import Mark, Remedy, SourceDocument

Check = Callable[[SourceDocument], None]


def test_a_text_with_headings_lists_notes_and_tables(check_document: Check):
    body = (
        "<text:tracked-changes><text:p>deleted words</text:p></text:tracked-changes>"
        '<text:h text:outline-level="1">One</text:h>'
        '<text:p>Some<text:s text:c="2"/><text:span>bold</text:span><text:tab/>text<text:note><text:note-citation>1'
        "</text:note-citation><text:note-body><text:p>a note</text:p></text:note-body></text:note>"
        "<office:annotation><dc:creator>Ann</dc:creator><text:p>why?</text:p></office:annotation></text:p>"
        "<text:list><text:list-item><text:p>item</text:p><text:list><text:list-item><text:p>deep</text:p>"
        "</text:list-item></text:list></text:list-item></text:list>"
        '<text:h text:outline-level="2">Two</text:h>'
        '<table:table><table:table-row><table:table-cell table:number-rows-spanned="2"><text:p>a</text:p></table:table-cell>'
        "<table:table-cell><text:p>b</text:p></table:table-cell></table:table-row><table:table-row>"
        "<table:covered-table-cell/><table:table-cell><text:p>c</text:p></table:table-cell></table:table-row></table:table>"
        "<text:p>before<draw:frame><draw:text-box><text:p>in the box</text:p></draw:text-box></draw:frame></text:p>"
    )
    document = read_text_document(opendocument("text", body), "file")
    check_document(document)
    assert document.text == (
        "One\n\nSome  bold\ttext[^1]\n\n[^1]: a note\n\n[Comment by Ann: why?]\n\n- item\n  - deep\n\nTwo\n\n"
        "| a | b |\n| --- | --- |\n| a | c |\n\nbefore\n\nin the box"
    )
    assert [section.heading_path for section in document.sections] == [("One",), ("One", "Two")]


def test_slides_and_their_notes(check_document: Check):
    frame = "<draw:frame{}><draw:text-box><text:p>{}</text:p></draw:text-box></draw:frame>"
    title = frame.format(' presentation:class="title"', "The title")
    notes = f"<presentation:notes>{frame.format(' presentation:class=' + chr(34) + 'notes' + chr(34), 'say this')}</presentation:notes>"
    pages = f"<draw:page>{title}{frame.format('', 'body')}{notes}</draw:page><draw:page>{frame.format('', 'more')}</draw:page>"
    document = read_presentation(opendocument("presentation", pages), "file")
    check_document(document)
    assert document.text == "The title\n\nbody\n\nNotes\n\nsay this\n\nSlide 2\n\nmore"
    assert document.marks == (Mark(0, "slide", 1), Mark(document.text.index("Slide 2"), "slide", 2))


def test_an_encrypted_document_asks_for_a_password():
    with pytest.raises(SourceError, match="encrypted") as caught:
        read_text_document(opendocument("text", "<text:p>x</text:p>", encrypted=True), "file")
    assert caught.value.remedy is Remedy.PASSWORD


def test_entities_stop_the_reading():
    with pytest.raises(SourceError, match=r"content\.xml declares XML entities"):
        read_text_document(opendocument("text", "<text:p>&b;</text:p>", before=ENTITIES), "file")
