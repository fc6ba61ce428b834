import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from fakes.hash_embedder import HashEmbedder
from material import write_notes

from rag.errors import EmbedderMismatch, LibraryCorrupt
from rag.index.check import check, repair
from rag.index.library import Library, Shelf
from rag.index.plan import make_plan
from rag.index.sync import ChunkProfile, apply_plan
from rag.sources.workers import ReaderPool
from rag.types import HealthCheck

PROFILE = ChunkProfile(60, 10)


@pytest.fixture
def shelf(tmp_path: Path, readers: ReaderPool) -> Iterator[Shelf]:
    """A shelf with one library of 40 notes."""
    texts = {f"{n:02}.md": f"# Note {n}\n\nPump {n} runs at {n * 3} bar.\n\n## More\n\nValve {n}.\n" for n in range(40)}
    root = write_notes(tmp_path / "notes", texts)
    with Shelf(tmp_path / "shelf") as opened:
        library = opened.create("Notes")
        for _ in apply_plan(library, make_plan(library, root, PROFILE), HashEmbedder(), readers, PROFILE):
            pass
        yield opened


def _library(shelf: Shelf) -> Library:
    return shelf.library("Notes")


def _reopened(shelf: Shelf, meanwhile: Callable[[Path], object]) -> Library:
    """The library after something was done to its folder while it was closed."""
    _library(shelf).close()
    shelf._open.clear()
    meanwhile(shelf.folder("Notes"))
    return _library(shelf)


def _bad(checks: tuple[HealthCheck, ...]) -> dict[str, str]:
    return {check.name: check.detail for check in checks if check.state in ("error", "warning")}


def _repaired(library: Library, embedder: HashEmbedder | None = None) -> int:
    """Repairs, and returns how many chunks that took to embed."""
    embedder = embedder or HashEmbedder()
    before = embedder.embedded
    *_, last = repair(library, embedder)
    assert last.result is not None
    assert not last.result.stopped
    used = embedder.embedded - before
    assert _bad(check(library, embedder)) == {}
    assert len(library.catalog.search_terms(["pump"], 100)) == 40
    return used


def test_a_good_library_passes_every_check(shelf: Shelf) -> None:
    checks = check(_library(shelf), HashEmbedder())
    assert [check.name for check in checks] == [
        "Catalog", "Keyword index", "Vectors", "Search index", "Search quality", "Embedder",
    ]  # fmt: skip
    assert {check.state for check in checks} == {"ok"}
    assert checks[0].detail.startswith("40 files, ")


def test_an_empty_library_has_nothing_wrong(tmp_path: Path) -> None:
    with Shelf(tmp_path) as shelf:
        library = shelf.create("Empty")
        assert _bad(check(library, HashEmbedder())) == {}
        *_, last = repair(library, HashEmbedder())
        assert last.result is not None
        assert last.result.files == ()


def test_keywords_that_are_missing_wrong_or_left_over_are_found_and_mended(shelf: Shelf) -> None:
    library = _library(shelf)
    database = library.catalog._connection
    database.execute("DELETE FROM chunk_terms WHERE rowid = 3")
    database.execute("UPDATE chunk_terms SET terms = 'zebra' WHERE rowid = 5")
    database.execute("INSERT INTO chunk_terms (rowid, terms) VALUES (9999, 'ghost')")
    detail = _bad(check(library, None))["Keyword index"]
    assert detail == "chunks without an entry: 1; chunks deleted, with an entry: 1; chunks with other words: 1."
    assert _repaired(library) <= 8  # a sample to compare with, and no more
    assert library.catalog.search_terms(["ghost", "zebra"], 5) == {}


def test_a_keyword_index_that_contradicts_itself_is_made_anew(shelf: Shelf) -> None:
    library = _library(shelf)
    library.catalog._connection.execute("UPDATE chunk_terms_data SET block = x'00' WHERE id > 100")
    assert list(_bad(check(library, None))) == ["Keyword index"]
    _repaired(library)


def test_lost_and_left_over_vectors(shelf: Shelf) -> None:
    library = _library(shelf)
    ids = sorted(library.catalog.chunk_ids())
    library.vectors.delete(ids[:7])
    library.vectors.add(["stray"], [[1.0] + [0.0] * 31])
    assert _bad(check(library, None))["Vectors"] == "7 chunks without a vector; 1 vectors without a chunk."
    assert _repaired(library) <= 7 + 8 + 8
    assert library.vectors.ids() == set(ids)


