"""Where the shared test data lies, and how a test makes a file to read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rag.types import SourceDocument, SourceFile

DATA = Path(__file__).parents[3] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    if not DATA.is_dir():
        pytest.skip(f"the shared test data is not at {DATA}")
    return DATA


@pytest.fixture
def make_file(tmp_path: Path) -> Callable[[str, bytes], SourceFile]:
    def make(name: str, data: bytes) -> SourceFile:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        status = path.stat()
        return SourceFile(tmp_path, name, status.st_size, status.st_mtime_ns)

    return make


@pytest.fixture
def check_document() -> Callable[[SourceDocument], None]:
    """Checks what every document has to keep, whatever the reader."""

    def check(document: SourceDocument) -> None:
        assert document.title.strip()
        assert document.text.strip()
        assert len(document.sha256) == 64
        assert "\r" not in document.text
        assert "\0" not in document.text
        assert document.sections[0].span.start == 0
        assert document.sections[-1].span.end == len(document.text)
        for before, after in zip(document.sections, document.sections[1:], strict=False):
            assert before.span.end == after.span.start
            assert before.span.start < before.span.end
        for number, page in enumerate(document.pages, start=1):
            assert page.number == number
            assert 0 <= page.span.start <= page.span.end <= len(document.text)
        for before, after in zip(document.pages, document.pages[1:], strict=False):
            assert document.text[before.span.end : after.span.start] == "\n\n"

    return check
