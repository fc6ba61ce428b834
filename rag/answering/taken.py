"""Which characters of a text are spoken for, so that nothing is read twice; quick however much was found."""

from __future__ import annotations

from rag.types import Span


class Taken:
    """Stretches of a text that were read as something.

    Args:
        length: Characters of the text.
    """

    def __init__(self, length: int) -> None:
        self._marks = bytearray(length)

    def add(self, span: Span) -> None:
        """Marks a stretch."""
        self._marks[span.start : span.end] = b"\x01" * (span.end - span.start)

    def meets(self, span: Span) -> bool:
        """Whether a stretch shares a character with a marked one."""
        return self._marks.find(1, span.start, span.end) >= 0
