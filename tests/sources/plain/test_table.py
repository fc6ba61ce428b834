from __future__ import annotations

from pathlib import Path

import pytest

from rag.errors import SourceError
from rag.sources.plain.table import read_table
from rag.types import Mark, SourceDocument


def table(text: str) -> SourceDocument:
    return read_table(text.encode(), "name")


def cells(markdown: str) -> list[list[str]]:
    """The cells of a Markdown table without its ruler."""
    lines = [line for line in markdown.split("\n") if not set(line) <= set("|- ")]
    return [[cell.strip() for cell in line.replace("\\|", "&#124;").strip("|").split("|")] for line in lines]


def row_at(document: SourceDocument, needle: str) -> int:
    at = document.text.index(needle)
    mark = [mark for mark in document.marks if mark.start <= at][-1]
    return mark.number + document.text.count("\n", mark.start, at)


def test_as_a_converter_shows_them(shared_data: Path):
    folder = shared_data / "formats/docling/csv"
    for path in sorted((folder / "sources").glob("*.csv")):
        found = read_table(path.read_bytes(), path.stem)
        assert cells(found.text) == cells((folder / "groundtruth" / f"{path.name}.md").read_text()), path.name


def test_a_japanese_table(shared_data: Path):
    found = read_table((shared_data / "formats/markitdown/test_mskanji.csv").read_bytes(), "x")
    assert found.encoding == "cp932"
    assert found.text.startswith("| 名前 | 年齢 | 住所 |\n| --- | --- | --- |\n| 佐藤太郎 | 30 | 東京 |")


def test_rows_are_numbered_as_a_spreadsheet_numbers_them():
    found = table('name;note\nA;"two\nlines"\n\nB;1,5\nC;2,5\n')
    assert found.text == "| name | note |\n| --- | --- |\n| A | two lines |\n| B | 1,5 |\n| C | 2,5 |"
    assert found.marks[:2] == (Mark(0, "row", 1), Mark(16, "row", 1))
    assert [row_at(found, name) for name in ("name", "| A", "| B", "| C")] == [1, 2, 4, 5]


@pytest.mark.parametrize(
    "text", ["a;b\n1,5;2\n", "a\tb\n1,5\t2\n", "a|b\n1,5|2\n", 'a,b\n"1,5",2\n', "sep=;\na;b\n1,5;2\n"]
)
def test_delimiters(text: str):
    assert cells(table(text).text) == [["a", "b"], ["1,5", "2"]]


def test_one_column_of_sentences_stays_one():
    assert cells(table("Remark\nGood\nWell, nearly\nBad\n").text)[2] == ["Well, nearly"]


def test_ragged_rows_are_kept_and_named(shared_data: Path):
    found = read_table((shared_data / "formats/broken-generated/ragged.csv").read_bytes(), "x")
    assert cells(found.text)[1:3] == [["1", "2", "", ""], ["1", "2", "3", "4"]]
    assert '"unclosed' in found.text
    assert found.notes == (
        "a quotation mark in row 4 is never closed",
        "not as many cells as the first row (3): rows 2, 3, 4",
    )


def test_an_open_quote_does_not_swallow_the_rows_after_it():
    found = table('a,b\n"open,1\n' + "".join(f"x{n},{n}\n" for n in range(50)))
    assert len(cells(found.text)) == 52
    assert row_at(found, "x49") == 52


def test_an_endless_row_does_not_widen_the_others():
    found = table("a,b\n" + "1,2\n" * 1000 + ",".join("x" * 50_000) + "\n")
    assert len(found.text) < 1_000_000


def test_a_bar_in_a_cell_is_no_border():
    assert "| x\\|y |" in table("a,b\nx|y,1\n").text


def test_nothing_in_it():
    with pytest.raises(SourceError, match="nothing in the table"):
        table(",,,\n,,\n")
    with pytest.raises(SourceError, match="only blanks"):
        table(" \n")


def test_a_cell_may_be_long_whoever_names_the_delimiter():
    assert "x" * 200_000 in table("sep=;\na;b\n" + "x" * 200_000 + ";c\n").text
    assert table('sep="\na,b\n').text.startswith('| sep="')
