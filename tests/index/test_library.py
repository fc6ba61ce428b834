import multiprocessing
import time
from pathlib import Path

import pytest
from material import make_document, make_file

from rag.errors import EmbedderMismatch, LibraryError, LibraryLocked, LibraryMissing
from rag.index.catalog import Indexed
from rag.index.chunking import Piece
from rag.index.library import Library, Shelf
from rag.types import EmbedderIdentity, FileState, LibrarySettings, Span


def put_chunk(library: Library) -> None:
    """Stores a file of one chunk, without a vector."""
    ids = library.catalog.next_chunk_ids(make_file(), 1)
    piece = Piece(Span(0, 4), (), None, None, 1)
    library.catalog.put_file(make_file(), make_document("Text"), [piece], ids, Indexed(FileState.INDEXED, "", "s", "r"))


def _identity(model: str, dimension: int = 384) -> EmbedderIdentity:
    return EmbedderIdentity("bundled", model, "1", dimension, True, "", "", 512)


def test_libraries_are_made_listed_and_deleted(shelf: Shelf, tmp_path: Path) -> None:
    names = {"Notes", "日本語 / ノート", "..", ".", "a/b", "a_b", "ö.%2E"}
    for name in names:
        shelf.create(name)
    assert set(shelf.names()) == names
    assert len(_folders(tmp_path)) == len(names)
    assert all(folder.parent == tmp_path / "shelf" / "libraries" for folder in _folders(tmp_path))
    shelf.delete("Notes")
    assert "Notes" not in shelf.names()
    with pytest.raises(LibraryMissing, match="“Notes”"):
        shelf.library("Notes")


def _folders(tmp_path: Path) -> list[Path]:
    return list((tmp_path / "shelf" / "libraries").iterdir())


@pytest.mark.parametrize("name", ["", "   ", "あ" * 61, "notes"])
def test_bad_or_taken_names_are_refused(shelf: Shelf, name: str) -> None:
    shelf.create("Notes")
    with pytest.raises(LibraryError):
        shelf.create(name)


def test_another_embedder_is_refused_with_both_names(library: Library) -> None:
    library.catalog.set_embedder(_identity("e5"))
    library.check_embedder(_identity("bge", 1024))  # it holds nothing yet
    put_chunk(library)
    library.check_embedder(_identity("e5"))
    with pytest.raises(EmbedderMismatch, match=r"built with e5.*bge is in use|built with e5.*bge"):
        library.check_embedder(_identity("bge", 1024))


def test_vectors_left_by_an_interruption_go_when_the_library_is_opened(tmp_path: Path) -> None:
    with Shelf(tmp_path / "shelf") as shelf:
        library = shelf.create("Notes")
        assert library.vectors.ids() == set()
        ids = library.catalog.next_chunk_ids(make_file(), 2)
        library.vectors.add(ids, [[1.0, 0.0], [0.0, 1.0]])
    with Shelf(tmp_path / "shelf") as shelf:
        library = shelf.library("Notes")
        assert library.catalog.leftover_vectors() == ids
        assert library.vectors.ids() == set()
        assert library.catalog.leftover_vectors() == []


def _hold(home: Path, ready: object, done: object) -> None:
    with Shelf(home):
        ready.set()  # type: ignore[attr-defined]
        done.wait(30)  # type: ignore[attr-defined]


def test_a_second_process_is_told_within_two_seconds(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    ready, done = context.Event(), context.Event()
    process = context.Process(target=_hold, args=(tmp_path, ready, done))
    process.start()
    assert ready.wait(30)
    started = time.monotonic()
    with pytest.raises(LibraryLocked, match="Another Footnote is running"):
        Shelf(tmp_path)
    assert time.monotonic() - started < 2
    done.set()
    process.join(30)
    Shelf(tmp_path).close()


def test_a_home_that_cannot_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(LibraryError, match="Cannot keep libraries"):
        Shelf(tmp_path / "file")


def test_a_renamed_library_keeps_everything_and_frees_its_old_name(shelf: Shelf) -> None:
    library = shelf.create("Notes")
    put_chunk(library)
    library.catalog.set_settings(LibrarySettings(exclude=("drafts/",), chunk_tokens=128, ocr=True))
    ids = library.catalog.chunk_ids()
    library.vectors.add(sorted(ids), [[1.0, 0.0]])
    renamed = shelf.rename("Notes", " Papers  and notes ")
    assert (renamed.name, shelf.names()) == ("Papers and notes", ("Papers and notes",))
    assert renamed.catalog.chunk_ids() == renamed.vectors.ids() == ids
    assert renamed.info().settings == LibrarySettings(exclude=("drafts/",), chunk_tokens=128, ocr=True)
    assert shelf.rename("Papers and notes", "papers and notes").name == "papers and notes"
    shelf.create("Notes")
    with pytest.raises(LibraryError, match="already"):
        shelf.rename("Notes", "Papers and notes")
    with pytest.raises(LibraryMissing):
        shelf.rename("Nowhere", "Elsewhere")
