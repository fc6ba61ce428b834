from __future__ import annotations

import pytest

from rag.sources.markup import parse_xml
from rag.sources.office.numbering import Numbering

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def numbering(levels: str, numbers: str = '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>') -> Numbering:
    root, _ = parse_xml(
        f'<w:numbering xmlns:w="{W}"><w:abstractNum w:abstractNumId="0">{levels}</w:abstractNum>{numbers}</w:numbering>'.encode(),
        "part",
    )
    return Numbering(root)


def level(depth: int, style: str, pattern: str, more: str = "") -> str:
    return f'<w:lvl w:ilvl="{depth}"><w:numFmt w:val="{style}"/><w:lvlText w:val="{pattern}"/>{more}</w:lvl>'


def test_deeper_levels_start_again_under_each_number():
    counted = numbering(level(0, "decimal", "%1.") + level(1, "decimal", "%1.%2"))
    assert [counted.next("1", depth) for depth in (0, 1, 1, 0, 1)] == ["1.", "1.1", "1.2", "2.", "2.1"]


def test_a_level_that_is_skipped_counts_as_its_first():
    counted = numbering(level(0, "decimal", "%1") + level(1, "decimal", "%1.%2") + level(2, "decimal", "%1.%2.%3"))
    assert [counted.next("1", depth) for depth in (0, 2, 1)] == ["1", "1.1.1", "1.2"]


@pytest.mark.parametrize(
    ("style", "written"),
    [
        ("lowerRoman", ["i", "ii", "iii", "iv"]),
        ("upperLetter", ["A", "B", "C", "D"]),
        ("decimalZero", ["01", "02", "03", "04"]),
        ("japaneseCounting", ["一", "二", "三", "四"]),
        ("bullet", ["-", "-", "-", "-"]),
        ("none", ["", "", "", ""]),
        ("somethingNew", ["1", "2", "3", "4"]),
    ],
)
def test_ways_to_write_a_number(style: str, written: list[str]):
    counted = numbering(level(0, style, "%1"))
    assert [counted.next("1", 0) for _ in range(4)] == written


def test_legal_numbers_are_digits_and_restarts_are_kept():
    restart = (
        '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="0"/>'
        '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/></w:lvlOverride></w:num>'
    )
    counted = numbering(level(0, "upperRoman", "%1") + level(1, "decimal", "%1.%2", "<w:isLgl/>"), restart)
    assert [counted.next("1", 0), counted.next("1", 1), counted.next("2", 0), counted.next("2", 0)] == [
        "I",
        "1.1",
        "VII",
        "VIII",
    ]
    assert counted.next("9", 0) == ""
