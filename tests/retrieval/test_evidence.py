import json
import math
from dataclasses import replace

import pytest
from material import make_chunk, make_hit

from rag.retrieval import evidence
from rag.retrieval.clause import SURE, UNSURE
from rag.retrieval.evidence import ABOVE, FEATURES, FEATURES_ACROSS, Model, fitted, is_across, judge, measure
from rag.retrieval.lexical import QueryTerms
from rag.types import Evidence, Hit, Stage, Verdict

QUESTION = "At what pressure does the relief valve of the boiler open?"
WORDS = QueryTerms({"relief": 1.0, "valve": 1.0, "boiler": 2.0})
NOTE = "The relief valve of the boiler opens at a pressure of sixteen bar."
OTHER = "The roses in the garden are cut back every year in the month of March."
GERMAN = "Das Sicherheitsventil des Kessels öffnet bei einem Druck von sechzehn Bar."


def _dense(first: float, text: str, others: int = 9) -> Stage:
    hits = [make_hit(text, rank, cosine) for rank, cosine in enumerate((first, *[0.78] * others), 1)]
    return Stage("dense", "cosine", tuple(hits), 0.0)


def _lexical(*scores: float) -> Stage:
    hits = [make_hit("Some words.", rank, score) for rank, score in enumerate(scores, 1)]
    return Stage("lexical", "bm25", tuple(hits), 0.0)


def _judge(
    first: float,
    text: str,
    *,
    others: int = 9,
    embedder: str = "",
    legs: tuple[Stage, ...] = (),
    strictness: float = 0.0,
) -> Evidence:
    dense = _dense(first, text, others)
    bm25 = (9.0, 2.0, 2.0, 2.0, 2.0, 2.0) if text == NOTE else (2.1, 2.0, 2.0, 2.0, 2.0, 2.0)
    stages = (dense, _lexical(*bm25), *legs)
    return judge(stages, dense.hits, QUESTION, WORDS, embedder or fitted().embedder, strictness)


def test_what_the_notes_say_is_enough_and_what_they_do_not_is_none() -> None:
    assert _judge(0.90, NOTE).verdict is Verdict.ENOUGH
    assert _judge(0.79, OTHER).verdict is Verdict.NONE


def test_the_verdict_rises_with_every_feature() -> None:
    for model in (fitted().within, fitted().across):
        assert 0 < model.none < model.enough < 1
        middle = {"cosine": 0.83, "contrast": 0.04, "coverage": 0.4, "margin": 0.4, "agreement": 0.3}
        for name in model.weights:
            assert model.strength(middle | {name: middle[name] + 0.05}) > model.strength(middle), name
    assert set(fitted().within.weights) == set(FEATURES)
    assert set(fitted().across.weights) == set(FEATURES_ACROSS)


def test_a_question_in_another_language_is_not_refused_for_lack_of_common_words() -> None:
    verdict = _judge(0.84, GERMAN)
    assert verdict.features["coverage"] == 0.0
    assert verdict.features["across languages"] == 1.0
    assert verdict.verdict is not Verdict.NONE
    assert "another language" in verdict.reason


def test_the_language_is_that_of_most_of_the_first_passages() -> None:
    def found(*texts: str) -> Stage:
        return Stage("dense", "cosine", tuple(make_hit(text, rank) for rank, text in enumerate(texts, 1)), 0.0)

    assert is_across("en", found(GERMAN, GERMAN, NOTE))
    assert not is_across("en", found(NOTE, OTHER, GERMAN))
    assert not is_across("en", found("His name 山田太郎 is written in the register of the boiler house.", NOTE))


def test_features_by_hand() -> None:
    dense = _dense(0.9, NOTE)
    dense = replace(dense, hits=(*dense.hits[:-1], replace(dense.hits[-1], score=0.81)))
    second = make_hit(OTHER, 2, 4.0, id=dense.hits[0].chunk.id)
    lexical = Stage("lexical", "bm25", (make_hit("x", 1, 10.0, id="y"), second, make_hit("z", 3, 1.0, id="z")), 0.0)
    features = measure(dense, lexical, (Hit(make_chunk("A relief valve."), 0.1, 1),), WORDS)
    assert features == pytest.approx(
        {
            "cosine": 0.9, "contrast": 0.9 - 0.786, "coverage": 0.5, "margin": 1 - 1.0 / 10.0, "agreement": 1 / 2,
            "standing": (0.9 - 0.786) / (0.03 * math.sqrt(8) / 9),
        }
    )  # fmt: skip
    assert measure(_dense(0.9, NOTE), lexical, dense.hits, WORDS)["standing"] == 0.0
    nothing = measure(dense, None, dense.hits, WORDS)
    assert (nothing["margin"], nothing["agreement"]) == (0.0, 0.0)


