import html as escaping
import re
from dataclasses import replace

from page_values import HOSTILE, make_chunk, parse

from rag.types import (
    Change,
    Chunk,
    FileRecord,
    FileReport,
    FileState,
    FileXray,
    PageText,
    PageVerdict,
    Place,
    ReadOptions,
    Remedy,
    Span,
)
from rag.ui import render_xray

RECORD = FileRecord(
    7, "/notes", HOSTILE, 2_000, 0, "ab", FileState.PARTLY, HOSTILE, HOSTILE, 3, 2, 0.0, authors=(HOSTILE,), year=2020
)


def chunk_at(document: str, start: int, end: int, number: int = 1) -> Chunk:
    return replace(make_chunk(number), text=document[start:end], span=Span(start, end))


def on_pages(*texts: str) -> tuple[PageText, ...]:
    return tuple(PageText(number, PageVerdict.TEXT, "", text) for number, text in enumerate(texts, start=1))


def words(html: str) -> str:
    parse(html)
    return " ".join(escaping.unescape(re.sub("<[^>]*>", " ", html)).split())


def test_head_tells_all_there_is_and_can_do_nothing() -> None:
    html = render_xray.head(FileXray(RECORD, on_pages("a", "b"), "", (), True))
    tree = parse(html)
    assert tree.text.count(HOSTILE) == 3
    assert "2 pages: 2 text" in tree.text
    assert "2020" in tree.text
    assert "has changed on disk" in tree.text
    assert "has changed" not in render_xray.head(FileXray(RECORD, (), "", (), False))


def test_text_is_shown_as_passages_with_their_places_and_what_is_in_none() -> None:
    text = "Preface.\nFirst sentence. Second sentence. Third.\nEnd."
    first = replace(chunk_at(text, 9, 41), place=Place("line", 2, 2), heading_path=(HOSTILE,))
    second = replace(chunk_at(text, 25, 48, 2), place=Place("line", 2, 3), tokens=1)
    html = render_xray.leaf(FileXray(RECORD, (), text, (first, second), False), 1)
    shown = words(html)
    assert "In no passage: this is not searched. Preface." in shown
    assert "Passage 1 line 2 · 10 tokens" in shown
    assert "Passage 2 lines 2–3 · 1 token Top" in shown
    assert shown.endswith("End.")
    assert f'<span class="fn-shared" title="{render_xray.texts.XRAY_SHARED}">{text[25:41]}</span>' in html
    assert HOSTILE in parse(html).text


def test_every_line_of_a_long_file_is_on_one_of_its_leaves() -> None:
    lines = [f"Line {number:05} of many.\n" for number in range(2_000)]
    text, long = "".join(lines), len(lines[0])
    chunks = tuple(chunk_at(text, at * long, (at + 28) * long, at) for at in range(0, 1_970, 31))
    xray = FileXray(RECORD, (), text, chunks, False)
    count = render_xray.leaves(xray)
    assert 3 < count < 10
    seen = [parse(render_xray.leaf(xray, number)).text for number in range(1, count + 1)]
    assert all("".join(seen).count(line.strip()) == 1 for line in lines)
    assert max(map(len, seen)) < 2 * render_xray.LEAF_CHARACTERS
    assert render_xray.leaf(xray, 99) == render_xray.leaf(xray, count)


def test_a_page_shows_its_own_part_of_a_passage_that_spans_pages() -> None:
    first, second = "The beginning of it", "and the end of it. Then more."
    document = f"{first}\n\n{second}"
    spanning = replace(chunk_at(document, 4, 39), page=1, page_end=2, page_breaks=(len(first) + 2,), heading_path=())
    xray = FileXray(RECORD, on_pages(first, second), "", (spanning,), False)
    before, after = words(render_xray.leaf(xray, 1)), words(render_xray.leaf(xray, 2))
    assert "In no passage: this is not searched. The" in before
    assert "pages 1–2 · 10 tokens beginning of it" in before
    assert "continued and the end of it." in after
    assert "not searched. Then more." in after


def test_a_verdict_is_told_in_words_and_by_a_sign() -> None:
    for verdict, sign, word in ((PageVerdict.SCAN, "▣", "scan"), (PageVerdict.GARBLED, "≠", "garbled")):
        shown = words(render_xray.verdict(PageText(1, verdict, HOSTILE, "")))
        assert shown.startswith(f"{sign} {word}")
        assert " ".join(HOSTILE.split()) in shown
    assert "check it against the picture" in render_xray.verdict(PageText(1, PageVerdict.RECOGNISED, "", "text"))


def test_problem_pages_are_those_that_were_not_read_fully() -> None:
    pages = (
        *on_pages("text"),
        PageText(2, PageVerdict.EMPTY, "", ""),
        PageText(3, PageVerdict.SCAN, "no text", ""),
        PageText(4, PageVerdict.RECOGNISED, "", "text"),
    )
    xray = FileXray(RECORD, pages, "", (), False)
    assert render_xray.problem_pages(xray) == [3]
    assert render_xray.pages(xray) == "4 pages: 1 text, 1 recognised (OCR), 1 scan, 1 empty"
    leaf = render_xray.leaf(xray, 3)
    assert ("figure", "data-page", "3") in parse(leaf).attributes
    assert "No text was taken" in leaf


def test_only_what_would_help_is_offered() -> None:
    bare = FileXray(replace(RECORD, remedies=()), on_pages("text"), "", (), False)
    assert parse(render_xray.tools(bare, "RapidOCR")).tags.count("button") == 1
    scan = FileXray(RECORD, (PageText(1, PageVerdict.SCAN, "no text", ""),), "", (), False)
    assert 'data-do="ocr"' in render_xray.tools(scan, "RapidOCR")
    without = render_xray.tools(scan, "")
    assert 'data-do="ocr"' not in without
    assert "pip install rapidocr" in without
    read = replace(scan, record=replace(RECORD, options=ReadOptions(ocr=True)))
    assert 'data-do="no-ocr"' in render_xray.tools(read, "RapidOCR")
    locked = FileXray(replace(RECORD, remedies=(Remedy.PASSWORD,)), (), "", (), False)
    html = render_xray.tools(locked, "")
    assert ("input", "type", "password") in parse(html).attributes
    assert "never written to disk" in html


def test_the_encoding_is_shown_and_can_be_set() -> None:
    set_by_hand = replace(RECORD, encoding="cp932", options=ReadOptions(encoding="cp932"))
    xray = FileXray(set_by_hand, (), "text", (), False)
    assert "CP932 (set by you)" in render_xray.head(xray)
    tree = parse(render_xray.tools(xray, ""))
    assert ("input", "value", "CP932") in tree.attributes
    assert ("option", "value", "EUC-JP") in tree.attributes


def test_nothing_read_says_so_and_a_copy_says_where_to_look() -> None:
    nothing = FileXray(RECORD, (), "", (), False)
    assert render_xray.leaves(nothing) == 0
    assert "Nothing was read" in render_xray.leaf(nothing, 1)
    copy = replace(nothing, record=replace(RECORD, copy_of=HOSTILE))
    assert HOSTILE in parse(render_xray.leaf(copy, 1)).text


def test_the_outcome_of_reading_again() -> None:
    good = render_xray.outcome(FileReport("a.md", Change.CHANGED, FileState.INDEXED, "", 0, 1, 1))
    assert words(good) == "Read again: read. 1 passage."
    assert HOSTILE in parse(render_xray.outcome(FileReport("a", Change.CHANGED, FileState.FAILED, HOSTILE))).text
