from pathlib import Path

import pytest
from material import make_document, make_file

from rag.index.catalog import Catalog, Indexed
from rag.index.chunking import Piece
from rag.retrieval.lexical import search_lexical, weigh_terms
from rag.types import FileState, Span


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    opened = Catalog(tmp_path / "catalog.sqlite")
    texts = [f"The weekly report number {n} of the plant." for n in range(20)]
    texts += ["The relief valve of the boiler opens at 16 bar.", "Der Kessel steht im Keller des Hauses."]
    for n, text in enumerate(texts):
        file = make_file(f"{n}.md")
        piece = Piece(Span(0, len(text)), (), None, None, 1)
        ids = opened.next_chunk_ids(file, 1)
        opened.put_file(file, make_document(text), [piece], ids, Indexed(FileState.INDEXED, "", "s", "r"))
    return opened


def test_a_question_in_the_notes_words_votes(catalog: Catalog) -> None:
    stage = search_lexical(catalog, weigh_terms([catalog], "At how many bar does the relief valve open?"), 10)
    assert stage.hits[0].chunk.path == "20.md"
    assert stage.weight == 1.0
    assert [hit.rank for hit in stage.hits] == list(range(1, len(stage.hits) + 1))


def test_a_question_in_another_language_has_no_vote(catalog: Catalog) -> None:
    stage = search_lexical(
        catalog, weigh_terms([catalog], "Bei welchem Druck öffnet das Sicherheitsventil des Heizgeräts?"), 10
    )
    assert stage.weight == 0.0
    assert "no vote" in stage.note


def test_no_word_in_common_finds_nothing(catalog: Catalog) -> None:
    stage = search_lexical(catalog, weigh_terms([catalog], "量子力学"), 10)
    assert (stage.hits, stage.weight) == ((), 0.0)


def test_rare_terms_weigh_more_than_common_ones(catalog: Catalog) -> None:
    weights = weigh_terms([catalog], "report valve zebra").weights
    assert weights["report"] < weights["valve"] < weights["zebra"]


def test_coverage_is_a_share_of_the_weight(catalog: Catalog) -> None:
    query = weigh_terms([catalog], "relief valve")
    stage = search_lexical(catalog, query, 1)
    assert query.coverage(stage.hits[0].chunk) == pytest.approx(1.0)
    assert weigh_terms([catalog], "").coverage(stage.hits[0].chunk) == 0.0