def test_strength_is_a_logistic_function_of_the_features() -> None:
    model = Model(-1.0, {"cosine": 2.0, "contrast": 10.0}, none=0.3, enough=0.8)
    strength = model.strength({"cosine": 0.8, "contrast": 0.05, "coverage": 1.0})
    assert strength == pytest.approx(1 / (1 + math.exp(1.0 - 1.6 - 0.5)))
    german = replace(model, languages={"de": 0.7})
    assert german.strength({"cosine": 0.8, "contrast": 0.05}, "de") == pytest.approx(1 / (1 + math.exp(-1.8)))
    assert german.strength({"cosine": 0.8, "contrast": 0.05}, "fr") == pytest.approx(strength)
    assert [model.verdict(value) for value in (0.29, 0.3, 0.8)] == [Verdict.NONE, Verdict.SOME, Verdict.ENOUGH]


def test_a_handful_of_passages_is_never_refused() -> None:
    assert _judge(0.79, OTHER, others=3).verdict is Verdict.SOME


def test_an_embedder_whose_cosines_nobody_measured_is_never_refused() -> None:
    verdict = _judge(0.2, OTHER, embedder="BAAI/bge-m3")
    assert verdict.verdict is Verdict.SOME
    assert "BAAI/bge-m3" in verdict.reason
    assert _judge(0.2, NOTE, embedder="BAAI/bge-m3").verdict is Verdict.ENOUGH


def test_an_embedder_that_nobody_measured_refuses_by_the_librarys_own_cut_off_only() -> None:
    weak = _judge(0.79, OTHER, embedder="BAAI/bge-m3")
    strong = _judge(0.90, NOTE, embedder="BAAI/bge-m3")
    assert weak.features[ABOVE] < strong.features[ABOVE]
    between = (weak.features[ABOVE] + strong.features[ABOVE]) / 2
    refused = _judge(0.79, OTHER, embedder="BAAI/bge-m3", strictness=between)
    assert refused.verdict is Verdict.NONE
    assert "as kept for this library" in refused.reason
    assert _judge(0.90, NOTE, embedder="BAAI/bge-m3", strictness=between).verdict is Verdict.ENOUGH
    across = _judge(0.79, GERMAN, embedder="BAAI/bge-m3", strictness=between)
    assert across.verdict is Verdict.SOME
    assert ABOVE not in across.features


def test_a_library_may_ask_for_more_or_less_than_footnote_does() -> None:
    found = _judge(0.90, NOTE)
    above = found.features[ABOVE]
    assert above > 0
    assert _judge(0.90, NOTE, strictness=above + 0.01).verdict is Verdict.NONE
    assert _judge(0.90, NOTE, strictness=above - 0.01).verdict is Verdict.ENOUGH
    lacking = _judge(0.79, OTHER)
    assert lacking.features[ABOVE] < 0
    assert _judge(0.79, OTHER, strictness=lacking.features[ABOVE] - 0.01).verdict is Verdict.SOME
    assert f"(none below {fitted().within.none:.2f}, enough" in found.reason


def test_a_section_that_was_asked_for_and_found_is_enough() -> None:
    clause = Stage("clause", "exact", (make_hit(OTHER),), 0.0, weight=SURE)
    assert _judge(0.79, OTHER, legs=(clause,)).verdict is Verdict.ENOUGH


def test_a_section_that_may_be_of_another_document_says_nothing() -> None:
    clause = Stage("clause", "exact", (make_hit(OTHER),), 0.0, weight=UNSURE)
    doubted = replace(_dense(0.79, OTHER), weight=0.5)
    legs = (doubted, _lexical(*[2.0] * 6), clause)
    assert judge(legs, doubted.hits, QUESTION, WORDS, fitted().embedder).verdict is Verdict.NONE


def test_nothing_found_is_none_and_the_figures_are_told() -> None:
    assert judge((_dense(0.9, NOTE),), (), QUESTION, WORDS, fitted().embedder).verdict is Verdict.NONE
    verdict = _judge(0.9, NOTE)
    assert "0.120 above the background" in verdict.reason
    assert verdict.features["strength"] == pytest.approx(fitted().within.strength(verdict.features, "en"))


def test_what_was_fitted_says_on_what_and_how_well() -> None:
    stored = json.loads(evidence.FITTED.read_text(encoding="utf-8"))
    assert {"embedder", "fitted", "command", "sets", "questions", "held_out"} <= set(stored)
    assert stored["held_out"]["alone"]["wrongly_refused"] <= 0.05
