"""The side bar: which library, which model, how many passages, which conversation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gradio as gr

from rag.types import ModelChoice, Status
from rag.ui import render, render_chat, texts
from rag.ui.background import Background
from rag.ui.desk import Desk, Download, script, told
from rag.ui.ingest_tab import folder_state

NOTES_MOST = 12
"""Most passages that can be asked for."""


@dataclass
class Sidebar:
    """The side bar's components."""

    library: gr.Dropdown
    state: gr.HTML
    also: gr.CheckboxGroup
    model: gr.Dropdown
    notes: gr.Dropdown
    embedder: gr.Dropdown
    wanted: gr.Dropdown
    pull: gr.Button
    pull_stop: gr.Button
    pulling: gr.HTML
    conversations: gr.HTML


def side_bar(desk: Desk) -> Sidebar:
    """Builds the side bar."""

    def export_conversation(asked: dict[str, Any]) -> str:
        return desk.engine.export_conversation(asked["library"], asked["conversation"])

    with gr.Sidebar(label=texts.SIDEBAR, width=300, elem_id="side"):
        library = gr.Dropdown(label=texts.LIBRARY, choices=[], elem_id="library")
        state = gr.HTML(js_on_load=script("actions.js"), apply_default_css=False, elem_id="side-state")
        also = gr.CheckboxGroup(label=texts.ALSO, choices=[], visible=False, elem_id="also")
        model = gr.Dropdown(label=texts.MODEL, choices=[], elem_id="model")
        chosen = desk.engine.settings.notes
        notes = gr.Dropdown(
            label=texts.NOTES,
            choices=[(texts.NOTES_AUTO, 0), *((str(count), count) for count in range(1, NOTES_MOST + 1))],
            value=chosen if chosen <= NOTES_MOST else NOTES_MOST,
            filterable=False,
            elem_id="notes",
        )
        with gr.Accordion(texts.MORE_MODELS, open=False, elem_id="models"):
            embedder = gr.Dropdown(label=texts.EMBEDDER, info=texts.EMBEDDER_INFO, choices=[])
            wanted = gr.Dropdown(label=texts.PULL_WHICH, info=texts.PULL_INFO, choices=[], allow_custom_value=True)
            pulling = gr.HTML(apply_default_css=False)
            pull = gr.Button(texts.PULL, size="sm")
            pull_stop = gr.Button(texts.PULL_STOP, size="sm", visible=False)
        conversations = gr.HTML(
            html_template="<div data-library='${library}'></div>${value}",
            js_on_load=script("conversations.js"),
            server_functions=[export_conversation],
            apply_default_css=False,
            elem_id="conversations",
            library="",
        )
    return Sidebar(library, state, also, model, notes, embedder, wanted, pull, pull_stop, pulling, conversations)


def _current(status: Status, choices: list[ModelChoice], kind: str) -> str | None:
    """The id, among the choices, of what is in use."""
    if kind == "chat":
        chat = status.chat
        names = {chat.provider, f"{chat.provider}:{chat.name}"} if chat else set()
    else:
        embedder = status.embedder
        names = {embedder.model, f"{embedder.provider}:{embedder.model}"} if embedder else set()
        if embedder is not None and embedder.provider == "bundled":
            names.add("e5-small")
        if embedder is not None and "bge-m3" in embedder.model.lower():
            names.add("bge-m3")
    return next((choice.id for choice in choices if choice.id in names), None)


def model_updates(desk: Desk, bar: Sidebar) -> dict[Any, Any]:
    """What the model choices show now."""
    status, models = desk.engine.status(), desk.engine.models()
    updates: dict[Any, Any] = {}
    for component, kind in ((bar.model, "chat"), (bar.embedder, "embedding")):
        ready = [choice for choice in models if choice.kind == kind and choice.ready]
        empty = [(texts.NO_MODEL_CHOICE, "")] if not ready else []
        value = _current(status, ready, kind)
        updates[component] = gr.update(
            choices=[*((choice.label, choice.id) for choice in ready), *empty],
            value=value if ready else "",
            interactive=bool(ready),
        )
    missing = [choice for choice in models if not choice.ready]
    labels = [
        texts.NOT_READY.format(label=choice.label, size=f", {render.size(choice.size)}" if choice.size else "")
        for choice in missing
    ]
    updates[bar.wanted] = gr.update(choices=list(zip(labels, (choice.id for choice in missing), strict=True)))
    return updates


