"""The Ingest tab: add a folder or drop files, see what would happen, index, watch, and look after the files."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.utils import get_upload_folder

from rag.engine import SAMPLES
from rag.errors import RagError, SourceError
from rag.types import Change, JobStatus, SyncPlan
from rag.ui import dropped, papers_box, render_ingest, render_machine, settings_box, texts
from rag.ui.desk import Desk, script, told
from rag.ui.render import escape, notice
from rag.ui.render_ingest import Show
from rag.ui.xray import xray_panel

LIVE_FILES = 2_000
"""Libraries up to this many files show each file in the table as soon as it is indexed; larger ones at the end."""

_DROP_ZONE = f"""
<div class="fn-drop" data-progress="{escape(texts.DROP_PROGRESS)}" data-one="{escape(texts.DROP_DONE_ONE)}"
  data-many="{escape(texts.DROP_DONE)}" data-nothing="{escape(texts.DROP_NOTHING)}">
  <strong>{escape(texts.DROP_TITLE)}</strong>
  <p>{escape(texts.DROP_INFO)}</p>
  <div class="fn-actions">
    <button type="button" data-input="fn-files">{escape(texts.DROP_FILES)}</button>
    <button type="button" data-input="fn-folder">{escape(texts.DROP_FOLDER)}</button>
  </div>
  <input id="fn-files" type="file" multiple hidden>
  <input id="fn-folder" type="file" webkitdirectory hidden>
  <p class="fn-drop-line" role="status"></p>
</div>
"""

IN_TURN: dict[str, Any] = {"concurrency_id": "listing"}
"""For what draws the table of files by itself or as one types: one after the other, so that what was asked for first is
not shown last."""


@dataclass
class IngestTab:
    """The tab's components."""

    state: gr.HTML
    roots: gr.HTML
    folder: gr.Textbox
    preview: gr.Button
    index: gr.Button
    stop: gr.Button
    resume: gr.Button
    drop: gr.HTML
    plan: gr.HTML
    job: gr.HTML
    show: gr.Radio
    needle: gr.Textbox
    files: gr.HTML
    xray: gr.HTML
    papers: papers_box.PapersBox
    settings: settings_box.SettingsBox
    name: gr.Textbox
    create: gr.Button
    new_name: gr.Textbox
    rename: gr.Button
    rebuild: gr.Button
    delete: gr.Button
    sure: gr.Column
    sure_text: gr.HTML
    sure_yes: gr.Button
    sure_no: gr.Button

    @property
    def running(self) -> list[Any]:
        """What :func:`job_updates` changes."""
        return [self.job, self.index, self.preview, self.stop, self.resume]

    @property
    def listing(self) -> list[Any]:
        """What :func:`file_updates` changes."""
        return [self.files, self.show, self.roots]


