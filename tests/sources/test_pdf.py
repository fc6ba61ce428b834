from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pymupdf
import pytest

from rag.errors import SourceError
from rag.sources.pdf import page_image, read_pdf
from rag.types import SourceDocument


def made(*pages: str, **metadata: str) -> Any:
    """A PDF with one text block a page."""
    document = pymupdf.open()
    for text in pages:
        page = document.new_page()
        page.insert_textbox((72, 72, 520, 760), text, fontsize=11)
    document.set_metadata(metadata)
    return document


def plain(text: str) -> str:
    return re.sub(r"\W+", "", text)


def highlighted(png: bytes) -> tuple[int, int]:
    """Number of yellow pixels, and of all."""
    picture = pymupdf.Pixmap(png)
    samples = picture.samples
    yellow = sum(1 for i in range(0, len(samples), picture.n) if samples[i] > 230 and samples[i + 2] < 150)
    return yellow, picture.width * picture.height


def expectations(shared_data: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (shared_data / "pdf/EXPECT.jsonl").read_text().splitlines()]


def test_pages_are_exact_and_hyphens_are_joined():
    found = read_pdf(made("First page on calib-\nration.", "Second page.").tobytes(), "name")
    assert found.text == "First page on calibration.\n\nSecond page."
    assert [found.text[page.span.start : page.span.end] for page in found.pages] == [
        "First page on calibration.",
        "Second page.",
    ]
    assert found.title == "name"
    assert found.problems == ()


def test_a_row_of_cells_is_one_line():
    document = made()
    page = document.new_page()
    for row, cells in enumerate((("Sensor", "Limit"), ("T4", "0.2 K"))):
        for column, cell in enumerate(cells):
            page.insert_text((72 + 150 * column, 100 + 14 * row), cell)
    lines = read_pdf(document.tobytes(), "x").text.split("\n")
    assert [line.split() for line in lines if line] == [["Sensor", "Limit"], ["T4", "0.2", "K"]]


def test_title_from_metadata_or_from_the_largest_text():
    assert read_pdf(made("Words.", title="On ovens").tobytes(), "x").title == "On ovens"
    document = made("Small words that fill the page with many letters.", title="untitled")
    document[0].insert_text((72, 50), "Large title", fontsize=20)
    assert read_pdf(document.tobytes(), "x").title == "Large title"
    assert read_pdf(made("Words.", title="Microsoft Word - draft3.doc").tobytes(), "report").title == "report"


def test_outline_makes_sections_where_its_words_stand():
    document = made("Preface.\n\n1 Scope\n\nWords.\n\n1.1 Limits\n\nMore.", "2 Terms\n\nLast.")
    document.set_toc([[1, "Scope", 1], [2, "Limits", 1], [1, "Terms", 2], [2, "Not to be found", 2]])
    found = read_pdf(document.tobytes(), "x")
    assert [section.heading_path for section in found.sections] == [(), ("Scope",), ("Scope", "Limits"), ("Terms",)]
    assert [found.text[s.span.start :].split("\n")[0] for s in found.sections[1:]] == [
        "1 Scope",
        "1.1 Limits",
        "2 Terms",
    ]


def test_pages_without_text_are_reported_each():
    document = made("Text.", "", "")
    picture = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 9, 9))
    document[1].insert_image((72, 72, 200, 200), pixmap=picture)
    found = read_pdf(document.tobytes(), "x")
    assert found.problems == ("page 2: an image without text, looks like a scan", "page 3: no text")
    assert [page.problem for page in found.pages] == ["", found.problems[0][8:], "no text"]
    document.delete_page(0)
    with pytest.raises(SourceError, match="All 2 pages are without text but with images; it looks like a scan"):
        read_pdf(document.tobytes(), "x")


def test_user_password_is_an_error_and_owner_password_is_none():
    document = made("Secret words.")
    locked = document.tobytes(encryption=pymupdf.PDF_ENCRYPT_AES_256, owner_pw="o", user_pw="u")
    with pytest.raises(SourceError, match="wants a password"):
        read_pdf(locked, "x")
    restricted = document.tobytes(encryption=pymupdf.PDF_ENCRYPT_AES_256, owner_pw="o", user_pw="", permissions=0)
    assert read_pdf(restricted, "x").text == "Secret words."