def library_updates(desk: Desk, bar: Sidebar, library: str, conversation: int | None) -> dict[Any, Any]:
    """What the library choice and the list of conversations show now."""
    names = [info.name for info in desk.engine.libraries()]
    others = [name for name in names if name != library]
    return {
        bar.library: gr.update(choices=names, value=library),
        bar.also: gr.update(choices=others, value=[], visible=bool(others)),
        bar.state: folder_state(desk, library),
        bar.conversations: conversation_list(desk, library, conversation),
    }


def conversation_list(desk: Desk, library: str, conversation: int | None) -> Any:
    """The list of conversations, as an update of its component."""
    listed = desk.engine.conversations(library)
    return gr.update(value=render_chat.conversations(listed, conversation), library=render.escape(library))


def pull_updates(desk: Desk, bar: Sidebar) -> dict[Any, Any]:
    """How far the download is."""
    download = desk.download
    running = download is not None and download.work.running
    return {
        bar.pulling: download_progress(download),
        bar.pull: gr.update(visible=not running),
        bar.pull_stop: gr.update(visible=running),
    }


def download_progress(download: Download | None) -> str:
    """The download as HTML; empty when there was none."""
    if download is None:
        return ""
    work = download.work
    if work.error is not None:
        return render.notice(work.error.message, work.error.hint, "error")
    if work.running:
        last = work.events[-1] if work.events else None
        label = texts.DOWNLOADING.format(model=download.label)
        if last is not None:
            amount = f"{render.size(last.done)} / {render.size(last.total)}" if last.total else render.size(last.done)
            label = f"{label}: {amount} · {last.status}"
        return render.progress(last.done if last else 0, last.total if last else 0, label)
    if work.stopping:
        return render.notice(texts.PULL_STOPPED, kind="quiet")
    return render.notice(texts.PULL_DONE.format(model=download.label), kind="quiet")


def start_download(desk: Desk, model: str) -> None:
    """Begins to fetch a model in the background."""
    if not model:
        gr.Info(texts.PULL_CHOOSE, title="")
        return
    if desk.download is not None and desk.download.work.running:
        gr.Info(texts.PULL_BUSY, title="")
        return
    label = next((choice.label for choice in desk.engine.models() if choice.id == model), model)
    desk.download = Download(model, label, Background(desk.engine.pull_model(model)))


def wire_models(desk: Desk, bar: Sidebar, library: gr.State, status: gr.HTML, timer: gr.Timer) -> None:
    """Lets the person choose and fetch models."""

    @told
    def use(model: str | None, in_library: str) -> dict[Any, Any]:
        if model:
            desk.engine.use_model(model)
        return {status: render.status_line(desk.engine.status(in_library)), **model_updates(desk, bar)}

    @told
    def pull(model: str | None) -> dict[Any, Any]:
        start_download(desk, (model or "").strip())
        return {timer: gr.Timer(active=True), **pull_updates(desk, bar)}

    def stop() -> None:
        if desk.download is not None:
            desk.download.work.stop()

    shown = [status, bar.model, bar.embedder, bar.wanted]
    for choice in (bar.model, bar.embedder):
        choice.input(use, [choice, library], shown, show_progress="hidden", api_visibility="private")
    bar.pull.click(
        pull,
        bar.wanted,
        [timer, bar.pulling, bar.pull, bar.pull_stop],
        show_progress="hidden",
        api_visibility="private",
    )
    bar.pull_stop.click(stop, None, None, show_progress="hidden", api_visibility="private")
