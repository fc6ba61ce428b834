"""A folder → the library in step with it: plan, then apply, one transaction a file.

Reading runs ahead in worker processes while this thread cuts and embeds. Chunks of several files are embedded together
in slices of about a second and a half, so that progress moves and a stop is quick; each file is stored as soon as its
last vector is there. Order of writes for one file, so that an interruption anywhere leaves nothing wrong:

1. journal: the ids of the coming chunks;
2. Chroma: their vectors (unknown to the catalog, so no search shows them);
3. catalog, one transaction: old chunks out, new ones in; the journal now lists the old ids;
4. Chroma: the old vectors out; then the journal is cleared.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rag.errors import InputTooLong, LibraryError, SourceError
from rag.index.chunking import VERSION as CHUNKER_VERSION
from rag.index.chunking import Piece, chunk_document
from rag.index.library import Library
from rag.models.base import Embedder
from rag.sources.scan import Scan, scan, sha256
from rag.sources.workers import ReaderPool
from rag.types import (
    DEFAULT_READING,
    Change,
    FileRecord,
    FileReport,
    FileState,
    PlannedFile,
    SourceDocument,
    SourceFile,
    SyncEvent,
    SyncPlan,
    SyncReport,
)

_SLICE_SECONDS = 1.5
_FIRST_SLICE = 4


@dataclass(frozen=True, slots=True)
class ChunkProfile:
    """How documents are cut: sizes in the embedder's tokens."""

    limit: int
    overlap: int

    def recipe(self) -> str:
        """What a stored file was made with; another value means that it has to be made again."""
        return f"chunker {CHUNKER_VERSION}, {self.limit}/{self.overlap}"


def make_plan(library: Library, root: Path, profile: ChunkProfile) -> SyncPlan:
    """Compares a folder with what the library holds of it, without changing either.

    A file whose size and time of modification are as they were is taken as unchanged without being opened; the others
    are hashed.

    Raises:
        SourceError: The folder cannot be read.
    """
    found: Scan = scan(root)
    known = {record.path: record for record in library.catalog.files() if record.root == str(found.root)}
    recipes = library.catalog.recipes()
    present = {file.path for file in found.files}
    gone = {
        path: record
        for path, record in known.items()
        # What cannot be looked at just now may still be there: it is kept as it is.
        if path not in present and not any(f"{path}/".startswith(f"{lost}/") for lost in found.unreadable)
    }
    gone_by_hash = {record.sha256: record for record in gone.values() if record.sha256}
    planned = []
    for file in found.files:
        record = known.get(file.path)
        same_stamp = record is not None and (record.size, record.mtime_ns) == (file.size, file.mtime_ns)
        if record is not None and same_stamp:
            if record.state is FileState.FAILED:
                change = Change.RETRY
            elif recipes[record.id] != profile.recipe():
                change = Change.CHANGED
            else:
                change = Change.UNCHANGED
            planned.append(PlannedFile(change, file.path, file.size, file, record, record.sha256))
            continue
        try:
            digest = sha256(file.absolute)
        except SourceError:
            digest = ""  # it vanished or cannot be read: the reader will say which
        moved_from = gone_by_hash.pop(digest, None) if record is None and digest else None
        if moved_from is not None and recipes[moved_from.id] == profile.recipe():
            gone.pop(moved_from.path)
            planned.append(PlannedFile(Change.MOVED, file.path, file.size, file, moved_from, digest))
        elif record is not None and digest == record.sha256 and recipes[record.id] == profile.recipe():
            planned.append(PlannedFile(Change.UNCHANGED, file.path, file.size, file, record, digest))
        else:
            change = Change.NEW if record is None else Change.CHANGED
            planned.append(PlannedFile(change, file.path, file.size, file, record, digest))
    planned += [PlannedFile(Change.REMOVED, path, record.size, None, record) for path, record in gone.items()]
    return SyncPlan(library.name, found.root, tuple(planned), found.skipped)


def apply_plan(
    library: Library,
    plan: SyncPlan,
    embedder: Embedder,
    readers: ReaderPool,
    profile: ChunkProfile,
    stop: threading.Event | None = None,
) -> Iterator[SyncEvent]:
    """Brings the library in step with the plan's folder.

    Args:
        library: The library.
        plan: From :func:`make_plan`.
        embedder: The library's embedder.
        readers: Worker processes to read files with.
        profile: How documents are cut.
        stop: Set from another thread to end after the current slice; what is stored stays, the rest is left undone.

    Yields:
        An event after every slice of chunks and every file; the last one carries the report.

    Raises:
        EmbedderMismatch: The library was built with another embedder.
        ModelError: The embedder failed; files stored so far stay.
        LibraryError: A store cannot be written.
    """
    library.check_embedder(embedder.identity)
    library.catalog.add_root(str(plan.root))
    run = _Run(library, plan, embedder, profile, stop or threading.Event())
    for planned in plan.files:
        if planned.change is Change.UNCHANGED:
            run.keep(planned)
    for planned in plan.work:
        if planned.change is Change.MOVED:
            yield run.move(planned)
        elif planned.change is Change.REMOVED:
            yield run.remove(planned)
    by_path = {planned.path: planned for planned in plan.work if planned.change in _READ}
    if by_path:
        library.bind(embedder.identity)
    for file, outcome in readers.read_all(
        (planned.file, DEFAULT_READING) for planned in by_path.values() if planned.file is not None
    ):
        if run.stop.is_set():
            break
        yield from run.take(by_path[file.path], file, outcome)
    if not run.stop.is_set():
        yield from run.flush()
    yield run.finish()


