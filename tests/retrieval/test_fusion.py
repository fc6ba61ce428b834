import pytest
from material import make_hit

from rag.retrieval.fusion import fuse
from rag.types import Stage


def _leg(name: str, ids: str, weight: float = 1.0) -> Stage:
    return Stage(name, name, tuple(make_hit(c, rank, id=c) for rank, c in enumerate(ids, 1)), 0.0, weight)


def test_scores_are_sums_of_reciprocal_ranks_from_one() -> None:
    fused = fuse((_leg("dense", "ab"), _leg("lexical", "bc")))
    assert {hit.chunk.id: hit.score for hit in fused.hits} == pytest.approx(
        {"a": 1 / 61, "b": 1 / 62 + 1 / 61, "c": 1 / 62}
    )
    assert [hit.chunk.id for hit in fused.hits] == ["b", "a", "c"]
    assert [hit.rank for hit in fused.hits] == [1, 2, 3]


def test_a_leg_without_a_vote_changes_nothing() -> None:
    dense = _leg("dense", "abc")
    fused = fuse((dense, _leg("lexical", "cx", weight=0.0)))
    assert [hit.chunk.id for hit in fused.hits] == ["a", "b", "c"]


def test_nothing_found_is_no_error() -> None:
    assert fuse((_leg("dense", ""), _leg("lexical", ""))).hits == ()
