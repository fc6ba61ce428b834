from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.errors import SourceError
from rag.sources.plain.text import Heading, read_code, read_text, sections


def headings(text: str) -> list[tuple[str, ...]]:
    return [section.heading_path for section in read_text(text.encode(), "name").sections]


@pytest.mark.parametrize("data", [b" \n\t\n", b"\xef\xbb\xbf"])
def test_nothing_but_blanks_is_an_error(data: bytes):
    with pytest.raises(SourceError, match="no text"):
        read_text(data, "name")


def test_bytes_that_are_not_text_are_an_error(shared_data: Path):
    data = (shared_data / "formats/broken-generated/random_bytes.pdf").read_bytes()
    with pytest.raises(SourceError, match="not text"):
        read_text(data, "name")


def test_headings_that_stand_alone_make_sections():
    text = "Intro.\n\n1 Scope\n\nWords.\n\n1.1 Limits\n\nMore.\n\nREFERENCES\n\n[1] A.\n\nResults\n-------\nLast.\n"
    assert headings(text) == [
        (),
        ("1 Scope",),
        ("1 Scope", "1.1 Limits"),
        ("REFERENCES",),
        ("REFERENCES", "Results"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "2024 was a year.\n\nIt ended.",
        "Buy:\n\n1. milk\n\n2. bread\n\nThen go.",
        "A line\n1 Scope\nin a paragraph",
        "  1 Scope\n\nindented",
        "1.  Introduction .......... 3\n\n2.  Terms .......... 5\n\n",
        "CONFIDENTIAL\n\nPage one.\n\nCONFIDENTIAL\n\nPage two.",
    ],
)
def test_what_only_looks_like_a_heading_is_none(text: str):
    assert headings(text) == [()]


def test_a_heading_on_top_is_the_title():
    assert read_text(b"Ovens and heat\n==============\n\nWords.", "name").title == "Ovens and heat"
    assert read_text(b"Words first.\n\nOVENS\n\nMore.", "name").title == "name"


def test_sections_of_laws_and_chapters_are_headings():
    text = (
        "Teil 1 Allgemeines\n\nAbschnitt 2 - Pflichten\n\n§ 5 Pflichten der Arbeitgeber\n\n(1) Er hat.\n\n§ 6\n\n(1) Er darf.\n\n"
        "Anhang 1\n\nWorte.\n\n第三章　罰則\n\n第5条 罰金\n\n語。\n\nSection 4.1 Limits\n\nWords.\n\nArticle 7 of the treaty\n\nWords.\n"
    )
    assert headings(text) == [
        ("Teil 1 Allgemeines",),
        ("Teil 1 Allgemeines", "Abschnitt 2 - Pflichten"),
        ("Teil 1 Allgemeines", "Abschnitt 2 - Pflichten", "§ 5 Pflichten der Arbeitgeber"),
        ("Teil 1 Allgemeines", "Abschnitt 2 - Pflichten", "§ 6"),
        ("Teil 1 Allgemeines", "Anhang 1"),
        ("Teil 1 Allgemeines", "第三章\u3000罰則"),
        ("Teil 1 Allgemeines", "第三章\u3000罰則", "第5条 罰金"),
        ("Teil 1 Allgemeines", "第三章\u3000罰則", "Section 4.1 Limits"),
    ]


def test_title_and_date_of_an_rfc_are_those_of_its_first_page(shared_data: Path):
    def front(name: str) -> tuple[str, str]:
        document = read_text((shared_data / "standards/rfc" / name).read_bytes(), name)
        return document.title, document.date

    assert front("rfc9110.txt") == ("RFC 9110: HTTP Semantics", "2022-06")
    assert front("rfc1939.txt") == ("RFC 1939: Post Office Protocol - Version 3", "1996-05")
    assert front("rfc2045.txt")[0].endswith("(MIME) Part One: Format of Internet Message Bodies")
    document = read_text(b"Notes.\n\nRequest for Comments: 1\n", "name")
    assert (document.title, document.date) == ("name", "")


