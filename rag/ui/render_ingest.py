"""Indexing as HTML: what a sync would do, how far it is, and the table of files."""

from __future__ import annotations

from collections.abc import Sequence

from rag.types import Change, FileRecord, FileState, JobStatus, SyncPlan, SyncReport
from rag.ui import texts
from rag.ui.render import date, duration, escape, figure, many, notice, progress, size

SHOWN_FILES = 300
"""Rows of the table of files; more make the page slow, and the search narrows them."""

_SHOWN_PLANNED = 100

CHANGES = {
    Change.NEW: texts.CHANGE_NEW,
    Change.CHANGED: texts.CHANGE_CHANGED,
    Change.MOVED: texts.CHANGE_MOVED,
    Change.REMOVED: texts.CHANGE_REMOVED,
    Change.RETRY: texts.CHANGE_RETRY,
    Change.UNCHANGED: texts.CHANGE_UNCHANGED,
}
STATES = {
    FileState.INDEXED: texts.STATE_INDEXED,
    FileState.PARTLY: texts.STATE_PARTLY,
    FileState.FAILED: texts.STATE_FAILED,
}


def _skipped(paths: Sequence[tuple[str, str]]) -> str:
    if not paths:
        return ""
    rows = "".join(
        f"<li><code>{escape(path)}</code> <span>{escape(reason)}</span></li>" for path, reason in paths[:_SHOWN_PLANNED]
    )
    rest = len(paths) - _SHOWN_PLANNED
    if rest > 0:
        rows += f"<li>{escape(texts.PLAN_MORE.format(count=figure(rest)))}</li>"
    label = many(len(paths), texts.SKIPPED_ONE, texts.SKIPPED)
    return f'<details class="fn-fold"><summary>{escape(label)}</summary><ul class="fn-lines">{rows}</ul></details>'


def plan(planned: SyncPlan) -> str:
    """What a sync would do: counts, and under each change its files."""
    counts, folds = [], []
    for change, label in CHANGES.items():
        files = [file for file in planned.files if file.change is change]
        if not files:
            continue
        counts.append(f'<span class="fn-count {change.value}"><b>{figure(len(files))}</b> {escape(label)}</span>')
        if change is Change.UNCHANGED:
            continue
        rows = "".join(
            f"<li><code>{escape(file.path)}</code> <span>{size(file.size)}</span></li>"
            for file in files[:_SHOWN_PLANNED]
        )
        rest = len(files) - _SHOWN_PLANNED
        if rest > 0:
            rows += f"<li>{escape(texts.PLAN_MORE.format(count=figure(rest)))}</li>"
        opened = "open" if len(files) <= 12 else ""
        folds.append(
            f'<details class="fn-fold" {opened}><summary>{figure(len(files))} {escape(label)}</summary>'
            f'<ul class="fn-lines">{rows}</ul></details>'
        )
    if not planned.files:
        body = notice(texts.PLAN_EMPTY, kind="quiet")
    elif not planned.work:
        body = notice(texts.PLAN_NOTHING, kind="quiet")
    else:
        body = "".join(folds)
    return (
        f'<section class="fn-box"><h3>{escape(texts.PLAN_TITLE)}</h3><p class="fn-root">{escape(planned.root)}</p>'
        f'<p class="fn-counts">{"".join(counts)}</p>{body}{_skipped(planned.skipped)}</section>'
    )


def _report(report: SyncReport) -> str:
    changes = ", ".join(
        f"{figure(report.count(change))} {label}" for change, label in CHANGES.items() if report.count(change)
    )
    seconds = duration(report.seconds)
    touched = [file for file in report.files if file.change is not Change.UNCHANGED]
    line = (
        texts.JOB_DONE.format(seconds=seconds, changes=changes)
        if touched
        else texts.JOB_DONE_NOTHING.format(seconds=seconds)
    )
    bad = "".join(
        f"<li><code>{escape(file.path)}</code> <span>{escape(STATES[file.state])}: {escape(file.reason)}</span></li>"
        for file in report.files
        if file.state in (FileState.PARTLY, FileState.FAILED)
    )
    told = f'<ul class="fn-lines">{bad}</ul>' if bad else ""
    return f"{notice(line, kind='quiet')}{told}{_skipped(report.skipped)}"


