"""What is in a folder: the files that can be read, and every other one with the reason why not.

What is left out, from the weakest to the strongest word:

1. what hardly anybody means to read: hidden files and folders, installed packages, caches, build folders;
2. ``.footnoteignore`` in the folder or in any folder below it, in gitignore syntax; the innermost is the stronger;
3. what a person chose for the library (:class:`Choice`).

``!pattern`` takes back what weaker words left out. As in git, nothing below a folder that is left out is looked at: to
have a file read that lies in one, the folder has to be taken back first.
"""

from __future__ import annotations

import errno
import hashlib
import os
import posixpath
import re
import stat
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rag.errors import SourceError
from rag.sources.patterns import IGNORE_FILE, Patterns, read_ignore_file, says_something
from rag.sources.readers import why_not_read
from rag.types import SourceFile

_LEFT_OUT = {
    ".*": "hidden",
    "node_modules/": "a folder of installed packages",
    "bower_components/": "a folder of installed packages",
    "site-packages/": "a folder of installed packages",
    "*.dist-info/": "a folder about an installed package",
    "*.egg-info/": "a folder about an installed package",
    "__pycache__/": "a cache folder",
    "__MACOSX/": "a folder of leftovers from unpacking an archive",
    "@eaDir/": "a folder of the file server's own",
    "$RECYCLE.BIN/": "a folder of the system's own",
    "System Volume Information/": "a folder of the system's own",
    "lost+found/": "a folder of the system's own",
    "~$*": "a note of an office program that a document is open",
}
"""What is left out by default, and why."""

_MARKERS = {
    "pyvenv.cfg": "a Python environment",
    "conda-meta": "a Python environment",
    "CACHEDIR.TAG": "a cache folder",
}
"""What a folder holds that says of itself that it is not to be read."""

_BUILD_FOLDERS = {
    "build": {
        "pyproject.toml", "setup.py", "package.json", "CMakeLists.txt", "Makefile", "build.gradle", "build.gradle.kts",
    },
    "dist": {"pyproject.toml", "setup.py", "package.json"},
    "target": {"Cargo.toml", "pom.xml", "build.sbt"},
    "_build": {"conf.py", "Makefile", "mix.exs", "dune-project"},
}  # fmt: skip
"""Folders that are made by a tool where they lie beside one of its files; elsewhere the names mean nothing."""

_MOST_LINES = 20
"""Files of one folder that are left out for the same reason are one line from here on."""

_MOST_FOLDERS = 50
"""Folders with such lines of the same reason are one line from here on."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Which files of a folder are read.

    Attributes:
        include: Patterns in gitignore syntax; where there are any, only files that match are read.
        exclude: Patterns in gitignore syntax of what is not read; ``!pattern`` takes back what is left out otherwise.
        max_bytes: Larger files are not read; None: they are.
        ocr: Images are read, by recognising the text in them.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    max_bytes: int | None = None
    ocr: bool = False


EVERYTHING = Choice()
"""Everything that has a reader, but for what is left out by default."""


@dataclass(frozen=True, slots=True)
class Scan:
    """A folder's content.

    Attributes:
        root: The folder, absolute.
        files: What is to be read, in natural order of the path ("2.md" before "10.md").
        skipped: Path and reason of everything else, in the same order. A folder is one line, and so are many files
            that are left out for the same reason: the path is then that of their folder and ends in a slash.
        unreadable: Those of the skipped paths that are there but could not be looked at this time.
    """

    root: Path
    files: tuple[SourceFile, ...]
    skipped: tuple[tuple[str, str], ...]
    unreadable: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Skipped:
    """A path that is not read.

    Attributes:
        path: Below the root.
        reason: Why, for people.
        kind: What it has in common with others of its folder, so that many of them can be one line; empty: nothing.
        unreadable: It is there, but could not be looked at this time.
    """

    path: str
    reason: str
    kind: str = ""
    unreadable: bool = False


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder that is yet to be looked at.

    Attributes:
        path: Where it is.
        prefix: Its path below the root with a slash at the end; "" for the root.
        patterns: What leaves things out there, the strongest first.
        wanted: A pattern takes it back, so it is not left out for what it holds.
    """

    path: Path
    prefix: str
    patterns: tuple[Patterns, ...]
    wanted: bool = True


