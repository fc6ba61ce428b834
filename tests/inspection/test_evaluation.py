import random
from dataclasses import replace
from statistics import median

import numpy as np
import pytest
from material import make_chunk, make_hit

from rag.errors import QueryError, QuestionsError
from rag.inspection.evaluation import (
    Conditions,
    Result,
    Run,
    compared,
    evaluate,
    finished,
    interval,
    judged,
    keep,
    load,
    measures,
    wilson,
)
from rag.inspection.questions import Expected, Question, positions
from rag.retrieval.evidence import ABOVE
from rag.types import (
    Answer,
    ChatModelIdentity,
    Citation,
    EmbedderIdentity,
    Evidence,
    Retrieval,
    Span,
    Trace,
    Verdict,
)

CONDITIONS = Conditions("", "e5", 10, "abc", "cut by sections")
EMBEDDER = EmbedderIdentity("test", "e5", "1", 2, True, "", "", 512)
CHAT = ChatModelIdentity("test", "small", "", 4096, True)


def _retrieval(*texts: str, verdict: Verdict = Verdict.ENOUGH, features: dict[str, float] | None = None) -> Retrieval:
    hits = tuple(make_hit(text, rank) for rank, text in enumerate(texts, 1))
    evidence = Evidence(verdict, "", features or {})
    return Retrieval("Notes", "?", ("?",), "", hits, (), evidence, {"embed": 0.25, "dense": 0.5})


def _trace(retrieval: Retrieval, outcome: str, cited: str = "") -> Trace:
    citation = Citation(1, make_chunk(cited), Span(0, 1), Span(0, 1), "model", 1.0)
    answer = Answer("Said.", outcome, (citation,) if cited else ())
    seconds = {"condense": 0.5, "search": 1.0, "first token": 2.0, "generation": 4.0}
    return Trace("t", 0.0, retrieval, None, CHAT, EMBEDDER, answer, seconds)


def _question(id: str, *phrases: str, answerable: bool = True) -> Question:
    return Question(id, f"Question {id}?", answerable, tuple(Expected(phrase=phrase) for phrase in phrases))


def _run(results: list[Result], id: str = "1") -> Run:
    return Run(id, 0.0, CONDITIONS, tuple(results))


@pytest.mark.parametrize("seed", range(30))
def test_measures_are_what_another_library_computes(seed: int) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval", reason="pytrec_eval has no wheel for this system")
    chance = random.Random(seed)
    names = [f"<{number}>" for number in range(40)]
    judgements, rankings, results = {}, {}, []
    for number in range(chance.randint(1, 12)):
        right = chance.sample(names, chance.randint(1, 4))
        found = chance.sample(names, chance.randint(1, 30))
        question = _question(str(number), *right)
        hits = [make_hit(f"text {name}", rank) for rank, name in enumerate(found, 1)]
        results.append(Result(str(number), True, positions(question.expected, hits), Verdict.SOME))
        judgements[str(number)] = dict.fromkeys(right, 1)
        rankings[str(number)] = {name: float(len(found) - rank) for rank, name in enumerate(found)}
    theirs = pytrec_eval.RelevanceEvaluator(judgements, {"recall.1,3,5,10", "recip_rank", "ndcg_cut.10"}).evaluate(
        rankings
    )
    ours = {measure.name: measure.value for measure in measures(results)}
    for name, key in {
        "recall@1": "recall_1", "recall@3": "recall_3", "recall@5": "recall_5", "recall@10": "recall_10",
        "mrr": "recip_rank", "ndcg@10": "ndcg_cut_10",
    }.items():  # fmt: skip
        assert ours[name] == pytest.approx(np.mean([values[key] for values in theirs.values()])), name


def test_a_search_is_judged_by_its_places_verdict_and_time() -> None:
    question = _question("1", "sixteen bar", "in March")
    retrieval = _retrieval("Nothing.", "It opens at sixteen bar.", features={ABOVE: 1.5})
    result = judged(question, retrieval)
    assert result == Result("1", True, (2, None), Verdict.ENOUGH, 1.5, None, None, 0.75)
    assert (result.first, result.recall(1), result.recall(5), result.reciprocal_rank()) == (2, 0.0, 0.5, 0.5)
    assert result.right
    assert not judged(question, replace(retrieval, evidence=Evidence(Verdict.NONE, ""))).right


def test_an_answer_is_judged_as_chat_would_have_given_it() -> None:
    question, found = _question("1", "sixteen bar"), _retrieval("It opens at sixteen bar.")
    answered = judged(question, _trace(found, "answered", "It opens at sixteen bar."))
    assert (answered.cites, answered.outcome, answered.refused, answered.seconds) == (True, "answered", False, 7.5)
    assert judged(question, _trace(found, "answered", "Roses.")).cites is False
    assert judged(question, _trace(found, "not_in_notes")).refused
    # Where the verdict refuses, chat would not have waited for the model.
    unasked = _retrieval("It opens at sixteen bar.", verdict=Verdict.NONE)
    refused = judged(question, _trace(unasked, "answered", "Roses."))
    assert (refused.refused, refused.seconds) == (True, 1.5)


