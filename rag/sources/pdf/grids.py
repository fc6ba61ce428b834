"""Grids drawn on a page: from the boxes of lines and filled areas to the lines of tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Box = tuple[float, float, float, float]
"""Left, top, right, bottom, in points."""

_TOLERANCE = 2.5  # points by which drawn lines may miss each other
_MOST_RULES = 5000  # more is a drawing
_MOST_EDGES = 2000
_MOST_COLUMNS = 40


@dataclass(frozen=True, slots=True)
class Grid:
    """Where a table's lines are: from the left, and from the top; the outer ones are among them."""

    columns: tuple[float, ...]
    rows: tuple[float, ...]

    @property
    def box(self) -> Box:
        """The outer lines."""
        return self.columns[0], self.rows[0], self.columns[-1], self.rows[-1]


def around(boxes: Iterable[Box]) -> Box:
    """The smallest box around some, of which there is at least one."""
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)


def grids(rules: Sequence[Box], page: tuple[float, float]) -> list[Grid]:
    """Finds drawn grids of at least two columns and two rows.

    Args:
        rules: Boxes of lines and filled areas.
        page: Width and height; what fills most of the page is no part of a table.
    """
    if len(rules) > _MOST_RULES:
        return []
    across, down = _edges(rules, page)
    if len(across) + len(down) > _MOST_EDGES:
        return []
    found: list[Grid] = []
    for horizontal, vertical in _connected(across, down):
        columns = _levels(box[0] for box in vertical)
        heights = _levels(box[1] for box in horizontal)
        if 3 <= len(columns) <= _MOST_COLUMNS and len(heights) >= 3:
            found.append(Grid(columns, heights))
    return found


def _edges(rules: Sequence[Box], page: tuple[float, float]) -> tuple[list[Box], list[Box]]:
    """Lines across and down the page, the outlines of filled areas among them."""
    across: list[Box] = []
    down: list[Box] = []
    for left, top, right, bottom in rules:
        width, height = right - left, bottom - top
        if width > 0.95 * page[0] and height > 0.5 * page[1]:
            continue
        if height <= 3 and width >= 8:
            across.append((left, (top + bottom) / 2, right, (top + bottom) / 2))
        elif width <= 3 and height >= 5:
            down.append(((left + right) / 2, top, (left + right) / 2, bottom))
        elif width > 8 and height > 6:
            across += [(left, top, right, top), (left, bottom, right, bottom)]
            down += [(left, top, left, bottom), (right, top, right, bottom)]
    return _merged(across, 0), _merged(down, 1)


def _merged(edges: Sequence[Box], axis: int) -> list[Box]:
    """Edges on one line as one, where they touch: cells that lie side by side share theirs."""
    lines: dict[int, list[Box]] = {}
    for edge in sorted(edges, key=lambda box: box[axis]):
        level = round(edge[1 - axis])
        line = next((lines[near] for near in (level, level - 1, level + 1) if near in lines), None)
        if line is None:
            lines[level] = [edge]
        elif line[-1][axis + 2] + _TOLERANCE >= edge[axis]:
            line[-1] = around((line[-1], edge))
        else:
            line.append(edge)
    return [edge for line in lines.values() for edge in line]


def _connected(across: list[Box], down: list[Box]) -> list[tuple[list[Box], list[Box]]]:
    """Groups of lines that touch each other."""
    edges = sorted([(box, True) for box in across] + [(box, False) for box in down])
    parent = list(range(len(edges)))

    def root(index: int) -> int:
        while parent[index] != index:
            parent[index] = parent[parent[index]]
            index = parent[index]
        return index

    open_edges: list[int] = []
    for index, (box, _) in enumerate(edges):
        open_edges = [other for other in open_edges if edges[other][0][2] + _TOLERANCE >= box[0]]
        for other in open_edges:
            beside = edges[other][0]
            if beside[1] - _TOLERANCE <= box[3] and box[1] - _TOLERANCE <= beside[3]:
                parent[root(index)] = root(other)
        open_edges.append(index)
    groups: dict[int, tuple[list[Box], list[Box]]] = {}
    for index, (box, horizontal) in enumerate(edges):
        groups.setdefault(root(index), ([], []))[0 if horizontal else 1].append(box)
    return list(groups.values())


def _levels(values: Iterable[float]) -> tuple[float, ...]:
    found: list[float] = []
    for value in sorted(values):
        if not found or value - found[-1] > 2 * _TOLERANCE:
            found.append(value)
    return tuple(found)
