"""Which reader reads which file: one table, one function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rag.errors import SourceError
from rag.sources.markdown import read_markdown
from rag.sources.pdf import read_pdf
from rag.sources.text import read_text
from rag.types import DEFAULT_READING, ReadOptions, SourceDocument, SourceFile

Reader = Callable[[bytes, str, ReadOptions], SourceDocument]
"""Takes the file's bytes, the title to use where the file names none, and how it is to be read."""


@dataclass(frozen=True, slots=True)
class Format:
    """A family of files that one reader reads.

    Attributes:
        name: For people, as in "a Word document".
        version: Counted up when the same bytes would give another document, so that files are read again.
        read: The reader.
    """

    name: str
    version: int
    read: Reader


_TEXT = Format("plain text", 1, read_text)
_MARKDOWN = Format("Markdown", 1, read_markdown)
_PDF = Format("a PDF", 1, read_pdf)

READERS: dict[str, Format] = {
    ".txt": _TEXT,
    ".md": _MARKDOWN,
    ".markdown": _MARKDOWN,
    ".pdf": _PDF,
}
"""Format by the file's ending, in lower case."""


def format_of(path: str) -> Format | None:
    """The format of a file by its name; None when it has no reader."""
    return READERS.get(Path(path).suffix.lower())


def read(file: SourceFile, options: ReadOptions = DEFAULT_READING) -> SourceDocument:
    """Reads one file; the bytes are read once, so text and hash always belong together.

    Raises:
        SourceError: The file has no reader, cannot be opened, is damaged, locked or without any text.
    """
    try:
        data = file.absolute.read_bytes()
    except OSError as error:
        raise SourceError(f"The file cannot be opened: {error.strerror}.") from error
    return read_bytes(data, file.path, options)


def read_bytes(data: bytes, path: str, options: ReadOptions) -> SourceDocument:
    """Reads a file's bytes, as they come from disk or out of another file (a mail's attachment).

    Raises:
        SourceError: As :func:`read`.
    """
    kind = format_of(path)
    if kind is None:
        raise SourceError(f"There is no reader for {Path(path).suffix or 'files without an ending'}.")
    if not data:
        raise SourceError("The file is empty.")
    return kind.read(data, Path(path).stem, options)
