from __future__ import annotations

import pytest

from rag.errors import SourceError
from rag.sources.markup import DEEPEST, Node, parse_html, parse_xml


def depth(node: Node) -> int:
    level, most = [node], 0
    while level:
        most += 1
        level = [child for parent in level for child in parent.elements()]
    return most


def test_names_get_one_prefix_whatever_the_file_calls_its_namespace():
    strict, transitional = (f'<q:p xmlns:q="http://{name}" q:val="1">x<q:t/>y</q:p>' for name in (
        "purl.oclc.org/ooxml/wordprocessingml/main",
        "schemas.openxmlformats.org/wordprocessingml/2006/main",
    ))  # fmt: skip
    for text in (strict, transitional):
        root, problem = parse_xml(text.encode(), "part")
        assert (root.name, root.attributes, root.text(), problem) == ("w:p", {"w:val": "1"}, "xy", "")
        assert [node.name for node in root.all("w:t", "w:p")] == ["w:p", "w:t"]
        assert root.first("w:t") is not None
        assert root.first("w:t", "w:x") is None


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_declared_entities_are_refused_in_any_encoding(encoding: str):
    text = (
        f'<?xml version="1.0" encoding="{encoding}"?><!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x>&e;</x>'
    )
    with pytest.raises(SourceError, match="part declares XML entities"):
        parse_xml(text.encode(encoding), "part")


def test_what_nests_without_end_becomes_a_tree_of_bounded_depth():
    root, problem = parse_xml(b"<r><b>" + b"<a>" * 50_000 + b"needle" + b"</a>" * 50_000 + b"</b></r>", "part")
    assert "needle" in root.text()
    assert depth(root) <= DEEPEST + 5
    assert problem == f"part nests elements more than {DEEPEST} deep; text may be missing"
    page = parse_html("<div>" * 50_000 + "needle")
    assert "needle" in page.text()
    assert depth(page) <= DEEPEST + 5


def test_faults_are_read_around_and_reported():
    root, problem = parse_xml(b"<r><a>one</b><a>two", "part")
    assert root.text() == "onetwo"
    assert problem == "part is damaged XML; text may be missing"
    with pytest.raises(SourceError, match="part is not XML"):
        parse_xml(b"\0\1\2", "part")
