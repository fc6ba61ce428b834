from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from office_files import ENTITIES, docx, packed, paragraph, word_cell, word_table

from rag.errors import SourceError
from rag.sources.office.word import read_word
from rag.types import SourceDocument

Check = Callable[[SourceDocument], None]


def paths(document: SourceDocument) -> list[tuple[str, ...]]:
    return [section.heading_path for section in document.sections]


def test_headings_come_from_styles_with_the_numbers_that_word_prints(check_document: Check):
    styles = (
        '<w:style w:styleId="T"><w:name w:val="Title"/></w:style>'
        '<w:style w:styleId="A"><w:name w:val="heading 1"/><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>'
        '<w:style w:styleId="B"><w:name w:val="Clause"/><w:basedOn w:val="A2"/></w:style>'
        '<w:style w:styleId="A2"><w:name w:val="heading 2"/><w:pPr><w:numPr><w:ilvl w:val="1"/><w:numId w:val="1"/>'
        "</w:numPr></w:pPr></w:style>"
    )
    numbering = (
        '<w:abstractNum w:abstractNumId="7"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/><w:lvlText w:val="%1"/></w:lvl>'
        '<w:lvl w:ilvl="1"><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%1.%2)"/></w:lvl></w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num>'
    )
    body = "".join(
        paragraph(text, f'<w:pStyle w:val="{style}"/>')
        for text, style in [("Pumps", "T"), ("Scope", "A"), ("Limits", "B"), ("More", "B"), ("Terms", "A"), ("X", "A2")]
    )
    document = read_word(docx(body, {"styles": styles, "numbering": numbering}), "file")
    check_document(document)
    assert document.title == "Pumps"
    assert paths(document)[1:] == [
        ("Pumps", "1 Scope"),
        ("Pumps", "1 Scope", "1.a) Limits"),
        ("Pumps", "1 Scope", "1.b) More"),
        ("Pumps", "2 Terms"),
        ("Pumps", "2 Terms", "2.a) X"),
    ]


def test_tables_are_markdown_and_merged_cells_say_their_label_in_every_row():
    table = word_table(
        word_cell("Year") + word_cell("Month") + word_cell("Sum"),
        word_cell("2025", '<w:vMerge w:val="restart"/>') + word_cell("May") + word_cell("1|2"),
        word_cell("", "<w:vMerge/>") + word_cell("both", '<w:gridSpan w:val="2"/>'),
    )
    assert read_word(docx(table), "file").text == (
        "| Year | Month | Sum |\n| --- | --- | --- |\n| 2025 | May | 1\\|2 |\n| 2025 | both |  |"
    )


def test_notes_and_comments_follow_their_paragraph():
    body = (
        '<w:p><w:r><w:t>Claim</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r>'
        '<w:r><w:commentReference w:id="0"/></w:r></w:p>' + paragraph("Next")
    )
    parts = {
        "footnotes": f'<w:footnote w:id="2">{paragraph("the source")}</w:footnote>'
        f'<w:footnote w:id="-1" w:type="separator">{paragraph("line")}</w:footnote>',
        "comments": f'<w:comment w:id="0" w:author="Ann">{paragraph("really?")}</w:comment>',
    }
    assert read_word(docx(body, parts), "file").text == (
        "Claim[^1]\n\n[^1]: the source\n\n[Comment by Ann: really?]\n\nNext"
    )


def test_what_is_deleted_or_hidden_is_left_out_and_inserted_text_stays():
    body = (
        "<w:p><w:r><w:t>kept </w:t></w:r><w:del><w:r><w:delText>gone</w:delText></w:r></w:del>"
        "<w:ins><w:r><w:t>new</w:t></w:r></w:ins><w:r><w:rPr><w:vanish/></w:rPr><w:t>secret</w:t></w:r></w:p>"
    )
    document = read_word(docx(body), "file")
    assert document.text == "kept new"
    assert document.notes == ("hidden text was left out: 1 word, “secret”",)


