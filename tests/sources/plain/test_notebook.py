from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from rag.errors import SourceError
from rag.sources.plain.notebook import read_notebook
from rag.types import Mark, SourceDocument


def notebook(*cells: dict[str, object], **more: object) -> SourceDocument:
    return read_notebook(json.dumps({"nbformat": 4, "cells": cells, **more}).encode(), "name")


def test_a_real_notebook(shared_data: Path, check_document: Callable[[SourceDocument], None]):
    found = read_notebook((shared_data / "formats/markitdown/test_notebook.ipynb").read_bytes(), "x")
    check_document(found)
    assert found.title == "Test Notebook"
    assert found.text.startswith('# Test Notebook\n\n```python\nprint("markitdown")\n```\n\n```\nmarkitdown\n```')
    assert [section.heading_path for section in found.sections] == [
        ("Test Notebook",),
        ("Test Notebook", "Code Cell Below"),
    ]


def test_cells_outputs_and_pictures():
    found = notebook(
        {"cell_type": "markdown", "source": ["# One <!-- hidden -->\n", "text"]},
        {"cell_type": "markdown", "source": " "},
        {
            "cell_type": "code",
            "source": "print('```')",
            "outputs": [
                {"output_type": "stream", "name": "stdout", "text": ["a\n", "b\n"]},
                {"output_type": "display_data", "data": {"image/png": "AAAA", "text/plain": "<Figure>"}},
                {"output_type": "error", "traceback": ["\u001b[31mTypeError\u001b[0m", "no"]},
            ],
        },
        metadata={"language_info": {"name": "python"}},
    )
    assert found.text == ("# One \ntext\n\n````python\nprint('```')\n````\n\n```\na\nb\n```\n\n```\nTypeError\nno\n```")
    assert found.marks == (Mark(0, "cell", 1), Mark(13, "cell", 3))
    assert found.notes == ("images left out: 1",)


def test_format_three():
    old = {
        "worksheets": [
            {
                "cells": [
                    {"cell_type": "heading", "level": 2, "source": "Old"},
                    {
                        "cell_type": "code",
                        "input": "1",
                        "language": "python",
                        "outputs": [{"output_type": "pyout", "text": "1"}],
                    },
                ]
            }
        ]
    }
    found = read_notebook(json.dumps(old).encode(), "name")
    assert found.text == "## Old\n\n```\n1\n```\n\n```\n1\n```"
    assert found.title == "Old"


@pytest.mark.parametrize("data", [b"{", b"[]", b"{}", b'{"cells": []}', b'{"cells": [1]}'])
def test_what_is_no_notebook_is_an_error(data: bytes):
    with pytest.raises(SourceError):
        read_notebook(data, "name")


@pytest.mark.parametrize(("level", "text"), [(2, "## A"), ("3", "### A"), ("", "# A"), ("12", "# A"), (None, "# A")])
def test_levels_of_headings_of_format_3(level: object, text: str):
    assert notebook({"cell_type": "heading", "level": level, "source": "A"}).text == text