_READ = {Change.NEW, Change.CHANGED, Change.RETRY}


@dataclass(slots=True, eq=False)
class _Waiting:
    """A file that was read and cut, and whose vectors are being computed."""

    planned: PlannedFile
    file: SourceFile
    document: SourceDocument
    pieces: list[Piece]
    texts: list[str]
    vectors: list[list[float]] = field(default_factory=list)


class _Run:
    """The state of one sync."""

    def __init__(
        self, library: Library, plan: SyncPlan, embedder: Embedder, profile: ChunkProfile, stop: threading.Event
    ) -> None:
        self.library = library
        self.plan = plan
        self.embedder = embedder
        self.profile = profile
        self.stop = stop
        self._overhead = embedder.count_tokens("")
        self._waiting: deque[_Waiting] = deque()
        self._reports: list[FileReport] = []
        self._started = time.monotonic()
        self._files_done = 0
        self._files_total = len(plan.work)
        self._bytes_done = 0
        self._bytes_total = sum(planned.size for planned in plan.work if planned.change in _READ)
        self._chunks_done = 0
        self._seconds_embedding = 0.0
        self._slice = _FIRST_SLICE

    # ------------------------------------------------------------------------------------------- without reading

    def keep(self, planned: PlannedFile) -> None:
        """A file that is as it was; its new time of modification is noted, so that it need not be hashed again."""
        record, file = planned.record, planned.file
        if record and file and record.mtime_ns != file.mtime_ns:
            self.library.catalog.move_file(record.id, file)
        if record:
            self._reports.append(
                FileReport(planned.path, planned.change, record.state, record.reason, record.pages, record.chunks)
            )

    def move(self, planned: PlannedFile) -> SyncEvent:
        """A file that only has another place now: nothing is read or embedded."""
        record, file = planned.record, planned.file
        if record is None or file is None:
            raise ValueError("A moved file has a record and a file.")
        self.library.catalog.move_file(record.id, file)
        return self._ended(
            FileReport(planned.path, planned.change, record.state, f"was {record.path}", record.pages, record.chunks)
        )

    def remove(self, planned: PlannedFile) -> SyncEvent:
        """A file that is gone: nothing of it stays."""
        if planned.record is None:
            raise ValueError("A removed file has a record.")
        self.library.catalog.remove_file(planned.record.id)
        self.library.delete_leftover_vectors()
        return self._ended(FileReport(planned.path, planned.change, None))

    # ---------------------------------------------------------------------------------------------- with reading

    def take(
        self, planned: PlannedFile, file: SourceFile, outcome: SourceDocument | SourceError
    ) -> Iterator[SyncEvent]:
        """A file that was read, or could not be; embeds when enough chunks are waiting."""
        if isinstance(outcome, SourceError):
            yield self._failed(planned, file, str(outcome))
            return
        pieces = chunk_document(outcome, self._count, self._limit(outcome), self.profile.overlap)
        if not pieces:
            yield self._failed(planned, file, "No text was found in it.")
            return
        texts = [embedded_text(outcome, piece) for piece in pieces]
        self._waiting.append(_Waiting(planned, file, outcome, pieces, texts))
        while self._chunks_waiting() >= self._slice and not self.stop.is_set():
            yield from self._embed_slice()

    def flush(self) -> Iterator[SyncEvent]:
        """Embeds and stores what is still waiting."""
        while self._waiting and not self.stop.is_set():
            yield from self._embed_slice()

    def finish(self) -> SyncEvent:
        """The report."""
        report = SyncReport(
            library=self.plan.library,
            root=str(self.plan.root),
            files=tuple(sorted(self._reports, key=lambda report: report.path)),
            skipped=self.plan.skipped,
            seconds=time.monotonic() - self._started,
            stopped=self._files_done < self._files_total,
        )
        return self._event("", result=report)

    def _count(self, text: str) -> int:
        return self.embedder.count_tokens(text) - self._overhead

    def _limit(self, document: SourceDocument) -> int:
        """Tokens that a chunk may have, so that it fits the model together with its longest header."""
        header = max(
            (self._count(header_of(document, section.heading_path)) for section in document.sections), default=0
        )
        room = self.embedder.identity.max_tokens - self._overhead - header - 2
        return max(16, min(self.profile.limit, room))

    def _chunks_waiting(self) -> int:
        return sum(len(waiting.texts) - len(waiting.vectors) for waiting in self._waiting)

    def _embed_slice(self) -> Iterator[SyncEvent]:
        """Embeds the next slice across files, then stores the files that are complete."""
        parts: list[tuple[_Waiting, list[str]]] = []
        room = self._slice
        for waiting in self._waiting:
            texts = waiting.texts[len(waiting.vectors) :][:room]
            if texts:
                parts.append((waiting, texts))
                room -= len(texts)
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
                    yield self._failed(part[0].planned, part[0].file, str(error))
        yield self._event(parts[-1][0].planned.path)
        while self._waiting and len(self._waiting[0].vectors) == len(self._waiting[0].texts):
            yield self._store(self._waiting.popleft())

    def _embed(self, parts: list[tuple[_Waiting, list[str]]]) -> None:
        started = time.monotonic()
        vectors = self.embedder.embed_documents([text for _, texts in parts for text in texts])
        seconds = time.monotonic() - started
        at = 0
        for waiting, texts in parts:
            waiting.vectors += vectors[at : at + len(texts)]
            at += len(texts)
        self._chunks_done += len(vectors)
        self._seconds_embedding += seconds
        self._slice = max(_FIRST_SLICE, min(2048, int(len(vectors) / max(seconds, 1e-6) * _SLICE_SECONDS)))

    def _store(self, done: _Waiting) -> SyncEvent:
        catalog, vectors = self.library.catalog, self.library.vectors
        ids = catalog.next_chunk_ids(done.file, len(done.pieces))
        vectors.add(ids, done.vectors)
        state = FileState.PARTLY if done.document.problems else FileState.INDEXED
        reason = "; ".join(done.document.problems)
        catalog.put_file(
            done.file,
            done.document,
            done.pieces,
            ids,
            sha256=done.document.sha256,
            state=state,
            reason=reason,
            recipe=self.profile.recipe(),
        )
        self.library.delete_leftover_vectors()
        self._bytes_done += done.planned.size
        return self._ended(
            FileReport(
                done.planned.path,
                done.planned.change,
                state,
                reason,
                len(done.document.pages),
                len(done.pieces),
                len(done.vectors),
            )
        )

    def _failed(self, planned: PlannedFile, file: SourceFile, reason: str) -> SyncEvent:
        self.library.catalog.put_file(
            file,
            None,
            [],
            [],
            sha256=planned.sha256,
            state=FileState.FAILED,
            reason=reason,
            recipe=self.profile.recipe(),
        )
        if planned.record and planned.record.chunks:
            self.library.delete_leftover_vectors()
        self._bytes_done += planned.size
        return self._ended(FileReport(planned.path, planned.change, FileState.FAILED, reason))

    # --------------------------------------------------------------------------------------------------- events

    def _ended(self, report: FileReport) -> SyncEvent:
        self._reports.append(report)
        self._files_done += 1
        return self._event(report.path, report=report)

    def _event(self, path: str, report: FileReport | None = None, result: SyncReport | None = None) -> SyncEvent:
        elapsed = time.monotonic() - self._started
        waiting = sum(
            waiting.planned.size * len(waiting.vectors) // max(1, len(waiting.texts)) for waiting in self._waiting
        )
        share = (self._bytes_done + waiting) / self._bytes_total if self._bytes_total else 0.0
        return SyncEvent(
            path=path,
            files_done=self._files_done,
            files_total=self._files_total,
            chunks_done=self._chunks_done,
            chunks_per_second=self._chunks_done / self._seconds_embedding if self._seconds_embedding else 0.0,
            seconds_left=elapsed / share * (1 - share) if 0 < share <= 1 else None,
            report=report,
            result=result,
        )


