from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from office_files import ENTITIES, packed, pptx, shape

from rag.errors import SourceError
from rag.sources.office.slides import read_slides
from rag.types import Mark, SourceDocument

Check = Callable[[SourceDocument], None]


def test_slides_have_numbers_titles_and_notes(check_document: Check):
    data = pptx(
        shape("12", "sldNum") + shape("point one\npoint two", "body") + shape("The plan", "title"),
        shape("", "title"),
        shape("a free text"),
        notes={1: "say this"},
    )
    document = read_slides(data, "file")
    check_document(document)
    assert document.title == "The plan"
    assert [section.heading_path for section in document.sections] == [
        ("The plan",),
        ("The plan", "Notes"),
        ("Slide 3",),
    ]
    assert document.text == "The plan\n\n- point one\n- point two\n\nNotes\n\nsay this\n\nSlide 3\n\na free text"
    assert Mark(0, "slide", 1) in document.marks
    assert document.marks[-1] == Mark(document.text.index("Slide 3"), "slide", 3)
    assert document.notes == ("slides without any text: 2",)


def test_tables_charts_and_comments(shared_data: Path):
    folder = shared_data / "formats/docling/pptx/sources"
    chart = read_slides((folder / "pptx_chart.pptx").read_bytes(), "x").text
    assert "|  | Freshwater Ducks | Saltwater Ducks |\n| --- | --- | --- |\n| 2019 | 120 | 80 |" in chart
    comments = read_slides((folder / "powerpoint_comments.pptx").read_bytes(), "x")
    assert comments.sections[1].heading_path == ("Test Slide With Comments", "Comments")
    assert "Jane Smith: This is a sample response" in comments.text
    table = read_slides((folder / "powerpoint_sample.pptx").read_bytes(), "x").text
    assert "| R4 |  | True |  | True | False | False |" in table


def test_a_missing_slide_is_named_and_the_others_are_read():
    whole = pptx(shape("one", "title"), shape("two", "title"))
    import io
    import zipfile

    parts = zipfile.ZipFile(io.BytesIO(whole))
    document = read_slides(packed({n: parts.read(n) for n in parts.namelist() if n != "ppt/slides/slide1.xml"}), "file")
    assert document.text == "two"
    assert document.problems == ("slide 1: The file is damaged: ppt/slides/slide1.xml is not in it",)


def test_entities_stop_the_reading():
    with pytest.raises(SourceError, match="declares XML entities"):
        read_slides(packed({"ppt/presentation.xml": ENTITIES + "<x>&b;</x>"}), "file")