def job(status: JobStatus) -> str:
    """How far the library's sync is, or how the last one ended; empty when there never was one."""
    if status.state == "idle":
        return ""
    if status.state in ("running", "stopping"):
        event = status.event
        facts = [texts.JOB_STARTING]
        done = total = 0
        if event is not None:
            done, total = event.files_done, event.files_total
            facts = [
                texts.JOB_FILES.format(done=figure(done), total=figure(total)),
                texts.JOB_CHUNKS.format(count=figure(event.chunks_done)),
            ]
            if event.chunks_per_second > 0:
                facts.append(texts.JOB_SPEED.format(speed=f"{event.chunks_per_second:.1f}"))
            if event.seconds_left is not None:
                facts.append(texts.JOB_LEFT.format(time=duration(max(1.0, event.seconds_left))))
        title = texts.JOB_STOPPING if status.state == "stopping" else texts.JOB_RUNNING.format(root=status.root)
        path = f"<code>{escape(event.path)}</code>" if event is not None and event.path else "&nbsp;"
        return (
            f'<section class="fn-box fn-job" data-state="{status.state}"><h3>{escape(title)}</h3>'
            f'{progress(done, total, " · ".join(facts))}<p class="fn-at">{path}</p></section>'
        )
    if status.state == "failed":
        body = notice(status.error or texts.JOB_FAILED, status.hint, "error")
    elif status.state == "stopped":
        body = notice(texts.JOB_STOPPED)
    elif status.state == "interrupted":
        body = notice(texts.JOB_INTERRUPTED)
    else:
        body = _report(status.report) if status.report is not None else ""
    root = f'<p class="fn-root">{escape(status.root)}</p>' if body else ""
    return f'<section class="fn-box fn-job" data-state="{status.state}">{root}{body}</section>' if body else ""


def _summary(files: Sequence[FileRecord]) -> str:
    parts = []
    for state, text in (
        (FileState.INDEXED, texts.FILES_READ),
        (FileState.PARTLY, texts.FILES_PARTLY),
        (FileState.FAILED, texts.FILES_FAILED),
    ):
        count = sum(file.state is state for file in files)
        if count:
            parts.append(text.format(count=figure(count)))
    return f"{many(len(files), texts.FILES_ONE, texts.FILES_MANY)}: {', '.join(parts)}"


def files(listed: Sequence[FileRecord], needle: str = "") -> str:
    """The table of files with a summary line; ``needle`` keeps rows whose name, state or reason holds it."""
    if not listed:
        return f'<p class="fn-quiet">{escape(texts.FILES_NONE)}</p>'
    wanted = needle.strip().casefold()
    matching = [
        file for file in listed if wanted in f"{file.path}\n{file.root}\n{STATES[file.state]}\n{file.reason}".casefold()
    ]
    summary = f'<p class="fn-summary" role="status">{escape(_summary(listed))}</p>'
    if not matching:
        return f'{summary}<p class="fn-quiet">{escape(texts.FILES_NO_MATCH.format(needle=needle.strip()))}</p>'
    if len(matching) > SHOWN_FILES:
        shown = texts.FILES_SHOWN.format(shown=figure(SHOWN_FILES), total=figure(len(matching)))
        summary += f'<p class="fn-quiet">{escape(shown)}</p>'
    reasons = any(file.reason for file in matching)
    rows = "".join(_file_row(file, reasons) for file in matching[:SHOWN_FILES])
    columns = (
        ("", texts.COLUMN_FILE),
        ("", texts.COLUMN_STATE),
        ("num", texts.COLUMN_PAGES),
        ("num", texts.COLUMN_CHUNKS),
        ("num", texts.COLUMN_SIZE),
        ("", texts.COLUMN_DATE),
        *((("", texts.COLUMN_REASON),) if reasons else ()),
        ("", texts.COLUMN_ACTIONS),
    )
    head = "".join(f'<th scope="col" class="{kind}">{escape(label)}</th>' for kind, label in columns)
    return (
        f'{summary}<div class="fn-table" tabindex="0" role="region" aria-label="{escape(texts.FILES_TITLE)}"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _file_row(file: FileRecord, reasons: bool) -> str:
    reason = f'<td class="fn-reason">{escape(file.reason)}</td>' if reasons else ""
    path = escape(file.path)
    when = " ".join(f"<span>{part}</span>" for part in date(file.indexed_at).split(" "))
    return (
        f'<tr data-id="{file.id}"><th scope="row" title="{escape(file.absolute)}">{path}</th>'
        f'<td><span class="fn-state {file.state.value}">{escape(STATES[file.state])}</span></td>'
        f'<td class="num">{figure(file.pages) if file.pages else "–"}</td><td class="num">{figure(file.chunks)}</td>'
        f'<td class="num">{size(file.size)}</td><td class="fn-when">{when}</td>'
        f'{reason}<td class="fn-row-actions">'
        f'<button type="button" data-do="reread" aria-label="{escape(texts.REREAD)}: {path}">'
        f"{escape(texts.REREAD)}</button>"
        f'<button type="button" data-do="remove" title="{escape(texts.REMOVE_TITLE)}" '
        f'aria-label="{escape(texts.REMOVE)}: {path}">{escape(texts.REMOVE)}</button></td></tr>'
    )


def roots(listed: Sequence[str]) -> str:
    """The library's folders as buttons that put their path into the field."""
    if not listed:
        return ""
    buttons = "".join(
        f'<button type="button" data-do="root" data-root="{escape(root)}">{escape(root)}</button>' for root in listed
    )
    return f'<div class="fn-roots"><span>{escape(texts.ROOTS)}</span>{buttons}</div>'
