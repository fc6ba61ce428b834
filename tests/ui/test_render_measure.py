from rag.inspection.calibration import calibrate
from rag.inspection.evaluation import Conditions, Result, Run
from rag.inspection.questions import Expected, Question, fingerprint
from rag.types import Verdict
from rag.ui import render_measure, texts

HOSTILE = '<img src=x onerror="alert(1)">'
CONDITIONS = Conditions("", "e5", 10, "abc", "cut by sections")


def _question(id: str, *expected: Expected, answerable: bool = True) -> Question:
    return Question(id, f"Question {id}?", answerable, expected)


def _run(*results: Result, conditions: Conditions = CONDITIONS, at: float = 0.0, stopped: bool = False) -> Run:
    return Run(str(at), at, conditions, results, stopped)


def test_nothing_from_outside_reaches_the_page_unescaped() -> None:
    place = Expected(HOSTILE, 3, HOSTILE, ())
    question = Question(HOSTILE, HOSTILE, True, (place,))
    run = _run(
        Result(HOSTILE, True, (None,), error=HOSTILE), Result("b", False, (), Verdict.NONE),
        conditions=Conditions(HOSTILE, HOSTILE, 1, "", HOSTILE),
    )  # fmt: skip
    shown = render_measure.questions("Notes", [question], run, {HOSTILE: HOSTILE}) + render_measure.results(
        [run], current=True
    )
    assert "<img" not in shown
    assert shown.count("&lt;img") >= 6


def test_what_went_wrong_comes_first_with_the_reason() -> None:
    listed = [
        _question("fine", Expected("a.md")),
        _question("bad", Expected("b.md")),
        _question("gone", Expected("c.md")),
    ]
    run = _run(Result("fine", True, (1,), Verdict.ENOUGH), Result("bad", True, (None,), Verdict.ENOUGH))
    shown = render_measure.questions("Notes", listed, run, {"gone": "no file “c.md” in the library"})
    assert shown.index("gone?") < shown.index("bad?") < shown.index("fine?")
    assert "Cannot be found by any search: no file “c.md” in the library." in shown
    assert texts.WENT_NOT_FOUND in shown
    assert "2 answerable" not in shown
    assert "3 answerable, 0 not" in shown


def test_a_passage_that_was_pointed_at_is_named_without_its_words() -> None:
    place = Expected("a.md", 2, prints=fingerprint("The relief valve opens at sixteen bar."))
    assert render_measure.place(place) == f'<span class="fn-path">a.md</span>, page 2, {texts.PLACE_POINTED}'


def test_how_a_question_went_is_said_in_words() -> None:
    def went(answerable: bool, *ranks: int | None, **more: object) -> tuple[str, str]:
        return render_measure.outcome(Result("1", answerable, ranks, **{"verdict": Verdict.SOME, **more}))

    assert went(True, 2) == ("ok", "found at 2")
    assert went(True, 8) == ("warning", "found at 8")
    assert went(True, 1, None) == ("ok", "found at 1, of 2 places")
    assert went(True, 1, outcome="answered", cites=False) == ("warning", "found at 1, not cited")
    assert went(True, None) == ("error", texts.WENT_NOT_FOUND)
    assert went(True, 1, verdict=Verdict.NONE) == ("error", texts.WENT_REFUSED_EVIDENCE)
    assert went(True, 1, outcome="not_in_notes") == ("error", texts.WENT_REFUSED_MODEL)
    assert went(True) == ("ok", texts.WENT_NOT_REFUSED)
    assert went(False) == ("error", texts.WENT_ANSWERED)
    assert went(False, verdict=Verdict.NONE) == ("ok", texts.WENT_REFUSED)
    assert went(True, error="no date") == ("error", "no date")
    assert render_measure.outcome(None)[1] == ""


def test_a_long_list_is_cut_and_says_so() -> None:
    shown = render_measure.questions("Notes", [_question(str(number)) for number in range(310)], None, {})
    assert shown.count("<tr data-question") == render_measure.LISTED
    assert "10 more are not shown" in shown


def test_an_empty_list_offers_the_sample_questions_where_they_fit() -> None:
    assert 'data-do="sample"' in render_measure.questions("Notes", [], None, {}, sample=True)
    empty = render_measure.questions("Notes", [], None, {})
    assert 'data-do="sample"' not in empty
    assert 'data-do="import"' in empty
    assert 'data-do="export"' not in empty


def test_a_run_is_summed_up_and_compared_with_the_one_before() -> None:
    before = _run(*(Result(str(number), True, (3,), Verdict.SOME, seconds=0.1) for number in range(12)), at=1.0)
    after = _run(
        *(Result(str(number), True, (1,), Verdict.SOME, seconds=0.1) for number in range(12)),
        Result("no", False, (), Verdict.NONE),
        conditions=Conditions("", "e5", 12, "abd", "cut by words", 0.5),
        at=2.0,
    )
    shown = render_measure.results([before, after], current=True)
    assert "among the first five found for 12 of 12 questions" in shown
    assert "Refused: 0 of 12 that your notes answer, 1 of 1 that they do not answer." in shown
    assert '<span class="fn-change good">+0.67</span>' in shown
    assert "12 better, 0 worse" in shown
    assert "settings cut by sections → cut by words" in shown
    assert "passages 10 → 12" in shown
    assert "cut-off +0.00 → +0.50" in shown
    assert "All 2 runs" in shown
    assert texts.RUN_OLD not in shown
    assert render_measure.results([], current=True) == ""
    alone = render_measure.results([before], current=False)
    assert texts.COLUMN_AGAINST not in alone
    assert render_measure.escape(texts.RUN_OLD) in alone


def test_a_small_difference_may_be_chance() -> None:
    ranks = [(1, 2), (2, 1), (3, 2), (1, 1)]
    before, after = (
        _run(*(Result(str(at), True, (pair[side],), Verdict.SOME) for at, pair in enumerate(ranks)), at=side)
        for side in (0, 1)
    )
    shown = render_measure.results([before, after], current=True)
    assert texts.MAY_BE_CHANCE in shown
    assert "fn-change good" not in shown


def test_the_chart_shows_every_cut_off_and_says_what_the_chosen_one_costs() -> None:
    results = [Result(str(at), at % 2 == 0, (), Verdict.SOME, float(at)) for at in range(-10, 10)]
    found = calibrate(results)
    shown = render_measure.calibration(found, 0.5, 0.0)
    assert shown.count("<circle") == len(found.points) + 2
    assert "Cut-off +0.50: 5 of 10 answered wrongly, 6 of 10 refused wrongly" in shown
    assert "a single one moves a rate by 10 points" in shown
    assert texts.COST_KEPT not in shown.split("fn-costs")[1]
    assert texts.COST_KEPT in render_measure.calibration(found, 0.5, 1.5).split("fn-costs")[1]


def test_without_questions_of_both_kinds_there_is_no_chart() -> None:
    assert texts.CALIBRATE_NONE in render_measure.calibration(None, 0.0, 0.0)
    alone = calibrate([Result("1", True, (1,), Verdict.SOME, 1.0)])
    assert "<svg" not in render_measure.calibration(alone, 0.0, 0.0)
