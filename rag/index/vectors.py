"""A library's vectors: kept in SQLite, searched in Chroma.

A vector costs a hundred times more to compute than to keep, and Chroma's index files do not survive every interruption:
killed in the middle of a write, they may not load again, or end the process that loads them. So what counts is
``vectors.sqlite``; Chroma's index is made from it, brought up to date many vectors at a time (by itself it takes eight
times longer when a file of three chunks is added alone), and made anew when it cannot be trusted::

    add, delete    one transaction: vectors in or out, their ids into ``pending``
    then           index state "writing" → Chroma takes up what is pending → "whole", ``pending`` emptied

An index that is found in the state "writing" was interrupted, or crashed while it was loaded: it is thrown away.

Where the embedder gives sparse weights too, a chunk's lie in one row with its vector, and are searched in SQLite by
their postings (:mod:`rag.index.postings`), which change in the same transaction.
"""

from __future__ import annotations

import json
import logging
import shutil
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag.errors import LibraryCorrupt, LibraryError, RagError
from rag.index import postings
from rag.index.chroma import ChromaIndex, survives_loading

_log = logging.getLogger(__name__)

_SCHEMA = f"""
CREATE TABLE IF NOT EXISTS vector (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, vector BLOB NOT NULL, weights BLOB
);
{postings.SCHEMA}
CREATE TABLE IF NOT EXISTS pending (change INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS search_index (state TEXT NOT NULL, dead INTEGER NOT NULL);
INSERT INTO search_index SELECT 'whole', 0 WHERE NOT EXISTS (SELECT 1 FROM search_index);
"""
_BATCH = 256  # vectors that Chroma takes up at once: about a third of a second
_READ = 500  # vectors read at once
_DEAD_SHARE = 0.3  # of the index's entries, before it is made anew
_DEAD_LEAST = 500

Vectors = NDArray[np.float32]


