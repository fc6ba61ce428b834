"""A library's own questions through the engine: asked, measured, kept, and forgotten with what they were about."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from fakes.ollama_server import OllamaStandIn
from material import write_notes

from rag.engine import SAMPLES, Engine
from rag.errors import ModelMissing, QuestionsError
from rag.inspection.questions import Expected, new_question
from rag.settings import Settings
from rag.types import Trace, Verdict

NOTES = {
    "boiler.md": "# Boiler\n\nThe relief valve of the boiler opens at sixteen bar. Its leaden seal is grey.",
    "garden.md": "# Garden\n\nThe roses are cut back in March, and the hedge is trimmed in autumn.",
    "pump.md": "# Pump\n\nThe pump was installed in 2019 by the works department.",
    "roof.md": "# Roof\n\nThe roof is inspected after every storm, and tiles are replaced in summer.",
    "wine.md": "# Cellar\n\nThe cellar keeps twelve degrees the whole year, whatever the weather.",
    "car.md": "# Car\n\nThe brakes of the car were renewed at eighty thousand kilometres.",
    "bees.md": "# Bees\n\nThe hives are moved to the heath in August, when the heather is in bloom.",
}
VALVE = "At how many bar does the relief valve open?"


@pytest.fixture
def filled(engine: Engine, tmp_path: Path) -> Engine:
    for _ in engine.sync(SAMPLES, write_notes(tmp_path / "notes", NOTES)):
        pass
    return engine


def _asked(engine: Engine) -> None:
    place = Expected("boiler.md", phrase="sixteen bar")
    engine.inspector.add_questions(
        SAMPLES,
        [
            new_question(VALVE, answerable=True, expected=(place,)),
            new_question("When are the roses cut?", answerable=True, expected=(Expected("garden.md"),)),
            new_question("Who won the chess tournament of Zürich in 1953?", answerable=False),
        ],
    )


def test_a_library_is_measured_with_its_own_questions(filled: Engine) -> None:
    inspector = filled.inspector
    with pytest.raises(QuestionsError):
        list(inspector.evaluate(SAMPLES))
    _asked(filled)
    assert inspector.missing_places(SAMPLES) == {}
    steps = list(inspector.evaluate(SAMPLES))
    assert [step.result.ranks for step in steps] == [(1,), (1,), ()]
    (run,) = inspector.runs(SAMPLES)
    assert run.results == tuple(step.result for step in steps)
    assert (run.stopped, run.conditions.model, run.conditions.chunks) == (False, "", 7)
    assert {one.name: one.value for one in inspector.measures(run)}["mrr"] == 1.0
    with closing(inspector.evaluate(SAMPLES)) as begun:
        next(begun)
    last = inspector.runs(SAMPLES)[-1]
    assert (last.stopped, len(last.results)) == (True, 1)
    with pytest.raises(ModelMissing):
        list(inspector.evaluate(SAMPLES, answers=True))
    assert len(inspector.runs(SAMPLES)) == 2
    assert steps[0].record.hits == filled.search(SAMPLES, VALVE).hits
    assert inspector.is_current(SAMPLES, run)
    (boiler,) = (file for file in filled.files(SAMPLES) if file.path == "boiler.md")
    filled.remove_file(SAMPLES, boiler.id)
    assert not inspector.is_current(SAMPLES, run)


def test_a_cut_off_of_its_own_decides_in_this_library_only(filled: Engine, tmp_path: Path) -> None:
    filled.create_library("Other")
    for _ in filled.sync("Other", tmp_path / "notes"):
        pass
    before = filled.search(SAMPLES, VALVE).evidence
    assert before.verdict is not Verdict.NONE
    filled.inspector.keep_cut_off(SAMPLES, before.features["above the cut-off"] + 0.1)
    after = filled.search(SAMPLES, VALVE).evidence
    assert after.verdict is Verdict.NONE
    assert "as kept for this library" in after.reason
    assert after.features == before.features
    assert filled.search("Other", VALVE).evidence.verdict is before.verdict
    kept = filled.library_settings(SAMPLES)
    filled.set_library_settings(SAMPLES, replace(kept, evidence_embedder="another"))
    assert filled.search(SAMPLES, VALVE).evidence.verdict is before.verdict
    assert filled.inspector.cut_off(SAMPLES) == 0.0


@pytest.fixture
def answering(settings: Settings, ollama: OllamaStandIn) -> Iterator[Engine]:
    with Engine(settings.model_copy(update={"ollama_url": ollama.url})) as opened:
        yield opened


def test_answers_are_measured_and_leave_no_word_of_a_file_that_is_forgotten(
    answering: Engine, ollama: OllamaStandIn, tmp_path: Path
) -> None:
    ollama.reply = ["The relief valve of the boiler opens at sixteen bar, and its leaden seal is grey [1]."]
    for _ in answering.sync(SAMPLES, write_notes(tmp_path / "notes", NOTES)):
        pass
    inspector = answering.inspector
    (boiler,) = (file for file in answering.files(SAMPLES) if file.path == "boiler.md")
    chunk = answering.xray(SAMPLES, boiler.id).chunks[0]
    inspector.point_at(SAMPLES, VALVE, chunk)
    inspector.point_at(SAMPLES, "Who won the chess tournament?", None)
    valve, chess = inspector.evaluate(SAMPLES, answers=True)
    assert isinstance(valve.record, Trace)
    assert (valve.result.cites, valve.result.outcome) == (True, "answered")
    assert chess.result.outcome == "answered"  # asked all the same, to tell what another cut-off would cost
    assert answering.last_trace(SAMPLES) is None  # a measurement is no conversation
    answering.remove_file(SAMPLES, boiler.id)
    assert set(inspector.missing_places(SAMPLES).values()) == {"no file “boiler.md” in the library"}
    folder = answering.dropped_folder(SAMPLES).parent
    for file in (path for path in folder.rglob("*") if path.is_file()):
        assert b"leaden" not in file.read_bytes(), file
