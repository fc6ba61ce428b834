"""What a sync of a folder would do: every file of it and of the library's record of it, compared.

A file whose size, time of modification and inode are as they were is taken as unchanged without being opened; the
others are hashed. Whether an unchanged file has to be read again, its *recipe* says: the versions and settings that
decided how it was read and cut.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from rag.errors import LibraryError, SourceError
from rag.index.chunking.chunks import VERSION as CHUNKER_VERSION
from rag.index.chunking.chunks import ChunkProfile
from rag.index.library import Library
from rag.sources.readers import READERS, format_of
from rag.sources.scan import Choice, Scan, scan, sha256
from rag.types import (
    DEFAULT_READING,
    Change,
    FileRecord,
    FileState,
    LibrarySettings,
    PageVerdict,
    PlannedFile,
    ReadOptions,
    Remedy,
    SourceDocument,
    SourceFile,
    SyncPlan,
)

READ = frozenset({Change.NEW, Change.CHANGED, Change.RETRY})
"""The changes for which a file is read."""


# ------------------------------------------------------------------------------------------------------------- recipes


@dataclass(frozen=True, slots=True)
class Recipe:
    """What decides how a file is read and cut; kept with every file.

    Attributes:
        reader: Name of the file's format.
        version: Version of its reader.
        chunker: Version of the chunker.
        profile: How documents are cut.
        layout: Whether PDF pages are read with layout analysis; False for other formats.
        ocr: Whether text is recognised; of a stored file, whether that mattered.
        encoding: The encoding that a person gave.
    """

    reader: str
    version: int
    chunker: int
    profile: ChunkProfile
    layout: bool
    ocr: bool
    encoding: str

    def text(self, document: SourceDocument | None = None, remedies: tuple[Remedy, ...] = ()) -> str:
        """As it is kept: whether text was to be recognised only where there was any to be."""
        recognised = document is not None and any(page.verdict is PageVerdict.RECOGNISED for page in document.pages)
        return json.dumps(astuple(replace(self, ocr=self.ocr and (recognised or Remedy.OCR in remedies))))

    def cuts_as(self, kept: str) -> bool:
        """Whether the chunks of a file with that kept recipe were cut as this one would."""
        old = _recipe(kept)
        return (old.chunker, old.profile) == (self.chunker, self.profile)

    def why_again(self, kept: str, record: FileRecord) -> str:
        """Why a file with that kept recipe has to be read again, in words; empty when it has not."""
        old = _recipe(kept)
        if (old.reader, old.version) != (self.reader, self.version):
            return "a newer reader" if old.reader == self.reader else "another reader"
        if old.encoding != self.encoding:
            return "another encoding"
        if old.layout != self.layout:
            return "layout analysis is now on" if self.layout else "layout analysis is now off"
        if old.ocr and not self.ocr:
            return "text recognition is now off"
        if self.ocr and not old.ocr and Remedy.OCR in record.remedies:
            return "text recognition is now on"
        if record.chunks and old.chunker != self.chunker:
            return "a newer way of cutting"
        if record.chunks and old.profile != self.profile:
            return "chunk settings"
        return ""


@lru_cache(maxsize=256)
def _recipe(kept: str) -> Recipe:
    reader, version, chunker, profile, *rest = json.loads(kept)
    return Recipe(reader, version, chunker, ChunkProfile(*profile), *rest)


def options_for(record: FileRecord | None, settings: LibrarySettings, passwords: tuple[str, ...] = ()) -> ReadOptions:
    """How a file is to be read: what a person set for it, else what the library's settings say."""
    own = record.options if record else DEFAULT_READING
    return replace(own, ocr=own.ocr or settings.ocr, layout=own.layout or settings.layout, passwords=passwords)


def recipe_for(path: str, options: ReadOptions, profile: ChunkProfile) -> Recipe:
    """The recipe by which a file would be read and cut now."""
    name, version = reader_of(path)
    is_pdf = path.lower().endswith(".pdf")
    return Recipe(name, version, CHUNKER_VERSION, profile, options.layout and is_pdf, options.ocr, options.encoding)


