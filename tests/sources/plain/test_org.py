from __future__ import annotations

import pytest

from rag.errors import SourceError
from rag.sources.plain.org import read_org
from rag.types import Mark

SOURCE = """#+TITLE: My Notes
#+OPTIONS: toc:nil
# a comment
* TODO [#A] Heading one :tag:work:
:PROPERTIES:
:ID: 123
:END:
Text with [[https://x.org][a link]] and [[file:a.org]].
** Sub
#+BEGIN_SRC python
# kept
x = "[[not a link]]"
#+END_SRC
#+CAPTION: The values
| a | b |
* COMMENT Hidden
secret
* Last
end
"""


def test_headings_and_title():
    found = read_org(SOURCE.encode(), "name")
    assert found.title == "My Notes"
    assert [section.heading_path for section in found.sections] == [
        ("Heading one",),
        ("Heading one", "Sub"),
        ("Last",),
    ]


def test_words_stay_and_markup_goes():
    text = read_org(SOURCE.encode(), "name").text
    assert "Text with a link and file:a.org." in text
    assert '```python\n# kept\nx = "[[not a link]]"\n```' in text
    assert "The values\n| a | b |" in text
    for noise in ("PROPERTIES", "123", "secret", "comment", "toc:nil", "TODO", ":tag:"):
        assert noise not in text


def test_lines_are_those_of_the_file():
    found = read_org(SOURCE.encode(), "name")
    assert found.marks[0] == Mark(0, "line", 4)
    assert Mark(found.text.index("Last"), "line", 18) in found.marks


def test_a_drawer_that_is_never_closed_is_text():
    assert "kept" in read_org(b":LOGBOOK:\nkept\n* Next\n", "name").text


def test_comments_alone_are_an_error():
    with pytest.raises(SourceError, match="only markup"):
        read_org(b"# nothing\n", "name")
