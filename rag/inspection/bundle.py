"""Replay bundles: one file with all that made an answer, to keep, to hand on, and to run again.

::

    record + settings + state of the index + audit ─► JSON ─► opened anywhere ─► asked once more ─► what is another now

The record repeats a passage's text with every step that found it; in the file each text stands once.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import TypeAdapter, ValidationError

from rag import __version__
from rag.answering.again import earlier_turns
from rag.answering.chain import Answering, AnswerRun, State
from rag.answering.remarks import held_to, was_asked
from rag.errors import SourceError
from rag.index.library import Library, describe
from rag.inspection.audit import Audit, audit
from rag.settings import Settings
from rag.types import (
    AnswerDone,
    ChatModelIdentity,
    Chunk,
    Hit,
    RetrievalDone,
    SearchOptions,
    TextDelta,
    Trace,
    Verdict,
)

KIND = "footnote-answer"
FORMAT = 1
"""What a file says of itself: other kinds and later formats are refused."""

MOST_BYTES = 64 * 2**20
"""Longer files are not bundles of one answer."""

_COMPARED = 10
"""Places of the ranking that are compared."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file that passages came from, as the library had it when the bundle was made.

    Attributes:
        path: Below its folder.
        sha256: Of its bytes; empty where the library does not have it any more.
        newer: Whether it was indexed anew after the question was asked.
    """

    path: str
    sha256: str
    newer: bool = False


@dataclass(frozen=True, slots=True)
class IndexState:
    """The libraries that were searched, in so few words that two states can be compared.

    Attributes:
        fingerprint: SHA-256 over each file's path, bytes, and the recipe by which it was read and cut.
        files: Number of files.
        chunks: Number of chunks.
        sources: The files of what was found.
    """

    fingerprint: str
    files: int
    chunks: int
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True, slots=True)
class Bundle:
    """An answer with all that made it.

    Attributes:
        version: The Footnote that made the bundle.
        made_at: When, in Unix seconds.
        trace: The record of the answer.
        index: The state of the index when the bundle was made.
        audit: The answer's sentences beside what they cite; None where there is no answer.
    """

    version: str
    made_at: float
    trace: Trace
    index: IndexState
    audit: Audit | None = None


_bundle = TypeAdapter(Bundle)


def decided(settings: Settings, options: SearchOptions, notes: int | None) -> dict[str, str]:
    """What decides an answer beside question, models and index, as it is kept with the answer's record."""
    return {
        "temperature": f"{settings.temperature:g}",
        "seed": str(settings.seed),
        "candidates": str(settings.candidates),
        "notes": str(notes or "auto"),
        "answer_tokens": str(settings.answer_tokens),
        "anyway": "yes" if options.anyway else "no",
    }


# --------------------------------------------------------------------------------------------------- made and read


def make_bundle(trace: Trace, libraries: Sequence[Library]) -> Bundle:
    """The bundle of an answer.

    Args:
        trace: The answer's record.
        libraries: Those that were searched.
    """
    found = dict.fromkeys(chunk.path for chunk in _chunks(trace))
    records = [record for library in libraries for record in library.catalog.files()]
    by_path = {record.path: record for record in records}
    sources = tuple(
        Source(path, by_path[path].sha256, by_path[path].indexed_at > trace.asked_at)
        if path in by_path
        else Source(path, "")
        for path in found
    )
    state = replace(index_state(libraries), sources=sources)
    return Bundle(__version__, time.time(), trace, state, audit(trace))


def index_state(libraries: Sequence[Library]) -> IndexState:
    """The state of some libraries, without the files of a question."""
    lines: list[str] = []
    chunks = 0
    for library in libraries:
        recipes = library.catalog.recipes()
        for record in library.catalog.files():
            lines.append(f"{record.path}\0{record.sha256}\0{recipes.get(record.id, '')}\0{record.chunks}")
            chunks += record.chunks
    digest = hashlib.sha256("\n".join(sorted(lines)).encode(errors="surrogatepass")).hexdigest()
    return IndexState(digest, len(lines), chunks)


def to_json(bundle: Bundle) -> str:
    """The bundle as the text of a file."""
    chunks: dict[str, Any] = {}
    body = _packed(json.loads(_bundle.dump_json(bundle)), chunks)
    return json.dumps({"kind": KIND, "format": FORMAT, **body, "chunks": chunks}, ensure_ascii=False, indent=1)


