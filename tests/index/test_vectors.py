import math
import shutil
from pathlib import Path

import numpy as np
import pytest

from rag.errors import LibraryCorrupt, LibraryError
from rag.index import vectors
from rag.index.vectors import VectorStore, erase_vectors


def _unit(*values: float) -> list[float]:
    norm = math.hypot(*values)
    return [value / norm for value in values]


def _rows(count: int, dimension: int = 16, seed: int = 0) -> np.ndarray:
    rows = np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def _store(folder: Path) -> VectorStore:
    return VectorStore(folder, "", "footnote-test")


def _filled(folder: Path, count: int, dimension: int = 16) -> VectorStore:
    store = _store(folder)
    store.add([str(n) for n in range(count)], _rows(count, dimension).tolist())
    store.settle()
    return store


def _found(store: VectorStore, row: int, dimension: int = 16) -> str:
    return store.search(_rows(row + 1, dimension)[row].tolist(), 1)[0][0]


def test_search_returns_cosines_not_distances(tmp_path: Path) -> None:
    store = _store(tmp_path)
    store.add(["a", "b", "c"], [_unit(1, 0, 0), _unit(1, 1, 0), _unit(-1, 0, 0)])
    found = store.search(_unit(1, 0, 0), 3)
    assert [id_ for id_, _ in found] == ["a", "b", "c"]
    assert [round(cosine, 4) for _, cosine in found] == [1.0, round(math.sqrt(0.5), 4), -1.0]
    store.close()


def test_delete_and_clear_and_reopen(tmp_path: Path) -> None:
    store = _store(tmp_path)
    store.add(["a", "b"], [_unit(1, 0), _unit(0, 1)])
    assert {id_ for id_, _ in store.search(_unit(1, 0), 5)} == {"a", "b"}
    store.delete(["a", "never there"])
    assert [id_ for id_, _ in store.search(_unit(1, 0), 5)] == ["b"]
    store.close()
    again = _store(tmp_path)
    assert again.ids() == {"b"}
    again.clear()
    assert again.ids() == set()
    again.add(["x"], [_unit(1, 2, 3)])
    assert [id_ for id_, _ in again.search(_unit(1, 2, 3), 5)] == ["x"]
    again.close()


def test_a_vector_that_is_stored_again_is_replaced(tmp_path: Path) -> None:
    store = _store(tmp_path)
    store.add(["a", "b"], [_unit(1, 0), _unit(0, 1)])
    store.settle()
    store.add(["a"], [_unit(-1, 0)])
    assert store.get(["a"]) == {"a": [-1.0, 0.0]}
    assert [(id_, round(cosine, 4)) for id_, cosine in store.search(_unit(-1, 0), 1)] == [("a", 1.0)]
    assert store.count() == 2
    store.close()


def test_many_vectors_reach_the_index_whole(tmp_path: Path) -> None:
    store = _store(tmp_path)
    for n in range(0, 900, 3):
        store.add([str(n), str(n + 1), str(n + 2)], _rows(900)[n : n + 3].tolist())
    store.delete([str(n) for n in range(600)])
    store.settle()
    assert store.ids() == {str(n) for n in range(600, 900)}
    assert store.index_trouble() == ""
    store.close()


def test_a_vector_of_another_dimension_is_an_error_in_our_words(tmp_path: Path) -> None:
    store = _store(tmp_path)
    store.add(["a"], [_unit(1, 0)])
    with pytest.raises(LibraryError, match="of 3 dimensions cannot be added"):
        store.add(["b"], [_unit(1, 0, 0)])
    assert store.ids() == {"a"}
    store.close()


def test_a_server_that_does_not_answer_is_named_and_nothing_is_lost(tmp_path: Path) -> None:
    store = VectorStore(tmp_path, "http://127.0.0.1:9", "footnote-test")
    store.add(["a"], [_unit(1, 0)])
    with pytest.raises(LibraryError, match=r"http://127\.0\.0\.1:9"):
        store.search(_unit(1, 0), 1)
    assert store.get(["a"]) == {"a": [1.0, 0.0]}
    store.close()


def test_stored_vectors_come_back_by_id_and_exact_search_agrees(tmp_path: Path) -> None:
    rows = _rows(1500)
    store = _filled(tmp_path, 1500)
    assert store.count() == 1500
    assert store.get(["7", "never there", "1400"]) == {"7": rows[7].tolist(), "1400": rows[1400].tolist()}
    assert store.get([]) == {}
    found = store.exact(rows[1234].tolist(), 5)
    assert [int(id_) for id_, _ in found] == np.argsort(-(rows @ rows[1234]))[:5].tolist()
    assert found[0][1] == pytest.approx(1.0, abs=1e-6)
    assert [id_ for id_, _ in found] == [id_ for id_, _ in store.search(rows[1234].tolist(), 5)]
    store.close()


