from __future__ import annotations

import hashlib
import os
import socket
import sys
import time
from pathlib import Path

import pytest

from rag.errors import SourceError
from rag.sources.scan import EVERYTHING, Choice, scan, sha256


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
    status = (tmp_path / "b/x.txt").stat()
    assert (found[1].mtime_ns, found[1].inode) == (status.st_mtime_ns, status.st_ino)


def test_everything_else_is_listed_with_its_reason(tmp_path: Path):
    touch(tmp_path, "a.md", ".git/config", "sub/.hidden.md", "node_modules/p/readme.md", "x.xyz", "some thing")
    touch(tmp_path, "env/pyvenv.cfg", "env/lib/a.txt", "sub/cache/CACHEDIR.TAG", "sub/cache/b.md", "~$a.md")
    result = scan(tmp_path)
    assert [file.path for file in result.files] == ["a.md"]
    assert dict(result.skipped) == {
        ".git": "hidden",
        "some thing": "no reader for files without an ending",
        "env": "a Python environment",
        "node_modules": "a folder of installed packages",
        "sub/.hidden.md": "hidden",
        "sub/cache": "a cache folder",
        "x.xyz": "no reader for .xyz",
        "~$a.md": "a note of an office program that a document is open",
    }


def test_a_build_folder_is_one_where_it_lies_beside_what_builds(tmp_path: Path):
    touch(tmp_path, "build/a.md", "site/build/b.md", "site/package.json", "crate/target/c.md", "crate/Cargo.toml")
    result = scan(tmp_path)
    assert {file.path for file in result.files} == {"build/a.md", "site/package.json", "crate/Cargo.toml"}
    assert dict(result.skipped)["site/build"] == "a build folder, since it lies beside package.json"
    assert dict(result.skipped)["crate/target"] == "a build folder, since it lies beside Cargo.toml"


def paths(root: Path, choice: Choice = EVERYTHING) -> list[str]:
    return [file.path for file in scan(root, choice).files]


def test_patterns_choose_and_the_line_says_which_one_and_from_where(tmp_path: Path):
    touch(tmp_path, "a.md", "b.txt", "drafts/c.md", "drafts/keep.md", "old/d.md")
    chosen = Choice(include=("*.md",), exclude=("drafts/*", "!keep.md", "/old/"))
    result = scan(tmp_path, chosen)
    assert [file.path for file in result.files] == ["a.md", "drafts/keep.md"]
    assert dict(result.skipped) == {
        "b.txt": "it matches no pattern of what to read",
        "drafts/c.md": "left out by “drafts/*” in the library's settings",
        "old": "left out by “/old/” in the library's settings",
    }
    assert paths(tmp_path, Choice(include=("drafts/",))) == ["drafts/c.md", "drafts/keep.md"]


def test_an_ignore_file_is_about_its_own_folder_and_the_inner_one_is_stronger(tmp_path: Path):
    touch(tmp_path, "a.md", "b/a.md", "b/c/a.md", "b/c/x.md", "b/notes.md", "notes.md")
    (tmp_path / ".footnoteignore").write_text("# mine\n\nnotes.md\n", encoding="utf-8")
    (tmp_path / "b" / ".footnoteignore").write_bytes(b"\xef\xbb\xbf/a.md\r\n!notes.md\r\n")
    result = scan(tmp_path)
    assert [file.path for file in result.files] == ["a.md", "b/c/a.md", "b/c/x.md", "b/notes.md"]
    assert dict(result.skipped) == {
        ".footnoteignore": "Footnote's list of what to leave out",
        "b/.footnoteignore": "Footnote's list of what to leave out",
        "b/a.md": "left out by “/a.md” in b/.footnoteignore",
        "notes.md": "left out by “notes.md” in .footnoteignore",
    }


def test_an_exclamation_mark_takes_back_what_weaker_words_leave_out(tmp_path: Path):
    touch(tmp_path, ".obsidian/a.md", ".obsidian/.trash/b.md", "env/pyvenv.cfg", "env/c.md", "build/d.md", "setup.py")
    touch(tmp_path, "node_modules/p/readme.md")
    (tmp_path / ".footnoteignore").write_text("*.md\n", encoding="utf-8")
    assert paths(tmp_path, Choice(exclude=("!*.md",))) == ["setup.py"]
    taken_back = ("!*.md", "!.obsidian/", "!env", "!build/", "!node_modules/p/")
    assert paths(tmp_path, Choice(exclude=taken_back)) == [
        ".obsidian/a.md", "build/d.md", "env/c.md", "env/pyvenv.cfg", "setup.py",
    ]  # fmt: skip