def test_refusals_are_right_where_the_notes_do_not_say() -> None:
    results = [
        Result("a", False, (), Verdict.NONE), Result("b", False, (), Verdict.SOME),
        Result("c", False, (), Verdict.SOME, outcome="not_in_notes"), Result("d", True, (1,), Verdict.NONE),
        Result("e", True, (1,), Verdict.ENOUGH), Result("f", True, (), Verdict.ENOUGH),
        Result("g", True, (None,), error="no such date"),
    ]  # fmt: skip
    found = {measure.name: (round(measure.value, 3), measure.count) for measure in measures(results)}
    assert found["refused"] == (0.667, 3)
    assert found["wrongly refused"] == (0.333, 3)
    assert found["recall@5"] == (0.667, 3)
    assert [one.right for one in results] == [True, False, True, False, True, True, False]


def test_a_question_that_cannot_be_searched_does_not_end_the_run() -> None:
    def search(text: str) -> Retrieval:
        if "2" in text:
            raise QueryError("“soon” is no date.")
        return _retrieval("It opens at sixteen bar.")

    steps = list(evaluate([_question("1", "sixteen"), _question("2", "sixteen"), _question("3", "sixteen")], search))
    assert [(step.done, step.total, step.record is None, step.result.error) for step in steps] == [
        (1, 3, False, ""), (2, 3, True, "“soon” is no date."), (3, 3, False, ""),
    ]  # fmt: skip
    with pytest.raises(QuestionsError):
        next(iter(evaluate([], search)))


def test_the_model_is_asked_where_it_is_to_be() -> None:
    asked = []

    def ask(text: str) -> Trace:
        asked.append(text)
        return _trace(_retrieval("It opens at sixteen bar."), "answered", "It opens at sixteen bar.")

    (step,) = evaluate([_question("1", "sixteen")], lambda _: _retrieval(), ask)
    assert (asked, step.result.outcome, isinstance(step.record, Trace)) == (["Question 1?"], "answered", True)


def test_an_interval_of_all_or_nothing_is_wilsons_and_does_not_call_five_of_five_certain() -> None:
    assert interval([1.0] * 5) == pytest.approx((0.5655, 1.0), abs=1e-3)
    assert interval([0.0] * 20) == pytest.approx((0.0, 0.1611), abs=1e-3)
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=1e-3)  # the example of Newcombe 1998
    assert wilson(0, 0) == (0.0, 1.0)


def test_the_bootstrap_holds_the_mean_as_often_as_it_says() -> None:
    chance = np.random.default_rng(7)
    held = 0
    for _ in range(200):
        low, high = interval(chance.beta(2, 2, size=40).tolist())
        held += low <= 0.5 <= high
    assert 180 <= held <= 199
    values = chance.exponential(size=30).tolist()
    assert interval(values) == interval(values)
    low, high = interval(values, typical=True)
    assert low < median(values) < high


def test_two_runs_are_compared_over_the_questions_that_both_have() -> None:
    before = _run([Result(str(number), True, (4,), Verdict.SOME, seconds=1.0) for number in range(12)])
    after = _run(
        [
            *(Result(str(number), True, (1,), Verdict.SOME, seconds=2.0) for number in range(2, 10)),
            Result("10", True, (10,), Verdict.NONE, seconds=2.0),
            Result("new", True, (1,), Verdict.SOME),
        ]
    )
    found = {difference.name: difference for difference in compared(before, after)}
    mrr = found["mrr"]
    assert (mrr.count, len(mrr.better), mrr.worse) == (9, 8, ("10",))
    assert mrr.value == pytest.approx((8 * 0.75 - 0.15) / 9)
    assert mrr.low < mrr.value < mrr.high
    assert mrr.is_certain
    assert found["wrongly refused"].worse == ("10",)
    assert len(found["seconds"].worse) == 9
    assert not found["recall@5"].is_certain


def test_a_few_questions_that_all_gain_prove_nothing() -> None:
    before = _run([Result(str(number), True, (2,), Verdict.SOME) for number in range(4)])
    after = _run([Result(str(number), True, (1,), Verdict.SOME) for number in range(4)])
    gain = next(one for one in compared(before, after) if one.name == "mrr")
    assert gain.low == gain.high == 0.5
    assert not gain.is_certain


def test_runs_are_kept_without_any_word_of_a_passage_and_the_oldest_go(tmp_path) -> None:
    assert load(tmp_path) == ()
    question = _question("1", "sixteen bar")
    result = judged(question, _trace(_retrieval("It opens at sixteen bar."), "answered", "It opens at sixteen bar."))
    for _ in range(33):
        keep(tmp_path, finished([result], CONDITIONS, stopped=True))
    runs = load(tmp_path)
    assert len(runs) == 30
    assert len({run.id for run in runs}) == 30
    assert (runs[-1].results, runs[-1].stopped, runs[-1].conditions) == ((result,), True, CONDITIONS)
    written = (tmp_path / "runs.jsonl").read_text(encoding="utf-8")
    assert "sixteen" not in written
    assert "opens" not in written
    (tmp_path / "runs.jsonl").write_text("?", encoding="utf-8")
    assert load(tmp_path) == ()
