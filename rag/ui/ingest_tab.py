"""The Ingest tab: add a folder or drop files, see what would happen, index, watch, and look after the files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.utils import get_upload_folder

from rag.engine import SAMPLES
from rag.errors import RagError, SourceError
from rag.types import JobStatus
from rag.ui import dropped, render_ingest, texts
from rag.ui.desk import Desk, script, told
from rag.ui.render import escape

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


@dataclass
class IngestTab:
    """The tab's components."""

    roots: gr.HTML
    folder: gr.Textbox
    preview: gr.Button
    index: gr.Button
    stop: gr.Button
    resume: gr.Button
    drop: gr.HTML
    plan: gr.HTML
    job: gr.HTML
    needle: gr.Textbox
    files: gr.HTML
    name: gr.Textbox
    create: gr.Button
    rebuild: gr.Button
    delete: gr.Button
    sure: gr.Column
    sure_text: gr.HTML
    sure_yes: gr.Button
    sure_no: gr.Button


def ingest_tab(desk: Desk) -> IngestTab:
    """Builds the tab."""

    def keep_dropped(asked: dict[str, str]) -> dict[str, str]:
        folder = desk.engine.dropped_folder(asked["library"])
        try:
            dropped.keep(Path(asked["path"]), Path(get_upload_folder()), asked["name"], folder)
        except RagError as error:
            return {"error": str(error)}
        return {}

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
    plan = gr.HTML(apply_default_css=False, elem_id="plan")
    gr.HTML(f'<h3 class="fn-title">{escape(texts.FILES_TITLE)}</h3>', apply_default_css=False)
    needle = gr.Textbox(
        label=texts.FILES_SEARCH,
        show_label=False,
        container=False,
        placeholder=texts.FILES_SEARCH_PLACEHOLDER,
        max_lines=1,
        elem_id="needle",
    )
    files = gr.HTML(js_on_load=script("actions.js"), apply_default_css=False, elem_id="files")
    with gr.Accordion(texts.LIBRARIES, open=False, elem_id="libraries"):
        with gr.Row(elem_classes="fn-buttons"):
            name = gr.Textbox(
                label=texts.LIBRARY_NAME, placeholder=texts.LIBRARY_NAME_PLACEHOLDER, max_lines=1, min_width=200
            )
            create = gr.Button(texts.LIBRARY_CREATE, min_width=140)
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
        roots, folder, preview, index, stop, resume, drop, plan, job, needle, files, name, create, rebuild, delete,
        sure, sure_text, sure_yes, sure_no,
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


def file_updates(desk: Desk, tab: IngestTab, library: str, needle: str) -> dict[Any, Any]:
    """The table of files and the library's folders."""
    return {
        tab.files: render_ingest.files(desk.engine.files(library), needle),
        tab.roots: render_ingest.roots(desk.info(library).roots),
    }


def library_updates(desk: Desk, tab: IngestTab, library: str) -> dict[Any, Any]:
    """The whole tab for a library that was just opened."""
    info = desk.info(library)
    sample = str(desk.engine.sample_folder()) if library == SAMPLES else ""
    return {
        tab.folder: info.roots[0] if info.roots else sample,
        tab.plan: "",
        tab.needle: "",
        tab.drop: gr.update(library=library),
        tab.rebuild: gr.update(interactive=bool(info.roots)),
        tab.delete: gr.update(value=texts.LIBRARY_DELETE.format(name=library)),
        tab.sure: gr.update(visible=False),
        **job_updates(tab, desk.engine.job(library)),
        **file_updates(desk, tab, library, ""),
    }


def outputs(tab: IngestTab) -> list[Any]:
    """The components that :func:`library_updates` changes."""
    return [
        tab.folder, tab.plan, tab.needle, tab.drop, tab.rebuild, tab.delete, tab.sure, tab.job, tab.index, tab.preview,
        tab.stop, tab.resume, tab.files, tab.roots,
    ]  # fmt: skip


