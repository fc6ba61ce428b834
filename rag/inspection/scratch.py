"""A library for trying things out: made in a folder of its own beside the libraries, and deleted again.

Files are read once however often they are cut, and a vector that is known already is not computed again, so that a
trial costs what is new in it and nothing else. Reading, cutting, embedding and storing are those of a real sync.
"""

from __future__ import annotations

import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from rag.errors import LibraryError, SourceError
from rag.index.catalog import embedded_hash
from rag.index.chunking.chunks import ChunkProfile
from rag.index.library import Library
from rag.index.plan import stamped
from rag.index.postings import unpacked
from rag.index.sync import apply_plan
from rag.index.vectors import delete_folder
from rag.models.base import Embedded, Embedder
from rag.sources.workers import ReaderPool
from rag.types import (
    Change,
    FileRecord,
    LibrarySettings,
    PlannedFile,
    ReadOptions,
    SourceDocument,
    SourceFile,
    SyncEvent,
    SyncPlan,
)

_PREFIX = "scratch-"


class ReadOnce:
    """Files with their documents: read by a pool the first time, from memory after that."""

    def __init__(self, readers: ReaderPool) -> None:
        self._readers = readers
        self._known: dict[Path, SourceDocument | SourceError] = {}

    def read_all(
        self, files: Iterable[tuple[SourceFile, ReadOptions]]
    ) -> Iterator[tuple[SourceFile, SourceDocument | SourceError]]:
        """As :meth:`rag.sources.workers.ReaderPool.read_all`, but what is known comes first."""
        wanted = list(files)
        for file, _ in wanted:
            if file.absolute in self._known:
                yield file, self._known[file.absolute]
        for file, outcome in self._readers.read_all(pair for pair in wanted if pair[0].absolute not in self._known):
            self._known[file.absolute] = outcome
            yield file, outcome


class KnownVectors(Embedder):
    """An embedder that computes only what no library has and it has not computed itself before.

    Args:
        embedder: What computes.
        library: Built with that embedder; its vectors are taken where the same was embedded. None: there is none.

    Attributes:
        computed: Passages that were computed.
        seconds: How long that took.
    """

    def __init__(self, embedder: Embedder, library: Library | None) -> None:
        self.identity = embedder.identity
        self.device = embedder.device
        self.exact_counts = embedder.exact_counts
        self.computed = 0
        self.seconds = 0.0
        self._embedder = embedder
        self._library = library
        self._known: dict[bytes, tuple[Sequence[float], dict[int, float] | None]] = {}

    def count_tokens(self, text: str) -> int:
        """As the embedder itself."""
        return self._embedder.count_tokens(text)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """As the embedder itself, but what is known is not computed again."""
        return self.embed_passages(texts).vectors

    def embed_passages(self, texts: list[str]) -> Embedded:
        """As the embedder itself, but what is known is not computed again."""
        hashes = [embedded_hash(text) for text in texts]
        self._look_up([hash_ for hash_ in hashes if hash_ not in self._known])
        missing = {hash_: text for hash_, text in zip(hashes, texts, strict=True) if hash_ not in self._known}
        if missing:
            started = time.monotonic()
            computed = self._embedder.embed_passages(list(missing.values()))
            self.seconds += time.monotonic() - started
            self.computed += len(missing)
            weights: Sequence[dict[int, float] | None] = computed.weights or [None] * len(missing)
            self._known.update(zip(missing, zip(computed.vectors, weights, strict=True), strict=True))
        found = [self._known[hash_] for hash_ in hashes]
        sparse = [weights for _, weights in found if weights is not None]
        return Embedded([list(vector) for vector, _ in found], sparse if len(sparse) == len(found) else None)

    def _look_up(self, hashes: Sequence[bytes]) -> None:
        """Takes over what the library has."""
        if self._library is None or not hashes:
            return
        held = {hash_: ids[0] for hash_, ids in self._library.catalog.reusable(hashes).items()}
        ids = list(held.values())
        vectors, weights = self._library.vectors.get(ids), self._library.vectors.weights(ids)
        for hash_, id_ in held.items():
            if id_ in vectors:
                packed = weights[id_]
                self._known[hash_] = vectors[id_], unpacked(packed) if packed is not None else None

    def embed_query(self, text: str) -> list[float]:
        """As the embedder itself."""
        return self._embedder.embed_query(text)

    def embed_question(self, text: str) -> Embedded:
        """As the embedder itself."""
        return self._embedder.embed_question(text)


@contextmanager
def scratch_library(home: Path, settings: LibrarySettings) -> Iterator[Library]:
    """An empty library in a folder of its own, which is gone afterwards.

    Args:
        home: ``FOOTNOTE_HOME``: texts of notes are written nowhere else.
        settings: How its files are read.

    Raises:
        LibraryError: The folder cannot be made or deleted.
    """
    try:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=home))
    except OSError as error:
        raise LibraryError(
            f"Nothing can be tried out in {home}: {error.strerror or error}.", "Make room, or check its permissions."
        ) from error
    library = Library("scratch", folder, "", lambda name, sources: None)
    try:
        library.catalog.set_settings(settings)
        yield library
    finally:
        library.close()
        delete_folder(folder)


def sweep(home: Path) -> None:
    """Deletes what a process that was killed in the middle of a trial left behind."""
    for folder in home.glob(f"{_PREFIX}*"):
        delete_folder(folder)


def fill(
    scratch: Library,
    files: Sequence[FileRecord],
    embedder: Embedder,
    readers: ReadOnce,
    profile: ChunkProfile,
    passwords: tuple[str, ...] = (),
) -> Iterator[SyncEvent]:
    """Indexes files of another library, as a sync would; those that are gone from disk are left out.

    Raises:
        ModelError: The embedder failed.
        LibraryError: The scratch library cannot be written.
    """
    by_root: dict[Path, list[PlannedFile]] = defaultdict(list)
    for record in files:
        try:
            file = stamped(SourceFile(Path(record.root), record.path, 0, 0))
        except OSError:
            continue
        # The record says how a person wants the file to be read; chunks of it there are none here.
        by_root[file.root].append(PlannedFile(Change.NEW, file.path, file.size, file, replace(record, chunks=0)))
    for root, planned in by_root.items():
        plan = SyncPlan(scratch.name, root, tuple(planned))
        yield from apply_plan(scratch, plan, embedder, readers, profile, passwords=passwords)