def ingest_tab(desk: Desk) -> IngestTab:
    """Builds the tab."""

    def keep_dropped(asked: dict[str, str]) -> dict[str, str]:
        folder = desk.engine.dropped_folder(asked["library"])
        try:
            dropped.keep(Path(asked["path"]), Path(get_upload_folder()), asked["name"], folder)
        except RagError as error:
            return {"error": str(error)}
        return {}

    state = gr.HTML(js_on_load=script("actions.js"), apply_default_css=False, elem_id="state")
    with gr.Row(elem_classes="fn-columns"):
        with gr.Column(scale=3, min_width=300):
            folder = gr.Textbox(
                label=texts.FOLDER_LABEL, placeholder=texts.FOLDER_PLACEHOLDER, max_lines=1, elem_id="folder"
            )
            roots = gr.HTML(js_on_load=script("actions.js"), apply_default_css=False, elem_id="roots")
            with gr.Row(elem_classes="fn-buttons"):
                preview = gr.Button(texts.PREVIEW, min_width=90, elem_id="preview")
                index = gr.Button(texts.INDEX, variant="primary", min_width=90, elem_id="index")
                stop = gr.Button(texts.SYNC_STOP, visible=False, min_width=90, elem_id="stop-sync")
                resume = gr.Button(texts.SYNC_RESUME, visible=False, min_width=90, elem_id="resume")
        with gr.Column(scale=2, min_width=280):
            drop = gr.HTML(
                value="",
                html_template=_DROP_ZONE,
                js_on_load=script("drop.js"),
                server_functions=[keep_dropped],
                apply_default_css=False,
                elem_id="drop",
                library="",
            )
    job = gr.HTML(apply_default_css=False, elem_id="job")
    plan = gr.HTML(js_on_load=script("actions.js"), apply_default_css=False, elem_id="plan")
    gr.HTML(f'<h3 class="fn-title">{escape(texts.FILES_TITLE)}</h3>', apply_default_css=False)
    with gr.Row(elem_classes="fn-sift"):
        show = gr.Radio(
            label=texts.FILTER,
            show_label=False,
            container=False,
            choices=[(texts.FILTER_ALL, Show.ALL.value)],
            value=Show.ALL.value,
            scale=3,
            min_width=280,
            elem_id="show",
        )
        needle = gr.Textbox(
            label=texts.FILES_SEARCH,
            show_label=False,
            container=False,
            placeholder=texts.FILES_SEARCH_PLACEHOLDER,
            max_lines=1,
            scale=2,
            min_width=200,
            elem_id="needle",
        )
    files = gr.HTML(js_on_load=script("actions.js"), apply_default_css=False, elem_id="files")
    xray = xray_panel(desk)  # over the whole page, which renders it
    papers = papers_box.papers_box()
    settings = settings_box.settings_box(desk.engine)
    with gr.Accordion(texts.LIBRARIES, open=False, elem_id="libraries"):
        with gr.Row(elem_classes="fn-buttons"):
            name = gr.Textbox(
                label=texts.LIBRARY_NAME, placeholder=texts.LIBRARY_NAME_PLACEHOLDER, max_lines=1, min_width=200
            )
            create = gr.Button(texts.LIBRARY_CREATE, min_width=140)
        with gr.Row(elem_classes="fn-buttons"):
            new_name = gr.Textbox(max_lines=1, min_width=200, elem_id="new-name")
            rename = gr.Button(texts.LIBRARY_RENAME_DO, min_width=140, elem_id="rename-library")
        with gr.Row(elem_classes="fn-buttons"):
            rebuild = gr.Button(texts.LIBRARY_REBUILD, min_width=140)
            delete = gr.Button(texts.DELETE, min_width=140)
        gr.HTML(f'<p class="fn-quiet">{escape(texts.LIBRARY_REBUILD_INFO)}</p>', apply_default_css=False)
        with gr.Column(visible=False) as sure:
            sure_text = gr.HTML(apply_default_css=False)
            with gr.Row(elem_classes="fn-buttons"):
                sure_no = gr.Button(texts.LIBRARY_DELETE_NO, min_width=120)
                sure_yes = gr.Button(texts.LIBRARY_DELETE_YES, variant="stop", min_width=120)
    return IngestTab(
        state, roots, folder, preview, index, stop, resume, drop, plan, job, show, needle, files, xray, papers,
        settings, name, create, new_name, rename, rebuild, delete, sure, sure_text, sure_yes, sure_no,
    )  # fmt: skip


def is_running(job: JobStatus) -> bool:
    """Whether a sync is at work."""
    return job.state in ("running", "stopping")


def job_updates(tab: IngestTab, job: JobStatus) -> dict[Any, Any]:
    """How far the sync is, and the buttons that fit."""
    running = is_running(job)
    return {
        tab.job: render_ingest.job(job),
        tab.index: gr.update(interactive=not running),
        tab.preview: gr.update(interactive=not running),
        tab.stop: gr.update(visible=running, interactive=job.state == "running"),
        tab.resume: gr.update(visible=job.state in ("stopped", "interrupted")),
    }


def file_updates(desk: Desk, tab: IngestTab, library: str, needle: str, show: str) -> dict[Any, Any]:
    """The table of files, what can be picked from it, and the library's folders."""
    listed = desk.engine.files(library)
    choices = render_ingest.shows(listed)
    picked = Show(show) if any(show == value for _, value in choices) else Show.ALL
    on_disk, new = _on_disk(desk, library) if picked is Show.CHANGED else ({}, 0)
    return {
        tab.files: render_ingest.files(listed, needle, picked, on_disk, new),
        tab.show: gr.update(choices=choices, value=picked.value),
        tab.roots: render_ingest.roots(desk.info(library).roots),
    }


def _on_disk(desk: Desk, library: str) -> tuple[dict[int, str], int]:
    """By number, what has become of the library's files on disk; and how many are not in it yet."""
    found: dict[int, str] = {}
    new = 0
    for root in desk.info(library).roots:
        try:
            plan = desk.engine.plan(library, Path(root), allow_empty=True)
        except SourceError:
            lost = [file.id for file in desk.engine.files(library) if file.root == root]
            found |= dict.fromkeys(lost, texts.DISK_MISSING)
            continue
        found |= render_ingest.on_disk(plan)
        new += plan.count(Change.NEW)
    return found, new


