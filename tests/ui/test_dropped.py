from pathlib import Path

import pytest

from rag.errors import SourceError
from rag.ui import dropped


@pytest.fixture
def uploads(tmp_path: Path) -> Path:
    folder = tmp_path / "uploads"
    (folder / "hash").mkdir(parents=True)
    (folder / "hash" / "a.md").write_text("hello")
    return folder


def test_a_dropped_file_moves_to_its_place_and_leaves_nothing_behind(uploads: Path, tmp_path: Path) -> None:
    kept = dropped.keep(uploads / "hash" / "a.md", uploads, "sub/日本 ü.md", tmp_path / "kept")
    assert kept == tmp_path / "kept" / "sub" / "日本 ü.md"
    assert kept.read_text() == "hello"
    assert list(uploads.iterdir()) == []


@pytest.mark.parametrize("name", ["../a.md", "/etc/a.md", "a/../../b.md", "", "a\\..\\b.md", "a\x00b.md", ".."])
def test_names_that_lead_elsewhere_are_refused_and_the_upload_is_deleted(
    name: str, uploads: Path, tmp_path: Path
) -> None:
    with pytest.raises(SourceError):
        dropped.keep(uploads / "hash" / "a.md", uploads, name, tmp_path / "kept")
    assert not (uploads / "hash" / "a.md").exists()
    assert not (tmp_path / "kept").exists()


def test_only_uploads_are_moved(uploads: Path, tmp_path: Path) -> None:
    private = tmp_path / "private.md"
    private.write_text("mine")
    for path in (private, uploads / ".." / "private.md", uploads / "gone.md"):
        with pytest.raises(SourceError):
            dropped.keep(path, uploads, "a.md", tmp_path / "kept")
    assert private.read_text() == "mine"


def test_a_link_among_the_uploads_leads_nowhere(uploads: Path, tmp_path: Path) -> None:
    private = tmp_path / "private.md"
    private.write_text("mine")
    (uploads / "link.md").symlink_to(private)
    with pytest.raises(SourceError):
        dropped.keep(uploads / "link.md", uploads, "a.md", tmp_path / "kept")
    assert private.exists()


def test_forgetting_deletes_copies_only(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "a.md").write_text("copy")
    own = tmp_path / "own.md"
    own.write_text("mine")
    dropped.forget(folder, folder / "sub" / "a.md")
    dropped.forget(folder, own)
    assert own.exists()
    assert not (folder / "sub").exists()
