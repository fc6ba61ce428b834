"""Tells when something in a folder has changed, once it has come to rest."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from rag.errors import RagError
from rag.sources.patterns import IGNORE_FILE

_log = logging.getLogger(__name__)

_TICK = 0.2  # seconds between looks at the clock
_LOOK_FOR_ROOTS = 1.0  # seconds between looks whether the folders are there
_LONGEST_WAIT = 10  # times the quiet: a folder that never comes to rest is told of nevertheless
_NOISY_FOLDERS = {"node_modules", "site-packages", "__pycache__"}

_Places = dict[Path, tuple[int, int]]
"""Folders that are there, with what tells one from another of the same name."""


class Watcher:
    """Watches folders in a thread of its own until it is closed.

    The system tells of changes where it can. It does not of those that another machine makes on a network disk, nor of
    those in folders that are new after its limit is reached, and says so of neither: so the folders are also looked
    through from time to time.

    A folder that vanishes and comes back, as on a disk that is unplugged, is a change both times. Changes of hidden
    files and in hidden folders are not told, though patterns may take some back: programs write there all the time.

    Args:
        roots: The folders, with all below them.
        on_change: Called in the watcher's thread. What it raises as ``RagError`` is logged.
        quiet: Seconds without a change after which it is called, once for all changes until then.
        look_through: Seconds between looks through the folders: where the system tells of changes, and where it cannot.

    Attributes:
        ready: Set as soon as changes are noticed; until then the folders are being gone through.
        polling: The system cannot tell of changes in these folders, since they are too many or one is closed to us:
            they are found by looking through, and later.
    """

    def __init__(
        self,
        roots: Sequence[Path],
        on_change: Callable[[], None],
        quiet: float,
        look_through: tuple[float, float] = (300.0, 10.0),
    ) -> None:
        self.ready = threading.Event()
        self.polling = False
        self._roots = tuple(roots)
        self._on_change = on_change
        self._quiet = quiet
        self._look_through = look_through
        self._closed = threading.Event()
        self._paused = threading.Event()
        self._first: float | None = None  # when the first change came that was not told yet
        self._last = 0.0
        self._stamp: int | None = None  # of what lay in the folders when they were last looked through
        self._thread = threading.Thread(target=self._run, name="watcher", daemon=True)
        self._thread.start()

    def pause(self) -> None:
        """Holds back what there is to tell until :meth:`resume`; changes go on being noticed."""
        self._paused.set()

    def resume(self) -> None:
        """Tells again, first of what changed meanwhile."""
        self._paused.clear()

    def touch(self) -> None:
        """Counts as a change: something may have changed while nobody looked."""
        self._changed()

    def close(self) -> None:
        """Ends the watching; a call of ``on_change`` that is under way is waited for."""
        self._closed.set()
        self._thread.join()

    def _run(self) -> None:
        places = self._places()
        while not self._closed.is_set():
            try:
                self._watch(places)
            except FileNotFoundError:
                self._changed()  # a folder went while the watch was set up
            except (OSError, RuntimeError) as error:
                folders = ", ".join(map(str, self._roots))
                _log.warning("Changes in %s are found by looking through it only: %s", folders, error)
                self.polling = True
            now = self._places()
            if now != places:
                self._changed()
                self.polling = False
            places = now

    def _watch(self, places: _Places) -> None:
        """Watches until one of the folders vanishes, comes back or is replaced."""
        look_for_roots = time.monotonic() + _LOOK_FOR_ROOTS
        look_through = 0.0
        for changed in self._changes(places):
            self.ready.set()
            if any(self._matters(Path(path)) for path in changed):
                self._changed()
            if time.monotonic() > look_through:
                look_through = time.monotonic() + self._compare()
            self._tick()
            if time.monotonic() > look_for_roots:
                if self._places() != places:
                    return
                look_for_roots = time.monotonic() + _LOOK_FOR_ROOTS
            if any(not present and Path(path) in places for path, present in changed.items()):
                return  # a folder that took its place may look the same: the system gives numbers again

    def _changes(self, places: _Places) -> Iterator[dict[str, bool]]:
        """At every tick the paths that changed, and whether they are still there."""
        if self.polling or not places:
            while not self._closed.wait(_TICK):
                yield {}
            return
        import watchfiles

        # Not told to go on where a folder is closed to us: it would silently watch only those that come before it.
        for changed in watchfiles.watch(
            *places,
            watch_filter=None,  # what is filtered out there holds up the clock
            debounce=round(_TICK * 1000),
            step=round(_TICK * 500),
            rust_timeout=round(_TICK * 1000),
            yield_on_timeout=True,
            stop_event=self._closed,
            raise_interrupt=False,
            ignore_permission_denied=False,
        ):
            yield {path: change is not watchfiles.Change.deleted for change, path in changed}

    def _places(self) -> _Places:
        places = {}
        for root in self._roots:
            try:
                status = root.stat()
            except OSError:
                continue
            places[root] = (status.st_dev, status.st_ino)
        return places

    def _compare(self) -> float:
        """Looks through the folders; returns the seconds until that is due again."""
        started = time.monotonic()
        known, self._stamp = self._stamp, self._look()
        if known is not None and known != self._stamp:
            self._changed()
        return max(self._look_through[self.polling], 20 * (time.monotonic() - started))

    def _look(self) -> int:
        """What lies in the folders, as one number."""
        stamp = 0
        pending = [str(root) for root in self._roots]
        while pending and not self._closed.is_set():
            try:
                with os.scandir(pending.pop()) as entries:
                    for entry in entries:
                        if _is_noise(entry.name) and entry.name != IGNORE_FILE:
                            continue
                        if entry.is_dir(follow_symlinks=False):
                            pending.append(entry.path)
                        else:
                            status = entry.stat(follow_symlinks=False)
                            stamp ^= hash((entry.path, status.st_size, status.st_mtime_ns, status.st_ino))
            except OSError:
                continue  # it is closed to us, or has gone, which makes another number
        return stamp

    def _matters(self, path: Path) -> bool:
        root = next((root for root in self._roots if path.is_relative_to(root)), None)
        parts = path.relative_to(root).parts if root else (path.name,)
        folders, name = parts[:-1], parts[-1:]
        return not any(map(_is_noise, folders)) and not any(_is_noise(part) and part != IGNORE_FILE for part in name)

    def _changed(self) -> None:
        self._last = time.monotonic()
        if self._first is None:
            self._first = self._last

    def _tick(self) -> None:
        """Tells what there is to tell, when it is time."""
        if self._first is None or self._paused.is_set() or self._closed.is_set():
            return
        now = time.monotonic()
        if now - self._last < self._quiet and now - self._first < self._quiet * _LONGEST_WAIT:
            return
        self._first = None
        self._stamp = self._look()  # what is found to be otherwise later was not told of by this
        try:
            self._on_change()
        except RagError as error:
            _log.warning("A change in %s came to nothing: %s", ", ".join(map(str, self._roots)), error)


def _is_noise(name: str) -> bool:
    return name.startswith(".") or name in _NOISY_FOLDERS
