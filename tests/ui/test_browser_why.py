"""“Why not this?” and replay bundles in Chromium, on a phone's width."""

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

_TOO_WIDE = "() => document.documentElement.scrollWidth > document.documentElement.clientWidth"


def test_a_passage_is_asked_for_and_its_answer_kept_and_run_again(
    visit: Callable[..., Visit], ollama: OllamaStandIn, tmp_path: Path
) -> None:
    ollama.reply = ["The valve opens at 16 bar. [1]"]
    notes = {
        f"valve-{n}.md": f"# Valve {n}\n\nThe valve {n} of line {n * 7} opens at {n + 12} bar.\n" for n in range(8)
    }
    here = visit(width=390, height=844)
    page = here.page
    for _ in here.engine.sync(SAMPLES, write_notes(tmp_path / "notes <i>", notes)):
        pass
    here.open()
    here.fill("#question textarea", "At how many bar does the valve 4 open?")
    page.locator("#question textarea").press("Enter")
    page.locator("[data-do=inspect]").first.wait_for()
    here.rest()
    page.locator("[data-do=inspect]").first.click()
    passages = page.locator("#report .fn-peek")
    passages.nth(5).wait_for()
    here.rest()

    passages.nth(5).locator("summary").click()
    passages.nth(5).locator("[data-do=why]").click()
    account = page.locator("#why-told .fn-account")
    account.locator(".fn-gates .stopped", has_text="fits").wait_for()
    assert "passages wanted" in account.inner_text()
    assert "FOOTNOTE_NOTES=" in account.inner_text()
    here.fill(page.locator("#why").get_by_label("File"), "nowhere.pdf")
    page.click("#ask-why")
    account.locator(".fn-lost", has_text="No file of that name").wait_for()
    assert not page.evaluate(_TOO_WIDE)

    page.click("#bundle > button")
    here.rest()
    with page.expect_download() as download:
        page.click("#bundle [data-kind=json]")
    saved = tmp_path / download.value.suggested_filename
    download.value.save_as(saved)
    assert saved.name == "At how many bar does the valve 4 open.footnote.json"
    assert json.loads(saved.read_text(encoding="utf-8"))["trace"]["answer"]["text"] == ollama.reply[0]
    page.click("#replay")
    page.locator("#replayed .fn-notice.good", has_text="character by character").wait_for()

    ollama.reply = ["Nobody knows."]
    page.locator("#bundle input[type=file]").set_input_files(saved)
    here.rest()
    page.click("#replay")
    page.locator("#replayed .fn-replay", has_text="Nobody knows.").wait_for()
    assert not page.evaluate(_TOO_WIDE)
