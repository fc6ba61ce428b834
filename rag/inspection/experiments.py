"""What another way of cutting, embedding or searching would do for a library's questions, before it is indexed anew.

A sample of the library's files is indexed once for every way in a library of its own that is deleted again, and the
same questions are searched in each. The ways differ from how the library is made now in one thing at a time::

    sample: files that answer the questions, then others ─► as now ─► each other way ─► who finds the answer earlier?

The library itself is only read. In a sample everything is easier to find than in the whole: the figures are for
comparing the ways with each other, and for nothing else.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, median
from typing import Literal

import numpy as np

from rag.errors import ModelError, ModelFailed, QuestionsError
from rag.index.chunking.chunks import ChunkProfile
from rag.index.library import Library
from rag.index.selection import select
from rag.inspection.questions import Expected, Question, positions, problem
from rag.inspection.scratch import KnownVectors, ReadOnce, fill, scratch_library
from rag.models.base import ChatModel, Embedder
from rag.models.hub import pull_name
from rag.models.reranker import Reranker
from rag.retrieval.multivector import is_affordable
from rag.retrieval.retriever import Retriever
from rag.types import EmbedderIdentity, FileRecord, Filters, Hit, ModelChoice

DEPTH = 10
"""Passages down to which an answer counts as found."""

FEWEST = 10
"""Questions below which a comparison says next to nothing."""

_CUTS: tuple[tuple[Literal["sections", "words"], int, int], ...] = (
    ("sections", 120, 20),
    ("sections", 200, 30),
    ("sections", 400, 50),
    ("words", 150, 30),
    ("words", 300, 40),
    ("words", 512, 50),
)
_CHANCE = 0.05
_FLIPS = 20_000
_ALL_FLIPS = 12  # differences up to which every way of choosing their signs is counted
_ENOUGH_TO_TIME = 16  # passages
_ROUNDING = 1e-9  # sums of the same differences in another order are not quite the same


@dataclass(frozen=True, slots=True)
class Variant:
    """One way of making and searching a library; what is empty is as it is now.

    Attributes:
        cut: How documents are cut, ``sections`` or ``words``; with ``limit`` and ``overlap`` in the embedder's tokens.
        embedder: The embedder, as the setting names it.
        hyde: Whether a made-up passage is searched beside the question.
        rerank: Whether a cross-encoder sorts what was found.
    """

    cut: Literal["", "sections", "words"] = ""
    limit: int = 0
    overlap: int = 0
    embedder: str = ""
    hyde: bool | None = None
    rerank: bool | None = None


AS_NOW = Variant()


@dataclass(frozen=True, slots=True)
class Sample:
    """The part of a library that is tried with.

    Attributes:
        files: Its files.
        chunks: Passages in them, as they are cut now.
        total: Passages in the whole library.
        questions: The questions that it can answer.
        left_out: Questions that cannot be measured with it, each with the reason.
    """

    files: tuple[FileRecord, ...]
    chunks: int
    total: int
    questions: tuple[Question, ...]
    left_out: tuple[tuple[Question, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Difference:
    """Two ways compared, question by question.

    Attributes:
        mean: Mean difference of the reciprocal ranks; above 0: better than now.
        noise: What chance alone would make of it, at most, either way (see :func:`noise_band`).
        wins: Questions, by their place in the sample, whose answer stands higher than now.
        losses: Those whose answer stands lower.
    """

    mean: float
    noise: float
    wins: tuple[int, ...]
    losses: tuple[int, ...]

    @property
    def verdict(self) -> Literal["better", "worse", "noise"]:
        """What the difference says."""
        if abs(self.mean) <= self.noise:
            return "noise"
        return "better" if self.mean > 0 else "worse"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one way did.

    Attributes:
        variant: The way.
        chunks: Passages that the sample was cut into.
        tokens: Their mean length, in the embedder's tokens.
        ranks: Of each question, the rank of the first passage that answers it, down to :data:`DEPTH`; 0: not found.
        read: Of each question, tokens of the passages down to that one; 0: not found.
        seconds: Median time of a search.
        rebuild: Seconds that embedding the whole library this way would take, by what was measured; None where nothing
            would have to be, or too little was measured.
        difference: Compared with how it is now; None for that itself.
        problem: Why it could not be tried; empty when it could.
    """

    variant: Variant
    chunks: int = 0
    tokens: float = 0.0
    ranks: tuple[int, ...] = ()
    read: tuple[int, ...] = ()
    seconds: float = 0.0
    rebuild: float | None = None
    difference: Difference | None = None
    problem: str = ""

    def found(self, depth: int) -> float:
        """Share of the questions that are answered by one of the first so many passages."""
        return fmean(0 < rank <= depth for rank in self.ranks)

    def found_within(self, tokens: int) -> float:
        """Share of the questions that are answered within so many tokens of passages, best first."""
        return fmean(0 < read <= tokens for read in self.read)

    @property
    def mrr(self) -> float:
        """Mean reciprocal rank of the first passage that answers, down to :data:`DEPTH`."""
        return fmean(_reciprocal(rank) for rank in self.ranks)


