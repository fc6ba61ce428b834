"""Units → pieces of at most so many tokens; where a text is cut again after an edit, no distant cut moves."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from rag.index.chunking.measure import Measure
from rag.index.chunking.units import Units
from rag.types import Span

_SHORTEST_KNOWN = 48  # characters; shorter chunks are cheap to embed again


class Known:
    """Chunks that a document had before.

    Args:
        texts: Their texts.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._by_start: dict[str, list[str]] = defaultdict(list)
        for text in texts:
            if len(text) >= _SHORTEST_KNOWN:
                self._by_start[text[:_SHORTEST_KNOWN]].append(text)

    def __bool__(self) -> bool:
        return bool(self._by_start)

    def at(self, text: str, start: int) -> Iterator[str]:
        """Those that stand in a text at a place."""
        for known in self._by_start.get(text[start : start + _SHORTEST_KNOWN], ()):
            if text.startswith(known, start):
                yield known


class Cutter:
    """Packs units into pieces.

    Args:
        measure: Counts tokens.
        units: What is packed.
        overlap: Tokens that a piece may have in common with the one before it.
        minimum: A shorter last piece begins earlier.
        known: Chunks that are kept where they stand as they did.
    """

    def __init__(self, measure: Measure, units: Units, overlap: int, minimum: int, known: Known) -> None:
        self._measure = measure
        self._units = units.spans
        self._context = units.context
        self._overlap = overlap
        self._minimum = minimum
        self._known = known

    def pieces(self) -> Iterator[Span]:
        """The pieces, in order."""
        before = -1
        for first, last in self._packed():
            if last + 1 == len(self._units):
                first = self._long_enough(first, before + 1)
            yield self._span(first, last)
            before = first

    def _span(self, first: int, last: int) -> Span:
        return Span(self._units[first].start, self._units[last].end)

    def _size(self, unit: int) -> int:
        return self._measure.tokens(self._units[unit])

    def _limit(self, first: int) -> int:
        return self._context(self._units[first].start)[1]

    def _packed(self) -> Iterator[tuple[int, int]]:
        """First and last unit of each piece."""
        kept = self._kept()
        starts = sorted(kept)
        end = len(self._units)
        first = 0
        done = -1
        while first < end:
            last = kept.get(first, -1)
            following: int | None = None
            if last <= done:
                last = self._reach(first)
                following = self._next_kept(first, last, kept, starts[bisect_right(starts, max(first, done + 1)) :])
                if following is not None:
                    last = self._shared(following, min(last, kept[following] - 1))
            yield first, last
            if last + 1 == end:
                return
            if following is None:
                following = self._start_after(first, last)
                again = bisect_left(starts, following)
                while again < len(starts) and starts[again] <= last + 1 and kept[starts[again]] <= last:
                    again += 1
                if again < len(starts) and starts[again] <= last + 1:
                    following = starts[again]
                elif again < len(starts) and self._reach(last + 1) >= starts[again] - 1:
                    # With less in common, the next piece reaches to where the cuts are as they were.
                    while following <= last and self._reach(following) < starts[again] - 1:
                        following += 1
            first, done = following, last

    def _reach(self, first: int) -> int:
        """The last unit of the longest piece that begins with ``first``."""
        limit = self._limit(first)
        last = first
        size = self._size(first)
        while last + 1 < len(self._units) and size + self._size(last + 1) <= limit:
            last += 1
            size += self._size(last)
        # Token counts of parts do not add up exactly: the joined text decides.
        while last > first and self._measure.tokens(self._span(first, last)) > limit:
            last -= 1
        return last

    def _start_after(self, first: int, last: int) -> int:
        """Where the next piece begins: a little earlier, so that a thought cut in two is whole in one of them."""
        following = last + 1
        shared = 0
        while following - 1 > first and shared + self._size(following - 1) <= self._overlap:
            following -= 1
            shared += self._size(following)
        while following <= last and self._reach(following) <= last:
            following += 1
        return following

    def _shared(self, following: int, most: int) -> int:
        """The last unit of a piece before one that begins with ``following``, with what they may have in common."""
        last = following - 1
        shared = 0
        while last < most and shared + self._size(last + 1) <= self._overlap:
            last += 1
            shared += self._size(last)
        return last

    def _long_enough(self, first: int, earliest: int) -> int:
        """Where the last piece begins, so that it is not too short."""
        last = len(self._units) - 1
        while first > earliest and self._measure.tokens(self._span(first, last)) < self._minimum:
            earlier = self._span(first - 1, last)
            if not self._measure.fits(earlier, self._limit(first - 1)):
                break
            first -= 1
        return first

    def _kept(self) -> dict[int, int]:
        """Last unit of the known chunks that stand here as they were, by their first unit."""
        kept: dict[int, int] = {}
        unit_at_end = {unit.end: at for at, unit in enumerate(self._units)} if self._known else {}
        for at, unit in enumerate(self._units if self._known else ()):
            for known in self._known.at(self._measure.text, unit.start):
                span = Span(unit.start, unit.start + len(known))
                last = unit_at_end.get(span.end, -1)
                if last > kept.get(at, at - 1) and self._measure.tokens(span) <= self._limit(at):
                    kept[at] = last
        return kept

    def _next_kept(self, first: int, last: int, kept: dict[int, int], starts: Sequence[int]) -> int | None:
        """Where a new piece, from ``first`` to at most ``last``, ends before a known chunk; None: there is none near.

        Args:
            first: Its first unit.
            last: The last unit that it has room for.
            kept: The known chunks.
            starts: The units after ``first`` that they begin with.
        """
        if not starts or starts[0] > last + 1:
            return None
        if self._measure.tokens(self._span(first, starts[0] - 1)) < self._limit(first) // 4:
            # A crumb: joined with the known chunk, where both are one piece.
            after = starts[1] if len(starts) > 1 else len(self._units)
            if last >= max(after - 1, kept[starts[0]]):
                return after if after < len(self._units) else None
        return starts[0]
