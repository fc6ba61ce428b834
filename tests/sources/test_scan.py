from __future__ import annotations

import hashlib
import os
import sys
import time
from pathlib import Path

import pytest

from rag.errors import SourceError
from rag.sources.scan import scan, sha256


def touch(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("words")


def test_files_come_in_natural_order_with_their_size_and_time(tmp_path: Path):
    touch(tmp_path, "note 10.md", "note 2.md", "b/x.txt", "A.PDF")
    found = scan(tmp_path).files
    assert [file.path for file in found] == ["A.PDF", "b/x.txt", "note 2.md", "note 10.md"]
    assert found[1].absolute == tmp_path / "b" / "x.txt"
    assert found[1].size == 5
    assert found[1].mtime_ns == (tmp_path / "b/x.txt").stat().st_mtime_ns


def test_everything_else_is_listed_with_its_reason(tmp_path: Path):
    touch(tmp_path, "a.md", ".git/config", "sub/.hidden.md", "node_modules/p/readme.md", "x.xyz", "Makefile")
    touch(tmp_path, "env/pyvenv.cfg", "env/lib/a.txt", "sub/cache/CACHEDIR.TAG", "sub/cache/b.md")
    result = scan(tmp_path)
    assert [file.path for file in result.files] == ["a.md"]
    assert dict(result.skipped) == {
        ".git": "a hidden folder",
        "env": "a Python environment",
        "Makefile": "no reader for files without an ending",
        "node_modules": "a folder of installed packages",
        "sub/.hidden.md": "a hidden file",
        "sub/cache": "a cache folder",
        "x.xyz": "no reader for .xyz",
    }


def test_an_empty_file_is_kept_so_that_the_reader_reports_it(tmp_path: Path):
    (tmp_path / "empty.txt").touch()
    assert [(file.path, file.size) for file in scan(tmp_path).files] == [("empty.txt", 0)]


def test_links_are_not_followed(tmp_path: Path):
    root = tmp_path / "notes"
    touch(root, "a.md", "sub/b.md")
    touch(tmp_path, "outside/secret.md")
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "secret.md").symlink_to(tmp_path / "outside/secret.md")
    (root / "sub" / "loop").symlink_to(root)
    (root / "self.md").symlink_to(root / "self.md")
    (root / "copy.md").symlink_to(root / "a.md")
    result = scan(root)
    assert [file.path for file in result.files] == ["a.md", "sub/b.md"]
    assert dict(result.skipped) == {
        "copy.md": "a link to a.md, which is read in its own place",
        "out": "a link that leads out of the folder",
        "secret.md": "a link that leads out of the folder",
        "self.md": "a link that leads nowhere",
        "sub/loop": "a link to the folder itself",
    }


def test_a_root_behind_a_link_is_scanned_under_the_name_that_was_given(tmp_path: Path):
    touch(tmp_path, "real/a.md")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert scan(tmp_path / "link").files[0].absolute == tmp_path / "link" / "a.md"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_a_name_that_is_not_utf8_is_skipped(tmp_path: Path):
    with open(os.fsencode(tmp_path) + b"/caf\xe9.txt", "w"):  # noqa: PTH123
        pass
    touch(tmp_path, "ok.txt")
    result = scan(tmp_path)
    assert [file.path for file in result.files] == ["ok.txt"]
    assert result.skipped == (("caf\N{REPLACEMENT CHARACTER}.txt", "its name is not valid UTF-8"),)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_what_is_no_regular_file_is_skipped(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe.txt")
    assert scan(tmp_path).skipped == (("pipe.txt", "not a regular file"),)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="permissions do not hold root back")
def test_an_unreadable_folder_is_one_line(tmp_path: Path):
    touch(tmp_path, "closed/a.md", "b.md")
    (tmp_path / "closed").chmod(0)
    try:
        result = scan(tmp_path)
    finally:
        (tmp_path / "closed").chmod(0o700)
    assert [file.path for file in result.files] == ["b.md"]
    assert result.skipped == (("closed", "the folder cannot be read: Permission denied"),)


def test_a_root_that_is_missing_or_a_file_says_so(tmp_path: Path):
    touch(tmp_path, "a.md")
    with pytest.raises(SourceError, match="There is no folder"):
        scan(tmp_path / "nowhere")
    with pytest.raises(SourceError, match="is a file, not a folder"):
        scan(tmp_path / "a.md")


def test_a_thousand_files_are_quick(tmp_path: Path):
    for number in range(1000):
        touch(tmp_path, f"{number % 20}/{number}.md")
    started = time.perf_counter()
    assert len(scan(tmp_path).files) == 1000
    assert time.perf_counter() - started < 0.5


def test_sha256_is_that_of_the_bytes(tmp_path: Path):
    (tmp_path / "a").write_bytes(b"x" * 300_000)
    assert sha256(tmp_path / "a") == hashlib.sha256(b"x" * 300_000).hexdigest()
    with pytest.raises(SourceError, match="cannot be read: No such file"):
        sha256(tmp_path / "b")
