from __future__ import annotations

from collections.abc import Callable

import pytest
from office_files import ENTITIES, opendocument

from rag.errors import SourceError
from rag.sources.office.opendocument import read_presentation, read_text_document
from rag.types import Mark, SourceDocument

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


def test_an_encrypted_document_asks_for_no_password_that_would_not_be_tried():
    with pytest.raises(SourceError, match="encrypted") as caught:
        read_text_document(opendocument("text", "<text:p>x</text:p>", encrypted=True), "file")
    assert caught.value.remedy is None


def test_shapes_in_a_paragraph_are_read_once_each_however_they_nest():
    body = (
        "<text:p>before<draw:custom-shape><text:p>in a shape</text:p></draw:custom-shape><draw:g><draw:rect>"
        "<text:p>in a group</text:p></draw:rect></draw:g><draw:frame><draw:text-box><text:p>outer<draw:frame>"
        "<draw:text-box><text:p>inner</text:p></draw:text-box></draw:frame></text:p></draw:text-box></draw:frame></text:p>"
    )
    text = read_text_document(opendocument("text", body), "file").text
    assert text == "before\n\nin a shape\n\nin a group\n\nouter\n\ninner"


def test_cells_that_a_merged_cell_covers_keep_the_columns_apart():
    cell = "<table:table-cell{}><text:p>{}</text:p></table:table-cell>"
    body = (
        f"<table:table><table:table-row>{''.join(cell.format('', word) for word in 'abcd')}</table:table-row>"
        f"<table:table-row>{cell.format(' table:number-columns-spanned=' + chr(34) + '3' + chr(34), 'wide')}"
        f'<table:covered-table-cell table:number-columns-repeated="2"/>{cell.format("", "last")}</table:table-row>'
        "</table:table>"
    )
    document = read_text_document(opendocument("text", body), "file")
    assert document.text.split("\n")[2] == "| wide |  |  | last |"


def test_entities_stop_the_reading():
    with pytest.raises(SourceError, match=r"content\.xml declares XML entities"):
        read_text_document(opendocument("text", "<text:p>&b;</text:p>", before=ENTITIES), "file")
