"""One process a home: the lock, in a module that loads fast, so that a second process is told before all else."""

from __future__ import annotations

from pathlib import Path

from filelock import FileLock, Timeout

from rag.errors import LibraryError, LibraryLocked

_SECONDS = 0.5


def lock_home(home: Path) -> FileLock:
    """Takes the lock of a home; made when it does not exist. Releasing it lets other processes in.

    Two Chroma clients on one folder can hang each other; a second process has to learn that at once.

    Raises:
        LibraryLocked: Another process holds it.
        LibraryError: The folder cannot be written to.
    """
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)  # a new one is closed to other accounts of the machine
        lock = FileLock(home / "footnote.lock")
        lock.acquire(timeout=_SECONDS)
    except Timeout as error:
        raise LibraryLocked(
            f"Another Footnote is running with the libraries in {home}.",
            "Use that one, close it, or set FOOTNOTE_HOME to another folder.",
        ) from error
    except OSError as error:
        raise LibraryError(
            f"Cannot keep libraries in {home}: {error.strerror or error}.",
            "Set FOOTNOTE_HOME to a folder that can be written to.",
        ) from error
    return lock
