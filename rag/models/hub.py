"""The model hub: what lies in its cache on this disk, and fetching from it when a person asks for that."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from threading import Event
from typing import Any

import httpx2  # what the hub's client speaks through: its errors are of this library

from rag.errors import DownloadFailed
from rag.types import PullProgress

SHORT_NAMES = {"bge-m3": "BAAI/bge-m3", "bge-reranker-v2-m3": "BAAI/bge-reranker-v2-m3"}
"""What the models that Footnote suggests are called on the hub."""

_PROBE_SECONDS = 3.0
_HUB_ERRORS = (httpx2.HTTPError, OSError, ValueError)
_WEIGHTS = ("*.safetensors", "pytorch_model*.bin")
# Left out of a repository: pictures, and the same weights for runtimes that are not used here.
_NOT_NEEDED = re.compile(r"(^|/)(onnx|openvino|imgs?|\.git[^/]*)(/|$)|\.(onnx|h5|msgpack|ot|gguf|jpe?g|png|gif)$")


def cached_model(name: str) -> Path | None:
    """The folder of a model's newest fetched version in the hub's cache, or None; asks no network.

    A version counts when its weights are there: a file gets its name in the cache only when it is whole.
    """
    from huggingface_hub import constants

    repository = Path(constants.HF_HUB_CACHE) / f"models--{name.replace('/', '--')}"
    reference = repository / "refs" / "main"
    if not reference.is_file():
        return None
    snapshot = repository / "snapshots" / reference.read_text().strip()
    whole = (snapshot / "config.json").exists() and any(
        path.exists() for pattern in _WEIGHTS for path in snapshot.glob(pattern)
    )
    return snapshot if whole else None


def pull_name(name: str) -> str:
    """What ``models pull`` takes to fetch the model of that name on the hub."""
    return next((short for short, full in SHORT_NAMES.items() if full == name), f"hf:{name}")


def fetch_model(name: str) -> Iterator[PullProgress]:
    """Fetches a sentence-transformers model into the hub's cache; goes on where an earlier try stopped.

    Raises:
        DownloadFailed: The hub does not answer or does not have the model, or the download broke off.
    """
    from huggingface_hub import HfApi

    yield PullProgress(f"Asking the model hub for {name}", 0, 0)
    _require_answer(name)
    try:
        with _online():
            listed = HfApi().model_info(name, files_metadata=True, timeout=30).siblings or []
    except _HUB_ERRORS as error:
        raise _failed(name, error) from error
    sizes = {file.rfilename: file.size or 0 for file in listed if not _NOT_NEEDED.search(file.rfilename)}
    if any(file.endswith(".safetensors") for file in sizes):
        sizes = {file: size for file, size in sizes.items() if not file.endswith(".bin")}
    # Weights last: their presence marks the model as whole.
    yield from _fetch(name, sorted(sizes, key=lambda file: sizes[file]), sum(sizes.values()), None)


def fetch_file(name: str, file: str, size: int, folder: Path) -> Iterator[PullProgress]:
    """Fetches one file of ``size`` bytes into a folder; goes on where an earlier try stopped.

    Raises:
        DownloadFailed: The hub does not answer or does not have the file, or the download broke off.
    """
    yield PullProgress("Asking the model hub", 0, size)
    _require_answer(name)
    yield from _fetch(name, [file], size, folder)


def _require_answer(name: str) -> None:
    """One short question: the library's own would be retried for over a minute where there is no hub."""
    from huggingface_hub import constants

    try:
        httpx2.head(f"{constants.ENDPOINT}/api/models/{name}", timeout=_PROBE_SECONDS)
    except httpx2.HTTPError as error:
        raise _failed(name, error) from error


def _fetch(name: str, files: list[str], total: int, folder: Path | None) -> Iterator[PullProgress]:
    """Downloads in a thread, since the library reports by calling back; closing the iterator stops it."""
    from huggingface_hub import hf_hub_download
    from tqdm.auto import tqdm

    news: SimpleQueue[int | None] = SimpleQueue()
    stopped = Event()

    class Bar(tqdm):  # type: ignore[type-arg]
        """Hands on what the library would draw."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            kwargs["disable"] = True
            super().__init__(*args, **kwargs)
            news.put(int(kwargs.get("initial") or 0))

        def update(self, n: float | None = 1) -> bool | None:
            if stopped.is_set():
                raise InterruptedError("stopped")
            news.put(int(n or 0))
            return None

    def work() -> None:
        with _online():
            for file in files:
                hf_hub_download(name, file, local_dir=folder, tqdm_class=Bar)

    done = 0
    with ThreadPoolExecutor(1, thread_name_prefix="hub-download") as thread:
        ended = thread.submit(work)
        ended.add_done_callback(lambda _: news.put(None))
        try:
            while (piece := news.get()) is not None:
                done = min(done + piece, total)
                yield PullProgress(f"Fetching {name} from the model hub", done, total)
            ended.result()
        except _HUB_ERRORS as error:
            raise _failed(name, error) from error
        finally:
            stopped.set()
    yield PullProgress("Done", total, total)


@contextmanager
def _online() -> Iterator[None]:
    """Lifts the offline mode, which otherwise keeps every library from asking the hub unbidden."""
    from huggingface_hub import constants

    before, constants.HF_HUB_OFFLINE = constants.HF_HUB_OFFLINE, False
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = before


def _failed(name: str, error: Exception) -> DownloadFailed:
    from huggingface_hub.errors import LocalEntryNotFoundError

    if isinstance(error, LocalEntryNotFoundError) and isinstance(error.__cause__, Exception):
        error = error.__cause__  # what kept it from the hub; itself it only says that the cache has no such file
    reason = " ".join(str(error).split())[:300] or type(error).__name__
    return DownloadFailed(
        f"{name} could not be fetched from the model hub: {reason}",
        "Check the connection and the disk and start it again: it goes on where it stopped. "
        "HF_ENDPOINT names another hub, HF_HOME another place on the disk.",
    )
