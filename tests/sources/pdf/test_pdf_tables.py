from __future__ import annotations

from pathlib import Path

import pymupdf
from printed import WORDS, box, grid, pdf

from rag.sources.pdf.reader import read_pdf
from rag.types import ReadOptions

ROWS = [
    ("Station", "Readings", "Share"),
    ("H1", "24,672", "97.9 %"),
    ("H2", "23,053", "91.5 %"),
    ("H3", "24,650", "97.8 %"),
]


def one_page() -> tuple[pymupdf.Document, pymupdf.Page]:
    document = pymupdf.open()
    return document, document.new_page()


def test_a_drawn_table_keeps_its_caption():
    document, page = one_page()
    box(page, (72, 60, 540, 100), WORDS)
    box(page, (72, 120, 540, 140), "Table 1. Readings by station")
    grid(page, 72, 145, ROWS)
    text = read_pdf(pdf(document), "x").text
    assert (
        "Table 1. Readings by station\n| Station | Readings | Share |\n| --- | --- | --- |\n| H1 | 24,672 | 97.9 % |\n"
        in text
    )


def test_a_caption_below_is_put_above_where_no_cut_can_part_them():
    document, page = one_page()
    grid(page, 72, 100, ROWS)
    box(page, (72, 200, 540, 220), "Tabelle 2: Messwerte je Station")
    box(page, (72, 240, 540, 300), WORDS)
    assert "Tabelle 2: Messwerte je Station\n| Station |" in read_pdf(pdf(document), "x").text


def test_a_table_without_rules_with_empty_cells(shared_data: Path):
    path = shared_data / "pdf/tables/markitdown__SPARSE-2024-INV-1234_borderless_table.pdf"
    text = read_pdf(path.read_bytes(), "x").text
    assert "| Product Code | Location | Expected | Actual | Variance | Status |" in text
    assert "| SKU-9201 |  | 780 | 778 |  | OK |" in text
    assert "| SKU-5512 | Hardware | $89.00 | $31,150.00 |  | Pending |" in text


def test_every_data_row_of_the_expected_markdown_is_there(shared_data: Path):
    stem = "REPAIR-2022-INV-001_multipage"
    text = read_pdf((shared_data / f"pdf/tables/markitdown__{stem}.pdf").read_bytes(), "x").text
    for row in (
        "| Claim # | SF-1008 | Make | Jeep |",
        "| Body Labor |  | 2 | 150 | 300 |",
        "| GRAND TOTAL |  |  |  | 5,738 |",
    ):
        assert row in text, row


def test_long_cells_of_a_drawn_table_are_not_read_as_columns():
    document, page = one_page()
    long = [("Requirement", "Reason")] + [(f"R{n} " + WORDS[:90], f"B{n} " + WORDS[90:200]) for n in range(5)]
    grid(page, 60, 80, long, width=240, height=60)
    lines = [line for line in read_pdf(pdf(document), "x").text.split("\n") if line.startswith("| R")]
    assert len(lines) == 6
    assert all(f"| B{n} " in lines[n + 1] for n in range(5))


def test_a_table_that_goes_on_gets_its_head_again():
    document = pymupdf.open()
    for start in (0, 20):
        page = document.new_page()
        rows = [(f"P-{n}", f"{n * 3},5", f"{n} km") for n in range(start, start + 20)]
        grid(page, 72, 80, ([("Part", "Price", "Range")] if start == 0 else []) + rows)
    found = read_pdf(pdf(document), "x")
    second = found.text[found.pages[1].span.start : found.pages[1].span.end]
    assert second.startswith("| Part | Price | Range |\n| --- | --- | --- |\n| P-20 |")


def test_a_head_that_is_printed_on_every_page_comes_once_a_page():
    document = pymupdf.open()
    for start in (0, 20, 40):
        page = document.new_page()
        rows = [(f"P-{n}", f"{n * 3},5", f"{n} km") for n in range(start, start + 20)]
        grid(page, 72, 40, [("Part", "Price", "Range"), *rows], ruled=start != 20)
    found = read_pdf(pdf(document), "x")
    assert found.text.count("| Part | Price | Range |") == 3
    assert all(f"| P-{n} |" in found.text for n in range(60))


def test_the_title_over_a_table_is_a_heading_and_no_row(shared_data: Path):
    found = read_pdf((shared_data / "pdf/ntsb/20071229X02007.pdf").read_bytes(), "x")
    assert ("Factual Information", "Pilot Information") in [section.heading_path for section in found.sections]
    assert "| Restraint Used: | Seatbelt, Shoulder harness |" in found.text


def test_lists_contents_and_code_are_no_tables():
    document, page = one_page()
    for number in range(6):
        page.insert_text((72, 80 + 15 * number), f"{number + 1}.")
        page.insert_text((110, 80 + 15 * number), f"Point {number} says something of its own")
        page.insert_text((72, 220 + 15 * number), f"Chapter about thing number {number}")
        page.insert_text((500, 220 + 15 * number), str(3 + 4 * number))
        page.insert_text((72, 360 + 15 * number), f"value{number} = {number}", fontname="cour")
        page.insert_text((300, 360 + 15 * number), "# a comment beside it", fontname="cour")
    text = read_pdf(pdf(document), "x").text
    assert "|" not in text
    assert "Chapter about thing number 5  23" in text


def test_a_chart_and_a_frame_are_no_tables():
    document, page = one_page()
    for step in range(8):
        page.draw_line((100, 100 + 25 * step), (400, 100 + 25 * step), width=0.3)
        page.draw_line((100 + 40 * step, 100), (100 + 40 * step, 275), width=0.3)
        page.insert_text((75, 103 + 25 * step), str(100 - 10 * step), fontsize=8)
    page.draw_rect((60, 320, 540, 420), width=1)
    box(page, (70, 330, 530, 415), "Boxed. " + WORDS)
    text = read_pdf(pdf(document), "x").text
    assert "|" not in text


def test_a_bar_in_a_cell_does_not_end_it():
    document, page = one_page()
    grid(page, 72, 80, [("Sign", "Meaning"), ("a|b", "a or b"), ("c", "3")])
    assert "| a\\|b | a or b |" in read_pdf(pdf(document), "x").text


def test_layout_analysis_finds_tables_too(shared_data: Path):
    path = shared_data / "pdf/tables/markitdown__SPARSE-2024-INV-1234_borderless_table.pdf"
    found = read_pdf(path.read_bytes(), "x", ReadOptions(layout=True))
    assert "| SKU-5512 | Hardware | $89.00 | $31,150.00 |  | Pending |" in found.text
    assert "Extended Inventory Review:" in [
        section.heading_path[-1] for section in found.sections if section.heading_path
    ]
