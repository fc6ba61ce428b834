import pytest
from material import make_chunk, make_hit

from rag.retrieval.evidence import CALIBRATED_FOR, judge
from rag.retrieval.lexical import QueryTerms
from rag.types import Hit, Stage, Verdict

WORDS = QueryTerms({"relief": 1.0, "valve": 1.0})


def _dense(*cosines: float) -> Stage:
    hits = tuple(make_hit("Some words.", rank, cosine) for rank, cosine in enumerate(cosines, 1))
    return Stage("dense", "cosine", hits, 0.0)


def _judge(first: float, text: str, others: int = 9, embedder: str = CALIBRATED_FOR) -> Verdict:
    dense = _dense(first, *[0.8] * others)
    return judge(dense, (Hit(make_chunk(text), 0.1, 1),), WORDS, embedder).verdict


@pytest.mark.parametrize(
    ("first", "text", "verdict"),
    [
        (0.90, "nothing in common", Verdict.ENOUGH),  # stands out, though in other words
        (0.82, "the relief valve", Verdict.ENOUGH),  # the words are there
        (0.835, "a valve", Verdict.ENOUGH),
        (0.81, "a valve", Verdict.NONE),
        (0.83, "nothing in common", Verdict.SOME),  # may be another language
        (0.81, "nothing in common", Verdict.NONE),
    ],
)
def test_verdicts(first: float, text: str, verdict: Verdict) -> None:
    assert _judge(first, text) is verdict


def test_a_handful_of_passages_is_never_refused() -> None:
    assert _judge(0.8, "nothing in common", others=3) is Verdict.SOME


def test_an_embedder_whose_cosines_nobody_measured_is_never_refused() -> None:
    assert _judge(0.81, "nothing in common", embedder="BAAI/bge-m3") is Verdict.SOME


def test_nothing_found_is_none_and_the_figures_are_told() -> None:
    assert judge(_dense(), (), WORDS, CALIBRATED_FOR).verdict is Verdict.NONE
    evidence = judge(_dense(0.9, *[0.8] * 9), (), WORDS, CALIBRATED_FOR)
    assert "0.100 above the background" in evidence.reason
    assert evidence.features["contrast"] == pytest.approx(0.1)
