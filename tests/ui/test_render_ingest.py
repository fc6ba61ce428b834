from dataclasses import replace
from pathlib import Path

from page_values import HOSTILE, parse

from rag.types import Change, FileRecord, FileReport, FileState, JobStatus, PlannedFile, SyncEvent, SyncPlan, SyncReport
from rag.ui import render_ingest

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
    assert "1 path is not read" in tree.text
    assert tree.text.count(HOSTILE) == 3


def test_a_plan_without_work_says_so() -> None:
    same = SyncPlan("L", Path("/n"), (PlannedFile(Change.UNCHANGED, "a.md", 1),))
    assert "up to date" in parse(render_ingest.plan(same)).text
    assert "No file" in parse(render_ingest.plan(SyncPlan("L", Path("/n"), ()))).text


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