def test_what_was_not_taken_up_before_the_end_is_taken_up_after(tmp_path: Path) -> None:
    store = _filled(tmp_path, 20)
    store.add(["new"], [_unit(*range(1, 17))])
    store.delete(["3"])
    store.close()
    again = _store(tmp_path)
    assert {id_ for id_, _ in again.search(_unit(*range(1, 17)), 50)} == again.ids()
    assert "new" in again.ids()
    again.close()


def test_an_index_that_was_interrupted_in_the_middle_of_writing_is_made_anew(tmp_path: Path) -> None:
    store = _filled(tmp_path, 50)
    store._mark_writing()
    store.close()
    for file in (tmp_path / "chroma").rglob("*.bin"):
        file.write_bytes(b"\xff" * 64)
    again = _store(tmp_path)
    assert again.index_trouble() == ""
    assert _found(again, 33) == "33"
    assert again.index_trouble() == ""
    again.close()


def _delete(folder: Path) -> None:
    shutil.rmtree(folder / "chroma")


def _overwrite(folder: Path) -> None:
    for file in (folder / "chroma").rglob("*"):
        if file.is_file():
            file.write_bytes(b"\xa5" * file.stat().st_size)


def _truncate(folder: Path) -> None:
    for file in (folder / "chroma").rglob("*.bin"):
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 3])


def _overwrite_database(folder: Path) -> None:
    (folder / "chroma" / "chroma.sqlite3").write_bytes(b"no database")


@pytest.mark.parametrize("damage", [_delete, _overwrite, _truncate])
def test_a_damaged_index_is_named_and_made_anew(tmp_path: Path, damage: object) -> None:
    _filled(tmp_path, 1200).close()
    damage(tmp_path)  # type: ignore[operator]
    store = _store(tmp_path)
    assert store.index_trouble()
    store.rebuild()
    assert store.index_trouble() == ""
    assert _found(store, 700) == "700"
    store.close()


@pytest.mark.parametrize("damage", [_delete, _overwrite, _overwrite_database])
def test_a_search_on_a_damaged_index_makes_it_anew_by_itself(tmp_path: Path, damage: object) -> None:
    _filled(tmp_path, 300).close()
    damage(tmp_path)  # type: ignore[operator]
    store = _store(tmp_path)
    assert _found(store, 123) == "123"
    assert store.index_trouble() == ""
    store.close()


def test_vectors_that_differ_from_what_was_stored_are_found(tmp_path: Path) -> None:
    store = _filled(tmp_path, 30)
    store._connection.execute("UPDATE vector SET vector = (SELECT vector FROM vector WHERE id = '1') WHERE id = '2'")
    assert "other vectors" in store.index_trouble()
    store.close()


def test_disk_space_comes_back_after_many_deletions(tmp_path: Path) -> None:
    store = _filled(tmp_path, 2000, 64)

    def size() -> int:
        return sum(file.stat().st_size for file in tmp_path.rglob("*") if file.is_file())

    full = size()
    store.delete([str(n) for n in range(1700)])
    store.settle()
    assert size() < full * 0.5
    assert store.ids() == {str(n) for n in range(1700, 2000)}
    assert store.index_trouble() == ""
    assert _found(store, 1800, 64) == "1800"
    store.close()


def test_vectors_that_cannot_be_read_say_so_and_can_be_erased(tmp_path: Path) -> None:
    _filled(tmp_path, 30).close()
    (tmp_path / "vectors.sqlite").write_bytes(b"no database" * 1000)
    with pytest.raises(LibraryCorrupt, match=r"vectors.sqlite.*--repair"):
        _store(tmp_path)
    erase_vectors(tmp_path)
    store = _store(tmp_path)
    assert store.ids() == set()
    assert store.search(_unit(1, 0), 5) == []
    store.close()


def test_an_empty_store_is_whole(tmp_path: Path) -> None:
    store = _filled(tmp_path, 0)
    assert store.search(_unit(1, 0), 3) == []
    assert store.recall(5) == 1.0
    store.close()
    again = _store(tmp_path)
    assert again.index_trouble() == ""
    again.close()


def test_recall_counts_what_the_search_misses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = _filled(tmp_path, 300)
    assert store.recall(20) > 0.95
    search = store.search
    monkeypatch.setattr(store, "search", lambda vector, limit: search(vector, limit)[: limit // 2])
    assert store.recall(20) == pytest.approx(0.5)
    store.close()
    few = _filled(tmp_path / "few", 3)
    assert few.recall(20) == 1.0
    few.close()


def test_few_deletions_leave_the_index_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "_DEAD_LEAST", 10)
    store = _filled(tmp_path, 100)
    before = {file.name for file in (tmp_path / "chroma").iterdir()}
    store.delete([str(n) for n in range(20)])
    store.settle()
    assert {file.name for file in (tmp_path / "chroma").iterdir()} == before
    store.delete([str(n) for n in range(20, 40)])
    store.settle()
    assert {file.name for file in (tmp_path / "chroma").iterdir()} != before
    assert store.count() == 60
    store.close()
