"""The comparison on the page, in Chromium; both models are the stand-in for Ollama."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from rag.engine import SAMPLES, Engine
from rag.settings import load_settings

if TYPE_CHECKING:
    from conftest import Visit
    from fakes.ollama_server import OllamaStandIn

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def _reply(messages: list[dict[str, Any]]) -> list[str]:
    if "every 6 hours" in messages[-1]["content"]:
        return ["The wipers sweep the window ", "every 6 hours. [1]"]
    return ["The wipers sweep the window ", "every ", "12 ", "hours. ", "They wear out <i>within</i> a year."]


def test_compare_with_and_without_notes_stop_and_two_models(
    visit: Callable[..., Visit], ollama: OllamaStandIn, tmp_path: Path
) -> None:
    (tmp_path / "notes").mkdir()
    note = "# Wipers\n\nThe wipers sweep the optical window every 6 hours.\n"
    (tmp_path / "notes" / "wipers.md").write_text(note, encoding="utf-8")
    with Engine(load_settings(home=tmp_path / "home", llm="none", embedder="e5-small")) as engine:
        for _ in engine.sync(SAMPLES, tmp_path / "notes"):
            pass
    ollama.reply = _reply
    here = visit(llm="ollama:qwen3:8b", embedder="e5-small")
    page = here.page
    page.get_by_role("tab", name="Diagnostics").click()
    here.fill("#query textarea, #query input", "How often do the wipers sweep the optical window?")
    page.keyboard.press("Enter")
    page.locator("#report .fn-asked-here").wait_for()
    page.click("#compare > button")
    page.locator("#compare-models:enabled").wait_for()

    here.rest()
    page.click("#compare-notes")
    page.locator("#compared [data-state=done]").wait_for()
    left, right = (page.locator("#compared .fn-side").nth(at) for at in (0, 1))
    assert "every 6 hours" in left.locator(".fn-origin.disagree").inner_text()
    assert "every 12 hours" in right.locator(".fn-origin.disagree").inner_text()
    assert "<i>within</i>" in right.locator(".fn-origin.model").inner_text()
    assert "They disagree" in page.locator(".fn-compare-verdict").inner_text()

    ollama.delay = 0.3
    ollama.reply = ["word "] * 100
    here.rest()
    page.click("#compare-notes")
    page.locator("#compared .fn-said", has_text="word").first.wait_for()
    page.click("#compare-stop")
    page.locator("#compared", has_text="Stopped.").wait_for()
    page.locator("#compare-stop").wait_for(state="hidden")

    ollama.delay = 0.0
    ollama.reply = _reply
    here.rest()
    page.get_by_label("The other model").click()
    page.get_by_role("option", name="llama3.2:3b").click()
    page.click("#compare-models")
    page.locator("#compared [data-state=done]", has_text="llama3.2:3b").wait_for()
    assert page.locator("#compared .fn-origin.notes").count() >= 2
    assert "tokens" in page.locator("#compared table").inner_text().lower()
