"""A disk without room, and one that may not be written to: a sync stops with a clear error, and can be resumed.

The disks are real ones, mounted in a namespace of their own where this file is run as a program.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1])]

from fakes.hash_embedder import HashEmbedder
from material import missing, write_notes

from rag.errors import RagError, SourceError
from rag.index import vectors
from rag.index.check import check
from rag.index.chunking.chunks import ChunkProfile
from rag.index.jobs import SyncJob
from rag.index.library import Library, Shelf
from rag.index.plan import make_plan
from rag.index.sync import apply_plan
from rag.sources.readers import read
from rag.types import ReadOptions, SourceDocument, SourceFile

pytestmark = pytest.mark.slow

PROFILE = ChunkProfile(60, 10)
FILES = 150


class _InProcess:
    """Reads files in the process of the sync."""

    def read_all(
        self, readings: Iterable[tuple[SourceFile, ReadOptions]]
    ) -> Iterator[tuple[SourceFile, SourceDocument | SourceError]]:
        for file, options in readings:
            yield file, read(file, options)


# ------------------------------------------------------------------------------------------- inside of the namespace


def _sync(library: Library, root: Path) -> str:
    """Syncs as the program does; the error's words, or nothing."""
    job = SyncJob(library.catalog)
    said = told = ""
    try:
        for _ in job.run(
            str(root),
            lambda stop: apply_plan(
                library,
                make_plan(library, root, PROFILE),
                HashEmbedder(),
                _InProcess(),
                PROFILE,
                stop,  # type: ignore[arg-type]
            ),
        ):
            pass
    except RagError as error:
        told, said = error.message, f"{type(error).__name__}: {error}"
    assert job.status().error in (told, "")  # nothing where not even the start could be noted
    return said


def _bad(library: Library) -> list[str]:
    checks = check(library, HashEmbedder())
    return [f"{line.name}: {line.detail}" for line in checks if line.state in ("error", "warning")]


def _notes(root: Path) -> Path:
    return write_notes(root, {f"{n:03}.md": f"# Note {n}\n\n{'word ' * 200}{n}\n" for n in range(FILES)})


def _fill(disk: Path, room: int) -> Path:
    """Leaves that many bytes of room on a disk."""
    ballast = disk / "ballast"
    with ballast.open("wb") as file:
        left = shutil.disk_usage(disk).free - room
        for _ in range(left // 65536):
            file.write(b"\0" * 65536)
    return ballast


def _full(place: Path) -> Iterator[dict[str, object]]:
    """A disk that runs full sooner or later in a sync."""
    vectors._BATCH = 64
    vectors.survives_loading = lambda folder, collection: True  # this process may crash: its parent would notice
    root = _notes(place / "notes")
    disk = place / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32M", "tmpfs", str(disk)], check=True)
    for room in (100, 700, 1300, 2000):
        ballast = _fill(disk, room * 1024)
        seen: dict[str, object] = {"room": room}
        try:
            with Shelf(disk / "home") as shelf:
                library = shelf.create("Notes")
                seen["said"] = _sync(library, root)
                seen["again"] = _sync(library, root)
                ballast.unlink()
                seen["checked"] = _bad(library)
                seen["resumed"] = _sync(library, root)
                seen["files"] = library.catalog.counts()[0]
                seen["checked at the end"] = _bad(library)
        except RagError as error:
            seen["said"] = f"{type(error).__name__}: {error}"
        ballast.unlink(missing_ok=True)
        shutil.rmtree(disk / "home")
        yield seen


def _read_only(place: Path) -> Iterator[dict[str, object]]:
    """A home, and then one library of it, that is read-only after a first sync, and writable again later."""
    vectors.survives_loading = lambda folder, collection: True  # this process may crash: its parent would notice
    root = _notes(place / "notes")
    home = place / "home"
    with Shelf(home) as shelf:
        _sync(shelf.create("Notes"), root)
    for locked in (home, home / "libraries" / "Notes"):
        (root / "000.md").write_text(f"Changed before {locked}.")
        seen: dict[str, object] = {}
        subprocess.run(["mount", "--bind", str(locked), str(locked)], check=True)
        subprocess.run(["mount", "-o", "remount,bind,ro", str(locked)], check=True)
        try:
            with Shelf(home) as shelf:
                seen["said"] = _sync(shelf.library("Notes"), root)
        except RagError as error:
            seen["said"] = f"{type(error).__name__}: {error}"
        subprocess.run(["umount", str(locked)], check=True)
        with Shelf(home) as shelf:
            library = shelf.library("Notes")
            seen["checked"] = _bad(library)
            seen["resumed"] = _sync(library, root)
            seen["files"] = library.catalog.counts()[0]
            seen["checked at the end"] = _bad(library)
        yield seen


if __name__ == "__main__":
    for line in {"full": _full, "read-only": _read_only}[sys.argv[1]](Path(sys.argv[2])):
        print(json.dumps(line), flush=True)


# ------------------------------------------------------------------------------------------------------------- tests


def _in_namespace(what: str, place: Path) -> list[dict[str, object]]:
    namespace = ["unshare", "--map-root-user", "--mount"]
    if shutil.which("unshare") is None or subprocess.run([*namespace, "true"], capture_output=True).returncode:
        missing("this system lets nobody mount a disk in a namespace")
    done = subprocess.run([*namespace, sys.executable, __file__, what, str(place)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder whose path is short enough to be read in an error."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def test_a_full_disk_stops_a_sync_and_room_lets_it_go_on(place: Path) -> None:
    for seen in _in_namespace("full", place):
        assert "Error: The disk is full: " in str(seen["said"]), seen
        assert "Corrupt" not in str(seen["said"])
        if "again" in seen:  # else there was not even room for an empty library
            assert "Error: The disk is full: " in str(seen["again"]), seen
            assert seen["checked"] == [], seen
            assert (seen["resumed"], seen["files"], seen["checked at the end"]) == ("", FILES, []), seen


def test_a_read_only_disk_is_named_and_keeps_the_library_whole(place: Path) -> None:
    home, library = _in_namespace("read-only", place)
    assert "LibraryError: Cannot keep libraries in" in str(home["said"])
    assert "Read-only file system" in str(home["said"])
    assert "LibraryError: Could not" in str(library["said"])
    assert "Check that its folder can be written to." in str(library["said"])
    for seen in (home, library):
        assert (seen["checked"], seen["resumed"], seen["files"], seen["checked at the end"]) == ([], "", FILES, [])
