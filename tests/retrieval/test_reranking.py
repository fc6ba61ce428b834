from pathlib import Path

import pytest
from fakes import tiny_m3
from material import make_hit

from rag.index.chunking.chunks import embedded_text_of
from rag.models.reranker import Reranker
from rag.retrieval.reranking import rerank
from rag.settings import load_settings
from rag.types import Chunk

HITS = [
    make_hit("the tide of the moon", 1, 0.9),
    make_hit("pump 12 runs at 16 bar", 2, 0.8, heading_path=("water", "pressure")),
    make_hit("a note about bread " * 60, 3, 0.7),
]


@pytest.fixture(scope="module")
def reranker(tmp_path_factory: pytest.TempPathFactory) -> Reranker:
    """bge-reranker-v2-m3 in small."""
    folder: Path = tiny_m3.save_reranker(tmp_path_factory.mktemp("reranker") / "model")
    return Reranker(load_settings(device="cpu"), str(folder))


def test_passages_are_sorted_by_the_cross_encoder_s_score(reranker: Reranker) -> None:
    stage = rerank("which pump runs", HITS, reranker)
    assert (stage.name, stage.score_name) == ("rerank", "reranker")
    expected = reranker.scores("which pump runs", [embedded_text_of(hit.chunk) for hit in HITS])
    assert {hit.chunk.id: hit.score for hit in stage.hits} == {
        hit.chunk.id: score for hit, score in zip(HITS, expected, strict=True)
    }
    assert [hit.score for hit in stage.hits] == sorted(expected, reverse=True)
    assert [hit.rank for hit in stage.hits] == [1, 2, 3]
    assert "read 3 passages with the question on cpu. 1 of them were too long" in stage.note


def test_what_was_noted_of_a_hit_stays(reranker: Reranker) -> None:
    copy = HITS[1].chunk
    hit = make_hit("the tide")
    noted = type(hit)(hit.chunk, hit.score, 4, (copy,), "“see Table C.4” in [2]")
    (sorted_hit,) = rerank("the moon", [noted], reranker).hits
    assert (sorted_hit.copies, sorted_hit.note, sorted_hit.rank) == ((copy,), noted.note, 1)


def test_nothing_found(reranker: Reranker) -> None:
    assert rerank("the tide", [], reranker).hits == ()


def test_what_is_read_of_a_passage_has_its_headings() -> None:
    chunk: Chunk = HITS[1].chunk
    assert embedded_text_of(chunk).endswith("pump 12 runs at 16 bar")
    assert "water" in embedded_text_of(chunk)
    assert chunk.title in embedded_text_of(chunk)
