"""A library is measured on the page: a question from an answer, others from a file, the figures, a cut-off kept."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from material import write_notes

from rag.engine import SAMPLES

if TYPE_CHECKING:
    from conftest import Visit
    from fakes.ollama_server import OllamaStandIn

pytestmark = [pytest.mark.browser, pytest.mark.slow]

NOTES = {
    f"{name}.md": f"# {name.title()}\n\n{text}\n"
    for name, text in {
        "boiler": "The relief valve of the boiler opens at sixteen bar.",
        "garden": "The roses are cut back in March, and the hedge is trimmed in autumn.",
        "pump": "The pump was installed in 2019 by the works department.",
        "roof": "The roof is inspected after every storm, and tiles are replaced in summer.",
        "cellar": "The cellar keeps twelve degrees the whole year, whatever the weather.",
        "car": "The brakes of the car were renewed at eighty thousand kilometres.",
        "bees": "The hives are moved to the heath in August, when the heather is in bloom.",
    }.items()
}


def test_questions_from_answers_and_files_are_measured(
    visit: Callable[..., Visit], ollama: OllamaStandIn, tmp_path: Path
) -> None:
    ollama.reply = ["The relief valve opens at sixteen bar [1]."]
    here = visit()
    page, engine = here.page, here.engine
    for _ in engine.sync(SAMPLES, write_notes(tmp_path / "notes", NOTES)):
        pass
    here.open()
    here.fill("#question textarea", "At how many bar does the relief valve open?")
    page.locator("#question textarea").press("Enter")
    page.locator("[data-do=inspect]").wait_for()
    here.rest()
    page.locator("details.fn-card summary").first.click()
    page.locator("details.fn-card[open] [data-do=answers]").click()
    page.locator(".toast-body", has_text="is answered by boiler.md").wait_for()
    (question,) = engine.inspector.questions(SAMPLES)
    assert (question.text, question.expected[0].path) == ("At how many bar does the relief valve open?", "boiler.md")

    page.get_by_role("tab", name="Diagnostics").click()
    page.get_by_role("tab", name="My notes, measured").click()
    listed = page.locator("#own-questions")
    listed.locator("tbody tr", has_text="the passage you pointed at").wait_for()
    lines = [
        {"question": "When are the roses <b>cut</b> back?", "path": "garden.md", "phrase": "in March"},
        {"question": "Who won the chess tournament of Zürich in 1953?", "answerable": False},
        {"question": "What does the mill grind?", "path": "mill.md"},
    ]
    text = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
    listed.locator("input[type=file]").set_input_files(
        {"name": "own.jsonl", "mimeType": "text/plain", "buffer": text.encode()}
    )
    listed.locator("h3", has_text="3 answerable, 1 not").wait_for()
    assert "no file “mill.md” in the library" in listed.locator("tbody tr").first.inner_text()
    assert not list(here.uploads.rglob("*.jsonl"))

    page.click("#measure-now")
    measured = page.locator("#measured")
    measured.locator("p", has_text="among the first five found for 2 of 3 questions").wait_for()
    listed.locator("tbody tr", has_text="found at 1").first.wait_for()
    with page.expect_download() as download:
        listed.locator("[data-do=export]").click()
    exported = Path(download.value.path()).read_text(encoding="utf-8")
    assert [json.loads(line)["question"] for line in exported.splitlines()][1:] == [line["question"] for line in lines]

    page.click("#calibrate > button")
    page.locator("#calibration svg").wait_for()
    here.rest()
    handle = page.locator("#cut input[type=range]")
    handle.focus()
    handle.press("End")
    page.locator("#calibration dd", has_text="3 of 3 refused wrongly").first.wait_for()
    page.click("#keep-cut")
    page.locator(".toast-body", has_text="Kept").first.wait_for()
    assert engine.library_settings(SAMPLES).evidence > 0

    listed.locator("tbody tr", has_text="roses").locator("[data-do=look]").click()
    page.locator("#report", has_text="When are the roses <b>cut</b> back?").wait_for()
