"""Processes that read files, so that a file which hangs or crashes its reader takes nothing else down.

They are plain child processes with a pipe each way rather than ``multiprocessing`` or ``ProcessPoolExecutor``: these
run the parent's main module again in each child, and a pool of the latter breaks when one of its processes dies.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Self, TypeVar

import rag
from rag.errors import SourceError
from rag.sources.pdf.reader import page_image
from rag.sources.readers import read
from rag.types import ReadOptions, SourceDocument, SourceFile

T = TypeVar("T")

_RECOGNITION = 20  # times as long may a file take whose pages are recognised: seconds a page, not milliseconds
_PATIENT = 10
"""Niceness of readers: they fill the gaps of an embedder that has every core busy, and nothing is read later for it."""
_AHEAD_BYTES = 8 * 2**20
_AHEAD_FILES = 32
_START_TIMEOUT = 60.0  # seconds; a cold disk and a virus scanner together

# Ctrl-C in the terminal is for the parent alone, which then ends its children.
_OWN_GROUP: dict[str, Any]
if sys.platform == "win32":
    _OWN_GROUP = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
else:
    _OWN_GROUP = {"process_group": 0}


def usual_readers() -> int:
    """How many processes read files where nobody says: each takes a second of a core to start, and on a CPU embedding
    takes ten times as long as reading."""
    return max(1, min(4, (os.cpu_count() or 2) // 2))


class ReaderPool:
    """Reads files in processes of their own, which start with the first file.

    Args:
        workers: How many files are read at once.
        timeout: Seconds after which one file, or one page's picture, is given up; twenty times that where text is
            recognised.
        memory: Bytes of address space that one process may use, where the system can limit it.
    """

    def __init__(self, workers: int, timeout: float, memory: int = 4 * 2**30) -> None:
        self._workers = workers
        self._timeout = timeout
        self._memory = memory
        self._lock = threading.Lock()
        self._crews: set[_Crew] = set()
        self._painter: _Crew | None = None
        self._closed = False

    def read_all(
        self, files: Iterable[tuple[SourceFile, ReadOptions]]
    ) -> Iterator[tuple[SourceFile, SourceDocument | SourceError]]:
        """Reads files, and yields each with its document or with the reason why there is none, in order.

        Files of a few megabytes together are read ahead, at least two a worker, so that the embedder finds its next
        slice ready, and memory stays flat. The processes end with the iterator, also when it is closed early.
        """
        with self._lock:
            if self._closed:
                return
            crew = self._hire(self._workers, _PATIENT)
        ahead: deque[tuple[SourceFile, Future[SourceDocument]]] = deque()
        size = 0
        try:
            for file, options in files:
                patience = self._timeout * (_RECOGNITION if options.ocr else 1)
                ahead.append((file, crew.submit(patience, read, file, options)))
                size += file.size
                while len(ahead) > 2 * self._workers and (size > _AHEAD_BYTES or len(ahead) > _AHEAD_FILES):
                    size -= ahead[0][0].size
                    yield _outcome(*ahead.popleft())
            while ahead:
                yield _outcome(*ahead.popleft())
        except CancelledError:
            return  # the pool was closed by another thread
        finally:
            self._dismiss(crew)

    def page_image(
        self, path: Path, page: int, passages: Sequence[str], zoom: float, passwords: tuple[str, ...] = ()
    ) -> bytes:
        """Runs :func:`rag.sources.pdf.reader.page_image` in a process of its own, which stays for the next picture.

        Raises:
            SourceError: As there, or the process hung or died.
        """
        with self._lock:
            if self._closed:
                raise SourceError("The page was not drawn, because Footnote is closing.")
            if self._painter is None:
                self._painter = self._hire(1)
            painter = self._painter
        try:
            return painter.submit(self._timeout, page_image, path, page, tuple(passages), zoom, passwords).result()
        except CancelledError as error:
            raise SourceError("The page was not drawn, because Footnote is closing.") from error

    def close(self) -> None:
        """Ends all processes at once, whatever they are doing; calling it twice is harmless."""
        with self._lock:
            crews = tuple(self._crews)
            self._painter = None
            self._closed = True
        for crew in crews:
            self._dismiss(crew)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _hire(self, size: int, niceness: int = 0) -> _Crew:
        crew = _Crew(size, self._memory, niceness)
        self._crews.add(crew)
        return crew

    def _dismiss(self, crew: _Crew) -> None:
        crew.close()
        with self._lock:
            self._crews.discard(crew)


def _outcome(file: SourceFile, future: Future[SourceDocument]) -> tuple[SourceFile, SourceDocument | SourceError]:
    try:
        return file, future.result()
    except SourceError as error:
        return file, error


class _Crew:
    """A few processes, each led by a thread that waits for its answer."""

    def __init__(self, size: int, memory: int, niceness: int) -> None:
        self._memory = memory
        self._niceness = niceness
        self._threads = ThreadPoolExecutor(size, thread_name_prefix="reader")
        self._lock = threading.Lock()
        self._processes: set[_Process] = set()
        self._idle: list[_Process] = []
        self._closed = False

    def submit(self, timeout: float, function: Callable[..., T], *arguments: Any) -> Future[T]:
        """Has a function of a module run in one of the processes, for ``timeout`` seconds at most.

        The future raises what the function raised, if that is a :class:`SourceError`, else one that says how the
        process ended; :meth:`close` cancels it.

        Raises:
            CancelledError: The crew is closed.
        """
        try:
            return self._threads.submit(self._run, timeout, function, arguments)
        except RuntimeError as error:
            raise CancelledError from error

    def close(self) -> None:
        with self._lock:
            self._closed = True
            processes = tuple(self._processes)
        for process in processes:
            process.kill()
        self._threads.shutdown(cancel_futures=True)

    def _run(self, timeout: float, function: Callable[..., T], arguments: tuple[Any, ...]) -> T:
        process = self._take()
        try:
            reply = process.ask(function, arguments, timeout)
        except SourceError:
            if self._closed:
                raise CancelledError from None
            raise
        finally:
            self._put_back(process)
        if isinstance(reply, SourceError):
            raise reply
        return reply

    def _take(self) -> _Process:
        with self._lock:
            if self._closed:
                raise CancelledError
            while self._idle:
                process = self._idle.pop()
                if process.alive:
                    return process
                self._processes.discard(process)
            try:
                process = _Process(self._memory, self._niceness)
            except OSError as error:
                raise SourceError(f"No process could be started to read the file: {error.strerror}.") from error
            self._processes.add(process)
            return process

    def _put_back(self, process: _Process) -> None:
        with self._lock:
            if process.alive and not self._closed:
                self._idle.append(process)
                return
            self._processes.discard(process)
        process.kill()


class _Process:
    """One child process; it reads requests on its standard input and replies on its standard output."""

    def __init__(self, memory: int, niceness: int) -> None:
        # -P and PYTHONPATH: the child finds this package wherever Python was started, and nothing in that folder.
        self._child = subprocess.Popen(
            [sys.executable, "-P", "-c", f"from rag.sources.workers import serve; serve({memory}, {niceness})"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": _python_path()},
            **_OWN_GROUP,
        )
        self._ready = False
        self._expired = False

    @property
    def alive(self) -> bool:
        """Whether it can take another request."""
        return not self._expired and self._child.poll() is None

    def ask(self, function: Callable[..., T], arguments: tuple[Any, ...], timeout: float) -> T | SourceError:
        """Runs the function in the child, and kills the child when that takes longer than ``timeout`` seconds.

        Raises:
            SourceError: The child hung or died.
        """
        if not self._ready:
            self._exchange(None, _START_TIMEOUT)
            self._ready = True
        reply: T | SourceError = self._exchange((function, arguments, timeout), timeout)
        return reply

    def kill(self) -> None:
        self._child.kill()
        self._child.wait()
        for pipe in (self._child.stdin, self._child.stdout):
            # A request that was not yet read stays in the pipe's buffer, and closing tries to send it to the dead.
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()

    def _exchange(self, request: object, timeout: float) -> Any:
        requests, replies = self._child.stdin, self._child.stdout
        assert requests is not None  # both are pipes
        assert replies is not None
        timer = threading.Timer(timeout, self._expire)
        timer.start()
        try:
            pickle.dump(request, requests)
            requests.flush()
            return pickle.load(replies)
        except (EOFError, OSError, ValueError, pickle.UnpicklingError) as error:  # ValueError: killed, pipe closed
            self._child.kill()
            raise SourceError(*self._how_it_ended(timeout)) from error
        finally:
            timer.cancel()

    def _expire(self) -> None:
        self._expired = True
        self._child.kill()

    def _how_it_ended(self, timeout: float) -> tuple[str, str]:
        code = self._child.wait()
        if self._expired:
            return f"Reading took longer than {timeout:g} seconds.", "Raise FOOTNOTE_READ_TIMEOUT if the file is large."
        how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return f"The file crashed its reader ({how}).", "Other files are not affected; the terminal may tell more."


def _python_path() -> str:
    home = str(Path(rag.__file__).resolve().parent.parent)
    return os.pathsep.join(filter(None, (home, os.environ.get("PYTHONPATH"))))


def serve(memory: int, niceness: int) -> None:
    """The child's side: answers requests until the parent closes the pipe or dies."""
    if sys.platform != "win32":
        os.nice(niceness)
    incoming, outgoing = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # What a library prints must not end up between the replies.
    os.dup2(2, 1)
    nowhere = Path(os.devnull).open("w")  # noqa: SIM115  # open as long as the process runs
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    _limit_memory(memory)
    requests: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(incoming, requests), daemon=True).start()
    while True:
        request = requests.get()
        reply: Any = None
        if request is not None:
            function, arguments, timeout = request
            # The parent kills a child that hangs; this is for when the parent was killed first.
            faulthandler.dump_traceback_later(timeout + 5, exit=True, file=nowhere)
            try:
                reply = function(*arguments)
            except SourceError as error:
                reply = error
            except MemoryError:
                reply = SourceError(
                    "The file is too large to be read in the memory that one reader may use.",
                    "Raise FOOTNOTE_READ_MEMORY_MB if there is more.",
                )
            except Exception as error:  # noqa: BLE001
                # Nobody can foresee every way in which a file is damaged; the next one is read all the same.
                traceback.print_exc()
                reply = SourceError(f"The file is damaged in a way that its reader did not expect ({error!r}).")
            faulthandler.cancel_dump_traceback_later()
        pickle.dump(reply, outgoing)
        outgoing.flush()


def _receive(incoming: Any, requests: queue.SimpleQueue[Any]) -> None:
    """Hands requests on, and ends the process with the pipe, even in the middle of a file."""
    try:
        while True:
            requests.put(pickle.load(incoming))
    except (EOFError, OSError):
        os._exit(0)


def _limit_memory(limit: int) -> None:
    """Makes a file that unpacks to more than there is fail alone, before the system kills whom it likes."""
    if sys.platform != "win32":
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