def test_a_text_box_is_read_once_though_the_file_holds_it_twice():
    box = f"<w:txbxContent>{paragraph('in the box')}</w:txbxContent>"
    body = (
        "<w:p><w:r><w:t>before</w:t></w:r><w:r><mc:AlternateContent>"
        f"<mc:Choice><w:drawing>{box}</w:drawing></mc:Choice><mc:Fallback><w:pict>{box}</w:pict></mc:Fallback>"
        "</mc:AlternateContent></w:r></w:p>"
    )
    assert read_word(docx(body), "file").text == "before\n\nin the box"


def test_an_inserted_document_is_read_in_its_place_and_missed_where_it_is_gone():
    relation = (
        '<r:Relationships xmlns:r="http://schemas.openxmlformats.org/package/2006/relationships"><r:Relationship Id="rId1" '
        'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/aFChunk" Target="part.html"/>'
        "</r:Relationships>"
    )
    names = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
    chunks = f'<w:altChunk {names} r:id="rId1"/><w:altChunk {names} r:id="rId2"/>'
    whole = docx(paragraph("before") + chunks + paragraph("after"))
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    page = "<h1>Inserted</h1><p>its words</p>"
    document = read_word(packed({**parts, "word/_rels/document.xml.rels": relation, "word/part.html": page}), "file")
    assert document.text == "before\n\nInserted\n\nits words\n\nafter"
    assert ("Inserted",) in paths(document)
    assert document.problems == ("inserted document rId2: it is not in the file",)


def test_raised_and_lowered_digits_stay_apart_from_the_number_before():
    run = '<w:r><w:rPr><w:vertAlign w:val="{}"/></w:rPr><w:t>{}</w:t></w:r>'
    body = (
        f"<w:p><w:r><w:t>10</w:t></w:r>{run.format('superscript', '-3')}"
        f"<w:r><w:t> of H</w:t></w:r>{run.format('subscript', '2')}</w:p>"
    )
    assert read_word(docx(body), "file").text == "10⁻³ of H₂"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("equations", "f(x)=a_0+∑_(n=1)^∞"),
        ("table_with_equations", "x=(-b±√(b^2-4ac))/2a"),
        ("omml_frac_superscript", "((x-c)/v)^2"),
        ("docx_lists", "- Third item\n  - Sub-item A"),
        ("unit_test_headers_numbered", "1.2.1. Section 1.2.3"),
        ("textbox", "Case closed."),
        ("docx_code_blocks", "def fib(n):\n    a, b = 0, 1\n    for _ in range(n):\n        a, b = b, a + b"),
    ],
)
def test_public_files_say_what_they_show(shared_data: Path, check_document: Check, name: str, words: str):
    document = read_word((shared_data / f"formats/docling/docx/sources/{name}.docx").read_bytes(), name)
    check_document(document)
    assert words in document.text
    assert document.problems == ()


def test_damaged_xml_is_read_as_far_as_it_goes_and_reported():
    data = docx(paragraph("one") + "<w:p><w:r><w:t>two</w:t></w:x></w:p>")
    document = read_word(data, "file")
    assert document.text.startswith("one\n\ntwo")
    assert document.problems == ("word/document.xml is damaged XML; text may be missing",)


def test_entities_stop_the_reading():
    with pytest.raises(SourceError, match=r"word/document\.xml declares XML entities"):
        read_word(docx(paragraph("&b;"), before=ENTITIES), "file")


def test_tables_in_tables_in_tables_end_and_lose_no_words():
    deep = "<w:tbl><w:tr><w:tc>" * 5000 + paragraph("needle") + "</w:tc></w:tr></w:tbl>" * 5000
    document = read_word(docx(paragraph("first") + deep), "file")
    assert document.text == "first\n\nneedle"
    assert "200 deep" in document.problems[0]


def test_a_document_without_words_says_so():
    with pytest.raises(SourceError, match=r"^There is no text in the file\.$"):
        read_word(docx("<w:p/>"), "file")
