"""The Diagnostics tab: one answer taken apart, a person's notes measured, and this machine."""

from __future__ import annotations

from dataclasses import dataclass

import gradio as gr

from rag.ui import texts
from rag.ui.answer_part import AnswerPart, answer_part, wire_answer
from rag.ui.desk import Desk
from rag.ui.machine_part import MachinePart, machine_part, wire_machine
from rag.ui.measure_part import MeasurePart, measure_part, wire_measure


@dataclass
class DiagnosticsTab:
    """The tab's components: ``parts`` switches between the three."""

    parts: gr.Tabs
    answer: AnswerPart
    measure: MeasurePart
    machine: MachinePart


def diagnostics_tab(desk: Desk) -> DiagnosticsTab:
    """Builds the tab."""
    with gr.Tabs(selected="answer", elem_id="parts") as parts:
        with gr.Tab(texts.PART_ANSWER, id="answer"):
            answer = answer_part(desk)
        with gr.Tab(texts.PART_MEASURE, id="measure"):
            measure = measure_part(desk)
        with gr.Tab(texts.PART_MACHINE, id="machine") as page:
            machine = machine_part(desk, page)
    return DiagnosticsTab(parts, answer, measure, machine)


def wire_diagnostics(desk: Desk, tab: DiagnosticsTab, library: gr.State) -> None:
    """Wires what happens inside the tab."""
    wire_answer(desk, tab.answer, library)
    wire_measure(desk, tab.measure, library, tab.parts, tab.answer)
    wire_machine(desk, tab.machine, library)