def reader_of(path: str) -> tuple[str, int]:
    """Name and version of the format that reads a file."""
    # Most endings say it all, and a plan asks for thousands of files.
    kind = READERS.get(path[path.rfind(".") :].lower()) or format_of(path)
    return (kind.name, kind.version) if kind else ("", 0)


# ---------------------------------------------------------------------------------------------------------------- plan


def make_plan(
    library: Library,
    root: Path,
    profile: ChunkProfile,
    *,
    settings: LibrarySettings | None = None,
    max_bytes: int | None = None,
    passwords: tuple[str, ...] = (),
    verify: bool = False,
    retry: bool = False,
    allow_empty: bool = False,
) -> SyncPlan:
    """Compares a folder with what the library holds of it, without changing either.

    Args:
        library: The library.
        root: The folder.
        profile: How documents are to be cut.
        settings: The library's settings to plan for; None: those that it has.
        max_bytes: Larger files are not read; None: they are.
        passwords: Known passwords: with any, files that want one are tried again.
        verify: Hashes every file, so that a change is found that left size, time and inode as they were.
        retry: Tries every failed file again, not only those that could not be opened.
        allow_empty: Plans to forget all files of a folder that is missing or holds nothing any more.

    Raises:
        SourceError: The folder cannot be read; or it is missing or empty, the library holds files of it, and
            ``allow_empty`` is not given.
    """
    settings = settings or library.catalog.settings()
    records, recipes = library.catalog.files(), library.catalog.recipes()
    nested = _nested(root, library.catalog.roots())
    choice = Choice(settings.include, (*settings.exclude, *nested), max_bytes, settings.ocr)
    found = _look(root, choice, records, allow_empty)
    wanted = _Wanted(profile, settings, passwords, retry)
    planned = _Planner(found, records, recipes, wanted, verify).plan()
    seconds = _seconds(planned, library.catalog.speed())
    return SyncPlan(library.name, found.root, tuple(planned), found.skipped, seconds)


def plan_again(library: Library, file_id: int) -> SyncPlan:
    """A plan that reads one file again, whether it has changed or not.

    Raises:
        LibraryError: The library has no such file, or it is a copy of another, which is the one that is read.
        SourceError: The file is gone from disk.
    """
    record = library.record(file_id)
    if record.copy_of:
        raise LibraryError(f"{record.path} holds the same as {record.copy_of}.", "Read that one again instead.")
    try:
        file = stamped(SourceFile(Path(record.root), record.path, 0, 0))
    except OSError as error:
        raise SourceError(
            f"{record.path} is not where it was ({record.absolute}).", "Sync its folder to see what became of it."
        ) from error
    planned = PlannedFile(Change.CHANGED, record.path, file.size, file, record)
    return SyncPlan(library.name, file.root, (planned,))


def stamped(file: SourceFile) -> SourceFile:
    """The file with the size, time and inode that it has now.

    Raises:
        OSError: It is gone, or cannot be looked at.
    """
    facts = file.absolute.stat()
    return SourceFile(file.root, file.path, facts.st_size, facts.st_mtime_ns, facts.st_ino)


def same_stamp(one: SourceFile | FileRecord, other: SourceFile) -> bool:
    """Whether a file looks as it did; an inode that is unknown says nothing."""
    same_file = one.inode == other.inode or 0 in (one.inode, other.inode)
    return same_file and (one.size, one.mtime_ns) == (other.size, other.mtime_ns)


def is_there(path: Path) -> bool:
    """Whether a path leads to something; one that cannot be looked at, as on a share that is gone, does not."""
    try:
        path.stat()
    except OSError:
        return False
    return True


def _nested(root: Path, roots: Iterable[str]) -> list[str]:
    """Patterns that leave out the library's other folders inside this one: each is read as a folder of its own.

    Raises:
        SourceError: This folder lies in another one of the library, and is none of its own.
    """
    known, patterns = set(map(Path, roots)), []
    for other in known - {root}:
        if root.is_relative_to(other) and root not in known:
            raise SourceError(f"{root} lies in {other}, which belongs to this library already.", f"Sync {other}.")
        if other.is_relative_to(root):
            inside = re.sub(r"([\\\[\]*?!# ])", r"\\\1", other.relative_to(root).as_posix())
            patterns.append(f"/{inside}/")
    return patterns


