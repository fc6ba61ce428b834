from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest
from printed import WORDS, box, column, paper, pdf

from rag.sources.pdf.reader import read_pdf


def in_order(text: str, *marks: str) -> bool:
    plain = " ".join(text.split())
    places = [plain.find(mark) for mark in marks]
    assert -1 not in places, [mark for mark, place in zip(marks, places, strict=True) if place < 0]
    return places == sorted(places)


def test_columns_are_read_one_after_the_other():
    text = read_pdf(pdf(paper()), "x").text
    assert in_order(
        text, "Abstract", "We answer.", "1 Introduction", "Left one begins", "Left one ends", "Right one begins"
    )
    for number in (2, 3, 4):
        assert in_order(
            text, f"Left {number} begins", f"Left {number} ends", f"Right {number} begins", f"{number} Results"
        )


@pytest.mark.parametrize("line_by_line", [False, True], ids=["right column first", "line by line"])
def test_columns_are_found_however_the_page_was_written(line_by_line: bool):
    document = pymupdf.open()
    page = document.new_page()
    lines = [WORDS[start : start + 44] for start in range(0, 176, 44)] * 6
    places = [(x, number) for number in range(len(lines)) for x in (72, 316)]
    if not line_by_line:
        places.sort(key=lambda place: (-place[0], place[1]))
    box(page, (72, 60, 540, 85), "A title over both columns, and over the whole page", 14)
    for x, number in places:
        page.insert_text((x, 110 + 13 * number), f"{'L' if x < 100 else 'R'}{number} {lines[number]}", fontsize=9)
    box(page, (72, 480, 540, 510), "A note below both columns that runs over the whole width of the page as it should.")
    text = read_pdf(pdf(document), "x").text
    assert in_order(text, "A title over", "L0 ", "L23 ", "R0 ", "R23 ", "A note below")


def test_three_columns_and_a_figure_across_two_of_them():
    document = pymupdf.open()
    page = document.new_page(width=842, height=595)
    for number, x in enumerate((40, 300, 560)):
        box(page, (x, 60, x + 230, 280), f"C{number}a begins. " + WORDS * 3 + f"C{number}a ends.", 9, align=3)
    box(
        page,
        (40, 300, 790, 330),
        "Figure 1: a caption that runs over all three columns of this wide page. " + WORDS,
    )
    for number, x in enumerate((40, 300, 560)):
        box(page, (x, 340, x + 230, 560), f"C{number}b begins. " + WORDS * 3 + f"C{number}b ends.", 9, align=3)
    text = read_pdf(pdf(document), "x").text
    assert in_order(
        text, "C0a begins", "C0a ends", "C1a begins", "C2a ends", "Figure 1", "C0b begins", "C1b begins", "C2b ends"
    )


def test_a_word_and_a_paragraph_go_on_in_the_next_column():
    document = pymupdf.open()
    page = document.new_page()
    filler = [f"Line {number} of a column that is filled with words." for number in range(20)]
    for number, line in enumerate([*filler, "and the last word of it is cali-"]):
        page.insert_text((72, 90 + 13 * number), line, fontsize=9)
    for number, line in enumerate(["bration, which is hard to do.", *filler]):
        page.insert_text((316, 90 + 13 * number), line, fontsize=9)
    assert "the last word of it is calibration, which is hard to do." in read_pdf(pdf(document), "x").text


def test_what_was_written_last_but_stands_first_is_read_first():
    document = pymupdf.open()
    page = document.new_page()
    for number, line in enumerate(
        ("Parts cost 2,100 euros.", "Labour costs 300 euros.", "In all that is 2,400 euros.")
    ):
        page.insert_text((72, 200 + 30 * number), line)
    page.insert_text((72, 100), "Estimate of the repair", fontsize=16)
    assert in_order(read_pdf(pdf(document), "x").text, "Estimate of the repair", "Parts cost", "In all")


def test_a_glossary_is_no_pair_of_columns():
    document = pymupdf.open()
    page = document.new_page()
    for number in range(8):
        top = 80 + 60 * number
        page.insert_text((72, top), f"Term number {number} here")
        box(page, (250, top - 11, 540, top + 40), f"Meaning {number}: " + WORDS[:120])
    text = read_pdf(pdf(document), "x").text
    assert in_order(text, "Term number 0", "Meaning 0", "Term number 1", "Meaning 1", "Term number 7", "Meaning 7")


def test_text_that_runs_up_the_margin_is_apart():
    found = read_pdf(pdf(paper()), "x")
    assert "\n\narXiv:2403.01234v2 [cs.IR] 5 Mar 2024" in found.text
    assert not any("arXiv" in title for section in found.sections for title in section.heading_path)


def test_hebrew_columns_begin_on_the_right():
    document = pymupdf.open()
    page = document.new_page()
    for x, mark in ((72, "שמאל"), (316, "ימין")):
        lines = "<br/>".join(f"{mark} שלום עולם טוב מאוד שלום עולם טוב" for _ in range(14))
        page.insert_htmlbox((x, 80, x + 224, 500), f'<p dir="rtl">{lines}</p>')
    text = read_pdf(pdf(document), "x").text
    assert text.index("ימין") < text.index("שמאל")


def test_vertical_writing_in_two_tiers(shared_data: Path):
    text = read_pdf((shared_data / "pdf/CJK-ja/pdfminer__jo.pdf").read_bytes(), "x").text
    assert in_order(
        text,
        "わたくしといふ現象は",
        "宇宙塵をたべ、または空気や塩水を呼吸しながら",
        "けれどもこれら新世代沖積世の",
        "第四次延長のなかで",
    )
    assert "|" not in text


def test_a_column_is_not_torn_by_rows_of_the_next(shared_data: Path):
    text = read_pdf((shared_data / "pdf/two-column/pypdf__multicolumn.pdf").read_bytes(), "x").text
    assert in_order(
        text,
        "Abstract",
        "Lorem ipsum dolor sit amet",
        "Vivamus viverra fermentum felis. Donec nonummy pellentesque ante.",
        "Quisque ullamcorper placerat",
    )


def test_columns_of_different_length_stay_together():
    document = pymupdf.open()
    page = document.new_page()
    column(page, 72, 72, "Long", 2000)
    column(page, 316, 72, "Short", 500)
    assert in_order(read_pdf(pdf(document), "x").text, "Long begins", "Long ends", "Short begins", "Short ends")
