"""A library's SQLite file: its files, chunk texts, keyword index, jobs and conversations.

The catalog is the truth of a library; its vectors are derived from it. Where the two have to change together, the
catalog keeps a journal of the vectors in question (``vector_journal``), so that an interruption at any moment leaves
nothing but journal lines, which :class:`rag.index.library.Library` works off.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import sqlite3
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from rag.errors import LibraryCorrupt, LibraryError, RagError
from rag.index.chunking.chunks import Piece, embedded_text, numbered_path
from rag.index.redaction import redacted, sources_of
from rag.index.terms import terms
from rag.types import (
    DEFAULT_READING,
    Chunk,
    ConversationInfo,
    EmbedderIdentity,
    Exchange,
    FileRecord,
    FileState,
    Hidden,
    JobState,
    JobStatus,
    LibrarySettings,
    Page,
    Place,
    ReadOptions,
    Remedy,
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
    indexed_at REAL NOT NULL, inode INTEGER NOT NULL, encoding TEXT NOT NULL, remedies TEXT NOT NULL,
    options TEXT NOT NULL, copy_of TEXT NOT NULL, authors TEXT NOT NULL, year INTEGER,
    date TEXT NOT NULL, recipe TEXT NOT NULL, revision INTEGER NOT NULL, page_list TEXT NOT NULL,
    UNIQUE (root, path)
);
CREATE INDEX IF NOT EXISTS file_copies ON file (root, copy_of) WHERE copy_of != '';
CREATE TABLE IF NOT EXISTS chunk (
    row INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    file_id INTEGER NOT NULL REFERENCES file (id) ON DELETE CASCADE,
    text TEXT NOT NULL, span_start INTEGER NOT NULL, span_end INTEGER NOT NULL,
    heading_path TEXT NOT NULL, page INTEGER, page_end INTEGER, tokens INTEGER NOT NULL, page_breaks TEXT NOT NULL,
    place TEXT NOT NULL, context TEXT NOT NULL, embedded BLOB NOT NULL,
    section TEXT NOT NULL, stance TEXT NOT NULL, contents INTEGER NOT NULL, hidden TEXT NOT NULL DEFAULT ''
);
CREATE INDEX IF NOT EXISTS chunk_by_file ON chunk (file_id);
CREATE INDEX IF NOT EXISTS chunk_by_embedded ON chunk (embedded);
CREATE INDEX IF NOT EXISTS chunk_by_section ON chunk (section) WHERE section != '';
CREATE INDEX IF NOT EXISTS chunk_by_stance ON chunk (stance) WHERE stance != '';
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
CREATE TABLE IF NOT EXISTS exchange_source (
    source TEXT NOT NULL, exchange_id INTEGER NOT NULL REFERENCES exchange (id) ON DELETE CASCADE,
    PRIMARY KEY (source, exchange_id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS source_by_exchange ON exchange_source (exchange_id);
"""

_KEYWORD_INDEX = """CREATE VIRTUAL TABLE IF NOT EXISTS chunk_terms USING fts5 (
    terms, tokenize = "unicode61 remove_diacritics 0 categories 'L* N* M* Co' tokenchars '.,_-§'''"
)"""

_SCHEMA_VERSION = 4
_SYNC_SPEED, _EMBEDDING_SPEED = "speed", "embedding speed of "  # names of facts
_UPGRADES = {3: "ALTER TABLE chunk ADD COLUMN hidden TEXT NOT NULL DEFAULT ''"}
"""By an older format, what makes the next one of it; a catalog is brought up when it is opened."""

_SECURE_DELETE_SINCE = (3, 42)  # SQLite whose keyword index can take words out of itself at once
_CHUNK = """SELECT chunk.id, chunk.file_id, file.path, file.title, chunk.text, chunk.span_start, chunk.span_end,
    chunk.heading_path, chunk.page, chunk.page_end, chunk.tokens, chunk.page_breaks, chunk.place, chunk.context,
    chunk.section, chunk.stance, chunk.contents, chunk.hidden, file.date
    FROM chunk JOIN file ON file.id = chunk.file_id"""
_FILE = """SELECT id, root, path, size, mtime_ns, sha256, state, reason, title, pages, chunks, indexed_at, inode,
    encoding, remedies, options, copy_of, authors, year FROM file"""

_PASSING = ("locked", "readonly", "unable to open", "disk I/O", "interrupted")
"""What SQLite says of a file that may be whole, but cannot be used now."""

_Execute = Callable[..., sqlite3.Cursor]
_Key = TypeVar("_Key", int, str)

_identity = TypeAdapter(EmbedderIdentity)
_report = TypeAdapter(SyncReport)
_settings = TypeAdapter(LibrarySettings)
_speed = TypeAdapter(dict[str, tuple[float, float]])
_options = TypeAdapter(ReadOptions)
_pages = TypeAdapter(tuple[Page, ...])
_hidden = TypeAdapter(tuple[Hidden, ...])
_trace = TypeAdapter(Trace)


