import math
from pathlib import Path

import pytest

from rag.errors import LibraryError
from rag.index.vectors import VectorStore


def _unit(*values: float) -> list[float]:
    norm = math.hypot(*values)
    return [value / norm for value in values]


def test_search_returns_cosines_not_distances(tmp_path: Path) -> None:
    store = VectorStore(tmp_path, "", "footnote-test")
    store.add(["a", "b", "c"], [_unit(1, 0, 0), _unit(1, 1, 0), _unit(-1, 0, 0)], ["A", "B", "C"], 1)
    found = store.search(_unit(1, 0, 0), 3)
    assert [id_ for id_, _ in found] == ["a", "b", "c"]
    assert [round(cosine, 4) for _, cosine in found] == [1.0, round(math.sqrt(0.5), 4), -1.0]
    store.close()


def test_delete_and_clear_and_reopen(tmp_path: Path) -> None:
    store = VectorStore(tmp_path, "", "footnote-test")
    store.add(["a", "b"], [_unit(1, 0), _unit(0, 1)], ["A", "B"], 1)
    store.delete(["a", "never there"])
    store.close()
    again = VectorStore(tmp_path, "", "footnote-test")
    assert again.ids() == {"b"}
    again.clear()
    assert again.ids() == set()
    again.add(["x"], [_unit(1, 2, 3)], ["X"], 1)
    assert [id_ for id_, _ in again.search(_unit(1, 2, 3), 5)] == ["x"]
    again.close()


def test_batches_beyond_chromas_limit_are_stored_whole(tmp_path: Path) -> None:
    store = VectorStore(tmp_path, "", "footnote-test")
    store._batch = 7
    ids = [str(n) for n in range(20)]
    store.add(ids, [_unit(n + 1, 1) for n in range(20)], ids, 1)
    assert store.ids() == set(ids)
    store.delete(ids[:15])
    assert store.ids() == set(ids[15:])
    store.close()


def test_a_vector_of_another_dimension_is_an_error_in_our_words(tmp_path: Path) -> None:
    store = VectorStore(tmp_path, "", "footnote-test")
    store.add(["a"], [_unit(1, 0)], ["A"], 1)
    with pytest.raises(LibraryError, match="Could not write"):
        store.add(["b"], [_unit(1, 0, 0)], ["B"], 1)
    store.close()


def test_a_server_that_does_not_answer_is_named(tmp_path: Path) -> None:
    with pytest.raises(LibraryError, match=r"http://127\.0\.0\.1:9"):
        VectorStore(tmp_path, "http://127.0.0.1:9", "footnote-test")
