"""Chroma: which of a library's vectors are nearest to another.

This is the only module that knows of Chroma and of distances: what leaves it is a cosine similarity. What Chroma holds
is made from the vectors that :mod:`rag.index.vectors` keeps, and can be made again.
"""

from __future__ import annotations

import logging
import multiprocessing
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from rag.errors import LibraryCorrupt, LibraryError

# Chroma logs each unknown id that is deleted; deleting what may not be there is how an interruption is cleaned up.
logging.getLogger("chromadb").setLevel(logging.ERROR)

_COSINE = {"hnsw:space": "cosine"}
_MANY = 200
"""Hits beyond which LangChain, which makes a document of each, takes longer than the search itself."""
_FULL = ("disk is full", "No space left", "os error 28", "os error 112", "(code: 13)")
"""What SQLite, the C library and Rust say of a disk without room."""


class ChromaIndex:
    """One Chroma collection.

    Args:
        folder: Where Chroma keeps it; not used with a server.
        server_url: Address of a Chroma server; empty: Chroma runs in this process.
        collection: Name of the collection.

    Raises:
        LibraryCorrupt: Chroma cannot read its folder.
        LibraryError: The server does not answer.
    """

    def __init__(self, folder: Path, server_url: str, collection: str) -> None:
        import chromadb
        from chromadb.api.shared_system_client import SharedSystemClient
        from chromadb.config import Settings

        self._folder = folder
        self._server_url = server_url
        self._name = collection
        with self._errors("open"):
            quiet = Settings(anonymized_telemetry=False)
            if server_url:
                address = urlsplit(server_url)
                secure = address.scheme == "https"
                self._client: Any = chromadb.HttpClient(
                    host=address.hostname or "localhost", port=address.port or (443 if secure else 8000), ssl=secure,
                    settings=quiet,
                )  # fmt: skip
            else:
                # Chroma keeps what failed to start, and would hand it out for the same folder ever after.
                SharedSystemClient._identifier_to_system.pop(str(folder), None)
                self._client = chromadb.PersistentClient(path=str(folder), settings=quiet)
            self._open_collection()
            self._batch = int(self._client.get_max_batch_size())

    def _open_collection(self) -> None:
        from langchain_chroma import Chroma

        self._collection: Any = self._client.get_or_create_collection(
            self._name, metadata=_COSINE, embedding_function=None
        )
        self._search = Chroma(client=self._client, collection_name=self._name, collection_metadata=_COSINE)

    def add(self, ids: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Stores vectors; ids that are there already are replaced. Shape: (n, dimension)."""
        with self._errors("write"):
            for at in range(0, len(ids), self._batch):
                some = list(ids[at : at + self._batch])
                # LangChain's search drops hits without a document; the texts live in the catalog alone.
                self._collection.upsert(ids=some, embeddings=vectors[at : at + self._batch], documents=some)

    def delete(self, ids: Sequence[str]) -> None:
        """Deletes vectors; ids that are not there are passed over."""
        with self._errors("write"):
            for at in range(0, len(ids), self._batch):
                self._collection.delete(ids=list(ids[at : at + self._batch]))

    def search(self, vector: Sequence[float], limit: int) -> list[tuple[str, float]]:
        """The nearest vectors, best first: id and cosine similarity, -1 to 1."""
        with self._errors("search"):
            if limit > _MANY:
                many = self._collection.query(query_embeddings=[list(vector)], n_results=limit, include=["distances"])
                return [
                    (id_, 1.0 - distance) for id_, distance in zip(many["ids"][0], many["distances"][0], strict=True)
                ]
            found = self._search.similarity_search_by_vector_with_relevance_scores(embedding=list(vector), k=limit)
        # LangChain calls it a relevance score, but Chroma's cosine distance is what it hands out.
        return [(str(document.id), 1.0 - float(distance)) for document, distance in found]

    def get(self, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """Vectors as Chroma holds them, by id; ids that are not there are left out."""
        if not ids:
            return {}
        with self._errors("read"):
            found = self._collection.get(ids=list(ids), include=["embeddings"])
        return dict(zip(found["ids"], np.asarray(found["embeddings"], dtype=np.float32), strict=True))

    def ids(self) -> set[str]:
        """Ids of all vectors."""
        with self._errors("read"):
            return set(self._collection.get(include=[])["ids"])

    def count(self) -> int:
        """Number of vectors."""
        with self._errors("read"):
            return int(self._collection.count())

    def drop(self) -> None:
        """Deletes the collection at a server for good."""
        with self._errors("write"):
            self._client.delete_collection(self._name)

    def close(self) -> None:
        """Lets go of the files."""
        with self._errors("close"):
            self._client.close()

    @contextmanager
    def _errors(self, what: str) -> Iterator[None]:
        """Chroma's errors in our words; it raises its own family, and whatever its Rust core and HTTP client raise."""
        try:
            yield
        except (OSError, RuntimeError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise self._translated(what, error) from error
        except BaseException as error:
            # A panic of the Rust core is no Exception, so that nothing but its own kind catches it.
            if type(error).__module__.split(".")[0] not in {"chromadb", "httpx", "pyo3_runtime"}:
                raise
            raise self._translated(what, error) from error

    def _translated(self, what: str, error: BaseException) -> LibraryError:
        if self._server_url:
            return LibraryError(
                f"Could not {what} the vectors at the Chroma server {self._server_url}: {error}.",
                "Start the server, or leave FOOTNOTE_CHROMA_URL empty to keep vectors in Footnote itself.",
            )
        said = str(error)
        if any(sign in said for sign in _FULL) or not _has_room(self._folder):
            return LibraryError(
                f"The disk is full: {self._folder} could not be written.", "Make room, then start the sync again."
            )
        if "readonly" in said or "Read-only" in said:
            return LibraryError(f"{self._folder} is read-only.", "Make its folder writable, then try again.")
        return LibraryCorrupt(
            f"Could not {what} the library's search index in {self._folder}: {error}.",
            "Run “python -m rag check --repair”; if it fails again, check the disk.",
        )


def _has_room(folder: Path) -> bool:
    """Whether its disk has room for another page; Chroma does not always say why it failed."""
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free >= 65536


def survives_loading(folder: Path, collection: str) -> bool:
    """Whether Chroma can load its folder: tried in a process of its own, since damaged files may crash it."""
    process = multiprocessing.get_context("spawn").Process(target=_load, args=(folder, collection), daemon=True)
    process.start()
    process.join(120)
    if process.is_alive():
        process.kill()
        process.join()
    return process.exitcode == 0


def _load(folder: Path, collection: str) -> None:
    try:
        index = ChromaIndex(folder, "", collection)
        for vector in index.get(list(index.ids())[:1]).values():
            index.search(vector.tolist(), 10)
        index.close()
    except LibraryError:
        sys.exit(1)
