"""Plots as SVG: values in their places, words escaped, round figures on the axes."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from rag.ui.render_plots import HEIGHT, WIDTH, Axis, Plane, canvas, figure, legend, round_values

PLANE = Plane(Axis("recall <at>", 0, 10), Axis("share", 0, 1))


def test_values_lie_between_the_axes_and_what_is_outside_at_their_ends() -> None:
    assert PLANE.x(0) == PLANE.left
    assert PLANE.x(5) == pytest.approx((PLANE.x(0) + PLANE.x(10)) / 2)
    assert PLANE.x(99) == PLANE.x(10) < WIDTH
    assert PLANE.y(0) == PLANE.bottom < HEIGHT
    assert PLANE.y(1) < PLANE.y(0.5) < PLANE.y(0)
    upside_down = Plane(Axis("", 0, 1), Axis("rank", 30, 1, ((1, "1"), (30, "30"))))
    assert upside_down.y(1) < upside_down.y(30) == upside_down.bottom


def test_a_plot_is_well_formed_and_escaped() -> None:
    inside = (
        PLANE.line([(0, 0), (10, 1)], "one")
        + PLANE.band([(0, 0.5), (10, 1)], [(0, 0), (10, 0.5)], "one")
        + PLANE.dot(5, 0.5, "two", 'a "b" <c>')
        + PLANE.note(5, 0.5, "<1>")
        + PLANE.upright(3, "chosen", "here")
        + PLANE.bar(1, 2, 0.7, "three")
    )
    drawn = figure(PLANE.drawn(inside, "what & why"), "a caption", legend([("one", "one line")]))
    tree = ElementTree.fromstring(drawn)
    assert tree.find("svg").attrib["aria-label"] == "what & why"  # type: ignore[union-attr]
    texts = [found.text for found in tree.iter("text")]
    assert "recall <at>" in texts
    assert "<1>" in texts
    assert 'a "b" <c>' in [found.text for found in tree.iter("title")]
    points = re.search(r'polyline class="one" points="([^"]+)"', drawn)
    assert points is not None
    assert points[1] == f"{PLANE.left:.1f},{PLANE.bottom:.1f} {PLANE.x(10):.1f},{PLANE.y(1):.1f}"
    ElementTree.fromstring(canvas("", "<nothing>", 10))


def test_axes_have_about_five_round_figures() -> None:
    assert round_values(0, 1) == (0, 0.2, 0.4, 0.6, 0.8, 1)
    assert round_values(0.82, 0.91) == (0.82, 0.84, 0.86, 0.88, 0.9)
    assert round_values(-3, 1234) == (0, 500, 1000)
    for low, high in ((0, 7), (0.001, 0.0042), (12, 100_000), (-1, 1)):
        assert 3 <= len(round_values(low, high)) <= 8
    assert [label for _, label in Axis("", 0, 1000).marks] == ["0", "200", "400", "600", "800", "1,000"]
