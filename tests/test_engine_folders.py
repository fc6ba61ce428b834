"""What the engine does to stay in step with folders, and to show what it took from them."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from fakes.arxiv_server import ArxivStandIn
from material import write_notes

from rag.engine import SAMPLES, Engine
from rag.errors import EmbedderMismatch, LibraryError, SourceError
from rag.sources.arxiv import fetch
from rag.sources.fetching import FetchJob
from rag.types import AnswerDone, Change, FileState, LibrarySettings, PageVerdict, ReadOptions, Remedy

NOTES = {
    "boiler.md": "# Boiler\n\nThe relief valve of the boiler opens at 16 bar.",
    "garden.md": "# Garden\n\nThe roses are cut back in March.",
}


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return write_notes(tmp_path / "notes", NOTES)


def indexed(engine: Engine, root: Path, library: str = SAMPLES) -> None:
    for _ in engine.sync(library, root):
        pass


def until(condition: Callable[[], bool], seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come about in time"
        time.sleep(0.05)


def test_a_library_keeps_everything_under_another_name(engine: Engine, notes: Path) -> None:
    indexed(engine, notes)
    conversation = engine.new_conversation(SAMPLES)
    list(engine.ask(SAMPLES, "At how many bar does the valve open?", conversation=conversation))
    engine.use_library(SAMPLES)
    assert engine.rename_library(SAMPLES, "Work / 2026").files == 2
    assert [info.name for info in engine.libraries()] == ["Work / 2026"]
    assert engine.default_library() == "Work / 2026"
    assert engine.search("Work / 2026", "valve").hits[0].chunk.path == "boiler.md"
    assert len(engine.exchanges("Work / 2026", conversation)) == 1
    engine.create_library("Other")
    with pytest.raises(LibraryError, match="already"):
        engine.rename_library("Other", "work / 2026")


def test_changed_settings_say_what_they_touch_and_touch_no_more(engine: Engine, notes: Path) -> None:
    indexed(engine, notes)
    assert engine.plan(SAMPLES, notes).work == ()
    without = LibrarySettings(exclude=("garden*",))
    preview = engine.plan(SAMPLES, notes, settings=without)
    assert [(planned.path, planned.change) for planned in preview.work] == [("garden.md", Change.REMOVED)]
    assert engine.library_settings(SAMPLES) == LibrarySettings()  # a preview keeps nothing
    engine.set_library_settings(SAMPLES, LibrarySettings(chunk_tokens=40, chunk_overlap=5))
    planned = engine.plan(SAMPLES, notes)
    assert {file.change for file in planned.files} == {Change.CHANGED}
    assert {file.why for file in planned.files} == {"chunk settings"}
    engine.set_library_settings(SAMPLES, without)
    indexed(engine, notes)
    assert [file.path for file in engine.files(SAMPLES)] == ["boiler.md"]
    with pytest.raises(SourceError, match="the library's settings"):
        engine.set_library_settings(SAMPLES, LibrarySettings(include=("[",)))
    assert engine.library_settings(SAMPLES) == without


def test_a_watched_library_follows_its_folder(engine: Engine, notes: Path) -> None:
    indexed(engine, notes)
    engine.start_watching()
    assert not engine.folder_state(SAMPLES).watching
    engine.set_library_settings(SAMPLES, LibrarySettings(watch=True))
    assert engine.folder_state(SAMPLES).watching
    assert engine._steps._watchers[SAMPLES][1].ready.wait(20)
    (notes / "new.md").write_text("# Bicycle\n\nThe chain is oiled every 300 km.")
    until(lambda: any(file.path == "new.md" for file in engine.files(SAMPLES)))
    until(lambda: engine.job(SAMPLES).state == "done")
    until(lambda: engine.folder_state(SAMPLES).checked_at > 0)
    assert engine.folder_state(SAMPLES).changed == 0


def test_what_changes_during_a_sync_is_noticed_after_it(engine: Engine, notes: Path) -> None:
    indexed(engine, notes)
    engine.start_watching()
    engine.set_library_settings(SAMPLES, LibrarySettings(watch=True))
    assert engine._steps._watchers[SAMPLES][1].ready.wait(20)
    run = engine.sync(SAMPLES, notes)
    (notes / "boiler.md").write_text("# Boiler\n\nThe relief valve now opens at 18 bar.")
    next(run)
    (notes / "garden.md").write_text("# Garden\n\nThe roses are cut back in April.")
    time.sleep(1.0)  # so that the system has told of it while the sync still runs
    list(run)
    until(lambda: "18 bar" in str(engine.search(SAMPLES, "valve").hits[0].chunk.text))
    until(lambda: "April" in " ".join(hit.chunk.text for hit in engine.search(SAMPLES, "roses").hits))


def test_a_folder_inside_another_is_indexed_once(engine: Engine, notes: Path, tmp_path: Path) -> None:
    inner = write_notes(notes / "inner [1]", {"bike.md": "# Bike\n\nThe chain is oiled every 300 km."})
    indexed(engine, inner)
    indexed(engine, notes)
    indexed(engine, inner)
    assert sorted(file.path for file in engine.files(SAMPLES)) == ["bike.md", "boiler.md", "garden.md"]
    deeper = write_notes(inner / "deeper", {"x.md": "# X\n\nY."})
    with pytest.raises(SourceError, match="belongs to this library already"):
        engine.plan(SAMPLES, deeper)


def test_two_changes_by_hand_do_not_meet(engine: Engine, notes: Path) -> None:
    indexed(engine, notes)
    (record, _) = engine.files(SAMPLES)
    with engine._jobs[SAMPLES].hold():
        for change in (
            lambda: engine.reread_file(SAMPLES, record.id),
            lambda: engine.remove_file(SAMPLES, record.id),
            lambda: engine.start_sync(SAMPLES, notes),
            lambda: engine.rename_library(SAMPLES, "Other"),
        ):
            with pytest.raises(LibraryError, match="being read or removed"):
                change()
    assert engine.reread_file(SAMPLES, record.id).state is FileState.INDEXED


def test_an_unwatched_library_says_how_many_files_changed(engine: Engine, notes: Path) -> None:
    indexed(engine, notes)
    (notes / "boiler.md").write_text("# Boiler\n\nThe relief valve now opens at 18 bar.")
    (notes / "new.md").write_text("# New\n\nOne more.")
    until(lambda: engine.folder_state(SAMPLES).checked_at > 0)
    state = engine.folder_state(SAMPLES)
    assert (state.changed, state.missing, state.watching) == (2, (), False)


def test_a_missing_folder_is_named_and_forgotten_only_when_that_is_said(engine: Engine, notes: Path) -> None:
    indexed(engine, notes)
    notes.rename(notes.with_name("away"))
    until(lambda: engine.folder_state(SAMPLES).checked_at > 0)
    assert engine.folder_state(SAMPLES).missing == (str(notes),)
    with pytest.raises(SourceError, match="no folder"):
        engine.start_sync(SAMPLES, notes)
    assert engine.search(SAMPLES, "valve").hits
    for _ in engine.sync(SAMPLES, notes, allow_empty=True):
        pass
    assert engine.files(SAMPLES) == ()


def test_of_several_folders_one_may_be_missing(engine: Engine, notes: Path, tmp_path: Path) -> None:
    indexed(engine, notes)
    more = write_notes(tmp_path / "more", {"bike.md": "# Bike\n\nThe chain is oiled every 300 km."})
    indexed(engine, more)
    notes.rename(notes.with_name("away"))
    (more / "new.md").write_text("# New\n\nOne more.")
    engine.resume_sync(SAMPLES)
    until(lambda: engine.job(SAMPLES).state == "done")
    assert {file.path for file in engine.files(SAMPLES)} == {"boiler.md", "garden.md", "bike.md", "new.md"}
    report = engine.job(SAMPLES).report
    assert report is not None
    assert report.skipped[0][0] == str(notes)
    assert "no folder" in report.skipped[0][1]


def test_a_passage_says_when_its_file_has_changed_since(engine: Engine, notes: Path) -> None:
    indexed(engine, notes)
    chunks = [hit.chunk for hit in engine.search(SAMPLES, "relief valve roses").hits]
    boiler, garden = sorted(chunks, key=lambda chunk: chunk.path)
    assert engine.freshness(SAMPLES, chunks) == {}
    (notes / "boiler.md").write_text("# Boiler\n\nThe relief valve now opens at 18 bar.")
    (notes / "garden.md").unlink()
    assert engine.freshness(SAMPLES, chunks) == {boiler.id: "changed", garden.id: "gone"}
    indexed(engine, notes)
    assert engine.freshness(SAMPLES, chunks) == {boiler.id: "old", garden.id: "gone"}


def test_a_password_opens_an_encrypted_pdf_and_is_written_nowhere(
    engine: Engine, shared_data: Path, tmp_path: Path
) -> None:
    root = tmp_path / "locked"
    root.mkdir()
    source = shared_data / "pdf/encrypted-user/pypdf__libreoffice-writer-password.pdf"
    (root / "locked.pdf").write_bytes(source.read_bytes())
    indexed(engine, root)
    (record,) = engine.files(SAMPLES)
    assert (record.state, record.remedies) == (FileState.FAILED, (Remedy.PASSWORD,))
    report = engine.reread_file(SAMPLES, record.id, ReadOptions(passwords=("a wrong one", "openpassword")))
    assert report.state is FileState.INDEXED, report.reason
    assert engine.file_page_image(SAMPLES, record.id, 1).startswith(b"\x89PNG")
    home = engine.settings.home
    for file in (file for file in home.rglob("*") if file.is_file()):
        assert b"openpassword" not in file.read_bytes(), file


def test_an_xray_shows_pages_texts_and_chunks(engine: Engine, shared_data: Path, tmp_path: Path) -> None:
    root = tmp_path / "papers"
    root.mkdir()
    source = shared_data / "pdf/structure/pdfminer__pagelabels.pdf"
    (root / "labels.pdf").write_bytes(source.read_bytes())
    scan = shared_data / "pdf/scanned/docling__ocr_test.pdf"
    (root / "scan.pdf").write_bytes(scan.read_bytes())
    much = "It says more than a line does, so that it is a chunk by itself. " * 3
    (root / "note.md").write_text(f"---\ntitle: T\n---\n# A\n\nOne. {much}\n\n# B\n\nTwo. {much}\n")
    indexed(engine, root)
    by_path = {record.path: record for record in engine.files(SAMPLES)}
    labels = engine.xray(SAMPLES, by_path["labels.pdf"].id)
    assert len(labels.pages) == by_path["labels.pdf"].pages
    assert any(page.text for page in labels.pages)
    assert labels.chunks
    assert not labels.stale
    scanned = engine.xray(SAMPLES, by_path["scan.pdf"].id)
    assert scanned.record.state is FileState.FAILED
    assert scanned.record.remedies == (Remedy.OCR,)
    assert [page.verdict for page in scanned.pages] == [PageVerdict.SCAN]
    assert engine.file_page_image(SAMPLES, scanned.record.id, 1).startswith(b"\x89PNG")
    note = engine.xray(SAMPLES, by_path["note.md"].id)
    assert [chunk.place and (chunk.place.first, chunk.place.last) for chunk in note.chunks] == [(4, 6), (8, 10)]
    assert "One." in note.text
    (root / "note.md").write_text("# A\n\nOther.\n")
    assert engine.xray(SAMPLES, note.record.id).stale


def test_an_encoding_that_a_person_gives_is_kept(engine: Engine, tmp_path: Path) -> None:
    root = tmp_path / "old"
    root.mkdir()
    (root / "a.txt").write_bytes("Größe: 3 Äpfel für Müller".encode("mac_roman"))
    indexed(engine, root)
    (record,) = engine.files(SAMPLES)
    engine.reread_file(SAMPLES, record.id, ReadOptions(encoding="mac_roman"))
    (record,) = engine.files(SAMPLES)
    assert (record.encoding, record.options.encoding) == ("mac-roman", "mac_roman")
    assert engine.xray(SAMPLES, record.id).text == "Größe: 3 Äpfel für Müller"
    assert engine.plan(SAMPLES, root).work == ()


def test_papers_are_fetched_and_indexed(engine: Engine) -> None:
    with ArxivStandIn() as arxiv:
        job = FetchJob(engine.papers_folder(SAMPLES), partial(fetch, address=arxiv.url, pause=0.0))
        engine._fetches[SAMPLES] = job
        engine.start_fetch(SAMPLES, "2101.00001 2101.99999", 5)
        with pytest.raises(LibraryError, match="being fetched"):
            engine.delete_library(SAMPLES)
        until(lambda: engine.fetch_status(SAMPLES).state == "done")
        status = engine.fetch_status(SAMPLES)
        assert (status.fetched, [paper for paper, _ in status.failed]) == (1, ["2101.99999"])
        until(lambda: engine.job(SAMPLES).state == "done")
        assert {record.path for record in engine.files(SAMPLES)} == {"2101.00001v2.md", "2101.00001v2.pdf"}
        assert engine.search(SAMPLES, "retrieval of words").hits[0].chunk.path.startswith("2101.00001v2")


def test_a_fetch_without_a_network_says_so(engine: Engine) -> None:
    engine._fetches[SAMPLES] = FetchJob(
        engine.papers_folder(SAMPLES), partial(fetch, address="http://127.0.0.1:9", pause=0.0)
    )
    engine.start_fetch(SAMPLES, "2101.00001", 1)
    until(lambda: engine.fetch_status(SAMPLES).state == "failed", 60)
    assert engine.fetch_status(SAMPLES).error
    assert engine.job(SAMPLES).state == "idle"


def test_several_libraries_answer_as_one(engine: Engine, notes: Path, tmp_path: Path) -> None:
    indexed(engine, notes)
    engine.create_library("Bikes")
    indexed(engine, write_notes(tmp_path / "bikes", {"bike.md": "# Bike\n\nThe chain is oiled every 300 km."}), "Bikes")
    *_, last = engine.ask(SAMPLES, "How often is the chain oiled?", also=["Bikes"])
    assert isinstance(last, AnswerDone)
    best = last.trace.retrieval.hits[0].chunk
    assert (best.path, best.library) == ("bike.md", "Bikes")
    assert engine.chunk(SAMPLES, best.id) is not None  # its card opens whichever library the person is in
    assert engine.freshness(SAMPLES, [best]) == {}
    engine.rename_library("Bikes", "Cycles")
    assert engine.freshness(SAMPLES, [best]) == {}
    assert engine.chunk(SAMPLES, best.id) is not None
    engine.rename_library("Cycles", "Bikes")
    engine.delete_library("Bikes")
    assert engine.freshness(SAMPLES, [best]) == {best.id: "gone"}
    engine.create_library("Bikes")
    indexed(engine, tmp_path / "bikes", "Bikes")
    other = engine._shelf.library("Bikes").catalog
    identity = other.embedder()
    assert identity is not None
    other.set_embedder(type(identity)("bundled", "another", "", 384, True, "", "", 512))
    with pytest.raises(EmbedderMismatch, match="Bikes"):
        list(engine.ask(SAMPLES, "How often is the chain oiled?", also=["Bikes"]))


def test_check_and_repair(engine: Engine, notes: Path) -> None:
    indexed(engine, notes)
    assert {check.state for check in engine.check(SAMPLES)} <= {"ok", "off"}
    library = engine._shelf.library(SAMPLES)
    library.vectors.delete([engine.search(SAMPLES, "valve").hits[0].chunk.id])
    assert "error" in {check.state for check in engine.check(SAMPLES)}
    for event in engine.repair(SAMPLES):
        last = event
    assert last.result is not None
    assert last.result.chunks_embedded == 1
    assert {check.state for check in engine.check(SAMPLES)} <= {"ok", "off"}
    assert engine.search(SAMPLES, "relief valve").hits[0].chunk.path == "boiler.md"
