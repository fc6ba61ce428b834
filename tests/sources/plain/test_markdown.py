from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.errors import SourceError
from rag.sources.plain.markdown import read_markdown
from rag.types import SourceDocument


def document(text: str) -> SourceDocument:
    return read_markdown(text.encode(), "name")


def paths(text: str) -> list[tuple[str, ...]]:
    return [section.heading_path for section in document(text).sections]


def test_headings_make_a_path():
    assert paths("Before.\n\n# One\na\n## Two `x` {#two}\nb\n### *Three*\nc\n# Four\nd\n") == [
        (),
        ("One",),
        ("One", "Two x"),
        ("One", "Two x", "Three"),
        ("Four",),
    ]


def test_underlined_headings_and_headings_that_are_none():
    text = "Top\n===\n\nSub\n---\n\n> # quoted\n\n- # in a list\n\n    # indented\n\n```\n# code\n```\n\n#tag\n"
    assert paths(text) == [("Top",), ("Top", "Sub")]


def test_a_section_starts_at_its_heading():
    found = document("Before.\n\n## A *b*\n\nText.\n")
    assert found.text[found.sections[1].span.start :].startswith("## A *b*\n")


def test_front_matter_gives_the_title_and_is_not_text():
    found = document("---\ntitle: 'A: b'\ntags: [x]\n---\n\n# Heading\n\nBody.\n")
    assert found.title == "A: b"
    assert found.text.strip() == "# Heading\n\nBody."
    assert document("---\nTitle: Über\n...\nBody").title == "Über"
    assert document("---\nlayout: x\n---\n# Heading *one*\n").title == "Heading one"
    assert document("Body").title == "name"


def test_broken_front_matter_is_kept_and_reported():
    found = document("---\ntitle: 'open\ntags: [a, b\n---\n\n# Body\n")
    assert found.title == "Body"
    assert "tags: [a, b" in found.text
    assert [section.heading_path for section in found.sections] == [(), ("Body",)]
    assert found.problems == ("the front matter is not valid YAML (line 4) and was kept as text",)


def test_text_between_two_rulers_is_no_front_matter():
    assert "just words" in document("---\njust words\n---\nBody").text


def test_front_matter_alone_is_an_error():
    with pytest.raises(SourceError, match="no text"):
        document("---\ntitle: x\n---\n")


def test_comments_do_not_leak_and_code_keeps_them():
    text = (
        "A <!-- one --> b\n\n<!--\n# Hidden\n\n```\nstill hidden\n-->\n\n# Seen\n\n"
        "```html\n<!-- kept -->\n```\n`<!-- span -->`\n"
    )
    found = document(text)
    assert "one" not in found.text
    assert "idden" not in found.text
    assert "<!-- kept -->" in found.text
    assert "`<!-- span -->`" in found.text
    assert [section.heading_path for section in found.sections] == [(), ("Seen",)]
    assert document("a <!--> b --> c").text == "a  b --> c"
    assert document("a <!-- never closed").text == "a <!-- never closed"


def test_wiki_links_read_as_words():
    text = "See [[Folder/Note|the note]], [[Oven]] and ![[plan.png]].\n\n`[[code]]`, [[1]](x), `a`\n\n    [[ -f x ]]\n"
    assert document(text).text == ("See the note, Oven and plan.png.\n\n`[[code]]`, [[1]](x), `a`\n\n    [[ -f x ]]\n")


def test_callouts_read_as_words():
    assert document("> [!note] Mind *this*\n> text\n\n> [!WARNING]-\n> more\n").text == (
        "> Note: Mind *this*\n> text\n\n> Warning\n> more\n"
    )
    assert document("```\n> [!note] x\n```\n").text == "```\n> [!note] x\n```\n"


