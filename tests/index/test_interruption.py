"""kill -9 at random moments: what a library holds afterwards is what an uninterrupted one holds.

The seed is printed; ``KILL_SEED`` sets it, so that a failure can be had again.
"""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import random
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest
from fakes.hash_embedder import HashEmbedder

from rag.errors import SourceError
from rag.index import chroma, postings, vectors
from rag.index.check import check, repair
from rag.index.chunking.chunks import ChunkProfile
from rag.index.library import Library, Shelf
from rag.index.plan import make_plan
from rag.index.sync import apply_plan
from rag.sources.readers import read
from rag.types import ReadOptions, SourceDocument, SourceFile

PROFILE = ChunkProfile(40, 8)
_BLOCK = 32
WORDS = ("pump", "valve", "bar", "motor", "shaft", "seal", "flow", "rate", "inlet", "outlet", "noise", "limit")

# Children are forked from a process that has imported everything and opened nothing, so that each starts at once.
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["pytest", "chromadb", "langchain_chroma", "rag.index.check", "rag.index.sync"])


class _InProcess:
    """Reads files in the process of the sync: what is interrupted here is the index, not the reading."""

    def read_all(
        self, readings: Iterable[tuple[SourceFile, ReadOptions]]
    ) -> Iterator[tuple[SourceFile, SourceDocument | SourceError]]:
        for file, options in readings:
            try:
                yield file, read(file, options)
            except SourceError as error:
                yield file, error


def _embedder() -> HashEmbedder:
    return HashEmbedder(seconds=0.001, weights=True)


def _write_often() -> None:
    """Small batches, so that a small library does all that a large one does: Chroma's own saving above all."""
    faulthandler.enable()
    vectors._BATCH = 16
    vectors._DEAD_LEAST = 40
    postings._BLOCK = _BLOCK
    vectors.survives_loading = lambda folder, collection: True  # this process may crash: its parent would notice
    chroma._COSINE.update({"hnsw:sync_threshold": 12, "hnsw:batch_size": 6})


def _sync(library: Library, root: Path) -> None:
    for _ in apply_plan(library, make_plan(library, root, PROFILE), _embedder(), _InProcess(), PROFILE):  # type: ignore[arg-type]
        pass


def _sync_once(home: Path, root: Path) -> None:
    _write_often()
    with Shelf(home) as shelf:
        _sync(_open(shelf), root)


def _open(shelf: Shelf) -> Library:
    return shelf.library("Notes") if "Notes" in shelf.names() else shelf.create("Notes")


def _resume(home: Path, root: Path, answer: object) -> None:
    """Resumes a sync, and tells what the library holds then and what is wrong with it."""
    _write_often()
    with Shelf(home) as shelf:
        library = _open(shelf)
        _sync(library, root)
        answer.send((_held(library), _troubles(library)))  # type: ignore[attr-defined]


def _repair_once(home: Path, _: Path) -> None:
    _write_often()
    with Shelf(home) as shelf:
        for _event in repair(_open(shelf), _embedder()):
            pass


def _rebuild_once(home: Path, _: Path) -> None:
    _write_often()
    with Shelf(home) as shelf:
        _open(shelf).vectors.rebuild()


def _troubles(library: Library) -> list[str]:
    return [f"{line.name}: {line.detail}" for line in check(library, _embedder()) if line.state in ("error", "warning")]


def _held(library: Library) -> dict[str, object]:
    """All that the catalog knows of each file, ids and times aside."""
    records = {record.path: record for record in library.catalog.files()}
    held: dict[str, object] = {}
    for path, record in records.items():
        read_from = records[record.copy_of] if record.copy_of else record
        chunks = [
            (chunk.text, chunk.span, chunk.title if not record.copy_of else "", chunk.heading_path, chunk.page)
            for chunk in library.catalog.chunks_of(read_from.id)
        ]
        held[path] = (record.state, record.sha256, record.size, len(chunks), chunks if not record.copy_of else ())
    return held