@dataclass(frozen=True, slots=True)
class Experiment:
    """What came of it.

    Attributes:
        library: The library.
        sample: What was tried with.
        outcomes: How each way did so far, the present one first.
        before: What the library held when it began (see :func:`contents_hash`).
        after: What it held at the end; empty before that.
    """

    library: str
    sample: Sample
    outcomes: tuple[Outcome, ...]
    before: str
    after: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """Progress of an experiment.

    Attributes:
        experiment: What there is so far.
        variant: The way at work.
        doing: What is done with it.
        done: Files or questions done with it, of ``total``.
        nth: Which of ``ways`` it is, from 1.
        left: Seconds until this way is indexed; None while unknown.
    """

    experiment: Experiment
    variant: Variant
    doing: Literal["index", "search"]
    done: int
    total: int
    nth: int
    ways: int
    left: float | None = None


@dataclass(frozen=True, slots=True)
class Bench:
    """What an experiment works with.

    Attributes:
        home: ``FOOTNOTE_HOME``.
        retriever: Searches the library as it is searched now.
        profile: How its documents are cut now.
        readers: Reads its files.
        embedder: Opens another embedder by its name, for as long as it is needed.
        chat: Makes up passages (HyDE); None: there is no model.
        reranker: Sorts what was found; None: there is none.
        passwords: Tried on encrypted files.
    """

    home: Path
    retriever: Retriever
    profile: ChunkProfile
    readers: ReadOnce
    embedder: Callable[[str], AbstractContextManager[Embedder]]
    chat: ChatModel | None = None
    reranker: Reranker | None = None
    passwords: tuple[str, ...] = ()


# ----------------------------------------------------------------------------------------------------------- the sample


def usual_cuts(now: ChunkProfile) -> tuple[Variant, ...]:
    """Other ways of cutting documents that are worth trying."""
    return tuple(
        Variant(cut, limit, overlap)
        for cut, limit, overlap in _CUTS
        if (cut, limit, overlap) != (now.name, now.limit, now.overlap)
    )


def is_another(model: ModelChoice, built_with: EmbedderIdentity) -> bool:
    """Whether a model is an embedder on this machine, and not the one that built the library."""
    same = (
        {"e5-small"}
        if built_with.provider == "bundled"
        else {f"ollama:{built_with.model}", pull_name(built_with.model)}
    )
    # What runs on somebody's servers would be sent the notes.
    return model.kind == "embedding" and model.ready and model.id not in same and not model.id.endswith("cloud")


def take_sample(library: Library, questions: Sequence[Question], limit: int) -> Sample:
    """Chooses files: first those that answer the questions, the smallest first, then others by chance, always the same.

    Args:
        library: The library.
        questions: Its questions; those without a place that answers them say nothing here and are passed over.
        limit: Passages in the sample, about.
    """
    records = {record.id: record for record in library.catalog.files() if record.chunks}
    measurable = [question for question in questions if question.answerable and question.expected]
    holders = {question.id: _holders(library, question.expected) & records.keys() for question in measurable}
    answering = sorted(set().union(*holders.values()), key=lambda id_: (records[id_].chunks, id_))
    others = sorted(
        records.keys() - set(answering), key=lambda id_: hashlib.sha256(records[id_].sha256.encode()).digest()
    )
    chosen: set[int] = set()
    chunks = 0
    for id_ in (*answering, *others):
        if not chosen or chunks + records[id_].chunks <= limit:
            chosen.add(id_)
            chunks += records[id_].chunks
    kept, left_out = [], []
    for question in measurable:
        if holders[question.id] & chosen:
            kept.append(question)
        elif holders[question.id]:
            left_out.append((question, "the file that answers it is too long for this sample"))
        else:
            left_out.append((question, problem(library, question.expected[0]) or "no passage answers it"))
    files = tuple(record for id_, record in records.items() if id_ in chosen)
    return Sample(files, chunks, library.catalog.counts()[1], tuple(kept), tuple(left_out))


