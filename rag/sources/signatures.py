"""What a file is by its first bytes and its parts, whatever its name says."""

from __future__ import annotations

import io
import re
import zipfile

from rag.errors import SourceError
from rag.sources.office import ole

_STARTS = (
    (b"{\\rtf", ".rtf"),
    (b"\x1f\x8b\x08", ".gz"),
    (b"\x89PNG\r\n\x1a\n", ".png"),
    (b"\xff\xd8\xff", ".jpg"),
    (b"GIF87a", ".gif"),
    (b"GIF89a", ".gif"),
    (b"II*\0", ".tif"),
    (b"MM\0*", ".tif"),
    (b"7z\xbc\xaf\x27\x1c", ".7z"),
    (b"Rar!\x1a\x07", ".rar"),
    (b"BZh", ".bz2"),
    (b"\xfd7zXZ\0", ".xz"),
    (b"\x28\xb5\x2f\xfd", ".zst"),
)
_PDF_WITHIN = 1024  # bytes; readers of PDF forgive that much rubbish before it
_HTML = re.compile(rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype html|html)\b", re.IGNORECASE | re.DOTALL)
_HEADER = re.compile(rb"\s*(?:[!-9;-~]+:[^\n]*\n(?:[ \t][^\n]*\n)*)+")  # of a mail, or of a page saved in one file
_WEB_ARCHIVE = re.compile(
    rb"(?=.*^mime-version:).*^content-type:\s*multipart/related\b", re.IGNORECASE | re.DOTALL | re.MULTILINE
)
_MEDIA_TYPES = {
    b"application/epub+zip": ".epub",
    b"application/vnd.oasis.opendocument.text": ".odt",
    b"application/vnd.oasis.opendocument.presentation": ".odp",
    b"application/vnd.oasis.opendocument.spreadsheet": ".ods",
}
_PARTS = (
    ("word/document.xml", ".docx"),
    ("ppt/presentation.xml", ".pptx"),
    ("xl/workbook.bin", ".xlsb"),
    ("xl/workbook.xml", ".xlsx"),
)
_STREAMS = (
    ("EncryptedPackage", ENCRYPTED := ".encrypted"),
    ("WordDocument", ".doc"),
    ("PowerPoint Document", ".ppt"),
    ("Workbook", ".xls"),
    ("Book", ".xls"),
    ("__properties_version1.0", ".msg"),
)

TOLD_BY_CONTENT = frozenset(
    {".pdf", ".rtf", ".gz", ".png", ".jpg", ".tif", ".docx", ".pptx", ".xlsx", ".xlsb", ".xls", ".odt", ".odp", ".ods"}
    | {".epub", ".msg", ".doc", ".ppt"}
)
"""Endings of formats that :func:`ending_by_content` knows for sure: what it does not find is not there."""


def ending_by_content(data: bytes) -> str:
    """The ending that a file's content asks for; empty where it tells nothing.

    :data:`ENCRYPTED` stands for an Office file behind a password.
    """
    for start, ending in _STARTS:
        if data.startswith(start):
            return ending
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return ".webp"
    if data.startswith(b"PK\x03\x04"):
        return _zip_ending(data)
    if data.startswith(ole.SIGNATURE):
        return _ole_ending(data)
    if b"%PDF-" in data[: _PDF_WITHIN + 5]:
        return ".pdf"
    start = data[:4096].removeprefix(b"\xef\xbb\xbf")
    if (header := _HEADER.match(start)) and _WEB_ARCHIVE.match(header[0]):
        return ".mhtml"
    return ".html" if _HTML.match(start) else ""


def _zip_ending(data: bytes) -> str:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError):
        return ""  # cut short: its name is all that is known
    first = re.match(rb"PK\x03\x04.{22}\x08\0..mimetype([\x21-\x7e]{1,80})", data, re.DOTALL)
    for media_type, ending in _MEDIA_TYPES.items():
        if first and first[1].startswith(media_type):
            return ending
    for part, ending in _PARTS:
        if part in names:
            return ending
    if "[Content_Types].xml" in names:
        return ""  # an Office file without its main part, or one of another program
    if "META-INF/container.xml" in names:
        return ".epub"
    return "" if "content.xml" in names else ".zip"


def _ole_ending(data: bytes) -> str:
    try:
        with ole.opened(data) as file:
            return next((ending for stream, ending in _STREAMS if stream in file), "")
    except SourceError:
        return ""
