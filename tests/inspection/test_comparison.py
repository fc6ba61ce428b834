"""One question answered twice: which prompts are sent, what is kept, what happens when a side fails or is stopped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fakes.ollama_server import Failure, OllamaStandIn, StandInModel

from rag.engine import SAMPLES, Engine
from rag.errors import ModelMissing
from rag.inspection.agreement import Origin
from rag.inspection.comparison import Comparison
from rag.settings import load_settings
from rag.types import Answer, AnswerDone, Trace

QUESTION = "How often do the wipers sweep the optical window?"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with one note in it."""
    home, notes = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("notes")
    (notes / "wipers.md").write_text(
        "# Wipers\n\nThe wipers sweep the optical window every 6 hours.\n", encoding="utf-8"
    )
    with Engine(load_settings(home=home, llm="none", embedder="e5-small")) as engine:
        for _ in engine.sync(SAMPLES, notes):
            pass
    return home


@pytest.fixture
def engine(home: Path, ollama: OllamaStandIn) -> Iterator[Engine]:
    """An engine whose models answer from the notes where they have them, and otherwise from what they know."""
    ollama.reply = _reply
    with Engine(load_settings(home=home, ollama_url=ollama.url, llm="ollama:qwen3:8b")) as opened:
        yield opened


def _reply(messages: list[dict[str, Any]]) -> list[str]:
    if "every 6 hours" in messages[-1]["content"]:
        return ["The wipers sweep it ", "every 6 hours. [1]"]
    return ["The wipers sweep it ", "every 12 hours."]


def _asked(engine: Engine, question: str = QUESTION) -> Trace:
    *_, done = engine.ask(SAMPLES, question)
    assert isinstance(done, AnswerDone)
    return done.trace


def _last(events: Iterator[Comparison]) -> Comparison:
    *_, last = events
    return last


def _sent(ollama: OllamaStandIn) -> list[dict[str, Any]]:
    return [request.body for request in ollama.requests if request.path == "/api/chat"]


def test_without_notes_the_same_model_is_asked_the_bare_question_with_the_same_seed(
    engine: Engine, ollama: OllamaStandIn
) -> None:
    trace = _asked(engine)
    (with_notes,) = _sent(ollama)
    compared = _last(engine.inspector.with_and_without(SAMPLES, trace.retrieval, trace))
    _, without = _sent(ollama)
    assert without["options"] == with_notes["options"]
    assert without["model"] == with_notes["model"] == "qwen3:8b"
    assert QUESTION in without["messages"][-1]["content"]
    assert "6 hours" not in str(without["messages"])
    assert compared.left.kept
    assert compared.left.trace is trace
    assert compared.right.alone
    assert compared.right.text == "The wipers sweep it every 12 hours."
    (mark,), (other,) = compared.left.marks, compared.right.marks
    assert (mark.origin, other.origin) == (Origin.DISAGREE, Origin.DISAGREE)
    assert (mark.held, other.held) == (True, False)


def test_a_search_without_an_answer_is_answered_on_both_sides(engine: Engine, ollama: OllamaStandIn) -> None:
    retrieval = engine.search(SAMPLES, QUESTION)
    steps = list(engine.inspector.with_and_without(SAMPLES, retrieval, None))
    assert [len(_sent(ollama)), steps[-1].left.kept] == [2, False]
    assert "every 6 hours" in _sent(ollama)[0]["messages"][-1]["content"]
    texts = [step.left.text for step in steps]
    assert "The wipers sweep it " in texts, "it grows while one looks on"
    assert steps[-1].ended
    assert not steps[0].ended


def test_two_models_get_the_same_notes_with_the_prompt_of_their_size(engine: Engine, ollama: OllamaStandIn) -> None:
    trace = _asked(engine)
    compared = _last(engine.inspector.two_models(SAMPLES, trace.retrieval, trace, "ollama:qwen2.5:1.5b"))
    first, second = _sent(ollama)
    assert (first["model"], second["model"]) == ("qwen3:8b", "qwen2.5:1.5b")
    assert first["messages"][-1] == second["messages"][-1]
    assert len(second["messages"]) > len(first["messages"]), "a small model gets worked examples"
    assert compared.right.trace is not None
    assert compared.right.trace.model is not None
    assert compared.right.trace.model.small
    assert [mark.origin for mark in (*compared.left.marks, *compared.right.marks)] == [Origin.NOTES, Origin.NOTES]
    assert compared.right.trace.generation is not None
    assert compared.right.trace.generation.tokens


def test_the_history_goes_to_the_other_model_and_never_to_the_side_without_notes(
    engine: Engine, ollama: OllamaStandIn
) -> None:
    number = engine.new_conversation(SAMPLES)
    list(engine.ask(SAMPLES, QUESTION, conversation=number))
    *_, done = engine.ask(SAMPLES, "How often do the wipers sweep the optical window in winter?", conversation=number)
    assert isinstance(done, AnswerDone)
    trace = done.trace
    sent = _sent(ollama)[-1]["messages"]
    assert any(message["content"].endswith("every 6 hours.") for message in sent[:-1])
    _last(engine.inspector.two_models(SAMPLES, trace.retrieval, trace, "ollama:llama3.2:3b"))
    assert _sent(ollama)[-1]["messages"] == sent
    _last(engine.inspector.with_and_without(SAMPLES, trace.retrieval, trace))
    assert len(_sent(ollama)[-1]["messages"]) == 2