def test_the_collection(shared_data: Path, check_document: Callable[[SourceDocument], None], capfd: Any):
    found, wanted = 0, 0
    failed: dict[str, str] = {}
    for entry in expectations(shared_data):
        data = (shared_data / "pdf" / entry["file"]).read_bytes()
        try:
            document = read_pdf(data, Path(entry["file"]).stem)
        except SourceError as error:
            failed[entry["file"]] = error.message
            continue
        check_document(document)
        assert len(document.pages) >= (entry["pages"] or 0), entry["file"]
        for phrase in entry["phrases"]:
            span = document.pages[phrase["page"] - 1].span
            wanted += 1
            found += plain(phrase["text"]) in plain(document.text[span.start : span.end])
    scan = "The only page is without text but with images; it looks like a scan."
    assert found >= 31
    assert wanted == 32
    assert {file: message.split(":")[0] for file, message in failed.items()} == {
        "corrupt/pdfjs__operator_list_cycle.pdf": "The PDF is damaged",
        "corrupt/pdfjs__poppler-67295-0.pdf": "The PDF is damaged",
        "empty/onyx__empty.pdf": "The only page is without any text.",
        "empty/pdfplumber__empty.pdf": "The PDF is damaged",
        "encrypted-user/pdfminer__aes-128.pdf": "The PDF is encrypted and wants a password.",
        "encrypted-user/pdfminer__aes-256-r6.pdf": "The PDF is encrypted and wants a password.",
        "encrypted-user/pypdf__libreoffice-writer-password.pdf": "The PDF is encrypted and wants a password.",
        "scanned/docling__ocr_test.pdf": scan,
        "scanned/docling__ocr_test_rotated_90.pdf": scan,
    }
    printed = capfd.readouterr()
    assert printed.out + printed.err == ""


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("docx_named.pdf", "no PDF"),
        ("header_only.pdf", "damaged"),
        ("random_bytes.pdf", "damaged"),
        ("truncated.pdf", "damaged"),
    ],
)
def test_broken_files_are_an_error(shared_data: Path, name: str, message: str):
    with pytest.raises(SourceError, match=message):
        read_pdf((shared_data / "formats/broken-generated" / name).read_bytes(), "x")


def test_damage_inside_is_reported_by_page(shared_data: Path):
    folder = shared_data / "formats/broken-generated"
    damaged = read_pdf((folder / "bitflips.pdf").read_bytes(), "x")
    assert "page 2: damaged; text may be missing" in damaged.problems
    for name in ("pdf_no_eof.pdf", "pdf_with_leading_garbage.pdf"):
        assert len(read_pdf((folder / name).read_bytes(), "x").pages) == 3


def test_vertical_writing_is_not_torn_into_characters(shared_data: Path):
    found = read_pdf((shared_data / "pdf/CJK-ja/pdfminer__jo.pdf").read_bytes(), "x")
    assert "宇宙塵をたべ、または空気や塩水を呼吸しながら" in found.text


@pytest.mark.parametrize(
    ("name", "page"),
    [
        ("two-column/pypdf__multicolumn.pdf", 1),
        ("ntsb/20071229X02007.pdf", 3),
        ("rotated/pdfjs__rotation.pdf", 2),
        ("CJK-ja/pdfminer__jo.pdf", 1),
        ("encrypted-owner/onyx__owner_protected.pdf", 1),
    ],
)
def test_every_page_text_is_found_again_on_the_picture(shared_data: Path, name: str, page: int):
    path = shared_data / "pdf" / name
    document = read_pdf(path.read_bytes(), "x")
    span = document.pages[page - 1].span
    text = document.text[span.start : span.end]
    whole, size = highlighted(page_image(path, page, [text], 1.0))
    part, _ = highlighted(page_image(path, page, [text[len(text) // 3 : 2 * len(text) // 3]], 1.0))
    none, _ = highlighted(page_image(path, page, ["words that stand nowhere on this page"], 1.0))
    assert none < part < whole < size


def test_a_passage_that_runs_over_two_pages_is_marked_on_each(tmp_path: Path):
    path = tmp_path / "two.pdf"
    made("The first page ends with this sentence.", "The second page begins with that one.").save(path)
    text = read_pdf(path.read_bytes(), "x").text
    for page in (1, 2):
        assert highlighted(page_image(path, page, [text], 1.0))[0] > 500


def test_pictures_are_bounded_and_errors_are_ours(tmp_path: Path):
    path = tmp_path / "a.pdf"
    made("Words.").save(path)
    assert highlighted(page_image(path, 1, [], 40.0))[1] <= 8_010_000
    with pytest.raises(SourceError, match=r"a\.pdf has no page 2"):
        page_image(path, 2, [], 1.0)
    with pytest.raises(SourceError, match=r"b\.pdf cannot be opened"):
        page_image(tmp_path / "b.pdf", 1, [], 1.0)
