"""Small values that tests are made of, and where the public test material lies."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rag.types import Chunk, Hit, Page, Section, SourceDocument, SourceFile, Span

SHARED = Path(__file__).parents[2] / "shared" / "data"


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


def missing(what: str) -> None:
    """Skips a test for want of something that a machine need not have; fails where CI requires everything."""
    if os.environ.get("FOOTNOTE_REQUIRE_EVERYTHING"):
        pytest.fail(f"{what}, and nothing may be missing here")
    pytest.skip(what)
