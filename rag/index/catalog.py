"""A library's SQLite file: its files, chunk texts, keyword index, jobs and conversations.

The catalog is the truth of a library; Chroma's vectors are derived from it. Where the two have to change together, the
catalog keeps a journal of the vectors in question (``vector_journal``), so that an interruption at any moment leaves
nothing but journal lines, which :func:`rag.index.library.open_library` works off.
"""

from __future__ import annotations

import json
import lzma
import sqlite3
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from rag.errors import LibraryCorrupt, LibraryError, RagError
from rag.index.chunking import Piece
from rag.index.terms import terms
from rag.types import (
    Chunk,
    ConversationInfo,
    EmbedderIdentity,
    Exchange,
    FileRecord,
    FileState,
    JobState,
    JobStatus,
    SourceDocument,
    SourceFile,
    Span,
    SyncReport,
    Trace,
)

_SCHEMA = """
CREATE TABLE IF NOT EXISTS fact (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS file (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    root TEXT NOT NULL, path TEXT NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, sha256 TEXT NOT NULL,
    state TEXT NOT NULL, reason TEXT NOT NULL, title TEXT NOT NULL, pages INTEGER NOT NULL, chunks INTEGER NOT NULL,
    revision INTEGER NOT NULL, recipe TEXT NOT NULL, indexed_at REAL NOT NULL,
    UNIQUE (root, path)
);
CREATE INDEX IF NOT EXISTS file_by_hash ON file (sha256);
CREATE TABLE IF NOT EXISTS chunk (
    row INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    file_id INTEGER NOT NULL REFERENCES file (id) ON DELETE CASCADE,
    text TEXT NOT NULL, span_start INTEGER NOT NULL, span_end INTEGER NOT NULL,
    heading_path TEXT NOT NULL, page INTEGER, page_end INTEGER, tokens INTEGER NOT NULL, page_breaks TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS chunk_by_file ON chunk (file_id);
CREATE VIRTUAL TABLE IF NOT EXISTS chunk_terms USING fts5 (
    terms, tokenize = "unicode61 remove_diacritics 0 categories 'L* N* M* Co' tokenchars '._-§''々〆'"
);
CREATE VIRTUAL TABLE IF NOT EXISTS term_count USING fts5vocab (chunk_terms, row);
CREATE TABLE IF NOT EXISTS folder (root TEXT PRIMARY KEY);
CREATE TABLE IF NOT EXISTS vector_journal (chunk_id TEXT PRIMARY KEY);
CREATE TABLE IF NOT EXISTS job (
    id INTEGER PRIMARY KEY, root TEXT NOT NULL, state TEXT NOT NULL, started_at REAL NOT NULL,
    report BLOB, error TEXT NOT NULL DEFAULT '', hint TEXT NOT NULL DEFAULT ''
);
CREATE TABLE IF NOT EXISTS conversation (
    id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL, updated_at REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS exchange (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation_id INTEGER NOT NULL REFERENCES conversation (id) ON DELETE CASCADE,
    question TEXT NOT NULL, trace BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS exchange_by_conversation ON exchange (conversation_id);
"""

_SCHEMA_VERSION = 1
_CHUNK = """SELECT chunk.id, chunk.file_id, file.path, file.title, chunk.text, chunk.span_start, chunk.span_end,
    chunk.heading_path, chunk.page, chunk.page_end, chunk.tokens, chunk.page_breaks
    FROM chunk JOIN file ON file.id = chunk.file_id"""
_FILE = "SELECT id, root, path, size, mtime_ns, sha256, state, reason, title, pages, chunks, indexed_at FROM file"

_PASSING = ("locked", "readonly", "unable to open", "disk I/O", "interrupted")
"""What SQLite says of a file that may be whole, but cannot be used now."""

_Execute = Callable[..., sqlite3.Cursor]

_identity = TypeAdapter(EmbedderIdentity)
_report = TypeAdapter(SyncReport)
_trace = TypeAdapter(Trace)


