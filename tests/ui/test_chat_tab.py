import threading
from collections.abc import Iterator

from page_values import HOSTILE, make_chunk, make_prompt, make_retrieval, make_trace, parse

from rag.engine import SAMPLES, Engine
from rag.types import Answer, AnswerEvent, RetrievalDone
from rag.ui import texts
from rag.ui.background import Background
from rag.ui.chat_tab import field_update, thread_value
from rag.ui.desk import Answering, Desk


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