def _look(root: Path, choice: Choice, records: Iterable[FileRecord], allow_empty: bool) -> Scan:
    try:
        found = scan(root, choice)
    except SourceError:
        if not allow_empty or is_there(root):
            raise
        return Scan(root, (), ())
    if not found.files and not allow_empty:
        known = [record for record in records if record.root == str(found.root)]
        if known and not any(is_there(record.absolute) for record in known):
            raise SourceError(
                f"{found.root} holds none of the {len(known)} files that the library knows of it.",
                "If it lies on a drive or a share, connect that. If the files were deleted, confirm that the library"
                " is to forget them.",
            )
    return found


@dataclass(frozen=True, slots=True)
class _Wanted:
    """How the library is to be."""

    profile: ChunkProfile
    settings: LibrarySettings
    passwords: tuple[str, ...]
    retry: bool

    def why_again(self, path: str, record: FileRecord, kept: str) -> str:
        return recipe_for(path, options_for(record, self.settings), self.profile).why_again(kept, record)

    def is_retried(self, record: FileRecord) -> bool:
        """Whether reading a failed file anew may end otherwise, though neither it nor its recipe has changed."""
        locked = Remedy.PASSWORD in record.remedies and bool(self.passwords)
        return self.retry or locked or not record.sha256


_Content = tuple[str, str, ReadOptions]
"""What makes one file a copy of another: the hash of its bytes, its format, and how a person wants it read."""


@dataclass(slots=True)
class _Seen:
    """A file on disk beside the library's record of it."""

    file: SourceFile
    record: FileRecord | None
    digest: str
    content: _Content | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        if self.digest and self.file.size:
            self.content = _content(self.digest, self.file.path, self.record)

    @property
    def holds(self) -> bool:
        """Whether the library holds just this content under this path, and not as a copy."""
        return self.record is not None and not self.record.copy_of and self.record.sha256 == self.digest != ""


def _content(digest: str, path: str, record: FileRecord | None) -> _Content:
    return digest, reader_of(path)[0], record.options if record else DEFAULT_READING


