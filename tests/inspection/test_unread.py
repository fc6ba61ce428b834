"""What gave no passage: each file, page and word with its own reason."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes.hash_embedder import HashEmbedder
from material import write_notes

from rag.index.chunking.chunks import ChunkProfile
from rag.index.library import Library
from rag.index.plan import make_plan
from rag.index.sync import apply_plan
from rag.inspection.unread import Lost, lost_files, lost_words, matches
from rag.sources.workers import ReaderPool
from rag.types import LibrarySettings


def _index(library: Library, root: Path, readers: ReaderPool) -> None:
    profile = ChunkProfile(200, 20)
    list(apply_plan(library, make_plan(library, root, profile), HashEmbedder(), readers, profile))


@pytest.fixture
def root(library: Library, tmp_path: Path, readers: ReaderPool) -> Path:
    pymupdf = pytest.importorskip("pymupdf")
    root = write_notes(
        tmp_path / "notes",
        {
            "valve.md": "# Valve\n\nThe valve opens at 16 bar.\n",
            "copied.md": "# Valve\n\nThe valve opens at 16 bar.\n",
            "empty.txt": "",
            "private/diary.md": "Nobody reads this.",
            ".hidden.md": "Nor this.",
            "photo.xyz": "no reader",
        },
    )
    scan = pymupdf.open()
    scan.new_page().insert_text((72, 72), "The first page of the report speaks of gauges and of nothing else.")
    image = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 40, 40))
    image.clear_with(90)
    scan.new_page().insert_image((50, 50, 500, 700), pixmap=image)
    scan.save(root / "report.pdf")
    library.catalog.set_settings(LibrarySettings(exclude=("private/",)))
    _index(library, root, readers)
    return root


def _only(library: Library, named: str, page: int | None = None, phrase: str = "") -> Lost:
    (lost,) = lost_files(library, named, page, phrase)
    return lost


def test_each_file_page_and_word_has_its_reason(library: Library, root: Path) -> None:
    empty = _only(library, "EMPTY")
    assert (empty.name, empty.indexed) == ("empty.txt", False)
    assert "could not be read" in empty.reason
    assert "same bytes as copied.md" in _only(library, "valve.md").reason
    assert "private/" in _only(library, "diary.md").reason
    assert "hidden" in _only(library, ".hidden.md").reason
    assert _only(library, "photo").reason.startswith("It is not read: ")
    nowhere = _only(library, "nowhere.pdf")
    assert "No file of that name" in nowhere.reason
    assert str(root) in nowhere.reason

    scanned = _only(library, "report.pdf", page=2)
    assert (scanned.name, scanned.indexed) == ("report.pdf, page 2", False)
    assert "image without text" in scanned.reason
    assert "text recognition" in scanned.action
    assert "2 pages, and no page 9" in _only(library, "report.pdf", page=9).reason
    assert "its pages 2 could not be read" in _only(library, "report.pdf", phrase="pressure").reason
    read = _only(library, "copied.md", phrase="pressure")
    assert read.reason == "It was read, and its text does not hold “pressure”."
    lost = lost_words(library, "pressure")
    assert not lost.indexed
    assert "2 of its files could not be read, or not fully: empty.txt, report.pdf." in lost.reason


def test_what_changed_on_disk_since_is_told(library: Library, root: Path) -> None:
    write_notes(root, {"new.md": "Just written.", "copied.md": "# Valve\n\nThe valve opens at 17 bar now.\n"})
    new = _only(library, "new.md")
    assert (new.indexed, new.file_id) == (True, None)
    assert "not indexed yet" in new.reason
    changed = _only(library, "copied.md", phrase="17 bar")
    assert (changed.indexed, changed.reason) == (True, "It has changed since it was indexed.")
    assert "1 have changed since they were indexed: copied.md." in lost_words(library, "17 bar").reason
    (root / "report.pdf").unlink()
    assert _only(library, "report").reason == "It is not on disk any more."
    root.rename(root.with_name("elsewhere"))
    gone = _only(library, "unknown.md")
    assert gone.name == str(root)
    assert gone.reason


@pytest.mark.parametrize(
    ("named", "path", "expected"),
    [("heron", "notes/Heron.PDF", True), ("*.pdf", "a/b.PDF", True), ("notes/*", "notes/a/b", True), ("x", "y", False)],
)
def test_a_name_is_a_part_of_the_path_or_a_pattern(named: str, path: str, expected: bool) -> None:
    assert matches(named, path) is expected
