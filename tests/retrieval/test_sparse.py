from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fakes import tiny_m3
from fakes.hash_embedder import HashEmbedder
from material import write_notes

from rag.errors import LibraryError
from rag.index.check import check, repair
from rag.index.chunking.chunks import ChunkProfile, embedded_text_of
from rag.index.library import Library
from rag.index.plan import make_plan
from rag.index.selection import select
from rag.index.sync import apply_plan
from rag.models.base import Embedder
from rag.models.sentence_transformer import SentenceTransformerEmbedder
from rag.retrieval.sparse import search_sparse
from rag.settings import load_settings
from rag.sources.workers import ReaderPool
from rag.types import Filters, SyncReport

PROFILE = ChunkProfile(40, 5)
PUMP = "# Pump\n\nThe pump runs at 16 bar.\n\n# Valve\n\nThe valve opens at high pressure.\n"
ZEBRA = "# Zebra\n\nThe zebra sleeps at noon.\n\n# Dough\n\nThe dough rises and yeast is flour.\n"


@pytest.fixture(scope="module")
def m3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SentenceTransformerEmbedder]:
    """BGE-M3 in small."""
    folder = tiny_m3.save_embedder(tmp_path_factory.mktemp("m3") / "model")
    embedder = SentenceTransformerEmbedder(load_settings(device="cpu"), str(folder))
    yield embedder
    embedder.close()


@pytest.fixture
def sync(library: Library, tmp_path: Path, readers: ReaderPool) -> Callable[..., SyncReport]:
    """Writes notes, takes some away, and brings the library in step."""

    def run(embedder: Embedder, *gone: str, **notes: str) -> SyncReport:
        root = write_notes(tmp_path / "notes", {f"{name}.md": text for name, text in notes.items()})
        for name in gone:
            (root / name).unlink()
        *_, last = apply_plan(library, make_plan(library, root, PROFILE), embedder, readers, PROFILE)
        assert last.result is not None
        return last.result

    return run


def _found(library: Library, embedder: Embedder, question: str, limit: int = 10) -> list[tuple[str, float]]:
    weights = embedder.embed_question(question).weights
    assert weights is not None
    stage = search_sparse(library, weights[0], limit)
    assert (stage.name, stage.score_name) == ("sparse", "m3 sparse")
    return [(hit.chunk.text, hit.score) for hit in stage.hits]


def _expected(library: Library, embedder: Embedder, question: str) -> dict[str, float]:
    """Every chunk's score by the formula, from weights computed now."""
    chunks = [chunk for record in library.catalog.files() for chunk in library.catalog.chunks_of(record.id)]
    asked, *held = embedder.sparse_weights([question, *(embedded_text_of(chunk) for chunk in chunks)]) or []
    scores = [sum(weight * weights.get(token, 0.0) for token, weight in asked.items()) for weights in held]
    return {chunk.text: score for chunk, score in zip(chunks, scores, strict=True) if score}


def _assert_in_step(library: Library, embedder: Embedder) -> None:
    assert [one.detail for one in check(library, embedder) if one.state in ("error", "warning")] == []


def test_postings_follow_the_files(library: Library, sync: Callable[..., SyncReport], m3: Embedder) -> None:
    assert sync(m3, pump=PUMP, zebra=ZEBRA).chunks_embedded == 4
    question = "at which pressure runs the pump"
    before = dict(_found(library, m3, question))
    assert len(before) >= 3
    assert list(before.values()) == sorted(before.values(), reverse=True)
    _assert_in_step(library, m3)

    # An edited line embeds its own chunk; the others keep their weights to the last bit.
    assert sync(m3, pump=PUMP.replace("16 bar", "4 bar")).chunks_embedded == 1
    after = dict(_found(library, m3, question))
    assert {text: score for text, score in after.items() if "4 bar" not in text} == {
        text: score for text, score in before.items() if "16 bar" not in text
    }
    assert len(after) == len(before)
    _assert_in_step(library, m3)

    # The same text in another file is embedded once, and found in both.
    assert sync(m3, again=PUMP.replace("16 bar", "4 bar") + "\n# More\n\nWater.\n").chunks_embedded == 1
    assert [text for text, _ in _found(library, m3, "the valve opens")].count(
        PUMP[PUMP.index("# Valve") :].strip()
    ) == 2
    _assert_in_step(library, m3)

    sync(m3, "pump.md", "again.md")
    assert {text for text, _ in _found(library, m3, question)} <= {text for text in before if "pump" not in text}
    sync(m3, "zebra.md", empty="")
    assert library.vectors.count() == library.vectors._count("posting") == 0
    assert _found(library, m3, question) == []