@dataclass(frozen=True, slots=True)
class Indexed:
    """How a file ended, as :meth:`Catalog.put_file` keeps it.

    Attributes:
        state: How it ended.
        reason: Why not fully, or what is worth knowing; for people.
        sha256: Hash of the bytes; empty when they could not be read.
        recipe: What decided how it was read and cut.
        remedies: What a person can do about it.
        copy_of: Path of the file whose bytes it repeats; else empty.
    """

    state: FileState
    reason: str
    sha256: str
    recipe: str
    remedies: tuple[Remedy, ...] = ()
    copy_of: str = ""


@dataclass(frozen=True, slots=True)
class Condition:
    """Which chunks: an SQL condition on the columns of ``chunk``, and the values of its question marks."""

    sql: str
    values: tuple[str | int, ...] = ()


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
        self._uid = ""
        self._total: int | None = None
        self._frequencies: dict[str, int] = {}  # counting a word that is in every chunk takes milliseconds
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with self._statement("open"):
                self._connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=5.0)
            with self._statement("open") as execute:
                execute("PRAGMA auto_vacuum = INCREMENTAL")  # of a new file; has to come before all else
                execute("PRAGMA journal_mode = WAL")
                execute("PRAGMA synchronous = NORMAL")
                execute("PRAGMA foreign_keys = ON")
                execute("PRAGMA secure_delete = ON")
                version = self._upgraded(int(execute("PRAGMA user_version").fetchone()[0]))
                if version not in (0, _SCHEMA_VERSION):
                    age = "a newer" if version > _SCHEMA_VERSION else "an older"
                    raise LibraryCorrupt(
                        f"{path} was written by {age} Footnote (format {version}, this one reads {_SCHEMA_VERSION}).",
                        "Use the other Footnote, or delete this library and index its folders again.",
                    )
                if version == 0:
                    self._make_keyword_index()
                    self._connection.executescript(_SCHEMA)
                    execute(f"PRAGMA user_version = {_SCHEMA_VERSION}")
        except RagError:
            if hasattr(self, "_connection"):
                self._connection.close()
            raise

    def _upgraded(self, version: int) -> int:
        """Brings an older catalog to the present format, as far as that can be done, and says which one it has."""
        while version in _UPGRADES:
            with self._transaction() as execute:
                execute(_UPGRADES[version])
                version += 1
                execute(f"PRAGMA user_version = {version}")
        return version

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
        if not self._uid:
            self._uid = self._fact("uid") or uuid.uuid4().hex
            self._set_fact("uid", self._uid)
        return self._uid

    def source(self, file_id: int) -> str:
        """What the ids of a file's chunks begin with, and those of no other file of any library."""
        return f"{self.uid()[:12]}.{file_id}"

    def settings(self) -> LibrarySettings:
        """What the library has of its own."""
        kept = self._fact("settings")
        return _settings.validate_json(kept) if kept else LibrarySettings()

    def set_settings(self, settings: LibrarySettings) -> None:
        """Keeps the library's own settings."""
        self._set_fact("settings", _settings.dump_json(settings).decode())

    def speed(self) -> dict[str, tuple[float, float]]:
        """What earlier syncs took, by kind of file: seconds, and the bytes read and embedded in them."""
        return self._measured(_SYNC_SPEED)

    def add_speed(self, kind: str, seconds: float, size: float) -> None:
        """Adds what a sync took for files of a kind; see :meth:`speed`."""
        self._add_measured(_SYNC_SPEED, kind, seconds, size)

    def embedding_speeds(self, embedder: str) -> dict[str, tuple[float, float]]:
        """Chunks that an embedder has embedded for this library, and the seconds it took, by device."""
        return self._measured(_EMBEDDING_SPEED + embedder)

    def add_embedding_speed(self, embedder: str, device: str, chunks: float, seconds: float) -> None:
        """Adds a measurement; see :meth:`embedding_speeds`."""
        self._add_measured(_EMBEDDING_SPEED + embedder, device, chunks, seconds)

    def _measured(self, what: str) -> dict[str, tuple[float, float]]:
        kept = self._fact(what)
        return _speed.validate_json(kept) if kept else {}

    def _add_measured(self, what: str, of: str, *values: float) -> None:
        """Adds two sums that make a speed together; earlier ones count half beside them."""
        measured = self._measured(what)
        first, second = (before / 2 + value for before, value in zip(measured.get(of, (0.0, 0.0)), values, strict=True))
        self._set_fact(what, _speed.dump_json({**measured, of: (first, second)}).decode())

    def quick_check(self) -> str:
        """What SQLite's own check of the file says: ``ok``, or the first damage found."""
        with self._statement("check") as execute:
            return str(execute("PRAGMA quick_check(1)").fetchone()[0])

    def damage(self) -> str:
        """What is wrong with the file, the keyword index aside; empty when nothing is. Reads all of it."""
        with self._statement("check") as execute:
            for (said,) in execute("PRAGMA integrity_check"):
                if said != "ok" and "chunk_terms" not in said:
                    return str(said)
            lost = execute("PRAGMA foreign_key_check").fetchone()
            if lost:
                return f"an entry of “{lost[0]}” belongs to a “{lost[2]}” that is not there"
            counted = "SELECT path FROM file WHERE chunks != (SELECT count(*) FROM chunk WHERE file_id = file.id)"
            wrong = execute(counted).fetchone()
        return f"{wrong[0]} has another number of chunks than was stored" if wrong else ""

    def keyword_damage(self) -> str:
        """What is wrong with the keyword index, compared with all chunks; empty when nothing is."""
        with self._statement("check") as execute:
            try:
                execute("INSERT INTO chunk_terms (chunk_terms) VALUES ('integrity-check')")
                missing, extra = execute(
                    "SELECT (SELECT count(*) FROM chunk WHERE row NOT IN (SELECT rowid FROM chunk_terms)),"
                    " (SELECT count(*) FROM chunk_terms WHERE rowid NOT IN (SELECT row FROM chunk))"
                ).fetchone()
                stored = "SELECT terms FROM chunk_terms WHERE rowid = ?"
                wrong = 0
                for row, searched in self._searched():
                    held = execute(stored, (row,)).fetchone()
                    wrong += held is not None and held[0] != searched
            except sqlite3.DatabaseError as error:
                return f"SQLite reports damage: {error}"
        found = ((missing, "without an entry"), (extra, "deleted, with an entry"), (wrong, "with other words"))
        return "; ".join(f"chunks {what}: {count}" for count, what in found if count)

    def rebuild_keywords(self) -> None:
        """Makes the keyword index anew from the chunks."""
        with self._transaction() as execute:
            self._forget_counts()
            execute("DROP TABLE chunk_terms")
            self._make_keyword_index()
            for row, searched in self._searched():
                execute("INSERT INTO chunk_terms (rowid, terms) VALUES (?, ?)", (row, searched))

    def random_chunks(self, count: int) -> list[tuple[Chunk, bytes]]:
        """Chunks chosen by chance, with the hash of what was embedded for them (:func:`embedded_hash`)."""
        with self._statement("read") as execute:
            rows = execute("SELECT id, embedded FROM chunk ORDER BY random() LIMIT ?", (count,)).fetchall()
        chunks = self.chunks([id_ for id_, _ in rows])
        return [(chunks[id_], embedded) for id_, embedded in rows]

    def _make_keyword_index(self) -> None:
        self._connection.execute(_KEYWORD_INDEX)
        if sqlite3.sqlite_version_info >= _SECURE_DELETE_SINCE:
            self._connection.execute("INSERT INTO chunk_terms (chunk_terms, rank) VALUES ('secure-delete', 1)")

    def _searched(self) -> Iterator[tuple[int, str]]:
        """Every chunk's row with its words as the keyword index should hold them."""
        columns = "SELECT row, title, heading_path, section, context, text FROM chunk JOIN file ON file.id = file_id"
        last = 0
        while rows := self._connection.execute(f"{columns} WHERE row > ? ORDER BY row LIMIT 500", (last,)).fetchall():
            for row, title, headings, section, context, text in rows:
                yield row, _searched_terms(title, json.loads(headings), section, context, text)
            last = rows[-1][0]

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

    def revision(self, file_id: int) -> int:
        """How often a file was stored; the ids of its chunks tell which of these times each of them came with."""
        with self._statement("read") as execute:
            row = execute("SELECT revision FROM file WHERE id = ?", (file_id,)).fetchone()
        return int(row[0]) if row else 0

    def pages(self, file_id: int) -> tuple[Page, ...]:
        """A file's pages as they were read; none where its format has none."""
        with self._statement("read") as execute:
            row = execute("SELECT page_list FROM file WHERE id = ?", (file_id,)).fetchone()
            return _pages.validate_json(row[0]) if row and row[0] else ()

    def set_options(self, file_id: int, options: ReadOptions) -> None:
        """Keeps how a person wants a file to be read; passwords are not kept."""
        kept = replace(options, passwords=())
        data = "" if kept == DEFAULT_READING else _options.dump_json(kept).decode()
        with self._transaction() as execute:
            execute("UPDATE file SET options = ? WHERE id = ?", (data, file_id))

    def roots(self) -> tuple[str, ...]:
        """The folders that belong to the library."""
        with self._statement("read") as execute:
            return tuple(str(row[0]) for row in execute("SELECT root FROM folder ORDER BY root"))

    def add_root(self, root: str) -> None:
        """Makes a folder one of the library's."""
        with self._transaction() as execute:
            execute("INSERT OR IGNORE INTO folder VALUES (?)", (root,))

    def move_roots(self, old: Path, new: Path) -> None:
        """Notes that a folder was renamed: what lay in it lies in the new one.

        Args:
            old: As it was called, absolute.
            new: As it is called now, absolute.
        """
        with self._transaction() as execute:
            for table in ("file", "folder", "job"):
                for (root,) in execute(f"SELECT DISTINCT root FROM {table}").fetchall():
                    if Path(root).is_relative_to(old):
                        moved = str(new / Path(root).relative_to(old))
                        execute(f"UPDATE {table} SET root = ? WHERE root = ?", (moved, root))

    def remove_root_if_gone(self, root: str) -> None:
        """Makes a folder none of the library's any more, if it is not there and the library holds no file of it."""
        if not Path(root).exists():
            with self._transaction() as execute:
                execute(
                    "DELETE FROM folder WHERE root = ?1 AND NOT EXISTS (SELECT 1 FROM file WHERE root = ?1)", (root,)
                )

    def counts(self) -> tuple[int, int]:
        """Number of files and of chunks."""
        with self._statement("read") as execute:
            return int(execute("SELECT count(*) FROM file").fetchone()[0]), self.total()

    def total(self) -> int:
        """Number of chunks."""
        with self._statement("read") as execute:
            if self._total is None:
                self._total = int(execute("SELECT count(*) FROM chunk").fetchone()[0])
            return self._total

    def next_chunk_ids(self, file: SourceFile, count: int) -> list[str]:
        """Ids for a file's coming chunks, never used before in any library; their vectors may now be stored.

        They are written to the journal first: until :meth:`put_file` makes them known, they count as left over.
        """
        with self._transaction() as execute:
            row = execute(
                "SELECT id, revision FROM file WHERE root = ? AND path = ?", (str(file.root), file.path)
            ).fetchone()
            if row is None:
                file_id = execute("SELECT coalesce(max(seq), 0) + 1 FROM sqlite_sequence WHERE name = 'file'")
                row = (int(file_id.fetchone()[0]), 0)
            ids = [f"{self.source(row[0])}.{row[1] + 1}.{ordinal}" for ordinal in range(count)]
            self._connection.executemany("INSERT OR IGNORE INTO vector_journal VALUES (?)", [(id_,) for id_ in ids])
        return ids

    def put_file(
        self,
        file: SourceFile,
        document: SourceDocument | None,
        pieces: Sequence[Piece],
        ids: Sequence[str],
        ending: Indexed,
    ) -> None:
        """Replaces a file and its chunks in one transaction; the vectors of chunks that go, go to the journal.

        Args:
            file: The file.
            document: What was read; None when it could not be.
            pieces: Its chunks; empty when it failed.
            ids: Their ids, from :meth:`next_chunk_ids`; or of this file's present chunks, where headings, context and
                text are as they were.
            ending: How it ended.
        """
        read = document or SourceDocument("", Path(file.path).stem, (), ending.sha256)
        columns = {
            "size": file.size,
            "mtime_ns": file.mtime_ns,
            "inode": file.inode,
            "sha256": ending.sha256,
            "state": ending.state.value,
            "reason": ending.reason,
            "title": read.title,
            "pages": len(read.pages),
            "chunks": len(pieces),
            "indexed_at": time.time(),
            "encoding": read.encoding,
            "remedies": " ".join(ending.remedies),
            "copy_of": ending.copy_of,
            "authors": json.dumps(read.authors) if read.authors else "",
            "year": read.year,
            "date": read.date or str(read.year or ""),
            "recipe": ending.recipe,
            "page_list": _pages.dump_json(read.pages).decode() if read.pages else "",
        }
        with self._transaction() as execute:
            old = execute(
                "SELECT id, title FROM file WHERE root = ? AND path = ?", (str(file.root), file.path)
            ).fetchone()
            if old:
                file_id = int(old[0])
                sets = ", ".join(f"{name} = ?" for name in columns)
                execute(f"UPDATE file SET {sets}, revision = revision + 1 WHERE id = ?", (*columns.values(), file_id))
                present = {str(row[0]) for row in execute("SELECT id FROM chunk WHERE file_id = ?", (file_id,))}
                stays = present.intersection(ids) if old[1] == read.title else set()
                self._forget_chunks(list(present - stays), journal=list(present.difference(ids)))
            else:
                marks = ", ".join("?" * len(columns))
                cursor = execute(
                    f"INSERT INTO file (root, path, options, revision, {', '.join(columns)})"
                    f" VALUES (?, ?, '', 1, {marks})",
                    (str(file.root), file.path, *columns.values()),
                )
                file_id = int(cursor.lastrowid or 0)
                stays = set()
            for id_, piece in zip(ids, pieces, strict=True):
                text = read.text[piece.span.start : piece.span.end]
                headings = json.dumps(piece.heading_path)
                where = (
                    piece.span.start, piece.span.end, piece.page, piece.page_end, json.dumps(piece.page_breaks),
                    _place_json(piece.place), piece.section, piece.stance, piece.contents,
                    _hidden_json(read.hidden, piece.span),
                )  # fmt: skip
                if id_ in stays:
                    execute(
                        "UPDATE chunk SET span_start = ?, span_end = ?, page = ?, page_end = ?, page_breaks = ?,"
                        " place = ?, section = ?, stance = ?, contents = ?, hidden = ? WHERE id = ?",
                        (*where, id_),
                    )
                    continue
                embedded = embedded_hash(
                    embedded_text(read.title, piece.heading_path, piece.section, piece.context, text)
                )
                cursor = execute(
                    "INSERT INTO chunk (span_start, span_end, page, page_end, page_breaks, place, section, stance,"
                    " contents, hidden, id, file_id, text, heading_path, tokens, context, embedded)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (*where, id_, file_id, text, headings, piece.tokens, piece.context, embedded),
                )
                searched = _searched_terms(read.title, piece.heading_path, piece.section, piece.context, text)
                self._index_terms(int(cursor.lastrowid or 0), searched)
            self._connection.executemany("DELETE FROM vector_journal WHERE chunk_id = ?", [(id_,) for id_ in ids])

    def reusable(self, embedded: Sequence[bytes]) -> dict[bytes, tuple[str, ...]]:
        """Chunks by the hash of what was embedded for them (:func:`embedded_hash`); unknown hashes are left out."""
        found: dict[bytes, tuple[str, ...]] = {}
        with self._statement("read") as execute:
            for at in range(0, len(embedded), 500):
                some = list(embedded[at : at + 500])
                marks = ",".join("?" * len(some))
                for hash_, id_ in execute(f"SELECT embedded, id FROM chunk WHERE embedded IN ({marks})", some):
                    found[hash_] = (*found.get(hash_, ()), str(id_))
        return found

    def move_file(self, file_id: int, file: SourceFile) -> None:
        """Gives a file its new place; its chunks stay. A copy of it that is known there is taken out."""
        with self._transaction() as execute:
            execute(
                "DELETE FROM file WHERE root = ? AND path = ? AND id != ? AND chunks = 0",
                (str(file.root), file.path, file_id),
            )
            root, path, title = execute("SELECT root, path, title FROM file WHERE id = ?", (file_id,)).fetchone()
            execute(
                "UPDATE file SET copy_of = ? WHERE root = ? AND copy_of = ? AND copy_of != ''", (file.path, root, path)
            )
            execute(
                "UPDATE file SET root = ?, path = ?, size = ?, mtime_ns = ?, inode = ?, copy_of = '' WHERE id = ?",
                (str(file.root), file.path, file.size, file.mtime_ns, file.inode, file_id),
            )
            new_title = Path(file.path).stem
            if title == Path(path).stem and title != new_title:
                # It was called after the file; its keywords follow, its vectors may stay.
                execute("UPDATE file SET title = ? WHERE id = ?", (new_title, file_id))
                rows = execute(
                    "SELECT row, heading_path, section, context, text FROM chunk WHERE file_id = ?", (file_id,)
                ).fetchall()
                for row, headings, section, context, text in rows:
                    execute("DELETE FROM chunk_terms WHERE rowid = ?", (row,))
                    self._index_terms(row, _searched_terms(new_title, json.loads(headings), section, context, text))

    def restamp(self, files: Iterable[tuple[int, SourceFile]]) -> None:
        """Notes new times of modification and the like of files whose bytes are as they were."""
        with self._transaction():
            self._connection.executemany(
                "UPDATE file SET size = ?, mtime_ns = ?, inode = ? WHERE id = ?",
                [(file.size, file.mtime_ns, file.inode, file_id) for file_id, file in files],
            )

    def remove_file(self, file_id: int) -> None:
        """Forgets a file, its chunks and what conversations hold of it; the vectors go to the journal."""
        with self._transaction() as execute:
            self._redact([self.source(file_id)])
            ids = [str(row[0]) for row in execute("SELECT id FROM chunk WHERE file_id = ?", (file_id,))]
            self._forget_chunks(ids, journal=ids)
            execute("DELETE FROM file WHERE id = ?", (file_id,))

    def clear(self) -> None:
        """Forgets all chunks, so that the library can be built anew: the next plan reads every file again.

        Files keep their numbers and what a person set for them, so that conversations still know where they quote from.
        """
        with self._transaction() as execute:
            self._forget_counts()
            execute("DELETE FROM chunk_terms")
            execute("DELETE FROM chunk")
            execute("DELETE FROM vector_journal")
            execute(
                "UPDATE file SET chunks = 0, sha256 = '', mtime_ns = -1, copy_of = '', state = ?, reason = ?",
                (FileState.FAILED.value, "it waits to be read again"),
            )

    def compact(self) -> None:
        """Gives back the space of what was removed, and leaves no byte of it in the file or beside it."""
        with self._statement("write") as execute:
            if sqlite3.sqlite_version_info < _SECURE_DELETE_SINCE:
                execute("INSERT INTO chunk_terms (chunk_terms) VALUES ('optimize')")
            # A cursor would step once, and give one page back.
            self._connection.executescript("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE)")

    def _forget_counts(self) -> None:
        self._total = None
        self._frequencies.clear()

    def _index_terms(self, row: int, searched: str) -> None:
        self._forget_counts()
        self._connection.execute("INSERT INTO chunk_terms (rowid, terms) VALUES (?, ?)", (row, searched))

    def _forget_chunks(self, ids: Sequence[str], *, journal: Sequence[str]) -> None:
        self._forget_counts()
        for statement, some in (
            ("INSERT OR IGNORE INTO vector_journal VALUES (?)", journal),
            ("DELETE FROM chunk_terms WHERE rowid = (SELECT row FROM chunk WHERE id = ?)", ids),
            ("DELETE FROM chunk WHERE id = ?", ids),
        ):
            self._connection.executemany(statement, [(id_,) for id_ in some])

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

    def chunks_of(self, file_id: int) -> tuple[Chunk, ...]:
        """A file's chunks, in order."""
        with self._statement("read") as execute:
            rows = execute(f"{_CHUNK} WHERE chunk.file_id = ? ORDER BY chunk.span_start", (file_id,)).fetchall()
        return tuple(_chunk(row) for row in rows)

    def first_in_section(self, number: str, file_id: int) -> Chunk | None:
        """The chunk that a section begins with: in that file, else in another one of its folder.

        Args:
            number: The section's number in canonical form.
            file_id: The file that a reference stands in.
        """
        with self._statement("read") as execute:
            row = execute("SELECT root, path FROM file WHERE id = ?", (file_id,)).fetchone()
            if row is None:
                return None
            folder = row[1].rpartition("/")[0]
            # Paths of the folder itself: its name and one part more.
            found = execute(
                f"{_CHUNK} WHERE chunk.section = ?1 AND chunk.section != '' AND NOT chunk.contents AND file.root = ?2"
                " AND substr(file.path, 1, ?3) = ?4 AND instr(substr(file.path, ?3 + 1), '/') = 0"
                " ORDER BY file.id != ?5, file.path, chunk.span_start LIMIT 1",
                (number, row[0], len(folder) + bool(folder), f"{folder}/" if folder else "", file_id),
            ).fetchone()
        return _chunk(found) if found else None

    def chunk_ids(self) -> set[str]:
        """Ids of all chunks."""
        with self._statement("read") as execute:
            return {str(row[0]) for row in execute("SELECT id FROM chunk")}

    def chunk_tokens(self) -> list[int]:
        """Lengths of all chunks, in the embedder's tokens."""
        with self._statement("read") as execute:
            return [int(row[0]) for row in execute("SELECT tokens FROM chunk")]

    def search_terms(
        self, query: Sequence[str], limit: int, within: Condition | None = None, *, ranked: bool = True
    ) -> dict[str, list[str]]:
        """Chunks that hold any of the terms: ids, with all the terms of each; best first, unless not to be ranked.

        Source: Robertson and Zaragoza 2009, BM25; SQLite's FTS5 with k1 = 1.2 and b = 0.75.
        """
        if not query:
            return {}
        order = "ORDER BY rank" if ranked else ""
        rows: list[int] = []
        with self._statement("search") as execute:
            matching = execute(
                f"SELECT rowid FROM chunk_terms WHERE chunk_terms MATCH ? {order}", (_match(query, "OR"),)
            )
            step = limit
            while len(rows) < limit and (some := [row for (row,) in matching.fetchmany(step)]):
                # Asked from the best on, a condition that lets most through is asked of few.
                allowed = _let_through(execute, "row", some, within) if within else some
                rows += [row for row in some if row in allowed]
                step *= 2
            rows = rows[:limit]
            found = execute(
                "SELECT row, id, terms FROM chunk JOIN chunk_terms ON chunk_terms.rowid = row"
                " WHERE row IN (SELECT value FROM json_each(?))",
                (json.dumps(rows),),
            ).fetchall()
        by_row = {row: (str(id_), held.split(" ")) for row, id_, held in found}
        return dict(by_row[row] for row in rows if row in by_row)

    def rows_with(self, query: Sequence[str], within: Condition) -> list[tuple[int, str]]:
        """Rows and texts of the chunks that hold all of the terms; without terms, of all that the condition allows."""
        holding = "row IN (SELECT rowid FROM chunk_terms WHERE chunk_terms MATCH ?) AND" if query else ""
        match = [_match(query, "AND")] if query else []
        with self._statement("search") as execute:
            return execute(
                f"SELECT row, text FROM chunk WHERE {holding} {within.sql}", (*match, *within.values)
            ).fetchall()

    def count_where(self, within: Condition) -> int:
        """Number of chunks that a condition lets through."""
        with self._statement("search") as execute:
            return int(execute(f"SELECT count(*) FROM chunk WHERE {within.sql}", within.values).fetchone()[0])

    def ids_where(self, within: Condition, ids: Sequence[str] | None = None) -> set[str]:
        """Ids of the chunks that a condition lets through; of all, or of some."""
        with self._statement("search") as execute:
            if ids is not None:
                return _let_through(execute, "id", ids, within)
            return {str(row[0]) for row in execute(f"SELECT id FROM chunk WHERE {within.sql}", within.values)}

    def section_numbers(self) -> list[str]:
        """The numbers that sections have, each once, in their canonical form."""
        with self._statement("search") as execute:
            return [str(row[0]) for row in execute("SELECT DISTINCT section FROM chunk WHERE section != ''")]

    def files_with_section(self, number: str, within: Condition | None = None) -> list[int]:
        """The files that have a section of that number, in its canonical form.

        Args:
            number: The number.
            within: Only files of which this lets a chunk of that section through.
        """
        only = f" AND ({within.sql})" if within else ""
        with self._statement("search") as execute:
            rows = execute(
                f"SELECT DISTINCT file_id FROM chunk WHERE section = ? AND section != ''{only}",
                (number, *(within.values if within else ())),
            )
            return [int(row[0]) for row in rows]

    def chunks_where(self, within: Condition) -> list[Chunk]:
        """The chunks that a condition lets through, by file and in order."""
        with self._statement("search") as execute:
            rows = execute(
                f"{_CHUNK} WHERE row IN (SELECT row FROM chunk WHERE {within.sql}) ORDER BY file_id, span_start",
                within.values,
            )
            return [_chunk(row) for row in rows]

    def file_facts(self, within: Condition | None = None) -> list[tuple[int, str, str, str, int]]:
        """Of every file that has chunks: id, path, title, the document's own date, its last change in nanoseconds.

        Args:
            within: Only files of which this lets a chunk through.
        """
        only = f" AND id IN (SELECT file_id FROM chunk WHERE {within.sql})" if within else ""
        with self._statement("search") as execute:
            return execute(
                f"SELECT id, path, title, date, mtime_ns FROM file WHERE chunks > 0{only}",
                within.values if within else (),
            ).fetchall()

    def document_frequencies(self, query: Sequence[str]) -> dict[str, int]:
        """In how many chunks each term occurs."""
        with self._statement("search") as execute:
            unknown = [term for term in query if term not in self._frequencies]
            rows = execute(
                "SELECT term, doc FROM term_count WHERE term IN (SELECT value FROM json_each(?))",
                (json.dumps(unknown),),
            ).fetchall()
            self._frequencies |= dict.fromkeys(unknown, 0) | {str(term): int(count) for term, count in rows}
            return {term: self._frequencies[term] for term in query}

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
        """Adds a question with its answer; passed over when the conversation was deleted meanwhile.

        Of files of this library that were removed while the answer was made, no words are kept.
        """
        sources = sources_of(trace)
        with self._transaction() as execute:
            if execute("SELECT 1 FROM conversation WHERE id = ?", (conversation,)).fetchone() is None:
                return
            own = {source for source in sources if source.startswith(f"{self.uid()[:12]}.")}
            removed = own - self.held(sources)
            data = _packed_trace(redacted(trace, removed) if removed else trace)
            cursor = execute(
                "INSERT INTO exchange (conversation_id, question, trace) VALUES (?, ?, ?)",
                (conversation, trace.retrieval.question, data),
            )
            self._connection.executemany(
                "INSERT INTO exchange_source VALUES (?, ?)",
                [(source, cursor.lastrowid) for source in sorted(sources - removed)],
            )
            title = " ".join(trace.retrieval.question.split())[:80]
            execute(
                "UPDATE conversation SET updated_at = ?, title = iif(title = '', ?, title) WHERE id = ?",
                (time.time(), title, conversation),
            )

    def held(self, sources: Iterable[str]) -> set[str]:
        """Those of some files (see :meth:`source`) that the library has."""
        with self._statement("read") as execute:
            return {self.source(row[0]) for row in execute("SELECT id FROM file")}.intersection(sources)

    def exchanges(self, conversation: int) -> tuple[Exchange, ...]:
        """What was said in a conversation, in order."""
        return self._exchanges("WHERE conversation_id = ? ORDER BY id", conversation)

    def last_exchange(self) -> Exchange | None:
        """The latest question in this library with its answer."""
        found = self._exchanges("ORDER BY id DESC LIMIT 1")
        return found[0] if found else None

    def forget_in_conversations(self, sources: Sequence[str]) -> None:
        """Takes the text of files (see :meth:`source`) out of what conversations keep; the questions stay."""
        with self._transaction():
            self._redact(sources)

    def _redact(self, sources: Sequence[str]) -> None:
        first: dict[int, int] = {}  # by conversation, the exchange from which on the text may be repeated
        for source in sources:
            rows = self._connection.execute(
                "SELECT conversation_id, min(id) FROM exchange WHERE id IN"
                " (SELECT exchange_id FROM exchange_source WHERE source = ?) GROUP BY conversation_id",
                (source,),
            )
            for conversation, exchange in rows:
                first[conversation] = min(exchange, first.get(conversation, exchange))
        for conversation, begin in first.items():
            for exchange in self._exchanges("WHERE conversation_id = ? AND id >= ?", conversation, begin):
                data = _packed_trace(redacted(exchange.trace, frozenset(sources)))
                self._connection.execute("UPDATE exchange SET trace = ? WHERE id = ?", (data, exchange.id))
        self._connection.executemany("DELETE FROM exchange_source WHERE source = ?", [(source,) for source in sources])

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