def _folder(typed: str) -> Path:
    if not typed.strip():
        raise SourceError(texts.FOLDER_EMPTY)
    return Path(typed.strip())


def wire_ingest(desk: Desk, tab: IngestTab, library: gr.State, timer: gr.Timer) -> None:
    """Lets the person preview, index, stop, resume, drop, search, remove and read again."""
    engine = desk.engine

    @told
    def preview(in_library: str, typed: str) -> str:
        return render_ingest.plan(engine.plan(in_library, _folder(typed)))

    @told
    def index(in_library: str, typed: str) -> dict[Any, Any]:
        engine.start_sync(in_library, _folder(typed))
        return {timer: gr.Timer(active=True), tab.plan: "", **job_updates(tab, engine.job(in_library))}

    @told
    def resume(in_library: str) -> dict[Any, Any]:
        engine.resume_sync(in_library)
        return {timer: gr.Timer(active=True), tab.plan: "", **job_updates(tab, engine.job(in_library))}

    @told
    def rebuild(in_library: str) -> dict[Any, Any]:
        engine.start_rebuild(in_library)
        return {timer: gr.Timer(active=True), tab.plan: "", **job_updates(tab, engine.job(in_library))}

    @told
    def stop(in_library: str) -> dict[Any, Any]:
        engine.stop_sync(in_library)
        return job_updates(tab, engine.job(in_library))

    @told
    def take_dropped(in_library: str) -> tuple[str, str]:
        folder = engine.dropped_folder(in_library)
        return str(folder), render_ingest.plan(engine.plan(in_library, folder))

    def choose_root(event: gr.EventData) -> str:
        return str(event.root)

    @told
    def search(in_library: str, needle: str) -> str:
        return render_ingest.files(engine.files(in_library), needle)

    @told
    def remove(event: gr.EventData, in_library: str, needle: str) -> dict[Any, Any]:
        record = next((file for file in engine.files(in_library) if file.id == event.id), None)
        if record is not None:
            engine.remove_file(in_library, record.id)
            dropped.forget(engine.dropped_folder(in_library), record.absolute)
            gr.Info(escape(texts.REMOVED_FILE.format(path=record.path)), title="")
        return file_updates(desk, tab, in_library, needle)

    @told
    def reread(event: gr.EventData, in_library: str, needle: str) -> dict[Any, Any]:
        report = engine.reread_file(in_library, int(event.id))
        state = render_ingest.STATES[report.state] if report.state is not None else texts.CHANGE_REMOVED
        gr.Info(escape(texts.REREAD_FILE.format(path=report.path, state=state)), title="")
        return file_updates(desk, tab, in_library, needle)

    quiet: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
    buttons = [tab.job, tab.index, tab.preview, tab.stop, tab.resume]
    plans: dict[str, Any] = {"show_progress": "minimal", "api_visibility": "private"}
    tab.preview.click(preview, [library, tab.folder], tab.plan, **plans)
    tab.folder.submit(preview, [library, tab.folder], tab.plan, **plans)
    tab.index.click(index, [library, tab.folder], [timer, tab.plan, *buttons], **quiet)
    tab.resume.click(resume, library, [timer, tab.plan, *buttons], **quiet)
    tab.rebuild.click(rebuild, library, [timer, tab.plan, *buttons], **quiet)
    tab.stop.click(stop, library, buttons, **quiet)
    tab.drop.dropped(take_dropped, library, [tab.folder, tab.plan], **quiet)
    tab.roots.root(choose_root, None, tab.folder, **quiet)
    tab.needle.change(search, [library, tab.needle], tab.files, trigger_mode="always_last", **quiet)
    tab.files.remove(remove, [library, tab.needle], [tab.files, tab.roots], **quiet)
    tab.files.reread(reread, [library, tab.needle], [tab.files, tab.roots], **plans)
