"""There are few papers among the test material, so these are printed here as TeX would place them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pymupdf
import pytest
from printed import WORDS, box, column, paper, pdf

from rag.sources.pdf.reader import read_pdf
from rag.types import SourceDocument


def abstract(found: SourceDocument) -> str:
    whole = [section for section in found.sections if section.whole]
    assert len(whole) == 1
    assert whole[0].heading_path == ("Abstract",)
    return found.text[whole[0].span.start : whole[0].span.end]


def one_column(
    title: str, authors: str, head: str, text: str, after: str = "1 Introduction", more: str = "", **style: Any
) -> Any:
    document = pymupdf.open()
    page = document.new_page()
    box(page, (72, 50, 540, 80), title, 17, align=1, **style)
    box(page, (72, 84, 540, 106), authors, 11, align=1, **style)
    top = 115
    if head:
        box(page, (72, top, 540, top + 22), head, 11, **{**style, "fontname": style.get("fontname", "tibo")})
        top += 26
    box(page, (100, top, 512, top + 130), text, 9, **style)
    box(page, (72, 290, 540, 312), after, 12, **{**style, "fontname": style.get("fontname", "tibo")})
    box(page, (72, 316, 540, 560), WORDS * 5, 10)
    box(page, (72, 570, 540, 640), more, 9, **style)
    return document


def test_a_paper_in_two_columns(check_document: Any):
    found = read_pdf(pdf(paper()), "2403.01234")
    check_document(found)
    assert found.title == "Retrieval Across Languages Without Translation"
    assert found.authors == ("Maria Gómez-Santos", "Kenji Watanabe", "Ola van der Berg")
    assert found.year == 2024
    text = abstract(found)
    assert text.startswith("Abstract\n\nWe ask.")
    assert text.rstrip().endswith("We answer.")
    assert ("1 Introduction",) in [section.heading_path for section in found.sections]


@pytest.mark.parametrize("head", ["Abstract", "ABSTRACT", "A B S T R A C T", "Résumé", "Resumen", "Kurzfassung"])
def test_headed_abstracts(head: str):
    found = read_pdf(
        pdf(one_column("On the reading of papers", "Ada Lovelace and Alan Turing", head, "We read. " + WORDS * 2)), "x"
    )
    assert abstract(found).startswith(f"{head}\n\nWe read.")
    assert found.authors == ("Ada Lovelace", "Alan Turing")
    assert found.title == "On the reading of papers"


@pytest.mark.parametrize("start", ["Abstract- ", "Abstract. ", "Abstract: ", "ABSTRACT - "])
def test_run_in_abstracts(start: str):
    found = read_pdf(
        pdf(one_column("On the reading of papers", "A. Lovelace, A. M. Turing", "", start + "We read. " + WORDS * 2)),
        "x",
    )
    assert "We read." in abstract(found)
    assert found.authors == ("A. Lovelace", "A. M. Turing")


def test_an_abstract_in_japanese():
    document = one_column(
        "言語をまたぐ検索の評価", "宮沢 賢治、夏目 漱石", "概要", "本稿では、言語をまたぐ検索を評価する。" * 8,
        "1 はじめに", "キーワード 検索、評価  DOI 10.1234/5678", fontname="japan",
    )  # fmt: skip
    found = read_pdf(pdf(document), "x")
    assert abstract(found).startswith("概要")
    assert found.authors == ("宮沢 賢治", "夏目 漱石")


def test_an_abstract_without_a_name_needs_other_signs():
    text = "We read papers. " + WORDS * 2
    signs = "Keywords: reading. doi 10.1000/182, Department of Reading, University of Here (2019)"
    found = read_pdf(pdf(one_column("On the reading of papers", "Ada Lovelace", "", text, more=signs)), "x")
    assert abstract(found).startswith("We read papers.")
    assert found.year == 2019
    assert not any(s.whole for s in read_pdf(pdf(one_column("On reading", "Ada Lovelace", "", text)), "x").sections)


def test_keywords_end_the_abstract():
    document = pymupdf.open()
    page = document.new_page()
    box(page, (72, 50, 540, 80), "On the reading of papers", 17)
    box(page, (72, 84, 540, 106), "Ada Lovelace", 11)
    box(page, (72, 115, 540, 137), "Abstract", 11, fontname="tibo")
    box(page, (72, 140, 540, 200), "One. " + WORDS, 10)
    box(page, (72, 205, 540, 260), "Two. " + WORDS, 10)
    box(page, (72, 265, 540, 290), "Keywords: reading, papers", 10)
    column(page, 72, 310, "Body", 1000, 468)
    text = abstract(read_pdf(pdf(document), "x"))
    assert "Two." in text
    assert "Keywords" not in text


@pytest.mark.parametrize(
    "year", ["© 2017 The Authors", "Proceedings of the 9th Conference on Reading, 2017", "Published 3 May 2017"]
)
def test_the_year_of_the_imprint(year: str):
    document = one_column(
        "On the reading of papers", "Ada Lovelace", "Abstract", "We cite Turing (1950). " + WORDS, more=year
    )
    assert read_pdf(pdf(document), "x").year == 2017


@pytest.mark.parametrize(
    "name", ["ntsb/20071229X02007.pdf", "ntsb/20080108X00029.pdf", "tables/markitdown__REPAIR-2022-INV-001_multipage.pdf",
             "tables/markitdown__SPARSE-2024-INV-1234_borderless_table.pdf", "structure/docling__bookmark_sample.pdf",
             "maths/docling__code_and_formula.pdf", "forms/pypdf__libreoffice-form.pdf"],
)  # fmt: skip
def test_reports_and_invoices_are_no_papers(shared_data: Path, name: str):
    found = read_pdf((shared_data / "pdf" / name).read_bytes(), "x")
    assert (found.authors, found.year) == ((), None)
    assert not any(section.whole for section in found.sections)


def test_a_report_with_a_summary_is_no_paper():
    found = read_pdf(Path("assets/sample_notes/reference/heron-first-season.pdf").read_bytes(), "x")
    assert (found.authors, found.year) == ((), None)
    assert not any(section.whole for section in found.sections)
