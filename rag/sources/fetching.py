"""Papers fetched in the background, for one library at a time."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from rag.errors import LibraryError, RagError
from rag.sources.arxiv import fetch
from rag.types import FetchStatus

_log = logging.getLogger(__name__)

Fetch = Callable[[str, Path, int, threading.Event], Iterator[FetchStatus]]
"""Fetches what is wanted into a folder: at most so many papers, until it is asked to stop."""


class FetchJob:
    """The one fetch that a library may run at a time.

    Args:
        folder: Where the papers go.
        fetch: What fetches them.
    """

    def __init__(self, folder: Path, fetch: Fetch = fetch) -> None:
        self._folder = folder
        self._fetch = fetch
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._status = FetchStatus()
        self._beginning = threading.Lock()

    def refuse_while_running(self) -> None:
        """Keeps other changes of the library out while papers are being fetched.

        Raises:
            LibraryError: They are.
        """
        if self._status.state == "running":
            raise LibraryError("Papers are being fetched for this library.", "Wait until that has ended, or stop it.")

    def run(self, wanted: str, limit: int) -> Iterator[FetchStatus]:
        """Fetches in this thread, and yields how far it is; the last one says how it ended.

        Raises:
            SourceError: As :func:`rag.sources.arxiv.fetch`.
            LibraryError: A fetch is running already.
        """
        self._begin(wanted)
        yield from self._work(wanted, limit)

    def start(self, wanted: str, limit: int, then: Callable[[], None]) -> None:
        """Fetches in a thread of its own.

        Args:
            wanted: Ids, addresses or words to search for.
            limit: Papers of a search at most.
            then: Called in that thread when there is something new and nobody stopped it.

        Raises:
            LibraryError: A fetch is running already.
        """
        self._begin(wanted)
        self._thread = threading.Thread(target=self._run_quietly, args=(wanted, limit, then), name="fetch", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Asks it to end; papers that are whole stay."""
        self._stop.set()

    def join(self, seconds: float) -> None:
        """Waits for its end."""
        if self._thread is not None:
            self._thread.join(seconds)

    def status(self) -> FetchStatus:
        """How far it is, or how the last one ended."""
        status = self._status
        return replace(status, state="stopping") if status.state == "running" and self._stop.is_set() else status

    def _begin(self, wanted: str) -> None:
        with self._beginning:
            self.refuse_while_running()
            self._stop.clear()
            self._status = FetchStatus("running", wanted)

    def _work(self, wanted: str, limit: int) -> Iterator[FetchStatus]:
        try:
            for progress in self._fetch(wanted, self._folder, limit, self._stop):
                self._status = replace(progress, state="running", wanted=wanted)
                yield self._status
            self._status = replace(self._status, state="stopped" if self._stop.is_set() else "done", current="")
            yield self._status
        except RagError as error:
            self._status = replace(self._status, state="failed", current="", error=error.message, hint=error.hint)
            raise
        finally:
            if self._status.state == "running":  # whoever listened has gone
                self._status = replace(self._status, state="stopped", current="")

    def _run_quietly(self, wanted: str, limit: int, then: Callable[[], None]) -> None:
        try:
            for _ in self._work(wanted, limit):
                pass
            if self._status.fetched and not self._stop.is_set():
                then()
        except RagError as error:
            if self._status.state != "failed":  # the papers are here, but could not be indexed now
                self._status = replace(self._status, error=error.message, hint=error.hint)
        except Exception as error:  # noqa: BLE001
            # Nobody waits for this thread: without a note, a defect would look like a fetch that never ends.
            _log.exception("The fetch of %s broke off", wanted)
            self._status = replace(self._status, state="failed", error=f"The fetch broke off: {error!r}.")
