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

from rag.errors import LibraryCorrupt, LibraryError

# Chroma logs each unknown id that is deleted; deleting what may not be there is how an interruption is cleaned up.
logging.getLogger("chromadb").setLevel(logging.ERROR)


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

    def add(self, ids: Sequence[str], vectors: Sequence[Sequence[float]], texts: Sequence[str], file_id: int) -> None:
        """Stores chunks' vectors; ids that are there already are replaced.

        Args:
            ids: Chunk ids.
            vectors: Shape: (n_chunks, dimension), rows L2-normalised.
            texts: The chunks' texts: LangChain's search drops hits that have none.
            file_id: The file they belong to.
        """
        with self._errors("write"):
            for at in range(0, len(ids), self._batch):
                to = at + self._batch
                self._collection.upsert(
                    ids=list(ids[at:to]),
                    embeddings=[list(vector) for vector in vectors[at:to]],
                    documents=list(texts[at:to]),
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

    def ids(self) -> set[str]:
        """Ids of all vectors."""
        with self._errors("read"):
            return set(self._collection.get(include=[])["ids"])

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