def from_json(text: str | bytes) -> Bundle:
    """The bundle in the text of a file.

    Raises:
        SourceError: It is none, or one of a later Footnote.
    """
    hint = "Choose a file that Footnote saved as a replay bundle."
    if len(text) > MOST_BYTES:
        raise SourceError(f"The file is larger than {MOST_BYTES // 2**20} MiB: it is no replay bundle.", hint)
    try:
        body = json.loads(text)
        if not isinstance(body, dict) or body.pop("kind", None) != KIND:
            raise SourceError("The file is no replay bundle.", hint)
        if (made_for := body.pop("format", None)) != FORMAT:
            raise SourceError(
                f"The bundle has format {made_for}, and this Footnote reads format {FORMAT}.",
                "Open it with the Footnote that made it, or a later one.",
            )
        bundle = _bundle.validate_python(_unpacked(body, body.pop("chunks", {})), strict=False)
        if not bundle.trace.retrieval.queries:
            raise SourceError("The bundle does not say what was searched for.", hint)
    except (ValidationError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise SourceError("The file is no replay bundle, or was damaged.", hint) from error
    return bundle


def _packed(value: Any, chunks: dict[str, Any]) -> Any:
    """The value with each chunk in it replaced by a reference."""
    if isinstance(value, list):
        return [_packed(one, chunks) for one in value]
    if not isinstance(value, dict):
        return value
    if "file_id" in value and "span" in value:
        name = f"{value['id']}:{value['span']['start']}-{value['span']['end']}"
        chunks.setdefault(name, value)
        return {"chunk": name} if chunks[name] == value else value
    return {key: _packed(one, chunks) for key, one in value.items()}


def _unpacked(value: Any, chunks: Mapping[str, Any]) -> Any:
    if isinstance(value, list):
        return [_unpacked(one, chunks) for one in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"chunk"} and isinstance(value["chunk"], str):
        return chunks[value["chunk"]]
    return {key: _unpacked(one, chunks) for key, one in value.items()}


def _chunks(trace: Trace) -> Iterator[Chunk]:
    for hits in (trace.retrieval.hits, *(stage.hits for stage in trace.retrieval.stages)):
        for hit in hits:
            yield from (hit.chunk, *hit.copies)


# ------------------------------------------------------------------------------------------------------- run again


@dataclass(frozen=True, slots=True)
class Moved:
    """A passage of either ranking.

    Attributes:
        chunk: As it is now; as it was then where it is not found any more.
        then: Its place then; None: it was not found.
        now: Its place now; None: it is not found.
        why: What became of it, where that is known.
    """

    chunk: Chunk
    then: int | None
    now: int | None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Differences:
    """What is another in the second run.

    Attributes:
        conditions: Name, then, now: models, settings, number of files and chunks, the verdict on the evidence.
        sources: Path and what became of it, of the files that passages came from.
        same_index: Whether every file of the index is as it was.
        moved: The passages that are not where they were among the best of either ranking.
        same_prompt: Whether the model was sent the same, character by character; None where it was not asked then or
            now.
        same_text: Whether the answer is the same, character by character.
    """

    conditions: tuple[tuple[str, str, str], ...]
    sources: tuple[tuple[str, str], ...]
    same_index: bool
    moved: tuple[Moved, ...]
    same_prompt: bool | None
    same_text: bool


@dataclass(frozen=True, slots=True)
class Replay:
    """How far a second run is.

    Attributes:
        text: What the model has said so far.
        step: What is being done: ``search``, ``answer``, ``done``.
        trace: The new record, at the end.
        differences: What is another, at the end.
    """

    text: str = ""
    step: str = "search"
    trace: Trace | None = None
    differences: Differences | None = None


@dataclass(frozen=True, slots=True)
class _Repeated(Answering):
    """Answers as chat does, but searches for what was searched for then: a model may reword it otherwise now."""

    query: tuple[str, str] = field(default=("", ""), kw_only=True)

    def _condense(self, state: State) -> tuple[str, str]:
        return self.query


def replay(bundle: Bundle, answering: Answering) -> Generator[Replay, None, None]:
    """Asks a bundle's question once more, and compares.

    Args:
        bundle: The bundle.
        answering: What to answer with now: the libraries that were searched, the chat model, and the settings.

    Yields:
        How far it is; the last one has the differences. Closing the iterator stops the model.

    Raises:
        LibraryError: The library cannot be searched.
        ModelError: A model failed.
    """
    then, retrieval = bundle.trace, bundle.trace.retrieval
    window = then.prompt.window if then.prompt else None
    notes = then.settings.get("notes", "auto")
    repeated = _Repeated(
        answering.retriever,
        answering.chat,
        int(notes) if notes.isdecimal() else None,
        window.answer_room if window else answering.answer_room,
        replace(
            answering.options,
            filters=retrieval.filters,
            anyway=retrieval.evidence.verdict is Verdict.NONE and was_asked(then),
        ),
        answering.settings,
        query=(retrieval.queries[0], retrieval.rewrite_note),
    )
    progress = Replay()
    yield progress
    run = AnswerRun(repeated, retrieval.question, earlier_turns(then))
    events = run.events()
    try:
        for event in events:
            if isinstance(event, RetrievalDone):
                progress = replace(progress, step="answer")
            elif isinstance(event, TextDelta):
                progress = replace(progress, text=progress.text + event.text)
            elif isinstance(event, AnswerDone):
                differences = compare(bundle, event.trace, answering.retriever.libraries)
                progress = Replay(event.trace.answer.text, "done", event.trace, differences)
            yield progress
    finally:
        events.close()


def compare(bundle: Bundle, now: Trace, libraries: Sequence[Library]) -> Differences:
    """What is another in a later answer to the same question.

    Args:
        bundle: The first answer.
        now: The later one.
        libraries: Those that were searched for it.
    """
    then = bundle.trace
    state = index_state(libraries)
    sources = tuple(_sources(bundle, libraries))
    return Differences(
        conditions=tuple(_conditions(bundle, now, state)),
        sources=sources,
        same_index=state.fingerprint == bundle.index.fingerprint,
        moved=tuple(_moved(then.retrieval.hits, now.retrieval.hits, dict(sources))),
        same_prompt=then.prompt.messages == now.prompt.messages
        if then.prompt and now.prompt and was_asked(then) and was_asked(now)
        else None,
        same_text=then.answer.text == now.answer.text,
    )


def _conditions(bundle: Bundle, now: Trace, state: IndexState) -> Iterator[tuple[str, str, str]]:
    then = bundle.trace
    pairs = [
        ("Footnote", bundle.version, __version__),
        ("chat model", _model(then.model), _model(now.model)),
        ("embedder", describe(then.embedder), describe(now.embedder)),
        *((name, value, now.settings.get(name, value)) for name, value in then.settings.items() if name != "anyway"),
        ("files", f"{bundle.index.files:,}", f"{state.files:,}"),
        ("chunks", f"{bundle.index.chunks:,}", f"{state.chunks:,}"),
        ("searched for", then.retrieval.queries[0], now.retrieval.queries[0]),
        ("held to", " · ".join(held_to(then.retrieval.filters)), " · ".join(held_to(now.retrieval.filters))),
        ("passage made up to search with", then.retrieval.hypothetical, now.retrieval.hypothetical),
        ("verdict", then.retrieval.evidence.verdict.value, now.retrieval.evidence.verdict.value),
        ("outcome", then.answer.outcome, now.answer.outcome),
    ]
    yield from ((name, before, after) for name, before, after in pairs if before != after)


def _model(model: ChatModelIdentity | None) -> str:
    if model is None:
        return "none"
    digest = f", {model.digest[:12]}" if model.digest else ""
    return f"{model.name} ({model.provider}{digest}, window {model.context_tokens:,})"


def _sources(bundle: Bundle, libraries: Sequence[Library]) -> Iterator[tuple[str, str]]:
    """What became of the files that passages came from."""
    records = {record.path: record for library in libraries for record in library.catalog.files()}
    for source in bundle.index.sources:
        record = records.get(source.path)
        if record is None:
            yield source.path, "not in the library any more" if source.sha256 else "was not in the library then"
        elif record.sha256 != source.sha256:
            yield source.path, "its content is another"
        elif source.newer:
            yield source.path, "was indexed anew between the answer and the bundle"


def _moved(then: Sequence[Hit], now: Sequence[Hit], sources: Mapping[str, str]) -> Iterator[Moved]:
    """The passages that are not where they were, by their place then, new ones last."""
    # An id is another one after a file was indexed anew; a passage is the same where its words are.
    before, after = ({_words(hit.chunk): hit for hit in reversed(hits)} for hits in (then, now))
    for words, hit in sorted(before.items(), key=lambda item: item[1].rank):
        later = after.get(words)
        if later is None and hit.rank <= _COMPARED:
            yield Moved(hit.chunk, hit.rank, None, sources.get(hit.chunk.path, ""))
        elif later is not None and later.rank != hit.rank and min(later.rank, hit.rank) <= _COMPARED:
            yield Moved(later.chunk, hit.rank, later.rank)
    for words, hit in sorted(after.items(), key=lambda item: item[1].rank):
        if words not in before and hit.rank <= _COMPARED:
            yield Moved(hit.chunk, None, hit.rank, sources.get(hit.chunk.path, ""))


def _words(chunk: Chunk) -> tuple[str, str]:
    return chunk.path, " ".join(chunk.text.split())
