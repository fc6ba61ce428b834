"""What to leave out, in gitignore syntax: the patterns of one place, and the file ``.footnoteignore``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore import GitIgnorePatternError
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from rag.errors import SourceError

IGNORE_FILE = ".footnoteignore"
"""Name of the file that says, in gitignore syntax, what is left out of the folder that it lies in."""

_LONGEST_FILE = 2**20  # bytes; a list of patterns is a page or two


class Patterns:
    """The patterns of one place, in gitignore syntax; the last one that matches a path decides.

    As in git, they are about the paths below ``base``, one with a slash before its end is anchored there, and one that
    ends in a slash is about folders.

    Args:
        lines: One pattern each; blank lines and those that begin with ``#`` say nothing.
        source: Where they stand, for people ("drafts/.footnoteignore").
        base: The folder that they are about: "" for the root, else its path with a slash at the end.

    Raises:
        SourceError: A line is no pattern.
    """

    def __init__(self, lines: Iterable[str], source: str, base: str = "") -> None:
        self.source = source
        self._cut = len(base)
        compiled = [(line.strip(), _compiled(line, source)) for line in lines if says_something(line)]
        self._spec = GitIgnoreSpec([pattern for _, pattern in compiled], backend="simple")
        self._last_first = [_Line(line, pattern) for line, pattern in reversed(compiled)]

    def verdict(self, path: str) -> tuple[bool, str] | None:
        """What the patterns say of this very path below the root, as git asks on its way down; a folder's ends in a
        slash. What they say of a folder above it is no matter.

        Returns:
            Whether the path is named, rather than taken back by ``!``; and the pattern that says so. None: no pattern
            matches.
        """
        name = path[path.rfind("/", 0, -1) + 1 :]
        path = path[self._cut :]
        for line in self._last_first:
            if line.matches(path if line.anchored else name):
                return line.names, line.text
        return None

    def cover(self, path: str) -> bool:
        """Whether a file, or a folder above it, is named and not taken back."""
        return self._spec.match_file(path[self._cut :])


def read_ignore_file(file: Path, base: str) -> Patterns:
    """The patterns of a ``.footnoteignore``.

    Args:
        file: The file.
        base: Its folder below the root, with a slash at the end; "" for the root.

    Raises:
        SourceError: It cannot be read, or a line is no pattern. What was to be left out is then unknown, so nothing
            in the folder should be read.
    """
    name = base + IGNORE_FILE
    hint = "Mend or remove it: until then it is not known what is to be left out."
    if not file.is_file():
        raise SourceError(f"{name} is not a regular file.", hint)
    try:
        with file.open("rb") as opened:
            data = opened.read(_LONGEST_FILE + 1)
    except OSError as error:
        raise SourceError(f"{name} cannot be read: {error.strerror}.", hint) from error
    if len(data) > _LONGEST_FILE:
        raise SourceError(f"{name} is longer than any list of patterns.", hint)
    try:
        lines = data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise SourceError(f"{name} is not UTF-8 text.", hint) from error
    return Patterns(lines, name, base)


class _Line:
    """A pattern, for paths of which no folder above is left out."""

    __slots__ = ("_inside", "_search", "anchored", "names", "text")

    def __init__(self, text: str, pattern: GitIgnoreSpecPattern) -> None:
        assert pattern.regex is not None  # only comments have none
        self.text = text
        self.names = bool(pattern.include)
        # Else it is about the name alone, as are those for everything and for any folder, which have no beginning.
        self.anchored = "/" in text[:-1] and pattern.regex.pattern.startswith("^")
        self._search = pattern.regex.search
        self._inside = self.anchored and text.endswith("/**")  # what lies in a folder, and not the folder

    def matches(self, path: str) -> bool:
        """Whether the pattern is about this path, and not about a folder above it."""
        found = self._search(path)
        if not found:
            return False
        # The one group is the slash after a folder: where more follows it, the match is of a folder above.
        to_the_end = found.end() == len(path)
        return not to_the_end if self._inside else to_the_end or found.lastindex is None


def says_something(line: str) -> bool:
    """Whether a line is a pattern, and neither blank nor a comment."""
    return bool(line.strip()) and not line.startswith("#")


def _compiled(line: str, source: str) -> GitIgnoreSpecPattern:
    try:
        # "Folders at any depth in it": as it stands it would be taken for the folder itself.
        pattern = GitIgnoreSpecPattern(re.sub(r"/\*\*/\s*$", "/**/*/", line))
        understood = pattern.include is not None
    except (GitIgnorePatternError, re.error):
        understood = False
    if (
        not understood or "\n" in line or re.search(r"\[:\w+:\]", line)
    ):  # named classes of characters are taken for something else
        raise SourceError(
            f"“{line.strip()}” in {source} is not a pattern.",
            "Patterns are written as in .gitignore: *.log, drafts/, !keep.md.",
        )
    return pattern