def test_patterns_that_cannot_be_understood_stop_the_scan(tmp_path: Path):
    touch(tmp_path, "a/b.md")
    with pytest.raises(SourceError, match="“\\[z-a\\]” in the library's settings is not a pattern"):
        scan(tmp_path, Choice(exclude=("*.log", "[z-a]")))
    (tmp_path / "a" / ".footnoteignore").write_text("!\n", encoding="utf-8")
    with pytest.raises(SourceError, match=r"“!” in a/\.footnoteignore is not a pattern"):
        scan(tmp_path)


def test_images_are_read_when_their_text_is_recognised(tmp_path: Path):
    touch(tmp_path, "a.png")
    assert scan(tmp_path).skipped == (("a.png", "an image; it is read when text recognition (OCR) is on"),)
    assert paths(tmp_path, Choice(ocr=True)) == ["a.png"]


def test_a_file_above_the_limit_is_left_out(tmp_path: Path):
    (tmp_path / "large.txt").write_bytes(b"x" * (2**20 + 1))
    (tmp_path / "small.txt").write_bytes(b"x" * 2**20)
    result = scan(tmp_path, Choice(max_bytes=2**20))
    assert [file.path for file in result.files] == ["small.txt"]
    assert result.skipped == (("large.txt", "larger than 1 MiB"),)


def test_many_files_left_out_for_one_reason_are_one_line(tmp_path: Path):
    touch(tmp_path, *(f"few/{number}.xyz" for number in range(3)))
    touch(tmp_path, *(f"many/{number}.xyz" for number in range(1234)), "many/1.abc", "many/read.md")
    assert dict(scan(tmp_path).skipped) == {
        "few/0.xyz": "no reader for .xyz",
        "few/1.xyz": "no reader for .xyz",
        "few/2.xyz": "no reader for .xyz",
        "many/": "1,234 files: no reader for .xyz",
        "many/1.abc": "no reader for .abc",
    }


def test_many_folders_with_such_files_are_one_line(tmp_path: Path):
    touch(tmp_path, *(f"a/b/{number}/{name}.xyz" for number in range(60) for name in "xy"), "c.md")
    assert scan(tmp_path).skipped == (("a/b/", "120 files in 60 folders: no reader for .xyz"),)
    touch(tmp_path, "root.xyz")
    assert scan(tmp_path).skipped == (("./", "121 files in 61 folders: no reader for .xyz"),)


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
    (root / "gone.md").symlink_to(root / "nowhere.md")
    (root / "copy.md").symlink_to(root / "a.md")
    result = scan(root)
    assert [file.path for file in result.files] == ["a.md", "sub/b.md"]
    assert dict(result.skipped) == {
        "copy.md": "a link to a.md, which has its own place",
        "gone.md": "a link that leads nowhere",
        "out": "a link that leads out of the folder",
        "secret.md": "a link that leads out of the folder",
        "self.md": "a link that leads in a circle",
        "sub/loop": "a link to the folder itself",
    }


def test_many_links_are_one_line(tmp_path: Path):
    for number in range(30):
        touch(tmp_path, f"store/{number}.md")
        (tmp_path / f"{number}.md").symlink_to(tmp_path / "store" / f"{number}.md")
    assert scan(tmp_path).skipped == (("./", "30 files: a link to what has its own place"),)


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
    assert result.skipped == (
        ("caf\N{REPLACEMENT CHARACTER}.txt", "its name is not valid UTF-8; it is read once it is renamed"),
    )


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_what_is_no_regular_file_is_skipped(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe.txt")
    with socket.socket(socket.AF_UNIX) as opened:
        opened.bind(os.path.relpath(tmp_path / "socket.md"))  # an absolute one may be too long for a socket
    assert dict(scan(tmp_path).skipped) == {"pipe.txt": "a named pipe", "socket.md": "a socket"}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_for_an_ignore_file_does_not_hang_the_scan(tmp_path: Path):
    os.mkfifo(tmp_path / ".footnoteignore")
    with pytest.raises(SourceError, match="is not a regular file"):
        scan(tmp_path)


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


def test_comments_alone_choose_nothing(tmp_path: Path):
    touch(tmp_path, "a.md", "b.txt")
    assert paths(tmp_path, Choice(include=("# only notes", "  "))) == ["a.md", "b.txt"]
    assert paths(tmp_path, Choice(include=("# only notes", "*.md"))) == ["a.md"]


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
