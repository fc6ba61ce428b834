import threading
from collections.abc import Iterator
from dataclasses import replace

import gradio as gr
import pytest
from page_values import HOSTILE, make_chunk, make_prompt, make_retrieval, make_trace, parse

from rag.engine import SAMPLES, Engine
from rag.types import Answer, AnswerEvent, Filters, RetrievalDone, SearchOptions
from rag.ui import texts
from rag.ui.background import Background
from rag.ui.chat_tab import field_update, thread_value
from rag.ui.desk import Answering, Desk
from rag.ui.page import build_page


def test_a_stopped_answer_says_so_while_the_model_still_reads(engine: Engine) -> None:
    retrieval = make_retrieval(make_chunk(1), question=HOSTILE)
    model_reads = threading.Event()

    def events() -> Iterator[AnswerEvent]:
        yield RetrievalDone(retrieval, make_prompt(retrieval, 1))
        model_reads.wait(20)

    desk = Desk(engine)
    desk.answering = Answering(SAMPLES, 1, 0, HOSTILE, Background(events()))
    seen = desk.answering.work.changes(0.0)
    while not desk.answering.work.events:
        next(seen)
    (item,) = thread_value(desk, SAMPLES, 1)["items"]
    assert item["live"]
    assert parse(item["answer"]).text == texts.READING_ONE
    assert field_update(desk)["stop_btn"] == texts.STOP

    desk.answering.work.stop()
    (item,) = thread_value(desk, SAMPLES, 1)["items"]
    assert not item["live"]
    assert texts.OUTCOME_STOPPED in parse(item["answer"]).text
    assert ("button", "data-question", HOSTILE) in parse(item["answer"]).attributes
    field = field_update(desk)
    assert (field["submit_btn"], field["stop_btn"]) == (False, texts.STOPPING)
    assert "value" not in field

    model_reads.set()
    list(seen)
    assert field_update(desk)["submit_btn"] == texts.ASK


def test_looking_for_an_empty_conversation_reads_no_answer(engine: Engine, monkeypatch) -> None:
    desk = Desk(engine)
    number = engine.new_conversation(SAMPLES)
    trace = make_trace(make_retrieval(make_chunk(1)), None, Answer("", "search_only"))
    engine._shelf.library(SAMPLES).catalog.add_exchange(number, trace)
    monkeypatch.delattr(Engine, "exchanges")
    assert desk.turns(SAMPLES, number) == 1
    assert desk.turns(SAMPLES, None) == desk.turns(SAMPLES, number + 1) == 0


@pytest.mark.parametrize(
    ("handler", "said", "before", "rewrite"),
    [
        ("ask_again", {"index": 0, "rewrite": "", "anyway": True}, 0, "valve"),
        ("ask_again", {"index": 1, "rewrite": "", "anyway": True}, 1, "rewritten"),
        ("ask_again", {"index": 1, "rewrite": "changed", "anyway": False}, 1, "changed"),
        ("ask_shown", {"index": "1", "question": "And there?"}, 1, ""),
        ("ask_shown", {"index": None, "question": "An example?"}, None, ""),
    ],
)
def test_what_is_asked_again_is_told_nothing_that_was_said_since(
    engine: Engine, monkeypatch, handler: str, said: dict[str, object], before: int | None, rewrite: str
) -> None:
    number = engine.new_conversation(SAMPLES)
    first = make_retrieval(make_chunk(1), question="valve file:boiler", filters=Filters(files=("boiler",)))
    first = replace(first, queries=("valve",))
    for retrieval in (first, make_retrieval(make_chunk(1), question="And there?", query="rewritten")):
        trace = make_trace(retrieval, None, Answer("Not there.", "not_in_notes"), asked=False)
        engine._shelf.library(SAMPLES).catalog.add_exchange(number, trace)
    asked: list[dict[str, object]] = []

    def ask(_: Engine, library: str, question: str, **how: object) -> Iterator[AnswerEvent]:
        asked.append({"question": question, **how})
        return iter(())

    monkeypatch.setattr(Engine, "ask", ask)
    (called,) = (each.fn for each in build_page(engine).fns.values() if each.name == handler)
    fields = ("", "", "", "", "", "", "", "all", "as set", "as set")
    called(gr.EventData(None, said), SAMPLES, number, 0, [], *fields)
    (how,) = asked
    assert how["before"] == before
    options = how["options"]
    assert isinstance(options, SearchOptions)
    assert options.rewrite == rewrite
    assert options.anyway is bool(said.get("anyway"))
    assert options.filters.files == (("boiler",) if handler == "ask_again" and before == 0 else ())
