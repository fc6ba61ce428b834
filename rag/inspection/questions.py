"""A library's own questions with what answers them, kept beside it as JSON lines.

What answers a question is a file, a page of it, a phrase, or a passage that a person pointed at. Such a passage is kept
as a fingerprint of its words and not as its words: it is found again when its file is cut differently or moves, and
nothing of what the file said stays when the file is forgotten.

A line, as it is written and read::

    {"question": "How heavy must the anchors be?", "answerable": true,
     "expected": [{"path": "project/weekly.md", "page": null, "phrase": "40 kg"}]}

``path``, ``page`` and ``phrase`` may also stand beside the question, and ``evidence`` for ``phrase``.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
import unicodedata
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from rag.errors import QuestionsError
from rag.index.library import Library
from rag.index.selection import select
from rag.types import Chunk, Filters, Hit

FILE = "questions.jsonl"
"""The file's name in the library's folder."""

_SHINGLE = 12  # characters
_SKETCH = 48
_CONTAINED = 0.5
"""Share of a passage's shingles, or of a chunk's, that the other has to hold for both to be of the same place.

Source: the containment of Broder 1997, "On the resemblance and containment of documents", estimated from the smallest
hashes.
"""

_CERTAIN = 3
"""Hashes in common below which likeness may be chance."""

_LETTERS = re.compile(r"[\W_]+")
_LONGEST = 2000  # characters of a question

_writing = threading.Lock()


@dataclass(frozen=True, slots=True)
class Expected:
    """One place that answers a question; what is empty does not matter.

    Attributes:
        path: The file below its folder, or the end of its path.
        page: The page, from 1.
        phrase: Words that the passage holds, whatever their case, width and white space.
        prints: Fingerprint of a passage that was pointed at (see :func:`fingerprint`); then ``path`` and ``page`` only
            say where it was.
    """

    path: str = ""
    page: int | None = None
    phrase: str = ""
    prints: tuple[str, ...] = ()

    def found_in(self, chunk: Chunk) -> bool:
        """Whether a chunk is, or holds, this place."""
        if self.prints:
            return _same_place(frozenset(self.prints), chunk.text)
        if not (self.path or self.page or self.phrase):
            return False
        return (
            _is_path(self.path, chunk.path)
            and (self.page is None or _is_on(self.page, chunk))
            and _folded(self.phrase) in _folded("\n".join((*chunk.heading_path, chunk.context, chunk.text)))
        )


@dataclass(frozen=True, slots=True)
class Question:
    """A question with what is known of its answer.

    Attributes:
        id: Unique in its library.
        text: As it is asked.
        answerable: Whether the notes say it.
        expected: The places that answer it; none: it only counts for refusals.
    """

    id: str
    text: str
    answerable: bool
    expected: tuple[Expected, ...] = ()


_line = TypeAdapter(Question)


# ---------------------------------------------------------------------------------------------------------- the file


def load(folder: Path) -> tuple[Question, ...]:
    """The questions kept in a library's folder, in the order in which they came.

    Raises:
        QuestionsError: The file cannot be read.
    """
    path = folder / FILE
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return ()
    except (OSError, UnicodeDecodeError) as error:
        raise QuestionsError(f"{path} cannot be read: {error}.", "Delete it to begin anew.") from error
    try:
        return tuple(_line.validate_json(line) for line in lines if line.strip())
    except ValidationError as error:
        raise QuestionsError(f"{path} holds a line that is no question.", "Delete it to begin anew.") from error


def change(folder: Path, edit: Callable[[tuple[Question, ...]], Iterable[Question]]) -> tuple[Question, ...]:
    """Changes the questions of a library: all of them go through ``edit``, and what comes out is kept.

    Raises:
        QuestionsError: The file cannot be read or written.
    """
    with _writing:
        questions = tuple(edit(load(folder)))
        path = folder / FILE
        fresh = path.with_suffix(".new")
        try:
            fresh.write_bytes(b"".join(_line.dump_json(question) + b"\n" for question in questions))
            fresh.replace(path)
        except OSError as error:
            raise QuestionsError(
                f"The questions could not be kept in {path}: {error.strerror or error}.",
                "Check the disk and its permissions.",
            ) from error
    return questions


# --------------------------------------------------------------------------------------------------------- changes


def added(questions: Sequence[Question], more: Iterable[Question]) -> list[Question]:
    """The questions with others; one that is asked in the same words is replaced where it stands."""
    kept = {_folded(question.text): question for question in questions}
    for question in more:
        known = kept.get(_folded(question.text))
        kept[_folded(question.text)] = replace(question, id=known.id) if known else question
    return list(kept.values())


def answered_by(questions: Sequence[Question], text: str, chunk: Chunk) -> list[Question]:
    """The questions after a person pointed at a passage that answers one; others that do are kept."""
    place = Expected(chunk.path, chunk.page, prints=fingerprint(chunk.text))
    known = next((one for one in questions if _folded(one.text) == _folded(text)), None)
    others = known.expected if known and known.answerable else ()
    places = (*(one for one in others if one.prints != place.prints), place)
    return added(questions, [new_question(text, answerable=True, expected=places)])


def new_question(text: str, *, answerable: bool, expected: tuple[Expected, ...] = ()) -> Question:
    """A question that was typed, pointed at or read from a file.

    Raises:
        QuestionsError: There is no text, too much of it, or an unanswerable question with an answer.
    """
    text = " ".join(text.split())
    if not text:
        raise QuestionsError("There is no question.", "Type one.")
    if len(text) > _LONGEST:
        raise QuestionsError(f"The question is {len(text):,} characters long.", f"At most {_LONGEST:,} are taken.")
    if expected and not answerable:
        raise QuestionsError(
            "A question that the notes do not answer has no place that answers it.",
            "Leave file, page and phrase empty, or say that it is answered.",
        )
    return Question(uuid.uuid4().hex[:12], text, answerable, expected)


# -------------------------------------------------------------------------------------------------- import and export


def to_lines(questions: Iterable[Question]) -> str:
    """The questions as JSON lines, for a file of one's own."""
    return "".join(json.dumps(_plain(question), ensure_ascii=False) + "\n" for question in questions)