def library_updates(desk: Desk, tab: IngestTab, library: str) -> dict[Any, Any]:
    """The whole tab for a library that was just opened."""
    info = desk.info(library)
    sample = str(desk.engine.sample_folder()) if library == SAMPLES else ""
    return {
        tab.folder: info.roots[0] if info.roots else sample,
        tab.plan: "",
        tab.needle: "",
        tab.drop: gr.update(library=library),
        tab.xray: gr.update(library=library),
        tab.new_name: gr.update(label=texts.LIBRARY_RENAME.format(name=library), value=""),
        tab.rebuild: gr.update(interactive=bool(info.roots)),
        tab.delete: gr.update(value=texts.LIBRARY_DELETE.format(name=library)),
        tab.sure: gr.update(visible=False),
        tab.state: folder_state(desk, library),
        **settings_box.shown(tab.settings, desk.engine, info.settings),
        **papers_box.updates(tab.papers, desk.engine.fetch_status(library)),
        **job_updates(tab, desk.engine.job(library)),
        **file_updates(desk, tab, library, "", Show.ALL),
    }


def outputs(tab: IngestTab) -> list[Any]:
    """The components that :func:`library_updates` changes."""
    return [
        tab.folder, tab.plan, tab.needle, tab.drop, tab.xray, tab.new_name, tab.rebuild, tab.delete, tab.sure,
        tab.state, *tab.settings.fields, tab.settings.saved, *tab.papers.changing, *tab.running, *tab.listing,
    ]  # fmt: skip


def _folder(typed: str) -> Path:
    if not typed.strip():
        raise SourceError(texts.FOLDER_EMPTY)
    return Path(typed.strip())


def _gone(desk: Desk, library: str, folder: Path, error: SourceError) -> str:
    """Asks whether the files of a folder that is missing or suddenly empty are to be removed from the library.

    Raises:
        SourceError: The library holds no file of it, so that there is nothing to ask.
    """
    held = [file for file in desk.engine.files(library) if Path(file.root) == folder]
    if not held:
        raise error
    return render_ingest.gone(error.message, error.hint, str(folder), len(held))


