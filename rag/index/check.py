"""Do a library's catalog, keyword index and vectors agree, and can they be mended from the catalog alone?

The catalog is the truth: everything else is made from its chunks, and can be made from them again without reading a
file. Vectors that are there are never computed again, unless they are not the embedder's.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator

import numpy as np

from rag.errors import EmbedderMismatch, LibraryCorrupt, LibraryError, RagError
from rag.index.catalog import embedded_hash
from rag.index.chunking.chunks import embedded_text_of
from rag.index.library import Library, describe
from rag.index.postings import packed
from rag.index.vectors import VectorStore
from rag.models.base import Embedder
from rag.types import Change, FileReport, HealthCheck, SyncEvent, SyncReport

_SAMPLE = 8  # chunks embedded again
_SAME_COSINE = 0.999
_QUERIES = 50
_RECALL = 0.95
_AT_ONCE = 64  # chunks embedded between two looks at the stop button

_ANEW = "It cannot be repaired: delete this library and index its folders again; your own files are not touched."
_REPAIR = "Run “python -m rag check --repair”: it needs no file."


def check(library: Library, embedder: Embedder | None) -> tuple[HealthCheck, ...]:
    """Looks whether all parts of a library agree. No sync may be running.

    Args:
        library: The library.
        embedder: The one that built it, to compare its vectors with; None leaves that out.
    """
    try:
        damage = library.catalog.damage()
        if damage:
            return (HealthCheck("Catalog", "error", f"SQLite reports damage: {damage}.", _ANEW),)
        files, chunks = library.catalog.counts()
        checks = [HealthCheck("Catalog", "ok", f"{files} files, {chunks} chunks"), _keywords(library)]
    except LibraryError as error:
        return (HealthCheck("Catalog", "error", error.message, error.hint),)
    try:
        checks.append(_vectors(library))
        if library.vectors.has_weights:
            checks.append(_postings(library.vectors))
        checks.append(_index(library.vectors))
        if checks[-1].state == "ok" and chunks:
            checks.append(_recall(library.vectors))
    except LibraryError as error:
        checks.append(HealthCheck("Vectors", "error", error.message, error.hint))
    else:
        checks.append(_embedder(library, embedder))
    return tuple(checks)


def _keywords(library: Library) -> HealthCheck:
    damage = library.catalog.keyword_damage()
    if damage:
        return HealthCheck("Keyword index", "error", f"{damage}.", _REPAIR)
    return HealthCheck("Keyword index", "ok", "holds the words of every chunk, and no others")


def _vectors(library: Library) -> HealthCheck:
    library.delete_leftover_vectors()  # as opening it does
    known, stored = library.catalog.chunk_ids(), library.vectors.ids()
    left = library.catalog.leftover_vectors()
    found = (
        (len(known - stored), "chunks without a vector"),
        (len(stored - known), "vectors without a chunk"),
        (len(left), "deletions that were not finished"),
        (len(_broken(library)), "vectors that are not of length 1, or of another dimension than the embedder's"),
    )
    wrong = "; ".join(f"{count} {what}" for count, what in found if count)
    if wrong:
        return HealthCheck("Vectors", "error", f"{wrong}.", _REPAIR)
    return HealthCheck("Vectors", "ok", f"{len(stored)}, one a chunk")


def _broken(library: Library) -> list[str]:
    """Ids of vectors that no embedder of this library can have made."""
    identity = library.catalog.embedder()
    if identity is None:
        return []
    broken: list[str] = []
    for ids, rows in library.vectors.batches():
        good = np.zeros(len(ids), dtype=bool)
        if rows.shape[1] == identity.dimension:
            norms = np.linalg.norm(rows, axis=1)
            good = np.abs(norms - 1) < 1e-3 if identity.normalized else np.isfinite(norms) & (norms > 0)
        broken += [id_ for id_, fine in zip(ids, good, strict=True) if not fine]
    return broken


def _postings(store: VectorStore) -> HealthCheck:
    trouble = store.postings_trouble()
    if trouble:
        return HealthCheck("Sparse postings", "error", trouble, _REPAIR)
    return HealthCheck("Sparse postings", "ok", "hold the sparse weights of every chunk, and no others")


def _index(store: VectorStore) -> HealthCheck:
    trouble = store.index_trouble()
    if trouble:
        return HealthCheck("Search index", "error", trouble, _REPAIR)
    return HealthCheck("Search index", "ok", "holds every vector as it was stored, and no others")


def _recall(store: VectorStore) -> HealthCheck:
    share = store.recall(_QUERIES)
    detail = f"finds {share:.1%} of the 10 truly nearest, over {min(_QUERIES, store.count())} searches by chance"
    if share < _RECALL:
        return HealthCheck("Search quality", "warning", detail, _REPAIR)
    return HealthCheck("Search quality", "ok", detail)


def _embedder(library: Library, embedder: Embedder | None) -> HealthCheck:
    name = "Embedder"
    built_with = library.catalog.embedder()
    if built_with is None:
        return HealthCheck(name, "off", "nothing is indexed yet")
    if embedder is None:
        return HealthCheck(name, "off", f"built with {describe(built_with)}, which was not asked", "")
    try:
        library.check_embedder(embedder.identity)
        cosine = _agreement(library, embedder)
    except EmbedderMismatch as error:
        return HealthCheck(name, "error", error.message, error.hint)
    except RagError as error:
        return HealthCheck(name, "warning", error.message, error.hint)
    if cosine is None:
        return HealthCheck(name, "off", "no vector could be compared")
    detail = f"{describe(built_with)} gives what is stored: cosine {cosine:.4f} or more over {_SAMPLE} chunks by chance"
    if cosine < _SAME_COSINE:
        detail = f"{describe(built_with)} gives other vectors than are stored: cosine {cosine:.4f}"
        return HealthCheck(name, "error", detail, "Run “python -m rag check --repair” to embed every chunk again.")
    return HealthCheck(name, "ok", detail)


def _agreement(library: Library, embedder: Embedder) -> float | None:
    """The least cosine of stored vectors with those that the embedder gives now; None when there is none to compare.

    Chunks whose title changed since, as that of a renamed text file, keep the vector of the old one, and are left out.
    """
    texts = {
        chunk.id: embedded_text_of(chunk) for chunk, hash_ in library.catalog.random_chunks(_SAMPLE)
        if embedded_hash(embedded_text_of(chunk)) == hash_
    }  # fmt: skip
    stored = library.vectors.get(list(texts))
    if not stored:
        return None
    now = np.asarray(embedder.embed_documents([texts[id_] for id_ in stored]))
    then = np.asarray(list(stored.values()))
    if now.shape != then.shape:
        return 0.0
    lengths = np.linalg.norm(now, axis=1) * np.linalg.norm(then, axis=1)
    return float(np.min(np.sum(now * then, axis=1) / np.maximum(lengths, 1e-12)))


def repair(library: Library, embedder: Embedder, stop: threading.Event | None = None) -> Iterator[SyncEvent]:
    """Makes keyword index, vectors and search index agree with the catalog again, without reading a file.

    Only what is wrong is made anew, and chunks are embedded only where their vector is missing or not the embedder's.

    Args:
        library: The library.
        embedder: The one that built it.
        stop: Set from another thread to end early; a further repair goes on from there.

    Yields:
        An event after every few chunks embedded; the last one carries a report, with a line for each file that lacked
        vectors.

    Raises:
        LibraryCorrupt: The catalog itself is damaged.
        EmbedderMismatch: Another embedder built the library.
        ModelError: The embedder failed.
        LibraryError: The disk is full, or read-only.
    """
    started = time.monotonic()
    damage = library.catalog.damage()
    if damage:
        raise LibraryCorrupt(f"The catalog of the library “{library.name}” is damaged: {damage}.", _ANEW)
    library.check_embedder(embedder.identity)
    if library.catalog.keyword_damage():
        library.catalog.rebuild_keywords()
    known = library.catalog.chunk_ids()
    try:
        library.vectors.delete([*library.vectors.ids() - known, *_broken(library)])
        cosine = _agreement(library, embedder)
    except LibraryCorrupt:
        library.discard_vectors()
        cosine = None
    store = library.vectors
    if cosine is not None and cosine < _SAME_COSINE:
        store.clear()
    missing = sorted(known - store.ids())
    embedded: Counter[int] = Counter()
    for at in range(0, len(missing), _AT_ONCE):
        if stop is not None and stop.is_set():
            break
        chunks = library.catalog.chunks(missing[at : at + _AT_ONCE])
        given = embedder.embed_passages([embedded_text_of(chunk) for chunk in chunks.values()])
        store.add(list(chunks), given.vectors, packed(given.weights))
        embedded.update(chunk.file_id for chunk in chunks.values())
        yield _event(embedded, len(missing), started, path=next(reversed(chunks.values())).path)
    if store.postings_trouble():
        store.rebuild_postings()
    if store.index_trouble() or store.recall(_QUERIES) < _RECALL:
        store.rebuild()
    store.settle()
    reports = tuple(
        FileReport(
            record.path, Change.CHANGED, record.state, "its vectors were made anew", record.pages, record.chunks,
            embedded[record.id],
        )
        for record in library.catalog.files() if embedded[record.id]
    )  # fmt: skip
    report = SyncReport(
        library.name, str(library.folder), reports, (), time.monotonic() - started, embedded.total() < len(missing)
    )
    yield _event(embedded, len(missing), started, report=report)


def _event(
    embedded: Counter[int], total: int, started: float, path: str = "", report: SyncReport | None = None
) -> SyncEvent:
    done = embedded.total()
    speed = done / max(time.monotonic() - started, 1e-6)
    left = (total - done) / speed if speed else None
    return SyncEvent(path, len(embedded), len(embedded), done, speed, left, result=report)
