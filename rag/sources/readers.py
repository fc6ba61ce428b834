"""Which reader reads which file: one table, one function."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rag.errors import SourceError
from rag.sources.markdown import read_markdown
from rag.sources.pdf import read_pdf
from rag.sources.text import read_text
from rag.types import SourceDocument, SourceFile

Reader = Callable[[bytes, str], SourceDocument]
"""Takes the file's bytes and the title to use where the file names none."""

READERS: dict[str, Reader] = {
    ".txt": read_text,
    ".md": read_markdown,
    ".markdown": read_markdown,
    ".pdf": read_pdf,
}
"""Reader by the file's ending, in lower case."""


def read(file: SourceFile) -> SourceDocument:
    """Reads one file; the bytes are read once, so text and hash always belong together.

    Raises:
        SourceError: The file has no reader, cannot be opened, is damaged, locked or without any text.
    """
    name = Path(file.path)
    reader = READERS.get(name.suffix.lower())
    if reader is None:
        raise SourceError(f"There is no reader for {name.suffix or 'files without an ending'}.")
    try:
        data = file.absolute.read_bytes()
    except OSError as error:
        raise SourceError(f"The file cannot be opened: {error.strerror}.") from error
    if not data:
        raise SourceError("The file is empty.")
    return reader(data, name.stem)