def header_of(document: SourceDocument, heading_path: Sequence[str]) -> str:
    """The line put before a chunk when it is embedded: the document's title and the headings above the chunk."""
    parts = [document.title, *heading_path]
    # The first heading of a document is often its title.
    if len(parts) > 1 and parts[0].casefold() == parts[1].casefold():
        del parts[0]
    return " › ".join(part[:60] for part in parts[:4])


def embedded_text(document: SourceDocument, piece: Piece) -> str:
    """What is embedded for a chunk; what is shown and cited is the chunk's text alone."""
    return f"{header_of(document, piece.heading_path)}\n{document.text[piece.span.start : piece.span.end]}"


def plan_again(library: Library, file_id: int) -> SyncPlan:
    """A plan that reads one file again, whether it has changed or not.

    Raises:
        LibraryError: The library has no such file.
        SourceError: The file is gone from disk.
    """
    record = _known(library, file_id)
    try:
        facts = record.absolute.stat()
    except OSError as error:
        raise SourceError(
            f"{record.path} is not where it was ({record.absolute}).", "Sync its folder to see what became of it."
        ) from error
    file = SourceFile(Path(record.root), record.path, facts.st_size, facts.st_mtime_ns)
    planned = PlannedFile(Change.CHANGED, record.path, file.size, file, record)
    return SyncPlan(library.name, file.root, (planned,))


def _known(library: Library, file_id: int) -> FileRecord:
    record = library.catalog.file(file_id)
    if record is None:
        raise LibraryError("That file is not in the library any more.", "Reload the page to see what is.")
    return record


def forget_file(library: Library, file_id: int) -> None:
    """Takes one file out of the library; the file on disk is not touched.

    Raises:
        LibraryError: The library has no such file.
    """
    library.catalog.remove_file(_known(library, file_id).id)
    library.delete_leftover_vectors()