def from_lines(text: str) -> tuple[Question, ...]:
    """The questions of a file of JSON lines.

    Raises:
        QuestionsError: A line cannot be read; it says which, and what is wrong with it.
    """
    found = []
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        if line.strip():
            try:
                found.append(_read(json.loads(line)))
            except (ValueError, TypeError, QuestionsError) as error:
                said = error.message if isinstance(error, QuestionsError) else str(error)
                raise QuestionsError(
                    f"Line {number} is no question: {said}",
                    'One line a question: {"question": "…", "answerable": true, "path": "notes.md", "phrase": "…"}',
                ) from error
    if not found:
        raise QuestionsError("There is no question in this file.", "It has to hold JSON lines, one a question.")
    return tuple(found)


def read_file(file: Path) -> tuple[Question, ...]:
    """The questions of a file of JSON lines.

    Raises:
        QuestionsError: It cannot be read.
    """
    try:
        return from_lines(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise QuestionsError(f"{file} cannot be read: {error}.", "It has to be a text file in UTF-8.") from error


def write_file(file: Path, questions: Iterable[Question]) -> None:
    """Writes questions as JSON lines.

    Raises:
        QuestionsError: It cannot be written.
    """
    try:
        file.write_text(to_lines(questions), encoding="utf-8")
    except OSError as error:
        raise QuestionsError(f"{file} cannot be written: {error.strerror or error}.", "Name another file.") from error


def _plain(question: Question) -> dict[str, Any]:
    places = [
        {name: value for name, value in (("path", one.path), ("page", one.page), ("phrase", one.phrase)) if value}
        | ({"prints": list(one.prints)} if one.prints else {})
        for one in question.expected
    ]
    return {"question": question.text, "answerable": question.answerable, "expected": places}


def _read(line: Any) -> Question:
    if not isinstance(line, dict):
        raise ValueError("it is not between { and }")
    text, answerable = line.get("question"), line.get("answerable", True)
    if not isinstance(text, str) or not isinstance(answerable, bool):
        raise ValueError('"question" has to be a text, and "answerable" true or false')
    places = line.get("expected") or [line]
    if not isinstance(places, list) or not all(isinstance(place, dict) for place in places):
        raise ValueError('"expected" has to be a list of {…}')
    expected = tuple(found for place in places for found in _places(place)) if answerable else ()
    return new_question(text, answerable=answerable, expected=tuple(dict.fromkeys(expected)))


def _places(place: dict[str, Any]) -> Iterable[Expected]:
    """The places that one entry names: one a phrase."""
    path, page, prints = place.get("path") or "", place.get("page"), place.get("prints") or ()
    phrases = place.get("phrase") or place.get("evidence") or ""
    phrases = [phrases] if isinstance(phrases, str) else list(phrases)
    right = (
        isinstance(path, str)
        and (page is None or (isinstance(page, int) and page > 0))
        and all(isinstance(phrase, str) for phrase in (*phrases, *prints))
    )
    if not right:
        raise ValueError('"path" and "phrase" have to be texts, and "page" a number from 1')
    if path or page or prints or any(phrases):
        yield from (Expected(path.strip(), page, phrase.strip(), tuple(prints)) for phrase in phrases or [""])


# ------------------------------------------------------------------------------------------------- places in a library


def positions(expected: Sequence[Expected], hits: Iterable[Hit]) -> tuple[int | None, ...]:
    """Where in a ranking each place was found first, from 1; None where it was not.

    A passage counts with the copies that were folded into it. One that holds two places counts as two passages, one
    after the other, and a second passage of one place as any other: so that no ranking is better than the ideal one.
    """
    found: list[int | None] = [None] * len(expected)
    at = 0
    for hit in hits:
        new = [
            number
            for number, place in enumerate(expected)
            if found[number] is None and any(place.found_in(chunk) for chunk in (hit.chunk, *hit.copies))
        ]
        for number in new:
            at += 1
            found[number] = at
        at += not new
    return tuple(found)


def problem(library: Library, expected: Expected) -> str:
    """Why a place cannot be found by any search: it is not in the library. A phrase for people, empty when it is."""
    files = [record for record in library.catalog.files() if _is_path(expected.path, record.path)]
    if not files:
        return f"no file “{expected.path}” in the library"
    if not any(record.chunks or record.copy_of for record in files):
        return f"nothing was read from {files[0].path}"
    if not expected.path:
        filters = Filters(phrases=(expected.phrase,)) if expected.phrase else Filters()
        held = select(library.catalog, filters)
        return f"“{expected.phrase}” is in no passage" if held is not None and not held.count else ""
    chunks = [chunk for record in files for chunk in library.catalog.chunks_of(record.id)]
    if any(expected.found_in(chunk) for chunk in chunks) or any(record.copy_of for record in files):
        return ""
    if expected.prints:
        return f"{files[0].path} no longer holds the passage"
    on_page = [chunk for chunk in chunks if expected.page is None or _is_on(expected.page, chunk)]
    if not on_page:
        return f"{files[0].path} has no text on page {expected.page}"
    return f"“{expected.phrase}” is in no passage there"


def fingerprint(text: str) -> tuple[str, ...]:
    """What a passage is known by: the smallest hashes of its runs of 12 letters and digits; hexadecimal, in order."""
    return tuple(sorted(_shingles(text))[:_SKETCH])


def _same_place(prints: frozenset[str], text: str) -> bool:
    """Whether a text holds most of the passage with that fingerprint, or lies mostly inside it."""
    largest = max(prints)
    # Among the hashes up to the largest one of the fingerprint, both sides are known in full.
    known = {one for one in _shingles(text) if len(prints) < _SKETCH or one <= largest}
    shared = len(known & prints)
    return shared >= min(_CERTAIN, len(prints)) and shared >= _CONTAINED * min(len(prints), len(known))


def _shingles(text: str) -> set[str]:
    letters = _LETTERS.sub("", unicodedata.normalize("NFKC", text).casefold())
    runs = {letters[at : at + _SHINGLE] for at in range(max(1, len(letters) - _SHINGLE + 1))}
    return {hashlib.blake2b(run.encode(), digest_size=4).hexdigest() for run in runs}


def _is_path(wanted: str, path: str) -> bool:
    """Whether a path is the wanted one, or ends with it."""
    wanted, path = (_folded(one).replace("\\", "/").strip("/") for one in (wanted, path))
    return not wanted or f"/{path}".endswith(f"/{wanted}")


def _is_on(page: int, chunk: Chunk) -> bool:
    return chunk.page is not None and chunk.page <= page <= (chunk.page_end or chunk.page)


def _folded(text: str) -> str:
    """A text without what does not matter: case, width, the shape of apostrophes, and how much white space there is."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().replace("’", "'").split())
