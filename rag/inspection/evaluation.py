"""A library's own questions, searched and answered one by one, and what that says of the whole.

A run holds for each question where its places were found, the verdict on the evidence and how long it took, and no word
of any passage or answer: what a file said is gone with it. Measures are means over questions, each with an interval.
"""

from __future__ import annotations

import hashlib
import math
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean, median

import numpy as np
from pydantic import TypeAdapter, ValidationError

from rag.errors import QueryError, QuestionsError
from rag.index.library import Library
from rag.inspection.questions import Question, positions
from rag.retrieval.evidence import ABOVE
from rag.types import Outcome, Retrieval, Trace, Verdict

FILE = "runs.jsonl"
"""The file's name in the library's folder."""

CUTS = (1, 3, 5, 10)
"""Ranks down to which recall is measured."""

_KEPT = 30
_RESAMPLED = 2000
_CHANCE = 0.05
_SURE = 1.96
"""Standard deviations on either side of 95 %."""


@dataclass(frozen=True, slots=True)
class Result:
    """How one question went.

    Attributes:
        question: Its id.
        answerable: Whether the notes were said to answer it.
        ranks: Where each of its places was found first, from 1; None where it was not (see
            :func:`rag.inspection.questions.positions`).
        verdict: On the evidence.
        margin: How far the evidence lies above the cut-off that Footnote comes with (see
            :attr:`rag.types.LibrarySettings.evidence`); None where no cut-off decides.
        outcome: How the model's answer ended, asked whatever the verdict was; empty where it was not asked.
        cites: Whether the answer cites one of the places; None where that cannot be told.
        seconds: From the question to the answer as chat would give it.
        error: Why it could not be searched; else empty.
    """

    question: str
    answerable: bool
    ranks: tuple[int | None, ...] = ()
    verdict: Verdict = Verdict.NONE
    margin: float | None = None
    outcome: Outcome | None = None
    cites: bool | None = None
    seconds: float = 0.0
    error: str = ""

    @property
    def refused(self) -> bool:
        """Whether chat says that the notes do not say, by the verdict or by the model."""
        return self.verdict is Verdict.NONE or self.outcome == "not_in_notes"

    @property
    def right(self) -> bool:
        """Whether it went well: a place among the first five and no refusal, or a refusal where there is no answer."""
        if not self.answerable:
            return self.refused
        return not self.refused and (self.recall(5) > 0 if self.ranks else True)

    @property
    def first(self) -> int | None:
        """The rank of the first place."""
        return min((rank for rank in self.ranks if rank), default=None)

    def recall(self, cut: int) -> float:
        """Share of the places among the first so many."""
        return sum(rank is not None and rank <= cut for rank in self.ranks) / len(self.ranks)

    def reciprocal_rank(self) -> float:
        """One by the rank of the first place; 0 where none was found."""
        return 1 / self.first if self.first else 0.0

    def ndcg(self) -> float:
        """Discounted cumulative gain down to rank 10, by the best possible one.

        Source: Järvelin and Kekäläinen 2002, "Cumulated gain-based evaluation of IR techniques"; every place gains 1.
        """
        gain = sum(1 / math.log2(rank + 1) for rank in self.ranks if rank is not None and rank <= 10)
        return gain / sum(1 / math.log2(rank + 1) for rank in range(1, min(10, len(self.ranks)) + 1))


@dataclass(frozen=True, slots=True)
class Conditions:
    """What a run was made under: runs that differ here need not agree.

    Attributes:
        model: The chat model's name; empty where it was not asked.
        embedder: The library's embedder.
        chunks: Passages in the library.
        index: Changes when any file of the library is indexed anew.
        settings: What decides the search, in words.
        strictness: The library's own cut-off (see :attr:`rag.types.LibrarySettings.evidence`).
    """

    model: str
    embedder: str
    chunks: int
    index: str
    settings: str
    strictness: float = 0.0


@dataclass(frozen=True, slots=True)
class Run:
    """One evaluation.

    Attributes:
        id: Unique in its library.
        at: When it ended, Unix seconds.
        conditions: What it was made under.
        results: One a question.
        stopped: It was ended before the last question.
    """

    id: str
    at: float
    conditions: Conditions
    results: tuple[Result, ...]
    stopped: bool = False


