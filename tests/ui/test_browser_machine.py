"""“This machine” in Chromium: a card of 8 GB that is not really there, shared by two models of the stand-in for Ollama."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rag.inspection import inspector, sharing
from rag.models.devices import Card

if TYPE_CHECKING:
    from conftest import Visit
    from fakes.ollama_server import OllamaStandIn

pytestmark = [pytest.mark.browser, pytest.mark.slow]

GB = 2**30


def test_what_is_wrong_is_told_first_and_the_card_is_shared_as_a_person_wants(
    visit: Callable[..., Visit], ollama: OllamaStandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ollama.vram = 6 * GB
    for module in (inspector, sharing):
        monkeypatch.setattr(module, "graphics_cards", lambda: (Card("RTX 4060", 8 * GB, 0, "580.65"),))
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "pumps.md").write_text("# Pumps\n\nThe feed pump runs at 12 bar.\n", encoding="utf-8")
    here = visit(embedder="ollama:bge-m3", llm="ollama:qwen3:8b")
    page, library = here.page, here.engine.default_library()
    chat = here.engine.inspector.models.chat()[0]
    assert chat is not None
    chat.load()
    for _ in here.engine.sync(library, tmp_path / "notes"):
        pass

    page.get_by_role("tab", name="Diagnostics").click()
    page.get_by_role("tab", name="This machine").click()
    problems = page.locator("#health .fn-notice + .fn-health")
    problems.wait_for()
    assert "spilled from the card" in problems.inner_text()
    assert "FOOTNOTE_CONTEXT_TOKENS=4096" in problems.inner_text()
    assert "RTX 4060" in page.locator("#health").inner_text()
    assert "Ollama 0.35.0" in page.locator("#health").inner_text()
    assert "They take turns on the card." in page.locator("#sharing").inner_text()

    page.click("#measure-embedding")
    page.locator("#health", has_text=re.compile(r"\d chunks/s on ollama")).wait_for()

    page.get_by_label("both stay on the card").click()
    page.locator("#sharing", has_text="Both models stay on the card.").wait_for()
    here.open()
    page.get_by_role("tab", name="Diagnostics").click()
    page.get_by_role("tab", name="This machine").click()
    page.locator("#sharing", has_text="Both models stay on the card.").wait_for()
    assert page.get_by_label("both stay on the card").is_checked()
