"""How long the parts of a text are, in tokens; each part is counted once."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rag.types import Span

CountTokens = Callable[[str], int]
"""Tokens of a text, without prefix and special tokens."""

_LONGEST_TOKENS = 20
"""Characters; longer ones are rare."""


class Measure:
    """Counts the tokens of a text's parts.

    Args:
        text: The text.
        count_tokens: What counts.
        known: Texts whose tokens are known.
    """

    def __init__(self, text: str, count_tokens: CountTokens, known: Mapping[str, int]) -> None:
        self.text = text
        self._count_tokens = count_tokens
        self._counted = dict(known)

    def of(self, span: Span) -> str:
        """The words of a part."""
        return self.text[span.start : span.end]

    def count(self, text: str) -> int:
        """Tokens of any text."""
        if text not in self._counted:
            self._counted[text] = self._count_tokens(text)
        return self._counted[text]

    def tokens(self, span: Span) -> int:
        """Tokens of a part."""
        return self.count(self.of(span))

    def fits(self, span: Span, limit: int) -> bool:
        """Whether a part has at most ``limit`` tokens; by its length alone, where that says so."""
        characters = span.end - span.start
        if characters > _LONGEST_TOKENS * limit:
            return False
        # No token is shorter than a byte, and counting takes time.
        short = characters < limit and len(self.of(span).encode(errors="replace")) < limit
        return short or self.tokens(span) <= limit
