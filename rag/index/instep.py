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
        self._watchers: dict[str, Watcher] = {}
        self._closed = False

    def state(self, library: str) -> FolderState:
        """What is known at this moment; a look that is due begins in the background.

        ``checked_at`` is 0 while the first look is under way.
        """
        with self._lock:
            known = self._states.get(library, FolderState(0, False, (), 0.0))
            due = time.time() - known.checked_at > _LOOK_AGAIN_SECONDS
            if due and library not in self._looks and not self._closed:
                self._looks[library] = threading.Thread(target=self._refresh, args=(library,), name=f"look {library}")
                self._looks[library].start()
            return replace(known, watching=library in self._watchers)

    def forget(self, library: str) -> None:
        """What was known does not hold any more: the library or its folders have changed."""
        with self._lock:
            if library in self._states:
                self._states[library] = replace(self._states[library], checked_at=0.0)

    def watch(self, library: str, roots: Sequence[str]) -> None:
        """Begins to watch a library's folders; none: ends it. Folders that are watched already go on being."""
        with self._lock:
            watcher = self._watchers.pop(library, None)
        if watcher is not None:
            watcher.close()  # outside the lock, which a change that is just being told may be waiting for
        with self._lock:
            if roots and not self._closed:
                self._watchers[library] = Watcher(
                    [Path(root) for root in roots], lambda: self._changed(library), _QUIET_SECONDS
                )

    def pause(self, library: str) -> None:
        """A sync begins: what changes now is told after it."""
        if watcher := self._watchers.get(library):
            watcher.pause()

    def resume(self, library: str) -> None:
        """The sync has ended."""
        self.forget(library)
        if watcher := self._watchers.get(library):
            watcher.resume()

    def close(self) -> None:
        """Ends all watching and waits for looks that are under way."""
        with self._lock:
            self._closed = True
            watchers, looks = list(self._watchers.values()), list(self._looks.values())
            self._watchers.clear()
        for watcher in watchers:
            watcher.close()
        for look in looks:
            look.join()

    def _refresh(self, library: str) -> None:
        changed, missing = 0, tuple[str, ...]()
        try:
            changed, missing = self._look(library)
        except RagError as error:
            _log.warning("%s could not be compared with its folders: %s", library, error)
        with self._lock:
            self._states[library] = FolderState(changed, False, missing, time.time())
            self._looks.pop(library, None)

    def _changed(self, library: str) -> None:
        self.forget(library)
        try:
            self._sync(library)
        except RagError as error:
            _log.warning("%s was not synced though its folders changed: %s", library, error)
