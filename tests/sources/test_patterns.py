from __future__ import annotations

import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from rag.errors import SourceError
from rag.sources.patterns import Patterns, read_ignore_file


def test_the_last_pattern_that_matches_decides_and_is_named():
    patterns = Patterns(["*.log", "!keep.log", "# a comment", "", "drafts/"], "settings")
    assert patterns.verdict("a/b.log") == (True, "*.log")
    assert patterns.verdict("a/keep.log") == (False, "!keep.log")
    assert patterns.verdict("a/drafts/") == (True, "drafts/")
    assert patterns.verdict("a/drafts") is None
    assert patterns.verdict("# a comment") is None


def test_a_verdict_is_about_the_path_and_not_about_a_folder_above():
    patterns = Patterns(["drafts/", "!kept/"], "settings")
    assert patterns.verdict("drafts/a.md") is None
    assert patterns.verdict("kept/drafts/") == (True, "drafts/")
    assert patterns.cover("drafts/a.md")


def test_patterns_are_about_the_folder_that_they_lie_in():
    patterns = Patterns(["/a.md", "b/c.md"], "x/.footnoteignore", base="x/")
    assert patterns.verdict("x/a.md") == (True, "/a.md")
    assert patterns.verdict("x/y/a.md") is None
    assert patterns.verdict("x/b/c.md") == (True, "b/c.md")


@pytest.mark.parametrize("line", ["!", "/", "a\\", "[abc", "[z-a]", "[x[:alpha:]]", "a\nb"])
def test_what_is_no_pattern_is_named_with_its_place(line: str):
    with pytest.raises(SourceError, match="in the settings is not a pattern") as caught:
        Patterns(["*.md", line], "the settings")
    assert line.strip() in caught.value.message
    assert "gitignore" in caught.value.hint


def test_an_ignore_file_that_cannot_be_trusted_is_refused(tmp_path: Path):
    file = tmp_path / ".footnoteignore"
    file.write_bytes("*.löß\n".encode("utf-16"))
    with pytest.raises(SourceError, match=r"x/\.footnoteignore is not UTF-8 text"):
        read_ignore_file(file, "x/")
    file.write_bytes(b"a\n" * 2**20)
    with pytest.raises(SourceError, match="longer than any list"):
        read_ignore_file(file, "")
    file.unlink()
    file.mkdir()
    with pytest.raises(SourceError, match="not a regular file"):
        read_ignore_file(file, "")


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git to compare with")
def test_they_mean_what_they_mean_to_git(tmp_path: Path):
    seed = int(os.environ.get("FOOTNOTE_SEED_FOR_TESTS", random.randrange(10**6)))
    print("seed", seed)
    chance = random.Random(seed)
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    pieces = ["a", "b", "foo", "*.md", "*.log", "build", "*", "**", "?", "[ab]", "[!a]", "x.*", "a b", "fo*", "\\*"]
    names = ["a", "b", "foo", "x.md", "y.log", "build", "a b", "*"]
    for _ in range(40):
        lines = [_some_pattern(chance, pieces) for _ in range(chance.randint(1, 4))]
        paths = {"/".join(chance.choices(names, k=chance.randint(1, 4))) for _ in range(20)}
        (tmp_path / ".gitignore").write_text("\n".join(lines), encoding="utf-8")
        asked = subprocess.run(
            ["git", "check-ignore", "--no-index", "--stdin", "-z"],
            input="\0".join(paths), capture_output=True, text=True, cwd=tmp_path, check=False,
        )  # fmt: skip
        patterns = Patterns(lines, "the test")
        assert {path for path in paths if _left_out(path, patterns)} == set(filter(None, asked.stdout.split("\0"))), (
            lines
        )


def _some_pattern(chance: random.Random, pieces: list[str]) -> str:
    parts = chance.choices(pieces, k=chance.randint(1, 3))
    end = chance.choice(["", "", "/"])
    return chance.choice(["", "", "!"]) + chance.choice(["", "", "/"]) + "/".join(parts) + end


def _left_out(path: str, patterns: Patterns) -> bool:
    """As a walk from the top asks; the path is that of a file."""
    parts = path.split("/")
    asked = ["/".join(parts[:depth]) + "/" for depth in range(1, len(parts))] + [path]
    return any(verdict[0] for verdict in map(patterns.verdict, asked) if verdict)
