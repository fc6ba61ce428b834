"""A plan → the library in step with its folder, one transaction a file.

Reading runs ahead in worker processes while this thread cuts and embeds. Chunks of several files are embedded together
in slices of about a second and a half, so that progress moves and a stop is quick; each file is stored as soon as its
last vector is there. A vector is computed only where the library has none of the same text. Order of writes for one
file, so that an interruption anywhere leaves nothing wrong:

1. journal: the ids of the coming chunks;
2. vectors: theirs are stored (unknown to the catalog, so no search shows them);
3. catalog, one transaction: old chunks out, new ones in; the journal now lists the old ids;
4. vectors: the old ones out; then the journal is cleared.

Files that are gone are forgotten last, so that what was renamed and edited finds its vectors.
"""

from __future__ import annotations

import contextlib
import threading
import time
from array import array
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from pathlib import Path, PurePosixPath
from typing import Protocol

from rag.errors import InputTooLong, RagError, SourceError
from rag.index.catalog import Indexed, embedded_hash
from rag.index.chunking.chunks import ChunkProfile, Piece, chunk_document, embedded_text
from rag.index.library import Library
from rag.index.plan import READ, Recipe, options_for, reader_of, recipe_for, same_stamp, stamped
from rag.index.postings import packed
from rag.models.base import Embedder
from rag.sources.scan import sha256
from rag.types import (
    Change,
    Chunk,
    FileRecord,
    FileReport,
    FileState,
    PlannedFile,
    ReadOptions,
    Remedy,
    SourceDocument,
    SourceFile,
    SyncEvent,
    SyncPlan,
    SyncReport,
)

_SLICE_SECONDS = 1.5
_FIRST_SLICE = 4
_SHARE_TO_GUESS_FROM = 0.02  # of the bytes: what the first small file took says nothing of the others


class Readers(Protocol):
    """What reads files: a :class:`~rag.sources.workers.ReaderPool`, or something in front of one."""

    def read_all(
        self, files: Iterable[tuple[SourceFile, ReadOptions]]
    ) -> Iterator[tuple[SourceFile, SourceDocument | SourceError]]:
        """Yields each file with its document, or with the reason why there is none."""


def apply_plan(
    library: Library,
    plan: SyncPlan,
    embedder: Embedder,
    readers: Readers,
    profile: ChunkProfile,
    stop: threading.Event | None = None,
    passwords: tuple[str, ...] = (),
) -> Iterator[SyncEvent]:
    """Brings the library in step with the plan's folder.

    Args:
        library: The library.
        plan: From :func:`rag.index.plan.make_plan`.
        embedder: The library's embedder.
        readers: Worker processes to read files with.
        profile: How documents are cut.
        stop: Set from another thread to end after the current slice; what is stored stays, the rest is left undone.
        passwords: Tried on encrypted files.

    Yields:
        An event after every slice of chunks and every file; the last one carries the report.

    Raises:
        EmbedderMismatch: The library was built with another embedder.
        ModelError: The embedder failed; files stored so far stay.
        LibraryError: A store cannot be written.
    """
    library.check_embedder(embedder.identity)
    library.catalog.add_root(str(plan.root))
    run = _Run(library, plan, embedder, profile, stop or threading.Event(), passwords)
    if plan.work:
        # Loading Chroma takes a second or two, in which the first file is read and embedded.
        threading.Thread(target=_open_vectors, args=(library,), name="open vectors", daemon=True).start()
    run.keep([planned for planned in plan.files if planned.change is Change.UNCHANGED])
    for planned in plan.work:
        if planned.change is Change.MOVED and not run.stop.is_set():
            yield run.move(planned)
    yield from run.read(readers, [planned for planned in plan.work if planned.change in READ])
    for planned in plan.work:
        if planned.change is Change.DUPLICATE and not run.stop.is_set():
            yield run.repeat(planned)
    yield from run.remove([planned for planned in plan.work if planned.change is Change.REMOVED])
    yield run.finish()


def forget_file(library: Library, file_id: int) -> None:
    """Takes one file out of the library; the file on disk is not touched. A copy of it takes its place.

    Raises:
        LibraryError: The library has no such file.
    """
    record = library.record(file_id)
    copy = next((other for other in library.catalog.files() if _is_copy(other, record)), None)
    if copy is not None:
        place = SourceFile(Path(copy.root), copy.path, copy.size, copy.mtime_ns, copy.inode)
        library.catalog.move_file(record.id, place)
        return
    library.remove_file(record.id)
    library.clean_up()


def _is_copy(other: FileRecord, record: FileRecord) -> bool:
    return other.copy_of == record.path and other.root == record.root