class _Folder:
    """A folder that somebody works in."""

    def __init__(self, root: Path, random_: random.Random) -> None:
        self.root = root
        self._random = random_
        self._made = 0
        root.mkdir()
        for _ in range(60):
            self._add()

    def work(self) -> None:
        """Edits, adds, moves, copies and removes a few files."""
        for _ in range(self._random.randint(1, 12)):
            self._random.choice(
                (self._add, self._edit, self._edit, self._move, self._remove, self._copy, self._empty)
            )()

    def _files(self) -> list[Path]:
        return sorted(path for path in self.root.rglob("*") if path.is_file())

    def _any(self) -> Path:
        return self._random.choice(self._files())

    def _text(self) -> str:
        self._made += 1
        sections = [f"# Note {self._made}"]
        for part in range(self._random.randint(1, 4)):
            words = " ".join(self._random.choices(WORDS, k=self._random.randint(5, 60)))
            sections.append(f"## Part {part}\n\n{words} {self._made}.")
        return "\n\n".join(sections) + "\n"

    def _add(self) -> None:
        folder = self.root / self._random.choice(("", "a", "b/c"))
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{self._made:04}.{self._random.choice(('md', 'txt'))}").write_text(self._text())

    def _edit(self) -> None:
        file = self._any()
        kept = file.read_text()[: self._random.randint(0, 1200)]
        file.write_text(f"{kept}\n\nEdited {self._random.randint(0, 10**9)}.\n")

    def _move(self) -> None:
        file = self._any()
        file.rename(self.root / f"moved {self._made} {file.name[-40:]}")
        self._made += 1

    def _copy(self) -> None:
        file = self._any()
        shutil.copy(file, self.root / f"copy {self._made} {file.name[-40:]}")
        self._made += 1

    def _empty(self) -> None:
        self._any().write_text("")

    def _remove(self) -> None:
        files = self._files()
        for file in self._random.sample(files, k=max(1, len(files) - 60)):
            file.unlink()


def _run_until(seconds: float, work: object, home: Path, root: Path) -> bool:
    """Does the work in another process and kills it after so many seconds; whether that was before its end."""
    process = CONTEXT.Process(target=work, args=(home, root))  # type: ignore[arg-type]
    process.start()
    process.join(seconds)
    killed = process.is_alive()
    process.kill()
    process.join()
    assert process.exitcode in (0, -9), f"it ended by itself with {process.exitcode}"
    return killed


def _resumed(home: Path, root: Path) -> tuple[dict[str, object], list[str]]:
    receiving, sending = CONTEXT.Pipe(duplex=False)
    process: BaseProcess = CONTEXT.Process(target=_resume, args=(home, root, sending))
    process.start()
    sending.close()
    assert receiving.poll(60), "the resumed sync does not end"
    try:
        answer: tuple[dict[str, object], list[str]] = receiving.recv()
    except EOFError:
        process.join()
        pytest.fail(f"the resumed sync ended with {process.exitcode}")
    process.join()
    assert process.exitcode == 0
    return answer


@pytest.fixture
def chance() -> random.Random:
    seed = int(os.environ.get("KILL_SEED", time.time_ns() % 10**6))
    print(f"KILL_SEED={seed}")
    return random.Random(seed)


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here as in the children: they have to agree."""
    monkeypatch.setattr(postings, "_BLOCK", _BLOCK)


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder in memory where there is such: what a killed process wrote is there either way."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        yield Path(folder)


@pytest.fixture
def duration(place: Path) -> float:
    """How long a first sync of the folder takes in a process of its own, its start included."""
    folder = _Folder(place / "measured", random.Random(0))
    for name in ("warm-up", "measured home"):
        started = time.monotonic()
        assert not _run_until(60, _sync_once, place / name, folder.root)
    return time.monotonic() - started


@pytest.mark.parametrize("kills", [pytest.param(10), pytest.param(200, marks=pytest.mark.slow)])
def test_kill_a_sync_at_random_moments(place: Path, chance: random.Random, duration: float, kills: int) -> None:
    folder = _Folder(place / "notes", chance)
    home = place / "home"
    done = 0
    with Shelf(place / "uninterrupted") as shelf:
        reference = shelf.create("Notes")
        while done < kills:
            while chance.random() < 0.7 and done < kills:
                moment = chance.uniform(0, duration) * chance.choice((1, 0.4))  # a later sync has less to do
                done += _run_until(moment, _sync_once, home, folder.root)
            held, troubles = _resumed(home, folder.root)
            assert troubles == [], f"after {done} kills"
            _sync(reference, folder.root)
            assert held == _held(reference), f"after {done} kills"
            folder.work()
            if chance.random() < 0.1:
                shutil.rmtree(home)  # the next sync is a first one again
                shelf.delete("Notes")
                reference = shelf.create("Notes")


@pytest.mark.slow
@pytest.mark.parametrize("work", [_rebuild_once, _repair_once])
def test_kill_a_repair_at_random_moments(place: Path, chance: random.Random, duration: float, work: object) -> None:
    folder = _Folder(place / "notes", chance)
    home = place / "home"
    held, _ = _resumed(home, folder.root)
    done = 0
    while done < 20:
        _damage(home, chance)
        done += _run_until(chance.uniform(0, duration), work, home, folder.root)
        assert not _run_until(60, _repair_once, home, folder.root)
        again, troubles = _resumed(home, folder.root)
        assert troubles == [], f"after {done} kills"
        assert again == held


def _damage(home: Path, chance: random.Random) -> None:
    """Loses some vectors, behind the library's back."""
    with Shelf(home) as shelf:
        store = _open(shelf).vectors
        store.delete(chance.sample(sorted(store.ids()), k=40))
