import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from rag.errors import LibraryError
from rag.index import postings
from rag.index.postings import packed
from rag.index.vectors import VectorStore

Weights = dict[int, float]


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postings, "_BLOCK", 8)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[VectorStore]:
    opened = VectorStore(tmp_path, "", "footnote-test")
    yield opened
    opened.close()


def _texts(count: int, seed: int = 0) -> dict[str, Weights]:
    """Texts of a few tokens out of 30, the first of which are in nearly every text."""
    chance = random.Random(seed)
    tokens = [min(chance.randrange(1, 31), chance.randrange(1, 31)) for _ in range(count * 6)]
    return {
        f"{seed}.{n}": {token: np.float32(chance.random()).item() for token in tokens[n * 6 : n * 6 + 6]}
        for n in range(count)
    }


def _add(store: VectorStore, texts: dict[str, Weights]) -> None:
    store.add(list(texts), [[1.0, 0.0]] * len(texts), packed(list(texts.values())))


def _expected(texts: dict[str, Weights], query: Weights) -> dict[str, float]:
    """The published score, text by text."""
    scores = {
        id_: sum(weight * weights.get(token, 0.0) for token, weight in query.items()) for id_, weights in texts.items()
    }
    return {id_: score for id_, score in scores.items() if score}


def _assert_found(store: VectorStore, texts: dict[str, Weights]) -> None:
    """Searches find what comparing with every text finds, and what is kept agrees."""
    for seed in range(5):
        chance = random.Random(seed)
        query = {chance.randrange(1, 33): chance.random() for _ in range(4)}
        found = store.search_weights(query, 1000)
        assert dict(found) == pytest.approx(_expected(texts, query), abs=1e-6)
        assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)
    assert store.postings_trouble() == ""


@pytest.mark.parametrize("at_once", [1, 3, 50])
def test_scores_are_the_sum_of_the_products_however_many_come_at_once(store: VectorStore, at_once: int) -> None:
    texts = _texts(50)
    names = list(texts)
    for at in range(0, len(names), at_once):
        _add(store, {name: texts[name] for name in names[at : at + at_once]})
    _assert_found(store, texts)
    assert store._count("posting") > 0


def test_only_the_best_are_handed_out(store: VectorStore) -> None:
    texts = _texts(50)
    _add(store, texts)
    query = {1: 0.5, 2: 1.0}
    best = sorted(_expected(texts, query).items(), key=lambda item: -item[1])[:7]
    found = store.search_weights(query, 7)
    assert [id_ for id_, _ in found] == [id_ for id_, _ in best]


def test_what_goes_leaves_no_posting(store: VectorStore) -> None:
    texts = _texts(60)
    _add(store, texts)
    order = list(texts)
    random.Random(1).shuffle(order)
    for at in range(0, 60, 7):
        going = order[at : at + 7]
        store.delete([*going, "never there"])
        for name in going:
            del texts[name]
        _assert_found(store, texts)
    assert store._count("posting") == 0
    assert store.search_weights({1: 1.0}, 10) == []


def test_chunks_that_come_after_deletions_are_found(store: VectorStore) -> None:
    texts: dict[str, Weights] = {}
    chance = random.Random(7)
    for seed in range(12):
        fresh = _texts(chance.randrange(1, 20), seed)
        _add(store, fresh)
        texts |= fresh
        going = chance.sample(sorted(texts), len(texts) // 2)
        store.delete(going)
        texts = {name: weights for name, weights in texts.items() if name not in going}
        _assert_found(store, texts)
    assert store.weights([*texts, "gone"]) == dict(zip(texts, packed(list(texts.values())) or [], strict=True))


def test_weights_that_are_stored_again_are_replaced(store: VectorStore) -> None:
    texts = _texts(20)
    _add(store, texts)
    changed = {name: {29: 0.5} for name in list(texts)[:5]}
    _add(store, changed)
    _assert_found(store, texts | changed)


def test_a_chunk_without_any_weight_is_stored_and_never_found(store: VectorStore) -> None:
    texts = {"empty": {}} | _texts(3)
    _add(store, texts)
    assert store.has_weights
    assert store.count() == 4
    _assert_found(store, texts)
    _add(store, {f"none {n}": {} for n in range(20)})  # whole blocks without a posting
    _add(store, later := _texts(20, seed=3))
    _assert_found(store, texts | later)


def test_no_query(store: VectorStore) -> None:
    _add(store, _texts(20))
    assert store.search_weights({}, 10) == []


def test_clearing_leaves_no_posting(store: VectorStore) -> None:
    _add(store, _texts(20))
    store.clear()
    assert store._count("posting") == 0
    assert not store.has_weights
    store.add(["plain"], [[0.0, 1.0]])
    assert not store.has_weights


def test_vectors_without_weights_stay_without(store: VectorStore) -> None:
    store.add(["old"], [[1.0, 0.0]])
    _add(store, _texts(3))
    assert store.count() == 4
    assert set(store.weights(["old", "0.0"]).values()) == {None}
    assert store.search_weights({1: 1.0, 2: 1.0}, 10) == []
    assert store.postings_trouble() == ""


def test_an_embedder_that_has_lost_its_head_adds_nothing(store: VectorStore) -> None:
    _add(store, texts := _texts(3))
    with pytest.raises(LibraryError, match="the embedder gives none"):
        store.add(["new"], [[1.0, 0.0]])
    assert store.ids() == set(texts)


def test_nothing_is_left_of_an_addition_that_fails(store: VectorStore, monkeypatch: pytest.MonkeyPatch) -> None:
    _add(store, texts := _texts(30))
    monkeypatch.setattr(store, "_note_pending", lambda ids: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        _add(store, _texts(30, seed=1))
    with pytest.raises(ZeroDivisionError):
        store.delete(list(texts))
    _assert_found(store, texts)


def test_weights_are_there_when_the_store_is_opened_again(tmp_path: Path) -> None:
    first = VectorStore(tmp_path, "", "footnote-test")
    _add(first, texts := _texts(30))
    first.close()
    again = VectorStore(tmp_path, "", "footnote-test")
    _assert_found(again, texts)
    again.close()


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM posting WHERE block = 1 AND token = (SELECT min(token) FROM posting WHERE block = 1)",
        "UPDATE posting SET entries = (SELECT entries FROM posting WHERE token = 2 AND block = 1) WHERE token = 1",
        "INSERT INTO posting VALUES (0, 999, x'000000000000')",
        "UPDATE vector SET weights = x'' WHERE number = 9",
    ],
)
def test_postings_that_are_not_those_of_the_weights_are_found_and_made_anew(store: VectorStore, damage: str) -> None:
    _add(store, _texts(30))
    store._connection.execute(damage)
    store.delete(["0.10"])
    assert "blocks of chunks" in store.postings_trouble()
    store.rebuild_postings()
    assert store.postings_trouble() == ""
