"""Experiments as HTML: ways by their names, what a difference says, and what cannot be said."""

from __future__ import annotations

from dataclasses import replace

from rag.inspection.experiments import AS_NOW, Difference, Experiment, Outcome, Sample, Step, Variant
from rag.inspection.questions import Expected, Question
from rag.types import FileRecord, FileState
from rag.ui import render_experiments, texts

QUESTIONS = tuple(Question(str(number), f"Question <{number}>?", True, (Expected("a.md"),)) for number in range(12))
FILE = FileRecord(1, "/notes", "a.md", 1, 1, "0", FileState.INDEXED, "", "A", 0, 3, 0.0)
SAMPLE = Sample((FILE,), 300, 2000, QUESTIONS, ((QUESTIONS[0], "no file “<x>” in the library"),))
NOW = Outcome(AS_NOW, 300, 71.6, (1, 2, 0, *[1] * 9), (70, 140, 0, *[70] * 9), 0.031)
WORDS = Outcome(
    Variant("words", 150, 30), 200, 148.2, (1, 1, 4, *[1] * 8, 3), (150, 150, 600, *[150] * 8, 450), 0.03, 75.0,
    Difference(0.031, 0.12, (1, 2), (11,)),
)  # fmt: skip
FAILED = Outcome(Variant(embedder="ollama:<b>"), problem="Ollama does not answer <here>.")


def test_ways_have_names() -> None:
    assert render_experiments.name(AS_NOW) == "as now"
    assert render_experiments.name(WORDS.variant) == "by length, 150 tokens, overlap 30"
    assert render_experiments.name(Variant("sections", 400, 50, hyde=True)).endswith("overlap 50, with HyDE")
    assert render_experiments.name(Variant(embedder="bge-m3", rerank=False)) == "embedder bge-m3, without reranking"


def test_results_say_what_may_be_chance_and_what_was_not_tried() -> None:
    found = Experiment("Notes", SAMPLE, (NOW, WORDS, FAILED), "abc", "abc")
    drawn = render_experiments.results(found)
    assert texts.EXPERIMENT_SAYS["noise"].format(ways="“by length, 150 tokens, overlap 30”") in drawn
    assert "2 better, 1 worse" in drawn
    assert "+0.031" in drawn
    assert "≈ 1 min 15 s" in drawn
    assert "Ollama does not answer &lt;here&gt;." in drawn
    assert "ollama:&lt;b&gt;" in drawn
    assert texts.WAY_NOT_TRIED in drawn
    assert texts.EXPERIMENT_UNTOUCHED.format(hash="abc") in drawn
    assert "Question &lt;11&gt;?" in drawn
    assert texts.NOT_FOUND_RANK.format(depth=10) in drawn
    assert "<b>" not in drawn.replace("<b>1</b>", "")
    assert drawn.count("<svg") == 2
    assert texts.EXPERIMENT_STOPPED not in drawn

    better = replace(WORDS, difference=Difference(0.31, 0.12, (1, 2), ()))
    worse = replace(WORDS, variant=Variant(hyde=True), difference=Difference(-0.31, 0.12, (), (1,)))
    drawn = render_experiments.results(Experiment("Notes", SAMPLE, (NOW, better, worse), "abc", "other"), stopped=True)
    assert texts.EXPERIMENT_SAYS["better"].format(ways="“by length, 150 tokens, overlap 30”") in drawn
    assert texts.EXPERIMENT_SAYS["worse"].format(ways="“with HyDE”") in drawn
    assert "−0.310" in drawn
    assert texts.EXPERIMENT_TOUCHED in drawn
    assert texts.EXPERIMENT_STOPPED in drawn


def test_few_questions_and_none_are_said_aloud() -> None:
    few = replace(SAMPLE, questions=QUESTIONS[:3])
    assert "With 3 questions, a comparison says next to nothing." in render_experiments.sample(few)
    assert "1 file with 300 of 2,000 passages, and 12 questions" in render_experiments.sample(SAMPLE)
    assert "no file “&lt;x&gt;” in the library" in render_experiments.sample(SAMPLE)
    assert texts.EXPERIMENT_NO_QUESTIONS in render_experiments.sample(replace(SAMPLE, questions=()))
    assert render_experiments.results(Experiment("Notes", SAMPLE, (), "abc")) == ""
    assert texts.EXPERIMENT_STOPPED in render_experiments.results(Experiment("Notes", SAMPLE, (), "abc"), stopped=True)


def test_progress_names_the_way_and_moves_forward() -> None:
    found = Experiment("Notes", SAMPLE, (NOW,), "abc")
    shares = []
    for doing, done, nth in (("index", 0, 1), ("index", 3, 1), ("search", 1, 1), ("index", 0, 2), ("search", 3, 2)):
        drawn = render_experiments.running(Step(found, WORDS.variant, doing, done, 3, nth, 2, 12.0), stopping=False)
        assert f"Way {nth} of 2, “by length, 150 tokens, overlap 30”" in drawn
        shares.append(int(drawn.split('value="')[1].split('"')[0]))
        assert 'max="2000"' in drawn
    assert shares == sorted(shares)
    assert shares[-1] == 2000
    stopping = render_experiments.running(Step(found, WORDS.variant, "search", 1, 3, 1, 2), stopping=True)
    assert texts.EXPERIMENT_STOPPING in stopping
