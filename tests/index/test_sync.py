import itertools
import os
import random
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from material import write_notes

from rag.errors import EmbedderMismatch, InputTooLong, LibraryError, ModelFailed, SourceError
from rag.index.chunking.chunks import ChunkProfile
from rag.index.library import Library, Shelf, text_of
from rag.index.plan import make_plan, plan_again
from rag.index.sync import apply_plan, forget_file
from rag.models.bundled import BundledEmbedder
from rag.retrieval.retriever import Retriever
from rag.sources.workers import ReaderPool
from rag.types import (
    Answer,
    Change,
    Citation,
    FileRecord,
    FileReport,
    FileState,
    LibrarySettings,
    Message,
    PageVerdict,
    Passage,
    Prompt,
    ReadOptions,
    Remedy,
    SourceDocument,
    SourceFile,
    Span,
    SyncEvent,
    SyncReport,
    Trace,
    Window,
)

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
    assert library.catalog.search_terms(["weight"], 5) == {}
    assert library.catalog.search_terms(["16"], 5) == {}
    (found,) = library.catalog.chunks(list(library.catalog.search_terms(["zebra"], 5))).values()
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
    assert library.catalog.search_terms(["pump"], 5) == {}
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
    for profile in (
        ChunkProfile(64, 0), replace(PROFILE, name="words"), replace(PROFILE, minimum=PROFILE.minimum + 1),
    ):  # fmt: skip
        plan = make_plan(library, root, profile)
        assert [planned.why for planned in plan.files if planned.change is Change.CHANGED] == ["chunk settings"] * 3


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


