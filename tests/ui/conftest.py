"""A page in a real browser."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fakes.ollama_server import OllamaStandIn
from material import missing

from rag.engine import Engine
from rag.settings import Settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium; without it the test is skipped, but not in CI."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        missing("there is no Chromium on this machine")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield opened
        opened.close()


_REST = """() => new Promise((done) => {
    const quiet = () => { seen.disconnect(); done(); };
    let waiting = setTimeout(quiet, 300);
    const seen = new MutationObserver(() => { clearTimeout(waiting); waiting = setTimeout(quiet, 300); });
    seen.observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
    setTimeout(quiet, 5000);
})"""


@dataclass
class Visit:
    """A page open in the browser.

    Attributes:
        page: The page.
        address: Where it is.
        engine: The engine behind it.
        uploads: Where uploads land before they are kept.
        problems: Errors of the page's scripts, and requests to any other address.
    """

    page: Page
    address: str
    engine: Engine
    uploads: Path
    problems: list[str]

    def open(self) -> None:
        """Loads the page, or loads it again, and waits until it has been filled."""
        self.page.goto(self.address)
        self.page.wait_for_selector(".fn-fact")
        self.rest()

    def rest(self) -> None:
        """Waits until nothing on the page has changed for a while.

        What a tab or a box holds Gradio draws once more a frame after opening it, as the server knows it: what was
        typed between is gone. No person types so fast.
        """
        self.page.evaluate(_REST)

    def fill(self, field: Locator | str, text: str) -> None:
        """Types into a field, once the page is at rest."""
        found = self.page.locator(field) if isinstance(field, str) else field
        found.wait_for()
        self.rest()
        found.fill(text)


@pytest.fixture
def visit(browser: Browser, settings: Settings, ollama: OllamaStandIn) -> Iterator[Callable[..., Visit]]:
    """Serves a page and opens it; afterwards the page must have had no script error and asked no other address."""
    from rag.ui.launch import PageServer

    closing: list[Callable[[], object]] = []
    visits: list[Visit] = []

    def start(width: int = 1280, height: int = 900, **changed: object) -> Visit:
        engine = Engine(settings.model_copy(update={"port": 0, "ollama_url": ollama.url, **changed}))
        closing.append(engine.close)
        server = PageServer(engine)
        closing.append(server.close)
        context = browser.new_context(viewport={"width": width, "height": height}, accept_downloads=True)
        closing.append(context.close)
        page = context.new_page()
        page.set_default_timeout(30_000)
        opened = Visit(page, server.address, engine, settings.home / "uploads", [])
        page.on("pageerror", lambda error: opened.problems.append(f"script error: {error}"))
        page.on(
            "request",
            lambda request: (
                None
                if request.url.startswith((server.address, "data:", "blob:"))
                else opened.problems.append(f"asked {request.url}")
            ),
        )
        visits.append(opened)
        opened.open()
        return opened

    yield start
    for close in reversed(closing):
        close()
    assert [problem for opened in visits for problem in opened.problems] == []