def embedded_hash(text: str) -> bytes:
    """What tells whether the same text was embedded before."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).digest()[:16]


def _searched_terms(title: str, heading_path: Sequence[str], section: str, context: str, text: str) -> str:
    # Headings and title are searched with the text, as they are embedded with it.
    return " ".join(terms("\n".join((title, *numbered_path(heading_path, section), context, text))))


def _let_through(execute: _Execute, column: str, values: Sequence[_Key], within: Condition) -> set[_Key]:
    """Of some chunks, named by a column that is another for each, those that a condition lets through."""
    # Joined in this order, SQLite looks at the given ones, and not at all that the condition lets through.
    found = execute(
        f"SELECT chunk.{column} FROM json_each(?) CROSS JOIN chunk ON chunk.{column} = value WHERE {within.sql}",
        (json.dumps(list(values)), *within.values),
    )
    return {value for (value,) in found}


def _match(query: Sequence[str], operator: str) -> str:
    """An FTS5 query for any ("OR") or all ("AND") of the terms."""
    return f" {operator} ".join(f'"{term.replace(chr(34), "")}"' for term in dict.fromkeys(query))


def _packed_trace(trace: Trace) -> bytes:
    return lzma.compress(_trace.dump_json(trace), preset=1)  # a trace repeats each chunk's text once a stage


def _file(row: tuple[Any, ...]) -> FileRecord:
    (
        id_, root, path, size, mtime_ns, sha256, state, reason, title, pages, chunks, indexed_at, inode,
        encoding, remedies, options, copy_of, authors, year,
    ) = row  # fmt: skip
    return FileRecord(
        id=id_, root=root, path=path, size=size, mtime_ns=mtime_ns, sha256=sha256, state=FileState(state),
        reason=reason, title=title, pages=pages, chunks=chunks, indexed_at=indexed_at, inode=inode, encoding=encoding,
        remedies=tuple(Remedy(remedy) for remedy in remedies.split()),
        options=_options.validate_json(options) if options else DEFAULT_READING,
        copy_of=copy_of, authors=tuple(json.loads(authors)) if authors else (), year=year,
    )  # fmt: skip


def _chunk(row: tuple[Any, ...]) -> Chunk:
    (
        id_, file_id, path, title, text, start, end, headings, page, page_end, tokens, breaks, place, context,
        section, stance, contents, hidden, date,
    ) = row  # fmt: skip
    return Chunk(
        id=id_, file_id=file_id, path=path, title=title, text=text, span=Span(start, end),
        heading_path=tuple(json.loads(headings)), page=page, page_end=page_end, tokens=tokens,
        page_breaks=tuple(json.loads(breaks)), place=Place(*json.loads(place)) if place else None, context=context,
        section=section, stance=stance, date=date, contents=bool(contents),
        hidden=_hidden.validate_json(hidden) if hidden else (),
    )  # fmt: skip


def _place_json(place: Place | None) -> str:
    return json.dumps((place.unit, place.first, place.last)) if place else ""


def _hidden_json(hidden: Sequence[Hidden], within: Span) -> str:
    """What of a document is not to be seen and lies in a passage; empty for nearly all of them."""
    inside = tuple(one for one in hidden if one.span.overlaps(within))
    return _hidden.dump_json(inside).decode() if inside else ""
