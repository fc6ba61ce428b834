from pathlib import Path

import pytest
from fakes import tiny_m3
from fakes.hash_embedder import HashEmbedder
from material import make_hit

from rag.index.chunking.chunks import embedded_text_of
from rag.models.bge_m3 import multi_vector_score
from rag.models.sentence_transformer import SentenceTransformerEmbedder
from rag.retrieval.multivector import is_affordable, rescore
from rag.settings import load_settings

HITS = [
    make_hit("the tide of the moon", 1, 0.9),
    make_hit("pump 12 runs at 16 bar", 2, 0.8, title="Pumps", heading_path=("water", "pressure")),
    make_hit("a note about bread " * 5, 3, 0.7),
]


@pytest.fixture(scope="module")
def m3(tmp_path_factory: pytest.TempPathFactory) -> SentenceTransformerEmbedder:
    """BGE-M3 in small."""
    folder: Path = tiny_m3.save_embedder(tmp_path_factory.mktemp("m3") / "model")
    return SentenceTransformerEmbedder(load_settings(device="cpu"), str(folder))


def test_passages_are_sorted_by_their_token_vectors(m3: SentenceTransformerEmbedder) -> None:
    query = "which pump runs at 16 bar"
    stage = rescore(query, HITS, m3)
    assert stage is not None
    assert (stage.name, stage.score_name) == ("multivector", "m3 multi-vector")
    for hit in stage.hits:
        vectors = m3.token_vectors([query, embedded_text_of(hit.chunk)])
        assert vectors is not None
        assert hit.score == pytest.approx(multi_vector_score(*vectors), abs=1e-5)
    assert [hit.score for hit in stage.hits] == sorted((hit.score for hit in stage.hits), reverse=True)
    assert [hit.rank for hit in stage.hits] == [1, 2, 3]
    assert {hit.chunk.id for hit in stage.hits} == {hit.chunk.id for hit in HITS}


def test_a_passage_that_is_the_question_comes_first(m3: SentenceTransformerEmbedder) -> None:
    stage = rescore(embedded_text_of(HITS[2].chunk), HITS, m3)
    assert stage is not None
    assert stage.hits[0].chunk == HITS[2].chunk
    assert stage.hits[0].score == pytest.approx(1.0, abs=1e-5)


def test_nothing_found(m3: SentenceTransformerEmbedder) -> None:
    stage = rescore("the tide", [], m3)
    assert stage is not None
    assert stage.hits == ()


def test_an_embedder_without_the_head_rescores_nothing() -> None:
    assert rescore("the tide", HITS, HashEmbedder()) is None


@pytest.mark.parametrize(("device", "affordable"), [("cpu", False), ("cuda:0", True), ("mps", True), ("ollama", False)])
def test_it_is_affordable_on_a_gpu(device: str, affordable: bool) -> None:
    embedder = HashEmbedder()
    embedder.device = device
    assert is_affordable(embedder) is affordable