class _Planner:
    """One comparison."""

    def __init__(
        self,
        found: Scan,
        records: Iterable[FileRecord],
        recipes: Mapping[int, str],
        wanted: _Wanted,
        verify: bool,
    ) -> None:
        self._found = found
        self._recipes = recipes
        self._wanted = wanted
        self._verify = verify
        root = str(found.root)
        self._known = {record.path: record for record in records if record.root == root}
        self._elsewhere = {
            _content(record.sha256, record.path, record): record
            for record in records
            if record.root != root and record.sha256 and not record.copy_of
        }
        present = {file.path for file in found.files}
        unreadable = set(found.unreadable)
        self._gone = {
            path: record
            for path, record in self._known.items()
            # What cannot be looked at just now may still be there: it is kept as it is.
            if path not in present and not (unreadable and unreadable.intersection(_and_folders_of(path)))
        }
        self._gone_content = {
            _content(record.sha256, record.path, record): record
            for record in self._gone.values()
            if record.sha256 and not record.copy_of
        }

    def plan(self) -> list[PlannedFile]:
        """One line a file: first those that take over a content before it goes, at the end those that are gone."""
        seen = [self._see(file) for file in self._found.files]
        same: dict[_Content, list[_Seen]] = defaultdict(list)
        for one in seen:
            if one.content:
                same[one.content].append(one)
        lines: dict[str, PlannedFile] = {}
        first: list[PlannedFile] = []
        for one in seen:
            if one.file.path in lines:
                continue
            group = same[one.content] if one.content else [one]
            original = next((other for other in group if other.holds), group[0])
            line = self._original(original)
            lines[original.file.path] = line
            if line.change is Change.CHANGED and original.record and original.record.copy_of:
                first.append(line)
            for other in group:
                if other is not original:
                    lines[other.file.path] = self._copy(other, line)
        taking_over = {line.path for line in first}
        rest = [lines[one.file.path] for one in seen if one.file.path not in taking_over]
        skipped = {path.rstrip("/"): reason for path, reason in self._found.skipped} if self._gone else {}
        return [*first, *rest, *(_removed(record, skipped) for record in self._gone.values())]

    def _see(self, file: SourceFile) -> _Seen:
        record = self._known.get(file.path)
        if record is not None and not self._verify and same_stamp(record, file):
            return _Seen(file, record, record.sha256)
        try:
            return _Seen(file, record, sha256(file.absolute))
        except SourceError:
            return _Seen(file, record, "")  # it vanished or cannot be read: the reader will say which

    def _original(self, one: _Seen) -> PlannedFile:
        """What becomes of a file that is no copy of another."""
        file, record, digest = one.file, one.record, one.digest

        def line(change: Change, why: str = "", of: FileRecord | None = record) -> PlannedFile:
            return PlannedFile(change, file.path, file.size, file, of, digest, why)

        if (record is None or record.copy_of) and (moved := self._moved_from(one)):
            was = moved.path if moved.root == str(file.root) else str(moved.absolute)
            return line(Change.MOVED, was, moved)
        if record is None:
            return line(Change.NEW)
        if record.copy_of and digest == record.sha256:
            return line(Change.CHANGED, f"{record.copy_of}, whose content it repeated, has changed")
        if digest != record.sha256:
            return line(Change.CHANGED)
        again = self._wanted.why_again(file.path, record, self._recipes[record.id])
        if record.state is FileState.FAILED and (again or self._wanted.is_retried(record)):
            return line(Change.RETRY, again)
        return line(Change.CHANGED, again) if again else line(Change.UNCHANGED)

    def _moved_from(self, one: _Seen) -> FileRecord | None:
        """The record of a file that is gone and whose content this one holds, if it can be taken as it is."""
        if one.content is None:
            return None
        record = self._gone_content.get(one.content)
        if record is None:
            record = self._elsewhere.get(one.content)
            if record is None or is_there(record.absolute):
                return None
        if self._wanted.why_again(one.file.path, record, self._recipes[record.id]):
            return None
        self._gone_content.pop(one.content, None)
        self._elsewhere.pop(one.content, None)
        if record.root == str(self._found.root):
            self._gone.pop(record.path)
        return record

    def _copy(self, one: _Seen, original: PlannedFile) -> PlannedFile:
        """What becomes of a file that repeats another one's content."""
        record = one.record
        known = record is not None and record.copy_of == original.path and record.sha256 == one.digest
        change = Change.UNCHANGED if known and original.change is Change.UNCHANGED else Change.DUPLICATE
        return PlannedFile(change, one.file.path, one.file.size, one.file, record, one.digest, original.path)


def _removed(record: FileRecord, skipped: Mapping[str, str]) -> PlannedFile:
    why = ""
    if skipped and is_there(record.absolute):
        why = next((skipped[path] for path in _and_folders_of(record.path) if path in skipped), "it is left out now")
    return PlannedFile(Change.REMOVED, record.path, record.size, None, record, record.sha256, why)


def _and_folders_of(path: str) -> list[str]:
    """A path and the folders above it, the innermost first."""
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(len(parts), 0, -1)]


def _seconds(planned: Iterable[PlannedFile], speed: Mapping[str, tuple[float, float]]) -> float | None:
    """How long reading and embedding would take by the speed of earlier syncs; None while none was measured."""
    measured = sum(size for _, size in speed.values())
    if not measured:
        return None
    mean = sum(seconds for seconds, _ in speed.values()) / measured
    total = 0.0
    for line in planned:
        if line.change in READ:
            seconds, size = speed.get(reader_of(line.path)[0], (0.0, 0.0))
            total += line.size * (seconds / size if size else mean)
    return total
