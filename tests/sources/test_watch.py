from __future__ import annotations

import logging
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rag.errors import SourceError
from rag.sources.watch import Watcher

QUIET = 0.3


class Bell:
    """Counts how often it was rung."""

    def __init__(self) -> None:
        self.rung: list[float] = []

    def __call__(self) -> None:
        self.rung.append(time.monotonic())

    def wait_for(self, times: int, seconds: float = 8.0) -> None:
        wait_until(lambda: len(self.rung) >= times, seconds)
        assert len(self.rung) == times


def wait_until(true: Callable[[], bool], seconds: float = 8.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


@contextmanager
def watching(*roots: Path, bell: Callable[[], None], quiet: float = QUIET) -> Iterator[Watcher]:
    watcher = Watcher(roots, bell, quiet)
    try:
        assert watcher.ready.wait(10)
        yield watcher
    finally:
        watcher.close()


def test_many_changes_are_told_once_after_they_have_come_to_rest(tmp_path: Path):
    bell = Bell()
    (tmp_path / "sub").mkdir()
    with watching(tmp_path, bell=bell):
        for number in range(10):
            (tmp_path / "sub" / f"{number}.md").write_text("words")
            time.sleep(0.05)
        written = time.monotonic()
        bell.wait_for(1)
        assert bell.rung[0] - written > QUIET * 0.5
        (tmp_path / "sub" / "3.md").unlink()
        bell.wait_for(2)
        time.sleep(QUIET * 2)
        assert len(bell.rung) == 2


def test_a_new_folder_is_watched_too(tmp_path: Path):
    bell = Bell()
    with watching(tmp_path, bell=bell):
        (tmp_path / "a" / "b").mkdir(parents=True)
        bell.wait_for(1)
        (tmp_path / "a" / "b" / "c.md").write_text("words")
        bell.wait_for(2)


def test_hidden_files_and_folders_are_not_told_of_but_the_ignore_file_is(tmp_path: Path):
    bell = Bell()
    (tmp_path / ".git").mkdir()
    (tmp_path / "node_modules").mkdir()
    with watching(tmp_path, bell=bell):
        (tmp_path / ".git" / "index").write_text("words")
        (tmp_path / "node_modules" / "a.md").write_text("words")
        (tmp_path / ".a.md.swp").write_text("words")
        time.sleep(QUIET * 3)
        assert not bell.rung
        (tmp_path / ".footnoteignore").write_text("*.log")
        bell.wait_for(1)


def test_what_changes_in_a_pause_is_told_after_it(tmp_path: Path):
    bell = Bell()
    with watching(tmp_path, bell=bell) as watcher:
        watcher.pause()
        (tmp_path / "a.md").write_text("words")
        time.sleep(QUIET * 3)
        assert not bell.rung
        watcher.resume()
        bell.wait_for(1)


def test_a_folder_that_never_comes_to_rest_is_told_of_nevertheless(tmp_path: Path):
    bell = Bell()
    with watching(tmp_path, bell=bell, quiet=0.3):
        end = time.monotonic() + 5
        while not bell.rung and time.monotonic() < end:
            (tmp_path / "log.txt").write_text(str(time.monotonic()))
            time.sleep(0.05)
        assert bell.rung


def test_a_folder_that_vanishes_and_comes_back_is_watched_again(tmp_path: Path):
    bell = Bell()
    root, other = tmp_path / "notes", tmp_path / "other"
    root.mkdir()
    other.mkdir()
    with watching(root, other, bell=bell):
        shutil.rmtree(root)
        bell.wait_for(1)
        root.mkdir()
        wait_until(lambda: len(bell.rung) == 2)
        (root / "a.md").write_text("words")
        bell.wait_for(3)
        (other / "b.md").write_text("words")
        bell.wait_for(4)


def test_a_folder_that_is_not_there_yet_is_waited_for(tmp_path: Path):
    bell = Bell()
    with watching(tmp_path / "notes", bell=bell):
        time.sleep(QUIET)
        assert not bell.rung
        (tmp_path / "notes").mkdir()
        bell.wait_for(1)


def test_it_closes_at_once_and_leaves_no_thread(tmp_path: Path):
    before = set(threading.enumerate())
    watcher = Watcher([tmp_path], Bell(), QUIET)
    watcher.ready.wait(10)
    started = time.monotonic()
    watcher.close()
    assert time.monotonic() - started < 1
    assert set(threading.enumerate()) == before


def test_an_error_in_answer_to_a_change_is_logged_and_watching_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    calls = []

    def fail() -> None:
        calls.append(1)
        raise SourceError("The disk is full.")

    with caplog.at_level(logging.WARNING), watching(tmp_path, bell=fail):
        (tmp_path / "a.md").write_text("words")
        wait_until(lambda: len(calls) == 1)
        (tmp_path / "b.md").write_text("words")
        wait_until(lambda: len(calls) == 2)
    assert "The disk is full." in caplog.text


def test_what_the_system_does_not_tell_of_is_found_by_looking_through(tmp_path: Path):
    bell = Bell()
    (tmp_path / "a.md").write_text("words")
    watcher = Watcher([tmp_path], bell, QUIET, look_through=(0.5, 0.5))
    watcher.polling = True  # before it begins to watch, as it is where the system refuses to tell
    try:
        assert watcher.ready.wait(10)
        time.sleep(1)
        assert not bell.rung
        (tmp_path / "a.md").write_text("other words")
        bell.wait_for(1)
        (tmp_path / "a.md").unlink()
        bell.wait_for(2)
        time.sleep(1)
        assert len(bell.rung) == 2
    finally:
        watcher.close()


FEW_WATCHES = [
    "unshare",
    "--user",
    "--map-root-user",
    "sh",
    "-c",
    'echo 5 > /proc/sys/user/max_inotify_watches; exec "$0" "$@"',
]


def few_watches_can_be_had() -> bool:
    return bool(shutil.which("unshare")) and not subprocess.run([*FEW_WATCHES, "true"], capture_output=True).returncode


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux" or not few_watches_can_be_had(), reason="no limit to run into here")
@pytest.mark.parametrize("already_there", [True, False])
def test_more_folders_than_the_system_can_tell_of(tmp_path: Path, already_there: bool):
    code = f"""
import time
from pathlib import Path
from rag.sources.watch import Watcher
root, rung = Path({str(tmp_path)!r}), []
make = lambda: [(root / str(number)).mkdir() for number in range(20)]
if {already_there}:
    make()
watcher = Watcher([root], lambda: rung.append(1), 0.3, look_through=(1.0, 1.0))
watcher.ready.wait(10)
if not {already_there}:
    make()
    time.sleep(2)
for number in (0, 19):
    time.sleep(1)
    rung.clear()
    (root / str(number) / "a.md").write_text("words")
    end = time.monotonic() + 8
    while not rung and time.monotonic() < end:
        time.sleep(0.05)
    assert rung, number
watcher.close()
print(watcher.polling)
"""
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [*FEW_WATCHES, sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == str(already_there), done.stderr
