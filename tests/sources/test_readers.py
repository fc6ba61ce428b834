from __future__ import annotations

import hashlib
from collections.abc import Callable

import pytest

from rag.errors import SourceError
from rag.sources.readers import READERS, read
from rag.types import SourceFile

MakeFile = Callable[[str, bytes], SourceFile]


def test_the_reader_is_picked_by_ending_in_any_case(make_file: MakeFile):
    assert read(make_file("A.MD", b"# Title\n")).title == "Title"
    assert read(make_file("A.Txt", b"# no title")).title == "A"
    assert set(READERS) >= {".txt", ".md", ".pdf"}


def test_the_hash_is_that_of_the_bytes_read(make_file: MakeFile):
    data = b"\xef\xbb\xbfwords\r\n"
    document = read(make_file("a.txt", data))
    assert document.sha256 == hashlib.sha256(data).hexdigest()
    assert document.text == "words\n"


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.pdf"])
def test_an_empty_file_says_so(make_file: MakeFile, name: str):
    with pytest.raises(SourceError, match=r"^The file is empty\.$"):
        read(make_file(name, b""))


def test_a_missing_file_and_one_without_reader(make_file: MakeFile):
    file = make_file("a.txt", b"x")
    file.absolute.unlink()
    with pytest.raises(SourceError, match="cannot be opened: No such file"):
        read(file)
    with pytest.raises(SourceError, match=r"no reader for \.xyz"):
        read(make_file("a.xyz", b"x"))
