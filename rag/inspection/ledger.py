"""One answer, taken apart: how far each passage came, what to look at first, and where the time went.

A text is **read** from its file, **found** by a search, **kept** in the ranking, **fitted** into the prompt and
**used** in the answer. Where an answer is wrong, the first of these steps that went wrong is the one to mend: what
comes after it could not do better.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum

from rag.answering.remarks import held_to, was_asked, was_cut
from rag.index.catalog import Catalog
from rag.index.library import is_stale
from rag.inspection.audit import audit
from rag.inspection.contradiction import contradictions
from rag.types import Chunk, FileRecord, FileState, Hit, Passage, Prompt, Retrieval, Stage, Trace, Verdict

_LOOKING_SECONDS = 0.5

AFTERWARDS = ("fold", "follow")
"""Stages that rank nothing anew."""

# -------------------------------------------------------------------------------------------------------------- ledger


class Gate(IntEnum):
    """How far a passage came, each gate behind the one before."""

    FOUND = 1
    KEPT = 2
    SENT = 3
    READ = 4
    CITED = 5


class Stop(StrEnum):
    """Why a passage came no further than it did."""

    CITED = "cited"  # it came all the way
    FOLDED = "folded"  # nearly the same as a better one
    LOST = "lost"  # not in the final ranking
    NO_MODEL = "no_model"  # only searched
    NOT_ASKED = "not_asked"  # the notes did not seem to say, so no model was asked
    NO_ROOM = "no_room"  # it did not fit the window
    NOT_WANTED = "not_wanted"  # others were better
    NOT_TOLD = "not_told"  # the model has not told how much it read
    CUT = "cut"  # the model read much less than was sent
    UNCITED = "uncited"  # read, and not named by the answer


@dataclass(frozen=True, slots=True)
class Entry:
    """One passage of the ledger.

    Attributes:
        chunk: The passage.
        rank: Its place in the final ranking; None where it is not in it.
        hits: What each of the ledger's rankings has of it, in their order; None where one has not seen it.
        reached: How far it came.
        stop: Why no further.
        into: For a folded one, the rank of the passage that it was folded into; else 0.
        copies: How many passages were folded into it.
        note: Why it is here where no search found it; else empty.
        passage: What became of it on the way into the prompt, by itself or joined with its neighbours; None where it
            never came so far.
    """

    chunk: Chunk
    rank: int | None
    hits: tuple[Hit | None, ...]
    reached: Gate
    stop: Stop
    into: int = 0
    copies: int = 0
    note: str = ""
    passage: Passage | None = None


@dataclass(frozen=True, slots=True)
class Ledger:
    """Every passage that any search saw, best first.

    Attributes:
        rankings: The stages that gave scores.
        entries: The passages: the final ranking, then what is not in it.
    """

    rankings: tuple[Stage, ...]
    entries: tuple[Entry, ...]

    def count(self, gate: Gate) -> int:
        """Number of passages that came at least so far."""
        return sum(1 for entry in self.entries if entry.reached >= gate)

    def stopped(self, stop: Stop) -> tuple[Entry, ...]:
        """The passages that came no further for that reason."""
        return tuple(entry for entry in self.entries if entry.stop is stop)


def open_ledger(retrieval: Retrieval, trace: Trace | None) -> Ledger:
    """How far each passage of a search came.

    Args:
        retrieval: The search.
        trace: The record of the answer; None for a search without one.
    """
    final = {hit.chunk.id: hit for hit in retrieval.hits}
    folded = {copy.id: hit.rank for hit in retrieval.hits for copy in hit.copies}
    chunks = {hit.chunk.id: hit.chunk for hit in retrieval.hits}
    for hits in (retrieval.hits, *(stage.hits for stage in retrieval.stages)):
        for hit in hits:
            for chunk in (hit.chunk, *hit.copies):
                chunks.setdefault(chunk.id, chunk)
    rankings = tuple(stage for stage in retrieval.stages if step_of(stage.name) not in AFTERWARDS)
    seen = [{hit.chunk.id: hit for hit in stage.hits} for stage in rankings]
    passages = _by_chunk(trace.prompt if trace is not None else None)
    entries = []
    for chunk_id, chunk in chunks.items():
        kept = final.get(chunk_id)
        passage = passages.get(chunk_id)
        reached, stop = _fate(chunk, kept, chunk_id in folded, passage, trace)
        entries.append(
            Entry(
                chunk=chunk,
                rank=kept.rank if kept else None,
                hits=tuple(hits.get(chunk_id) for hits in seen),
                reached=reached,
                stop=stop,
                into=folded.get(chunk_id, 0) if kept is None else 0,
                copies=len(kept.copies) if kept else 0,
                note=kept.note if kept else "",
                passage=passage,
            )
        )
    return Ledger(rankings, tuple(entries))


def step_of(stage: str) -> str:
    """A stage's name without what it searched: ``dense`` of ``dense: hypothetical``."""
    return stage.partition(":")[0]


