from __future__ import annotations

from rag.sources.plain.rst import read_rst
from rag.types import SourceDocument

SOURCE = """.. _top:

==========
 The Title
==========

.. comment
   more hidden

Intro with :ref:`the link <target>`, `site <http://x.org>`_, ``a b`` and |ver|.

.. |ver| replace:: version 3

First
=====

Example::

    code :ref:`kept` here

.. code-block:: python
   :linenos:

   def f(): pass

.. note:: Be careful.

.. figure:: a.png
   :alt: A picture

.. toctree::

   hidden/file

Sub
---

.. include:: other.rst

.. [1] A footnote.

----

End.
"""


def document(text: str) -> SourceDocument:
    return read_rst(text.encode(), "name")


def line_at(found: SourceDocument, needle: str) -> int:
    at = found.text.index(needle)
    mark = [mark for mark in found.marks if mark.start <= at][-1]
    return mark.number + found.text.count("\n", mark.start, at)


def test_headings_by_their_adornment():
    found = document(SOURCE)
    assert found.title == "The Title"
    assert [section.heading_path for section in found.sections] == [
        ("The Title",),
        ("The Title", "First"),
        ("The Title", "First", "Sub"),
    ]


def test_words_stay_and_markup_goes():
    text = document(SOURCE).text
    assert "Intro with the link, site, `a b` and version 3." in text
    assert "Example:\n\n    code :ref:`kept` here\n" in text
    assert "   def f(): pass" in text
    assert "Note: Be careful." in text
    assert "A picture" in text
    assert "[1] A footnote." in text
    for noise in ("hidden", "_top", "toctree", "linenos", "====", "replace"):
        assert noise not in text


def test_lines_are_those_of_the_file():
    found = document(SOURCE)
    for needle in ("The Title", "Intro with", "    code", "Note: Be", "Sub", "End."):
        words = needle.removeprefix("Note: ").strip()
        assert words in SOURCE.split("\n")[line_at(found, needle) - 1]


def test_included_files_are_named():
    assert document(SOURCE).notes == ("includes other.rst, which is read where it is a file of its own",)


def test_a_table_is_no_heading():
    found = document("=====  =====\nA      B\n=====  =====\n1      2\n=====  =====\n")
    assert [section.heading_path for section in found.sections] == [()]
    assert found.text.startswith("=====  =====\nA      B")