def _parts(chunk: Chunk) -> tuple[tuple[str, ...], str, str]:
    return chunk.heading_path, chunk.context, chunk.text


def _open_vectors(library: Library) -> None:
    # What is wrong with them, the first use will say where it can be heard.
    with contextlib.suppress(RagError):
        library.vectors.settle()


@dataclass(slots=True, eq=False)
class _Waiting:
    """A file that was read and cut, and whose vectors are being computed.

    Attributes:
        ids: Of each piece that the file has already, its id; None for the others.
        texts: What is embedded for each piece.
        vectors: Of each piece that needs one, once there, with its sparse weights where the embedder gives any.
        missing: The pieces whose vectors are to be computed, in order.
        computed: How many of these are done.
    """

    planned: PlannedFile
    file: SourceFile
    document: SourceDocument
    recipe: Recipe
    pieces: list[Piece]
    ids: list[str | None]
    texts: list[str]
    vectors: dict[int, tuple[Sequence[float], bytes | None]]
    missing: list[int]
    computed: int = field(default=0)

    @property
    def complete(self) -> bool:
        """Whether it can be stored."""
        return self.computed == len(self.missing)


class _Run:
    """The state of one sync."""

    def __init__(
        self,
        library: Library,
        plan: SyncPlan,
        embedder: Embedder,
        profile: ChunkProfile,
        stop: threading.Event,
        passwords: tuple[str, ...],
    ) -> None:
        self.stop = stop
        self._library = library
        self._catalog = library.catalog
        self._plan = plan
        self._embedder = embedder
        self._profile = profile
        self._settings = library.catalog.settings()
        self._passwords = passwords
        self._recipes = library.catalog.recipes()
        # Not what nothing counts: after a prefix, some tokenizers make a token of the space that ends it.
        self._overhead = embedder.count_tokens("a") - 1
        self._bound = False
        self._waiting: deque[_Waiting] = deque()
        self._again: list[PlannedFile] = []
        self._gone = _Gone([planned.record for planned in plan.files if planned.change is Change.REMOVED])
        self._originals: dict[str, FileRecord] | None = None
        self._reports: list[FileReport] = []
        self._started = time.monotonic()
        self._files_done = 0
        self._files_total = len(plan.work)
        self._bytes_done = 0
        self._bytes_total = sum(planned.size for planned in plan.work if planned.change in READ)
        self._chunks_done = 0
        self._seconds_embedding = 0.0
        self._slice = _FIRST_SLICE
        self._speed: dict[str, tuple[float, float]] = defaultdict(lambda: (0.0, 0.0))
        self._embedded: dict[str, tuple[float, float]] = defaultdict(lambda: (0.0, 0.0))  # chunks, seconds by device
        self._last_ended = self._started

    # ------------------------------------------------------------------------------------------- without reading

    def keep(self, unchanged: Iterable[PlannedFile]) -> None:
        """Files that are as they were; a new time of modification is noted, so that they need not be hashed again."""
        touched = []
        for planned in unchanged:
            record, file = planned.record, planned.file
            if record is None or file is None:
                raise ValueError("An unchanged file has a record and a place.")
            if (record.mtime_ns, record.inode) != (file.mtime_ns, file.inode):
                touched.append((record.id, file))
            self._reports.append(
                FileReport(planned.path, planned.change, record.state, record.reason, record.pages, record.chunks)
            )
        if touched:
            self._catalog.restamp(touched)

    def move(self, planned: PlannedFile) -> SyncEvent:
        """A file that only has another place now: nothing is read or embedded."""
        record, file = planned.record, planned.file
        if record is None or file is None:
            raise ValueError("A moved file has a record and a place.")
        self._catalog.move_file(record.id, file)
        if record.root != str(file.root):
            self._catalog.remove_root_if_gone(record.root)
        return self._ended(
            FileReport(planned.path, planned.change, record.state, f"was {planned.why}", record.pages, record.chunks)
        )

    def repeat(self, planned: PlannedFile) -> SyncEvent:
        """A file with the same content as another: it is named, and that one is searched."""
        if planned.file is None:
            raise ValueError("A duplicate has a place.")
        if self._originals is None:
            root = str(self._plan.root)
            self._originals = {record.path: record for record in self._catalog.files() if record.root == root}
        original = self._originals.get(planned.why)
        if original is None or original.sha256 != planned.sha256:
            reason = f"{planned.why} changed meanwhile; the next sync reads both"
            return self._ended(FileReport(planned.path, planned.change, None, reason))
        reason = f"same content as {original.path}"
        if original.state is FileState.FAILED:
            reason += f": {original.reason}"
        ending = Indexed(
            original.state, reason, original.sha256, self._recipe(planned)[1].text(), original.remedies, original.path
        )
        self._catalog.put_file(planned.file, None, [], [], ending)
        if planned.record and planned.record.chunks:
            self._library.delete_leftover_vectors()
        return self._ended(FileReport(planned.path, planned.change, original.state, reason))

    def remove(self, gone: Iterable[PlannedFile]) -> Iterator[SyncEvent]:
        """Files that are gone: nothing of them stays."""
        removed = False
        for planned in gone:
            if self.stop.is_set():
                break
            if planned.record is None:
                raise ValueError("A removed file has a record.")
            self._library.remove_file(planned.record.id)
            removed = True
            yield self._ended(FileReport(planned.path, planned.change, None, planned.why))
        if removed:
            self._library.clean_up()
            self._catalog.remove_root_if_gone(str(self._plan.root))

    # ---------------------------------------------------------------------------------------------- with reading

    def read(self, readers: Readers, wanted: Sequence[PlannedFile]) -> Iterator[SyncEvent]:
        """Reads, embeds and stores files; those that change meanwhile are read once more at the end."""
        last = False
        while wanted and not self.stop.is_set():
            by_path = {planned.path: planned for planned in wanted}
            self._again = []
            for file, outcome in readers.read_all(self._readings(wanted, last)):
                if self.stop.is_set():
                    break
                yield from self._take(by_path[file.path], file, outcome, last)
            while self._waiting and not self.stop.is_set():
                yield from self._embed_slice()
            wanted, last = self._again, True

    def _readings(self, wanted: Sequence[PlannedFile], again: bool) -> Iterator[tuple[SourceFile, ReadOptions]]:
        for planned in wanted:
            if planned.file is None:
                raise ValueError("A file that is read has a place.")
            file = planned.file
            if again:
                with contextlib.suppress(OSError):  # it is gone: the reader will say so
                    file = stamped(file)
            yield file, self._recipe(planned)[0]

    def _recipe(self, planned: PlannedFile) -> tuple[ReadOptions, Recipe]:
        options = options_for(planned.record, self._settings, self._passwords)
        return options, recipe_for(planned.path, options, self._profile)

    def _take(
        self, planned: PlannedFile, file: SourceFile, outcome: SourceDocument | SourceError, last: bool
    ) -> Iterator[SyncEvent]:
        """A file that was read, or could not be; embeds when enough chunks are waiting."""
        try:
            now = stamped(file)
        except OSError as error:
            if isinstance(error, FileNotFoundError):
                yield self._vanished(planned)
                return
            now = file
        if not same_stamp(now, file):
            if last:
                yield self._unsettled(planned)
            else:
                self._again.append(planned)
            return
        if isinstance(outcome, SourceError):
            yield self._failed(planned, file, None, str(outcome), (outcome.remedy,) if outcome.remedy else ())
            return
        waiting = self._cut(planned, file, outcome)
        if not waiting.pieces:
            reason = "; ".join(outcome.problems) or "No text was found in it."
            yield self._failed(planned, file, outcome, reason, outcome.remedies)
            return
        self._waiting.append(waiting)
        yield from self._store_complete()
        while self._chunks_waiting() >= self._slice and not self.stop.is_set():
            yield from self._embed_slice()

    def _cut(self, planned: PlannedFile, file: SourceFile, document: SourceDocument) -> _Waiting:
        """The file's chunks, with the vectors that the library has of the same texts."""
        recipe = self._recipe(planned)[1]
        before = planned.record if planned.record and planned.record.chunks else self._gone.like(planned.path)
        had = {}
        if before is not None and recipe.cuts_as(self._recipes.get(before.id, "")):
            had = {chunk.id: chunk for chunk in self._catalog.chunks_of(before.id)}
        longest = self._embedder.identity.max_tokens - self._overhead - 2
        known = {chunk.text: chunk.tokens for chunk in had.values()}
        pieces = chunk_document(document, self._count, self._profile, longest, known)
        passages = [document.text[piece.span.start : piece.span.end] for piece in pieces]
        texts = [
            embedded_text(document.title, piece.heading_path, piece.section, piece.context, passage)
            for piece, passage in zip(pieces, passages, strict=True)
        ]
        hashes = [embedded_hash(text) for text in texts]
        found = self._catalog.reusable(hashes)
        own = {id_ for id_, chunk in had.items() if planned.record and chunk.file_id == planned.record.id}
        ids: list[str | None] = []
        copied: dict[int, str] = {}
        for at, (hash_, piece, passage) in enumerate(zip(hashes, pieces, passages, strict=True)):
            same = found.get(hash_, ())
            # The same can be embedded for a table's rows below its head, and for rows and head in one.
            is_this = (piece.heading_path, piece.context, passage)
            kept = next((id_ for id_ in same if id_ in own and _parts(had[id_]) == is_this), None)
            ids.append(kept)
            if kept is not None:
                own.discard(kept)
            elif same:
                copied[at] = same[0]
        vectors: dict[int, tuple[Sequence[float], bytes | None]] = {}
        if copied:
            store, sources = self._library.vectors, sorted(set(copied.values()))
            stored, weights = store.get(sources), store.weights(sources)
            vectors = {at: (stored[id_], weights[id_]) for at, id_ in copied.items() if id_ in stored}
        missing = [at for at, id_ in enumerate(ids) if id_ is None and at not in vectors]
        return _Waiting(planned, file, document, recipe, pieces, ids, texts, vectors, missing)

    def _count(self, text: str) -> int:
        return self._embedder.count_tokens(text) - self._overhead

    def _chunks_waiting(self) -> int:
        return sum(len(waiting.missing) - waiting.computed for waiting in self._waiting)

    def _embed_slice(self) -> Iterator[SyncEvent]:
        """Embeds the next slice across files, then stores the files that are complete."""
        parts: list[tuple[_Waiting, list[int]]] = []
        room = self._slice
        for waiting in self._waiting:
            pieces = waiting.missing[waiting.computed :][:room]
            if pieces:
                parts.append((waiting, pieces))
                room -= len(pieces)
            if room == 0:
                break
        try:
            self._embed(parts)
        except InputTooLong:
            # One file's text must not end the others: each is embedded by itself, and the culprit fails by itself.
            for part in parts:
                try:
                    self._embed([part])
                except InputTooLong as error:
                    self._waiting.remove(part[0])
                    yield self._failed(part[0].planned, part[0].file, part[0].document, str(error))
        yield self._event(parts[-1][0].planned.path)
        yield from self._store_complete()

    def _embed(self, parts: list[tuple[_Waiting, list[int]]]) -> None:
        started, device = time.monotonic(), self._embedder.device  # a sync may move it from one to another
        embedded = self._embedder.embed_passages([waiting.texts[at] for waiting, pieces in parts for at in pieces])
        seconds = time.monotonic() - started
        # Lists of floats take eight times the memory.
        vectors = (array("f", vector) for vector in embedded.vectors)
        computed = zip(vectors, packed(embedded.weights) or repeat(None), strict=False)
        for waiting, pieces in parts:
            waiting.vectors.update(zip(pieces, computed, strict=False))
            waiting.computed += len(pieces)
        self._chunks_done += len(embedded.vectors)
        chunks, spent = self._embedded[device]
        self._embedded[device] = (chunks + len(embedded.vectors), spent + seconds)
        self._seconds_embedding += seconds
        self._slice = max(_FIRST_SLICE, min(2048, int(len(embedded.vectors) / max(seconds, 1e-6) * _SLICE_SECONDS)))

    def _store_complete(self) -> Iterator[SyncEvent]:
        while self._waiting and self._waiting[0].complete:
            yield self._store(self._waiting.popleft())

    def _store(self, done: _Waiting) -> SyncEvent:
        document, planned = done.document, done.planned
        if not self._bound:
            self._library.bind(self._embedder.identity)
            self._bound = True
        fresh = [at for at, id_ in enumerate(done.ids) if id_ is None]
        if fresh:
            new_ids = self._catalog.next_chunk_ids(done.file, len(fresh))
            vectors, weights = zip(*(done.vectors[at] for at in fresh), strict=True)
            self._library.vectors.add(new_ids, vectors, weights)
            for at, id_ in zip(fresh, new_ids, strict=True):
                done.ids[at] = id_
        state = FileState.PARTLY if document.problems else FileState.INDEXED
        reason = "; ".join((*document.problems, *document.notes))
        recipe = done.recipe.text(document, document.remedies)
        ending = Indexed(state, reason, document.sha256, recipe, document.remedies)
        self._catalog.put_file(done.file, document, done.pieces, [id_ for id_ in done.ids if id_], ending)
        if planned.record and planned.record.chunks:
            self._library.delete_leftover_vectors()
        self._bytes_done += planned.size
        pages, chunks, embedded = len(document.pages), len(done.pieces), len(done.missing)
        report = FileReport(planned.path, planned.change, state, reason, pages, chunks, embedded)
        return self._ended(report, measured=done.file.size if embedded == chunks else 0)

    def _failed(
        self,
        planned: PlannedFile,
        file: SourceFile,
        document: SourceDocument | None,
        reason: str,
        remedies: Iterable[Remedy] = (),
    ) -> SyncEvent:
        """A file without any text to search; what is known of its pages is kept."""
        digest = document.sha256 if document else planned.sha256
        if not digest:
            with contextlib.suppress(SourceError):  # what cannot be opened is tried again
                digest = sha256(file.absolute)
        kept = tuple(remedies)
        ending = Indexed(FileState.FAILED, reason, digest, self._recipe(planned)[1].text(document, kept), kept)
        self._catalog.put_file(file, document, [], [], ending)
        if planned.record and planned.record.chunks:
            self._library.delete_leftover_vectors()
        self._bytes_done += planned.size
        pages = len(document.pages) if document else 0
        return self._ended(FileReport(planned.path, planned.change, FileState.FAILED, reason, pages))

    def _vanished(self, planned: PlannedFile) -> SyncEvent:
        """A file that was deleted after the plan was made."""
        if planned.record:
            self._library.remove_file(planned.record.id)
            self._library.clean_up()
        self._bytes_done += planned.size
        return self._ended(FileReport(planned.path, planned.change, None, "it vanished before it could be read"))

    def _unsettled(self, planned: PlannedFile) -> SyncEvent:
        """A file that is being written: what the library has of it stays, and the next sync looks again."""
        record = planned.record
        self._bytes_done += planned.size
        reason = "it changed while it was read; the next sync reads it"
        return self._ended(
            FileReport(
                planned.path, planned.change, record.state if record else None, reason,
                record.pages if record else 0, record.chunks if record else 0,
            )
        )  # fmt: skip

    # --------------------------------------------------------------------------------------------------- events

    def finish(self) -> SyncEvent:
        """The report; the speed is kept for the next plan."""
        if self._files_done:
            self._library.vectors.settle()
        for name, (seconds, size) in self._speed.items():
            self._catalog.add_speed(name, seconds, size)
        for device, (chunks, seconds) in self._embedded.items():
            self._catalog.add_embedding_speed(self._embedder.identity.model, device, chunks, seconds)
        report = SyncReport(
            library=self._plan.library,
            root=str(self._plan.root),
            files=tuple(sorted(self._reports, key=lambda report: report.path)),
            skipped=self._plan.skipped,
            seconds=time.monotonic() - self._started,
            stopped=self._files_done < self._files_total,
        )
        return self._event("", result=report)

    def _ended(self, report: FileReport, measured: int = 0) -> SyncEvent:
        """Counts a file as done; the time since the last one is put down to its kind if it was embedded whole."""
        now = time.monotonic()
        if measured:
            name = reader_of(report.path)[0]
            seconds, size = self._speed[name]
            self._speed[name] = (seconds + now - self._last_ended, size + measured)
        self._last_ended = now
        self._reports.append(report)
        self._files_done += 1
        return self._event(report.path, report=report)

    def _event(self, path: str, report: FileReport | None = None, result: SyncReport | None = None) -> SyncEvent:
        elapsed = time.monotonic() - self._started
        waiting = sum(
            waiting.planned.size * waiting.computed // max(1, len(waiting.missing)) for waiting in self._waiting
        )
        share = (self._bytes_done + waiting) / self._bytes_total if self._bytes_total else 0.0
        return SyncEvent(
            path=path,
            files_done=self._files_done,
            files_total=self._files_total,
            chunks_done=self._chunks_done,
            chunks_per_second=self._chunks_done / self._seconds_embedding if self._seconds_embedding else 0.0,
            seconds_left=elapsed / share * (1 - share) if _SHARE_TO_GUESS_FROM < share <= 1 else None,
            report=report,
            result=result,
        )


class _Gone:
    """The files that are gone from the folder, among which a new one may find what it was before it was renamed."""

    def __init__(self, records: Iterable[FileRecord | None]) -> None:
        self._by_name: dict[str, FileRecord] = {}
        self._by_folder: dict[tuple[str, str], list[FileRecord]] = defaultdict(list)
        for record in records:
            if record is not None and record.chunks:
                path = PurePosixPath(record.path)
                self._by_name[path.name] = record
                self._by_folder[str(path.parent), path.suffix].append(record)

    def like(self, path: str) -> FileRecord | None:
        """The one that a new file most likely was: of the same name, else the next one of its kind in its folder."""
        place = PurePosixPath(path)
        if found := self._by_name.get(place.name):
            return found
        folder = self._by_folder.get((str(place.parent), place.suffix))
        return folder.pop(0) if folder else None