def _by_chunk(prompt: Prompt | None) -> dict[str, Passage]:
    """By the id of a chunk, the passage that it became, by itself or joined with its neighbours."""
    passages = prompt.passages if prompt is not None else ()
    found = {passage.hit.chunk.id: passage for passage in passages}
    for passage in passages:
        if passage.in_prompt:
            found |= {chunk.id: passage for chunk in passage.joined}
    return found


def _fate(
    chunk: Chunk, hit: Hit | None, is_folded: bool, passage: Passage | None, trace: Trace | None
) -> tuple[Gate, Stop]:
    if hit is None:
        return Gate.FOUND, Stop.FOLDED if is_folded else Stop.LOST
    if trace is None or trace.prompt is None or passage is None:
        return Gate.KEPT, Stop.NO_MODEL
    if not passage.in_prompt:
        return Gate.KEPT, Stop.NO_ROOM if passage.over else Stop.NOT_WANTED
    if not was_asked(trace):
        return Gate.KEPT, Stop.NOT_ASKED
    if _is_cited(chunk, passage, trace):
        return Gate.CITED, Stop.CITED
    if trace.prompt.window.read is None:
        return Gate.SENT, Stop.NOT_TOLD
    return (Gate.SENT, Stop.CUT) if was_cut(trace.prompt.window) else (Gate.READ, Stop.UNCITED)


def _is_cited(chunk: Chunk, passage: Passage, trace: Trace) -> bool:
    """Whether a sentence of the answer is bound to the chunk; of joined ones, to its own part."""
    return any(
        citation.number == passage.number and (not passage.joined or citation.span.overlaps(chunk.span))
        for citation in trace.answer.citations
    )


# ------------------------------------------------------------------------------------------------------- the five steps


class State(StrEnum):
    """How a step went."""

    GOOD = "good"
    LOOK = "look"  # worth a look where the answer is wrong
    BAD = "bad"
    NONE = "none"  # it did not come so far


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing to know of a step.

    Attributes:
        kind: Which; the page has a sentence for each.
        state: What it means for the step; NONE for what is only told.
        count: How many.
        values: What the sentence names beside the count.
    """

    kind: str
    state: State = State.NONE
    count: int = 0
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One of the five steps: ``read``, ``found``, ``kept``, ``fitted``, ``used``."""

    name: str
    facts: tuple[Fact, ...]

    @property
    def state(self) -> State:
        """The worst that is known of it."""
        states = {fact.state for fact in self.facts}
        return next((state for state in (State.BAD, State.LOOK, State.GOOD) if state in states), State.NONE)


@dataclass(frozen=True, slots=True)
class Reading:
    """How the files of the libraries that were searched are read.

    Attributes:
        files: How many there are.
        failed: Those that could not be read.
        partly: Those of which something could not be read.
        changed: Those that are on disk otherwise than they were read, or not any more, as far as that was looked at
            (see :func:`look_at_files`).
    """

    files: int
    failed: tuple[FileRecord, ...] = ()
    partly: tuple[FileRecord, ...] = ()
    changed: tuple[FileRecord, ...] = ()


def look_at_files(catalogs: Sequence[Catalog], found: Retrieval | None = None) -> Reading:
    """Compares what the catalogs hold with the disk, by size and time.

    Args:
        catalogs: Of the libraries that were searched.
        found: What was found in them. Its files are compared in any case; the others for half a second, since those of
            a large library on a slow disk would keep a person waiting.
    """
    records = [record for catalog in catalogs for record in catalog.files()]
    wanted = {(hit.chunk.file_id, hit.chunk.path) for hit in found.hits} if found is not None else set()
    records.sort(key=lambda record: (record.id, record.path) not in wanted)
    until = time.monotonic() + _LOOKING_SECONDS
    return Reading(
        files=len(records),
        failed=tuple(record for record in records if record.state is FileState.FAILED),
        partly=tuple(record for record in records if record.state is FileState.PARTLY),
        changed=tuple(
            record
            for at, record in enumerate(records)
            if (at < len(wanted) or time.monotonic() < until) and is_stale(record)
        ),
    )


