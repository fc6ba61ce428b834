"""Dropped files: from the browser's upload into the library's own folder, and out of it again."""

from __future__ import annotations

import re
import shutil
from pathlib import Path, PurePosixPath

from rag.errors import SourceError
from rag.ui import texts

_FORBIDDEN = re.compile(r'[\x00-\x1f\\:*?"<>|]')


def keep(upload: Path, uploads: Path, name: str, folder: Path) -> Path:
    """Moves an uploaded file to its place in the library's folder and leaves nothing of it among the uploads.

    Args:
        upload: The file as it was uploaded.
        uploads: The folder that uploads land in; nothing outside it is touched.
        name: The name in the browser, with the sub-folders of a dropped folder, forward slashes.
        folder: The library's folder, made when it is missing.

    Returns:
        Where the file now is.

    Raises:
        SourceError: The name would lead out of the folder or cannot be a file's name, or the upload is none of ours.
    """
    source = upload.resolve()
    if not source.is_relative_to(uploads.resolve()) or not source.is_file():
        raise SourceError(f"{upload.name} was not uploaded.", "Drop the file again.")
    parts = PurePosixPath(name).parts
    if not parts or any(part in ("/", "..", ".") or _FORBIDDEN.search(part) for part in parts):
        source.unlink()
        raise SourceError(texts.DROP_BAD_PATH.format(name=name), "Rename it and drop it again.")
    target = folder.joinpath(*parts)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(source, target)
        if source.parent != uploads.resolve():
            source.parent.rmdir()
    except OSError as error:
        source.unlink(missing_ok=True)
        raise SourceError(
            f"{name} could not be kept: {error.strerror}.", "Free the place, or index the folder by its path."
        ) from error
    return target


def forget(folder: Path, file: Path) -> None:
    """Deletes a dropped copy and the folders it leaves empty; a file anywhere else stays where it is."""
    if not file.is_relative_to(folder) or not file.is_file():
        return
    file.unlink()
    parent = file.parent
    while parent.is_relative_to(folder) and not any(parent.iterdir()):
        parent.rmdir()
        parent = parent.parent
