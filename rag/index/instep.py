"""Whether libraries are in step with their folders: looked at in the background, and kept so where that is wanted."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from rag.errors import RagError
from rag.sources.watch import Watcher
from rag.types import FolderState

_log = logging.getLogger(__name__)

_LOOK_AGAIN_SECONDS = 30.0
_CLOSING_SECONDS = 2.0
_QUIET_SECONDS = 2.0
"""A folder counts as settled when nothing in it changed for so long."""

Look = Callable[[str], tuple[int, tuple[str, ...]]]
"""Counts a library's changed files, and names those of its folders that are missing."""


class InStep:
    """Knows for each library how many files differ from its folders, and syncs the watched ones.

    Args:
        look: Compares a library with its folders.
        sync: Starts a sync of a library in the background.
    """

    def __init__(self, look: Look, sync: Callable[[str], None]) -> None:
        self._look = look
        self._sync = sync
        self._lock = threading.Lock()
        self._states: dict[str, FolderState] = {}
        self._looks: dict[str, threading.Thread] = {}
        self._watchers: dict[str, tuple[tuple[str, ...], Watcher]] = {}
        self._paused: set[str] = set()
        self._due: dict[str, float] = {}
        self._closed = False

    def state(self, library: str, look: bool) -> FolderState:
        """What is known at this moment; ``checked_at`` is 0 while nothing is.

        Args:
            library: The library.
            look: Whether a look that is due may begin in the background; not while a sync changes what it compares.
        """
        with self._lock:
            known = self._states.get(library, FolderState(0, False, (), 0.0))
            due = time.monotonic() > self._due.get(library, 0.0)
            if look and due and library not in self._looks and not self._closed:
                thread = threading.Thread(target=self._refresh, args=(library,), name=f"look {library}", daemon=True)
                self._looks[library] = thread
                thread.start()
            watcher = self._watchers.get(library)
            return replace(known, watching=watcher is not None, polling=watcher is not None and watcher[1].polling)

    def forget(self, library: str) -> None:
        """What was known does not hold any more: the library or its folders have changed."""
        with self._lock:
            self._due.pop(library, None)
            if library in self._states:
                self._states[library] = replace(self._states[library], checked_at=0.0)

    def watch(self, library: str, roots: Sequence[str]) -> None:
        """Watches these folders of a library and no others; none: ends it."""
        roots = tuple(roots)
        with self._lock:
            watched, watcher = self._watchers.get(library, ((), None))
            if watched == roots or self._closed:
                return
            self._watchers.pop(library, None)
            if roots:
                fresh = Watcher([Path(root) for root in roots], lambda: self._changed(library), _QUIET_SECONDS)
                self._watchers[library] = (roots, fresh)
                if library in self._paused:
                    fresh.pause()
                    fresh.touch()  # what the old one noticed and had not told yet goes with it
        if watcher is not None:
            watcher.close()  # outside the lock, which a change that is just being told may be waiting for

    def pause(self, library: str) -> None:
        """A sync begins: what changes now is told after it."""
        with self._lock:
            self._paused.add(library)
            if library in self._watchers:
                self._watchers[library][1].pause()

    def resume(self, library: str) -> None:
        """The sync has ended."""
        self.forget(library)
        with self._lock:
            self._paused.discard(library)
            if library in self._watchers:
                self._watchers[library][1].resume()

    def close(self) -> None:
        """Ends all watching; a look that is under way is not waited for long, since it changes nothing."""
        with self._lock:
            self._closed = True
            watchers, looks = list(self._watchers.values()), list(self._looks.values())
            self._watchers.clear()
        for _, watcher in watchers:
            watcher.close()
        for look in looks:
            look.join(_CLOSING_SECONDS)

    def _refresh(self, library: str) -> None:
        started = time.monotonic()
        try:
            changed, missing = self._look(library)
            state = FolderState(changed, False, missing, time.time())
        except RagError as error:
            _log.warning("%s could not be compared with its folders: %s", library, error)
            state = FolderState(0, False, (), time.time())
        finally:
            took = time.monotonic() - started
            with self._lock:
                self._looks.pop(library, None)
                # Files that are not indexed yet are hashed at every look: a long one is not repeated soon.
                self._due[library] = time.monotonic() + max(_LOOK_AGAIN_SECONDS, 20 * took)
        with self._lock:
            self._states[library] = state

    def _changed(self, library: str) -> None:
        self.forget(library)
        try:
            self._sync(library)
        except RagError as error:
            _log.warning("%s was not synced though its folders changed: %s", library, error)
