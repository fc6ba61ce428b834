import os
import threading
from pathlib import Path

import pytest
from material import write_notes

from rag.errors import EmbedderMismatch, InputTooLong, ModelFailed
from rag.index.chunking import ChunkProfile
from rag.index.library import Library
from rag.index.plan import make_plan, plan_again
from rag.index.sync import apply_plan, forget_file
from rag.models.bundled import BundledEmbedder
from rag.sources.workers import ReaderPool
from rag.types import Change, FileState, SyncEvent, SyncReport

PROFILE = ChunkProfile(100, 20)
NOTES = {
    "a.md": "# Pump\n\nThe pump runs at 16 bar.\n",
    "sub/b.txt": "The zebra sleeps at noon.\n",
    "c.md": "# Empty talk\n\nNothing of weight.\n",
}


def _sync(library: Library, root: Path, embedder: BundledEmbedder, readers: ReaderPool) -> SyncReport:
    events = list(apply_plan(library, make_plan(library, root, PROFILE), embedder, readers, PROFILE))
    assert events[-1].result is not None
    return events[-1].result


def _assert_in_step(library: Library) -> None:
    """Catalog, keyword index and vectors hold the same chunks."""
    ids = library.catalog.chunk_ids()
    assert library.vectors.ids() == ids
    assert library.catalog.leftover_vectors() == []
    _, chunks = library.catalog.counts()
    assert chunks == len(ids) == sum(record.chunks for record in library.catalog.files())


def test_first_sync_second_sync_and_changes(
    library: Library, tmp_path: Path, embedder: BundledEmbedder, readers: ReaderPool
) -> None:
    root = write_notes(tmp_path / "notes", NOTES)
    first = _sync(library, root, embedder, readers)
    assert [(file.path, file.change, file.state) for file in first.files] == [
        (path, Change.NEW, FileState.INDEXED) for path in sorted(NOTES)
    ]
    assert first.chunks_embedded == 3
    _assert_in_step(library)

    second = _sync(library, root, embedder, readers)
    assert second.count(Change.UNCHANGED) == 3
    assert second.chunks_embedded == 0

    (root / "a.md").write_text("# Pump\n\nThe pump runs at 25 bar now.\n")
    (root / "c.md").unlink()
    (root / "sub/b.txt").rename(root / "moved.txt")
    write_notes(root, {"d.md": "A new note."})
    plan = make_plan(library, root, PROFILE)
    assert {planned.path: planned.change for planned in plan.files} == {
        "a.md": Change.CHANGED, "c.md": Change.REMOVED, "moved.txt": Change.MOVED, "d.md": Change.NEW,
    }  # fmt: skip
    third = _sync(library, root, embedder, readers)
    assert third.chunks_embedded == 2
    _assert_in_step(library)
    assert {record.path for record in library.catalog.files()} == {"a.md", "moved.txt", "d.md"}
    assert library.catalog.search_terms(["weight"], 5) == []
    assert library.catalog.search_terms(["16"], 5) == []
    ((found, _),) = library.catalog.search_terms(["zebra"], 5)
    assert found.path == "moved.txt"


def test_a_plan_changes_nothing(library: Library, tmp_path: Path) -> None:
    root = write_notes(tmp_path / "notes", NOTES)
    make_plan(library, root, PROFILE)
    assert library.catalog.counts() == (0, 0)


def test_touched_but_equal_files_are_hashed_once_and_not_read(
    library: Library, tmp_path: Path, embedder: BundledEmbedder, readers: ReaderPool
) -> None:
    root = write_notes(tmp_path / "notes", NOTES)
    _sync(library, root, embedder, readers)
    (root / "a.md").write_text(NOTES["a.md"])
    report = _sync(library, root, embedder, readers)
    assert report.count(Change.UNCHANGED) == 3
    record = next(record for record in library.catalog.files() if record.path == "a.md")
    assert record.mtime_ns == (root / "a.md").stat().st_mtime_ns


