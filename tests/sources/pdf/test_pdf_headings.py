from __future__ import annotations

import pymupdf
from printed import WORDS, box, pdf

from rag.sources.pdf.reader import read_pdf


def test_headings_by_size_weight_and_number():
    document = pymupdf.open()
    page = document.new_page()
    box(page, (72, 40, 540, 75), "A manual of ovens", 20, fontname="tibo")
    box(page, (72, 80, 540, 105), "1 Safety", 14, fontname="tibo")
    box(page, (72, 110, 540, 150), WORDS)
    box(page, (72, 160, 540, 180), "1.1 Heat", 11, fontname="tibo")
    box(page, (72, 185, 540, 225), WORDS)
    box(page, (72, 235, 540, 255), "Gloves", 10, fontname="tibo")
    box(page, (72, 260, 540, 300), WORDS)
    box(page, (72, 310, 540, 335), "2 Care", 14, fontname="tibo")
    box(page, (72, 340, 540, 380), WORDS)
    found = read_pdf(pdf(document), "x")
    assert found.title == "A manual of ovens"
    assert [section.heading_path for section in found.sections] == [
        (),
        ("1 Safety",),
        ("1 Safety", "1.1 Heat"),
        ("1 Safety", "1.1 Heat", "Gloves"),
        ("2 Care",),
    ]
    assert found.text[found.sections[4].span.start :].startswith("2 Care\n")


def test_the_outline_goes_before_the_type_and_stands_at_its_words():
    document = pymupdf.open()
    for number in (1, 2):
        page = document.new_page()
        box(page, (72, 80, 540, 130), "Rubber. " + WORDS)
        box(page, (72, 140, 540, 160), f"{number} Part {number}", 10)
        box(page, (72, 170, 540, 230), WORDS)
    document.set_toc([[1, "Part 1", 1], [1, "Part 2", 2]])
    found = read_pdf(pdf(document), "x")
    assert [found.text[s.span.start :].split("\n")[0] for s in found.sections][1:] == ["1 Part 1", "2 Part 2"]


def test_text_in_bold_throughout_has_no_headings():
    document = pymupdf.open()
    page = document.new_page()
    for number in range(8):
        box(
            page,
            (72, 60 + 80 * number, 540, 80 + 80 * number),
            f"Bold line {number} that says something",
            fontname="tibo",
        )
        box(page, (72, 90 + 80 * number, 540, 110 + 80 * number), "short text")
    assert [section.heading_path for section in read_pdf(pdf(document), "x").sections] == [()]
