"""The Chat tab: the conversation, the question field, and answers that are followed while they are written."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import gradio as gr

from rag.engine import SAMPLES
from rag.errors import RagError
from rag.types import Chunk, Exchange, SearchOptions, Span, Trace
from rag.ui import render, render_chat, render_ingest, render_search, texts
from rag.ui.background import Background
from rag.ui.desk import Answering, Desk, script, told
from rag.ui.search_box import SearchBox, search_box, typed, wire_search_box
from rag.ui.sidebar import Sidebar, conversation_list, download_progress

FOLLOW = 0.1
"""Seconds between two looks at an answer that is being written."""


@dataclass
class ChatTab:
    """The tab's components."""

    thread: gr.HTML
    offer: gr.HTML
    question: gr.Textbox
    options: SearchBox


def chat_tab(desk: Desk) -> ChatTab:
    """Builds the tab."""

    def page_image(asked: dict[str, str]) -> dict[str, str]:
        pairs = (pair.split("-") for pair in asked["spans"].split(",") if pair)
        spans = [Span(int(start), int(end)) for start, end in pairs]
        try:
            image = desk.engine.page_image(asked["library"], asked["chunk"], spans)
        except RagError as error:
            return {"error": str(error)}
        return {"image": f"data:image/png;base64,{base64.b64encode(image).decode()}"}

    thread = gr.HTML(
        value={"library": "", "items": []},
        html_template='<div class="fn-thread" role="log" aria-live="off"></div>',
        js_on_load=script("thread.js"),
        server_functions=[page_image],
        apply_default_css=False,
        elem_id="thread",
    )
    with gr.Column(elem_id="composer"):
        offer = gr.HTML(js_on_load=script("actions.js"), apply_default_css=False, elem_id="offer")
        question = gr.Textbox(
            label=texts.QUESTION_LABEL,
            show_label=False,
            container=False,
            placeholder=texts.QUESTION_PLACEHOLDER,
            lines=1,
            max_lines=6,
            submit_btn=texts.ASK,
            stop_btn=False,
            autofocus=True,
            elem_id="question",
        )
        options = search_box()
    return ChatTab(thread, offer, question, options)


def _finished_item(conversation: int, index: int, exchange: Exchange, ages: Mapping[str, str]) -> dict[str, Any]:
    trace = exchange.trace
    return {
        "key": f"{conversation}-{index}",
        "live": False,
        "question": render_chat.question(exchange.question, trace.retrieval, index),
        "answer": render_chat.answer(trace, index, ages),
        "sources": render_chat.sources(trace.retrieval, trace.prompt, trace.answer, ages=ages),
    }


def _live_item(answering: Answering) -> dict[str, Any]:
    retrieval, prompt = answering.found
    error = answering.work.error
    text = answering.text
    passages = prompt.passages if prompt else ()
    if answering.trace is not None:
        body = render_chat.answer(answering.trace, answering.index)
    elif error is not None:
        body = render_chat.failed(error.message, error.hint, answering.question)
    elif answering.work.stopping:
        body = render_chat.stopped(text, passages, answering.question)
    elif text:
        thin = render_search.thin(retrieval) if retrieval else ""
        body = f"{thin}{render_chat.streaming(text, passages)}"
    elif not answering.work.running:
        body = render_chat.failed(texts.OUTCOME_FAILED, texts.OUTCOME_FAILED_HINT, answering.question)
    else:
        body = render_chat.waiting(retrieval, prompt)
    finished = answering.trace.answer if answering.trace else None
    return {
        "key": f"{answering.conversation}-{answering.index}",
        "live": answering.work.running and not answering.work.stopping,
        "question": render_chat.question(answering.question, retrieval),
        "answer": body,
        "sources": render_chat.sources(retrieval, prompt, finished) if retrieval else "",
    }


def is_here(desk: Desk, library: str, conversation: int | None) -> bool:
    """Whether the answer being written, or the last one, belongs to the conversation on the screen."""
    here = desk.answering
    return here is not None and (here.library, here.conversation) == (library, conversation)


