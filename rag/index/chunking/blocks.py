"""A document → the blocks that are cut each for itself: its sections, where they are long enough to stand alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from rag.index.chunking.clauses import Clause, canonical, clauses
from rag.index.chunking.contents import contents_of
from rag.index.chunking.cutting import Known
from rag.index.chunking.measure import Measure
from rag.index.chunking.sentences import stripped
from rag.types import SourceDocument, Span

_UNDERLINE = re.compile(r"\n[ \t]*[=\-~^\"'`#*+.:]{3,}[ \t]*$")


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a document that no chunk reaches out of.

    Attributes:
        span: Where it is, without white space at its ends.
        heading_path: The headings above it, its own included.
        clause: What is known of its section.
        whole: It is one chunk, as long as the embedder can take it.
        contents: It lists what stands elsewhere: a table of contents, or the heading of sections that follow it.
    """

    span: Span
    heading_path: tuple[str, ...]
    clause: Clause
    whole: bool = False
    contents: bool = False

    @property
    def rides(self) -> bool:
        """Whether it may be joined with others; a numbered section begins a chunk, since people look for it."""
        return not (self.clause.begins or self.whole or self.contents)


def blocks_of(document: SourceDocument) -> list[Block]:
    """The sections of a document; a table of contents is a block of its own, and no heading stands without text."""
    blocks: list[Block] = []
    above: Block | None = None
    divided = list(_divided(document))
    for at, block in enumerate(divided):
        following = divided[at + 1] if at + 1 < len(divided) else None
        bare = following is not None and _is_bare(document.text, block)
        if above:
            block = _under(above, block)
        above = block if following and bare and _is_title_of(block, following) else None
        if above is None:
            deeper = following is not None and len(following.heading_path) > len(block.heading_path)
            blocks.append(replace(block, contents=block.contents or (bare and deeper)))
    return blocks


def joined(
    blocks: Sequence[Block], measure: Measure, minimum: int, most: Callable[[Block], int], known: Known
) -> Iterator[Block]:
    """Joins blocks of fewer than ``minimum`` tokens with their parent or their neighbours.

    Args:
        blocks: In order.
        measure: Counts tokens.
        minimum: Fewer tokens are too few to be found by.
        most: How many tokens a chunk of a block may have.
        known: Chunks that the document had before: blocks that were joined then stay together.
    """
    groups = _Groups(blocks, measure, minimum, most, known)
    at = 0
    while at < len(blocks):
        end = groups.end(at)
        yield groups.joined(at, end)
        at = end


def _divided(document: SourceDocument) -> Iterator[Block]:
    """The sections, with tables of contents apart."""
    for section, clause, listed in zip(document.sections, clauses(document), contents_of(document), strict=True):
        at = section.span.start
        for contents in listed:
            before = stripped(document.text, Span(at, contents.start))
            is_heading = section.heading_path and at == section.span.start
            if before and not (is_heading and "\n" not in document.text[before.start : before.end]):
                yield Block(before, section.heading_path, clause)
                clause = replace(clause, begins=False)
                at = contents.start
            if listing := stripped(document.text, Span(at, contents.end)):
                yield Block(listing, section.heading_path, clause, contents=True)
            clause = replace(clause, begins=False)
            at = contents.end
        if rest := stripped(document.text, Span(at, section.span.end)):
            yield Block(rest, section.heading_path, clause, section.whole)


def _is_bare(text: str, block: Block) -> bool:
    """Whether a block is only a heading."""
    body = _UNDERLINE.sub("", text[block.span.start : block.span.end])
    return bool(block.heading_path) and not block.whole and "\n" not in body


def _is_title_of(block: Block, following: Block) -> bool:
    """Whether a bare heading is read with the block that follows it."""
    if following.clause.begins or following.contents:
        return False
    deeper = len(following.heading_path) - len(block.heading_path)
    # "Abschnitt 2" and its title may be two headings of one level.
    return deeper > 0 or (deeper == 0 and block.clause.begins and canonical(block.heading_path[-1]) != "")


def _under(heading: Block, block: Block) -> Block:
    """A block with the bare heading above it."""
    clause, path = block.clause, block.heading_path
    if heading.clause.begins:
        clause = replace(heading.clause, stance=clause.stance or heading.clause.stance)
    if len(path) == len(heading.heading_path):
        path = (*heading.heading_path, path[-1])
    return replace(block, span=Span(heading.span.start, block.span.end), heading_path=path, clause=clause)


class _Groups:
    """Which blocks are joined."""

    def __init__(
        self, blocks: Sequence[Block], measure: Measure, minimum: int, most: Callable[[Block], int], known: Known
    ) -> None:
        self._blocks = blocks
        self._measure = measure
        self._minimum = minimum
        self._most = most
        self._known = known
        self._ending_at = {block.span.end: at + 1 for at, block in enumerate(blocks)} if known else {}

    def end(self, first: int) -> int:
        """The end of the group that begins with a block."""
        if kept := self._kept(first):
            return kept
        end = first + 1
        while end < len(self._blocks) and self._takes(first, end):
            end = self._kept(end) or end + 1
        return end

    def joined(self, first: int, end: int) -> Block:
        """One block of several: it is about what most of it says, or about the numbered section that it begins."""
        group = self._blocks[first:end]
        chief = group[0] if group[0].clause.begins else max(group, key=lambda block: block.span.end - block.span.start)
        return replace(chief, span=self._span(first, end)) if len(group) > 1 else group[0]

    def _span(self, first: int, end: int) -> Span:
        return Span(self._blocks[first].span.start, self._blocks[end - 1].span.end)

    def _is_short(self, first: int, end: int) -> bool:
        span = self._span(first, end)
        return self._measure.fits(span, self._minimum - 1)

    def _takes(self, first: int, end: int) -> bool:
        """Whether the blocks from ``first`` on take in the one that follows them."""
        one, block = self._blocks[first], self._blocks[end]
        kept = self._kept(end)
        reach = kept or end + 1
        if one.whole or one.contents or not all(one_more.rides for one_more in self._blocks[end:reach]):
            return False
        if not _are_kin(one, block) or not self._measure.fits(self._span(first, reach), self._most(one)):
            return False
        if self._is_short(first, end):
            return True
        # A short block joins what is long enough by itself only where it finds no company behind it.
        alone = end + 1 == len(self._blocks) or not self._takes(end, end + 1)
        return kept is None and self._is_short(end, end + 1) and alone

    def _kept(self, first: int) -> int | None:
        """The end of the group that a known chunk makes of the blocks from ``first`` on; None: there is none."""
        if not self._known:
            return None
        start = self._blocks[first].span.start
        ends = (self._ending_at.get(start + len(text), 0) for text in self._known.at(self._measure.text, start))
        last = max(ends, default=0)
        return last if last > first + 1 else None


def _are_kin(one: Block, other: Block) -> bool:
    """Whether a block is below another one, or below the same heading."""
    depth = len(one.heading_path)
    return other.heading_path[:depth] == one.heading_path or other.heading_path[:-1] == one.heading_path[:-1]
