from dataclasses import replace

from material import make_chunk

from rag.answering.places import numbered_place, place
from rag.types import Place


def test_pages_slides_rows_and_lines_in_words() -> None:
    chunk = make_chunk("text", path="notes/1.md", heading_path=("Top", "Sub"))
    assert numbered_place(chunk) == ""
    assert numbered_place(replace(chunk, page=3, page_end=3)) == "page 3"
    assert numbered_place(replace(chunk, page=3, page_end=5)) == "pages 3–5"
    assert numbered_place(replace(chunk, page=3, page_end=5), page=4) == "page 4"
    assert numbered_place(replace(chunk, place=Place("slide", 2, 2))) == "slide 2"
    assert numbered_place(replace(chunk, place=Place("row", 2, 40))) == "rows 2–40"


def test_the_library_is_named_where_several_were_searched() -> None:
    chunk = replace(make_chunk("text", path="notes/1.md", heading_path=("Top", "Sub")), place=Place("line", 7, 9))
    assert place(chunk) == "notes/1.md, lines 7–9, Top › Sub"
    assert place(replace(chunk, library="Work")) == "Work: notes/1.md, lines 7–9, Top › Sub"