def test_clauses_of_an_rfc(shared_data: Path):
    clauses = [json.loads(line) for line in (shared_data / "standards/clause_index.jsonl").read_text().splitlines()]
    for name in ("rfc1939.txt", "rfc2045.txt", "rfc9110.txt"):
        wanted = {(entry["clause"], entry["title"]) for entry in clauses if entry["doc"].endswith(name)}
        document = read_text((shared_data / "standards/rfc" / name).read_bytes(), name)
        titles = [" ".join(section.heading_path[-1].split()) for section in document.sections if section.heading_path]
        found = {entry for entry in wanted if any(t in titles for t in (f"{entry[0]}. {entry[1]}", " ".join(entry)))}
        assert len(found) >= 0.9 * len(wanted), (name, sorted(wanted - found)[:5])


@given(
    st.text(max_size=200),
    st.lists(st.tuples(st.integers(0, 220), st.integers(1, 6), st.text(min_size=1, max_size=5)), max_size=12),
)
def test_sections_cover_any_text_without_gaps(text: str, places: list[tuple[int, int, str]]):
    found = sections(text, [Heading(min(start, len(text)), level, title) for start, level, title in sorted(places)])
    assert "".join(text[section.span.start : section.span.end] for section in found) == text
    assert all(0 < len(section.heading_path) <= 6 for section in found[1:])


def test_running_headers_and_footers_go_and_lines_stay():
    pages = [
        f"RFC 1                    Title                    May 1996\n\n{body}\n\n\nAuthor                  [Page {number}]\n"
        for number, body in enumerate(("One begins here and", "goes on here.", "NEXT CLAUSE\n\nThree.", "Four."), 1)
    ]
    source = "\f\n".join(pages)
    found = read_text(source.encode(), "name")
    assert found.text == "One begins here and\ngoes on here.\n\nNEXT CLAUSE\n\nThree.\n\nFour."
    assert [section.heading_path for section in found.sections] == [(), ("NEXT CLAUSE",)]
    for needle in ("goes on", "Three", "Four"):
        at = found.text.index(needle)
        mark = [mark for mark in found.marks if mark.start <= at][-1]
        assert needle in source.split("\n")[mark.number + found.text.count("\n", mark.start, at) - 1]


def test_no_page_furniture_is_left_of_an_rfc(shared_data: Path):
    for name in ("rfc1939.txt", "rfc2045.txt"):
        text = read_text((shared_data / "standards/rfc" / name).read_bytes(), name).text
        assert "[Page" not in text
        assert "\f" not in text


def test_a_text_with_one_form_feed_loses_nothing():
    assert read_text(b"One.\n\fTwo.\n", "name").text == "One.\n\nTwo."


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("import x\n\n\n@d\ndef a(b):\n    def c(): ...\n\nclass D:\n    pass\n", ["def a(b)", "class D"]),
        ("pub(crate) fn f<T>(x: T) -> T {\n}\nstruct S {\n}\n", ["pub(crate) fn f<T>(x: T) -> T", "struct S"]),
        ("int x;\nint main(int argc, char **argv) {\n  return f(x);\n}\n", ["int main(int argc, char **argv)"]),
        ("export const f = (a) => {\n}\nasync function g() {\n}\n", ["export const f = (a) =>", "async function g()"]),
        ("build() {\n  make\n}\nif test; then\nfi\nbuild\n", ["build()"]),
        ("CREATE TABLE t (\n  a int\n);\nSELECT 1;\n", ["CREATE TABLE t ("]),
        ("else if (x) {\nreturn f(x)\nprint(x)\n", []),
    ],
)
def test_definitions_begin_sections(source: str, names: list[str]):
    found = read_code(source.encode(), "name")
    assert found.text == source
    assert [section.heading_path[0] for section in found.sections if section.heading_path] == names


def test_the_comment_above_a_definition_belongs_to_it():
    found = read_code(b"x = 1\n\n# Adds.\n@cached\ndef add(): ...\n", "name")
    assert found.text[found.sections[1].span.start :].startswith("# Adds.\n@cached\ndef")
