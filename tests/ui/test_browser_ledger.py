"""One answer, taken apart, in Chromium: from the chat to what went wrong with it, and back."""

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


def test_a_wrong_answer_is_taken_apart(visit: Callable[..., Visit], tmp_path: Path, ollama: OllamaStandIn) -> None:
    folder = write_notes(
        tmp_path / "notes",
        {
            "valve.md": "# Relief valve\n\nThe relief valve opens at 16 bar. It is tested every spring.\n",
            "pump.md": "# Pump\n\nThe pump runs at 1450 rpm and is greased in May.\n",
            "scan.txt": "",
        },
    )
    ollama.reply = ["The relief valve opens at 61 bar [1]."]
    here = visit()
    for _ in here.engine.sync(SAMPLES, folder):
        pass
    here.open()
    page = here.page
    page.get_by_role("tab", name="Diagnostics").click()
    report = page.locator("#report")
    report.locator(".fn-tile.look", has_text="1 not read: scan.txt").wait_for()
    page.get_by_role("tab", name="Chat").click()
    here.fill("#question textarea", "At how many bar does the relief valve open?")
    page.locator("#question textarea").press("Enter")
    page.locator("#thread [data-do=inspect]").click()

    report.locator(".fn-tile.bad", has_text="61 bar is not in what is cited").wait_for()
    assert "Look first at “Used”" in report.locator(".fn-notice").first.inner_text()
    assert report.locator(".fn-tile .fn-state").all_inner_texts() == ["look", "look", "fine", "fine", "wrong"]
    report.locator(".fn-answer-here [data-cite]").click()
    passage = report.locator("tr.inside details[open]", has_text="opens at 16 bar")
    passage.wait_for()
    page.locator("#prompt summary").click()
    page.locator("#prompt [data-do=rendered]").click()
    page.locator("#prompt pre", has_text="<|user|> Notes:").wait_for()
    assert ollama.sent("/api/chat")["_debug_render_only"] is True

    passage.get_by_role("button", name="Look inside the file").click()
    panel = page.locator("dialog.fn-xray")
    panel.locator(".fn-piece", has_text="opens at 16 bar").first.wait_for()
    panel.get_by_role("button", name="Close").click()
    report.get_by_role("button", name="To the chat").click()
    page.locator("#question").wait_for()
