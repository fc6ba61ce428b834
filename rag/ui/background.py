"""Work that outlives the browser's connection: an iterator run in a thread, watched from any number of page loads."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Iterator
from typing import Generic, TypeVar

from rag.errors import RagError

Event = TypeVar("Event")


class Background(Generic[Event]):
    """Runs an iterator to its end in a thread of its own and keeps what it handed out.

    Stopping closes the iterator in the thread that runs it, as soon as its next event arrives.

    Attributes:
        events: What has come so far, in order; only ever grows.
        error: The failure that ended it, if one did; also one of closing it.
    """

    def __init__(self, iterator: Iterator[Event]) -> None:
        self.events: list[Event] = []
        self.error: RagError | None = None
        self._iterator = iterator
        self._stop = threading.Event()
        self._done = False
        self._changed = threading.Condition()
        threading.Thread(target=self._run, daemon=True).start()

    @property
    def running(self) -> bool:
        """Whether more may come."""
        return not self._done

    @property
    def stopping(self) -> bool:
        """Whether it was asked to stop."""
        return self._stop.is_set()

    def stop(self) -> None:
        """Asks for the end; returns at once."""
        with self._changed:
            self._stop.set()
            self._changed.notify_all()

    def changes(self, interval: float) -> Iterator[None]:
        """Yields now, then whenever something new came or it was asked to stop, and a last time when all is over.

        Args:
            interval: Shortest time between two yields, in seconds.
        """
        while True:
            seen, done = self._seen(), self._done
            yield None
            if done:
                return
            time.sleep(interval)
            with self._changed:
                self._changed.wait_for(lambda seen=seen: self._done or self._seen() != seen)  # type: ignore[misc]

    def _seen(self) -> tuple[int, bool]:
        return len(self.events), self.stopping

    def _run(self) -> None:
        try:
            for event in self._iterator:
                with self._changed:
                    self.events.append(event)
                    self._changed.notify_all()
                if self._stop.is_set():
                    break
            if isinstance(self._iterator, Generator):
                self._iterator.close()
        except RagError as error:
            self.error = error
        finally:
            with self._changed:
                self._done = True
                self._changed.notify_all()
