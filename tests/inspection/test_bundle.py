"""Replay bundles: everything comes back as it was, and what is another afterwards is told."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from fakes.hash_embedder import HashEmbedder
from fakes.ollama_server import OllamaStandIn
from material import write_notes

from rag.answering.chain import Answering, AnswerRun
from rag.engine import SAMPLES, Engine
from rag.errors import SourceError
from rag.index.chunking.chunks import ChunkProfile
from rag.index.library import Library
from rag.index.plan import make_plan
from rag.index.sync import apply_plan
from rag.inspection.bundle import Bundle, Replay, decided, from_json, make_bundle, replay, to_json
from rag.models.ollama import OllamaChat
from rag.retrieval.retriever import Retriever
from rag.settings import Settings, load_settings
from rag.sources.workers import ReaderPool
from rag.types import DEFAULT_SEARCH, AnswerDone, Trace, Turn

NOTES = {f"note-{n}.md": f"# Note {n}\n\nThe pump number {n} runs at {n + 10} bar in hall {n % 3}.\n" for n in range(9)}
QUESTION = "At how many bar does the pump number 4 run?"
HISTORY = (Turn("user", "Which pumps are there?"), Turn("assistant", "Nine of them."))


def _index(library: Library, root: Path, embedder: HashEmbedder, readers: ReaderPool) -> None:
    profile = ChunkProfile(200, 20)
    list(apply_plan(library, make_plan(library, root, profile), embedder, readers, profile))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_notes(tmp_path / "notes", NOTES)


@pytest.fixture
def answering(
    library: Library, root: Path, readers: ReaderPool, settings: Settings, ollama: OllamaStandIn
) -> Answering:
    embedder = HashEmbedder()
    _index(library, root, embedder, readers)
    ollama.reply = ["It runs at 14 bar. [1]"]
    settings = settings.model_copy(update={"ollama_url": ollama.url})
    retriever = Retriever(libraries=(library,), embedder=embedder, candidates=6)
    return Answering(
        retriever, OllamaChat(settings, "qwen3:8b"), 3, 120, DEFAULT_SEARCH, decided(settings, DEFAULT_SEARCH, 3)
    )


def _asked(answering: Answering) -> Trace:
    *_, done = AnswerRun(answering, QUESTION, HISTORY).events()
    assert isinstance(done, AnswerDone)
    return done.trace


def _last(bundle: Bundle, answering: Answering) -> Replay:
    *_, last = replay(bundle, answering)
    assert last.differences is not None
    return last


def test_a_bundle_comes_back_from_its_file_as_it_was(answering: Answering) -> None:
    bundle = make_bundle(_asked(answering), answering.retriever.libraries)
    text = to_json(bundle)
    assert from_json(text) == bundle
    assert from_json(text.encode()) == bundle
    held = json.loads(text)
    assert text.count("runs at 14 bar in hall 1") <= 2 + len(bundle.trace.prompt.passages), "each text stands once"
    assert held["trace"]["settings"]["seed"] == "0"
    assert held["trace"]["model"]["digest"]
    assert bundle.audit is not None
    assert [sentence.text for sentence in bundle.audit.sentences] == ["It runs at 14 bar."]
    (best, *_) = bundle.index.sources
    assert len(best.sha256) == 64


def test_what_is_no_bundle_is_refused(answering: Answering) -> None:
    held = json.loads(to_json(make_bundle(_asked(answering), answering.retriever.libraries)))
    spoiled = [{"kind": "cake"}, {"format": 99}, {"chunks": {}}, {"trace": {}}, {"made_at": "soon"}, {"index": 3}]
    for text in ["", "[]", "[" * 100_000, "null", b"\xff\xfe", *(json.dumps(held | spoil) for spoil in spoiled)]:
        with pytest.raises(SourceError):
            from_json(text)


def test_the_same_again_gives_no_difference(answering: Answering, ollama: OllamaStandIn) -> None:
    bundle = from_json(to_json(make_bundle(_asked(answering), answering.retriever.libraries)))
    first = ollama.sent("/api/chat")["messages"]
    steps = list(replay(bundle, answering))
    assert steps[0].step == "search"
    assert steps[-1].step == "done"
    assert ollama.sent("/api/chat")["messages"] == first, "history and all"
    assert any(message["content"] == HISTORY[0].text for message in first)
    told = steps[-1].differences
    assert told is not None
    assert (told.conditions, told.sources, told.moved) == ((), (), ())
    assert (told.same_index, told.same_prompt, told.same_text) == (True, True, True)


def test_after_a_change_it_says_what_is_another(
    answering: Answering, library: Library, root: Path, readers: ReaderPool, ollama: OllamaStandIn
) -> None:
    bundle = make_bundle(_asked(answering), (library,))
    best = bundle.trace.retrieval.hits[0].chunk.path
    gone = bundle.trace.retrieval.hits[1].chunk.path
    (root / best).write_text(f"# Other\n\n{QUESTION} Nobody knows.\n", encoding="utf-8")
    (root / gone).unlink()
    _index(library, root, answering.retriever.embedder, readers)  # type: ignore[arg-type]
    ollama.reply = ["It runs at 99 bar. [1]"]
    changed = replace(answering, settings={**answering.settings, "seed": "7"})
    told = _last(bundle, changed).differences
    assert told is not None
    assert ("seed", "0", "7") in told.conditions
    assert ("files", "9", "8") in told.conditions
    assert dict(told.sources)[best] == "its content is another"
    assert dict(told.sources)[gone] == "not in the library any more"
    assert (told.same_index, told.same_prompt, told.same_text) == (False, False, False)
    moved = {(move.chunk.path, move.then): move for move in told.moved}
    assert moved[best, 1].now is None
    assert moved[best, 1].why == "its content is another"
    assert moved[gone, 2].why == "not in the library any more"
    assert moved[best, None].now == 1


def test_closing_it_stops_the_model(answering: Answering, ollama: OllamaStandIn) -> None:
    bundle = make_bundle(_asked(answering), answering.retriever.libraries)
    ollama.reply = ["One", " word", " after", " the", " other"] * 20
    events = replay(bundle, answering)
    for step in events:
        if step.text:
            break
    events.close()
    assert step.differences is None


@pytest.mark.slow
def test_at_temperature_0_the_embedded_model_says_the_same_again(tmp_path: Path, embedded_model_file: Path) -> None:
    with Engine(load_settings(home=tmp_path / "home", llm="embedded", context_tokens=4096)) as engine:
        for _ in engine.sync(SAMPLES, engine.sample_folder()):
            pass
        for question in (
            "How often do the wipers sweep the optical window?",
            "ステーションH5の水深は何メートルですか。",
        ):
            *_, done = engine.ask(SAMPLES, question)
            assert isinstance(done, AnswerDone)
            # Something else in between, so that nothing of the first prompt is left in the model's memory.
            list(engine.ask(SAMPLES, "When are the home folders backed up?"))
            bundle = from_json(to_json(engine.inspector.bundle(SAMPLES, done.trace)))
            *_, last = engine.inspector.replay(SAMPLES, bundle)
            assert last.differences is not None
            assert last.differences.same_prompt
            assert last.text == done.trace.answer.text
            assert last.differences.conditions == ()
