import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.errors import ModelFailed
from rag.models.base import batches, estimate_tokens, is_small, known_prefixes, unit_rows


@pytest.mark.parametrize(
    ("size", "small"),
    [
        ("1.5B", True),
        ("494.03M", True),
        ("qwen3:1.7b", True),
        ("Qwen2.5 Coder 1.5B Instruct GGUF", True),
        ("qwen2.5-coder-1.5b-instruct-q4_k_m", True),
        ("3.2B", False),
        ("qwen3:8b", False),
        ("Qwen3-30B-A3B", False),
        ("mixtral:8x7b", False),
        ("", False),
        ("mystery-model", False),
    ],
)
def test_small(size, small):
    assert is_small(size) is small


@pytest.mark.parametrize(
    ("model", "prefixes"),
    [
        ("intfloat/multilingual-e5-base", ("query: ", "passage: ")),
        ("nomic-embed-text:latest", ("search_query: ", "search_document: ")),
        ("BAAI/bge-m3", ("", "")),
        ("bge-m3:latest", ("", "")),
        ("BAAI/bge-base-en-v1.5", ("Represent this sentence for searching relevant passages: ", "")),
        ("sentence-transformers/all-MiniLM-L6-v2", ("", "")),
    ],
)
def test_known_prefixes(model, prefixes):
    assert known_prefixes(model) == prefixes


@given(st.lists(st.integers(1, 600)), st.integers(64, 2000))
def test_batches_keep_every_text_once_and_within_the_budget(tokens, budget):
    groups = batches(tokens, budget)
    assert sorted(index for group in groups for index in group) == list(range(len(tokens)))
    for group in groups:
        assert len(group) == 1 or len(group) * max(tokens[index] for index in group) <= budget
    lengths = [tokens[index] for group in groups for index in group]
    assert lengths == sorted(lengths, reverse=True)


def test_unit_rows():
    assert unit_rows([[3.0, 4.0], [0.0, -2.0]], "m") == [pytest.approx([0.6, 0.8]), [0.0, -1.0]]


@pytest.mark.parametrize("bad", [[0.0, 0.0], [np.nan, 1.0], [np.inf, 1.0]])
def test_a_vector_without_direction_is_an_error(bad):
    with pytest.raises(ModelFailed, match="some-model"):
        unit_rows([[1.0, 0.0], bad], "some-model")


def test_an_estimate_of_nothing():
    assert estimate_tokens("") == 0
    assert estimate_tokens("\ud800") >= 0
