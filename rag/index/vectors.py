"""A library's vectors in Chroma, searched by cosine.

This is the only module that knows of Chroma and of distances: what leaves it is a cosine similarity.
"""

from __future__ import annotations

import logging
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

_READ = 1000  # vectors read at once: 4 MB of 1,024 dimensions


class VectorStore:
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
        from chromadb.config import Settings

        self._place = server_url or str(folder)
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
                self._client = chromadb.PersistentClient(path=str(folder), settings=quiet)
            self._name = collection
            self._open_collection()
            self._batch = int(self._client.get_max_batch_size())

    def _open_collection(self) -> None:
        from langchain_chroma import Chroma

        cosine = {"hnsw:space": "cosine"}
        self._collection: Any = self._client.get_or_create_collection(
            self._name, metadata=cosine, embedding_function=None
        )
        self._search = Chroma(client=self._client, collection_name=self._name, collection_metadata=cosine)

    def add(self, ids: Sequence[str], vectors: Sequence[Sequence[float]], file_id: int) -> None:
        """Stores chunks' vectors; ids that are there already are replaced.

        Args:
            ids: Chunk ids.
            vectors: Shape: (n_chunks, dimension), rows L2-normalised.
            file_id: The file they belong to.
        """
        with self._errors("write"):
            for at in range(0, len(ids), self._batch):
                to = at + self._batch
                self._collection.upsert(
                    ids=list(ids[at:to]),
                    embeddings=[list(vector) for vector in vectors[at:to]],
                    # LangChain's search drops hits without a document; the text itself lives in the catalog alone.
                    documents=list(ids[at:to]),
                    metadatas=[{"file_id": file_id}] * len(ids[at:to]),
                )

    def delete(self, ids: Sequence[str]) -> None:
        """Deletes vectors; ids that are not there are passed over."""
        with self._errors("write"):
            for at in range(0, len(ids), self._batch):
                self._collection.delete(ids=list(ids[at : at + self._batch]))

    def search(self, vector: Sequence[float], limit: int) -> list[tuple[str, float]]:
        """The nearest chunks, best first: id and cosine similarity, -1 to 1."""
        with self._errors("search"):
            found = self._search.similarity_search_by_vector_with_relevance_scores(embedding=list(vector), k=limit)
        # LangChain calls it a relevance score, but Chroma's cosine distance is what it hands out.
        return [(str(document.id), 1.0 - float(distance)) for document, distance in found]

    def exact(self, vector: Sequence[float], limit: int) -> list[tuple[str, float]]:
        """What :meth:`search` should find, by comparing with every vector: id and cosine similarity, best first.

        Reads all vectors once, a batch at a time, so that memory stays flat; it is for checking the search.
        """
        query = np.asarray(vector, dtype=np.float32)
        best: list[tuple[str, float]] = []
        for ids, rows in self._batches():
            cosines = rows @ query / (np.linalg.norm(rows, axis=1) * np.linalg.norm(query))
            best += zip(ids, cosines.tolist(), strict=True)
            best = sorted(best, key=lambda hit: -hit[1])[:limit]
        return best

    def get(self, ids: Sequence[str]) -> dict[str, list[float]]:
        """Stored vectors by id; ids that are not there are left out."""
        found: dict[str, list[float]] = {}
        with self._errors("read"):
            for at in range(0, len(ids), _READ):
                some = self._collection.get(ids=list(ids[at : at + _READ]), include=["embeddings"])
                found.update(zip(some["ids"], np.asarray(some["embeddings"]).tolist(), strict=True))
        return found

    def count(self) -> int:
        """Number of vectors."""
        with self._errors("read"):
            return int(self._collection.count())

    def ids(self) -> set[str]:
        """Ids of all vectors."""
        with self._errors("read"):
            return set(self._collection.get(include=[])["ids"])

    def _batches(self) -> Iterator[tuple[list[str], NDArray[np.float32]]]:
        """All ids with their vectors. Shape: (n, dimension) each."""
        at = 0
        while True:
            with self._errors("read"):
                some = self._collection.get(include=["embeddings"], limit=_READ, offset=at)
            if not some["ids"]:
                return
            yield some["ids"], np.asarray(some["embeddings"], dtype=np.float32)
            at += len(some["ids"])

    def clear(self) -> None:
        """Deletes all vectors, so that another embedder's can take their place."""
        with self._errors("write"):
            self._client.delete_collection(self._name)
            self._open_collection()

    def drop(self) -> None:
        """Deletes the collection for good."""
        with self._errors("write"):
            self._client.delete_collection(self._name)

    def close(self) -> None:
        """Lets go of the files."""
        self._client.close()

    @contextmanager
    def _errors(self, what: str) -> Iterator[None]:
        """Chroma's errors in our words; it raises its own family, and whatever its Rust core and HTTP client raise."""
        try:
            yield
        except (OSError, RuntimeError, ValueError, KeyError, TypeError) as error:
            raise self._translated(what, error) from error
        except BaseException as error:
            # A panic of the Rust core is no Exception, so that nothing but its own kind catches it.
            if type(error).__module__.split(".")[0] not in {"chromadb", "httpx", "pyo3_runtime"}:
                raise
            raise self._translated(what, error) from error

    def _translated(self, what: str, error: BaseException) -> LibraryError:
        if "://" in self._place:
            return LibraryError(
                f"Could not {what} the vectors at the Chroma server {self._place}: {error}.",
                "Start the server, or leave FOOTNOTE_CHROMA_URL empty to keep vectors in Footnote itself.",
            )
        return LibraryCorrupt(
            f"Could not {what} the library's vectors in {self._place}: {error}.",
            "Check the disk; if the files are damaged, delete this library and index its folder again.",
        )
