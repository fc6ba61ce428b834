"""Experiments and plots in Chromium: another way tried on the library's own questions, and a question drawn."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from material import write_notes

from rag.engine import SAMPLES
from rag.inspection.questions import Expected, new_question

if TYPE_CHECKING:
    from conftest import Visit

pytestmark = [pytest.mark.browser, pytest.mark.slow]

NOTES = {
    "boiler.md": "# Boiler\n\nThe relief valve of the boiler opens at 16 bar.",
    "garden.md": "# Garden\n\nThe roses <b>are cut</b> back in March.",
    "tram.md": "# Tram\n\nThe last tram leaves the depot at 00:40.",
}


def test_try_another_way_and_see_a_question_drawn(visit: Callable[..., Visit], tmp_path: Path) -> None:
    here = visit(llm="none", embedder="e5-small")
    for _ in here.engine.sync(SAMPLES, write_notes(tmp_path / "notes", NOTES)):
        pass
    asked = (("When does the last tram leave?", "00:40"), ("What happens to the roses?", "March"))
    here.engine.inspector.add_questions(
        SAMPLES,
        [new_question(text, answerable=True, expected=(Expected(phrase=words),)) for text, words in asked],
    )
    here.open()
    page = here.page
    page.get_by_role("tab", name="Diagnostics").click()
    page.get_by_role("tab", name="My notes, measured").click()
    page.locator("#experiments button").first.click()
    page.locator("#sample", has_text="3 files with 3 of 3 passages, and 2 questions").wait_for()
    page.locator("#sizes svg").wait_for()
    here.rest()
    page.click("#try-ways")
    page.get_by_text("Choose at least one way").wait_for()
    page.locator("#ways label", has_text="by length, 150 tokens").click()
    here.rest()
    page.click("#try-ways")
    page.locator("#tried", has_text="same hash before and after").wait_for(timeout=120_000)
    told = page.locator("#tried").inner_text()
    assert "With 2 questions, a comparison says next to nothing." in told
    assert "No difference that these questions could show" in told
    assert not [*here.engine.settings.home.glob("scratch-*")]

    page.get_by_role("tab", name="One answer").click()
    here.fill("#query textarea, #query input", "What happens to the roses?")
    page.keyboard.press("Enter")
    page.locator("#report", has_text="garden.md").wait_for()
    page.locator("#plots button").first.click()
    page.locator("#drawn .fn-map").wait_for()
    assert page.locator("#drawn .fn-map ol li").first.inner_text() == "garden.md › Garden"
    here.fill("#query textarea, #query input", "When does the last tram leave?")
    page.keyboard.press("Enter")
    page.locator("#drawn .fn-map ol li", has_text="tram.md").first.wait_for()
