from dataclasses import replace
from pathlib import Path

from page_values import HOSTILE, parse

from rag.types import (
    Change,
    FetchStatus,
    FileRecord,
    FileReport,
    FileState,
    FolderState,
    JobStatus,
    PlannedFile,
    Remedy,
    SyncEvent,
    SyncPlan,
    SyncReport,
)
from rag.ui import render_ingest
from rag.ui.render_ingest import Show

RECORD = FileRecord(7, "/notes", HOSTILE, 2_000, 0, "ab", FileState.FAILED, HOSTILE, "T", 0, 0, 0.0)


def test_a_plan_counts_every_change_and_lists_what_has_work() -> None:
    files = [PlannedFile(Change.NEW, f"n{number}.md", 10) for number in range(150)]
    files += [PlannedFile(Change.REMOVED, HOSTILE, 10), PlannedFile(Change.UNCHANGED, "same.md", 10)]
    tree = parse(render_ingest.plan(SyncPlan("L", Path("/n"), tuple(files), ((HOSTILE, HOSTILE),))))
    assert "150 new" in tree.text
    assert "1 removed" in tree.text
    assert "1 unchanged" in tree.text
    assert "and 50 more" in tree.text
    assert "same.md" not in tree.text
    assert "1 path is left out" in tree.text
    assert ("button", "data-do", "index") in tree.attributes
    assert tree.text.count(HOSTILE) == 3


def test_a_plan_without_work_says_so() -> None:
    same = SyncPlan("L", Path("/n"), (PlannedFile(Change.UNCHANGED, "a.md", 1),))
    assert "up to date" in parse(render_ingest.plan(same)).text
    assert "No file" in parse(render_ingest.plan(SyncPlan("L", Path("/n"), ()))).text


def test_a_plan_tells_sizes_time_and_why() -> None:
    files = (
        PlannedFile(Change.NEW, "a.md", 3_000),
        PlannedFile(Change.CHANGED, "b.md", 2_000, why=f"chunk settings {HOSTILE}"),
        PlannedFile(Change.MOVED, "new/c.md", 500, why="old/c.md"),
        PlannedFile(Change.DUPLICATE, "d.md", 3_000, why="a.md"),
    )
    plan = SyncPlan("L", Path("/n"), files, (), 170.0)
    text = parse(render_ingest.plan(plan)).text
    for part in (
        "1 new 3 KB",
        f"chunk settings {HOSTILE} · 2 KB",
        "was old/c.md",
        "same as a.md",
        "2 files to index, 5 KB",
    ):
        assert part in text
    assert "about 2 min 50 s at the speed measured here" in text
    assert "not known yet" in parse(render_ingest.plan(replace(plan, seconds=None))).text
    moved = replace(plan, files=files[2:3], seconds=None)
    assert "not known yet" not in parse(render_ingest.plan(moved)).text


def test_the_content_is_checked_once_and_only_where_something_is_known() -> None:
    plan = SyncPlan("L", Path(HOSTILE), (PlannedFile(Change.UNCHANGED, "a.md", 1),))
    assert ("button", "data-do", "verify") in parse(render_ingest.plan(plan)).attributes
    assert 'data-do="verify"' not in render_ingest.plan(plan, known=False)
    checked = parse(render_ingest.plan(plan, verified=True))
    assert "content of every file was compared" in checked.text
    assert ("button", "data-do", "verify") not in checked.attributes


def test_a_folder_that_is_gone_is_asked_about() -> None:
    tree = parse(render_ingest.gone(HOSTILE, "Connect the drive.", HOSTILE, 412))
    assert "412 files" in tree.text
    assert "nothing on disk is touched" in tree.text
    assert ("button", "data-root", HOSTILE) in tree.attributes


