"""What is in a folder: the files that can be read, and every other one with the reason why not."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from rag.errors import SourceError
from rag.sources.readers import READERS
from rag.types import SourceFile

_TOOL_FOLDERS = {
    "node_modules": "a folder of installed packages",
    "site-packages": "a folder of installed packages",
    "__pycache__": "a cache folder",
    "__MACOSX": "a folder of leftovers from unpacking an archive",
}
_MARKERS = {
    "pyvenv.cfg": "a Python environment",
    "CACHEDIR.TAG": "a cache folder",
}


@dataclass(frozen=True, slots=True)
class Scan:
    """A folder's content.

    Attributes:
        root: The folder, absolute.
        files: What has a reader, in natural order of the path ("2.md" before "10.md").
        skipped: Path and reason of everything else, in the same order; one line for a whole folder.
        unreadable: Those of the skipped paths that are there but could not be looked at this time.
    """

    root: Path
    files: tuple[SourceFile, ...]
    skipped: tuple[tuple[str, str], ...]
    unreadable: tuple[str, ...] = ()


class _Unreadable(NamedTuple):
    """A path that could not be looked at, and why."""

    path: str
    reason: str


def scan(root: Path) -> Scan:
    """Lists the files below a folder; nothing is opened.

    Links are not followed: a file that lies in the folder is read in its own place, and nothing outside it is.

    Raises:
        SourceError: The folder is missing, is no folder, or may not be read.
    """
    root = folder_of(root)
    files: list[SourceFile] = []
    skipped: list[tuple[str, str]] = []
    for found in _walk(root, root.resolve(), root, ""):
        if isinstance(found, SourceFile):
            files.append(found)
        else:
            skipped.append(found)
    unreadable = tuple(line.path for line in skipped if isinstance(line, _Unreadable))
    files.sort(key=lambda file: _natural(file.path))
    skipped.sort(key=lambda line: _natural(line[0]))
    return Scan(root, tuple(files), tuple((path, reason) for path, reason in skipped), unreadable)


def folder_of(typed: Path) -> Path:
    """The folder that a person typed, absolute and with ``~`` expanded.

    Raises:
        SourceError: The folder is missing, is no folder, or the path cannot be one.
    """
    try:
        # resolve() would show people another path than the one they typed.
        folder = Path(os.path.abspath(typed.expanduser()))  # noqa: PTH100
        exists, is_folder = folder.exists(), folder.is_dir()
    except (OSError, RuntimeError, ValueError) as error:
        raise SourceError(f"{typed} cannot be a folder: {error}.", "Check the spelling of the path.") from error
    if not exists:
        raise SourceError(f"There is no folder {folder}.", "Check the spelling of the path.")
    if not is_folder:
        raise SourceError(f"{folder} is a file, not a folder.", "Give the folder that it lies in.")
    return folder


def sha256(path: Path) -> str:
    """Hash of a file's bytes, hexadecimal; the file is streamed, never held in memory.

    Raises:
        SourceError: The file cannot be read.
    """
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise SourceError(f"{path.name} cannot be read: {error.strerror}.") from error


def _walk(root: Path, real_root: Path, folder: Path, prefix: str) -> Iterator[SourceFile | tuple[str, str]]:
    """Yields a file that has a reader, or a path below ``root`` with the reason why it is skipped."""
    pending = [(folder, prefix)]
    while pending:
        folder, prefix = pending.pop()
        try:
            with os.scandir(folder) as listing:
                entries = list(listing)
        except OSError as error:
            if not prefix:
                raise SourceError(f"{root} cannot be read: {error.strerror}.", "Check its permissions.") from error
            yield _Unreadable(prefix.rstrip("/"), f"the folder cannot be read: {error.strerror}")
            continue
        marker = next((entry.name for entry in entries if entry.name in _MARKERS), None)
        if marker and prefix:
            yield prefix.rstrip("/"), _MARKERS[marker]
            continue
        for entry in entries:
            path = prefix + entry.name
            if not _is_unicode(path):
                yield os.fsencode(path).decode("utf-8", "replace"), "its name is not valid UTF-8"
            elif entry.is_symlink():
                yield path, _about_link(Path(entry.path), real_root)
            elif entry.is_dir(follow_symlinks=False):
                if reason := _TOOL_FOLDERS.get(entry.name) or ("a hidden folder" if entry.name[0] == "." else ""):
                    yield path, reason
                else:
                    pending.append((Path(entry.path), path + "/"))
            else:
                yield _file_or_reason(root, path, entry)


def _file_or_reason(root: Path, path: str, entry: os.DirEntry[str]) -> SourceFile | tuple[str, str]:
    suffix = Path(entry.name).suffix.lower()
    if entry.name.startswith("."):
        return path, "a hidden file"
    if suffix not in READERS:
        return path, f"no reader for {suffix or 'files without an ending'}"
    if not entry.is_file(follow_symlinks=False):
        return path, "not a regular file"
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError as error:
        return _Unreadable(path, f"it cannot be read: {error.strerror}")
    return SourceFile(root, path, status.st_size, status.st_mtime_ns)


def _about_link(link: Path, real_root: Path) -> str:
    try:
        target = link.resolve(strict=True)
    except (OSError, RuntimeError):  # RuntimeError: a link that leads to itself
        return "a link that leads nowhere"
    if target.is_relative_to(real_root):
        inside = target.relative_to(real_root).as_posix()
        return f"a link to {inside}, which is read in its own place" if inside != "." else "a link to the folder itself"
    return "a link that leads out of the folder"


def _is_unicode(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _natural(path: str) -> tuple[list[str | int], str]:
    """Sort key that counts numbers as numbers and ignores case; the path itself breaks ties."""
    parts = re.split(r"([0-9]+)", path.casefold())
    return [int(part) if position % 2 else part for position, part in enumerate(parts)], path
