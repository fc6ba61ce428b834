"""Experiments: the sample, the ways that are tried in it, what chance would make of their differences."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import pytest
from fakes.hash_embedder import HashEmbedder
from fakes.ollama_server import Failure, OllamaStandIn
from material import write_notes

from rag.errors import ModelMissing, QuestionsError
from rag.index.chunking.chunks import ChunkProfile
from rag.index.library import Library, Shelf
from rag.index.plan import make_plan
from rag.index.sync import apply_plan
from rag.inspection.experiments import (
    AS_NOW,
    Bench,
    Step,
    Variant,
    compare,
    contents_hash,
    first_right,
    is_another,
    noise_band,
    run_experiment,
    take_sample,
)
from rag.inspection.questions import Expected, Question
from rag.inspection.scratch import ReadOnce
from rag.models.base import Embedder
from rag.models.ollama import OllamaChat
from rag.retrieval.retriever import Retriever
from rag.settings import Settings
from rag.sources.workers import ReaderPool
from rag.types import EmbedderIdentity, ModelChoice

PROFILE = ChunkProfile(60, 0, "sections")
PUMPS = {
    f"pump{number}.md": f"# Pump {number}\n\nThe {name} pump runs at {number + 20} bar.\n\n"
    + "".join(f"On day {day} it ran for {day * 7 + number} hours. " for day in range(25))
    for number, name in enumerate(("amber", "birch", "coral", "dusky", "ember", "frost", "grape", "hazel"))
}


def ask(number: int, **more: object) -> Question:
    """A question that one of the pumps answers."""
    name = PUMPS[f"pump{number}.md"].split("The ")[1].split()[0]
    place = Expected(f"pump{number}.md", phrase=f"{number + 20} bar")
    return replace(Question(str(number), f"At how many bar does the {name} pump run?", True, (place,)), **more)


@pytest.fixture
def pumps(library: Library, tmp_path: Path, readers: ReaderPool) -> tuple[Library, HashEmbedder]:
    """A library of eight notes, each of several passages."""
    embedder = HashEmbedder()
    root = write_notes(tmp_path / "notes", PUMPS)
    for _ in apply_plan(library, make_plan(library, root, PROFILE), embedder, readers, PROFILE):
        pass
    return library, embedder


@contextmanager
def other_embedder(name: str) -> Iterator[Embedder]:
    """Opens an embedder by its name; one is not there."""
    if name == "gone":
        raise ModelMissing("There is no such embedder.")
    yield HashEmbedder(name)


def bench(library: Library, embedder: HashEmbedder, readers: ReaderPool, home: Path) -> Bench:
    """What an experiment works with."""
    retriever = Retriever(libraries=(library,), embedder=embedder)
    return Bench(home, retriever, PROFILE, ReadOnce(readers), other_embedder)


def stores(library: Library) -> str:
    """A hash of the bytes of a library's stores."""
    paths = sorted(path for path in library.folder.rglob("*") if path.is_file() and not path.name.endswith("-shm"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()


def test_ways_are_tried_aside_and_the_library_stays_as_it_is(
    pumps: tuple[Library, HashEmbedder], readers: ReaderPool, tmp_path: Path, shelf: Shelf
) -> None:
    library, embedder = pumps
    questions = [ask(number) for number in range(6)]
    words = Variant("words", 40, 10)
    ways = [words, Variant(embedder="other"), Variant(embedder="gone")]
    library.vectors.settle()
    before, hashed, embedded = stores(library), contents_hash(library), embedder.embedded

    steps = [*run_experiment(library, questions, ways, 1000, bench(library, embedder, readers, tmp_path))]

    assert stores(library) == before
    assert not [*tmp_path.glob("scratch-*")]
    found = steps[-1].experiment
    assert found.before == found.after == hashed
    assert [outcome.variant for outcome in found.outcomes] == [AS_NOW, *ways]
    now, by_words, _, gone = found.outcomes
    assert now.chunks == library.catalog.counts()[1]
    assert now.rebuild is None
    assert "no such embedder" in gone.problem
    assert not gone.ranks
    # How it is now costs nothing to index; each question is embedded once a way, and the windows of words are new.
    assert embedder.embedded - embedded == 2 * len(questions) + by_words.chunks
    retriever = Retriever(libraries=(library,), embedder=embedder)
    assert now.ranks == tuple(first_right(question, retriever.search(question.text).hits) for question in questions)

    aside = shelf.create("Aside")
    plan = make_plan(aside, tmp_path / "notes", ChunkProfile(40, 10, "words"))
    for _ in apply_plan(aside, plan, embedder, readers, ChunkProfile(40, 10, "words")):
        pass
    retriever = Retriever(libraries=(aside,), embedder=embedder)
    assert by_words.ranks == tuple(first_right(one, retriever.search(one.text).hits) for one in questions)
    assert by_words.chunks == aside.catalog.counts()[1]
    assert by_words.rebuild is not None
    assert by_words.difference == compare(now.ranks, by_words.ranks, len(ways))
    assert {step.doing for step in steps} == {"index", "search"}
    assert max(step.nth for step in steps) == 4 == steps[0].ways


def test_made_up_passages_are_tried_in_the_same_scratch_library(
    pumps: tuple[Library, HashEmbedder],
    readers: ReaderPool,
    tmp_path: Path,
    settings: Settings,
    ollama: OllamaStandIn,
) -> None:
    library, embedder = pumps
    chat = OllamaChat(settings.model_copy(update={"ollama_url": ollama.url}), "qwen3:8b")
    ollama.reply = ["The pump runs at 12 bar."]
    ollama.failures.append(Failure("/api/chat", status=500))
    given = replace(bench(library, embedder, readers, tmp_path), chat=chat)
    steps = [*run_experiment(library, [ask(1), ask(2)], [Variant(hyde=True)], 1000, given)]
    assert {step.nth for step in steps if step.doing == "index"} == {1}
    now, made_up = steps[-1].experiment.outcomes
    assert not now.problem
    assert made_up.problem == "No passage was made up for 1 of 2 questions."
    assert (made_up.chunks, made_up.rebuild) == (now.chunks, None)
    assert made_up.difference == compare(now.ranks, made_up.ranks)


def test_stopping_leaves_nothing_behind(
    pumps: tuple[Library, HashEmbedder], readers: ReaderPool, tmp_path: Path
) -> None:
    library, embedder = pumps
    for after in (1, 4):
        work = run_experiment(
            library, [ask(1)], [Variant("words", 40, 10)], 1000, bench(library, embedder, readers, tmp_path)
        )
        first: list[Step] = [*itertools.islice(work, after)]
        assert not first[-1].experiment.after
        assert [*tmp_path.glob("scratch-*")]
        work.close()
        assert not [*tmp_path.glob("scratch-*")]


def test_the_sample_holds_the_files_that_answer_first(pumps: tuple[Library, HashEmbedder]) -> None:
    library, _ = pumps
    each = library.catalog.files()[0].chunks
    elsewhere = ask(5, id="elsewhere", expected=(Expected("pump5.md", phrase="99 bar"),))
    questions = [ask(3), ask(6), elsewhere, Question("unanswerable", "Who built them?", False), ask(1, expected=())]

    small = take_sample(library, questions, each)
    assert [record.path for record in small.files] == ["pump3.md"]
    assert [question.id for question in small.questions] == ["3"]
    assert [(question.id, "too long" in why) for question, why in small.left_out] == [("6", True), ("elsewhere", False)]
    assert "99 bar" in small.left_out[1][1]

    middle = take_sample(library, questions, 4 * each)
    assert {"pump3.md", "pump6.md"} < {record.path for record in middle.files}
    assert (middle.chunks, middle.total) == (4 * each, 8 * each)
    assert middle == take_sample(library, questions, 4 * each)
    assert len(take_sample(library, questions, 10**9).files) == 8

    anywhere = ask(2, expected=(Expected(phrase="22 bar"),))
    assert [record.path for record in take_sample(library, [anywhere], each).files] == ["pump2.md"]


def test_without_a_question_that_can_be_measured_nothing_is_tried(
    pumps: tuple[Library, HashEmbedder], readers: ReaderPool, tmp_path: Path
) -> None:
    library, embedder = pumps
    questions = [Question("1", "Who built them?", False)]
    with pytest.raises(QuestionsError, match="no question here"):
        next(run_experiment(library, questions, [], 100, bench(library, embedder, readers, tmp_path)))


def test_the_noise_band_is_that_of_every_choice_of_signs() -> None:
    differences = [0.5, -0.5, 0.5, 0.0, 1 / 3, 0.25, 0.5, -0.1, 0.9, 0.0]
    means = [
        abs(fmean(sign * difference for sign, difference in zip(signs, differences, strict=True)))
        for signs in itertools.product((-1, 1), repeat=len(differences))
    ]
    band = noise_band(differences)
    beyond = sum(mean > band for mean in means) / len(means)
    assert beyond <= 0.05
    assert sum(mean > band - 1e-6 for mean in means) / len(means) > 0.05


def test_five_wins_may_be_chance_and_six_are_not() -> None:
    five = compare([2] * 5 + [1] * 5, [1] * 10)
    six = compare([2] * 6 + [1] * 4, [1] * 10)
    assert (five.verdict, len(five.wins), five.losses) == ("noise", 5, ())
    assert (six.verdict, six.mean) == ("better", pytest.approx(0.3))
    assert compare([1] * 10, [2] * 6 + [1] * 4).verdict == "worse"
    assert compare([2] * 6 + [1] * 4, [1] * 10, ways=3).verdict == "noise"  # of three, one looks good by chance sooner
    assert compare([1, 2, 0], [1, 2, 0]).verdict == "noise"


def test_the_noise_of_many_questions_is_that_of_the_normal_curve() -> None:
    differences = [0.5, -0.5] * 200
    assert noise_band(differences) == pytest.approx(1.96 * 0.5 / 400**0.5, rel=0.05)
    assert noise_band(differences) == noise_band(differences)


def test_another_embedder_is_one_that_is_here_and_keeps_the_notes_here() -> None:
    built_with = EmbedderIdentity("ollama", "nomic-embed-text", "1", 768, True, "", "", 2048)
    offered = ModelChoice("ollama:mxbai-embed-large", "embedding", "", True)
    assert is_another(offered, built_with)
    assert not is_another(replace(offered, id="ollama:nomic-embed-text"), built_with)
    assert not is_another(replace(offered, ready=False), built_with)
    assert not is_another(replace(offered, id="ollama:big-cloud"), built_with)
    assert not is_another(replace(offered, kind="chat"), built_with)
    assert not is_another(replace(offered, id="e5-small"), replace(built_with, provider="bundled"))