def test_saved_settings_say_what_they_touch() -> None:
    files = [PlannedFile(Change.CHANGED, f"{number}.pdf", 1_000, why="layout analysis") for number in range(12)]
    files += [PlannedFile(Change.REMOVED, "x.bak", 5, why="left out"), PlannedFile(Change.MOVED, "y", 5, why="z")]
    tree = parse(render_ingest.touched([SyncPlan("L", Path("/n"), tuple(files))]))
    assert "touches 14 files" in tree.text
    assert "12 changed (layout analysis), 1 removed (left out), 1 moved" in tree.text
    assert ("button", "data-do", "sync") in tree.attributes
    assert "stay as they are" in render_ingest.touched([SyncPlan("L", Path("/n"), ())])


def test_the_state_of_the_folders() -> None:
    checked = FolderState(0, False, (), 1_000_000.0)
    assert "No folder yet" in render_ingest.state(checked, ())
    assert "In step with 2 folders" in render_ingest.state(checked, ("/a", "/b"))
    assert "checked" in render_ingest.state(checked, ("/a",))
    behind = parse(render_ingest.state(replace(checked, changed=3, watching=True), ("/a",)))
    assert "3 files changed" in behind.text
    assert "watching" in behind.text
    assert ("button", "data-do", "sync") in behind.attributes
    assert HOSTILE in parse(render_ingest.state(replace(checked, missing=(HOSTILE,)), ("/a",))).text
    assert "Syncing now" in render_ingest.state(checked, ("/a",), syncing=True)
    assert "In step" not in render_ingest.state(replace(checked, checked_at=0.0), ("/a",))


def test_a_running_job_shows_file_count_speed_and_time_left() -> None:
    event = SyncEvent(HOSTILE, 3, 12, 40, 2.25, 200.0)
    tree = parse(render_ingest.job(JobStatus("running", "/n", event)))
    for part in ("3 of 12 files", "40 passages", "2.2 passages/s", "about 3 min 20 s left", HOSTILE):
        assert part in tree.text
    assert ("progress", "max", "12") in tree.attributes
    assert "Looking through" in parse(render_ingest.job(JobStatus("running", "/n"))).text


def test_every_end_of_a_job_is_told() -> None:
    assert render_ingest.job(JobStatus()) == ""
    assert "Resume" in parse(render_ingest.job(JobStatus("stopped", "/n"))).text
    assert "interrupted" in parse(render_ingest.job(JobStatus("interrupted", "/n"))).text
    assert HOSTILE in parse(render_ingest.job(JobStatus("failed", "/n", error=HOSTILE, hint="Try"))).text
    reports = (
        FileReport("a.md", Change.NEW, FileState.INDEXED, "", 0, 3, 3),
        FileReport(HOSTILE, Change.NEW, FileState.PARTLY, "page 3: no text", 3, 3, 3),
        FileReport("c.md", Change.REMOVED, None),
    )
    done = parse(render_ingest.job(JobStatus("done", "/n", report=SyncReport("L", "/n", reports, (), 3.0))))
    assert "2 new, 1 removed" in done.text
    assert "partly: page 3: no text" in done.text


def test_the_table_of_files_has_a_summary_and_can_be_searched() -> None:
    good = replace(RECORD, id=1, path="good.md", state=FileState.INDEXED, reason="", chunks=4)
    tree = parse(render_ingest.files((good, RECORD)))
    assert "2 files: 1 read, 1 not" in tree.text
    assert ("tr", "data-id", "7") in tree.attributes
    assert "2 KB" in tree.text
    assert HOSTILE in tree.text
    found = parse(render_ingest.files((good, RECORD), " GOOD ")).text
    assert "good.md" in found
    assert "not read" not in found
    assert HOSTILE in parse(render_ingest.files((good,), HOSTILE)).text
    assert "drop files" in parse(render_ingest.files(())).text


def test_a_long_table_is_cut_aloud() -> None:
    many = tuple(replace(RECORD, id=number) for number in range(render_ingest.SHOWN_FILES + 5))
    tree = parse(render_ingest.files(many))
    assert tree.tags.count("tr") == render_ingest.SHOWN_FILES + 1
    assert "300 of 305 shown" in tree.text