def test_a_vector_that_no_embedder_can_have_made(shelf: Shelf) -> None:
    library = _library(shelf)
    broken = np.full(32, np.nan, dtype="<f4").tobytes()
    library.vectors._connection.execute("UPDATE vector SET vector = ? WHERE rowid = 4", (broken,))
    assert "not of length 1" in _bad(check(library, None))["Vectors"]
    _repaired(library)


def test_vectors_of_another_model_under_the_same_name_are_all_made_anew(shelf: Shelf) -> None:
    class Changed(HashEmbedder):
        def _row(self, text: str) -> np.ndarray:
            return super()._row(f"changed {text}")

    library = _library(shelf)
    embedder = Changed()
    assert "gives other vectors" in _bad(check(library, embedder))["Embedder"]
    assert _repaired(library, embedder) >= library.catalog.counts()[1]
    assert "gives other vectors" in _bad(check(library, HashEmbedder()))["Embedder"]


def test_another_embedder_is_named_and_repairs_nothing(shelf: Shelf) -> None:
    library = _library(shelf)
    assert "was built with hash" in _bad(check(library, HashEmbedder("other")))["Embedder"]
    with pytest.raises(EmbedderMismatch):
        next(repair(library, HashEmbedder("other")))


def _no_chroma(folder: Path) -> None:
    shutil.rmtree(folder / "chroma")


def _chroma_overwritten(folder: Path) -> None:
    for file in (folder / "chroma").rglob("*"):
        if file.is_file():
            file.write_bytes(b"\x17" * file.stat().st_size)


@pytest.mark.parametrize("damage", [_no_chroma, _chroma_overwritten])
def test_a_lost_or_damaged_search_index_is_made_anew_without_embedding(
    shelf: Shelf, damage: Callable[[Path], object]
) -> None:
    library = _reopened(shelf, damage)
    assert list(_bad(check(library, None))) == ["Search index"]
    assert _repaired(library) <= 16


def _vectors_overwritten(folder: Path) -> None:
    (folder / "vectors.sqlite").write_bytes(b"\x17" * 50_000)


def _vectors_gone(folder: Path) -> None:
    (folder / "vectors.sqlite").unlink()


@pytest.mark.parametrize("damage", [_vectors_overwritten, _vectors_gone])
def test_lost_vectors_are_embedded_from_the_catalog(shelf: Shelf, damage: Callable[[Path], object]) -> None:
    library = _reopened(shelf, damage)
    assert "Vectors" in _bad(check(library, None))
    shutil.rmtree(shelf.folder("Notes").parents[2] / "notes")  # no file is read
    assert _repaired(library) >= library.catalog.counts()[1]


@pytest.mark.parametrize("table", ["vector", "pending"])
def test_vectors_of_which_a_page_is_damaged_are_embedded_from_the_catalog(shelf: Shelf, table: str) -> None:
    def damage(folder: Path) -> None:
        with sqlite3.connect(folder / "vectors.sqlite") as database:
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            page = database.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)).fetchone()[0]
            size = database.execute("PRAGMA page_size").fetchone()[0]
        database.close()
        with (folder / "vectors.sqlite").open("r+b") as file:
            file.seek((page - 1) * size)
            file.write(b"\x00" * size)

    library = _reopened(shelf, damage)
    assert _bad(check(library, None)).keys() & {"Vectors", "Search index"}
    assert _repaired(library) >= library.catalog.counts()[1]


def test_a_damaged_catalog_says_what_to_do(shelf: Shelf) -> None:
    def damage(folder: Path) -> None:
        with sqlite3.connect(folder / "catalog.sqlite") as database:
            page = database.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'chunk'").fetchone()[0]
            size = database.execute("PRAGMA page_size").fetchone()[0]
        database.close()
        with (folder / "catalog.sqlite").open("r+b") as file:
            file.seek((page - 1) * size)
            file.write(b"\x00" * size)

    library = _reopened(shelf, damage)
    (seen,) = check(library, HashEmbedder())
    assert seen.state == "error"
    assert "index its folder" in seen.action
    with pytest.raises(LibraryCorrupt, match="index its folder"):
        next(repair(library, HashEmbedder()))


def test_a_file_with_another_number_of_chunks_than_stored(shelf: Shelf) -> None:
    library = _library(shelf)
    library.catalog._connection.execute("UPDATE file SET chunks = 5 WHERE path = '07.md'")
    assert "07.md has another number of chunks" in _bad(check(library, None))["Catalog"]
