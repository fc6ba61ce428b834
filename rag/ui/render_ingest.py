"""Indexing as HTML: what a sync would do, how far it is, and the table of files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from rag.types import (
    Change,
    FetchStatus,
    FileRecord,
    FileState,
    FolderState,
    JobStatus,
    PlannedFile,
    Remedy,
    SyncPlan,
    SyncReport,
)
from rag.ui import texts
from rag.ui.render import clock, date, duration, encoding, escape, figure, many, notice, progress, size, table

SHOWN_FILES = 300
"""Rows of the table of files; more make the page slow, and the search narrows them."""

_SHOWN_PLANNED = 100
_OPEN_FOLD = 12
_QUIET_CHANGES = (Change.UNCHANGED, Change.DUPLICATE)

CHANGES = {
    Change.NEW: texts.CHANGE_NEW,
    Change.CHANGED: texts.CHANGE_CHANGED,
    Change.MOVED: texts.CHANGE_MOVED,
    Change.REMOVED: texts.CHANGE_REMOVED,
    Change.RETRY: texts.CHANGE_RETRY,
    Change.DUPLICATE: texts.CHANGE_DUPLICATE,
    Change.UNCHANGED: texts.CHANGE_UNCHANGED,
}
STATES = {
    FileState.INDEXED: texts.STATE_INDEXED,
    FileState.PARTLY: texts.STATE_PARTLY,
    FileState.FAILED: texts.STATE_FAILED,
}

_ASKS = {
    Remedy.PASSWORD: texts.ASK_PASSWORD,
    Remedy.OCR: texts.ASK_OCR,
    Remedy.ENCODING: texts.ASK_ENCODING,
}


class Show(StrEnum):
    """Which files the table shows."""

    ALL = "all"
    FAILED = "failed"
    PARTLY = "partly"
    CHANGED = "changed"
    COPIES = "copies"


SHOWS = {
    Show.ALL: texts.FILTER_ALL,
    Show.FAILED: texts.FILTER_FAILED,
    Show.PARTLY: texts.FILTER_PARTLY,
    Show.CHANGED: texts.FILTER_CHANGED,
    Show.COPIES: texts.FILTER_COPIES,
}


def _fold(label: str, lines: Sequence[tuple[str, str]], title: str = "", opened: bool = False) -> str:
    """A list of paths, each with a word about it, that can be opened and is cut aloud when it is long."""
    rows = "".join(
        f"<li><code>{escape(path)}</code> <span>{escape(told)}</span></li>" for path, told in lines[:_SHOWN_PLANNED]
    )
    rest = len(lines) - _SHOWN_PLANNED
    if rest > 0:
        rows += f"<li>{escape(texts.PLAN_MORE.format(count=figure(rest)))}</li>"
    return (
        f'<details class="fn-fold" {"open" if opened else ""}>'
        f'<summary title="{escape(title)}">{escape(label)}</summary>'
        f'<ul class="fn-lines">{rows}</ul></details>'
    )


def _skipped(paths: Sequence[tuple[str, str]]) -> str:
    return _fold(many(len(paths), texts.SKIPPED_ONE, texts.SKIPPED), paths) if paths else ""


def _about(file: PlannedFile) -> str:
    """What a line of the plan says beside the path: its size, and why it is there."""
    why = file.why
    if file.change is Change.MOVED and why:
        why = texts.MOVED_FROM.format(place=why)
    elif file.change is Change.DUPLICATE and why:
        why = texts.COPY_OF.format(place=why)
    return " · ".join(filter(None, (why, size(file.size))))


def _change(planned: SyncPlan, change: Change) -> tuple[str, str]:
    """One kind of change: its count with its size, and the list of its files."""
    files = [file for file in planned.files if file.change is change]
    if not files:
        return "", ""
    bytes_in_all = sum(file.size for file in files)
    label, title = CHANGES[change], texts.CHANGE_TITLES.get(change.value, "")
    count = (
        f'<span class="fn-count {change.value}" title="{escape(title)}"><b>{figure(len(files))}</b> {escape(label)} '
        f"<small>{size(bytes_in_all)}</small></span>"
    )
    if change is Change.UNCHANGED:
        return count, ""
    opened = len(files) <= _OPEN_FOLD and change not in _QUIET_CHANGES
    lines = [(file.path, _about(file)) for file in files]
    return count, _fold(f"{figure(len(files))} {label}, {size(bytes_in_all)}", lines, title, opened)


def plan(planned: SyncPlan, *, verified: bool = False, known: bool = True, sharing: str = "") -> str:
    """What a sync would do: counts and sizes, its time, under each change its files, and what can be done now.

    Args:
        planned: The plan.
        verified: Whether the content of every file was compared.
        known: Whether the library holds files of this folder, so that there is something to verify.
        sharing: What it would do with the graphics card, as HTML; empty: nothing.
    """
    parts = [_change(planned, change) for change in CHANGES]
    counts, folds = "".join(count for count, _ in parts), "".join(fold for _, fold in parts)
    if not planned.files:
        body = notice(texts.PLAN_EMPTY, kind="quiet")
    elif not planned.work:
        body = notice(texts.PLAN_NOTHING_VERIFIED if verified else texts.PLAN_NOTHING, kind="quiet") + folds
    else:
        card = f'<p class="fn-quiet">{sharing}</p>' if sharing else ""
        body = f'<p class="fn-cost">{escape(cost([planned]))}</p>{card}{folds}'
    root = escape(planned.root)
    buttons = ""
    if planned.work:
        index = escape(texts.INDEX)
        buttons += (
            f'<button type="button" class="fn-primary" data-do="index" data-root="{root}" '
            f'data-verified="{"yes" if verified else "no"}">{index}</button>'
        )
    if known and not verified:
        buttons += (
            f'<button type="button" data-do="verify" data-root="{root}" title="{escape(texts.VERIFY_TITLE)}">'
            f"{escape(texts.VERIFY)}</button>"
        )
    return (
        f'<section class="fn-box"><h3>{escape(texts.PLAN_TITLE)}</h3><p class="fn-root">{root}</p>'
        f'<p class="fn-counts">{counts}</p>{body}{_skipped(planned.skipped)}'
        f'<div class="fn-actions">{buttons}</div></section>'
    )


def cost(planned: Sequence[SyncPlan]) -> str:
    """How much there is to read, and how long it takes; empty where nothing is read."""
    reading = (Change.NEW, Change.CHANGED, Change.RETRY)
    files = [file for each in planned for file in each.files if file.change in reading]
    if not files:
        return ""
    seconds = [each.seconds for each in planned if each.work]
    amount = texts.PLAN_TOTAL.format(
        count=many(len(files), texts.PLAN_TOTAL_FILES_ONE, texts.PLAN_TOTAL_FILES),
        size=size(sum(file.size for file in files)),
    )
    known = [each for each in seconds if each is not None]
    if len(known) < len(seconds):
        return f"{amount}; {texts.PLAN_TIME_UNKNOWN}"
    return f"{amount}; {texts.PLAN_TIME.format(time=duration(max(1.0, sum(known))))}"


def touched(planned: Sequence[SyncPlan]) -> str:
    """What a sync of all folders would do, in one line a reason: what saved settings lead to."""
    files = [file for each in planned for file in each.work]
    if not files:
        return notice(texts.SETTINGS_SAVED_NOTHING, kind="quiet")
    reasons: dict[str, int] = {}
    for file in files:
        # Where a file was, or which one it repeats, is of its own; only what a setting leads to is told together.
        why = file.why if file.change in (Change.CHANGED, Change.REMOVED, Change.RETRY) else ""
        label = f"{CHANGES[file.change]} ({why})" if why else CHANGES[file.change]
        reasons[label] = reasons.get(label, 0) + 1
    count = many(len(files), texts.FILES_ONE, texts.FILES_MANY)
    lines = ", ".join(f"{figure(number)} {label}" for label, number in reasons.items())
    button = f'<button type="button" data-do="sync">{escape(texts.SYNC)}</button>'
    title = texts.SETTINGS_SAVED_TOUCHES.format(count=count)
    return f'{notice(title, f"{lines}. {cost(planned)}", "quiet")}<div class="fn-actions">{button}</div>'


def gone(message: str, hint: str, root: str, held: int) -> str:
    """A folder that is missing or suddenly empty: nothing happens before the person confirms it."""
    told = many(held, texts.PLAN_GONE_ONE, texts.PLAN_GONE)
    return (
        f'<section class="fn-box">{notice(message, hint)}<h3>{escape(texts.PLAN_GONE_TITLE)}</h3>'
        f'<p class="fn-root">{escape(root)}</p><p>{escape(told)}</p><div class="fn-actions">'
        f'<button type="button" data-do="forget" data-root="{escape(root)}">{escape(texts.PLAN_GONE_YES)}</button>'
        "</div></section>"
    )


def _report(report: SyncReport) -> str:
    changes = ", ".join(
        f"{figure(report.count(change))} {label}" for change, label in CHANGES.items() if report.count(change)
    )
    seconds = duration(report.seconds)
    touched_files = [file for file in report.files if file.change is not Change.UNCHANGED]
    line = (
        texts.JOB_DONE.format(seconds=seconds, changes=changes)
        if touched_files
        else texts.JOB_DONE_NOTHING.format(seconds=seconds)
    )
    bad = [
        (file.path, f"{STATES[file.state]}: {file.reason}")
        for file in touched_files
        if file.state in (FileState.PARTLY, FileState.FAILED)
    ]
    told = ""
    if bad:
        label = texts.JOB_BAD_ONE if len(bad) == 1 else texts.JOB_BAD.format(count=figure(len(bad)))
        told = _fold(label, bad, opened=len(bad) <= _OPEN_FOLD)
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


def state(folders: FolderState, info_roots: Sequence[str], *, syncing: bool = False) -> str:
    """Whether the library is in step with its folders, with the button that brings it there.

    Args:
        folders: What was seen of the folders.
        info_roots: The library's folders.
        syncing: Whether a sync runs.
    """
    if not info_roots:
        return f'<p class="fn-step empty" role="status">{escape(texts.STATE_EMPTY)}</p>'
    kind, label, button = "good", many(len(info_roots), texts.STATE_IN_STEP_ONE, texts.STATE_IN_STEP), ""
    if syncing:
        kind, label = "busy", texts.STATE_SYNCING
    elif not folders.checked_at:
        kind, label = "busy", texts.STATE_LOOKING
    elif folders.missing:
        kind, label = "missing", texts.STATE_MISSING.format(folders=", ".join(folders.missing))
    elif folders.changed:
        kind, label = "behind", many(folders.changed, texts.STATE_CHANGED_ONE, texts.STATE_CHANGED)
        button = f'<button type="button" data-do="sync">{escape(texts.SYNC)}</button>'
    told = f" <span>· {escape(texts.STATE_WATCHING)}</span>" if folders.watching else ""
    if folders.checked_at and not syncing:
        when = escape(texts.STATE_CHECKED.format(time=clock(folders.checked_at)))
        told += f' <span class="fn-checked">· {when}</span>'
    return f'<p class="fn-step {kind}" role="status"><b>{escape(label)}</b>{told}{button}</p>'


def _summary(files: Sequence[FileRecord]) -> str:
    parts = []
    for file_state, text in (
        (FileState.INDEXED, texts.FILES_READ),
        (FileState.PARTLY, texts.FILES_PARTLY),
        (FileState.FAILED, texts.FILES_FAILED),
    ):
        those = [file for file in files if file.state is file_state]
        if those or file_state is FileState.INDEXED:
            copies = sum(bool(file.copy_of) for file in those)
            told = f" ({many(copies, texts.FILES_COPIES_ONE, texts.FILES_COPIES)})" if copies else ""
            parts.append(text.format(count=figure(len(those))) + told)
    return f"{many(len(files), texts.FILES_ONE, texts.FILES_MANY)}: {', '.join(parts)}"


def shows(listed: Sequence[FileRecord]) -> list[tuple[str, str]]:
    """The choices of which files to show, each with its label and how many there are; empty ones are left out."""
    counts = {show: sum(_belongs(file, show, {}) for file in listed) for show in Show}
    return [
        (label if show is Show.CHANGED else f"{label} {figure(counts[show])}", show.value)
        for show, label in SHOWS.items()
        if show in (Show.ALL, Show.CHANGED) or counts[show]
    ]


def _belongs(file: FileRecord, show: Show, on_disk: Mapping[int, str]) -> bool:
    match show:
        case Show.FAILED:
            return file.state is FileState.FAILED
        case Show.PARTLY:
            return file.state is FileState.PARTLY
        case Show.COPIES:
            return bool(file.copy_of)
        case Show.CHANGED:
            return file.id in on_disk
        case _:
            return True


def _reason(file: FileRecord, on_disk: Mapping[int, str]) -> str:
    return " ".join(filter(None, (on_disk.get(file.id, ""), file.reason)))


def files(
    listed: Sequence[FileRecord],
    needle: str = "",
    show: Show = Show.ALL,
    on_disk: Mapping[int, str] | None = None,
    new: int = 0,
) -> str:
    """The table of files with a summary line.

    Args:
        listed: All files of the library.
        needle: Keeps rows whose name, state or reason holds it.
        show: Keeps rows of that kind.
        on_disk: By number, what has become of a file on disk since it was indexed; looked at for ``Show.CHANGED``.
        new: Files that are on disk and not in the library yet.
    """
    if not listed:
        return f'<p class="fn-quiet">{escape(texts.FILES_NONE)}</p>'
    on_disk = on_disk or {}
    wanted = needle.strip().casefold()
    kept = [file for file in listed if _belongs(file, show, on_disk)]
    matching = [
        file
        for file in kept
        if wanted in f"{file.path}\n{file.root}\n{STATES[file.state]}\n{_reason(file, on_disk)}".casefold()
    ]
    summary = f'<p class="fn-summary" role="status">{escape(_summary(listed))}</p>'
    if new and show is Show.CHANGED:
        summary += f'<p class="fn-quiet">{escape(many(new, texts.FILES_NEW_ONE, texts.FILES_NEW))}</p>'
    if not matching:
        told = texts.FILES_NO_MATCH.format(needle=needle.strip()) if wanted else texts.FILES_NONE_SUCH
        return f'{summary}<p class="fn-quiet">{escape(told)}</p>'
    if len(matching) > SHOWN_FILES:
        shown = texts.FILES_SHOWN.format(shown=figure(SHOWN_FILES), total=figure(len(matching)))
        summary += f'<p class="fn-quiet">{escape(shown)}</p>'
    encodings = any(file.encoding for file in matching)
    rows = "".join(_file_row(file, _reason(file, on_disk), encodings) for file in matching[:SHOWN_FILES])
    columns = (
        ("", texts.COLUMN_FILE),
        ("", texts.COLUMN_STATE),
        ("num", texts.COLUMN_PAGES),
        ("num", texts.COLUMN_CHUNKS),
        ("num", texts.COLUMN_SIZE),
        *((("", texts.COLUMN_ENCODING),) if encodings else ()),
        ("", texts.COLUMN_DATE),
        ("", texts.COLUMN_ACTIONS),
    )
    head = "".join(f'<th scope="col" class="{kind}">{escape(label)}</th>' for kind, label in columns)
    return summary + table(texts.FILES_TITLE, head, rows)


def _file_row(file: FileRecord, reason: str, encodings: bool) -> str:
    path = escape(file.path)
    why = f'<small class="fn-reason" dir="auto">{escape(reason)}</small>' if reason else ""
    coding = f'<td class="fn-when">{escape(encoding(file.encoding))}</td>' if encodings else ""
    when = " ".join(f"<span>{part}</span>" for part in date(file.indexed_at).split(" "))
    look = escape(texts.OPEN_XRAY.format(path=file.path))
    asks = "".join(
        f'<button type="button" data-do="xray" aria-label="{label} {path}">{label}</button>'
        for label in (escape(_ASKS[remedy]) for remedy in file.remedies)
    )
    return (
        f'<tr data-id="{file.id}"><th scope="row" title="{escape(file.absolute)}">'
        f'<button type="button" class="fn-open" data-do="xray" aria-label="{look}">{path}</button>{why}</th>'
        f'<td><span class="fn-state {file.state.value}">{escape(STATES[file.state])}</span></td>'
        f'<td class="num">{figure(file.pages) if file.pages else "–"}</td><td class="num">{figure(file.chunks)}</td>'
        f'<td class="num">{size(file.size)}</td>{coding}<td class="fn-when">{when}</td>'
        f'<td class="fn-row-actions">{asks}'
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


def on_disk(planned: SyncPlan) -> dict[int, str]:
    """What has become of a folder's files on disk since they were indexed, by the number of the file."""
    told = {
        Change.CHANGED: texts.DISK_CHANGED,
        Change.MOVED: texts.DISK_MOVED,
        Change.REMOVED: texts.DISK_REMOVED,
    }
    return {
        file.record.id: told[file.change]
        for file in planned.files
        if file.record
        and file.change in told
        and (file.change is not Change.CHANGED or file.sha256 != file.record.sha256)
    }