class Catalog:
    """One library's SQLite file. Safe to use from several threads: one connection behind one lock.

    Args:
        path: The file; made when it does not exist.

    Raises:
        LibraryCorrupt: The file is not a catalog that this version can read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.RLock()
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with self._statement("open"):
                self._connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=5.0)
            with self._statement("open") as execute:
                execute("PRAGMA journal_mode = WAL")
                execute("PRAGMA synchronous = NORMAL")
                execute("PRAGMA foreign_keys = ON")
                version = int(execute("PRAGMA user_version").fetchone()[0])
                if version > _SCHEMA_VERSION:
                    raise LibraryCorrupt(
                        f"{path} was written by a newer Footnote (format {version}, this one reads {_SCHEMA_VERSION}).",
                        "Update Footnote, or use another library.",
                    )
                self._connection.executescript(_SCHEMA)
                execute(f"PRAGMA user_version = {_SCHEMA_VERSION}")
        except RagError:
            if hasattr(self, "_connection"):
                self._connection.close()
            raise

    def close(self) -> None:
        """Closes the file."""
        with self._lock:
            self._connection.close()

    # ------------------------------------------------------------------------------------------------------------ facts

    def embedder(self) -> EmbedderIdentity | None:
        """The embedder that the library was built with; None while it holds no chunk, so that any may begin."""
        with self._statement("read") as execute:
            row = execute("SELECT value FROM fact WHERE name = 'embedder' AND EXISTS (SELECT 1 FROM chunk)").fetchone()
            return _identity.validate_json(row[0]) if row else None

    def set_embedder(self, identity: EmbedderIdentity) -> None:
        """Remembers the embedder; done before the first vector is stored."""
        self._set_fact("embedder", _identity.dump_json(identity).decode())

    def uid(self) -> str:
        """A name for this library that no other has, here or on a shared Chroma server."""
        uid = self._fact("uid")
        if uid is None:
            uid = uuid.uuid4().hex
            self._set_fact("uid", uid)
        return uid

    def quick_check(self) -> str:
        """What SQLite's own check of the file says: ``ok``, or the first damage found."""
        with self._statement("check") as execute:
            return str(execute("PRAGMA quick_check(1)").fetchone()[0])

    def _fact(self, name: str) -> str | None:
        with self._statement("read") as execute:
            row = execute("SELECT value FROM fact WHERE name = ?", (name,)).fetchone()
        return str(row[0]) if row else None

    def _set_fact(self, name: str, value: str) -> None:
        with self._statement("write") as execute:
            execute("INSERT OR REPLACE INTO fact VALUES (?, ?)", (name, value))

    # ------------------------------------------------------------------------------------------------------------ files

    def files(self) -> tuple[FileRecord, ...]:
        """All files, by folder and path."""
        with self._statement("read") as execute:
            return tuple(_file(row) for row in execute(f"{_FILE} ORDER BY root, path"))

    def file(self, file_id: int) -> FileRecord | None:
        """One file."""
        with self._statement("read") as execute:
            row = execute(f"{_FILE} WHERE id = ?", (file_id,)).fetchone()
        return _file(row) if row else None

    def recipes(self) -> dict[int, str]:
        """How each file was read and cut, as ``recipe`` was when it was stored; by file id."""
        with self._statement("read") as execute:
            return dict(execute("SELECT id, recipe FROM file"))

    def roots(self) -> tuple[str, ...]:
        """The folders that belong to the library."""
        with self._statement("read") as execute:
            return tuple(str(row[0]) for row in execute("SELECT root FROM folder ORDER BY root"))

    def add_root(self, root: str) -> None:
        """Makes a folder one of the library's."""
        with self._transaction() as execute:
            execute("INSERT OR IGNORE INTO folder VALUES (?)", (root,))

    def counts(self) -> tuple[int, int]:
        """Number of files and of chunks."""
        with self._statement("read") as execute:
            files, chunks = execute("SELECT (SELECT count(*) FROM file), (SELECT count(*) FROM chunk)").fetchone()
        return int(files), int(chunks)

    def next_chunk_ids(self, file: SourceFile, count: int) -> list[str]:
        """Ids for a file's coming chunks, never used before in this library; their vectors may now be stored.

        They are written to the journal first: until :meth:`put_file` makes them known, they count as left over.
        """
        with self._transaction() as execute:
            row = execute(
                "SELECT id, revision FROM file WHERE root = ? AND path = ?", (str(file.root), file.path)
            ).fetchone()
            if row is None:
                file_id = execute("SELECT coalesce(max(seq), 0) + 1 FROM sqlite_sequence WHERE name = 'file'")
                row = (int(file_id.fetchone()[0]), 0)
            ids = [f"{row[0]}.{row[1] + 1}.{ordinal}" for ordinal in range(count)]
            self._connection.executemany("INSERT OR IGNORE INTO vector_journal VALUES (?)", [(id_,) for id_ in ids])
        return ids

    def put_file(
        self,
        file: SourceFile,
        document: SourceDocument | None,
        pieces: Sequence[Piece],
        ids: Sequence[str],
        *,
        sha256: str,
        state: FileState,
        reason: str,
        recipe: str,
    ) -> None:
        """Replaces a file and all its chunks in one transaction; the old chunks' vectors go to the journal.

        Args:
            file: The file.
            document: What was read; None when it failed.
            pieces: Its chunks; empty when it failed.
            ids: Their ids, from :meth:`next_chunk_ids`.
            sha256: Hash of the bytes; empty when they could not be read.
            state: How it ended.
            reason: Why not fully, for people.
            recipe: Versions and settings that decided how it was read and cut.
        """
        with self._transaction() as execute:
            old = execute(
                "SELECT id, revision FROM file WHERE root = ? AND path = ?", (str(file.root), file.path)
            ).fetchone()
            if old:
                self._forget_chunks(old[0])
            title = document.title if document else Path(file.path).stem
            values = (file.size, file.mtime_ns, sha256, state.value, reason, title)
            more = (len(document.pages) if document else 0, len(pieces), recipe, time.time())
            if old:
                file_id, revision = int(old[0]), int(old[1]) + 1
                execute(
                    "UPDATE file SET size=?, mtime_ns=?, sha256=?, state=?, reason=?, title=?, pages=?, chunks=?,"
                    " recipe=?, indexed_at=?, revision=? WHERE id = ?",
                    (*values, *more, revision, file_id),
                )
            else:
                cursor = execute(
                    "INSERT INTO file (root, path, size, mtime_ns, sha256, state, reason, title, pages, chunks, recipe,"
                    " indexed_at, revision) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)",
                    (str(file.root), file.path, *values, *more),
                )
                file_id = int(cursor.lastrowid or 0)
            for id_, piece in zip(ids, pieces, strict=True):
                text = document.text[piece.span.start : piece.span.end] if document else ""
                cursor = execute(
                    "INSERT INTO chunk (id, file_id, text, span_start, span_end, heading_path, page, page_end, tokens,"
                    " page_breaks) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (id_, file_id, text, piece.span.start, piece.span.end, json.dumps(piece.heading_path),
                     piece.page, piece.page_end, piece.tokens, json.dumps(piece.page_breaks)),
                )  # fmt: skip
                # Headings and title are searched with the text, as they are embedded with it.
                searched = terms("\n".join((title, *piece.heading_path, text)))
                execute("INSERT INTO chunk_terms (rowid, terms) VALUES (?, ?)", (cursor.lastrowid, " ".join(searched)))
            self._connection.executemany("DELETE FROM vector_journal WHERE chunk_id = ?", [(id_,) for id_ in ids])

    def move_file(self, file_id: int, file: SourceFile) -> None:
        """Gives a file its new place or time of modification; its chunks stay."""
        with self._transaction() as execute:
            execute(
                "UPDATE file SET root = ?, path = ?, size = ?, mtime_ns = ? WHERE id = ?",
                (str(file.root), file.path, file.size, file.mtime_ns, file_id),
            )

    def remove_file(self, file_id: int) -> None:
        """Forgets a file and its chunks; their vectors go to the journal."""
        with self._transaction() as execute:
            self._forget_chunks(file_id)
            execute("DELETE FROM file WHERE id = ?", (file_id,))

    def clear(self) -> None:
        """Forgets all files, so that the library can be built anew; its folders and conversations stay."""
        with self._transaction() as execute:
            execute("DELETE FROM chunk_terms")
            execute("DELETE FROM chunk")
            execute("DELETE FROM file")
            execute("DELETE FROM vector_journal")

    def _forget_chunks(self, file_id: int) -> None:
        for statement in (
            "INSERT OR IGNORE INTO vector_journal SELECT id FROM chunk WHERE file_id = ?",
            "DELETE FROM chunk_terms WHERE rowid IN (SELECT row FROM chunk WHERE file_id = ?)",
            "DELETE FROM chunk WHERE file_id = ?",
        ):
            self._connection.execute(statement, (file_id,))

    def leftover_vectors(self) -> list[str]:
        """Ids of chunks in the journal that the catalog does not hold: their vectors, if any, are to be deleted."""
        with self._statement("read") as execute:
            rows = execute("SELECT chunk_id FROM vector_journal WHERE chunk_id NOT IN (SELECT id FROM chunk)")
            return [str(row[0]) for row in rows]

    def clear_journal(self, ids: Sequence[str]) -> None:
        """Strikes ids off the journal, once their vectors are deleted."""
        with self._transaction():
            self._connection.executemany("DELETE FROM vector_journal WHERE chunk_id = ?", [(id_,) for id_ in ids])

    # ----------------------------------------------------------------------------------------------------------- chunks

    def chunks(self, ids: Sequence[str]) -> dict[str, Chunk]:
        """Chunks by id; ids that the library does not hold are left out."""
        found: dict[str, Chunk] = {}
        with self._statement("read") as execute:
            for at in range(0, len(ids), 500):
                some = list(ids[at : at + 500])
                marks = ",".join("?" * len(some))
                for row in execute(f"{_CHUNK} WHERE chunk.id IN ({marks})", some):
                    found[row[0]] = _chunk(row)
        return found

    def chunk_ids(self) -> set[str]:
        """Ids of all chunks."""
        with self._statement("read") as execute:
            return {str(row[0]) for row in execute("SELECT id FROM chunk")}

    def search_terms(self, query: Sequence[str], limit: int) -> list[tuple[Chunk, float]]:
        """Chunks that hold any of the terms, best first, with their BM25 score (higher is better).

        Source: Robertson and Zaragoza 2009; SQLite's FTS5 with k1 = 1.2 and b = 0.75.
        """
        if not query:
            return []
        any_term = " OR ".join(f'"{term.replace(chr(34), "")}"' for term in dict.fromkeys(query))
        with self._statement("search") as execute:
            best = execute(
                "SELECT rowid, -bm25(chunk_terms) FROM chunk_terms WHERE chunk_terms MATCH ? ORDER BY rank LIMIT ?",
                (any_term, limit),
            ).fetchall()
            marks = ",".join("?" * len(best))
            rows = execute(
                f"{_CHUNK.replace('SELECT', 'SELECT chunk.row,', 1)} WHERE chunk.row IN ({marks})",
                [row for row, _ in best],
            ).fetchall()
        by_row = {row[0]: _chunk(row[1:]) for row in rows}
        return [(by_row[row], float(score)) for row, score in best if row in by_row]

    def document_frequencies(self, query: Sequence[str]) -> dict[str, int]:
        """In how many chunks each term occurs."""
        with self._statement("search") as execute:
            marks = ",".join("?" * len(query))
            rows = execute(f"SELECT term, doc FROM term_count WHERE term IN ({marks})", list(query)).fetchall()
        found = {str(term): int(count) for term, count in rows}
        return {term: found.get(term, 0) for term in query}

    # ------------------------------------------------------------------------------------------------------------- jobs

    def start_job(self, root: str) -> None:
        """Notes that a sync of ``root`` began; only the last job is kept."""
        with self._transaction() as execute:
            execute("DELETE FROM job")
            execute("INSERT INTO job (root, state, started_at) VALUES (?, 'running', ?)", (root, time.time()))

    def end_job(self, state: str, report: SyncReport | None = None, error: str = "", hint: str = "") -> None:
        """Notes how the job ended."""
        with self._transaction() as execute:
            data = _report.dump_json(report) if report else None
            execute("UPDATE job SET state = ?, report = ?, error = ?, hint = ?", (state, data, error, hint))

    def job(self) -> JobStatus:
        """The last job as it was noted; ``running`` here means that its process ended in the middle."""
        with self._statement("read") as execute:
            row = execute("SELECT state, root, report, error, hint, started_at FROM job").fetchone()
            if row is None:
                return JobStatus()
            report = _report.validate_json(row[2]) if row[2] else None
        state: JobState = "interrupted" if row[0] == "running" else row[0]
        return JobStatus(state=state, root=row[1], report=report, error=row[3], hint=row[4], started_at=row[5])

    # ---------------------------------------------------------------------------------------------------- conversations

    def new_conversation(self) -> int:
        """Begins a conversation and returns its number; one in which nothing was said yet is taken again."""
        with self._transaction() as execute:
            empty = execute(
                "SELECT id FROM conversation WHERE id NOT IN (SELECT conversation_id FROM exchange)"
            ).fetchone()
            if empty is not None:
                return int(empty[0])
            cursor = execute("INSERT INTO conversation (title, updated_at) VALUES ('', ?)", (time.time(),))
        return int(cursor.lastrowid or 0)

    def conversations(self) -> tuple[ConversationInfo, ...]:
        """All conversations, the latest first."""
        with self._statement("read") as execute:
            rows = execute(
                "SELECT id, title, (SELECT count(*) FROM exchange WHERE conversation_id = conversation.id), updated_at"
                " FROM conversation ORDER BY updated_at DESC, id DESC"
            ).fetchall()
        return tuple(ConversationInfo(*row) for row in rows)

    def rename_conversation(self, conversation: int, title: str) -> None:
        """Gives a conversation another title."""
        with self._transaction() as execute:
            execute("UPDATE conversation SET title = ? WHERE id = ?", (title, conversation))

    def delete_conversation(self, conversation: int) -> None:
        """Deletes a conversation and all that was said in it."""
        with self._transaction() as execute:
            execute("DELETE FROM conversation WHERE id = ?", (conversation,))

    def add_exchange(self, conversation: int, trace: Trace) -> None:
        """Adds a question with its answer; passed over when the conversation was deleted meanwhile."""
        data = lzma.compress(_trace.dump_json(trace), preset=1)  # a trace repeats each chunk's text once a stage
        with self._transaction() as execute:
            if execute("SELECT 1 FROM conversation WHERE id = ?", (conversation,)).fetchone() is None:
                return
            execute(
                "INSERT INTO exchange (conversation_id, question, trace) VALUES (?, ?, ?)",
                (conversation, trace.retrieval.question, data),
            )
            title = " ".join(trace.retrieval.question.split())[:80]
            execute(
                "UPDATE conversation SET updated_at = ?, title = iif(title = '', ?, title) WHERE id = ?",
                (time.time(), title, conversation),
            )

    def exchanges(self, conversation: int) -> tuple[Exchange, ...]:
        """What was said in a conversation, in order."""
        return self._exchanges("WHERE conversation_id = ? ORDER BY id", conversation)

    def last_exchange(self) -> Exchange | None:
        """The latest question in this library with its answer."""
        found = self._exchanges("ORDER BY id DESC LIMIT 1")
        return found[0] if found else None

    def _exchanges(self, which: str, *values: int) -> tuple[Exchange, ...]:
        with self._statement("read") as execute:
            rows = execute(f"SELECT id, question, trace FROM exchange {which}", values).fetchall()
        try:
            return tuple(
                Exchange(id_, question, _trace.validate_json(lzma.decompress(data))) for id_, question, data in rows
            )
        except (ValidationError, lzma.LZMAError) as error:
            raise LibraryCorrupt(
                f"A conversation in {self.path} cannot be read.", "Delete that conversation; the index is not touched."
            ) from error

    # ----------------------------------------------------------------------------------------------------------- SQLite

    @contextmanager
    def _statement(self, what: str) -> Iterator[_Execute]:
        """The connection for one thread at a time, with SQLite's errors in our words."""
        with self._lock:
            try:
                yield lambda *arguments: self._connection.execute(*arguments)
            except (sqlite3.Error, ValidationError) as error:
                raise self._translated(what, error) from error

    def _translated(self, what: str, error: Exception) -> LibraryError:
        said = str(error)
        if "full" in said:
            return LibraryError(f"The disk is full: {self.path} could not be written.", "Make room, then try again.")
        if "closed" in said:
            return LibraryError("The library was closed meanwhile.", "Open it again.")
        if isinstance(error, sqlite3.OperationalError) and any(word in said for word in _PASSING):
            return LibraryError(f"Could not {what} {self.path}: {said}.", "Check that its folder can be written to.")
        return LibraryCorrupt(
            f"Could not {what} the library's catalog {self.path}: {said}.",
            "Delete this library and index its folder again; your own files are not touched.",
        )

    @contextmanager
    def _transaction(self) -> Iterator[_Execute]:
        """All or nothing, on disk."""
        with self._statement("write") as execute:
            execute("BEGIN IMMEDIATE")
            try:
                yield execute
            except BaseException:
                if self._connection.in_transaction:
                    execute("ROLLBACK")
                raise
            execute("COMMIT")


def _file(row: tuple[Any, ...]) -> FileRecord:
    record = FileRecord(*row)
    return replace(record, state=FileState(record.state))


def _chunk(row: tuple[Any, ...]) -> Chunk:
    id_, file_id, path, title, text, start, end, headings, page, page_end, tokens, breaks = row
    return Chunk(
        id=id_, file_id=file_id, path=path, title=title, text=text, span=Span(start, end),
        heading_path=tuple(json.loads(headings)), page=page, page_end=page_end, tokens=tokens,
        page_breaks=tuple(json.loads(breaks)),
    )  # fmt: skip