@dataclass(frozen=True, slots=True)
class Measure:
    """A mean over questions.

    Attributes:
        name: ``recall@5``, ``mrr``, ``ndcg@10``, ``refused``, ``wrongly refused``, ``cites``, ``seconds``.
        value: The mean; of seconds the median.
        low: Where the interval begins in which it lies with 95 % confidence, as far as the questions are a fair sample.
        high: Where it ends.
        count: Questions that it is the mean of.
    """

    name: str
    value: float
    low: float
    high: float
    count: int


@dataclass(frozen=True, slots=True)
class Difference:
    """A measure of two runs over the questions that both have.

    Attributes:
        name: The measure's.
        value: By how much the later run's is higher.
        low: Where the interval of the difference begins.
        high: Where it ends.
        better: Questions that went better in the later run.
        worse: Questions that went worse.
        count: Questions compared.
    """

    name: str
    value: float
    low: float
    high: float
    better: tuple[str, ...]
    worse: tuple[str, ...]
    count: int

    @property
    def is_certain(self) -> bool:
        """Whether it is more than chance: the interval leaves 0 out, and enough questions went the same way.

        A few questions that all gain the same make an interval of no width; the sign test is not taken in by it.
        """
        decided, fewer = len(self.better) + len(self.worse), min(len(self.better), len(self.worse))
        chance = 2 * sum(math.comb(decided, count) for count in range(fewer + 1)) / 2**decided
        return not self.low <= 0 <= self.high and chance < _CHANCE


@dataclass(frozen=True, slots=True)
class Step:
    """Progress of an evaluation: the question that just ended, with its record; None where it could not be searched."""

    done: int
    total: int
    result: Result
    record: Retrieval | Trace | None


# ------------------------------------------------------------------------------------------------------------ running


def evaluate(
    questions: Sequence[Question], search: Callable[[str], Retrieval], ask: Callable[[str], Trace] | None = None
) -> Iterator[Step]:
    """Searches every question, and has it answered where a model is to be asked.

    Args:
        questions: What to ask.
        search: Searches as chat does.
        ask: Has a question answered, whatever the verdict on the evidence; None: it is only searched.

    Raises:
        QuestionsError: There is no question.
        LibraryError: The library cannot be searched.
        ModelError: A model failed.
    """
    if not questions:
        raise QuestionsError("This library has no questions yet.", "Type some, or point at passages in Chat.")
    for done, question in enumerate(questions, 1):
        record: Retrieval | Trace | None = None
        try:
            record = (ask or search)(question.text)
            result = judged(question, record)
        except QueryError as error:  # a filter in the question: the others can be asked
            result = Result(question.id, question.answerable, (None,) * len(question.expected), error=error.message)
        yield Step(done, len(questions), result, record)


def judged(question: Question, record: Retrieval | Trace) -> Result:
    """What a search, or an answer, is worth to a question."""
    trace = record if isinstance(record, Trace) else None
    retrieval = record.retrieval if isinstance(record, Trace) else record
    verdict, outcome, cites = retrieval.evidence.verdict, None, None
    seconds = sum(retrieval.seconds.values())
    if trace is not None:
        # What the verdict refuses, chat does not have answered.
        steps = ("condense", "search") if verdict is Verdict.NONE else tuple(trace.seconds)
        seconds = sum(trace.seconds.get(step, 0.0) for step in steps)
        outcome = trace.answer.outcome if trace.model is not None else None
        if outcome == "answered" and question.expected:
            cited = [citation.chunk for citation in trace.answer.citations]
            cites = any(place.found_in(chunk) for place in question.expected for chunk in cited)
    return Result(
        question=question.id,
        answerable=question.answerable,
        ranks=positions(question.expected, retrieval.hits),
        verdict=verdict,
        margin=retrieval.evidence.features.get(ABOVE),
        outcome=outcome,
        cites=cites,
        seconds=seconds,
    )


def index_mark(library: Library) -> str:
    """What changes with any file that is indexed anew, taken in or out."""
    digest = hashlib.sha256()
    for record in sorted(library.catalog.files(), key=lambda record: record.id):
        digest.update(f"{record.id} {record.sha256} {record.chunks} {record.indexed_at}\n".encode())
    return digest.hexdigest()[:12]


def finished(results: Iterable[Result], conditions: Conditions, *, stopped: bool) -> Run:
    """The results as a run that ends now."""
    return Run(uuid.uuid4().hex[:12], time.time(), conditions, tuple(results), stopped)


# ----------------------------------------------------------------------------------------------------------- the file

_line = TypeAdapter(Run)
_writing = threading.Lock()