def test_the_second_model_is_opened_after_the_first_and_the_one_in_use_stays(
    engine: Engine, ollama: OllamaStandIn
) -> None:
    retrieval = engine.search(SAMPLES, QUESTION)
    before = engine.status()
    events = engine.inspector.two_models(SAMPLES, retrieval, None, "ollama:qwen2.5:1.5b")
    seen = [step for step in events if step.right.model is not None]
    assert seen[0].left.ended
    assert engine.status() == before
    ollama.models.append(StandInModel("gpt-oss:120b-cloud"))
    assert not any("cloud" in choice.id for choice in engine.inspector.comparable())
    assert "ollama:qwen2.5:1.5b" in [choice.id for choice in engine.inspector.comparable()]
    assert "ollama:qwen3:8b" not in [choice.id for choice in engine.inspector.comparable()]


def test_the_second_model_leaves_memory_again_unless_it_was_there_before(engine: Engine, ollama: OllamaStandIn) -> None:
    trace = _asked(engine)
    for was_loaded in (False, True):
        if was_loaded:
            ollama.loaded["qwen2.5:1.5b"] = 4096
        _last(engine.inspector.two_models(SAMPLES, trace.retrieval, trace, "ollama:qwen2.5:1.5b"))
        assert ("qwen2.5:1.5b" in ollama.loaded) is was_loaded
        assert "qwen3:8b" in ollama.loaded


def test_a_side_that_fails_says_why_and_the_other_one_stays(engine: Engine, ollama: OllamaStandIn) -> None:
    trace = _asked(engine)
    ollama.failures.append(Failure("/api/chat", status=500))
    compared = _last(engine.inspector.with_and_without(SAMPLES, trace.retrieval, trace))
    assert compared.ended
    assert compared.left.text
    assert "could not run" in compared.right.problem
    assert compared.right.hint
    assert compared.left.marks == ()
    missing = _last(engine.inspector.two_models(SAMPLES, trace.retrieval, trace, "ollama:nowhere:1b"))
    assert "nowhere:1b" in missing.right.problem


def test_stopping_hangs_up_on_the_model(engine: Engine, ollama: OllamaStandIn) -> None:
    trace = _asked(engine)
    ollama.reply, ollama.delay = ["word "] * 200, 0.02
    events = engine.inspector.with_and_without(SAMPLES, trace.retrieval, trace)
    for step in events:
        if step.right.text:
            break
    events.close()
    ollama.reply, ollama.delay = ["Well."], 0.0
    assert _asked(engine).answer.text.startswith("Well."), "the next answer does not wait for the stopped one"
    assert ollama.broken_off == 1


def test_a_refusal_is_kept_as_chat_said_it_but_no_model_is_compared_with_one_that_was_not_asked(
    engine: Engine, ollama: OllamaStandIn
) -> None:
    refusal = Answer("Your notes do not seem to say.", "not_in_notes")
    trace = replace(_asked(engine), answer=refusal, seconds={}, generation=None)
    compared = _last(engine.inspector.with_and_without(SAMPLES, trace.retrieval, trace))
    assert (compared.left.kept, compared.left.text, compared.left.marks) == (True, refusal.text, ())
    assert [mark.origin for mark in compared.right.marks] == [Origin.MODEL]
    before = len(_sent(ollama))
    models = _last(engine.inspector.two_models(SAMPLES, trace.retrieval, trace, "ollama:llama3.2:3b"))
    assert (models.left.kept, len(_sent(ollama)) - before) == (False, 2)


def test_without_a_chat_model_it_says_what_to_do(home: Path) -> None:
    with Engine(load_settings(home=home, llm="none", ollama_url="http://127.0.0.1:9")) as engine:
        retrieval = engine.search(SAMPLES, QUESTION)
        with pytest.raises(ModelMissing, match="no chat model"):
            next(engine.inspector.with_and_without(SAMPLES, retrieval, None))


@pytest.mark.slow
def test_the_real_model_follows_a_planted_note_against_what_it_knows(tmp_path: Path, embedded_model_file: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "capitals.md").write_text("# Capitals\n\nThe capital of France is Lyon.\n", encoding="utf-8")
    with Engine(load_settings(home=tmp_path / "home", llm="embedded", embedder="e5-small", context_tokens=2048)) as own:
        for _ in own.sync(SAMPLES, tmp_path / "notes"):
            pass
        retrieval = own.search(SAMPLES, "What is the capital of France?")
        compared = _last(own.inspector.with_and_without(SAMPLES, retrieval, None))
    assert "Lyon" in compared.left.text
    assert "Paris" in compared.right.text
    assert [mark.origin for mark in (*compared.left.marks, *compared.right.marks)] == [Origin.DISAGREE] * 2
