"""A sync in the background: it goes on when the page is closed, and what became of it is kept in the catalog."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rag.errors import LibraryError, RagError
from rag.index.catalog import Catalog
from rag.types import JobState, JobStatus, SyncEvent

_log = logging.getLogger(__name__)

Work = Callable[[threading.Event], Iterator[SyncEvent]]
"""Does the sync; is given the event that asks it to stop."""


class SyncJob:
    """The one sync that a library may run at a time, in a thread of its own."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._working = False
        self._held = False
        self._beginning = threading.Lock()
        self._event: SyncEvent | None = None
        self._root = ""
        self._started_at = 0.0
        self._unnoted: JobStatus | None = None

    @property
    def running(self) -> bool:
        """Whether it is at work."""
        return self._working

    def refuse_while_running(self) -> None:
        """Keeps other changes of the library out while it is at work.

        Raises:
            LibraryError: It is at work.
        """
        if self.running:
            raise LibraryError(f"A sync of {self._root} is running.", "Wait until it has ended, or stop it.")
        if self._held:
            raise LibraryError("A file of this library is being read or removed.", "Wait until that has ended.")

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Makes a change by hand alone: no sync and no other such change begins meanwhile.

        Raises:
            LibraryError: One is at work.
        """
        with self._beginning:
            self.refuse_while_running()
            self._held = True
        try:
            yield
        finally:
            self._held = False

    def start(self, root: str, work: Work) -> None:
        """Starts a sync of ``root`` in the background.

        Raises:
            LibraryError: One is running already.
        """
        self._begin(root)
        self._thread = threading.Thread(target=self._run_quietly, args=(work,), name=f"sync {root}", daemon=True)
        self._thread.start()

    def run(self, root: str, work: Work) -> Iterator[SyncEvent]:
        """Does a sync of ``root`` in this thread, and notes how it ended as a background one would.

        Raises:
            LibraryError: One is running already.
            RagError: The sync failed.
        """
        self._begin(root)
        yield from self._work(work)

    def _work(self, work: Work) -> Iterator[SyncEvent]:
        try:
            for event in work(self._stop):
                self._event = event
                yield event
            report = self._event.result if self._event else None
            self._catalog.end_job("stopped" if report and report.stopped else "done", report)
        except RagError as error:
            self._note_failure(error.message, error.hint)
            raise
        finally:
            self._working = False

    def _begin(self, root: str) -> None:
        with self._beginning:
            self.refuse_while_running()
            self._catalog.start_job(root)
            self._stop.clear()
            self._event = None
            self._unnoted = None
            self._root = root
            self._started_at = time.time()
            self._working = True

    def stop(self) -> None:
        """Asks it to end after the slice at work; what is stored stays."""
        if self.running:
            self._stop.set()

    def join(self, seconds: float) -> None:
        """Waits for its end."""
        if self._thread is not None:
            self._thread.join(seconds)

    def status(self) -> JobStatus:
        """How it stands, or how the last one ended."""
        if not self.running:
            return self._unnoted or self._catalog.job()
        state: JobState = "stopping" if self._stop.is_set() else "running"
        return JobStatus(state=state, root=self._root, event=self._event, started_at=self._started_at)

    def _run_quietly(self, work: Work) -> None:
        try:
            for _ in self._work(work):
                pass
        except RagError:
            return  # noted in the catalog, where the page looks
        except Exception as error:  # noqa: BLE001
            # Nobody waits for this thread: without a note, a defect would look like a sync that never ends.
            _log.exception("The sync of %s broke off", self._root)
            self._note_failure(f"The sync broke off: {error!r}.", "Start it again; what was stored so far stays.")

    def _note_failure(self, error: str, hint: str) -> None:
        try:
            self._catalog.end_job("failed", error=error, hint=hint)
        except RagError:
            # As on a full disk: then at least whoever asks this process is told.
            self._unnoted = JobStatus("failed", self._root, error=error, hint=hint, started_at=self._started_at)
