"""Plots as inline SVG: pure functions from values to markup that takes its colours from the page's style.

A plot is drawn on a small canvas and scaled to the room it has, so that its words stay readable on a phone. What a dot
means is its ``<title>``, which browsers show on hover and screen readers read; legends are HTML beside the drawing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rag.ui.render import escape

WIDTH = 360
HEIGHT = 220
"""The canvas, in the units of its own coordinates; text is eleven of them high."""

_RIGHT, _TOP, _BOTTOM = 16, 10, 36
_CHARACTER = 6.2  # width of a figure, on the generous side
_TICKS = 5


@dataclass(frozen=True, slots=True)
class Axis:
    """One direction of a plot.

    Attributes:
        label: What is measured, with its unit.
        low: The value where it begins.
        high: The value where it ends; above ``low``.
        ticks: Values that are marked, with what is written there; empty: round ones are found.
    """

    label: str
    low: float
    high: float
    ticks: tuple[tuple[float, str], ...] = ()

    @property
    def marks(self) -> tuple[tuple[float, str], ...]:
        """The values that are marked, with what is written there."""
        return self.ticks or tuple((value, f"{value:,.10g}") for value in round_values(self.low, self.high))

    def share(self, value: float) -> float:
        """How far along the axis a value lies, 0 to 1; what lies outside is drawn at the end."""
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))


@dataclass(frozen=True, slots=True)
class Plane:
    """Two axes and what is drawn between them.

    Attributes:
        across: The axis from left to right.
        up: The axis from the bottom to the top.
        height: Of the canvas.
    """

    across: Axis
    up: Axis
    height: int = HEIGHT

    @property
    def left(self) -> float:
        """Where the drawing begins: to the right of the upright axis and its figures."""
        return 22 + _CHARACTER * max((len(label) for _, label in self.up.marks), default=0)

    @property
    def bottom(self) -> float:
        """The height of the lower axis."""
        return self.height - _BOTTOM

    def x(self, value: float) -> float:
        """The place of a value from left to right."""
        return self.left + self.across.share(value) * (WIDTH - _RIGHT - self.left)

    def y(self, value: float) -> float:
        """The place of a value from the top down."""
        return self.bottom - self.up.share(value) * (self.bottom - _TOP)

    def line(self, points: Sequence[tuple[float, float]], kind: str) -> str:
        """A line through points, given as values; ``kind`` is a class of the style: ``one``, ``two`` … ``band``."""
        placed = " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in points)
        return f'<polyline class="{kind}" points="{placed}"/>'

    def band(self, upper: Sequence[tuple[float, float]], lower: Sequence[tuple[float, float]], kind: str) -> str:
        """The area between two lines over the same values."""
        placed = " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in (*upper, *reversed(lower)))
        return f'<polygon class="{kind}" points="{placed}"/>'

    def dot(self, x: float, y: float, kind: str, told: str = "", radius: float = 3) -> str:
        """A dot at two values."""
        return (
            f'<circle class="{kind}" cx="{self.x(x):.1f}" cy="{self.y(y):.1f}" r="{radius:g}">{_title(told)}</circle>'
        )

    def note(self, x: float, y: float, text: str) -> str:
        """A word or a number beside a dot."""
        return f'<text class="note" x="{self.x(x) + 6:.1f}" y="{self.y(y) - 5:.1f}">{escape(text)}</text>'

    def upright(self, value: float, kind: str, told: str = "") -> str:
        """An upright line through the whole plot."""
        place = f"{self.x(value):.1f}"
        return (
            f'<line class="{kind}" x1="{place}" x2="{place}" y1="{_TOP}" y2="{self.bottom:.1f}">{_title(told)}</line>'
        )

    def bar(self, start: float, end: float, value: float, kind: str, told: str = "") -> str:
        """An upright bar from the lower axis to a value."""
        left, right, top = self.x(start), self.x(end), self.y(value)
        return (
            f'<rect class="{kind}" x="{left:.1f}" y="{top:.1f}" width="{max(right - left - 1, 0.5):.1f}" '
            f'height="{self.bottom - top:.1f}">{_title(told)}</rect>'
        )

    def drawn(self, inside: str, told: str) -> str:
        """The whole plot: the axes, and between them what was drawn.

        Args:
            inside: From the methods of this plane.
            told: What the plot shows, for who cannot see it.
        """
        return canvas(self._axes() + inside, told, self.height)

    def _axes(self) -> str:
        parts = []
        for value, label in self.up.marks:
            height = f"{self.y(value):.1f}"
            parts.append(f'<line class="grid" x1="{self.left:.1f}" x2="{WIDTH - _RIGHT}" y1="{height}" y2="{height}"/>')
            parts.append(
                f'<text x="{self.left - 5:.1f}" y="{height}" dy="0.32em" text-anchor="end">{escape(label)}</text>'
            )
        for value, label in self.across.marks:
            # What is written at either end would stick out of the canvas, or run into the other axis.
            share = self.across.share(value) if len(label) > 2 else 0.5
            anchor = "end" if share > 0.97 else "start" if share < 0.03 else "middle"
            place = f'x="{self.x(value):.1f}" y="{self.bottom + 14:.1f}" text-anchor="{anchor}"'
            parts.append(f"<text {place}>{escape(label)}</text>")
        middle, centre = (self.left + WIDTH - _RIGHT) / 2, (self.bottom + _TOP) / 2
        parts.append(
            f'<line class="axis" x1="{self.left:.1f}" x2="{WIDTH - _RIGHT}" y1="{self.bottom}" y2="{self.bottom}"/>'
            f'<text class="label" x="{middle:.1f}" y="{self.height - 5}" text-anchor="middle">'
            f"{escape(self.across.label)}</text>"
            f'<text class="label" transform="translate(11 {centre:.1f}) rotate(-90)" text-anchor="middle">'
            f"{escape(self.up.label)}</text>"
        )
        return "".join(parts)


def canvas(inside: str, told: str, height: float = HEIGHT) -> str:
    """An SVG element with what is drawn on it; scaled to the width it has.

    Args:
        inside: Markup, escaped already.
        told: What the plot shows, for who cannot see it.
        height: Of the canvas.
    """
    return (
        f'<svg class="fn-plot" viewBox="0 0 {WIDTH} {height:g}" role="img" aria-label="{escape(told)}">{inside}</svg>'
    )


def figure(drawn: str, caption: str, legend: str = "") -> str:
    """A plot with its caption and its legend; the caption is markup, escaped already."""
    return f'<figure class="fn-figure">{drawn}{legend}<figcaption>{caption}</figcaption></figure>'


def legend(entries: Sequence[tuple[str, str]]) -> str:
    """What the colours mean: a class of the style and what it stands for, as markup that is escaped already."""
    listed = "".join(f'<li><i class="fn-key {kind}"></i>{label}</li>' for kind, label in entries)
    return f'<ul class="fn-legend">{listed}</ul>'


def round_values(low: float, high: float) -> tuple[float, ...]:
    """About five round values from ``low`` to ``high``, equally far apart."""
    rough = (high - low) / _TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return tuple(round(at * step, 12) for at in range(first, last + 1))


def _title(told: str) -> str:
    return f"<title>{escape(told)}</title>" if told else ""
