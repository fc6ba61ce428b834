from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest
from printed import WORDS, box, grid, paper, pdf

from rag.sources.pdf.reader import read_pdf
from rag.types import PageVerdict


def test_running_heads_and_page_numbers_go_and_are_named():
    found = read_pdf(pdf(paper()), "x")
    assert "Gómez-Santos et al." not in found.text
    for page in found.pages:
        text = found.text[page.span.start : page.span.end]
        assert str(page.number) not in (text.split("\n")[0], text.split("\n")[-1])
    assert found.notes == ("running headers and footers were left out: “Gómez-Santos et al.”",)
    assert found.problems == ()


@pytest.mark.parametrize("form", ["{}", "- {} -", "Page {} of 5", "Seite {}", "Report 2024, page {}", "{} | Handbook"])
def test_what_counts_the_pages_goes(form: str):
    document = pymupdf.open()
    for number in range(1, 6):
        page = document.new_page()
        box(page, (72, 80, 540, 400), f"Text {number}. " + WORDS * number)
        box(page, (72, 790, 540, 815), form.format(number), align=1)
    text = read_pdf(pdf(document), "x").text
    assert form.format(3) not in text.split("\n")
    assert all(f"Text {number}." in text for number in range(1, 6))


def test_roman_numbers_and_left_and_right_heads_go():
    document = pymupdf.open()
    for number, numeral in enumerate(("iii", "iv", "v", "vi", "vii", "viii")):
        page = document.new_page()
        box(page, (72, 30, 540, 50), "Chapter one" if number % 2 else "The whole book", 9)
        box(page, (72, 80, 540, 400), WORDS * 3)
        box(page, (72, 790, 540, 815), numeral, 9, align=1)
    lines = read_pdf(pdf(document), "x").text.split("\n")
    assert not {"iii", "viii", "Chapter one", "The whole book"} & set(lines)


def test_a_short_document_keeps_what_it_says_twice():
    document = pymupdf.open()
    for name in ("Diaz", "Wayne"):
        page = document.new_page()
        box(page, (72, 100, 540, 120), "ZAVA Repair, 123 Main Street")
        box(page, (72, 140, 540, 300), f"Estimate for {name}. " + WORDS)
    assert read_pdf(pdf(document), "x").text.count("ZAVA Repair, 123 Main Street") == 2


def test_titles_of_slides_stay():
    document = pymupdf.open()
    for number in range(4):
        page = document.new_page(width=720, height=405)
        box(page, (40, 20, 680, 60), "Results", 24)
        box(page, (40, 80, 680, 200), f"Point {number}. " + WORDS, 14)
    assert read_pdf(pdf(document), "x").text.count("Results") == 4


def test_repeated_heads_of_a_table_stay_also_without_rules():
    document = pymupdf.open()
    for start in range(0, 90, 30):
        page = document.new_page()
        rows = [(f"P-{n}", f"{n * 3},5", f"{n} km") for n in range(start, start + 30)]
        grid(page, 72, 40, [("Part", "Price", "Range"), *rows], ruled=False, height=20)
    assert read_pdf(pdf(document), "x").text.count("| Part | Price | Range |") == 3


def test_the_same_single_line_on_every_page_is_text(shared_data: Path):
    found = read_pdf((shared_data / "pdf/RTL/pypdf__habibi-rotated.pdf").read_bytes(), "x")
    assert found.text.count("habibi") == 4


def test_a_stamp_on_scanned_pages_is_no_text():
    document = pymupdf.open()
    picture = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 60, 80))
    for number in range(1, 5):
        page = document.new_page()
        page.insert_image((40, 60, 550, 780), pixmap=picture)
        box(page, (72, 800, 540, 820), f"Scanned with a telephone, {number}", 9)
    found = read_pdf(pdf(document), "x")
    assert {page.verdict for page in found.pages} == {PageVerdict.SCAN}
    assert found.problems == ("pages 1 to 4: an image without text, looks like a scan",)


def test_text_too_small_to_see_breaks_nothing():
    document = pymupdf.open()
    page = document.new_page()
    page.insert_text((72, 30), "tiny", fontsize=0.04)
    box(page, (72, 80, 540, 400), WORDS)
    assert WORDS.split()[0] in read_pdf(pdf(document), "x").text
