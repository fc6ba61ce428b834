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

import contextlib
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from urllib.parse import quote, unquote

from rag.errors import EmbedderMismatch, LibraryCorrupt, LibraryError, LibraryMissing
from rag.index.catalog import Catalog
from rag.index.lock import lock_home
from rag.index.vectors import VectorStore, delete_folder, erase_vectors
from rag.types import Chunk, EmbedderIdentity, FileRecord, FileXray, LibraryInfo, PageText


class Library:
    """An open library.

    Args:
        name: As people call it.
        folder: Where it lies.
        server_url: Address of a Chroma server; empty: Chroma runs in this process.
        forget_elsewhere: Takes the text of files of the library of that name out of other libraries' conversations.

    Attributes:
        name: As people call it.
        folder: Where it lies.
        catalog: Its files, chunks, keyword index and conversations.
    """

    def __init__(
        self, name: str, folder: Path, server_url: str, forget_elsewhere: Callable[[str, Sequence[str]], None]
    ) -> None:
        self.name = name
        self.folder = folder
        self.catalog = Catalog(folder / "catalog.sqlite")
        self._server_url = server_url
        self._forget_elsewhere = forget_elsewhere
        self._vectors: VectorStore | None = None
        self._closed = False
        self._opening = threading.Lock()

    @property
    def vectors(self) -> VectorStore:
        """The vectors. Opened on first use, since loading Chroma takes seconds, and put in step with the catalog.

        Raises:
            LibraryCorrupt: They cannot be read.
            LibraryError: The library was closed: an answer in flight must not make its deleted folder again.
        """
        with self._opening:
            if self._closed:
                raise LibraryError("The library was closed meanwhile.", "Open it again.")
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

    def discard_vectors(self) -> None:
        """Deletes vectors that cannot be read any more; the next use begins without any."""
        with self._opening:
            self._close_vectors()
            erase_vectors(self.folder)

    def remove_file(self, file_id: int) -> None:
        """Forgets a file, here and in other libraries' conversations; :meth:`clean_up` is to follow.

        The others come first: once the catalog has forgotten it, an interruption would leave them as they are for good.
        """
        self._forget_elsewhere(self.name, [self.catalog.source(file_id)])
        self.catalog.remove_file(file_id)

    def clean_up(self) -> None:
        """Leaves no byte of files that were removed."""
        self.delete_leftover_vectors()
        self.vectors.settle()
        self.catalog.compact()

    def record(self, file_id: int) -> FileRecord:
        """What is known of one file.

        Raises:
            LibraryError: The library has no such file.
        """
        record = self.catalog.file(file_id)
        if record is None:
            raise LibraryError("That file is not in the library any more.", "Reload the page to see what is.")
        return record

    def xray(self, file_id: int) -> FileXray:
        """Everything that was taken from one file.

        Raises:
            LibraryError: The library has no such file.
        """
        record = self.record(file_id)
        chunks = self.catalog.chunks_of(file_id)
        text = text_of(chunks)
        pages = tuple(
            PageText(page.number, page.verdict, page.problem, text[page.span.start : page.span.end].strip())
            for page in self.catalog.pages(file_id)
        )
        return FileXray(record, pages, "" if pages else text.strip(), chunks, is_stale(record))

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
        return LibraryInfo(
            name=self.name,
            roots=self.catalog.roots(),
            files=files,
            chunks=chunks,
            embedder=describe(identity) if identity else "",
            settings=self.catalog.settings(),
        )

    def close(self) -> None:
        """Closes both stores, for good."""
        self.catalog.close()
        with self._opening:
            self._closed = True
            self._close_vectors()

    def _close_vectors(self) -> None:
        if self._vectors is not None:
            self._vectors.close()
            self._vectors = None

    def delete(self) -> None:
        """Closes the library and deletes it from disk; the files that it was made from are not touched."""
        if self._server_url:
            self.vectors.drop()
        self.close()
        delete_folder(self.folder)


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
        name = self._free_name(name, self.names())
        with self._opening:
            return self._opened(name)

    def rename(self, name: str, new_name: str) -> Library:
        """Gives a library another name; it is closed and opened again for that.

        Raises:
            LibraryMissing: There is none of that name.
            LibraryError: The new name is empty, too long or taken, or the folder cannot be renamed.
        """
        new_name = self._free_name(new_name, (known for known in self.names() if known != name))
        self.library(name)
        with self._opening:
            self._open.pop(name).close()
            try:
                self.folder(name).rename(self.folder(new_name))
            except OSError as error:
                raise LibraryError(
                    f"“{name}” could not be renamed: {error.strerror or error}.", "Close what uses its files."
                ) from error
            library = self._opened(new_name)
            # Dropped files and fetched papers lie in it.
            library.catalog.move_roots(self.folder(name).absolute(), self.folder(new_name).absolute())
            return library

    def _free_name(self, typed: str, taken: Iterable[str]) -> str:
        name = " ".join(typed.split())
        if not name or len(name) > 60:
            raise LibraryError("A library needs a name of 1 to 60 characters.", "Type another name.")
        if name.casefold() in {known.casefold() for known in taken}:
            raise LibraryError(f"There is a library “{name}” already.", "Type another name.")
        return name

    def _opened(self, name: str) -> Library:
        self._open[name] = Library(name, self.folder(name), self._server_url, self._forget_elsewhere)
        return self._open[name]

    def _forget_elsewhere(self, name: str, sources: Sequence[str]) -> None:
        failed: LibraryError | None = None
        for other in self.names():
            if other != name:
                try:
                    self.library(other).catalog.forget_in_conversations(sources)
                except (LibraryCorrupt, LibraryMissing):
                    continue  # what cannot be opened shows no conversation either
                except LibraryError as error:
                    failed = error
        if failed is not None:
            raise failed

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
                self._opened(name)
            return self._open[name]

    def delete(self, name: str) -> None:
        """Deletes a library from disk, readable or not, and what other libraries' conversations hold of its files."""
        sources: list[str] = []
        with contextlib.suppress(LibraryError):  # one that cannot be read names no file
            catalog = self.library(name).catalog
            sources = [catalog.source(record.id) for record in catalog.files()]
        self._forget_elsewhere(name, sources)
        with self._opening:
            library = self._open.pop(name, None)
            if library is not None:
                library.delete()
            elif self.folder(name).exists():
                delete_folder(self.folder(name))

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


def text_of(chunks: Sequence[Chunk]) -> str:
    """A file's text put together from its chunks; between them was nothing but white space, shown as line breaks."""
    parts: list[str] = []
    end = 0
    for chunk in chunks:
        if chunk.span.end > end:
            parts += ("\n" * (chunk.span.start - end), chunk.text[max(0, end - chunk.span.start) :])
            end = chunk.span.end
    return "".join(parts)


def is_stale(record: FileRecord) -> bool:
    """Whether a file on disk is another one than was indexed, by size and time; a missing one is."""
    try:
        facts = record.absolute.stat()
    except OSError:
        return True
    return (record.size, record.mtime_ns) != (facts.st_size, facts.st_mtime_ns)


def describe(identity: EmbedderIdentity) -> str:
    """An embedder in a few words."""
    return f"{identity.model} ({identity.provider}, {identity.dimension} dimensions)"