def test_lines_are_those_of_the_file():
    source = (
        "---\ntitle: x\n---\n\nOne [[a|b]].\n\n<!--\ngone\n-->\n\nTwo <!-- and\ngone --> three.\n\n```\nFour\n```\n"
    )
    found = document(source)
    assert found.text == "One b.\n\nTwo \n three.\n\n```\nFour\n```\n"
    for needle in ("One", "Two", "three", "Four"):
        at = found.text.index(needle)
        mark = [mark for mark in found.marks if mark.start <= at][-1]
        assert needle in source.split("\n")[mark.number + found.text.count("\n", mark.start, at) - 1]


@pytest.mark.parametrize("piece", ["` `` ", "<!--", "[[a", "> [!a", "{#", "*a ", "_a", "- "])
def test_two_megabytes_in_a_line_take_no_time(piece: str):
    started = time.process_time()
    document("# " + piece * (2_000_000 // len(piece)))
    assert time.process_time() - started < 10


def test_the_english_originals_in_the_japanese_book_do_not_leak(shared_data: Path):
    files = sorted((shared_data / "notes/rustbook-ja").glob("*.md"))
    assert files
    for path in files:
        source = path.read_text()
        found = read_markdown(path.read_bytes(), path.stem)
        for line in found.text.splitlines():
            assert not line.startswith("<!--"), (path.name, line)
        assert len(found.text) < 0.9 * len(source), path.name
    assert "working through a hands-on project" not in "".join(
        read_markdown(path.read_bytes(), path.stem).text for path in files
    )


@pytest.mark.parametrize("folder", ["notes", "standards"])
def test_real_notes(shared_data: Path, check_document: Callable[[SourceDocument], None], folder: str):
    count = 0
    for path in sorted((shared_data / folder).rglob("*.md")):
        if path.stat().st_size:
            found = read_markdown(path.read_bytes(), path.stem)
            check_document(found)
            assert not found.problems, path
            count += 1
    assert count > 20


def test_damaged_files(shared_data: Path):
    folder = shared_data / "formats/broken-generated"
    unclosed = read_markdown((folder / "code_fence_unclosed.md").read_bytes(), "x")
    assert [section.heading_path for section in unclosed.sections] == [("T",)]
    assert read_markdown((folder / "frontmatter_bad_yaml.md").read_bytes(), "x").problems


MARKDOWN = st.lists(
    st.sampled_from(["# A", "## B", "text", "---", "===", "```", "~~~", "<!--", "-->", "`", "[[a|b]]", "- x", "> q"])
    | st.text(max_size=8),
    max_size=25,
).map("\n".join)


@given(MARKDOWN)
def test_any_markdown_keeps_the_invariants(text: str):
    try:
        found = document(text)
    except SourceError:
        return
    assert found.sections[0].span.start == 0
    assert "".join(found.text[s.span.start : s.span.end] for s in found.sections) == found.text
    assert all(section.heading_path for section in found.sections[1:])


@pytest.mark.parametrize("value", ["!!int ''", "!!timestamp x", "!!bool x", "1" + ":1" * 200 + ".0"])
def test_values_are_taken_as_they_are_written(value: str):
    found = document(f"---\ntitle: {value}\n---\nwords\n")
    assert found.problems == ()
    assert found.text == "words\n"


@pytest.mark.parametrize(
    ("matter", "number", "date"),
    [
        ("section: 5\ndate: 2024-05-01 10:30:00 +0900", "5", "2024-05-01"),
        ("section: 5.10\nupdated: May 2024", "5.10", "2024-05"),
        ("appendix: A\npublished: 2019", "A", "2019"),
        ("section: news\ndate: 2024-13-45", "", "2024"),
        ("section:\ndate: ~", "", ""),
        ("section: [1, 2]\ndate: soon", "", ""),
    ],
)
def test_front_matter_gives_the_number_of_the_first_heading_and_the_date(matter: str, number: str, date: str):
    found = document(f"---\n{matter}\n---\n# Heading {{#anchor .class}}\n\nwords\n")
    assert (found.number, found.date) == (number, date)
    assert found.sections[0].heading_path == ("Heading",)
