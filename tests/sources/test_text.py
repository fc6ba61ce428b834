from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.errors import SourceError
from rag.sources.text import Heading, read_text, sections


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