def checkpoints(retrieval: Retrieval, trace: Trace | None, opened: Ledger, reading: Reading) -> tuple[Checkpoint, ...]:
    """The five steps of one question, in their order.

    Args:
        retrieval: The search.
        trace: The record of the answer; None for a search without one.
        opened: Its ledger.
        reading: How the files are read now.
    """
    return (
        checkpoint_of_files(reading, opened),
        Checkpoint("found", tuple(_found(retrieval, opened))),
        Checkpoint("kept", tuple(_kept(opened))),
        Checkpoint("fitted", tuple(_fitted(trace, opened))),
        Checkpoint("used", tuple(_used(trace, opened))),
    )


def first_trouble(steps: Sequence[Checkpoint]) -> Checkpoint | None:
    """Where to look first: the first step that went wrong, else the first that is worth a look, else None."""
    for state in (State.BAD, State.LOOK):
        for step in steps:
            if step.state is state:
                return step
    return None


def checkpoint_of_files(reading: Reading, opened: Ledger = Ledger((), ())) -> Checkpoint:
    """The first step: how the files are read, those of passages that were sent to the model apart."""
    facts = [Fact("files", State.GOOD if reading.files else State.BAD, reading.files)]
    facts += _files("failed", State.LOOK, reading.failed)
    facts += _files("partly", State.LOOK, reading.partly)
    sent = {(entry.chunk.file_id, entry.chunk.path) for entry in opened.entries if entry.reached >= Gate.SENT}
    stale = [record for record in reading.changed if (record.id, record.path) in sent]
    facts += _files("stale", State.BAD, stale)
    facts += _files("changed", State.LOOK, [record for record in reading.changed if record not in stale])
    return Checkpoint("read", tuple(facts))


def _files(kind: str, state: State, records: Sequence[FileRecord]) -> list[Fact]:
    return [Fact(kind, state, len(records), tuple(record.path for record in records))] if records else []


_VERDICTS = {Verdict.ENOUGH: State.GOOD, Verdict.SOME: State.LOOK, Verdict.NONE: State.BAD}


def _found(retrieval: Retrieval, opened: Ledger) -> list[Fact]:
    verdict = retrieval.evidence.verdict
    facts = [
        Fact("found", State.GOOD if opened.entries else State.BAD, len(opened.entries)),
        Fact(f"verdict_{verdict.value}", _VERDICTS[verdict]),
    ]
    if retrieval.evidence.features.get("across languages"):
        facts.append(Fact("across"))
    silent = next((stage for stage in retrieval.stages if stage.name == "lexical" and not stage.weight), None)
    if silent is not None:
        facts.append(Fact("no_vote", values=(silent.note,)))
    if holding := held_to(retrieval.filters):
        facts.append(Fact("held_to", values=(" · ".join(holding),)))
    if retrieval.loosened:
        facts.append(Fact("loosened", State.LOOK, len(retrieval.loosened)))
    return facts


def _kept(opened: Ledger) -> list[Fact]:
    if not opened.entries:
        return []
    kept = opened.count(Gate.KEPT)
    facts = [Fact("kept", State.GOOD if kept else State.BAD, kept)]
    for kind, stop in (("folded", Stop.FOLDED), ("lost", Stop.LOST)):
        if stopped := opened.stopped(stop):
            facts.append(Fact(kind, count=len(stopped)))
    return facts


def _fitted(trace: Trace | None, opened: Ledger) -> list[Fact]:
    if trace is None or trace.prompt is None:
        return [Fact("only_searched")]
    if not was_asked(trace):
        return [Fact("not_asked")]
    window = trace.prompt.window
    inside = sum(passage.in_prompt for passage in trace.prompt.passages)
    facts = [Fact("sent", State.GOOD, inside, (f"{window.used:,}", f"{window.total:,}"))]
    if short := opened.stopped(Stop.NO_ROOM):
        facts.append(Fact("no_room", State.BAD, len(short)))
    if beyond := opened.stopped(Stop.NOT_WANTED):
        facts.append(Fact("beyond", count=len(beyond)))
    if window.forgotten:
        facts.append(Fact("forgotten", State.LOOK, window.forgotten))
    if window.read is None:
        facts.append(Fact("not_told"))
    elif was_cut(window):
        facts.append(Fact("cut", State.BAD, values=(f"{window.read:,}", f"{window.used:,}")))
    else:
        facts.append(Fact("read", State.GOOD, values=(f"{window.read:,}",)))
    return facts