def test_one_bad_file_is_a_line_in_the_report(
    library: Library, tmp_path: Path, embedder: BundledEmbedder, readers: ReaderPool
) -> None:
    root = write_notes(tmp_path / "notes", {**NOTES, "empty.txt": ""})
    (root / "broken.pdf").write_bytes(b"%PDF-1.7 and then nothing of use")
    report = _sync(library, root, embedder, readers)
    states = {file.path: file.state for file in report.files}
    assert states["broken.pdf"] == states["empty.txt"] == FileState.FAILED
    assert all(states[path] is FileState.INDEXED for path in NOTES)
    assert all(file.reason for file in report.files if file.state is FileState.FAILED)
    assert not report.stopped
    assert make_plan(library, root, PROFILE).work == (), "what failed for good is not tried again and again"
    retried = make_plan(library, root, PROFILE, retry=True)
    assert [(line.path, line.change) for line in retried.work] == [
        ("broken.pdf", Change.RETRY), ("empty.txt", Change.RETRY),
    ]  # fmt: skip


def test_a_file_that_cannot_be_read_any_more_leaves_no_old_text(
    library: Library, tmp_path: Path, embedder: BundledEmbedder, readers: ReaderPool
) -> None:
    root = write_notes(tmp_path / "notes", NOTES)
    _sync(library, root, embedder, readers)
    (root / "a.md").write_bytes(b"")
    _sync(library, root, embedder, readers)
    assert library.catalog.search_terms(["pump"], 5) == []
    _assert_in_step(library)


def test_stop_and_resume_lose_nothing(
    library: Library, tmp_path: Path, embedder: BundledEmbedder, readers: ReaderPool
) -> None:
    root = write_notes(tmp_path / "notes", {f"{n:02}.md": f"Note number {n} about item {n}." for n in range(12)})
    stop = threading.Event()
    seen: list[SyncEvent] = []
    for event in apply_plan(library, make_plan(library, root, PROFILE), embedder, readers, PROFILE, stop):
        seen.append(event)
        if event.report:
            stop.set()
    report = seen[-1].result
    assert report is not None
    assert report.stopped
    stored = len(library.catalog.files())
    assert 0 < stored < 12
    _assert_in_step(library)
    rest = _sync(library, root, embedder, readers)
    assert rest.count(Change.NEW) == 12 - stored
    assert len(library.catalog.files()) == 12
    _assert_in_step(library)


class _FailingEmbedder(BundledEmbedder):
    """The real embedder, until it is asked for more than it is allowed."""

    allowed = 4

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.allowed -= len(texts)
        if self.allowed < 0:
            raise ModelFailed("The embedder broke off.", "Start it again.")
        return super().embed_documents(texts)


def test_an_embedder_that_breaks_off_keeps_what_was_stored(
    library: Library, tmp_path: Path, embedder: BundledEmbedder, readers: ReaderPool
) -> None:
    root = write_notes(tmp_path / "notes", {f"{n:02}.md": f"Note number {n}." for n in range(12)})
    with pytest.raises(ModelFailed):
        list(apply_plan(library, make_plan(library, root, PROFILE), _FailingEmbedder(), readers, PROFILE))
    assert len(library.catalog.files()) == 4
    _assert_in_step(library)
    _sync(library, root, embedder, readers)
    assert len(library.catalog.files()) == 12
    _assert_in_step(library)


class _OtherEmbedder(BundledEmbedder):
    """The same vectors under another name."""

    def __init__(self) -> None:
        super().__init__()
        from dataclasses import replace

        self.identity = replace(self.identity, model="another")


def test_another_embedder_is_refused_before_anything_changes(
    library: Library, tmp_path: Path, embedder: BundledEmbedder, readers: ReaderPool
) -> None:
    root = write_notes(tmp_path / "notes", NOTES)
    _sync(library, root, embedder, readers)
    write_notes(root, {"new.md": "New."})
    with pytest.raises(EmbedderMismatch):
        list(apply_plan(library, make_plan(library, root, PROFILE), _OtherEmbedder(), readers, PROFILE))
    assert len(library.catalog.files()) == 3