def test_roots_are_buttons() -> None:
    assert ("button", "data-root", HOSTILE) in parse(render_ingest.roots((HOSTILE,))).attributes
    assert render_ingest.roots(()) == ""


def test_the_summary_is_exact() -> None:
    read = [replace(RECORD, id=number, state=FileState.INDEXED, reason="") for number in range(398)]
    read[:12] = [replace(file, copy_of="a.md") for file in read[:12]]
    partly = [replace(RECORD, state=FileState.PARTLY)] * 9
    text = parse(render_ingest.files((*read, *partly, *[RECORD] * 5))).text
    assert "412 files: 398 read (12 of them copies), 9 partly, 5 not" in text
    assert "1 file: 0 read, 1 not" in parse(render_ingest.files((RECORD,))).text


def test_filters_are_offered_where_they_find_something() -> None:
    good = replace(RECORD, id=1, path="good.md", state=FileState.INDEXED, reason="")
    copy = replace(good, id=2, path="copy.md", copy_of="good.md", reason="same content as good.md")
    listed = (good, copy, RECORD)
    assert [label for label, _ in render_ingest.shows(listed)] == ["All 3", "Not read 1", "Changed on disk", "Copies 1"]
    assert parse(render_ingest.files(listed, "", Show.COPIES)).tags.count("tr") == 2
    assert "good.md" not in parse(render_ingest.files(listed, "", Show.FAILED)).text.replace(HOSTILE, "")
    changed = parse(render_ingest.files(listed, "", Show.CHANGED, {1: "Changed on disk."}, 2)).text
    assert "Changed on disk." in changed
    assert "2 new files" in changed
    assert "No file is in this list" in parse(render_ingest.files(listed, "", Show.CHANGED)).text


def test_what_changed_on_disk_leaves_out_what_only_the_settings_changed() -> None:
    def planned(change: Change, number: int, why: str = "") -> PlannedFile:
        return PlannedFile(
            change, f"{number}.md", 1, record=replace(RECORD, id=number), sha256="ab" if why else "cd", why=why
        )

    plan = SyncPlan(
        "L",
        Path("/n"),
        (
            planned(Change.CHANGED, 1),
            planned(Change.CHANGED, 2, "chunk settings"),
            planned(Change.MOVED, 3, "old.md"),
            planned(Change.REMOVED, 4),
            planned(Change.UNCHANGED, 5),
        ),
    )
    assert list(render_ingest.on_disk(plan)) == [1, 3, 4]


def test_a_row_opens_the_file_and_offers_what_helps() -> None:
    locked = replace(RECORD, remedies=(Remedy.PASSWORD, Remedy.OCR), encoding="cp932")
    tree = parse(render_ingest.files((locked,)))
    assert [value for _, name, value in tree.attributes if name == "data-do"] == [
        "xray", "xray", "xray", "reread", "remove",
    ]  # fmt: skip
    assert "Password…" in tree.text
    assert "CP932" in tree.text


def test_a_fetch_shows_its_progress_and_every_failure() -> None:
    assert render_ingest.fetch(FetchStatus()) == ""
    assert "Asking arxiv.org" in parse(render_ingest.fetch(FetchStatus("running", HOSTILE))).text
    status = FetchStatus("running", HOSTILE, 3, 10, HOSTILE, 1, 1, (("2005.1", HOSTILE),))
    tree = parse(render_ingest.fetch(status))
    for part in ("3 of 10 papers", "1 paper fetched", "1 was there already", "1 could not be had", "2005.1"):
        assert part in tree.text
    assert ("progress", "max", "10") in tree.attributes
    assert (
        "Try later"
        in parse(render_ingest.fetch(replace(status, state="failed", error="No network.", hint="Try later."))).text
    )
    assert "goes on from here" in parse(render_ingest.fetch(replace(status, state="stopped"))).text
    assert "1 paper fetched, 1 was there" in parse(render_ingest.fetch(replace(status, state="done"))).text
    assert "no paper" in parse(render_ingest.fetch(FetchStatus("done", "nonsense"))).text
