import pytest
from material import make_document, make_file

from rag.index.catalog import Indexed
from rag.index.chunking.chunks import Piece
from rag.index.library import Library
from rag.index.selection import select
from rag.retrieval import lexical
from rag.retrieval.lexical import search_lexical, weigh_terms
from rag.types import FileState, Filters, Span, Stage


@pytest.fixture
def notes(library: Library) -> Library:
    texts = [f"The weekly report number {n} of the plant." for n in range(20)]
    texts += ["The relief valve of the boiler opens at 16 bar.", "Der Kessel steht im Keller des Hauses."]
    for n, text in enumerate(texts):
        file = make_file(f"{n}.md")
        piece = Piece(Span(0, len(text)), (), None, None, 1)
        ids = library.catalog.next_chunk_ids(file, 1)
        library.catalog.put_file(file, make_document(text), [piece], ids, Indexed(FileState.INDEXED, "", "s", "r"))
    return library


def _search(notes: Library, query: str, limit: int = 10, **filters: object) -> Stage:
    return search_lexical(notes, weigh_terms([notes.catalog], query), limit, select(notes.catalog, Filters(**filters)))


def test_a_question_in_the_notes_words_votes(notes: Library) -> None:
    stage = _search(notes, "At how many bar does the relief valve open?")
    assert stage.hits[0].chunk.path == "20.md"
    assert 1 <= stage.weight <= 2
    assert [hit.rank for hit in stage.hits] == list(range(1, len(stage.hits) + 1))
    scores = [hit.score for hit in stage.hits]
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] > 0


def test_other_forms_of_words_are_found(notes: Library) -> None:
    assert _search(notes, "boilers").hits[0].chunk.path == "20.md"
    assert _search(notes, "Kesseln").hits[0].chunk.path == "21.md"


def test_a_question_in_another_language_has_no_vote(notes: Library) -> None:
    stage = _search(notes, "Bei welchem Druck öffnet das Sicherheitsventil des Heizgeräts?")
    assert stage.weight == 0.0
    assert "no vote" in stage.note


def test_no_word_in_common_finds_nothing(notes: Library) -> None:
    for query in ("量子力学", "", "?!"):
        stage = _search(notes, query)
        assert (stage.hits, stage.weight) == ((), 0.0)


def test_rare_terms_weigh_more_than_common_ones(notes: Library) -> None:
    weights = weigh_terms([notes.catalog], "report valve zebra").weights
    assert weights["report"] < weights["valve"] < weights["zebra"]


def test_coverage_is_a_share_of_the_weight(notes: Library) -> None:
    query = weigh_terms([notes.catalog], "relief valve")
    stage = search_lexical(notes, query, 1)
    assert query.coverage(stage.hits[0].chunk) == pytest.approx(1.0)
    assert weigh_terms([notes.catalog], "").coverage(stage.hits[0].chunk) == 0.0


def test_filters_hold_before_the_ranking(notes: Library) -> None:
    stage = _search(notes, "the weekly report", 3, files=("1*",))
    assert {hit.chunk.path for hit in stage.hits} <= {"1.md", *(f"{n}.md" for n in range(10, 20))}
    assert len(stage.hits) == 3
    assert _search(notes, "report, Keller", 3, files=("21.md",)).hits[0].chunk.path == "21.md"
    assert _search(notes, "report", 3, files=("nothing like it",)).hits == ()


def test_common_terms_count_in_what_rarer_ones_find(notes: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    query = "weekly report number 7 of the plant"
    whole = _search(notes, query, 1)
    monkeypatch.setattr(lexical, "_AFFORDABLE", 1)
    monkeypatch.setattr(lexical, "_CANDIDATES", 1)
    assert _search(notes, query, 1).hits[0].chunk.path == whole.hits[0].chunk.path == "7.md"
    assert len(_search(notes, query, 15).hits) == 15, "where rare terms find too few, common ones find the rest"
