from __future__ import annotations

import json

import pytest

from rag.errors import SourceError
from rag.sources.plain.data import read_json, read_json_lines
from rag.types import Mark


def test_what_is_laid_out_stays_as_it_is():
    text = '{\n  "a": 1.10,\n  "a": [true, null]\n}\n'
    found = read_json(text.encode(), "name")
    assert (found.text, found.marks, found.problems) == (text, (Mark(0, "line", 1),), ())


def test_escaped_letters_are_searchable_and_nothing_else_changes():
    found = read_json(rb'{"name": "\u65e5\u672c \ud83d\ude00 \u0022 \n \\u0041"}', "name")
    assert found.text == '{"name": "日本 😀 \\" \\n \\\\u0041"}'


def test_one_long_line_is_laid_out():
    value = {"list": [1, {"b": "x" * 1200}], "empty": {}, "none": [], "n": 1.5}
    found = read_json(json.dumps(value).encode(), "name")
    assert json.loads(found.text) == value
    assert found.text.startswith('{\n  "list": [\n    1,\n    {\n      "b": "xxx')
    assert found.marks == ()


@pytest.mark.parametrize("text", ['{"a": 1,}', "[" * 100_000, '{"open', "[NaN", "{1: 2}"])
def test_invalid_json_is_text_with_a_problem(text: str):
    found = read_json(text.encode(), "name")
    assert found.text == text
    assert found.problems[0].startswith("it is not valid JSON")


def test_lines_of_json():
    found = read_json_lines('{"a": "ü"}\n\nnot json\n[1]\n'.encode(), "name")
    assert found.problems == ("lines that are not valid JSON: 3",)
    assert found.marks == (Mark(0, "line", 1),)
    assert read_json(b'{"a": 1}\n{"a": 2}\n', "name").problems == ()


def test_blanks_only():
    with pytest.raises(SourceError, match="only blanks"):
        read_json(b" \n", "name")