def thread_value(desk: Desk, library: str, conversation: int | None) -> dict[str, Any]:
    """The conversation as the thread component takes it, an answer in the making included."""
    exchanges = desk.engine.exchanges(library, conversation) if conversation is not None else ()
    ages = desk.engine.freshness(library, render_chat.shown_chunks(exchange.trace for exchange in exchanges))
    items = [_finished_item(conversation or 0, index, exchange, ages) for index, exchange in enumerate(exchanges)]
    answering = desk.answering
    if answering is not None and is_here(desk, library, conversation):
        kept = not answering.work.running and len(items) > answering.index
        if not kept:
            items = [*items[: answering.index], _live_item(answering)]
    if not items:
        info = desk.info(library)
        job = desk.engine.job(library)
        running = render_ingest.job(job) if job.state in ("running", "stopping") else ""
        blank = render_chat.empty(info, desk.examples(library), sample=library == SAMPLES, job=running)
        items = [{"key": "empty", "live": False, "question": "", "answer": blank, "sources": ""}]
    return {"library": library, "items": items}


def _shown_chunk(trace: Trace, chunk_id: str) -> Chunk | None:
    """The passage on a card beside an answer, with its neighbours where it was put together; None when it is gone."""
    read = [passage.hit.chunk for passage in (trace.prompt.passages if trace.prompt else ()) if passage.in_prompt]
    found = [chunk for chunk in (*read, *(hit.chunk for hit in trace.retrieval.hits)) if chunk.id == chunk_id]
    return found[0] if found and found[0].text else None


def problem_value(library: str, problem: str) -> dict[str, Any]:
    """The thread of a library that cannot be opened."""
    item = {
        "key": "empty",
        "live": False,
        "question": "",
        "answer": render.notice(problem, kind="error"),
        "sources": "",
    }
    return {"library": library, "items": [item]}


def offer_value(desk: Desk) -> str:
    """Above the question field: the way to a chat model while there is none."""
    download = desk.download
    if download is not None and download.work.running:
        return f'<div class="fn-offer">{download_progress(download)}</div>'
    if desk.engine.status().chat is not None:
        return ""
    failed = download_progress(download) if download is not None and download.work.error is not None else ""
    return f"{failed}{render_chat.no_model(desk.offered_model())}"


def field_update(desk: Desk) -> Any:
    """The question field with the button that fits: ask, or stop the answer being written; what is typed stays."""
    if desk.answering is None or not desk.answering.work.running:
        return gr.update(submit_btn=texts.ASK, stop_btn=False)
    return gr.update(submit_btn=False, stop_btn=texts.STOPPING if desk.answering.work.stopping else texts.STOP)


