from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from rag.errors import SourceError
from rag.sources.scan import scan
from rag.sources.workers import _AHEAD_BYTES, _AHEAD_FILES, ReaderPool
from rag.types import DEFAULT_READING, ReadOptions, SourceDocument, SourceFile

MakeFile = Callable[[str, bytes], SourceFile]
ROOT = Path(__file__).parents[2]
posix = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")


def children() -> list[psutil.Process]:
    return [child for child in psutil.Process().children() if "rag.sources" in " ".join(child.cmdline())]


def plainly(files: Iterable[SourceFile]) -> Iterator[tuple[SourceFile, ReadOptions]]:
    return ((file, DEFAULT_READING) for file in files)


def wait_until(condition: Callable[[], bool], seconds: float = 10.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return condition()


@pytest.fixture(autouse=True)
def _no_process_is_left() -> Iterator[None]:
    before = children()
    yield
    assert [child for child in children() if child not in before] == []


@pytest.fixture
def hanging(tmp_path: Path) -> SourceFile:
    """A file that nobody can finish reading: a pipe that nothing is written to."""
    os.mkfifo(tmp_path / "hang.txt")
    return SourceFile(tmp_path, "hang.txt", 1, 1)


def test_documents_come_in_order(make_file: MakeFile):
    files = [make_file(f"{number}.md", f"# Note {number}\n".encode()) for number in range(20)]
    with ReaderPool(2, 30) as pool:
        assert children() == []
        results = list(pool.read_all(plainly(files)))
    assert [file for file, _ in results] == files
    assert [document.title for _, document in results if isinstance(document, SourceDocument)] == [
        f"Note {number}" for number in range(20)
    ]


def test_an_error_of_a_reader_arrives_with_its_hint(make_file: MakeFile):
    noise = b"".join(hashlib.sha256(bytes([number])).digest() for number in range(64))
    with ReaderPool(1, 30) as pool:
        errors = [result for _, result in pool.read_all(plainly([make_file("a.txt", b""), make_file("b.txt", noise)]))]
    assert all(isinstance(error, SourceError) for error in errors)
    assert [(error.message, error.hint) for error in errors if isinstance(error, SourceError)] == [
        ("The file is empty.", ""),
        (
            "The file is not text, or its encoding cannot be told.",
            "Save it as UTF-8 if it is text, or say what its encoding is.",
        ),
    ]


@posix
def test_a_file_that_hangs_is_given_up_alone(make_file: MakeFile, hanging: SourceFile):
    files = [make_file("a.txt", b"a"), hanging, make_file("b.txt", b"b"), make_file("c.txt", b"c")]
    with ReaderPool(1, 2.0) as pool:
        results = [document for _, document in pool.read_all(plainly(files))]
    assert isinstance(results[1], SourceError)
    assert results[1].message == "Reading took longer than 2 seconds."
    assert [document.text for document in results if isinstance(document, SourceDocument)] == ["a", "b", "c"]


@posix
def test_a_process_that_is_killed_loses_its_file_only(make_file: MakeFile, hanging: SourceFile):
    pool = ReaderPool(1, 30)
    killer = threading.Thread(target=lambda: wait_until(lambda: bool(children())) and _kill_when_opened(hanging))
    killer.start()
    results = [document for _, document in pool.read_all(plainly([hanging, make_file("a.txt", b"a")]))]
    killer.join()
    pool.close()
    assert isinstance(results[0], SourceError)
    assert "SIGSEGV" in results[0].message
    assert isinstance(results[1], SourceDocument)


def _kill_when_opened(hanging: SourceFile) -> None:
    time.sleep(1.0)
    for child in children():
        os.kill(child.pid, signal.SIGSEGV)


@pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process is not limited here")
def test_a_file_too_large_for_memory_is_an_error_of_its_own(make_file: MakeFile, tmp_path: Path):
    with (tmp_path / "huge.txt").open("wb") as stream:
        stream.truncate(5 * 2**30)  # sparse: takes no space on disk
    huge = SourceFile(tmp_path, "huge.txt", 5 * 2**30, 1)
    with ReaderPool(1, 30) as pool:
        results = [document for _, document in pool.read_all(plainly([huge, make_file("a.txt", b"a")]))]
    assert "too large" in str(results[0])
    assert isinstance(results[1], SourceDocument)


@pytest.mark.parametrize(("size", "most"), [(1, _AHEAD_FILES), (_AHEAD_BYTES // 2, 2 * 2)])
def test_look_ahead_is_bounded(make_file: MakeFile, size: int, most: int):
    taken: list[int] = []

    def endless() -> Iterator[SourceFile]:
        for number in range(1_000_000):
            taken.append(number)
            yield replace(make_file(f"{number}.txt", b"x"), size=size)

    with ReaderPool(2, 30) as pool:
        results = pool.read_all(plainly(endless()))
        for _ in range(10):
            next(results)
        assert most <= len(taken) - 10 <= most + 1
        results.close()  # type: ignore[attr-defined]
        assert children() == []


@posix
def test_closing_from_another_thread_ends_a_hanging_run(hanging: SourceFile):
    pool = ReaderPool(1, 60)
    threading.Timer(1.5, pool.close).start()
    started = time.monotonic()
    assert list(pool.read_all(plainly([hanging, hanging]))) == []
    assert time.monotonic() - started < 10


def test_closing_between_two_files_ends_the_run(make_file: MakeFile):
    files = [make_file(f"{number}.txt", b"x") for number in range(9)]
    pool = ReaderPool(1, 30)
    run = pool.read_all(plainly(files))
    next(run)
    pool.close()
    assert len(list(run)) <= 2  # what was read already
    pool.close()


def test_a_picture_is_made_beside_a_run(shared_data: Path, make_file: MakeFile):
    path = shared_data / "pdf/rotated/pdfjs__rotation.pdf"
    with ReaderPool(1, 30) as pool:
        run = pool.read_all(plainly([make_file("a.txt", b"a"), make_file("b.txt", b"b")]))
        next(run)
        assert pool.page_image(path, 1, ["second line"], 1.0).startswith(b"\x89PNG")
        assert isinstance(next(run)[1], SourceDocument)
        with pytest.raises(SourceError, match="has no page 9"):
            pool.page_image(path, 9, [], 1.0)


def test_a_damaged_collection_goes_through(shared_data: Path):
    files = scan(shared_data / "formats/broken-generated").files
    with ReaderPool(2, 30) as pool:
        results = dict(pool.read_all(plainly(files)))
    assert len(results) == len(files)
    assert sum(isinstance(result, SourceDocument) for result in results.values()) >= 5
    assert sum(isinstance(result, SourceError) for result in results.values()) >= 5


def run_python(code: str, *arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=60, cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(ROOT)}, check=False,
    )  # fmt: skip


def test_a_reader_imports_little():
    code = (
        "import sys, rag.sources.workers;"
        "print([m for m in ('gradio', 'chromadb', 'torch', 'langchain_core', 'numpy', 'pymupdf', 'pydantic')"
        " if m in sys.modules], [m for m in sys.modules if m.startswith('rag.') and m.count('.') == 1])"
    )
    result = run_python(code)
    assert result.stdout.split("] [")[0] == "["
    assert "rag.engine" not in result.stdout
    assert "rag.settings" not in result.stdout


def test_modules_in_the_working_folder_are_not_imported(tmp_path: Path):
    (tmp_path / "yaml.py").write_text("raise SystemExit('imported from the notes')")
    (tmp_path / "a.txt").write_text("a")
    code = (
        "import sys; sys.path.pop(0)\n"
        "from pathlib import Path\nfrom rag.sources.scan import scan\nfrom rag.sources.workers import ReaderPool\nfrom rag.types import DEFAULT_READING\n"
        "with ReaderPool(1, 30) as pool: print([d.text for _, d in pool.read_all((f, DEFAULT_READING) for f in scan(Path('.')).files if f.path == 'a.txt')])"
    )
    result = run_python(code, cwd=tmp_path)
    assert (result.stdout, result.stderr) == ("['a']\n", "")


MAIN = """
import os, sys, time
from pathlib import Path
from rag.sources.workers import ReaderPool
from rag.types import DEFAULT_READING, SourceFile
print("main", flush=True)
files = [SourceFile(Path(sys.argv[1]), name, 1, 1) for name in sys.argv[2:]]
with ReaderPool(1, 60) as pool:
    for file, document in pool.read_all((file, DEFAULT_READING) for file in files * 2):
        print(file.path, flush=True)
"""


@posix
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_readers_end_with_their_parent(tmp_path: Path, hanging: SourceFile, end: signal.Signals):
    script = tmp_path / "app.py"
    script.write_text(MAIN)
    (tmp_path / "a.txt").write_text("a")
    parent = subprocess.Popen(
        [sys.executable, str(script), str(tmp_path), "a.txt", hanging.path],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": str(ROOT)},
        process_group=0,
    )  # fmt: skip
    assert parent.stdout is not None
    assert parent.stdout.readline() == "main\n"
    assert wait_until(lambda: bool(psutil.Process(parent.pid).children()))
    readers = psutil.Process(parent.pid).children()
    assert parent.stdout.readline() == "a.txt\n"  # it hangs in the next file now
    os.killpg(parent.pid, end)
    out, err = parent.communicate(timeout=10)
    assert wait_until(lambda: not any(reader.is_running() for reader in readers))
    assert out == ""  # the main module was not run again by the reader
    assert err.count("Traceback") == (1 if end is signal.SIGINT else 0)  # the parent's own
