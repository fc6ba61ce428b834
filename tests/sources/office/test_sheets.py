from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from office_files import ENTITIES, opendocument, sheet_rows, xlsx

from rag.errors import SourceError
from rag.sources.archive import Archive
from rag.sources.office.sheets import read_sheets
from rag.types import SourceDocument

Check = Callable[[SourceDocument], None]


def row_at(document: SourceDocument, words: str) -> int:
    """The row that a line is in, as marks count it."""
    start = document.text.index(words)
    mark = [mark for mark in document.marks if mark.start <= start][-1]
    return mark.number + document.text.count("\n", mark.start, start) if mark.number else 0


def test_each_sheet_is_a_section_and_rows_keep_their_numbers(check_document: Check):
    first = sheet_rows(
        {2: {"B": "Ducks on the lake"}, 4: {"B": "Year", "C": "Count"}, 5: {"B": 2019, "C": 1.5}, 9: {"B": 2023}}
    )
    document = read_sheets(
        xlsx({"Counts": first, "Notes": sheet_rows({3: {"A": "remark"}})}, hidden=("Notes",)), "birds"
    )
    check_document(document)
    assert document.title == "birds"
    assert [section.heading_path for section in document.sections] == [("Counts",), ("Notes (hidden sheet)",)]
    assert "| Year | Count |\n| --- | --- |\n| 2019 | 1.5 |" in document.text
    found = {words: row_at(document, words) for words in ("Ducks", "| Year", "| 2019", "2023", "remark")}
    assert found == {"Ducks": 2, "| Year": 4, "| 2019": 5, "2023": 9, "remark": 3}
    assert row_at(document, "Notes (hidden") == 0


def test_the_list_of_sheets_is_read_once_for_all_of_them(monkeypatch: pytest.MonkeyPatch):
    asked: list[str] = []
    read = Archive.read
    monkeypatch.setattr(Archive, "read", lambda archive, name: asked.append(name) or read(archive, name))
    read_sheets(xlsx({f"S{number}": sheet_rows({1: {"A": "x"}}) for number in range(5)}), "file")
    assert asked.count("xl/workbook.xml") == 1


def test_an_encrypted_opendocument_sheet_asks_for_no_password_that_would_not_be_tried():
    with pytest.raises(SourceError) as caught:
        read_sheets(opendocument("spreadsheet", "", encrypted=True), "file")
    assert caught.value.remedy is None


def test_labels_merged_over_rows_stand_in_each_of_them():
    rows = sheet_rows(
        {1: {"A": "Group", "B": "Item"}, 2: {"A": "fruit", "B": "apple"}, 3: {"B": "pear"}, 4: {"B": "brick"}}
    )
    merged = '<mergeCells><mergeCell ref="A2:A3"/></mergeCells>'
    text = read_sheets(xlsx({"S": rows + merged}), "file").text
    assert text.endswith("| fruit | apple |\n| fruit | pear |\n|  | brick |")


def test_dates_are_iso_and_comments_follow(shared_data: Path):
    folder = shared_data / "formats/docling/xlsx/sources"
    assert (
        "| Widget A | 2024-01-01 | 5 | 5000 |"
        in read_sheets((folder / "xlsx_02_sample_sales_data.xlsm").read_bytes(), "x").text
    )
    document = read_sheets((folder / "xlsx_comments.xlsx").read_bytes(), "x")
    assert document.sections[-1].heading_path == ("Sheet1", "Comments")
    assert "Comment by John Reviewer on A1: Why Python specifically?" in document.text
    assert "Your version of Excel" not in document.text


def test_formulas_without_a_value_are_noted():
    rows = '<sheetData><row r="1"><c r="A1"><v>2</v></c><c r="B1"><f>A1*2</f></c><c r="C1"><f>A1</f><v>2</v></c></row></sheetData>'
    document = read_sheets(xlsx({"S": rows}), "file")
    assert document.notes == ("formulas without a saved value: 1; opening and saving the workbook adds them",)


def test_a_claimed_dimension_is_not_believed_and_a_cell_far_out_refused():
    claims = '<dimension ref="A1:XFD1048576"/>'
    near = sheet_rows({1: {"A": "words"}})
    far = sheet_rows({1: {"A": "words"}, 1048576: {"XFD": 1}})
    assert read_sheets(xlsx({"S": claims + near}), "file").text == "S\n\nwords"
    document = read_sheets(xlsx({"Near": near, "Far": far}), "file")
    assert document.text == "Near\n\nwords"
    assert document.problems == (
        "sheet Far: its cells reach over 1,048,576 rows and 16,384 columns, and it was not read",
    )


def test_empty_formatted_cells_far_out_are_no_reason_to_refuse():
    rows = (
        '<sheetData><row r="1"><c r="A1"><v>7</v></c></row><row r="1048576"><c r="XFD1048576" s="1"/></row></sheetData>'
    )
    assert read_sheets(xlsx({"S": rows}), "file").text == "S\n\n7"


def test_opendocument_sheets_and_their_repeated_cells():
    def cell(text: str, more: str = "") -> str:
        return f'<table:table-cell office:value-type="string"{more}><text:p>{text}</text:p></table:table-cell>'

    def table(rows: str) -> bytes:
        return opendocument("spreadsheet", f'<table:table table:name="S">{rows}</table:table>')

    margin = '<table:table-row table:number-rows-repeated="1048000"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>'
    row = f"<table:table-row>{cell('a')}{cell('b')}</table:table-row>"
    assert read_sheets(table(row + margin), "file").text == "S\n\n| a | b |\n| --- | --- |"
    bomb = f'<table:table-row table:number-rows-repeated="1048576">{cell("x", " table:number-columns-repeated=" + chr(34) + "16384" + chr(34))}</table:table-row>'
    with pytest.raises(SourceError, match="repeats a few cells"):
        read_sheets(table(bomb), "file")
    with pytest.raises(SourceError, match=r"content\.xml declares XML entities"):
        read_sheets(opendocument("spreadsheet", "", before=ENTITIES), "file")


def test_what_is_no_workbook_says_so():
    with pytest.raises(SourceError, match="The workbook is damaged"):
        read_sheets(b"not a workbook", "file")
    with pytest.raises(SourceError, match="The sheets are empty"):
        read_sheets(xlsx({"S": "<sheetData/>"}), "file")
