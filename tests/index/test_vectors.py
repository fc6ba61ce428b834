import math
from pathlib import Path

import numpy as np
import pytest

from rag.errors import LibraryError
from rag.index.vectors import VectorStore


def _unit(*values: float) -> list[float]:
    norm = math.hypot(*values)
    return [value / norm for value in values]


def test_search_returns_cosines_not_distances(tmp_path: Path) -> None:
    store = VectorStore(tmp_path, "", "footnote-test")
    store.add(["a", "b", "c"], [_unit(1, 0, 0), _unit(1, 1, 0), _unit(-1, 0, 0)], 1)
    found = store.search(_unit(1, 0, 0), 3)
    assert [id_ for id_, _ in found] == ["a", "b", "c"]
    assert [round(cosine, 4) for _, cosine in found] == [1.0, round(math.sqrt(0.5), 4), -1.0]
    store.close()


def test_delete_and_clear_and_reopen(tmp_path: Path) -> None:
    store = VectorStore(tmp_path, "", "footnote-test")
    store.add(["a", "b"], [_unit(1, 0), _unit(0, 1)], 1)
    store.delete(["a", "never there"])
    store.close()
    again = VectorStore(tmp_path, "", "footnote-test")
    assert again.ids() == {"b"}
    again.clear()
    assert again.ids() == set()
    again.add(["x"], [_unit(1, 2, 3)], 1)
    assert [id_ for id_, _ in again.search(_unit(1, 2, 3), 5)] == ["x"]
    again.close()


def test_batches_beyond_chromas_limit_are_stored_whole(tmp_path: Path) -> None:
    store = VectorStore(tmp_path, "", "footnote-test")
    store._batch = 7
    ids = [str(n) for n in range(20)]
    store.add(ids, [_unit(n + 1, 1) for n in range(20)], 1)
    assert store.ids() == set(ids)
    store.delete(ids[:15])
    assert store.ids() == set(ids[15:])
    store.close()


def test_a_vector_of_another_dimension_is_an_error_in_our_words(tmp_path: Path) -> None:
    store = VectorStore(tmp_path, "", "footnote-test")
    store.add(["a"], [_unit(1, 0)], 1)
    with pytest.raises(LibraryError, match="Could not write"):
        store.add(["b"], [_unit(1, 0, 0)], 1)
    store.close()


def test_a_server_that_does_not_answer_is_named(tmp_path: Path) -> None:
    with pytest.raises(LibraryError, match=r"http://127\.0\.0\.1:9"):
        VectorStore(tmp_path, "http://127.0.0.1:9", "footnote-test")


def test_stored_vectors_come_back_by_id_and_exact_search_agrees(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).normal(size=(2500, 16)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    store = VectorStore(tmp_path, "", "footnote-test")
    store.add([str(n) for n in range(2500)], rows.tolist(), 1)
    assert store.count() == 2500
    assert store.get(["7", "never there", "2400"]) == {"7": rows[7].tolist(), "2400": rows[2400].tolist()}
    assert store.get([]) == {}
    cosines = rows @ rows[1234]
    found = store.exact(rows[1234].tolist(), 5)
    assert [int(id_) for id_, _ in found] == np.argsort(-cosines)[:5].tolist()
    assert found[0][1] == pytest.approx(1.0, abs=1e-6)
    assert [id_ for id_, _ in found] == [id_ for id_, _ in store.search(rows[1234].tolist(), 5)]
    store.close()
