from __future__ import annotations

import io
import random

import msoffcrypto
import pytest
from office_files import docx, paragraph, sheet_rows, xlsx

from rag.errors import SourceError
from rag.sources.office.lock import unlocked
from rag.sources.readers import read_bytes
from rag.types import DEFAULT_READING, ReadOptions, Remedy

# msoffcrypto-tool writes files of under 4,096 bytes in a way that nothing can read.
LONG = random.Random(0).randbytes(5000).hex()


def locked(data: bytes, password: str) -> bytes:
    result = io.BytesIO()
    msoffcrypto.OfficeFile(io.BytesIO(data)).encrypt(password, result)
    return result.getvalue()


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("letter.docx", docx(paragraph("the words") + paragraph(LONG))),
        ("sheet.xlsx", xlsx({"S": sheet_rows({1: {"A": "the words", "B": LONG}})})),
    ],
)
def test_the_right_password_opens_it_and_nothing_else_does(name: str, plain: bytes):
    data = locked(plain, "right")
    assert "the words" in read_bytes(data, name, ReadOptions(passwords=("wrong", "right"))).text
    for options, hint in ((DEFAULT_READING, "Give its password."), (ReadOptions(passwords=("wrong",)), "None of the")):
        with pytest.raises(SourceError, match="wants a password") as caught:
            read_bytes(data, name, options)
        assert caught.value.remedy is Remedy.PASSWORD
        assert caught.value.hint.startswith(hint)


def test_what_is_not_locked_in_a_known_way_says_so():
    with pytest.raises(SourceError, match="cannot be undone here"):
        unlocked(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000), ("x",))
