"""What can go wrong, as one family: every error says what failed, on what, and what to do next.

::

    RagError(message, hint)
    ├── SettingsError            a setting cannot be read or met
    ├── ModelError
    │   ├── ModelUnavailable     the server does not answer, or the package is not there
    │   ├── ModelMissing         the server or the disk does not have that model
    │   ├── ModelFailed          the model broke off: status 500, a cut stream, an error line
    │   ├── InputTooLong         a text or prompt longer than the model takes
    │   └── DownloadFailed       no source, disk full, wrong hash, stopped
    ├── SourceError              a file or folder cannot be read
    ├── QueryError               a question's filters cannot be read
    ├── QuestionsError           a library's own questions cannot be read or kept
    └── LibraryError
        ├── LibraryMissing       no library of that name
        ├── LibraryEmpty         nothing is indexed yet
        ├── LibraryLocked        another Footnote process holds the store
        ├── EmbedderMismatch     the library was built with another embedder
        └── LibraryCorrupt       the store on disk cannot be read

Foreign exceptions are turned into these at the module that imports the foreign library, and nowhere else.
"""

from __future__ import annotations

from rag.types import Remedy


class RagError(Exception):
    """A failure that a person can understand.

    Args:
        message: What failed, and on what.
        hint: What to do next; empty when there is nothing to do.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class SettingsError(RagError):
    """A setting cannot be read or met."""


class ModelError(RagError):
    """A model cannot be used."""


class ModelUnavailable(ModelError):
    """The server does not answer, or the package that runs the model is not installed."""


class ModelMissing(ModelError):
    """The server or the disk does not have the model."""


class ModelFailed(ModelError):
    """The model or its server broke off in the middle of the work."""


class InputTooLong(ModelError):
    """A text or prompt is longer than the model takes; it was not cut."""


class DownloadFailed(ModelError):
    """A model could not be fetched whole and unaltered."""


class SourceError(RagError):
    """A file or folder cannot be read.

    Args:
        message: What failed, and on what.
        hint: What to do next; empty when there is nothing to do.
        remedy: What the page can offer to do about it.
    """

    def __init__(self, message: str, hint: str = "", remedy: Remedy | None = None) -> None:
        super().__init__(message, hint)
        self.remedy = remedy

    def __reduce__(self) -> tuple[type[SourceError], tuple[str, str, Remedy | None]]:
        return type(self), (self.message, self.hint, self.remedy)  # it crosses from a reader's process to ours


class QueryError(RagError):
    """A question's filters cannot be read, or leave nothing to search for."""


class QuestionsError(RagError):
    """A library's own questions, or what was measured with them, cannot be read or kept."""


class LibraryError(RagError):
    """A library cannot be used."""


class LibraryMissing(LibraryError):
    """There is no library of that name."""


class LibraryEmpty(LibraryError):
    """Nothing is indexed yet."""


class LibraryLocked(LibraryError):
    """Another process holds the store."""


class EmbedderMismatch(LibraryError):
    """The library was built with another embedder."""


class LibraryCorrupt(LibraryError):
    """The store on disk cannot be read."""
