from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rag.errors import SourceError
from rag.sources.web.html import read_html
from rag.types import ReadOptions, SourceDocument

Check = Callable[[SourceDocument], None]


def text_of(page: str) -> str:
    return read_html(page.encode(), "file").text


def test_headings_paragraphs_lists_and_code(check_document: Check):
    page = (
        "<html><head><title>A page</title><style>p{}</style></head><body><nav>Home</nav><h1>One</h1><p>Some <b>bold</b>\n"
        "text<br>and more<script>alert(1)</script></p><ol start=3><li>a<ul><li>b</ul><li>c</ol>"
        "<h2>Two</h2><pre>if x:\n    y()</pre><dl><dt>word<dd>its meaning</dl><p hidden>not shown</p></body></html>"
    )
    document = read_html(page.encode(), "file")
    check_document(document)
    assert document.title == "A page"
    assert document.text == (
        "One\n\nSome bold text\nand more\n\n3. a\n  - b\n4. c\n\nTwo\n\n```\nif x:\n    y()\n```\n\nword\n\n- its meaning"
    )
    assert [section.heading_path for section in document.sections] == [("One",), ("One", "Two")]


def test_navigation_is_read_where_there_is_nothing_else():
    assert text_of("<nav><ul><li>Chapter 1<li>Chapter 2</ul></nav>") == "- Chapter 1\n- Chapter 2"


def test_only_the_main_part_is_read_where_it_holds_most_of_the_words():
    around = "<h1>The site</h1><div>Press S to search</div>"
    assert text_of(f"{around}<main><h2>Topic</h2><p>{'word ' * 30}</main>").startswith("Topic\n\nword")
    assert text_of(f"{around}<main>short</main>").startswith("The site\n\nPress S to search\n\nshort")


def test_tables_and_what_only_looks_like_one():
    assert text_of("<table><tr><th>a<th>b<tr><td rowspan=2>1<td>2<tr><td>3</table>") == (
        "| a | b |\n| --- | --- |\n| 1 | 2 |\n| 1 | 3 |"
    )
    layout = "<table><tr><td><h1>News</h1><p>" + "word " * 60 + "</p><td>side</table>"
    assert text_of(layout).startswith("News\n\nword word")


def test_formulas_and_raised_digits():
    assert text_of("<p>10<sup>-3</sup> of CO<sub>2</sub>, see<sup>note</sup></p>") == "10⁻³ of CO₂, seenote"
    formula = "<math><mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mi>c</mi></mfrac></math>"
    assert text_of(f"<p>so {formula}</p>") == "so (a+b)/c"


@pytest.mark.parametrize(
    ("page", "encoding"),
    [
        ('<meta charset="shift_jis"><p>議事録です。次回は十月三日。</p>'.encode("cp932"), "cp932"),
        ('<meta charset="iso-8859-1"><p>Köln 日本</p>'.encode(), "utf-8"),
        ('<meta http-equiv=Content-Type content="text/html; charset=EUC-JP"><p>議事録</p>'.encode("euc_jp"), "euc_jp"),
        ('<meta charset="iso-2022-jp"><p>議事録です</p>'.encode("iso2022_jp"), "iso2022_jp"),
        ("<p>Köln</p>".encode("utf-16"), "utf-16-le"),
        ('<?xml version="1.0" encoding="windows-1251"?><html><p>Привет, мир</p>'.encode("cp1251"), "cp1251"),
    ],
)
def test_encodings(page: bytes, encoding: str):
    document = read_html(page, "file")
    assert document.encoding == encoding
    assert document.problems == ()
    assert any(words in document.text for words in ("議事録", "Köln", "Привет"))


def test_an_encoding_that_a_person_chose_wins():
    page = '<meta charset="utf-8"><p>caf\u00e9</p>'.encode("cp1252")
    assert read_html(page, "file", ReadOptions(encoding="cp1252")).text == "café"


@pytest.mark.parametrize(
    "page",
    [
        "<div><b>" * 20_000 + "needle",
        "<table><tr><td>" * 5_000 + "needle",
        "<ul><li>" * 5_000 + "needle",
        "<blockquote>" * 20_000 + "needle" + "</blockquote>" * 20_000,
    ],
)
def test_bottomless_pages_end_and_lose_no_words(page: str):
    assert text_of("<p>before</p>" + page).split() in (["before", "needle"], ["before", "-", "needle"])


def test_a_table_that_claims_to_be_huge_stays_small():
    page = "<table>" + "<tr><td colspan=9999 rowspan=9999>x<td>y" * 200 + "</table>"
    assert len(text_of(page)) < 1_000_000


def test_entities_are_not_expanded():
    bomb = '<!DOCTYPE x [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;">]><p>&b; words</p>'
    assert "lollol" not in text_of(bomb)
    assert "words" in text_of(bomb)


def test_broken_public_files(shared_data: Path):
    folder = shared_data / "formats/broken-generated"
    assert read_html((folder / "deep_nesting.html").read_bytes(), "x").text == "needle in deep nest"
    assert read_html((folder / "meta_sjis.html").read_bytes(), "x").title == "会議メモ"
    assert read_html((folder / "wrong_meta_charset.html").read_bytes(), "x").text == "UTF-8 text: Köln 日本"
    unclosed = read_html((folder / "unclosed.html").read_bytes(), "x")
    assert unclosed.title == "Title"
    assert "| a | b |" in unclosed.text
    assert "alert" not in unclosed.text


def test_a_page_that_shows_nothing_says_so():
    with pytest.raises(SourceError, match="There is no text"):
        read_html(b"<html><script>run()</script></html>", "file")


def test_a_list_that_starts_nowhere_starts_at_one():
    assert read_html(b'<ol start="--5"><li>a</ol><ol start="-5"><li>b</ol>', "file").text == "1. a\n-5. b"
