import pytest
from material import make_hit

from rag.retrieval.fusion import fuse
from rag.types import Stage


def _leg(name: str, ids: str, weight: float = 1.0) -> Stage:
    return Stage(name, name, tuple(make_hit(c, rank, id=c) for rank, c in enumerate(ids, 1)), 0.0, weight)


def _order(*legs: Stage) -> str:
    return "".join(hit.chunk.id for hit in fuse(legs).hits)


def test_scores_are_sums_of_weighted_reciprocal_ranks_from_one() -> None:
    fused = fuse((_leg("dense", "ab"), _leg("lexical", "bc", weight=0.5)))
    assert {hit.chunk.id: hit.score for hit in fused.hits} == pytest.approx(
        {"a": 1 / 11, "b": 1 / 12 + 0.5 / 11, "c": 0.5 / 12}
    )
    assert [(hit.chunk.id, hit.rank) for hit in fused.hits] == [("b", 1), ("a", 2), ("c", 3)]
    assert fused.note == "1 × dense + 0.5 × lexical"


def test_a_leg_without_a_vote_changes_nothing() -> None:
    dense = _leg("dense", "abc")
    assert fuse((dense, _leg("lexical", "cx", weight=0.0))).hits == fuse((dense,)).hits
    assert _order(dense) == "abc"


def test_a_leg_that_trusts_itself_less_moves_less() -> None:
    dense = _leg("dense", "abcd")
    assert _order(dense, _leg("lexical", "dcba", weight=0.2)) == "abcd"
    assert _order(dense, _leg("lexical", "dxyz", weight=1.0))[0] == "d"


def test_what_was_asked_for_by_its_number_comes_first() -> None:
    others = "abcdefghij"
    fused = _order(_leg("dense", others), _leg("lexical", others), _leg("clause", "xy", weight=10.0))
    assert fused[:2] == "xy"


def test_ties_go_to_the_first_leg() -> None:
    assert _order(_leg("dense", "ab"), _leg("lexical", "ba")) == "ab"


def test_nothing_found_is_no_error() -> None:
    assert fuse((_leg("dense", ""), _leg("lexical", ""))).hits == ()
    assert fuse(()).hits == ()
