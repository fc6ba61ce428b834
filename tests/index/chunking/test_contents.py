import pytest

from rag.index.chunking.contents import contents_of
from rag.sources.plain.markdown import read_markdown
from rag.sources.plain.text import read_text


def _markdown(text: str) -> list[str]:
    document = read_markdown(text.encode(), "Note")
    return [document.text[span.start : span.end] for listed in contents_of(document) for span in listed]


def _plain(text: str) -> list[str]:
    document = read_text(text.encode(), "Note")
    return [document.text[span.start : span.end] for listed in contents_of(document) for span in listed]


@pytest.mark.parametrize("title", ["Table of Contents", "Contents", "Inhalt", "Inhaltsverzeichnis", "目次", "目录"])
def test_links_below_a_title(title: str) -> None:
    links = f"## {title}\n\n- [One](#one)\n  - [Two](#two)\n- [Three](three.md)"
    assert _markdown(f"# Note\n\nWords.\n\n{links}\n\n## One\n\nWords.\n") == [links]


def test_numbered_lines_below_a_title_as_rfcs_have_them() -> None:
    listed = (
        "Table of Contents\n\n   1.  Introduction\n     1.1.  Purpose\n   2.  A title that is so long that it goes on in"
        "\n           the next line\n   3.  References\n   Acknowledgments"
    )
    text = (
        f"An abstract.\n\n{listed}\n\n1.  Introduction\n\n   Words.\n\nAcknowledgments\n---------------\n\n   Thanks.\n"
    )
    assert _plain(text) == [listed]


def test_page_numbers_behind_dots_need_no_title() -> None:
    listed = "\n".join(f"   {n}. Chapter {n} ........... {n + 3}" for n in range(1, 7))
    assert _plain(f"Front page.\n\n{listed}\n\nWords that follow.\n") == [listed.lstrip("\n")]
    assert _plain("Coffee .......... 3\nTea ......... 2\n\nThat is all.\n") == []


def test_what_is_no_table_of_contents() -> None:
    assert _markdown("# See also\n\n- [One](https://one.example/)\n- [Two](two.md)\n") == []
    assert _markdown("# Contents\n\nThe box contains a pump. It has a valve.\n") == []
    assert _markdown("# Steps\n\n1. Open the valve.\n2. Wait.\n3. Close it.\n4. Wait again.\n5. Go.\n") == []


@pytest.mark.parametrize("filled", [" ", ".", ". ", "1", "1.", "…", "\u3000"])
def test_a_line_of_one_character_costs_no_time(filled: str) -> None:
    line = f"a{filled * 70}x\n{filled * 70}x"
    assert _plain(f"Contents\n\n{line}\n\nWords.\n") == []
