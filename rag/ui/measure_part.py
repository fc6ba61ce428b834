"""Diagnostics, second part: how well a library's own questions are answered."""

from __future__ import annotations

from dataclasses import dataclass

import gradio as gr

from rag.ui.desk import Desk


@dataclass
class MeasurePart:
    """The part's components."""


def measure_part(desk: Desk) -> MeasurePart:
    """Builds the part."""
    return MeasurePart()


def wire_measure(desk: Desk, part: MeasurePart, library: gr.State) -> None:
    """Wires the part."""
