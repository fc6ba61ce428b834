from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pymupdf
import pytest

from rag.errors import SourceError
from rag.sources.hidden import letters
from rag.sources.pdf.reader import page_image, read_pdf
from rag.types import PageVerdict, ReadOptions, Remedy, SourceDocument


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


def test_the_date_is_that_of_the_metadata():
    document = made("Words.")
    document.set_metadata({"creationDate": "D:20240501120000+02'00'"})
    assert read_pdf(document.tobytes(), "x").date == "2024-05-01"
    document.set_metadata({"creationDate": "yesterday"})
    assert read_pdf(document.tobytes(), "x").date == ""


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


def test_each_page_has_a_verdict():
    document = made("Text.", "", "")
    picture = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 9, 9))
    document[1].insert_image((72, 72, 200, 200), pixmap=picture)
    found = read_pdf(document.tobytes(), "x")
    assert [page.verdict for page in found.pages] == [PageVerdict.TEXT, PageVerdict.SCAN, PageVerdict.EMPTY]
    assert [page.problem for page in found.pages] == ["", "an image without text, looks like a scan", ""]
    assert found.problems == ("page 2: an image without text, looks like a scan",)
    assert found.remedies == (Remedy.OCR,)


def test_a_file_without_any_text_is_a_document_that_says_why():
    picture = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 9, 9))
    scans = made("", "")
    for page in scans:
        page.insert_image((72, 72, 200, 200), pixmap=picture)
    found = read_pdf(scans.tobytes(), "x")
    assert found.text.strip() == ""
    assert len(found.pages) == 2
    assert found.problems == ("pages 1 to 2: an image without text, looks like a scan",)
    blank = read_pdf(made("", "").tobytes(), "x")
    assert blank.problems == ("there is nothing on any page",)
    assert blank.remedies == ()


def test_text_drawn_as_curves_looks_like_a_scan():
    document = made("")
    document[0].draw_bezier((72, 72), (100, 20), (150, 160), (200, 72))
    assert read_pdf(document.tobytes(), "x").pages[0].verdict is PageVerdict.SCAN
    document = made("")
    document[0].draw_line((72, 72), (500, 72))
    assert read_pdf(document.tobytes(), "x").pages[0].verdict is PageVerdict.EMPTY


def test_a_page_whose_font_lies_is_garbled_and_the_others_are_not():
    shift = str.maketrans({chr(c): chr(c - 29) for c in range(97, 123)})
    document = made(("the sensors are read every ten minutes " * 12).translate(shift), "The sensors are read. " * 20)
    found = read_pdf(document.tobytes(), "x")
    assert [page.verdict for page in found.pages] == [PageVerdict.GARBLED, PageVerdict.TEXT]
    assert found.problems == ("page 1: its characters are not those that are printed",)
    assert found.remedies == (Remedy.OCR,)


@pytest.mark.parametrize("kind", ["PDF_ENCRYPT_AES_256", "PDF_ENCRYPT_AES_128", "PDF_ENCRYPT_RC4_128"])
def test_passwords(kind: str, tmp_path: Path):
    document = made("Secret words.")
    locked = document.tobytes(encryption=getattr(pymupdf, kind), owner_pw="the owner", user_pw="the user")
    with pytest.raises(SourceError, match="wants a password") as error:
        read_pdf(locked, "x")
    assert error.value.remedy is Remedy.PASSWORD
    with pytest.raises(SourceError, match="none of the passwords given opens it") as error:
        read_pdf(locked, "x", ReadOptions(passwords=("wrong", "")))
    assert error.value.remedy is Remedy.PASSWORD
    assert "wrong" not in str(error.value)
    for password in ("the user", "the owner"):
        assert read_pdf(locked, "x", ReadOptions(passwords=("wrong", password))).text == "Secret words."
    path = tmp_path / "locked.pdf"
    path.write_bytes(locked)
    assert highlighted(page_image(path, 1, ["Secret words."], 1.0, ("wrong", "the user")))[0] > 500
    with pytest.raises(SourceError, match="encrypted"):
        page_image(path, 1, [], 1.0)


def test_an_owner_password_is_no_hindrance():
    document = made("Secret words.")
    restricted = document.tobytes(encryption=pymupdf.PDF_ENCRYPT_AES_256, owner_pw="o", user_pw="", permissions=0)
    assert read_pdf(restricted, "x").text == "Secret words."