class _ShortEmbedder(BundledEmbedder):
    """The real embedder, but one file's text is too much for it."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        for text in texts:
            if "zebra" in text:
                raise InputTooLong("That text is longer than the embedder takes.", "Make the chunks smaller.")
        return super().embed_documents(texts)


def test_a_text_that_is_too_long_fails_its_own_file_only(library: Library, tmp_path: Path, readers: ReaderPool) -> None:
    root = write_notes(tmp_path / "notes", NOTES)
    events = list(apply_plan(library, make_plan(library, root, PROFILE), _ShortEmbedder(), readers, PROFILE))
    report = events[-1].result
    assert report is not None
    states = {file.path: file.state for file in report.files}
    assert states == {"a.md": FileState.INDEXED, "c.md": FileState.INDEXED, "sub/b.txt": FileState.FAILED}
    assert "longer than the embedder takes" in next(file.reason for file in report.files if file.path == "sub/b.txt")
    _assert_in_step(library)


def test_a_folder_that_cannot_be_looked_at_keeps_what_is_known_of_it(
    library: Library, tmp_path: Path, embedder: BundledEmbedder, readers: ReaderPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write_notes(tmp_path / "notes", NOTES)
    _sync(library, root, embedder, readers)
    real = os.scandir

    def failing(folder: Path) -> object:
        if Path(folder).name == "sub":
            raise PermissionError(13, "Permission denied")
        return real(folder)

    monkeypatch.setattr(os, "scandir", failing)
    plan = make_plan(library, root, PROFILE)
    assert plan.count(Change.REMOVED) == 0
    assert ("sub", "the folder cannot be read: Permission denied") in plan.skipped


def test_an_emptied_library_takes_another_embedder(
    library: Library, tmp_path: Path, embedder: BundledEmbedder, readers: ReaderPool
) -> None:
    root = write_notes(tmp_path / "notes", NOTES)
    _sync(library, root, embedder, readers)
    for record in library.catalog.files():
        forget_file(library, record.id)
    list(apply_plan(library, make_plan(library, root, PROFILE), _OtherEmbedder(), readers, PROFILE))
    assert library.catalog.embedder() == _OtherEmbedder().identity
    _assert_in_step(library)


def test_other_chunk_sizes_make_every_file_a_changed_one(
    library: Library, tmp_path: Path, embedder: BundledEmbedder, readers: ReaderPool
) -> None:
    root = write_notes(tmp_path / "notes", NOTES)
    _sync(library, root, embedder, readers)
    assert make_plan(library, root, ChunkProfile(64, 0)).count(Change.CHANGED) == 3


def test_forget_and_read_again(
    library: Library, tmp_path: Path, embedder: BundledEmbedder, readers: ReaderPool
) -> None:
    root = write_notes(tmp_path / "notes", NOTES)
    _sync(library, root, embedder, readers)
    record = next(record for record in library.catalog.files() if record.path == "a.md")
    events = list(apply_plan(library, plan_again(library, record.id), embedder, readers, PROFILE))
    assert events[-1].result is not None
    (again,) = events[-1].result.files
    assert (again.state, again.chunks, again.embedded) == (FileState.INDEXED, 1, 0), "its vector is there already"
    forget_file(library, record.id)
    assert {known.path for known in library.catalog.files()} == {"c.md", "sub/b.txt"}
    _assert_in_step(library)


def test_spans_point_at_the_chunks_text(
    library: Library, shared_data: Path, embedder: BundledEmbedder, readers: ReaderPool
) -> None:
    root = shared_data / "notes" / "til-en" / "docker"
    _sync(library, root, embedder, readers)
    from rag.sources.readers import read
    from rag.sources.scan import scan

    files = {file.path: file for file in scan(root).files}
    chunks = library.catalog.chunks(list(library.catalog.chunk_ids())).values()
    documents = {path: read(file) for path, file in files.items()}
    assert {chunk.path for chunk in chunks} == set(documents)
    for chunk in chunks:
        document = documents[chunk.path]
        assert document.text[chunk.span.start : chunk.span.end] == chunk.text