def fetch(status: FetchStatus) -> str:
    """How far the fetching of papers is, or how it ended; empty when there never was any."""
    if status.state == "idle":
        return ""
    facts = [
        many(count, one, more)
        for count, one, more in (
            (status.fetched, texts.PAPERS_FETCHED_ONE, texts.PAPERS_FETCHED),
            (status.skipped, texts.PAPERS_SKIPPED_ONE, texts.PAPERS_SKIPPED),
            (len(status.failed), texts.PAPERS_FAILED_ONE, texts.PAPERS_FAILED),
        )
        if count
    ]
    failures = _fold(many(len(status.failed), texts.PAPERS_FAILED_ONE, texts.PAPERS_FAILED), status.failed, opened=True)
    bad = failures if status.failed else ""
    asked = f'<p class="fn-root">{escape(status.wanted)}</p>'
    if status.state in ("running", "stopping"):
        count = texts.PAPERS_COUNT.format(done=figure(status.done), total=figure(status.total))
        line = " · ".join([count, *facts]) if status.total else texts.PAPERS_LOOKING
        running = texts.PAPERS_RUNNING.format(wanted=status.wanted)
        title = texts.PAPERS_STOPPING if status.state == "stopping" else running
        at = f'<p class="fn-at">{escape(status.current) or "&nbsp;"}</p>'
        body = f"<h3>{escape(title)}</h3>{progress(status.done, status.total, line)}{at}{bad}"
    elif status.state == "failed":
        done = f"<p>{escape(', '.join(facts))}.</p>" if facts else ""
        body = f"{asked}{notice(status.error or texts.PAPERS_BROKEN, status.hint, 'error')}{done}{bad}"
    else:
        ends = {"stopped": texts.PAPERS_STOPPED, "interrupted": texts.PAPERS_INTERRUPTED}
        line = f"{', '.join(facts)}." if facts else texts.PAPERS_NONE if status.state == "done" else ""
        body = f"{asked}{notice(' '.join(filter(None, (line, ends.get(status.state, '')))), kind='quiet')}{bad}"
    return f'<section class="fn-box fn-job" data-state="{status.state}">{body}</section>'