def wire_ingest(desk: Desk, tab: IngestTab, library: gr.State, timer: gr.Timer) -> None:
    """Lets the person preview, index, stop, resume, drop, search, remove, read again and change the settings."""
    engine = desk.engine

    def planned(in_library: str, folder: Path, *, verify: bool = False) -> str:
        try:
            plan = engine.plan(in_library, folder, verify=verify)
        except SourceError as error:
            return _gone(desk, in_library, folder, error)
        known = any(file.record is not None for file in plan.files)
        sharing = render_machine.in_a_sync(engine.inspector.sharing_plan(in_library)) if plan.work else ""
        return render_ingest.plan(plan, verified=verify, known=known, sharing=sharing)

    def started(in_library: str) -> dict[Any, Any]:
        return {timer: gr.Timer(active=True), tab.plan: "", **job_updates(tab, engine.job(in_library))}

    def begin(in_library: str, folder: Path, *, verify: bool = False) -> dict[Any, Any]:
        try:
            engine.start_sync(in_library, folder, verify=verify)
        except SourceError as error:
            return {tab.plan: _gone(desk, in_library, folder, error)}
        return started(in_library)

    @told
    def preview(in_library: str, typed: str) -> str:
        return planned(in_library, _folder(typed))

    @told
    def verify(event: gr.EventData, in_library: str) -> str:
        return planned(in_library, Path(event.root), verify=True)

    @told
    def index(in_library: str, typed: str) -> dict[Any, Any]:
        return begin(in_library, _folder(typed))

    @told
    def index_planned(event: gr.EventData, in_library: str) -> dict[Any, Any]:
        return begin(in_library, Path(event.root), verify=bool(event.verified))

    @told
    def forget(event: gr.EventData, in_library: str) -> dict[Any, Any]:
        engine.start_sync(in_library, Path(event.root), allow_empty=True)
        return started(in_library)

    @told
    def resume(in_library: str) -> dict[Any, Any]:
        engine.resume_sync(in_library)
        return started(in_library)

    @told
    def rebuild(in_library: str) -> dict[Any, Any]:
        engine.start_rebuild(in_library)
        return started(in_library)

    @told
    def stop(in_library: str) -> dict[Any, Any]:
        engine.stop_sync(in_library)
        return job_updates(tab, engine.job(in_library))

    @told
    def take_dropped(in_library: str) -> tuple[str, str]:
        folder = engine.dropped_folder(in_library)
        return str(folder), planned(in_library, folder)

    def choose_root(event: gr.EventData) -> str:
        return str(event.root)

    @told
    def search(in_library: str, needle: str, show: str) -> dict[Any, Any]:
        return file_updates(desk, tab, in_library, needle, show)

    @told
    def remove(event: gr.EventData, in_library: str, needle: str, show: str) -> dict[Any, Any]:
        record = next((file for file in engine.files(in_library) if file.id == event.id), None)
        if record is not None:
            engine.remove_file(in_library, record.id)
            dropped.forget(engine.dropped_folder(in_library), record.absolute)
            gr.Info(escape(texts.REMOVED_FILE.format(path=record.path)), title="")
        return file_updates(desk, tab, in_library, needle, show)

    @told
    def reread(event: gr.EventData, in_library: str, needle: str, show: str) -> dict[Any, Any]:
        report = engine.reread_file(in_library, int(event.id))
        state = render_ingest.STATES[report.state] if report.state is not None else texts.CHANGE_REMOVED
        line = texts.REREAD_FILE_WHY if report.reason else texts.REREAD_FILE
        gr.Info(escape(line.format(path=report.path, state=state, reason=report.reason)), title="")
        return file_updates(desk, tab, in_library, needle, show)

    @told
    def save(in_library: str, *fields: Any) -> dict[Any, Any]:
        kept = engine.library_settings(in_library)
        typed = settings_box.typed(*fields)
        engine.set_library_settings(
            in_library, replace(typed, evidence=kept.evidence, evidence_embedder=kept.evidence_embedder)
        )
        plans = plans_of_all(desk, in_library)
        done = render_ingest.touched(plans) if plans else notice(texts.SETTINGS_SAVED, kind="quiet")
        return {tab.settings.saved: done, tab.state: folder_state(desk, in_library)}

    quiet: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
    busy: dict[str, Any] = {"show_progress": "minimal", "api_visibility": "private"}
    begun = [timer, tab.plan, *tab.running]
    sifted = [library, tab.needle, tab.show]
    tab.preview.click(preview, [library, tab.folder], tab.plan, **busy)
    tab.folder.submit(preview, [library, tab.folder], tab.plan, **busy)
    tab.plan.verify(verify, library, tab.plan, **busy)
    tab.plan.index(index_planned, library, begun, **quiet)
    tab.plan.forget(forget, library, begun, **quiet)
    tab.index.click(index, [library, tab.folder], begun, **quiet)
    tab.resume.click(resume, library, begun, **quiet)
    tab.rebuild.click(rebuild, library, begun, **quiet)
    tab.stop.click(stop, library, tab.running, **quiet)
    tab.drop.dropped(take_dropped, library, [tab.folder, tab.plan], **quiet)
    tab.roots.root(choose_root, None, tab.folder, **quiet)
    tab.needle.change(search, sifted, tab.listing, trigger_mode="always_last", **quiet, **IN_TURN)
    tab.show.input(search, sifted, tab.listing, trigger_mode="always_last", **quiet, **IN_TURN)
    tab.files.remove(remove, sifted, tab.listing, **quiet)
    tab.files.reread(reread, sifted, tab.listing, **busy)
    tab.xray.reread(search, sifted, tab.listing, **quiet, **IN_TURN)
    tab.settings.save.click(save, [library, *tab.settings.fields], [tab.settings.saved, tab.state], **busy)
    papers_box.wire_papers(desk, tab.papers, library, timer)


def plans_of_all(desk: Desk, library: str) -> list[SyncPlan]:
    """What a sync of each of the library's folders would do; without those that cannot be read at present."""
    plans = []
    for root in desk.info(library).roots:
        try:
            plans.append(desk.engine.plan(library, Path(root)))
        except SourceError:
            continue  # the state line names it
    return plans


def folder_state(desk: Desk, library: str) -> str:
    """Whether the library is in step with its folders, as HTML."""
    engine = desk.engine
    roots = desk.info(library).roots
    return render_ingest.state(engine.folder_state(library), roots, syncing=is_running(engine.job(library)))
