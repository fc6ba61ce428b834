from __future__ import annotations

import pytest

from rag.sources.likelihood import likelihood


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("München", "M\x9fnchen"),
        ("München", "Mﾃ最chen"),
        ("Größe", "GrЪ§e"),
        ("пример", "ОПХЛЕП"),
        ("会議", "âïc"),
        ("Straße", "Stra§e"),
    ],
)
def test_what_people_write_is_likelier(right: str, wrong: str):
    assert likelihood(right) > likelihood(wrong)