class VectorStore:
    """The vectors of one library. Safe to use from several threads.

    Args:
        folder: The library's folder: holds ``vectors.sqlite`` and ``chroma/``.
        server_url: Address of a Chroma server to search with; empty: Chroma runs in this process.
        collection: Name of the collection.

    Raises:
        LibraryCorrupt: ``vectors.sqlite`` cannot be read.
    """

    def __init__(self, folder: Path, server_url: str, collection: str) -> None:
        self.path = folder / "vectors.sqlite"
        self._chroma_folder = folder / "chroma"
        self._server_url = server_url
        self._collection = collection
        # Two locks, so that vectors can be stored while Chroma is being loaded; the first is never asked for last.
        self._index_lock = threading.RLock()
        self._lock = threading.RLock()
        self._index: ChromaIndex | None = None
        folder.mkdir(parents=True, exist_ok=True)
        try:
            self._connection = sqlite3.connect(self.path, check_same_thread=False, isolation_level=None, timeout=5.0)
        except sqlite3.Error as error:
            raise self._translated("open", error) from error
        try:
            with self._sqlite("open") as connection:
                # Both have to come before the first table; small pages waste a fifth on vectors of 384 dimensions.
                connection.execute("PRAGMA page_size = 16384")
                connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = FULL")
                connection.execute("PRAGMA secure_delete = ON")
                connection.executescript(_SCHEMA)
        except RagError:
            self._connection.close()
            raise

    # ---------------------------------------------------------------------------------------------------------- vectors

    def add(
        self,
        ids: Sequence[str],
        vectors: Sequence[Sequence[float]],
        weights: Sequence[bytes | None] | None = None,
    ) -> None:
        """Stores chunks' vectors and sparse weights; ids that are there already are replaced.

        Args:
            ids: Chunk ids.
            vectors: Shape: (n_chunks, dimension), rows L2-normalised.
            weights: Of each chunk its sparse weights, as :func:`rag.index.postings.packed` gives them; None where the
                embedder has none. Where those that are there have none either, they are left out: to search some of
                the chunks would be to miss the others.

        Raises:
            LibraryError: The vectors have another dimension than those that are there, or lack the sparse weights that
                those have, or the disk is full.
        """
        if not ids:
            return
        rows = np.asarray(vectors, dtype="<f4")
        with self._transaction() as connection:
            first = "SELECT length(vector) / 4, weights IS NOT NULL FROM vector LIMIT 1"
            given = list(weights) if weights else [None] * len(ids)
            dimension, weighted = connection.execute(first).fetchone() or (rows.shape[1], None not in given)
            if dimension != rows.shape[1]:
                raise LibraryError(
                    f"A vector of {rows.shape[1]} dimensions cannot be added to {self.path}, which holds {dimension}.",
                    "Use the embedder that built this library, or build the library anew.",
                )
            if weighted and None in given:
                raise LibraryError(
                    f"{self.path} holds sparse weights, and the embedder gives none: the files of its heads are gone.",
                    "Fetch the embedder again, or build the library anew.",
                )
            kept = given if weighted else [None] * len(ids)
            self._delete(connection, ids)
            connection.executemany(
                "INSERT INTO vector (id, vector, weights) VALUES (?, ?, ?)",
                ((id_, row.tobytes(), data) for id_, row, data in zip(ids, rows, kept, strict=True)),
            )
            postings.turn_round(connection)
            self._note_pending(ids)
        if self._count("pending") >= _BATCH:
            self._ready()

    def delete(self, ids: Sequence[str]) -> None:
        """Deletes vectors with their weights; ids that are not there are passed over."""
        with self._transaction() as connection:
            self._delete(connection, ids)
            self._note_pending(ids)
        if self._count("pending") >= _BATCH:
            self._ready()

    def _delete(self, connection: sqlite3.Connection, ids: Sequence[str]) -> None:
        postings.take_out(connection, ids)
        connection.executemany("DELETE FROM vector WHERE id = ?", ((id_,) for id_ in ids))

    def get(self, ids: Sequence[str]) -> dict[str, list[float]]:
        """Stored vectors by id; ids that are not there are left out."""
        found: dict[str, list[float]] = {}
        with self._sqlite("read") as connection:
            for at in range(0, len(ids), _READ):
                some = list(ids[at : at + _READ])
                rows = connection.execute(f"SELECT id, vector FROM vector WHERE id IN ({_marks(some)})", some)
                found.update((str(id_), np.frombuffer(data, "<f4").tolist()) for id_, data in rows)
        return found

    def weights(self, ids: Sequence[str]) -> dict[str, bytes | None]:
        """Stored sparse weights by id, as they are kept; None where there are none, ids that are not there left out."""
        found: dict[str, bytes | None] = {}
        with self._sqlite("read") as connection:
            for at in range(0, len(ids), _READ):
                some = list(ids[at : at + _READ])
                found.update(connection.execute(f"SELECT id, weights FROM vector WHERE id IN ({_marks(some)})", some))
        return found

    @property
    def has_weights(self) -> bool:
        """Whether the chunks have sparse weights: all of them, or none."""
        with self._sqlite("read") as connection:
            first = connection.execute("SELECT weights IS NOT NULL FROM vector LIMIT 1").fetchone()
        return bool(first and first[0])

    def ids(self) -> set[str]:
        """Ids of all vectors."""
        with self._sqlite("read") as connection:
            return {str(row[0]) for row in connection.execute("SELECT id FROM vector")}

    def count(self) -> int:
        """Number of vectors."""
        return self._count("vector")

    def batches(self) -> Iterator[tuple[list[str], Vectors]]:
        """All ids with their vectors, some at a time. Shape: (n, dimension) each."""
        last = 0
        while True:
            with self._sqlite("read") as connection:
                rows = connection.execute(
                    "SELECT number, id, vector FROM vector WHERE number > ? ORDER BY number LIMIT ?", (last, _READ)
                ).fetchall()
            if not rows:
                return
            last = rows[-1][0]
            yield [str(row[1]) for row in rows], _matrix([row[2] for row in rows])

    # ----------------------------------------------------------------------------------------------------------- search

    def search(self, vector: Sequence[float], limit: int) -> list[tuple[str, float]]:
        """The nearest chunks, best first: id and cosine similarity, -1 to 1.

        Finds them through a graph (HNSW), so that now and then one is missed; see :meth:`exact`.
        """
        with self._index_lock:
            index = self._ready()
            try:
                return index.search(vector, limit)
            except LibraryCorrupt:
                self._distrust()
                return self._ready().search(vector, limit)

    def exact(self, vector: Sequence[float], limit: int, among: Sequence[str] | None = None) -> list[tuple[str, float]]:
        """What :meth:`search` should find, by comparing with every vector: id and cosine similarity, best first.

        Args:
            vector: The query. Shape: (dimension,).
            limit: Chunks at most.
            among: Ids of the chunks that are compared; None: all.
        """
        query = np.asarray(vector, dtype=np.float32)
        best: list[tuple[str, float]] = []
        for ids, rows in self.batches() if among is None else self._batches_of(among):
            cosines = rows @ query / (np.linalg.norm(rows, axis=1) * np.linalg.norm(query))
            best += zip(ids, cosines.tolist(), strict=True)
            best = sorted(best, key=lambda hit: -hit[1])[:limit]
        return best

    def _batches_of(self, ids: Sequence[str]) -> Iterator[tuple[list[str], Vectors]]:
        for at in range(0, len(ids), _READ):
            some = list(ids[at : at + _READ])
            with self._sqlite("read") as connection:
                rows = connection.execute(
                    f"SELECT id, vector FROM vector WHERE id IN ({_marks(some)})", some
                ).fetchall()
            if rows:
                yield [str(id_) for id_, _ in rows], _matrix([data for _, data in rows])

    def recall(self, queries: int, limit: int = 10) -> float:
        """Share of the truly nearest that :meth:`search` finds, 0 to 1; 1 when there are no vectors.

        Args:
            queries: Number of stored vectors, chosen by chance, to search with.
            limit: How many of the nearest are looked at.
        """
        with self._sqlite("read") as connection:
            rows = connection.execute("SELECT vector FROM vector ORDER BY random() LIMIT ?", (queries,)).fetchall()
        if not rows:
            return 1.0
        asked = _matrix([row[0] for row in rows])
        nearest = np.full((len(asked), limit), -1.0, dtype=np.float32)
        for _, some in self.batches():
            nearest = np.sort(np.hstack((nearest, asked @ some.T)))[:, -limit:]
        # Not by id: several chunks may be equally near.
        least = nearest[:, -min(limit, self.count())] - 1e-5
        found = [
            sum(cosine >= least[at] for _, cosine in self.search(row.tolist(), limit)) for at, row in enumerate(asked)
        ]
        return float(sum(found)) / (min(limit, self.count()) * len(asked))

    def search_weights(
        self, weights: Mapping[int, float], limit: int, among: Sequence[str] | None = None
    ) -> list[tuple[str, float]]:
        """The chunks whose sparse weights meet a query's best, best first: id and sum of the products of weights.

        Args:
            weights: The query's, by the number of the token.
            limit: Chunks at most.
            among: Ids of the chunks that may be found; None: all.
        """
        with self._sqlite("search") as connection:
            numbers, scores = postings.scored(connection, weights)
            if among is not None:
                listed = "SELECT number FROM vector WHERE id IN (SELECT value FROM json_each(?))"
                chosen = [row[0] for row in connection.execute(listed, (json.dumps(list(among)),))]
                held = np.isin(numbers, chosen)
                numbers, scores = numbers[held], scores[held]
            best = np.argsort(-scores)[:limit]
            listed = "SELECT number, id FROM vector WHERE number IN (SELECT value FROM json_each(?))"
            ids: dict[int, str] = dict(connection.execute(listed, (json.dumps(numbers[best].tolist()),)).fetchall())
        return [
            (ids[number], score) for number, score in zip(numbers[best].tolist(), scores[best].tolist(), strict=True)
        ]

    def postings_trouble(self) -> str:
        """What is wrong with the postings: a sentence, empty when they are those of the stored sparse weights."""
        with self._sqlite("check") as connection:
            wrong = postings.damage(connection)
        return f"Of {wrong} blocks of chunks they are not those of the weights." if wrong else ""

    def rebuild_postings(self) -> None:
        """Makes the postings anew from the stored sparse weights."""
        with self._transaction() as connection:
            postings.rebuild(connection)

    def settle(self) -> None:
        """Lets Chroma take up what is pending, and gives disk space back after many deletions; for the end of a sync.

        Chroma never uses a deleted vector's space again: when a third of its index is dead, it is made anew.
        """
        self._ready()
        with self._sqlite("read") as connection:
            dead = int(connection.execute("SELECT dead FROM search_index").fetchone()[0])
        if dead > max(_DEAD_LEAST, _DEAD_SHARE * (dead + self.count())):
            self.rebuild()
        with self._sqlite("write") as connection:
            # A cursor would step once, and give one page back.
            connection.executescript("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE)")

    def rebuild(self) -> None:
        """Makes Chroma's index anew from the stored vectors; an interruption leaves work, but no damage."""
        with self._index_lock:
            self._distrust()
            self._ready()

    def index_trouble(self) -> str:
        """What is wrong with Chroma's index: a sentence, empty when it holds exactly the stored vectors.

        An index that this process has not loaded yet is loaded in another process first, since a damaged one may
        crash the process that loads it. One whose last writing was interrupted is made anew, as a search would do.
        """
        with self._index_lock:
            if self._index is None and not self._server_url and self._state() == "whole":
                if not self._chroma_folder.exists() and self.count() > self._count("pending"):
                    return f"{self._chroma_folder} is gone."
                if self._chroma_folder.exists() and not survives_loading(self._chroma_folder, self._collection):
                    return "Chroma cannot load it."
            try:
                index = self._opened()
                self._take_up(index)
                missing, extra = self.ids() - (held := index.ids()), held - self.ids()
                if missing or extra:
                    return f"It lacks {len(missing)} vectors, and holds {len(extra)} that were deleted."
                for ids, rows in self.batches():
                    found = index.get(ids)
                    wrong = sum(
                        id_ not in found or not np.allclose(found[id_], row, atol=1e-5)
                        for id_, row in zip(ids, rows, strict=True)
                    )
                    if wrong:
                        return f"It holds other vectors than were stored ({wrong} of {len(ids)} looked at)."
            except LibraryCorrupt as error:
                return error.message
        return ""

    def _ready(self) -> ChromaIndex:
        """Chroma's index in step with the vectors; one that turns out broken is made anew, once."""
        with self._index_lock:
            try:
                return self._in_step()
            except LibraryCorrupt:
                self._distrust()
                return self._in_step()

    def _in_step(self) -> ChromaIndex:
        fresh = self._index is None
        index = self._opened()
        self._take_up(index)
        with self._lock:
            if fresh and not self._count("pending") and (held := index.count()) != (kept := self.count()):
                # Another copy of the folder was put there, a server was emptied: whatever it was, the vectors are here.
                raise LibraryCorrupt(f"The search index of {self.path.parent} holds {held} vectors of {kept}.")
        return index

    def _opened(self) -> ChromaIndex:
        """Chroma's index as it is; an interrupted one is thrown away first."""
        if self._index is None:
            if self._state() != "whole":
                self._start_anew()
            self._mark_writing()
            index = ChromaIndex(self._chroma_folder, self._server_url, self._collection)
            try:
                index.count()  # loads it
            except LibraryError:
                index.close()
                raise
            self._index = index
            self._set_state("whole")
        return self._index

    def _take_up(self, index: ChromaIndex) -> None:
        """Lets the index take up what is pending."""
        while True:
            with self._sqlite("read") as connection:
                rows = connection.execute(
                    "SELECT change, id, vector FROM pending LEFT JOIN vector USING (id) ORDER BY change LIMIT ?",
                    (_BATCH,),
                ).fetchall()
            if not rows:
                return
            gone = [str(id_) for _, id_, data in rows if data is None]
            kept = [(str(id_), data) for _, id_, data in rows if data is not None]
            self._mark_writing()
            try:
                if gone:
                    index.delete(gone)
                if kept:
                    index.add([id_ for id_, _ in kept], _matrix([data for _, data in kept]))
                index.count()  # a failure to save it may show itself at the next reading only
            except LibraryError:
                self._close_index()
                raise
            with self._transaction() as connection:
                # Not by id: one that changed again meanwhile is pending again.
                connection.executemany("DELETE FROM pending WHERE change = ?", ((row[0],) for row in rows))
                connection.execute("UPDATE search_index SET state = 'whole', dead = dead + ?", (len(gone),))

    def _mark_writing(self) -> None:
        if not self._server_url:  # a server does not die with this process
            self._set_state("writing")

    def _distrust(self) -> None:
        self._close_index()
        self._set_state("writing")

    def _start_anew(self) -> None:
        """Throws the index away; all vectors are pending then."""
        count = self.count()
        if count:
            _log.warning("Making the search index of %d vectors in %s anew.", count, self.path.parent)
        if self._server_url:
            index = ChromaIndex(self._chroma_folder, self._server_url, self._collection)
            index.drop()
            index.close()
        elif self._chroma_folder.exists():
            delete_folder(self._chroma_folder)
        with self._transaction() as connection:
            connection.execute("DELETE FROM pending")
            connection.execute("INSERT INTO pending (id) SELECT id FROM vector")
            connection.execute("UPDATE search_index SET dead = 0")

    # -------------------------------------------------------------------------------------------------------------- end

    def clear(self) -> None:
        """Deletes all vectors, so that another embedder's can take their place."""
        with self._transaction() as connection:
            connection.execute("DELETE FROM vector")
            connection.execute("DELETE FROM posting")
            connection.execute("DELETE FROM sqlite_sequence WHERE name = 'vector'")
        self.rebuild()

    def drop(self) -> None:
        """Deletes the collection at the server, where there is one; the files go with the library's folder."""
        if self._server_url:
            with self._index_lock:
                self._opened().drop()

    def close(self) -> None:
        """Lets go of the files."""
        with self._index_lock, self._lock:
            self._close_index()
            self._connection.close()

    def _close_index(self) -> None:
        if self._index is not None:
            self._index.close()
            self._index = None

    # ----------------------------------------------------------------------------------------------------------- SQLite

    def _state(self) -> str:
        with self._sqlite("read") as connection:
            return str(connection.execute("SELECT state FROM search_index").fetchone()[0])

    def _set_state(self, state: str) -> None:
        with self._sqlite("write") as connection:
            connection.execute("UPDATE search_index SET state = ?", (state,))

    def _count(self, table: str) -> int:
        with self._sqlite("read") as connection:
            return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])

    def _note_pending(self, ids: Sequence[str]) -> None:
        self._connection.executemany("INSERT OR REPLACE INTO pending (id) VALUES (?)", ((id_,) for id_ in ids))

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._sqlite("write") as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    @contextmanager
    def _sqlite(self, what: str) -> Iterator[sqlite3.Connection]:
        """The connection for one thread at a time, with SQLite's errors in our words."""
        with self._lock:
            try:
                yield self._connection
            except sqlite3.Error as error:
                raise self._translated(what, error) from error

    def _translated(self, what: str, error: sqlite3.Error) -> LibraryError:
        said = str(error)
        if "full" in said:
            return LibraryError(
                f"The disk is full: {self.path} could not be written.", "Make room, then start the sync again."
            )
        if "closed" in said:
            return LibraryError("The library was closed meanwhile.", "Open it again.")
        if isinstance(error, sqlite3.OperationalError) and "malformed" not in said:
            return LibraryError(f"Could not {what} {self.path}: {said}.", "Check that its folder can be written to.")
        return LibraryCorrupt(
            f"Could not {what} the library's vectors in {self.path}: {said}.", "Run “python -m rag check --repair”."
        )


def erase_vectors(folder: Path) -> None:
    """Deletes a library's vectors that cannot be read any more; its :class:`VectorStore` must be closed.

    Args:
        folder: The library's folder.
    """
    for path in (folder / "vectors.sqlite", folder / "vectors.sqlite-wal", folder / "vectors.sqlite-shm"):
        path.unlink(missing_ok=True)
    if (folder / "chroma").exists():
        delete_folder(folder / "chroma")


def delete_folder(folder: Path) -> None:
    """Deletes a folder with all that is in it.

    Raises:
        LibraryError: Something holds it.
    """
    try:
        shutil.rmtree(folder)
    except OSError as error:
        raise LibraryError(
            f"{folder} could not be deleted: {error.strerror or error}.", "Close what uses it, then try again."
        ) from error


def _matrix(blobs: Sequence[bytes]) -> Vectors:
    return np.frombuffer(b"".join(blobs), "<f4").reshape(len(blobs), -1)


def _marks(values: Sequence[str]) -> str:
    return ",".join("?" * len(values))
