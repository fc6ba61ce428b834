"""Zip containers, opened so that they can do no harm: nothing touches the disk, and nothing grows without end."""

from __future__ import annotations

import io
import lzma
import posixpath
import zipfile
import zlib
from urllib.parse import unquote

from rag.errors import SourceError
from rag.sources.markup import Node, parse_xml

_MOST_BYTES = 400_000_000  # unpacked, of all parts that are read together
_MOST_RATIO = 200  # unpacked to packed, of a part above the size below; text hardly passes 20
_HARMLESS = 20_000_000  # bytes that may be packed as tightly as they like
_MOST_PARTS = 50_000
_FAULTS = (zipfile.BadZipFile, ValueError, NotImplementedError, OSError)  # of a damaged container


class Archive:
    """The parts of a zip container, by name.

    Attributes:
        problems: What could not be read of the parts that were asked for.
        notes: What is strange about the container.

    Args:
        data: The file.

    Raises:
        SourceError: It is no zip file, or cut short.
    """

    def __init__(self, data: bytes) -> None:
        self.problems: list[str] = []
        self.notes: list[str] = []
        self._read = 0
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
            self._parts = {part.filename: part for part in self._zip.infolist()}
        except _FAULTS as error:
            reason = "cut short or damaged" if data.startswith(b"PK") else "damaged, or not what its name says"
            raise SourceError(f"The file is {reason}: {_sentence(error)}.") from error
        if len(self._parts) > _MOST_PARTS:
            raise SourceError(f"The file has {len(self._parts):,} parts, which no document needs.")
        outside = [name for name in self._parts if name.startswith("/") or ".." in name.replace("\\", "/").split("/")]
        for name in outside:
            del self._parts[name]
        if outside:
            self.notes.append(f"entries that lead out of the file, ignored: {', '.join(sorted(outside)[:3])}")

    def __contains__(self, name: str) -> bool:
        return name in self._parts

    @property
    def names(self) -> tuple[str, ...]:
        """The parts' names."""
        return tuple(self._parts)

    def read(self, name: str) -> bytes:
        """A part, unpacked.

        Raises:
            SourceError: It is not there, damaged, encrypted or blows up.
        """
        part = self._parts.get(name)
        if part is None:
            raise SourceError(f"The file is damaged: {name} is not in it.")
        if part.file_size > _HARMLESS and part.file_size > _MOST_RATIO * max(part.compress_size, 1):
            raise SourceError(
                f"{name} would unpack from {part.compress_size:,} to {part.file_size:,} bytes, which no document "
                "does; it was not read."
            )
        self._read += part.file_size
        if self._read > _MOST_BYTES:
            raise SourceError(f"The file unpacks to more than {_MOST_BYTES:,} bytes; it was not read.")
        try:
            with self._zip.open(part) as stream:
                return stream.read(part.file_size)  # never more than it says, whatever is packed in it
        except (*_FAULTS, zlib.error, lzma.LZMAError, EOFError) as error:
            raise SourceError(f"{name} is damaged: {_sentence(error)}.") from error
        except RuntimeError as error:  # what zipfile raises when a part is encrypted
            raise SourceError(f"{name} is encrypted.", "Save a copy without the password.") from error

    def xml(self, name: str) -> Node:
        """A part as XML; faults that can be read around are added to the problems.

        Raises:
            SourceError: As :meth:`read`, or it is no XML.
        """
        root, problem = parse_xml(self.read(name), name)
        if problem:
            self.problems.append(problem)
        return root

    def xml_if_there(self, name: str) -> Node:
        """A part that a document need not have: an empty element when it is missing or cannot be read."""
        if name in self._parts:
            try:
                return self.xml(name)
            except SourceError as error:
                self.problems.append(error.message.rstrip("."))
        return Node("", {})

    def main_part(self, usual: str) -> str:
        """The part of an Office file that everything else hangs on."""
        kinds = self.relations("").values()
        return next((name for kind, name in kinds if kind == "officeDocument" and name in self._parts), usual)

    def relations(self, name: str) -> dict[str, tuple[str, str]]:
        """What a part of an Office file points to: the kind and the target's name, by the relation's id."""
        folder, _, file = name.rpartition("/")
        found: dict[str, tuple[str, str]] = {}
        for relation in self.xml_if_there(f"{folder}/_rels/{file}.rels".lstrip("/")).elements("rel:Relationship"):
            if relation.get("TargetMode") != "External":
                kind = relation.get("Type").rpartition("/")[2]
                found[relation.get("Id")] = kind, resolve(folder, relation.get("Target"))
        return found


def resolve(folder: str, target: str) -> str:
    """The name of the part that a link written in a folder leads to."""
    path = unquote(target.partition("#")[0])
    return posixpath.normpath(posixpath.join("/" + folder, path)).lstrip("/")


def _sentence(error: Exception) -> str:
    said = str(error).rstrip(".")
    return "its list of parts is missing" if said == "File is not a zip file" else said or type(error).__name__
