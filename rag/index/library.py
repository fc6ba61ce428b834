"""A library on disk: one folder with a catalog (SQLite) and vectors (Chroma), made, opened, listed and deleted.

::

    FOOTNOTE_HOME/
        footnote.lock              held while a Footnote process runs
        libraries/NAME/            the name as typed, percent-encoded where a file system would object
            catalog.sqlite
            vectors.sqlite
            chroma/                made from vectors.sqlite
"""

from __future__ import annotations

import shutil
import threading
from pathlib import Path
from types import TracebackType
from urllib.parse import quote, unquote

from rag.errors import EmbedderMismatch, LibraryError, LibraryMissing
from rag.index.catalog import Catalog
from rag.index.lock import lock_home
from rag.index.vectors import VectorStore
from rag.types import EmbedderIdentity, LibraryInfo


class Library:
    """An open library.

    Attributes:
        name: As people call it.
        folder: Where it lies.
        catalog: Its files, chunks, keyword index and conversations.
    """

    def __init__(self, name: str, folder: Path, server_url: str) -> None:
        self.name = name
        self.folder = folder
        self.catalog = Catalog(folder / "catalog.sqlite")
        self._server_url = server_url
        self._vectors: VectorStore | None = None
        self._opening = threading.Lock()

    @property
    def vectors(self) -> VectorStore:
        """The vectors. Opened on first use, since loading Chroma takes seconds, and put in step with the catalog."""
        with self._opening:
            if self._vectors is None:
                store = VectorStore(self.folder, self._server_url, f"footnote-{self.catalog.uid()}")
                self._vectors = store
                self._delete_leftovers(store)
        return self._vectors

    def delete_leftover_vectors(self) -> None:
        """Deletes the vectors of chunks that the catalog no longer holds, after a change or an interruption."""
        self._delete_leftovers(self.vectors)

    def _delete_leftovers(self, store: VectorStore) -> None:
        ids = self.catalog.leftover_vectors()
        if ids:
            store.delete(ids)
            self.catalog.clear_journal(ids)

    def check_embedder(self, identity: EmbedderIdentity) -> None:
        """Makes sure that this embedder built the library, or that it holds nothing yet.

        Raises:
            EmbedderMismatch: Another one did.
        """
        built_with = self.catalog.embedder()
        if built_with is not None and built_with != identity:
            raise EmbedderMismatch(
                f"The library “{self.name}” was built with {describe(built_with)}, but {describe(identity)} is in use.",
                f"Choose the embedder {built_with.model} again, or make a new library for {identity.model}.",
            )

    def bind(self, identity: EmbedderIdentity) -> None:
        """Makes this the library's embedder, before its first vector is stored.

        Raises:
            EmbedderMismatch: Another one built it.
        """
        self.check_embedder(identity)
        if self.catalog.embedder() is None:
            # Vectors of an embedder that was tried and left would have fixed the collection's dimension.
            self.vectors.clear()
            self.catalog.set_embedder(identity)

    def info(self) -> LibraryInfo:
        """The library at a glance."""
        files, chunks = self.catalog.counts()
        identity = self.catalog.embedder()
        return LibraryInfo(self.name, self.catalog.roots(), files, chunks, describe(identity) if identity else "")

    def close(self) -> None:
        """Closes both stores."""
        self.catalog.close()
        if self._vectors is not None:
            self._vectors.close()
            self._vectors = None

    def delete(self) -> None:
        """Closes the library and deletes it from disk; the files that it was made from are not touched."""
        if self._server_url:
            self.vectors.drop()
        self.close()
        _delete_folder(self.folder)


class Shelf:
    """All libraries under ``FOOTNOTE_HOME``, for one process at a time.

    Args:
        home: ``FOOTNOTE_HOME``; made when it does not exist.
        server_url: Address of a Chroma server; empty: Chroma runs in this process.

    Raises:
        LibraryLocked: Another process has it open.
        LibraryError: The folder cannot be written to.
    """

    def __init__(self, home: Path, server_url: str = "") -> None:
        self._home = home / "libraries"
        self._server_url = server_url
        self._open: dict[str, Library] = {}
        self._opening = threading.Lock()
        self._lock = lock_home(home)
        try:
            self._home.mkdir(exist_ok=True)
        except OSError as error:
            self._lock.release()
            raise LibraryError(
                f"Cannot keep libraries in {home}: {error.strerror or error}.",
                "Set FOOTNOTE_HOME to a folder that can be written to.",
            ) from error

    def names(self) -> tuple[str, ...]:
        """Names of all libraries, in alphabetical order."""
        folders = (entry for entry in self._home.iterdir() if (entry / "catalog.sqlite").exists())
        return tuple(sorted((unquote(entry.name) for entry in folders), key=str.casefold))

    def create(self, name: str) -> Library:
        """Makes an empty library.

        Raises:
            LibraryError: The name is empty, too long or taken.
        """
        name = " ".join(name.split())
        if not name or len(name) > 60:
            raise LibraryError("A library needs a name of 1 to 60 characters.", "Type another name.")
        if name.casefold() in {known.casefold() for known in self.names()}:
            raise LibraryError(f"There is a library “{name}” already.", "Type another name.")
        with self._opening:
            self._open[name] = Library(name, self.folder(name), self._server_url)
            return self._open[name]

    def library(self, name: str) -> Library:
        """Opens a library, or hands out the one that is open.

        Raises:
            LibraryMissing: There is none of that name.
            LibraryCorrupt: Its catalog cannot be read.
        """
        with self._opening:
            if name not in self._open:
                folder = self.folder(name)
                if not (folder / "catalog.sqlite").exists():
                    known = ", ".join(f"“{known}”" for known in self.names()) or "none yet"
                    raise LibraryMissing(f"There is no library “{name}”.", f"Libraries here: {known}.")
                self._open[name] = Library(name, folder, self._server_url)
            return self._open[name]

    def delete(self, name: str) -> None:
        """Deletes a library from disk, readable or not."""
        with self._opening:
            library = self._open.pop(name, None)
            if library is not None:
                library.delete()
            elif self.folder(name).exists():
                _delete_folder(self.folder(name))

    def close(self) -> None:
        """Closes all libraries and lets other processes in."""
        with self._opening:
            for library in self._open.values():
                library.close()
            self._open.clear()
        self._lock.release()

    def __enter__(self) -> Shelf:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def folder(self, name: str) -> Path:
        """Where a library of that name lies, or would lie."""
        # Letters of any script stay; a point does not: "." and ".." are names that a person may type.
        return self._home / "".join(
            character if character.isalnum() or character in " -_" else quote(character, safe="").replace(".", "%2E")
            for character in name
        )


def _delete_folder(folder: Path) -> None:
    try:
        shutil.rmtree(folder)
    except OSError as error:
        raise LibraryError(
            f"{folder} could not be deleted: {error.strerror or error}.", "Close what uses it, then delete it again."
        ) from error


def describe(identity: EmbedderIdentity) -> str:
    """An embedder in a few words."""
    return f"{identity.model} ({identity.provider}, {identity.dimension} dimensions)"