def load(folder: Path) -> tuple[Run, ...]:
    """The runs kept in a library's folder, oldest first; none where they cannot be read: they can be made again."""
    try:
        lines = (folder / FILE).read_text(encoding="utf-8").splitlines()
        return tuple(_line.validate_json(line) for line in lines if line.strip())
    except (OSError, UnicodeDecodeError, ValidationError):
        return ()


def keep(folder: Path, run: Run) -> None:
    """Keeps a run beside the latest ones.

    Raises:
        QuestionsError: It cannot be written.
    """
    path = folder / FILE
    fresh = path.with_suffix(".new")
    try:
        with _writing:
            fresh.write_bytes(b"".join(_line.dump_json(one) + b"\n" for one in (*load(folder), run)[-_KEPT:]))
            fresh.replace(path)
    except OSError as error:
        raise QuestionsError(
            f"The run could not be kept in {path}: {error.strerror or error}.", "Check the disk and its permissions."
        ) from error


# ------------------------------------------------------------------------------------------------------------ measures

_PLACED: dict[str, Callable[[Result], float]] = {
    **{f"recall@{cut}": partial(Result.recall, cut=cut) for cut in CUTS},
    "mrr": Result.reciprocal_rank,
    "ndcg@10": Result.ndcg,
}


def _values(name: str, results: Iterable[Result]) -> dict[str, float]:
    """A measure's value of each question that it applies to."""
    if name in _PLACED:
        return {one.question: _PLACED[name](one) for one in results if one.answerable and one.ranks}
    if name == "cites":
        return {one.question: float(one.cites) for one in results if one.cites is not None}
    if name == "seconds":
        return {one.question: one.seconds for one in results if not one.error}
    refused = name == "refused"
    return {one.question: float(one.refused) for one in results if one.answerable is not refused and not one.error}


MEASURES = (*_PLACED, "refused", "wrongly refused", "cites", "seconds")
"""In the order in which they are shown."""


def measures(results: Sequence[Result]) -> tuple[Measure, ...]:
    """What a run's results say, one measure after the other; those that apply to no question are left out."""
    found = []
    for name in MEASURES:
        values = list(_values(name, results).values())
        if values:
            middle = median if name == "seconds" else fmean
            found.append(Measure(name, middle(values), *interval(values, typical=name == "seconds"), len(values)))
    return tuple(found)


def interval(values: Sequence[float], *, typical: bool = False) -> tuple[float, float]:
    """The interval in which a mean lies with 95 % confidence.

    Where all values are 0 or 1 it is Wilson's, which holds for few questions and does not call 5 of 5 certain; else the
    bootstrap's, by resampling 2,000 times from a fixed seed.

    Args:
        values: One a question.
        typical: Of the median in place of the mean.

    Source: Wilson 1927, "Probable inference, the law of succession, and statistical inference"; Efron 1979,
    "Bootstrap methods: another look at the jackknife".
    """
    if not typical and all(value in (0.0, 1.0) for value in values):
        return wilson(sum(values), len(values))
    return _resampled(values, typical)


def _resampled(values: Sequence[float], typical: bool) -> tuple[float, float]:
    drawn = np.random.default_rng(0).choice(np.asarray(values), size=(_RESAMPLED, len(values)))
    means = np.median(drawn, axis=1) if typical else np.mean(drawn, axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)


def wilson(hits: float, count: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share; the whole range where nothing was counted."""
    if not count:
        return 0.0, 1.0
    share, more = hits / count, _SURE**2 / count
    centre = (share + more / 2) / (1 + more)
    reach = _SURE / (1 + more) * math.sqrt(share * (1 - share) / count + more / (4 * count))
    return max(0.0, centre - reach), min(1.0, centre + reach)


def compared(before: Run, after: Run) -> tuple[Difference, ...]:
    """How a run differs from an earlier one, over the questions that both have, one measure after the other."""
    found = []
    for name in MEASURES:
        old, new = _values(name, before.results), _values(name, after.results)
        both = [question for question in new if question in old]
        if both:
            gains = {question: new[question] - old[question] for question in both}
            typical = name == "seconds"
            low, high = _resampled(list(gains.values()), typical)
            sign = -1 if name in ("wrongly refused", "seconds") else 1
            better = tuple(question for question, gain in gains.items() if sign * gain > 0)
            worse = tuple(question for question, gain in gains.items() if sign * gain < 0)
            value = (median if typical else fmean)(gains.values())
            found.append(Difference(name, value, low, high, better, worse, len(both)))
    return tuple(found)