def _used(trace: Trace | None, opened: Ledger) -> list[Fact]:
    if trace is None or trace.prompt is None or not was_asked(trace):
        return []
    answer = trace.answer
    if answer.outcome == "not_in_notes":
        return [Fact("refused", State.LOOK)]
    facts: list[Fact] = []
    if answer.outcome in ("failed", "stopped"):
        failed = answer.outcome == "failed"
        facts.append(Fact("failed_answer" if failed else "stopped", State.BAD if failed else State.LOOK))
    if trace.generation is not None and trace.generation.ended == "length":
        facts.append(Fact("length", State.BAD, trace.prompt.window.answer_room))
    cited = {citation.number for citation in answer.citations}
    if cited:
        facts.append(Fact("cited", State.GOOD, len(cited)))
    elif answer.text.strip():
        facts.append(Fact("uncited", State.BAD))
    audited = audit(trace)
    if audited is None:
        return facts
    if audited.unknown:
        facts.append(Fact("unknown", State.BAD, len(audited.unknown)))
    if audited.missing:
        written = dict.fromkeys(fact.text for fact in audited.missing)
        facts.append(Fact("missing", State.BAD, len(audited.missing), tuple(written)))
    if opposed := contradictions(trace):
        facts.append(Fact("contradicted", State.LOOK, len(opposed), tuple({one.chunk.path: 0 for one in opposed})))
    if audited.uncited and cited:
        facts.append(Fact("unsupported", State.LOOK, audited.uncited))
    return facts


# ------------------------------------------------------------------------------------------------------------ timings


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the work.

    Attributes:
        name: As in ``Trace.seconds`` and ``Retrieval.seconds``; ``loading`` where a model was loaded first.
        start: Seconds from the question to its begin.
        seconds: How long it took.
        inside: True for a part of the step before it.
        tokens: Tokens that were read or written in it; None where that is not its work, or not known.
    """

    name: str
    start: float
    seconds: float
    inside: bool = False
    tokens: int | None = None

    @property
    def speed(self) -> float | None:
        """Tokens a second; None where there are none."""
        return self.tokens / self.seconds if self.tokens and self.seconds > 0 else None


def timeline(retrieval: Retrieval, trace: Trace | None) -> tuple[Step, ...]:
    """The steps in the order of the work, with the parts of the search and of the waiting behind each.

    Args:
        retrieval: The search.
        trace: The record of the answer; None for a search without one.
    """
    if trace is None:
        return _parts(retrieval.seconds, 0.0)
    steps: list[Step] = []
    start = 0.0
    for name in ("loading", "condense", "search", "prompt", "first token", "generation", "citations"):
        seconds = trace.seconds.get(name)
        if seconds is None:
            continue
        steps.append(Step(name, start, seconds, tokens=_tokens(name, trace)))
        if name == "search":
            steps += _parts(retrieval.seconds, start, inside=True)
            known = sum(retrieval.seconds.values())
            steps.append(Step("the rest", start + known, max(0.0, seconds - known), inside=True))
        if name == "first token" and trace.generation is not None and trace.generation.loading:
            steps.append(Step("loading", start, min(trace.generation.loading, seconds), inside=True))
        start += seconds
    return tuple(steps)


def _tokens(name: str, trace: Trace) -> int | None:
    if name == "first token" and trace.prompt is not None:
        return trace.prompt.window.read
    if name == "generation" and trace.generation is not None:
        return trace.generation.tokens
    return None


def _parts(seconds: Mapping[str, float], start: float, *, inside: bool = False) -> tuple[Step, ...]:
    steps = []
    for name, took in seconds.items():
        steps.append(Step(name, start, took, inside))
        start += took
    return tuple(steps)


# --------------------------------------------------------------------------------------------------- the exact prompt


@dataclass(frozen=True, slots=True)
class Rendered:
    """A prompt as the one text that a model reads.

    Attributes:
        text: With the signs that the model's chat template puts between the messages.
        tokens: Its length by the count of the model in use.
        exact: Whether that is the model's own count.
    """

    text: str
    tokens: int
    exact: bool
