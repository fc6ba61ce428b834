"""What an answer says beyond its sources, seen in chat and taken apart in the diagnostics."""

from __future__ import annotations

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

Start = Callable[..., "Visit"]


def test_wrong_numbers_dates_and_names_are_marked_in_chat_and_told_in_the_audit(
    visit: Start, tmp_path: Path, ollama: OllamaStandIn
) -> None:
    notes = {
        "pump.md": "# Pump\n\nThe pump in hall 3 was installed by Hanae on 4 March 2019. It runs at 16 bar.\n",
        "valve.md": "# Valve\n\nThe valve beside the pump in hall 3 opens at 18 bar and was made in Ghent.\n",
    }
    ollama.reply = [
        "The pump runs at **18 bar** [1]. It was installed by Tomasz",
        " on 4 March 2019 [1]. Elephants migrate north every winter. It is in hall 3 [1].",
    ]
    here = visit(embedder="e5-small")
    for _ in here.engine.sync(SAMPLES, write_notes(tmp_path / "notes", notes)):
        pass
    here.open()
    page = here.page
    here.fill("#question textarea", "At which pressure does the pump run, and who installed it?")
    page.locator("#question textarea").press("Enter")
    page.locator("[data-do=inspect]").wait_for()
    marked = page.locator(".fn-text .fn-missing")
    assert marked.all_inner_texts() == ["18 bar", "Tomasz"]
    assert "not in the cited passage" in str(marked.first.get_attribute("title"))

    page.click("[data-do=inspect]")
    audit = page.locator(".fn-audit")
    audit.wait_for()
    assert "1 number is not in the cited text" in audit.inner_text()
    assert "1 sentence without a citation" in audit.inner_text()
    assert audit.locator(".fn-sentences > li").count() == 4
    assert "It is in [2]." in audit.locator(".fn-sentences > li").first.inner_text()
