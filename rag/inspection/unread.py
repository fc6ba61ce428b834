"""Files, pages and words of which a library has no passage: why they were not read, or not indexed, and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from rag.errors import SourceError
from rag.index.library import Library, is_stale
from rag.index.plan import is_there
from rag.sources.scan import Choice, scan
from rag.types import FileRecord, FileState, Page, PageVerdict, Remedy

_MOST = 8
"""Files of which is told why they gave nothing."""

_REMEDIES = {
    Remedy.PASSWORD: "Give its password: Ingest, then the file.",
    Remedy.OCR: "Turn on text recognition in the library's settings, or for this file: Ingest, then the file.",
    Remedy.ENCODING: "Set its encoding: Ingest, then the file.",
}
_SYNC = "Bring the library in step with its folder (Ingest), and ask again."
_LOOK = "Ingest, then the file, shows page by page what was read."

_VERDICTS = {
    PageVerdict.SCAN: "it is an image without text",
    PageVerdict.EMPTY: "nothing is on it",
    PageVerdict.GARBLED: "its text is garbled: the characters are not what is printed",
    PageVerdict.DAMAGED: "it is damaged",
}


@dataclass(frozen=True, slots=True)
class Lost:
    """Something that a person expected to be found, and that gave no passage.

    Attributes:
        name: The file, with its page where that is the matter; empty where no file was named.
        indexed: True where it is there and could be read, but the index does not have it (yet); else it was not read.
        reason: Why, in a sentence.
        action: What to do.
        file_id: The file's number in the catalog; None where the catalog does not have it.
    """

    name: str
    indexed: bool
    reason: str
    action: str
    file_id: int | None = None


def lost_files(
    library: Library, named: str, page: int | None, phrase: str, max_bytes: int | None = None
) -> Iterator[Lost]:
    """Why files of that name gave no passage that meets what was asked for.

    Args:
        library: The library.
        named: A part of the path, or a pattern with ``*``.
        page: The page that was asked for, if one was.
        phrase: The words that were asked for; empty: none.
        max_bytes: Larger files are not read; None: they are.
    """
    records = [record for record in library.catalog.files() if matches(named, record.path)]
    for record in records[:_MOST]:
        yield _of_record(library, record, page, phrase)
    if not records:
        yield from _outside(library, named, max_bytes)


def lost_words(library: Library, phrase: str) -> Lost:
    """Why no passage holds these words, where no file was named."""
    records = library.catalog.files()
    unread = [record for record in records if record.state is not FileState.INDEXED]
    changed = [record for record in records if is_stale(record)]
    reason = f"No text that was read for “{library.name}” holds “{phrase}”."
    if unread:
        reason += f" {len(unread)} of its files could not be read, or not fully: {_named(unread)}."
    if changed:
        reason += f" {len(changed)} have changed since they were indexed: {_named(changed)}."
    action = _SYNC if changed else "Ingest has the reason of each file." if unread else "Try fewer words, or one."
    return Lost("", indexed=bool(changed) and not unread, reason=reason, action=action)


def matches(named: str, path: str) -> bool:
    """Whether a path is what a person names by a part of it, or by a pattern with ``*``."""
    named, path = named.casefold().replace("\\", "/"), path.casefold()
    if "*" in named:
        return fnmatchcase(path, named) or fnmatchcase(path.rpartition("/")[2], named)
    return named in path


def _of_record(library: Library, record: FileRecord, page: int | None, phrase: str) -> Lost:
    def lost(reason: str, action: str, *, indexed: bool = False, name: str = "") -> Lost:
        return Lost(name or record.path, indexed, reason, action, record.id)

    pages = library.catalog.pages(record.id)
    if record.copy_of:
        return lost(
            f"It holds the same bytes as {record.copy_of}, which is searched in its place.",
            f"Look for {record.copy_of} instead.",
            indexed=True,
        )
    if not is_there(record.absolute):
        return lost("It is not on disk any more.", _SYNC, indexed=True)
    if is_stale(record):
        return lost("It has changed since it was indexed.", _SYNC, indexed=True)
    if record.state is FileState.FAILED or not record.chunks:
        return lost(f"It could not be read: {record.reason or 'nothing is in it'}.", _cure(record))
    if page is not None:
        name = f"{record.path}, page {page}"
        asked = next((one for one in pages if one.number == page), None)
        if asked is None and pages:
            return lost(f"It has {len(pages)} pages, and no page {page}.", "Give another page.", name=name)
        if asked is not None and (reason := _trouble(asked)):
            return lost(f"The page could not be read: {reason}.", _cure(record), name=name)
    bad = [one.number for one in pages if one.verdict is not PageVerdict.EMPTY and _trouble(one)]
    if phrase and bad:
        numbers = ", ".join(map(str, bad[:_MOST])) + (" …" if len(bad) > _MOST else "")
        return lost(
            f"What was read of it does not hold “{phrase}”; its pages {numbers} could not be read.", _cure(record)
        )
    what = f"does not hold “{phrase}”" if phrase else "has nothing there"
    return lost(f"It was read, and its text {what}.", f"{_LOOK} The words may be written in another way there.")


def _outside(library: Library, named: str, max_bytes: int | None) -> Iterator[Lost]:
    """What the folders hold of that name, where the catalog knows nothing of it."""
    settings = library.catalog.settings()
    choice = Choice(settings.include, settings.exclude, max_bytes, settings.ocr)
    found = []
    for root in map(Path, library.catalog.roots()):
        try:
            here = scan(root, choice)
        except SourceError as error:
            found.append(Lost(str(root), indexed=False, reason=error.message, action=error.hint))
            continue
        new = (file.path for file in here.files if matches(named, file.path))
        found += [
            Lost(path, indexed=True, reason="It is in the folder, but was not indexed yet.", action=_SYNC)
            for path in new
        ]
        for path, reason in here.skipped:
            # A folder is one line, and so are many files of one that are left out for the same reason.
            below = Path(path) / Path(named).name
            inside = "*" not in named and (root / path).is_dir() and (root / below).exists()
            if matches(named, path) or inside:
                name = below.as_posix() if inside else path
                action = "Change what is left out in the library's settings (Ingest), where you want it read."
                found.append(Lost(name, indexed=False, reason=f"It is not read: {reason}.", action=action))
    if not found:
        folders = ", ".join(library.catalog.roots()) or "no folder yet"
        found = [
            Lost(
                named,
                indexed=False,
                reason=f"No file of that name is in the folders of “{library.name}” ({folders}).",
                action="Index the folder that it is in, or look for another part of its name.",
            )
        ]
    yield from found[:_MOST]


def _trouble(page: Page) -> str:
    return _VERDICTS.get(page.verdict, "") or page.problem


def _cure(record: FileRecord) -> str:
    return next((_REMEDIES[remedy] for remedy in record.remedies if remedy in _REMEDIES), _LOOK)


def _named(records: list[FileRecord]) -> str:
    names = ", ".join(record.path for record in records[:3])
    return f"{names} and {len(records) - 3} more" if len(records) > 3 else names
