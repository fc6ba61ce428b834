import multiprocessing
import time
from pathlib import Path

import pytest
from material import make_chunk, make_document, make_file

from rag.errors import EmbedderMismatch, LibraryError, LibraryLocked, LibraryMissing
from rag.index.catalog import Indexed
from rag.index.chunking.chunks import Piece
from rag.index.library import Library, Shelf
from rag.types import (
    Answer,
    EmbedderIdentity,
    Evidence,
    FileState,
    Hit,
    LibrarySettings,
    Retrieval,
    SourceFile,
    Span,
    Trace,
    Verdict,
)


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


def test_files_inside_a_renamed_library_keep_their_place(shelf: Shelf, tmp_path: Path) -> None:
    library = shelf.create("Notes")
    dropped, beside = library.folder / "dropped" / "today", tmp_path / "shelf" / "libraries" / "Notes and more"
    for root in (dropped, beside):
        root.mkdir(parents=True)
        (root / "a.md").write_text("Text")
        library.catalog.add_root(str(root))
        library.catalog.put_file(
            SourceFile(root, "a.md", 4, 1), make_document("Text"), [], [], Indexed(FileState.FAILED, "", "s", "r")
        )
    library.catalog.start_job(str(dropped))
    renamed = shelf.rename("Notes", "Papers")
    moved = renamed.folder / "dropped" / "today"
    assert {Path(record.root) for record in renamed.catalog.files()} == {moved, beside}
    assert set(renamed.catalog.roots()) == {str(moved), str(beside)}
    assert renamed.catalog.job().root == str(moved)
    assert all(record.absolute.exists() for record in renamed.catalog.files())


def _talk(keeper: Library, quoted: Library) -> None:
    """A conversation in one library that quotes the first chunk of another."""
    hit = Hit(make_chunk("Text", min(quoted.catalog.chunk_ids())), 0.5, 1)
    retrieval = Retrieval("L", "When?", ("When?",), "", (hit,), (), Evidence(Verdict.SOME, "why"), {})
    trace = Trace("t", 1.0, retrieval, None, None, _identity("e5"), Answer("A.", "answered"))
    keeper.catalog.add_exchange(keeper.catalog.new_conversation(), trace)


def _quoted(keeper: Library) -> str:
    last = keeper.catalog.last_exchange()
    assert last is not None
    return last.trace.retrieval.hits[0].chunk.text


def test_a_deleted_library_is_quoted_nowhere(shelf: Shelf) -> None:
    gone, kept = shelf.create("Gone"), shelf.create("Kept")
    put_chunk(gone)
    put_chunk(kept)
    keeper, other = shelf.create("Talks"), shelf.create("Other talks")
    _talk(keeper, gone)
    _talk(other, kept)
    shelf.delete("Gone")
    assert (_quoted(keeper), _quoted(other)) == ("", "Text")


def test_a_library_that_cannot_forget_now_keeps_none_of_the_others_from_it(shelf: Shelf) -> None:
    library = shelf.create("Notes")
    put_chunk(library)
    keepers = [shelf.create(name) for name in ("A talks", "Damaged", "Gone", "Z talks")]
    for keeper in keepers:
        _talk(keeper, library)
    first, damaged, gone, last = keepers
    for keeper in (damaged, gone):
        keeper.close()
        shelf._open.pop(keeper.name)
    (damaged.folder / "catalog.sqlite").write_bytes(b"no database" * 1000)
    names = shelf.names()
    shelf.names = lambda: names  # type: ignore[method-assign]
    shelf.delete("Gone")  # after it was listed
    first.catalog._connection.execute("PRAGMA query_only = ON")
    (record,) = library.catalog.files()
    with pytest.raises(LibraryError, match="A talks"):
        library.remove_file(record.id)
    assert _quoted(last) == ""
    assert library.catalog.files() == (record,), "it is still known which text is to be forgotten"
    first.catalog._connection.execute("PRAGMA query_only = OFF")
    library.remove_file(record.id)
    assert (_quoted(first), library.catalog.files()) == ("", ())


def test_a_closed_library_makes_no_folder_again(shelf: Shelf) -> None:
    library = shelf.create("Notes")
    assert library.vectors.ids() == set()
    shelf.delete("Notes")
    with pytest.raises(LibraryError, match="closed meanwhile"):
        library.vectors.ids()
    assert not library.folder.exists()