def _holders(library: Library, expected: Sequence[Expected]) -> set[int]:
    """The files that hold a passage which answers."""
    found: set[int] = set()
    for place in expected:
        # The phrase may stand in a heading, so that it can be looked for in the text only where nothing else is known.
        files, phrases = (place.path,) if place.path else (), () if place.path else (place.phrase,)
        within = select(library.catalog, Filters(files=files, phrases=phrases))
        for chunk in library.catalog.chunks_where(within.condition) if within is not None else ():
            if chunk.file_id not in found and place.found_in(chunk):
                found.add(chunk.file_id)
    return found


def contents_hash(library: Library) -> str:
    """A hash of what is searched in a library: its files, how they were cut, its passages' ids and their vectors."""
    digest = hashlib.sha256()
    recipes = library.catalog.recipes()
    for record in library.catalog.files():
        digest.update(f"{record.id}\0{record.path}\0{record.sha256}\0{record.chunks}\0{recipes[record.id]}\n".encode())
    for ids, vectors in library.vectors.batches():
        digest.update("\n".join(ids).encode())
        digest.update(vectors.tobytes())
    return digest.hexdigest()[:16]


# ----------------------------------------------------------------------------------------------------------- trying out


def run_experiment(
    library: Library, questions: Sequence[Question], variants: Sequence[Variant], limit: int, bench: Bench
) -> Iterator[Step]:
    """Tries ways of making and searching a library; how it is now comes first and is what they are compared with.

    Closing the iterator stops it and leaves nothing behind.

    Args:
        library: The library.
        questions: Its questions.
        variants: The other ways.
        limit: Passages in the sample, about.
        bench: What to work with.

    Yields:
        Progress; the last one's experiment is complete.

    Raises:
        QuestionsError: No question can be measured.
        ModelError: The library's own embedder failed; what another one does wrong is told in its outcome.
    """
    sample = take_sample(library, questions, limit)
    if not sample.questions:
        raise QuestionsError(
            "There is no question here whose answer is known.",
            "Add some under “Question sets”: a question with the file, page or words that answer it.",
        )
    run = _Run(library, sample, bench, variants)
    for making, ways in run.makings.items():
        yield from run.attempt(making, ways)
    yield run.finished()


Making = tuple[ChunkProfile, str]
"""How a scratch library is made: how documents are cut, and by which embedder; the empty one is the library's own."""


class _Run:
    """The state of one experiment.

    Attributes:
        makings: How scratch libraries are made, each with the ways of searching it.
    """

    def __init__(self, library: Library, sample: Sample, bench: Bench, variants: Sequence[Variant]) -> None:
        self.makings: dict[Making, list[Variant]] = defaultdict(list)
        for variant in (AS_NOW, *variants):
            self.makings[_profile(variant, bench.profile), variant.embedder].append(variant)
        self._library = library
        self._sample = sample
        self._bench = bench
        self._ways = len(variants)
        self._experiment = Experiment(library.name, sample, (), contents_hash(library))

    def attempt(self, making: Making, ways: Sequence[Variant]) -> Iterator[Step]:
        """Makes a scratch library and searches it in some ways."""
        outcomes = self._experiment.outcomes
        try:
            yield from self._tried(making, ways)
        except ModelError as error:
            if AS_NOW in ways and self._experiment.outcomes == outcomes:
                raise
            done = [outcome.variant for outcome in self._experiment.outcomes]
            for variant in ways:
                if variant not in done:
                    self._add(Outcome(variant, problem=str(error)))

    def _tried(self, making: Making, ways: Sequence[Variant]) -> Iterator[Step]:
        profile, name = making
        settings = replace(self._library.catalog.settings(), watch=False)
        own = self._bench.retriever.embedder
        with (
            self._bench.embedder(name) if name else nullcontext(own) as embedder,
            scratch_library(self._bench.home, settings) as scratch,
        ):
            known = KnownVectors(embedder, self._library if embedder.identity == own.identity else None)
            files = self._sample.files
            yield self._step(ways[0], "index", 0, len(files))
            for event in fill(scratch, files, known, self._bench.readers, profile, self._bench.passwords):
                yield self._step(ways[0], "index", event.files_done, event.files_total, event.seconds_left)
            cut = scratch.catalog.chunk_tokens()
            if not cut:
                raise ModelFailed(
                    "None of the sample's files could be read again.", "Sync the library, then try again."
                )
            made = Outcome(
                ways[0], len(cut), fmean(cut), rebuild=self._rebuild(making, len(cut), known.computed, known.seconds)
            )
            for variant in ways:
                yield from self._searched(replace(made, variant=variant), scratch, embedder)

    def _searched(self, made: Outcome, scratch: Library, embedder: Embedder) -> Iterator[Step]:
        """Asks every question."""
        retriever = self._retriever(made.variant, scratch, embedder)
        questions = self._sample.questions
        ranks, read, seconds, silent = [], [], [], 0
        for done, question in enumerate(questions):
            yield self._step(made.variant, "search", done, len(questions))
            started = time.perf_counter()
            retrieval = retriever.search(question.text)
            seconds.append(time.perf_counter() - started)
            silent += retriever.writer is not None and not retrieval.hypothetical
            rank = first_right(question, retrieval.hits)
            ranks.append(rank)
            read.append(sum(hit.chunk.tokens for hit in retrieval.hits[:rank]))
        problem = f"No passage was made up for {silent} of {len(questions)} questions." if silent else ""
        self._add(replace(made, ranks=tuple(ranks), read=tuple(read), seconds=median(seconds), problem=problem))

    def _retriever(self, variant: Variant, scratch: Library, embedder: Embedder) -> Retriever:
        """As the library is searched now, but for what the variant says."""
        now = self._bench.retriever
        return now.model_copy(
            update={
                "libraries": (scratch,),
                "embedder": embedder,
                "by_tokens": is_affordable(embedder),
                "writer": now.writer if variant.hyde is None else self._bench.chat if variant.hyde else None,
                "reranker": now.reranker
                if variant.rerank is None
                else self._bench.reranker
                if variant.rerank
                else None,
            }
        )

    def _rebuild(self, making: Making, chunks: int, computed: int, seconds: float) -> float | None:
        """Seconds that embedding the whole library would take, by what the sample took."""
        if making == (self._bench.profile, "") or computed < _ENOUGH_TO_TIME:
            return None
        return seconds / computed * chunks * self._sample.total / self._sample.chunks

    def _add(self, outcome: Outcome) -> None:
        before = self._experiment.outcomes
        if before and outcome.ranks:
            outcome = replace(outcome, difference=compare(before[0].ranks, outcome.ranks, self._ways))
        self._experiment = replace(self._experiment, outcomes=(*before, outcome))

    def finished(self) -> Step:
        """The last step."""
        self._experiment = replace(self._experiment, after=contents_hash(self._library))
        return self._step(self._experiment.outcomes[-1].variant, "search", 1, 1)

    def _step(
        self, variant: Variant, doing: Literal["index", "search"], done: int, total: int, left: float | None = None
    ) -> Step:
        nth = min(len(self._experiment.outcomes), self._ways) + 1
        return Step(self._experiment, variant, doing, done, total, nth, self._ways + 1, left)


