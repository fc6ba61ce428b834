"""OLE2 compound files through olefile: what is in one, and its streams."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rag.errors import SourceError

SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_MOST_BYTES = 400_000_000


class CompoundFile:
    """The streams of an OLE2 file, by path ("folder/stream")."""

    def __init__(self, opened: Any) -> None:
        self._opened = opened
        self.paths: tuple[str, ...] = tuple("/".join(path) for path in opened.listdir())

    def __contains__(self, path: str) -> bool:
        return path in self.paths

    def read(self, path: str) -> bytes:
        """A stream; empty when it is missing or damaged."""
        if path not in self.paths or self._opened.get_size(path) > _MOST_BYTES:
            return b""
        try:
            data: bytes = self._opened.openstream(path).read()
        except OSError:
            return b""
        return data


@contextmanager
def opened(data: bytes) -> Iterator[CompoundFile]:
    """Opens an OLE2 file.

    Raises:
        SourceError: It is none, or damaged.
    """
    import olefile

    try:
        with olefile.OleFileIO(io.BytesIO(data)) as file:
            yield CompoundFile(file)
    except (OSError, ValueError, IndexError, TypeError) as error:
        raise SourceError(f"The file is damaged: {str(error).rstrip('.') or type(error).__name__}.") from error