def test_the_collection(shared_data: Path, check_document: Callable[[SourceDocument], None], capfd: Any):
    failed: dict[str, str] = {}
    verdicts: dict[str, set[PageVerdict]] = {}
    for entry in expectations(shared_data):
        data = (shared_data / "pdf" / entry["file"]).read_bytes()
        options = ReadOptions(passwords=(entry["password"],) if entry["password"] else ())
        try:
            document = read_pdf(data, Path(entry["file"]).stem, options)
        except SourceError as error:
            failed[entry["file"]] = error.message
            continue
        if document.text.strip():
            check_document(document)
        assert len(document.pages) >= (entry["pages"] or 0), entry["file"]
        verdicts[entry["file"]] = {page.verdict for page in document.pages} - {PageVerdict.TEXT}
        assert bool(document.problems) == any(page.problem for page in document.pages) or not document.text.strip()
        for phrase in entry["phrases"]:
            page, text = (phrase["page"], phrase["text"]) if isinstance(phrase, dict) else (1, phrase)
            span = document.pages[page - 1].span
            assert plain(text) in plain(document.text[span.start : span.end]), (entry["file"], text)
    assert {file: message.split(":")[0] for file, message in failed.items()} == {
        "corrupt/pdfjs__poppler-67295-0.pdf": "The PDF is damaged",
        "empty/pdfplumber__empty.pdf": "The PDF is damaged",
    }
    assert {file: found for file, found in verdicts.items() if found} == {
        "corrupt/pdfjs__Pages-tree-refs.pdf": {PageVerdict.DAMAGED},
        "corrupt/pdfjs__operator_list_cycle.pdf": {PageVerdict.DAMAGED},
        "corrupt/pdfminer__zen_of_python_corrupted.pdf": {PageVerdict.DAMAGED},
        "empty/onyx__empty.pdf": {PageVerdict.EMPTY},
        "scanned/docling__ocr_test.pdf": {PageVerdict.SCAN},
        "scanned/docling__ocr_test_rotated_90.pdf": {PageVerdict.SCAN},
    }
    printed = capfd.readouterr()
    assert printed.out + printed.err == ""


def test_nothing_but_furniture_is_lost(shared_data: Path):
    for path in sorted((shared_data / "pdf").rglob("*.pdf")):
        if path.parent.name in ("corrupt", "empty", "encrypted-user"):
            continue
        found = read_pdf(path.read_bytes(), "x")
        with pymupdf.open(path) as document:
            for page in found.pages:
                written = Counter(letters(document[page.number - 1].get_text()))
                kept = Counter(letters(found.text[page.span.start : page.span.end]))
                assert sum((written - kept).values()) <= 30, (path.name, page.number)


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
    assert damaged.problems == ("pages 1 to 3: damaged; text may be missing",)
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
        ("tables/markitdown__REPAIR-2022-INV-001_multipage.pdf", 1),
        ("tables/markitdown__SPARSE-2024-INV-1234_borderless_table.pdf", 2),
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


def test_a_row_of_a_table_is_marked_where_it_stands(shared_data: Path):
    path = shared_data / "pdf/tables/markitdown__SPARSE-2024-INV-1234_borderless_table.pdf"
    row, _ = highlighted(page_image(path, 2, ["| SKU-5512 | Hardware | $89.00 | $31,150.00 |  | Pending |"], 1.0))
    two, _ = highlighted(
        page_image(path, 2, ["| SKU-5512 | Hardware | $89.00 | $31,150.00 |  | Pending |\n| SKU-6678 |"], 1.0)
    )
    assert 500 < row < two < 2 * row


def test_a_picture_of_any_page_without_passages(shared_data: Path):
    for name in ("scanned/docling__ocr_test.pdf", "empty/onyx__empty.pdf", "rotated/pdfjs__rotation.pdf"):
        assert page_image(shared_data / "pdf" / name, 1, [], 1.0).startswith(b"\x89PNG")


def raw_pdf(*objects: bytes) -> bytes:
    """A PDF of numbered objects, of which the first is the catalog."""
    data = b"%PDF-1.4\n"
    places = []
    for number, body in enumerate(objects, start=1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, len(data))
    return data + b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + table + end


def one_page(content: bytes, box: bytes = b"0 0 200 200", resources: bytes = b"", *more: bytes) -> bytes:
    font = b"/Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>"
    return raw_pdf(
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Count 1/Kids[3 0 R]>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[%s]/Contents 4 0 R/Resources<<%s%s>>>>" % (box, font, resources),
        b"<</Length %d>>stream\n%s\nendstream" % (len(content), content),
        *more,
    )


WORDS = b"BT /F1 12 Tf 100 100 Td (Hello words) Tj ET"


@pytest.mark.parametrize(
    "data",
    [
        one_page(WORDS, b"0 0 1e9 1e9"),
        one_page(WORDS, b"0 0 0 0"),
        one_page(WORDS + b" /X Do" * 50, b"0 0 200 200", b"/XObject<</X 5 0 R>>",
                 b"<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X 5 0 R>>>>/Length 12>>stream\n/X Do /X Do \nendstream"),
    ],
    ids=["as wide as a country", "of no size", "drawn within itself"],
)  # fmt: skip
def test_odd_pages_are_read_and_drawn(data: bytes, tmp_path: Path):
    assert "Hello words" in read_pdf(data, "x").text
    path = tmp_path / "odd.pdf"
    path.write_bytes(data)
    assert page_image(path, 1, ["Hello words"], 2.0).startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "kids", [b"/Count 10000000/Kids[3 0 R]", b"/Count 50000/Kids[2 0 R 2 0 R]"], ids=["huge", "cyclic"]
)
def test_page_trees_that_lie_are_damage(kids: bytes):
    with pytest.raises(SourceError, match="damaged"):
        read_pdf(raw_pdf(b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages%s>>" % kids, b"<</Type/Page>>"), "x")


def test_a_page_with_very_many_words_takes_seconds_at_most():
    words = [b"BT /F1 6 Tf %d %d Td (number %d here) Tj ET" % (100 * (n % 50), 8 * (n // 50), n) for n in range(6000)]
    start = time.process_time()
    text = read_pdf(one_page(b"\n".join(words), b"0 0 5000 5000"), "x").text
    assert "number 5999 here" in text
    assert time.process_time() - start < 20