def scan(root: Path, choice: Choice = EVERYTHING) -> Scan:
    """Lists the files below a folder; but for ``.footnoteignore``, nothing is opened.

    Links are not followed: what lies in the folder is looked at in its own place, and nothing outside it is.

    Raises:
        SourceError: The folder is missing, is no folder, or may not be read; or a pattern cannot be understood.
    """
    root = folder_of(root)
    files: list[SourceFile] = []
    skipped: list[_Skipped] = []
    for found in _Walk(root, choice).entries():
        if isinstance(found, SourceFile):
            files.append(found)
        else:
            skipped.append(found)
    files.sort(key=lambda file: _natural(file.path))
    lines = sorted(_compact(skipped), key=lambda line: _natural(line[0]))
    return Scan(root, tuple(files), tuple(lines), tuple(line.path for line in skipped if line.unreadable))


class _Walk:
    """One walk through a folder."""

    def __init__(self, root: Path, choice: Choice) -> None:
        self._root = root
        self._real_root = root.resolve()
        self._max_bytes = choice.max_bytes
        self._ocr = choice.ocr
        self._chosen = Patterns(choice.exclude, "the library's settings")
        # Comments alone choose nothing: they must not leave everything out.
        include = [line for line in choice.include if says_something(line)]
        self._included = Patterns(include, "the library's settings") if include else None
        self._places: dict[tuple[int, int], str] = {}

    def entries(self) -> Iterator[SourceFile | _Skipped]:
        """Every file that is to be read; every other path with the reason, a whole folder once."""
        pending = [_Folder(self._root, "", (Patterns(tuple(_LEFT_OUT), ""),))]
        while pending:
            folder = pending.pop()
            try:
                entries, place = _listing(folder.path)
            except OSError as error:
                if not folder.prefix:
                    hint = "Check its permissions."
                    raise SourceError(f"{self._root} cannot be read: {error.strerror}.", hint) from error
                yield _about_error(folder.prefix.rstrip("/"), "the folder cannot be read", error)
                continue
            seen_as = self._places.setdefault(place, folder.prefix) if place[1] else folder.prefix
            if seen_as != folder.prefix:
                yield _Skipped(folder.prefix.rstrip("/"), f"the same folder as {seen_as.rstrip('/') or 'the whole'}")
                continue
            names = {entry.name for entry in entries}
            marker = next((name for name in _MARKERS if name in names), None)
            if marker and not folder.wanted:
                yield _Skipped(folder.prefix.rstrip("/"), _MARKERS[marker])
                continue
            patterns = folder.patterns
            if IGNORE_FILE in names:
                patterns = (read_ignore_file(folder.path / IGNORE_FILE, folder.prefix), *patterns)
            for entry in entries:
                found = self._look_at(entry, folder.prefix, patterns, names)
                if isinstance(found, _Folder):
                    pending.append(found)
                else:
                    yield found

    def _look_at(
        self, entry: os.DirEntry[str], prefix: str, patterns: tuple[Patterns, ...], names: set[str]
    ) -> SourceFile | _Skipped | _Folder:
        path = prefix + entry.name
        if not _is_unicode(entry.name):
            shown = os.fsencode(path).decode("utf-8", "replace")
            return _Skipped(shown, "its name is not valid UTF-8; it is read once it is renamed", kind="name")
        if entry.name == IGNORE_FILE:
            return _Skipped(path, "Footnote's list of what to leave out")
        is_folder = entry.is_dir(follow_symlinks=False)
        named = _verdict(path + "/" if is_folder else path, (self._chosen, *patterns))
        if isinstance(named, str):
            return _Skipped(path, named, kind="" if is_folder else named)
        if _is_link(entry):
            return _about_link(path, Path(entry.path), self._real_root)
        if is_folder:
            beside = _BUILD_FOLDERS.get(entry.name, set()) & names
            if beside and not named:
                return _Skipped(path, f"a build folder, since it lies beside {min(beside)}")
            return _Folder(Path(entry.path), path + "/", patterns, wanted=named)
        if self._included is not None and not self._included.cover(path):
            return _other(path, "it matches no pattern of what to read")
        return self._file(path, entry)

    def _file(self, path: str, entry: os.DirEntry[str]) -> SourceFile | _Skipped:
        if reason := why_not_read(entry.name, self._ocr):
            return _other(path, reason)
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError as error:
            return _about_error(path, "it cannot be looked at", error)
        if not stat.S_ISREG(status.st_mode):
            return _other(path, _KINDS.get(stat.S_IFMT(status.st_mode), "not a regular file"))
        if self._max_bytes is not None and status.st_size > self._max_bytes:
            return _other(path, f"larger than {self._max_bytes / 2**20:g} MiB")
        return SourceFile(self._root, path, status.st_size, status.st_mtime_ns, status.st_ino)


_KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def _listing(folder: Path) -> tuple[list[os.DirEntry[str]], tuple[int, int]]:
    """What a folder holds, and what tells it from every other folder however it is reached."""
    with os.scandir(folder) as listing:
        entries = sorted(listing, key=lambda entry: entry.name)
    status = folder.stat()
    return entries, (status.st_dev, status.st_ino)


def _verdict(path: str, patterns: Iterable[Patterns]) -> str | bool:
    """Why a path is left out; else whether a pattern takes it back. The first place with a word on it decides."""
    for place in patterns:
        if said := place.verdict(path):
            is_named, pattern = said
            if not is_named:
                return True
            return f"left out by “{pattern}” in {place.source}" if place.source else _LEFT_OUT[pattern]
    return False


def _other(path: str, reason: str) -> _Skipped:
    """A file that may well have many like it."""
    return _Skipped(path, reason, kind=reason)


def _about_error(path: str, what: str, error: OSError) -> _Skipped:
    if isinstance(error, FileNotFoundError):
        return _Skipped(path, "it was gone before it could be looked at")
    return _Skipped(path, f"{what}: {error.strerror}", unreadable=True)


def _is_link(entry: os.DirEntry[str]) -> bool:
    if sys.platform == "win32" and not entry.is_symlink():  # a junction, which Python 3.11 takes for a folder
        return entry.stat(follow_symlinks=False).st_reparse_tag == stat.IO_REPARSE_TAG_MOUNT_POINT
    return entry.is_symlink()


def _about_link(path: str, link: Path, real_root: Path) -> _Skipped:
    try:
        target = link.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        in_a_circle = isinstance(error, RuntimeError) or error.errno == errno.ELOOP  # RuntimeError: before Python 3.13
        return _other(path, "a link that leads in a circle" if in_a_circle else "a link that leads nowhere")
    if not target.is_relative_to(real_root):
        return _other(path, "a link that leads out of the folder")
    inside = target.relative_to(real_root).as_posix()
    if inside == ".":
        return _Skipped(path, "a link to the folder itself")
    return _Skipped(path, f"a link to {inside}, which has its own place", kind="a link to what has its own place")


def _compact(skipped: Iterable[_Skipped]) -> Iterator[tuple[str, str]]:
    """One line a path; but one for many files of a folder, and one for many folders with such files, where the reason
    is the same."""
    alike: dict[str, dict[str, list[_Skipped]]] = defaultdict(lambda: defaultdict(list))
    for line in skipped:
        if line.kind:
            alike[line.kind][line.path[: line.path.rfind("/") + 1]].append(line)
        else:
            yield line.path, line.reason
    for kind, folders in alike.items():
        if len(folders) > _MOST_FOLDERS:
            files = sum(map(len, folders.values()))
            yield f"{posixpath.commonpath(folders) or '.'}/", f"{files:,} files in {len(folders):,} folders: {kind}"
            continue
        for folder, lines in folders.items():
            if len(lines) > _MOST_LINES:
                yield folder or "./", f"{len(lines):,} files: {kind}"
            else:
                yield from ((line.path, line.reason) for line in lines)


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