def test_scores_are_those_of_the_formula(library: Library, sync: Callable[..., SyncReport], m3: Embedder) -> None:
    sync(m3, pump=PUMP, zebra=ZEBRA)
    question = "which pump runs at noon"
    expected = _expected(library, m3, question)
    found = _found(library, m3, question)
    assert dict(found) == pytest.approx(expected, abs=1e-5)
    assert _found(library, m3, question, limit=2) == found[:2]


def test_filters_hold_before_the_ranking(
    library: Library, sync: Callable[..., SyncReport], m3: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync(m3, pump=PUMP, zebra=ZEBRA, **{f"note{n}": f"# Note {n}\n\nThe pump {n} runs at bar.\n" for n in range(12)})
    (weights,) = m3.sparse_weights(["the pump runs at 16 bar"]) or []
    zebra = select(library.catalog, Filters(files=("zebra.md",)))
    most = select(library.catalog, Filters(files=("note*", "zebra.md")))
    for few in (2000, 0):  # looked for by their ids, and among what was found
        monkeypatch.setattr("rag.retrieval.sparse._FEW", few)
        assert {hit.chunk.path for hit in search_sparse(library, weights, 2, zebra).hits} == {"zebra.md"}
        assert len(search_sparse(library, weights, 2, zebra).hits) == 2
        held = search_sparse(library, weights, 50, most).hits
        assert len(held) == 14
        assert all(hit.chunk.path != "pump.md" for hit in held)
        free = [hit for hit in search_sparse(library, weights, 50).hits if hit.chunk.path != "pump.md"]
        assert [hit.chunk.id for hit in held] == [hit.chunk.id for hit in free]


def test_a_library_that_was_built_without_weights_says_so(
    library: Library, sync: Callable[..., SyncReport], m3: SentenceTransformerEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    heads = m3._heads
    monkeypatch.setattr(m3, "_heads", None)
    sync(m3, pump=PUMP)
    monkeypatch.setattr(m3, "_heads", heads)
    sync(m3, zebra=ZEBRA)
    stage = search_sparse(library, (m3.sparse_weights(["the pump"]) or [])[0], 5)
    assert (stage.hits, stage.weight) == ((), 0.0)
    assert "built without sparse weights" in stage.note
    _assert_in_step(library, m3)


def test_without_its_heads_an_embedder_adds_nothing_to_weights(
    library: Library, sync: Callable[..., SyncReport], m3: SentenceTransformerEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync(m3, pump=PUMP)
    monkeypatch.setattr(m3, "_heads", None)
    with pytest.raises(LibraryError, match="holds sparse weights"):
        sync(m3, zebra=ZEBRA)


def test_a_question_that_shares_nothing_has_no_vote(
    library: Library, sync: Callable[..., SyncReport], m3: Embedder
) -> None:
    sync(m3, zebra=ZEBRA)
    stage = search_sparse(library, {10_000: 1.0}, 5)
    assert (stage.hits, stage.weight, stage.note) == ((), 0.0, "No passage shares a token with the question.")


def test_repair_brings_back_weights_and_postings(
    library: Library, sync: Callable[..., SyncReport], m3: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rag.index.postings._BLOCK", 4)
    sync(m3, pump=PUMP, zebra=ZEBRA)
    question = "the zebra at high pressure"
    before = _found(library, m3, question)
    library.vectors.delete(sorted(library.vectors.ids())[:2])
    library.vectors._connection.execute("DELETE FROM posting WHERE token % 2")
    names = [one.name for one in check(library, m3) if one.state == "error"]
    assert names[0] == "Vectors"
    *_, last = repair(library, m3)
    assert last.result is not None
    assert last.result.chunks_embedded == 2
    assert dict(_found(library, m3, question)) == pytest.approx(dict(before), abs=1e-5)
    _assert_in_step(library, m3)


def test_postings_that_are_wrong_alone_are_made_anew_without_embedding(
    library: Library, sync: Callable[..., SyncReport], m3: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rag.index.postings._BLOCK", 2)
    sync(m3, pump=PUMP, zebra=ZEBRA)
    before = _found(library, m3, "the zebra at high pressure")
    library.vectors._connection.execute("UPDATE posting SET entries = zeroblob(6)")
    assert [one.name for one in check(library, m3) if one.state == "error"] == ["Sparse postings"]
    *_, last = repair(library, m3)
    assert last.result is not None
    assert last.result.chunks_embedded == 0
    assert _found(library, m3, "the zebra at high pressure") == before
    _assert_in_step(library, m3)


def test_another_embedder_s_library_has_no_weights(library: Library, sync: Callable[..., SyncReport]) -> None:
    sync(HashEmbedder(), pump=PUMP)
    assert not library.vectors.has_weights
    assert "Sparse postings" not in {one.name for one in check(library, HashEmbedder())}