class _QuickEmbedder(BundledEmbedder):
    """The real tokens and identity, but vectors that cost nothing: for many chunks."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        rows = [np.random.default_rng(list(text.encode()[:400])).standard_normal(384) for text in texts]
        return [[float(value) for value in (row / np.linalg.norm(row)).astype("float32")] for row in rows]


@pytest.fixture(scope="module")
def quick() -> _QuickEmbedder:
    return _QuickEmbedder()


def _line(report: SyncReport, path: str) -> FileReport:
    return next(line for line in report.files if line.path == path)


def _record(library: Library, path: str) -> FileRecord:
    return next(record for record in library.catalog.files() if record.path == path)


# ------------------------------------------------------------------------------------------------ edits are cheap


def _long_document(pages: int, heading: str = "") -> list[str]:
    made = random.Random(pages)
    words = [
        "pump",
        "valve",
        "report",
        "annual",
        "pressure",
        "limit",
        "shows",
        "that",
        "the",
        "of",
        "plant",
        "steam",
        "in",
        "a",
        "year",
    ]
    lines = [heading] if heading else []
    for _ in range(pages * 30):
        lines.append(" ".join(made.choices(words, k=9)).capitalize() + f", {made.randrange(10**6)}.")
    return lines


@pytest.mark.parametrize("heading", ["", "# A long report\n"])
def test_one_changed_line_in_a_long_document_embeds_two_chunks_at_most(
    library: Library, tmp_path: Path, quick: _QuickEmbedder, readers: ReaderPool, heading: str
) -> None:
    lines = _long_document(60, heading)
    root = write_notes(tmp_path / "notes", {"long.md": "\n".join(lines)})
    first = _line(_sync(library, root, quick, readers), "long.md")
    assert first.embedded == first.chunks > 150
    ids = library.catalog.chunk_ids()
    for at in (700, 31):
        lines[at] = "This line is another one now."
        (root / "long.md").write_text("\n".join(lines))
        report = _line(_sync(library, root, quick, readers), "long.md")
        assert (report.change, report.state) == (Change.CHANGED, FileState.INDEXED)
        assert 1 <= report.embedded <= 2
        _assert_in_step(library)
    assert len(ids - library.catalog.chunk_ids()) <= 4, "what did not change keeps its id and its place"
    assert any("now" in held for held in library.catalog.search_terms(["another"], 5).values())
    chunks = library.catalog.chunks_of(_record(library, "long.md").id)
    assert text_of(chunks).strip() == "\n".join(lines).strip()


def test_rows_that_become_the_first_of_their_table_have_its_head_in_their_text(
    library: Library, tmp_path: Path, quick: _QuickEmbedder, readers: ReaderPool
) -> None:
    head, *rows = ["pump,pressure,place", *(f"P{n:03},{n} bar,hall {n % 7}" for n in range(60))]
    root = write_notes(tmp_path / "notes", {"pumps.csv": "\n".join((head, *rows))})
    _sync(library, root, quick, readers)
    *_, last = library.catalog.chunks_of(_record(library, "pumps.csv").id)
    assert last.context
    assert last.place is not None
    (root / "pumps.csv").write_text("\n".join((head, *rows[last.place.first - 2 : last.place.last - 1])))
    assert _sync(library, root, quick, readers).chunks_embedded == 0, "the same is embedded for both"
    (only,) = library.catalog.chunks_of(_record(library, "pumps.csv").id)
    assert (only.context, only.text) == ("", f"{last.context}\n{last.text}")
    assert only.span == Span(0, len(only.text))
    _assert_in_step(library)


def test_a_moved_folder_embeds_nothing(
    library: Library, tmp_path: Path, quick: _QuickEmbedder, readers: ReaderPool
) -> None:
    root = write_notes(tmp_path / "notes", {f"old/{n}.md": f"# Note {n}\n\nAbout {n}." for n in range(12)})
    _sync(library, root, quick, readers)
    (root / "old").rename(root / "new")
    report = _sync(library, root, quick, readers)
    assert (report.count(Change.MOVED), report.chunks_embedded) == (12, 0)
    root.rename(tmp_path / "elsewhere")
    plan = make_plan(library, tmp_path / "elsewhere", PROFILE)
    assert plan.count(Change.MOVED) == 12
    assert plan.files[0].why == str(root / "new/0.md")
    report = _sync(library, tmp_path / "elsewhere", quick, readers)
    assert (report.count(Change.MOVED), report.chunks_embedded) == (12, 0)
    assert library.catalog.roots() == (str(tmp_path / "elsewhere"),), "the folder that is gone is none of it any more"
    _assert_in_step(library)


def test_a_file_called_by_its_name_is_found_by_its_new_name(
    library: Library, tmp_path: Path, quick: _QuickEmbedder, readers: ReaderPool
) -> None:
    root = write_notes(tmp_path / "notes", {"boiler.txt": "It opens at 16 bar."})
    _sync(library, root, quick, readers)
    (root / "boiler.txt").rename(root / "kettle.txt")
    assert _sync(library, root, quick, readers).chunks_embedded == 0
    assert _record(library, "kettle.txt").title == "kettle"
    assert library.catalog.search_terms(["boiler"], 5) == {}
    assert len(library.catalog.search_terms(["kettle"], 5)) == 1


def test_a_file_renamed_and_edited_embeds_only_what_changed(
    library: Library, tmp_path: Path, quick: _QuickEmbedder, readers: ReaderPool
) -> None:
    lines = _long_document(20, "# A long report\n")
    root = write_notes(tmp_path / "notes", {"draft.md": "\n".join(lines), "other.md": "Another note."})
    _sync(library, root, quick, readers)
    (root / "draft.md").unlink()
    lines.insert(100, "A line that was not there before.")
    write_notes(root, {"final.md": "\n".join(lines)})
    report = _sync(library, root, quick, readers)
    assert {line.path: line.change for line in report.files} == {
        "draft.md": Change.REMOVED, "final.md": Change.NEW, "other.md": Change.UNCHANGED,
    }  # fmt: skip
    assert 1 <= report.chunks_embedded <= 2
    _assert_in_step(library)


# ------------------------------------------------------------------------------------------------------ duplicates


def test_a_duplicate_is_named_and_takes_over_when_its_original_goes(
    library: Library, tmp_path: Path, quick: _QuickEmbedder, readers: ReaderPool
) -> None:
    text = "# Pump\n\nThe pump runs at 16 bar.\n"
    root = write_notes(tmp_path / "notes", {"a.md": text, "b.md": text, "sub/c.md": text, "d.txt": text})
    report = _sync(library, root, quick, readers)
    assert {line.path: (line.change, line.chunks) for line in report.files} == {
        "a.md": (Change.NEW, 1), "b.md": (Change.DUPLICATE, 0), "sub/c.md": (Change.DUPLICATE, 0),
        "d.txt": (Change.NEW, 1),
    }  # fmt: skip
    assert (_record(library, "b.md").copy_of, _record(library, "b.md").state) == ("a.md", FileState.INDEXED)
    assert _line(report, "b.md").reason == "same content as a.md"
    assert make_plan(library, root, PROFILE).work == ()
    with pytest.raises(LibraryError, match=r"same as a\.md"):
        plan_again(library, _record(library, "b.md").id)

    (root / "a.md").unlink()
    plan = make_plan(library, root, PROFILE)
    assert [(line.path, line.change, line.why) for line in plan.work] == [
        ("b.md", Change.MOVED, "a.md"), ("sub/c.md", Change.DUPLICATE, "b.md"),
    ]  # fmt: skip
    assert _sync(library, root, quick, readers).chunks_embedded == 0
    assert (_record(library, "b.md").chunks, _record(library, "b.md").copy_of) == (1, "")
    assert _record(library, "sub/c.md").copy_of == "b.md"
    assert make_plan(library, root, PROFILE).work == ()

    (root / "b.md").write_text("# Pump\n\nThe pump runs at 25 bar.\n")
    plan = make_plan(library, root, PROFILE)
    assert [(line.path, line.change) for line in plan.work] == [
        ("sub/c.md", Change.CHANGED), ("b.md", Change.CHANGED),
    ]  # fmt: skip
    assert "b.md" in plan.work[0].why
    report = _sync(library, root, quick, readers)
    assert (_line(report, "sub/c.md").embedded, _line(report, "b.md").embedded) == (0, 1)
    _assert_in_step(library)

    (root / "sub/c.md").unlink()
    (root / "e.md").write_text("# Pump\n\nThe pump runs at 25 bar.\n")
    report = _sync(library, root, quick, readers)
    assert _line(report, "e.md").change is Change.DUPLICATE
    forget_file(library, _record(library, "b.md").id)
    assert (_record(library, "e.md").chunks, _record(library, "e.md").copy_of) == (1, "")
    _assert_in_step(library)


def test_a_library_that_is_built_anew_keeps_its_files_numbers_and_options(
    library: Library, tmp_path: Path, quick: _QuickEmbedder, readers: ReaderPool
) -> None:
    root = write_notes(tmp_path / "notes", {**NOTES, "copy.md": NOTES["a.md"], "empty.txt": ""})
    _sync(library, root, quick, readers)
    library.catalog.set_options(_record(library, "c.md").id, ReadOptions(ocr=True))
    before = {record.path: (record.id, record.state, record.copy_of) for record in library.catalog.files()}
    library.catalog.clear()
    library.vectors.clear()
    assert not any(record.state is FileState.INDEXED for record in library.catalog.files()), "never a silent green"
    (root / "sub/b.txt").unlink()
    report = _sync(library, root, quick, readers)
    assert report.chunks_embedded == 2
    del before["sub/b.txt"]
    assert {record.path: (record.id, record.state, record.copy_of) for record in library.catalog.files()} == before
    assert _record(library, "c.md").options == ReadOptions(ocr=True)
    _assert_in_step(library)


def test_copies_of_a_file_that_cannot_be_read_say_why(
    library: Library, tmp_path: Path, quick: _QuickEmbedder, readers: ReaderPool
) -> None:
    root = write_notes(tmp_path / "notes", dict.fromkeys(("a.pdf", "b.pdf"), "%PDF-1.7 and then nothing of use"))
    report = _sync(library, root, quick, readers)
    assert _line(report, "b.pdf").state is FileState.FAILED
    assert _line(report, "b.pdf").reason == f"same content as a.pdf: {_line(report, 'a.pdf').reason}"


# --------------------------------------------------------------------------------------------- recipes and settings


def test_a_setting_touches_only_what_it_changes(
    library: Library, tmp_path: Path, quick: _QuickEmbedder, readers: ReaderPool
) -> None:
    import pymupdf

    root = write_notes(tmp_path / "notes", {"note.md": "A note."})
    with pymupdf.open() as pdf:
        pdf.new_page().insert_text((72, 72), "The relief valve opens at 16 bar.")
        pdf.save(root / "paper.pdf")
    _sync(library, root, quick, readers)
    library.catalog.set_settings(LibrarySettings(layout=True))
    plan = make_plan(library, root, PROFILE)
    assert [(line.path, line.why) for line in plan.work] == [("paper.pdf", "layout analysis is now on")]
    assert make_plan(library, root, PROFILE, settings=LibrarySettings()).work == ()
    library.catalog.set_settings(LibrarySettings(ocr=True))
    assert make_plan(library, root, PROFILE).work == (), "there is nothing to recognise in either"
    plan = make_plan(library, root, ChunkProfile(64, 0))
    assert [(line.path, line.why) for line in plan.work] == [
        ("note.md", "chunk settings"), ("paper.pdf", "chunk settings"),
    ]  # fmt: skip
    library.catalog.set_settings(LibrarySettings(exclude=("*.pdf",)))
    (gone,) = make_plan(library, root, PROFILE).work
    assert (gone.path, gone.change) == ("paper.pdf", Change.REMOVED)
    assert "*.pdf" in gone.why


def test_an_encoding_that_a_person_gives_is_used_and_kept(
    library: Library, tmp_path: Path, quick: _QuickEmbedder, readers: ReaderPool
) -> None:
    root = write_notes(tmp_path / "notes", {})
    root.mkdir()
    (root / "a.txt").write_bytes("Überdruck im Kessel, größer als je zuvor.".encode("cp1252"))
    _sync(library, root, quick, readers)
    record = _record(library, "a.txt")
    library.catalog.set_options(record.id, ReadOptions(encoding="mac_roman", passwords=("secret",)))
    (line,) = make_plan(library, root, PROFILE).work
    assert (line.change, line.why) == (Change.CHANGED, "another encoding")
    _sync(library, root, quick, readers)
    record = _record(library, "a.txt")
    assert record.options == ReadOptions(encoding="mac_roman"), "passwords are never kept"
    assert "Überdruck" not in library.catalog.chunks_of(record.id)[0].text
    assert make_plan(library, root, PROFILE).work == ()


def test_an_encrypted_file_waits_for_its_password(
    library: Library, tmp_path: Path, quick: _QuickEmbedder, readers: ReaderPool
) -> None:
    import pymupdf

    root = tmp_path / "notes"
    root.mkdir()
    with pymupdf.open() as pdf:
        pdf.new_page().insert_text((72, 72), "The relief valve opens at 16 bar.")
        pdf.save(root / "locked.pdf", encryption=pymupdf.PDF_ENCRYPT_AES_256, owner_pw="o", user_pw="sesame")
    report = _sync(library, root, quick, readers)
    assert _line(report, "locked.pdf").state is FileState.FAILED
    assert _record(library, "locked.pdf").remedies == (Remedy.PASSWORD,)
    assert make_plan(library, root, PROFILE).work == ()
    plan = make_plan(library, root, PROFILE, passwords=("sesame",))
    assert [line.change for line in plan.work] == [Change.RETRY]
    *_, last = apply_plan(library, plan, quick, readers, PROFILE, passwords=("sesame",))
    assert last.result is not None
    assert _line(last.result, "locked.pdf").state is FileState.INDEXED
    library.vectors.settle()
    for path in library.folder.rglob("*"):
        assert not path.is_file() or b"sesame" not in path.read_bytes()


# -------------------------------------------------------------------------------------- what happens to folders and files


def test_a_change_that_left_size_and_time_as_they_were_is_found_by_verifying(
    library: Library, tmp_path: Path, quick: _QuickEmbedder, readers: ReaderPool
) -> None:
    root = write_notes(tmp_path / "notes", {"a.md": "The pump runs at 16 bar."})
    _sync(library, root, quick, readers)
    stamp = (root / "a.md").stat()
    with (root / "a.md").open("r+") as file:
        file.write("The pump runs at 25 bar.")
    os.utime(root / "a.md", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert make_plan(library, root, PROFILE).work == ()
    assert [line.change for line in make_plan(library, root, PROFILE, verify=True).work] == [Change.CHANGED]


@pytest.mark.parametrize("how", ["empty", "missing"])
def test_a_folder_that_is_suddenly_empty_forgets_nothing_by_itself(
    library: Library, tmp_path: Path, quick: _QuickEmbedder, readers: ReaderPool, how: str
) -> None:
    root = write_notes(tmp_path / "notes", NOTES)
    _sync(library, root, quick, readers)
    root.rename(tmp_path / "unmounted")
    if how == "empty":
        root.mkdir()
    with pytest.raises(SourceError, match="none of the 3 files|no folder"):
        make_plan(library, root, PROFILE)
    plan = make_plan(library, root, PROFILE, allow_empty=True)
    assert plan.count(Change.REMOVED) == 3
    list(apply_plan(library, plan, quick, readers, PROFILE))
    assert library.catalog.counts() == (0, 0)
    assert library.catalog.roots() == ((str(root),) if how == "empty" else ())


class _Meddling(ReaderPool):
    """Real readers, but somebody writes to the folder while they read."""

    def __init__(self, meddle: Callable[[SourceFile], None]) -> None:
        super().__init__(1, 60.0)
        self._meddle = meddle

    def read_all(
        self, files: Iterable[tuple[SourceFile, ReadOptions]]
    ) -> Iterator[tuple[SourceFile, SourceDocument | SourceError]]:
        for file, outcome in super().read_all(files):
            self._meddle(file)
            yield file, outcome


def test_a_file_that_changes_while_it_is_read_is_read_once_more(
    library: Library, tmp_path: Path, quick: _QuickEmbedder
) -> None:
    root = write_notes(tmp_path / "notes", NOTES)
    times = []

    def once(file: SourceFile) -> None:
        if file.path == "a.md" and not times:
            times.append(1)
            file.absolute.write_text("# Pump\n\nThe pump runs at 25 bar now.\n")

    with _Meddling(once) as pool:
        report = _sync(library, root, quick, pool)
    assert _line(report, "a.md").state is FileState.INDEXED
    assert len(library.catalog.search_terms(["25"], 5)) == 1
    assert library.catalog.search_terms(["16"], 5) == {}
    assert make_plan(library, root, PROFILE).work == ()


def test_a_file_that_never_comes_to_rest_is_left_to_the_next_sync(
    library: Library, tmp_path: Path, quick: _QuickEmbedder, readers: ReaderPool
) -> None:
    root = write_notes(tmp_path / "notes", NOTES)
    _sync(library, root, quick, readers)
    (root / "a.md").write_text("# Pump\n\nThe pump runs at 17 bar.\n")

    def always(file: SourceFile) -> None:
        with file.absolute.open("a") as log:
            log.write("one more line\n")

    with _Meddling(always) as pool:
        report = _sync(library, root, quick, pool)
    line = _line(report, "a.md")
    assert (line.state, line.reason) == (FileState.INDEXED, "it changed while it was read; the next sync reads it")
    assert len(library.catalog.search_terms(["16"], 5)) == 1, "what was known stays until then"
    assert [line.path for line in make_plan(library, root, PROFILE).work] == ["a.md"]


def test_a_file_that_vanishes_before_it_is_read_is_told_and_leaves_nothing(
    library: Library, tmp_path: Path, quick: _QuickEmbedder, readers: ReaderPool
) -> None:
    root = write_notes(tmp_path / "notes", NOTES)
    _sync(library, root, quick, readers)
    (root / "a.md").write_text("Another pump.")
    write_notes(root, {"new.md": "A new note."})
    plan = make_plan(library, root, PROFILE)
    (root / "a.md").unlink()
    (root / "new.md").unlink()
    *_, last = apply_plan(library, plan, quick, readers, PROFILE)
    assert last.result is not None
    for path in ("a.md", "new.md"):
        assert (_line(last.result, path).state, _line(last.result, path).reason) == (
            None, "it vanished before it could be read",
        )  # fmt: skip
    assert {record.path for record in library.catalog.files()} == {"c.md", "sub/b.txt"}
    _assert_in_step(library)


def test_a_scan_without_text_keeps_its_pages_and_what_would_help(
    library: Library, tmp_path: Path, quick: _QuickEmbedder, readers: ReaderPool
) -> None:
    import pymupdf

    root = tmp_path / "notes"
    root.mkdir()
    picture = pymupdf.Pixmap(pymupdf.csGRAY, pymupdf.IRect(0, 0, 600, 800))
    picture.clear_with(200)
    with pymupdf.open() as pdf:
        for _ in range(2):
            pdf.new_page().insert_image(pymupdf.Rect(0, 0, 595, 842), pixmap=picture)
        pdf.save(root / "scan.pdf")
    report = _sync(library, root, quick, readers)
    line = _line(report, "scan.pdf")
    record = _record(library, "scan.pdf")
    assert (line.state, line.pages, record.pages) == (FileState.FAILED, 2, 2)
    assert record.reason
    assert Remedy.OCR in record.remedies
    xray = library.xray(record.id)
    assert [page.verdict for page in xray.pages] == [PageVerdict.SCAN, PageVerdict.SCAN]
    assert all(page.problem and not page.text for page in xray.pages)
    assert make_plan(library, root, PROFILE).work == ()
    assert [line.why for line in make_plan(library, root, PROFILE, settings=LibrarySettings(ocr=True)).work] == [
        "text recognition is now on"
    ]


def test_the_xray_shows_the_text_as_it_was_read(
    library: Library, tmp_path: Path, quick: _QuickEmbedder, readers: ReaderPool
) -> None:
    text = "# One\n\n" + "A sentence of the first part. " * 40 + "\n\n## Two\n\nThe end."
    root = write_notes(tmp_path / "notes", {"a.md": text})
    _sync(library, root, quick, readers)
    xray = library.xray(_record(library, "a.md").id)
    assert xray.text.split() == text.split()
    assert not xray.stale
    assert len(xray.chunks) == xray.record.chunks > 2
    (root / "a.md").write_text("Another text.")
    assert library.xray(xray.record.id).stale


def test_the_next_plan_tells_how_long_it_will_take(
    library: Library, tmp_path: Path, quick: _QuickEmbedder, readers: ReaderPool
) -> None:
    root = write_notes(tmp_path / "notes", NOTES)
    assert make_plan(library, root, PROFILE).seconds is None
    report = _sync(library, root, quick, readers)
    assert make_plan(library, root, PROFILE).seconds == 0
    write_notes(root, {f"more/{path}": f"{text} And more." for path, text in NOTES.items()})
    seconds = make_plan(library, root, PROFILE).seconds
    assert seconds is not None
    assert 0 < seconds < 20 * report.seconds


# ------------------------------------------------------------------------------------------------------- forgetting


def test_what_is_removed_leaves_no_byte_behind(
    library: Library, shelf: Shelf, tmp_path: Path, embedder: BundledEmbedder, readers: ReaderPool
) -> None:
    secret = "The xyzzyplugh valve opens at 16 bar."
    filler = {f"{n}.md": f"# Note {n}\n\nNothing of weight about {n}." for n in range(8)}
    root = write_notes(tmp_path / "notes", {**filler, "secret.md": f"# Xyzzyplugh\n\n{secret}"})
    _sync(library, root, embedder, readers)
    other = shelf.create("Other notes")
    for keeper in (library, other):
        search = Retriever(libraries=(library,), embedder=embedder).search("At how many bar does the valve open?")
        hit = next(hit for hit in search.hits if "xyzzyplugh" in hit.chunk.text)
        citation = Citation(1, hit.chunk, hit.chunk.span, Span(0, len(secret)), "model", 1.0, ("16 bar",))
        answer = Answer(f"{secret} [1] Ask Bob.", "answered", (citation,))
        prompt = Prompt(
            (Message("user", f"Passages: {secret}"),), (Passage(1, hit, 9),), Window(9, 1, 1, 1, 1, 1, True)
        )
        trace = Trace("t", 1.0, search, prompt, None, embedder.identity, answer)
        talk = keeper.catalog.new_conversation()
        keeper.catalog.add_exchange(talk, trace)
        later = replace(trace.retrieval, question="And then?", queries=("xyzzyplugh and then?",), hits=(), stages=())
        told = replace(prompt, messages=(Message("assistant", secret),), passages=())
        keeper.catalog.add_exchange(
            talk, replace(trace, retrieval=later, prompt=told, answer=Answer("No.", "answered"))
        )
    library.catalog.compact()
    assert _places_of(library.folder, b"xyzzyplugh")

    (root / "secret.md").unlink()
    _sync(library, root, embedder, readers)
    hits = Retriever(libraries=(library,), embedder=embedder).search("xyzzyplugh valve 16 bar").hits
    assert not any("xyzzyplugh" in hit.chunk.text.lower() for hit in hits)
    assert library.catalog.search_terms(["xyzzyplugh"], 5) == {}
    assert library.catalog.document_frequencies(["xyzzyplugh"]) == {"xyzzyplugh": 0}
    for keeper in (library, other):
        (talk,) = (info.id for info in keeper.catalog.conversations())
        first, second = keeper.catalog.exchanges(talk)
        assert "xyzzyplugh" not in repr((first, second)).lower()
        assert first.trace.retrieval.question == "At how many bar does the valve open?"
        assert first.trace.answer.text.endswith("[1] Ask Bob.")
        assert first.trace.answer.citations[0].chunk.path == "secret.md"
        assert any(hit.chunk.text for hit in first.trace.retrieval.hits), "other files' passages stay"
        assert _places_of(keeper.folder, b"xyzzyplugh") == []


def _places_of(folder: Path, word: bytes) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and word in path.read_bytes().lower()]


def test_disk_space_comes_back(library: Library, tmp_path: Path, quick: _QuickEmbedder, readers: ReaderPool) -> None:
    root = write_notes(tmp_path / "notes", {"keep.md": "A note.", "big.md": "\n".join(_long_document(60))})
    _sync(library, root, quick, readers)
    before = _size(library.folder)
    (root / "big.md").unlink()
    _sync(library, root, quick, readers)
    assert _size(library.folder) < before / 3


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.glob("catalog.sqlite*"))


def test_windows_of_words_share_no_more_than_they_may(
    library: Library, tmp_path: Path, embedder: BundledEmbedder, readers: ReaderPool
) -> None:
    """A word alone has to be counted as what it is, whatever the embedder puts in front of it."""
    root = write_notes(tmp_path / "notes", {"a.txt": "The tide came in at dawn, and the boats went out. " * 12})
    for _ in apply_plan(library, make_plan(library, root, PROFILE), embedder, readers, ChunkProfile(60, 12, "words")):
        pass
    chunks = library.catalog.chunks_of(library.catalog.files()[0].id)
    assert len(chunks) > 2
    for before, after in itertools.pairwise(chunks):
        shared = before.text[after.span.start - before.span.start :]
        assert 0 < embedder.count_tokens(shared) <= 12 + embedder.count_tokens("a")
