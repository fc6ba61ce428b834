"""The comparison's work: it lets chat go first, and can be stopped while it waits."""

from __future__ import annotations

import threading
from collections.abc import Generator

from page_values import CHAT, make_chunk, make_retrieval

from rag.inspection.comparison import Comparison, Side
from rag.ui import compare_box
from rag.ui.background import Background

RETRIEVAL = make_retrieval(make_chunk(1))
DONE = Side(CHAT, problem="stood in for an answer")


def _steps() -> list[Comparison]:
    first = Comparison("notes", RETRIEVAL, (), DONE, Side(CHAT, alone=True))
    second = Comparison("notes", RETRIEVAL, (), DONE, Side(CHAT, alone=True, text="It is"))
    return [first, second, Comparison("notes", RETRIEVAL, (), DONE, DONE)]


def test_it_begins_anew_when_chat_wants_the_model_and_hangs_up_before() -> None:
    begun: list[str] = []
    busy = iter([False, True, True, False, False, False, False])

    def begin() -> Generator[Comparison, None, None]:
        begun.append("begun")
        try:
            yield from _steps()
        finally:
            begun.append("closed")

    seen = list(compare_box.giving_way(begin, lambda: next(busy, False)))
    assert begun == ["begun", "closed", "begun", "closed"]
    assert seen[-1].ended
    assert [step.right.text for step in seen] == ["", "It is", "It is", "", "It is", ""]


def test_it_can_be_stopped_while_it_waits_for_chat() -> None:
    answering = threading.Event()
    answering.set()
    work = Background(compare_box.giving_way(lambda: (step for step in _steps()), answering.is_set))
    work.stop()
    for _ in work.changes(0.01):
        pass
    assert not work.running
    assert not work.events[-1].ended
