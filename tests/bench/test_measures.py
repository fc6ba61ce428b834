import numpy as np
import pytest
from sklearn.metrics import ndcg_score

from tests.bench.measures import CUTS, mean, quality

NAMES = [f"p{n}" for n in range(30)]


@pytest.mark.parametrize("seed", range(20))
def test_ndcg_is_what_another_library_computes(seed: int) -> None:
    random = np.random.default_rng(seed)
    ranked = list(random.permutation(NAMES))
    right = frozenset(random.choice(NAMES, size=random.integers(1, 5), replace=False).tolist())
    relevance = np.array([[float(name in right) for name in ranked]])
    scores = np.array([np.arange(len(ranked), 0, -1)])
    assert quality(ranked, right).ndcg == pytest.approx(ndcg_score(relevance, scores, k=10))


def test_recall_and_reciprocal_rank_by_hand() -> None:
    found = quality(["a", "b", "c", "d", "e", "f"], frozenset({"c", "f", "z"}))
    assert found.at == pytest.approx({1: 0.0, 5: 1 / 3, 10: 2 / 3})
    assert found.mrr == pytest.approx(1 / 3)
    assert quality(["a"], frozenset({"z"})).mrr == 0.0


def test_pieces_of_one_passage_count_once() -> None:
    assert quality(["a", "a", "b"], frozenset({"b"})).mrr == pytest.approx(1 / 2)


def test_means_are_over_questions() -> None:
    both = mean([quality(["a"], frozenset("a")), quality(["b"], frozenset("a"))])
    assert (both.ndcg, both.mrr, both.recall) == (0.5, 0.5, (0.5,) * len(CUTS))
