import math
import random
from itertools import pairwise

import pytest

from rag.inspection.calibration import calibrate
from rag.inspection.evaluation import Result
from rag.retrieval.evidence import fitted
from rag.types import Verdict


def _result(id: object, answerable: bool, margin: float | None, outcome: str | None = None, verdict=None) -> Result:
    judged = verdict or (Verdict.NONE if margin is not None and margin < 0 else Verdict.SOME)
    return Result(str(id), answerable, (), judged, margin, outcome)


def _some(seed: int = 0, count: int = 40) -> list[Result]:
    chance = random.Random(seed)
    return [
        _result(number, number % 2 == 0, chance.gauss(1.5 if number % 2 == 0 else -1.5, 1)) for number in range(count)
    ]


def test_every_point_costs_what_counting_by_hand_says() -> None:
    results = _some()
    found = calibrate(results)
    assert len(found.points) == len(results) + 1
    for point in found.points:
        wrong = sum(one.margin >= point.strictness for one in results if not one.answerable)
        refused = sum(one.margin < point.strictness for one in results if one.answerable)
        assert (point.answered, point.refused) == (wrong, refused)
    assert (found.points[0].wrong_answers, found.points[0].wrong_refusals) == (1.0, 0.0)
    assert (found.points[-1].wrong_answers, found.points[-1].wrong_refusals) == (0.0, 1.0)


def test_a_stricter_cut_off_never_answers_more() -> None:
    points = calibrate(_some(3)).points
    for before, after in pairwise(points):
        assert before.strictness < after.strictness
        assert before.answered >= after.answered
        assert before.refused <= after.refused


def test_the_cut_off_at_work_is_the_last_point_not_above_it() -> None:
    found = calibrate([_result(1, True, 1.0), _result(2, False, -1.0), _result(3, True, 3.0)])
    assert [point.strictness for point in found.points] == [-2.0, 0.0, 2.0, 4.0]
    assert found.at(0.0).refused == 0
    assert found.at(0.0).answered == 0
    assert found.at(1.9) == found.at(0.0)
    assert found.at(2.0).refused == 1
    assert found.at(-99) == found.points[0]
    assert found.best == found.at(0.0)


def test_what_no_cut_off_decides_stays_as_it_is() -> None:
    nothing_found = _result(1, True, None, verdict=Verdict.NONE)
    by_number = _result(2, False, None, verdict=Verdict.ENOUGH)
    found = calibrate([nothing_found, by_number, _result(3, True, 1.0), _result(4, False, -1.0)])
    assert found.fixed == 2
    assert {(point.refused >= 1, point.answered >= 1) for point in found.points} == {(True, True)}


def test_what_the_model_refuses_is_refused_at_every_point() -> None:
    found = calibrate([_result(1, False, 5.0, "not_in_notes"), _result(2, True, 4.0, "answered")])
    assert found.by_model
    assert {point.answered for point in found.points} == {0}
    assert not calibrate([_result(1, False, 5.0)]).by_model


@pytest.mark.parametrize(
    ("answerable", "unanswerable", "said"),
    [
        (40, 40, ""),
        (40, 3, "Only 3 unanswerable questions: too few"),
        (12, 40, "Only 12 answerable questions: a single"),
    ],
)
def test_too_few_questions_are_told(answerable: int, unanswerable: int, said: str) -> None:
    results = [_result(number, number < answerable, float(number)) for number in range(answerable + unanswerable)]
    assert calibrate(results).caution.startswith(said)
    assert bool(calibrate(results).caution) is bool(said)


def test_without_any_margin_there_is_one_point() -> None:
    (point,) = calibrate([_result(1, True, None), _result(2, False, None)]).points
    assert (point.strictness, point.refused, point.answered) == (0.0, 0, 1)


def test_a_margin_and_the_cut_off_that_it_is_compared_with_agree() -> None:
    """What the chart says of a cut-off is what the verdict does with it."""
    for shipped in (fitted().within, fitted().across):
        for strength in (0.05, 0.3, 0.5, 0.8, 0.97):
            margin = math.log(strength / (1 - strength)) - math.log(shipped.none / (1 - shipped.none))
            for by in (-3.0, -0.5, 0.0, 0.5, 3.0):
                refused = shipped.stricter(by).verdict(strength) is Verdict.NONE
                assert refused is (margin < by), (strength, by)
                assert shipped.stricter(by).none <= shipped.stricter(by).enough
