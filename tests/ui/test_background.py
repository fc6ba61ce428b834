import threading
from collections.abc import Iterator

from rag.errors import LibraryError, ModelFailed
from rag.ui.background import Background


def test_it_hands_out_what_comes_and_ends() -> None:
    work = Background(iter([1, 2, 3]))
    assert list(work.changes(0.0))
    assert work.events == [1, 2, 3]
    assert not work.running


def test_a_failure_is_kept() -> None:
    def failing() -> Iterator[int]:
        yield 1
        raise ModelFailed("broke off")

    work = Background(failing())
    list(work.changes(0.0))
    assert work.events == [1]
    assert work.error is not None
    assert work.error.message == "broke off"


def test_stopping_closes_the_iterator_in_its_own_thread() -> None:
    closed: list[str] = []
    go_on = threading.Event()

    def endless() -> Iterator[int]:
        try:
            number = 0
            while True:
                yield number
                number += 1
                go_on.wait(0.01)
        except GeneratorExit:
            closed.append(threading.current_thread().name)
            raise

    work = Background(endless())
    work.stop()
    list(work.changes(0.0))
    assert work.stopping
    assert not work.running
    assert closed
    assert closed[0] != threading.current_thread().name


def test_two_watchers_see_the_same(tmp_path: object) -> None:
    gate = threading.Event()

    def waiting() -> Iterator[str]:
        yield "a"
        gate.wait(5)
        yield "b"

    work = Background(waiting())
    first = work.changes(0.0)
    next(first)
    gate.set()
    list(work.changes(0.0))
    list(first)
    assert work.events == ["a", "b"]


def test_work_that_cannot_be_ended_well_is_over_all_the_same() -> None:
    def unkept() -> Iterator[int]:
        try:
            yield 1
            threading.Event().wait(0.05)
            yield 2
            threading.Event().wait(5)
            yield 3
        except GeneratorExit:
            raise LibraryError("The disk is full.") from None

    work = Background(unkept())
    work.stop()
    list(work.changes(0.0))
    assert not work.running
    assert work.error is not None
    assert work.error.message == "The disk is full."


def test_a_watcher_hears_of_a_stop_before_the_work_has_noticed() -> None:
    gate = threading.Event()

    def blocked() -> Iterator[int]:
        gate.wait(10)
        yield 1

    work = Background(blocked())
    watching = work.changes(0.0)
    next(watching)
    threading.Timer(0.05, work.stop).start()
    next(watching)
    assert work.stopping
    assert work.running
    gate.set()
    list(watching)
    assert not work.running