def _profile(variant: Variant, now: ChunkProfile) -> ChunkProfile:
    return ChunkProfile(variant.limit, variant.overlap, variant.cut, now.minimum) if variant.cut else now


# ------------------------------------------------------------------------------------------------------- comparing ways


def first_right(question: Question, hits: Sequence[Hit]) -> int:
    """The rank of the first passage that answers a question, down to :data:`DEPTH`; 0 where none does."""
    return min(filter(None, positions(question.expected, hits[:DEPTH])), default=0)


def compare(now: Sequence[int], other: Sequence[int], ways: int = 1) -> Difference:
    """Compares two ways by the ranks of the first passage that answers each question.

    Args:
        now: Of each question, its rank now; 0: not found.
        other: In the other way, of the same questions.
        ways: How many ways are compared with the present one. The more, the likelier is it that one of them looks good
            by chance, so that each has to differ by more (Bonferroni).
    """
    differences = [_reciprocal(rank) - _reciprocal(before) for before, rank in zip(now, other, strict=True)]
    return Difference(
        mean=fmean(differences),
        noise=noise_band(differences, _CHANCE / ways),
        wins=tuple(at for at, difference in enumerate(differences) if difference > 0),
        losses=tuple(at for at, difference in enumerate(differences) if difference < 0),
    )


def noise_band(differences: Sequence[float], chance: float = _CHANCE) -> float:
    """How large a mean difference becomes by chance alone, either way.

    If two ways were equally good, each difference could as well have had the other sign. Of all ways of choosing the
    signs, at most the share ``chance`` gives a mean beyond this band.

    Source: the randomisation test of Fisher, as Smucker, Allan and Carterette 2007 recommend it for comparing searches.
    """
    sizes = np.abs([difference for difference in differences if difference])
    if len(sizes) <= _ALL_FLIPS:
        signs = np.array([*itertools.product((-1.0, 1.0), repeat=len(sizes))])
    else:
        signs = np.random.default_rng(0).choice((-1.0, 1.0), size=(_FLIPS, len(sizes)))
    means = np.sort(np.abs(signs @ sizes)) / len(differences)
    return float(means[math.ceil(len(means) * (1 - chance)) - 1]) + _ROUNDING


def _reciprocal(rank: int) -> float:
    return 1 / rank if rank else 0.0
