"""The page: builds the Blocks and wires what concerns more than one tab."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gradio as gr

from rag.engine import Engine
from rag.types import LibraryInfo
from rag.ui import answer_part as answer_room
from rag.ui import diagnostics_tab as diagnostics_room
from rag.ui import ingest_tab as ingest_room
from rag.ui import papers_box as papers_room
from rag.ui import render, texts
from rag.ui import search_box as search_room
from rag.ui import sidebar as side_room
from rag.ui.chat_tab import chat_tab, field_update, is_here, offer_value, problem_value, thread_value, wire_chat
from rag.ui.desk import Desk, told
from rag.ui.papers_box import is_fetching

_QUIET: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
_CACHE_SECONDS = 3600
_PULSE = 5.0
"""Seconds between two looks at the folders."""


def build_page(engine: Engine) -> gr.Blocks:
    """Builds the page for an engine; theme and style are given when it is launched."""
    desk = Desk(engine)
    page: gr.Blocks = gr.Blocks(
        title=texts.TITLE, analytics_enabled=False, delete_cache=(_CACHE_SECONDS, _CACHE_SECONDS), fill_width=True
    )
    with page:
        library, conversation = gr.State(""), gr.State(None)
        timer, pulse, seen = gr.Timer(1.0, active=False), gr.Timer(_PULSE), gr.State(None)
        bar = side_room.side_bar(desk)
        status = gr.HTML(render.status_line(None), apply_default_css=False, elem_id="status")
        with gr.Tabs(selected="chat", elem_id="tabs") as tabs:
            with gr.Tab(texts.TAB_CHAT, id="chat"):
                chat = chat_tab(desk)
            with gr.Tab(texts.TAB_INGEST, id="ingest"):
                ingest = ingest_room.ingest_tab(desk)
            with gr.Tab(texts.TAB_DIAGNOSTICS, id="diagnostics"):
                diagnostics = diagnostics_room.diagnostics_tab(desk)
        ingest.xray.render()  # type: ignore[no-untyped-call]  # over all tabs, wherever it is asked for

        side_room.wire_models(desk, bar, library, status, timer)
        ingest_room.wire_ingest(desk, ingest, library, timer)
        diagnostics_room.wire_diagnostics(desk, diagnostics, library)
        answer_shown, follow = wire_chat(desk, chat, bar, library, conversation)

        def opened(name: str, number: int | None) -> dict[Any, Any]:
            """Everything on the page for that library and conversation."""
            info = desk.info(name)
            if info.error:
                return unreadable(info)
            engine.use_library(name)
            desk.conversations[name] = number
            busy = (
                ingest_room.is_running(engine.job(name))
                or is_fetching(engine.fetch_status(name))
                or (desk.download is not None and desk.download.work.running)
            )
            return {
                library: name,
                conversation: number,
                chat.thread: thread_value(desk, name, number),
                chat.offer: offer_value(desk),
                chat.question: field_update(desk),
                **search_room.cleared(chat.options),
                **answer_room.updates(diagnostics.answer, answer_room.last_shown(desk, name)),
                timer: gr.Timer(active=busy),
                **side_room.library_updates(desk, bar, name, number),
                **ingest_room.library_updates(desk, ingest, name),
            }

        def unreadable(info: LibraryInfo) -> dict[Any, Any]:
            """What is left to show of a library that cannot be opened: why, and the way out."""
            names = [known.name for known in engine.libraries()]
            return {
                library: info.name,
                conversation: None,
                chat.thread: problem_value(info.name, info.error),
                bar.library: gr.update(choices=names, value=info.name),
                bar.state: "",
                ingest.state: "",
                bar.conversations: "",
                ingest.delete: gr.update(value=texts.LIBRARY_DELETE.format(name=info.name)),
                ingest.job: render.notice(info.error, kind="error"),
                ingest.files: "",
                **answer_room.updates(diagnostics.answer, None),
            }

        whole = [
            library, conversation, chat.thread, chat.offer, chat.question, chat.options.chosen, *chat.options.fields,
            *answer_room.outputs(diagnostics.answer), timer, bar.library, bar.state, bar.also, bar.conversations,
            *ingest_room.outputs(ingest),
        ]  # fmt: skip
        models = [status, bar.model, bar.embedder, bar.wanted, bar.pulling, bar.pull, bar.pull_stop]

        def model_state(name: str) -> dict[Any, Any]:
            return {
                status: render.status_line(engine.status(name)),
                **side_room.model_updates(desk, bar),
                **side_room.pull_updates(desk, bar),
            }

        @told
        def load() -> dict[Any, Any]:
            name = engine.default_library()
            return {**opened(name, desk.first_conversation(name)), **model_state(name)}

        @told
        def open_library(name: str) -> dict[Any, Any]:
            return opened(name, desk.first_conversation(name))

        @told
        def open_conversation(event: gr.EventData, name: str) -> dict[Any, Any]:
            return _conversation_view(name, int(event.id))

        @told
        def new_conversation(name: str) -> dict[Any, Any]:
            return _conversation_view(name, None)

        @told
        def rename(event: gr.EventData, name: str, current: int | None) -> Any:
            engine.rename_conversation(name, int(event.id), str(event.title))
            return side_room.conversation_list(desk, name, current)

        @told
        def remove_conversation(event: gr.EventData, name: str) -> dict[Any, Any]:
            gone = int(event.id)
            if is_here(desk, name, gone) and desk.answering is not None:
                desk.answering.work.stop()
                desk.answering = None
            engine.delete_conversation(name, gone)
            return _conversation_view(name, None)

        def _conversation_view(name: str, number: int | None) -> dict[Any, Any]:
            desk.conversations[name] = number
            return {
                conversation: number,
                chat.thread: thread_value(desk, name, number),
                chat.question: field_update(desk),
                bar.conversations: side_room.conversation_list(desk, name, number),
            }

        @told
        def tick(name: str, number: int | None, needle: str, show: str) -> dict[Any, Any]:
            """Looks at the work in the background; when all of it is over, shows what it left and stops ticking."""
            job = engine.job(name)
            busy = ingest_room.is_running(job)
            fetch = engine.fetch_status(name)
            downloading = desk.download is not None and desk.download.work.running
            updates = {
                chat.offer: offer_value(desk),
                **ingest_room.job_updates(ingest, job),
                **papers_room.updates(ingest.papers, fetch),
                **side_room.pull_updates(desk, bar),
                **folder_states(name),
            }
            if desk.turns(name, number) == 0:
                updates[chat.thread] = thread_value(desk, name, number)
            if not busy or desk.info(name).files <= ingest_room.LIVE_FILES:
                updates |= ingest_room.file_updates(desk, ingest, name, needle, show)
            if not busy and not downloading and not is_fetching(fetch):
                updates |= {timer: gr.Timer(active=False), **model_state(name)}
            return updates

        def folder_states(name: str) -> dict[Any, Any]:
            told_state = ingest_room.folder_state(desk, name)
            return {ingest.state: told_state, bar.state: told_state}

        @told
        def look(name: str, number: int | None, needle: str, show: str, before: Any) -> dict[Any, Any]:
            """Looks now and then whether the folders changed, or a watched library began to sync by itself."""
            job = engine.job(name)
            now = (engine.folder_state(name).changed, job.state, job.started_at)
            updates = folder_states(name)
            if now == before:
                return updates
            answering = desk.answering is not None and desk.answering.work.running
            if before is not None and not answering:
                updates[chat.thread] = thread_value(desk, name, number)
            if before is not None:
                updates |= ingest_room.file_updates(desk, ingest, name, needle, show)
                updates |= ingest_room.job_updates(ingest, job)
            if ingest_room.is_running(job):
                updates[timer] = gr.Timer(active=True)
            return {**updates, seen: now}

        @told
        def index_sample(name: str) -> dict[Any, Any]:
            engine.start_sync(name, engine.sample_folder())
            return {
                timer: gr.Timer(active=True),
                chat.thread: thread_value(desk, name, None),
                **ingest_room.job_updates(ingest, engine.job(name)),
            }

        @told
        def sync_all(name: str) -> dict[Any, Any]:
            engine.resume_sync(name)
            return {
                timer: gr.Timer(active=True),
                ingest.plan: "",
                **ingest_room.job_updates(ingest, engine.job(name)),
                **folder_states(name),
            }

        @told
        def pull_offered(event: gr.EventData) -> dict[Any, Any]:
            side_room.start_download(desk, str(event.model))
            return {timer: gr.Timer(active=True), chat.offer: offer_value(desk), **side_room.pull_updates(desk, bar)}

        @told
        def inspect(event: gr.EventData, name: str, number: int | None) -> dict[Any, Any]:
            shown = answer_room.exchange_shown(desk, name, number, int(event.index))
            return {
                tabs: gr.Tabs(selected="diagnostics"),
                diagnostics.parts: gr.Tabs(selected="answer"),
                **answer_room.updates(diagnostics.answer, shown),
            }

        @told
        def create_library(typed: str) -> dict[Any, Any]:
            info = engine.create_library(typed.strip())
            gr.Info(render.escape(texts.LIBRARY_CREATED.format(name=info.name)), title="")
            return {**opened(info.name, None), ingest.name: ""}

        @told
        def rename_library(name: str, typed: str) -> dict[Any, Any]:
            info = engine.rename_library(name, typed.strip())
            desk.rename(name, info.name)
            gr.Info(render.escape(texts.LIBRARY_RENAMED.format(name=info.name)), title="")
            return opened(info.name, desk.first_conversation(info.name))

        def ask_delete(name: str) -> tuple[Any, str]:
            return gr.update(visible=True), render.notice(texts.LIBRARY_DELETE_ASK.format(name=name))

        @told
        def delete_library(name: str) -> dict[Any, Any]:
            engine.delete_library(name)
            gr.Info(render.escape(texts.LIBRARY_DELETED.format(name=name)), title="")
            other = engine.default_library()
            return opened(other, desk.first_conversation(other))

        def followed(name: str, number: int | None) -> Iterator[Any]:
            yield from follow(name, number)

        page.load(load, None, [*whole, *models], **_QUIET).then(
            followed, [library, conversation], answer_shown, concurrency_limit=None, **_QUIET
        )
        bar.library.input(open_library, bar.library, whole, **_QUIET)
        view = [conversation, chat.thread, chat.question, bar.conversations]
        bar.conversations.open(open_conversation, library, view, **_QUIET).then(
            followed, [library, conversation], answer_shown, concurrency_limit=None, **_QUIET
        )
        bar.conversations.fresh(new_conversation, library, view, **_QUIET)
        bar.conversations.rename(rename, [library, conversation], bar.conversations, **_QUIET)
        bar.conversations.remove(remove_conversation, library, view, **_QUIET)
        jobs = ingest.running
        pulls = [bar.pulling, bar.pull, bar.pull_stop]
        timer.tick(
            tick,
            [library, conversation, ingest.needle, ingest.show],
            [
                timer, chat.offer, chat.thread, *jobs, *ingest.papers.changing, *ingest.listing, ingest.state,
                bar.state, *models,
            ],
            **_QUIET,
            **ingest_room.IN_TURN,
        )  # fmt: skip
        pulse.tick(
            look,
            [library, conversation, ingest.needle, ingest.show, seen],
            [timer, chat.thread, *jobs, *ingest.listing, ingest.state, bar.state, seen],
            **_QUIET,
            **ingest_room.IN_TURN,
        )
        for piece in (bar.state, ingest.state, ingest.settings.saved):
            piece.sync(sync_all, library, [timer, ingest.plan, *jobs, bar.state, ingest.state], **_QUIET)
        chat.thread.sample(index_sample, library, [timer, chat.thread, *jobs], **_QUIET)
        chat.thread.ingest(lambda: gr.Tabs(selected="ingest"), None, tabs, **_QUIET)
        chat.offer.pull(pull_offered, None, [timer, chat.offer, *pulls], **_QUIET)
        chat.thread.inspect(
            inspect,
            [library, conversation],
            [tabs, diagnostics.parts, *answer_room.outputs(diagnostics.answer)],
            **_QUIET,
        )
        diagnostics.answer.report.ingest(lambda: gr.Tabs(selected="ingest"), None, tabs, **_QUIET)
        diagnostics.answer.report.chat(lambda: gr.Tabs(selected="chat"), None, tabs, **_QUIET)
        ingest.create.click(create_library, ingest.name, [*whole, ingest.name], **_QUIET)
        ingest.rename.click(rename_library, [library, ingest.new_name], whole, **_QUIET)
        ingest.delete.click(ask_delete, library, [ingest.sure, ingest.sure_text], **_QUIET)
        ingest.sure_no.click(lambda: gr.update(visible=False), None, ingest.sure, **_QUIET)
        ingest.sure_yes.click(delete_library, library, whole, **_QUIET)
    return page
