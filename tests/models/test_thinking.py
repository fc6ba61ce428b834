from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.models.thinking import without_thinking


def _in_pieces(text: str, size: int) -> Iterator[str]:
    return (text[at : at + size] for at in range(0, len(text), size))


@pytest.mark.parametrize("size", [1, 2, 3, 5, 100])
@pytest.mark.parametrize(
    ("streamed", "shown"),
    [
        ("<think>hm, hm</think>The answer.", "The answer."),
        ("Before <think>x</think>after", "Before after"),
        ("<think>never closed, for ever", ""),
        ("stray</think>The answer.", "strayThe answer."),
        ("1 < 2 and a <b> tag", "1 < 2 and a <b> tag"),
        ("ends with <thi", "ends with <thi"),
        ("<think>a</think><think>b</think>c", "c"),
        ("", ""),
    ],
)
def test_thinking_is_dropped(streamed: str, shown: str, size: int) -> None:
    assert "".join(without_thinking(_in_pieces(streamed, size))) == shown


@given(st.text(alphabet="ab </>think", max_size=60), st.integers(min_value=1, max_value=7))
def test_text_without_tags_is_never_changed(text: str, size: int) -> None:
    if "<think>" not in text and "</think>" not in text:
        assert "".join(without_thinking(_in_pieces(text, size))) == text
