"""What another cut-off of the verdict on the evidence would cost: wrong answers against wrong refusals.

A question that the notes do not answer and that is answered all the same is a wrong answer; one that they answer and
that is refused is a wrong refusal. The cut-off trades the one for the other; which is worse, only the person knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from rag.inspection.evaluation import Result, wilson
from rag.types import Verdict

FEW = 10
"""Questions of a kind below which the curve means nothing: one question is then worth more than a tenth."""

SOME = 30
"""Questions of a kind below which only large differences mean something."""


@dataclass(frozen=True, slots=True)
class Point:
    """What a cut-off costs.

    Attributes:
        strictness: The cut-off, as a library keeps it (see :attr:`rag.types.LibrarySettings.evidence`).
        answered: Unanswerable questions that are answered.
        unanswerable: Unanswerable questions.
        refused: Answerable questions that are refused.
        answerable: Answerable questions.
    """

    strictness: float
    answered: int
    unanswerable: int
    refused: int
    answerable: int

    @property
    def wrong_answers(self) -> float:
        """Share of the unanswerable questions that are answered."""
        return self.answered / self.unanswerable if self.unanswerable else 0.0

    @property
    def wrong_refusals(self) -> float:
        """Share of the answerable questions that are refused."""
        return self.refused / self.answerable if self.answerable else 0.0

    @property
    def answers_range(self) -> tuple[float, float]:
        """The interval in which the share of wrong answers lies with 95 % confidence."""
        return wilson(self.answered, self.unanswerable)

    @property
    def refusals_range(self) -> tuple[float, float]:
        """The interval in which the share of wrong refusals lies with 95 % confidence."""
        return wilson(self.refused, self.answerable)


@dataclass(frozen=True, slots=True)
class Calibration:
    """All cut-offs that differ, from answering everything to refusing everything.

    Attributes:
        points: From the least strict to the strictest.
        fixed: Questions that no cut-off decides: a section was asked for by its number, there were too few passages to
            judge by, or nothing was found.
        by_model: The model was asked too, so that what it refuses by itself is refused at every point.
    """

    points: tuple[Point, ...]
    fixed: int
    by_model: bool

    def at(self, strictness: float) -> Point:
        """What a cut-off costs: the last point that is not above it."""
        return next((point for point in reversed(self.points) if point.strictness <= strictness), self.points[0])

    @property
    def best(self) -> Point:
        """Where both shares together are least; of several, the one nearest to the cut-off that Footnote comes with."""
        return min(
            self.points,
            key=lambda point: (round(point.wrong_answers + point.wrong_refusals, 9), abs(point.strictness)),
        )

    @property
    def caution(self) -> str:
        """Why not to rely on it, for people; empty where there are questions enough of both kinds."""
        kinds = ((self.points[0].answerable, "answerable"), (self.points[0].unanswerable, "unanswerable"))
        count, kind = min(kinds)
        if count < FEW:
            return f"Only {count} {kind} questions: too few to mean anything. Have at least {FEW} of each kind."
        if count < SOME:
            weight = 100 / count
            return f"Only {count} {kind} questions: a single one moves a rate by {weight:.0f} points. {SOME} say more."
        return ""


def calibrate(results: Sequence[Result]) -> Calibration:
    """The costs of all cut-offs, from the results of one run.

    A cut-off lies half way between two questions' margins, so that neither sits on it.
    """
    judged = [one for one in results if not one.error]
    margins = sorted({one.margin for one in judged if one.margin is not None})
    between = [(low + high) / 2 for low, high in pairwise(margins)]
    cuts = [margins[0] - 1, *between, margins[-1] + 1] if margins else [0.0]
    return Calibration(
        points=tuple(_point(judged, cut) for cut in dict.fromkeys(round(cut, 3) for cut in cuts)),
        fixed=sum(one.margin is None for one in judged),
        by_model=any(one.outcome is not None for one in judged),
    )


def _point(results: Sequence[Result], cut: float) -> Point:
    refused = {True: 0, False: 0}
    count = {True: 0, False: 0}
    for one in results:
        count[one.answerable] += 1
        refused[one.answerable] += _refuses(one, cut)
    return Point(cut, count[False] - refused[False], count[False], refused[True], count[True])


def _refuses(result: Result, cut: float) -> bool:
    below = result.verdict is Verdict.NONE if result.margin is None else result.margin < cut
    return below or result.outcome == "not_in_notes"