def wire_chat(
    desk: Desk, tab: ChatTab, bar: Sidebar, library: gr.State, conversation: gr.State
) -> tuple[list[Any], Any]:
    """Lets the person ask, stop and ask again.

    Returns:
        The components that following an answer changes, and the function that follows one.
    """

    def start(
        question: str,
        in_library: str,
        in_conversation: int | None,
        notes: int,
        also: Sequence[str],
        options: SearchOptions,
        before: int | None = None,
    ) -> tuple[Any, Any, Any]:
        question = question.strip()
        if not question:
            return gr.skip(), in_conversation, gr.skip()
        if desk.answering is not None and desk.answering.work.running:
            gr.Info(texts.ANSWER_STOPPING if desk.answering.work.stopping else texts.ANSWER_BUSY, title="")
            return gr.skip(), in_conversation, gr.skip()
        engine = desk.engine
        if in_conversation is None:
            in_conversation = engine.new_conversation(in_library)
        index = desk.turns(in_library, in_conversation)
        events = engine.ask(
            in_library,
            question,
            conversation=in_conversation,
            notes=notes or None,
            also=also,
            options=options,
            before=before,
        )
        desk.answering = Answering(in_library, in_conversation, index, question, Background(events))
        desk.conversations[in_library] = in_conversation
        return "", in_conversation, gr.skip()

    def follow(in_library: str, in_conversation: int | None) -> Iterator[tuple[Any, Any, Any]]:
        answering = desk.answering
        if answering is None or not is_here(desk, in_library, in_conversation):
            yield gr.skip(), field_update(desk), gr.skip()
            return
        value = thread_value(desk, in_library, in_conversation)
        before = value["items"][: answering.index]
        shown = None
        for _ in answering.work.changes(FOLLOW):
            items, field = [*before, _live_item(answering)], field_update(desk)
            yield {"library": in_library, "items": items}, gr.skip() if field == shown else field, gr.skip()
            shown = field
        finished = thread_value(desk, in_library, in_conversation)
        yield finished, field_update(desk), conversation_list(desk, in_library, in_conversation)

    @told
    def ask(question: str, where: str, number: int | None, notes: int, also: Sequence[str], *fields: Any) -> Any:
        return start(question, where, number, notes, also, typed(*fields))

    @told
    def ask_shown(
        event: gr.EventData, where: str, number: int | None, notes: int, also: Sequence[str], *fields: Any
    ) -> Any:
        """An example, or a question of the conversation once more, as if nothing had been said since."""
        before = None if event.index is None else int(event.index)
        return start(str(event.question), where, number, notes, also, typed(*fields), before)

    @told
    def ask_again(
        event: gr.EventData, where: str, number: int | None, notes: int, also: Sequence[str], *fields: Any
    ) -> Any:
        """The same question once more, though the notes do not seem to say, or with another search."""
        exchanges = desk.engine.exchanges(where, number) if number is not None else ()
        index = int(event.index)
        if index >= len(exchanges):
            return gr.skip()
        before = exchanges[index].trace.retrieval
        # It is held to what it was held to then; what is set for the next question is another matter.
        rewrite = str(event.rewrite) or before.queries[0]
        options = replace(typed(*fields), filters=before.filters, rewrite=rewrite, anyway=bool(event.anyway))
        # The refusal is left out of the history: a small model that reads one refuses again.
        _, number, thread = start(before.question, where, number, notes, also, options, index)
        return gr.skip(), number, thread  # what is being typed stays

    @told
    def point(event: gr.EventData, where: str, number: int | None) -> None:
        """Keeps the question with the passage that answers it, or as one that the notes do not answer."""
        exchanges = desk.engine.exchanges(where, number) if number is not None else ()
        index, wanted = int(event.index), str(event.chunk)
        trace = exchanges[index].trace if index < len(exchanges) else None
        chunk = _shown_chunk(trace, wanted) if trace is not None else None
        if trace is None or (wanted and chunk is None):
            gr.Info(texts.POINT_GONE, title="")
            return
        # What was typed, unless it only makes sense after what was said before.
        retrieval = trace.retrieval
        text = retrieval.queries[0] if len(retrieval.queries) > 1 else retrieval.question
        desk.engine.inspector.point_at(where, text, chunk)
        said = texts.QUESTION_KEPT_ANSWER if chunk is not None else texts.QUESTION_KEPT_NONE
        gr.Info(render.escape(said.format(question=text, path=chunk.path if chunk is not None else "")), title="")

    def stop() -> Any:
        if desk.answering is not None:
            desk.answering.work.stop()
        return field_update(desk)

    shown = [tab.thread, tab.question, bar.conversations]
    asked = [library, conversation, bar.notes, bar.also, *tab.options.fields]
    started = [tab.question, conversation, tab.thread]
    quiet: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
    tab.question.submit(ask, [tab.question, *asked], started, **quiet).then(
        follow, [library, conversation], shown, concurrency_limit=None, **quiet
    )
    tab.thread.ask(ask_shown, asked, started, **quiet).then(
        follow, [library, conversation], shown, concurrency_limit=None, **quiet
    )
    tab.thread.again(ask_again, asked, started, **quiet).then(
        follow, [library, conversation], shown, concurrency_limit=None, **quiet
    )
    tab.thread.point(point, [library, conversation], None, **quiet)
    wire_search_box(desk.engine, tab.options, library)
    tab.question.stop(stop, None, tab.question, queue=False, **quiet)
    return shown, follow
