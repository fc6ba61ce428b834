"""The whole way with the real embedded model: index the sample notes, ask, cite, refuse, stop; and through Ollama's API."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from fakes.ollama_server import Failure, OllamaStandIn

from rag.engine import SAMPLES, Engine
from rag.errors import InputTooLong, ModelFailed, ModelMissing
from rag.models.embedded import EmbeddedChat
from rag.settings import Settings, load_settings
from rag.types import Answer, AnswerDone, RetrievalDone, TextDelta, Trace

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the sample notes indexed."""
    folder = tmp_path_factory.mktemp("home")
    with Engine(load_settings(home=folder, llm="none")) as engine:
        for _ in engine.sync(SAMPLES, engine.sample_folder()):
            pass
    return folder


@pytest.fixture(scope="module")
def qwen(home: Path, embedded_model_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """An engine that answers with the real embedded model, in a home of its own: it stays open."""
    own = shutil.copytree(home, tmp_path_factory.mktemp("qwen") / "home")
    with Engine(load_settings(home=own, llm="embedded", context_tokens=4096)) as engine:
        yield engine


def _answer(engine: Engine, question: str, **more: int) -> Trace:
    *_, last = engine.ask(SAMPLES, question, **more)
    assert isinstance(last, AnswerDone)
    return last.trace


def _assert_cites(answer: Answer, path: str, words: str) -> None:
    cited = [citation for citation in answer.citations if citation.chunk.path == path]
    assert cited, answer
    for citation in cited:
        assert f"[{citation.number}]" in answer.text
        start = citation.chunk.span.start
        passage = citation.chunk.text[citation.span.start - start : citation.span.end - start]
        assert words in " ".join(passage.split())


def test_an_english_question_gets_the_right_fact_and_the_right_citation(qwen: Engine) -> None:
    trace = _answer(qwen, "How often do the wipers sweep the optical window?")
    assert trace.answer.outcome == "answered"
    assert "6 hours" in trace.answer.text
    _assert_cites(trace.answer, "project/decisions.md", "every 6 hours")
    assert trace.prompt is not None
    window = trace.prompt.window
    assert window.exact
    assert window.read is not None
    assert abs(window.read - window.used) < 0.1 * window.used
    assert trace.answer.warnings == ()


@pytest.mark.slow
def test_a_japanese_question_is_answered_in_japanese_from_the_japanese_note(qwen: Engine) -> None:
    trace = _answer(qwen, "ステーションH5の水深は何メートルですか。")
    assert trace.answer.outcome == "answered"
    assert any("\u3040" <= character <= "\u30ff" for character in trace.answer.text)
    source = (qwen.sample_folder() / "lab/kansoku-memo.md").read_text(encoding="utf-8")
    line = next(
        json.loads(line)
        for line in (qwen.sample_folder().parent / "sample_questions.jsonl").read_text("utf-8").splitlines()
        if "H5の水深" in line
    )
    assert any(accepted in trace.answer.text for accepted in line["accept"])
    citation = next(c for c in trace.answer.citations if c.chunk.path == "lab/kansoku-memo.md")
    assert citation.chunk.text in source


def test_what_the_notes_do_not_say_is_refused_in_the_questions_language(qwen: Engine) -> None:
    trace = _answer(qwen, "What is the capital of Mongolia?")
    assert (trace.answer.outcome, trace.answer.text) == ("not_in_notes", "Your notes do not seem to say.")
    assert trace.answer.citations == ()
    assert trace.retrieval.hits, "the nearest passages are still shown"
    assert "ノート" in _answer(qwen, "犬の散歩は一日に何回必要ですか。").answer.text


@pytest.mark.slow
def test_retrieval_comes_before_the_first_word(qwen: Engine) -> None:
    events = qwen.ask(SAMPLES, "At what time are the home folders backed up?")
    with closing(events):
        first = next(events)
        assert isinstance(first, RetrievalDone)
        assert first.prompt is not None
        assert any(passage.in_prompt for passage in first.prompt.passages)
        assert isinstance(next(events), TextDelta)


def _server_of(engine: Engine) -> tuple[str, str]:
    """Address and key of the embedded model's own server."""
    chat = engine._models.chat()[0]
    assert isinstance(chat, EmbeddedChat)
    client = chat._started()
    return client._root, client._http.headers["Authorization"].removeprefix("Bearer ")


def test_stopping_frees_the_model_and_keeps_what_was_said(qwen: Engine) -> None:
    number = qwen.new_conversation(SAMPLES)
    events = qwen.ask(SAMPLES, "At what time are the home folders backed up?", conversation=number)
    said = ""
    for event in events:
        said += event.text if isinstance(event, TextDelta) else ""
        if said:
            break
    events.close()
    (exchange,) = qwen.exchanges(SAMPLES, number)
    assert exchange.trace.answer.outcome == "stopped"
    assert exchange.trace.answer.text.startswith(said.strip()[:5])
    root, key = _server_of(qwen)
    for _ in range(50):
        (slot,) = httpx.get(f"{root}/slots", headers={"Authorization": f"Bearer {key}"}).json()
        if not slot["is_processing"]:
            return
        time.sleep(0.1)
    pytest.fail("the model still generates")


@pytest.mark.slow
def test_a_follow_up_is_rewritten_with_the_conversation(qwen: Engine) -> None:
    number = qwen.new_conversation(SAMPLES)
    first = _answer(qwen, "Which SSH port does the backup server use?", conversation=number)
    assert first.retrieval.queries == ("Which SSH port does the backup server use?",)
    events = qwen.ask(SAMPLES, "And when does it back up the home folders?", conversation=number)
    with closing(events):
        retrieved = next(events)
    assert isinstance(retrieved, RetrievalDone)
    assert retrieved.retrieval.queries[0] != "And when does it back up the home folders?"
    assert retrieved.retrieval.hits[0].chunk.path == "backup-server.md"


@pytest.mark.slow
def test_the_command_line_answers_with_citations(home: Path, embedded_model_file: Path) -> None:
    done = _run(home, "ask", "How often do the wipers sweep the optical window?", "--json", llm="embedded")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert "6 hours" in answer["answer"]
    assert answer["citations"][0]["file"] == "project/decisions.md"
    assert answer["citations"][0]["number"] == next(hit["number"] for hit in answer["hits"] if hit["in_prompt"])
    assert answer["window"]["read"]


# ------------------------------------------------------------------------------------------------------------- Ollama


def _ollama(home: Path, server: OllamaStandIn, **more: object) -> Settings:
    return load_settings(home=home, ollama_url=server.url, llm="ollama:qwen2.5:1.5b", **more)


@pytest.mark.slow
def test_the_same_answer_through_ollamas_api_in_front_of_the_same_model(home: Path, qwen: Engine) -> None:
    root, key = _server_of(qwen)
    with OllamaStandIn(backend=root, key=key) as server, Engine(_ollama(home, server)) as engine:
        trace = _answer(engine, "How often do the wipers sweep the optical window?")
        sent = server.sent("/api/chat")
    assert "6 hours" in trace.answer.text
    _assert_cites(trace.answer, "project/decisions.md", "every 6 hours")
    assert (sent["truncate"], sent["shift"], sent["think"], sent["keep_alive"]) == (False, False, False, "10m")
    assert sent["options"]["num_ctx"] == 8192
    assert (sent["options"]["seed"], sent["options"]["temperature"]) == (0, 0.0)
    assert trace.prompt is not None
    assert [message["content"] for message in sent["messages"]] == [m.content for m in trace.prompt.messages]


@pytest.mark.parametrize(
    ("failure", "error", "words"),
    [
        (Failure("/api/chat", status=500), ModelFailed, "could not run"),
        (Failure("/api/chat", after=0), ModelFailed, "could not run"),
        (Failure("/api/chat", status=404, error="model 'qwen2.5:1.5b' not found"), ModelMissing, "does not have"),
        (Failure("/api/chat", status=400, error="the input exceeds the context length"), InputTooLong, "longer than"),
    ],
)
def test_errors_before_the_first_word(
    home: Path, ollama: OllamaStandIn, failure: Failure, error: type[Exception], words: str
) -> None:
    with Engine(_ollama(home, ollama)) as engine:
        ollama.failures.append(failure)
        events = engine.ask(SAMPLES, "How often do the wipers sweep the optical window?")
        assert isinstance(next(events), RetrievalDone), "what was found is shown all the same"
        with pytest.raises(error, match=words):
            list(events)


@pytest.mark.parametrize("cut", [True, False])
def test_a_stream_that_breaks_keeps_what_was_said_and_says_so(home: Path, ollama: OllamaStandIn, cut: bool) -> None:
    ollama.reply = ["The wipers ", "sweep ", "every ", "6 hours. [1]"]
    with Engine(_ollama(home, ollama)) as engine:
        ollama.failures.append(Failure("/api/chat", after=2, cut=cut))
        answer = _answer(engine, "How often do the wipers sweep the optical window?").answer
    assert answer.outcome == "failed"
    assert answer.text.startswith("The wipers")
    assert answer.warnings


def test_a_model_that_read_too_little_is_an_alarm(home: Path, ollama: OllamaStandIn) -> None:
    ollama.reply = ["The wipers sweep every 6 hours. [1]"]
    with Engine(_ollama(home, ollama)) as engine:
        whole = _answer(engine, "How often do the wipers sweep the optical window?")
        ollama._fit = lambda messages, window, *, truncate: [{**messages[-1], "content": "cut"}]  # type: ignore[method-assign]
        cut = _answer(engine, "How often do the wipers sweep the optical window?")
    assert whole.answer.warnings == ()
    (warning,) = cut.answer.warnings
    assert "may be unread" in warning
    assert cut.prompt is not None
    assert cut.prompt.window.read is not None
    assert cut.prompt.window.read < 10


def test_thinking_is_not_shown(home: Path, ollama: OllamaStandIn) -> None:
    ollama.reply = ["<think>", "The wipers… let me see", "</think>", "The wipers sweep every 6 hours. [1]"]
    with Engine(_ollama(home, ollama)) as engine:
        answer = _answer(engine, "How often do the wipers sweep the optical window?").answer
    assert "let me see" not in answer.text
    assert "6 hours" in answer.text


@pytest.mark.slow
def test_ollama_that_is_not_running_or_lacks_the_model_is_told_on_the_command_line(
    home: Path, ollama: OllamaStandIn
) -> None:
    gone = _run(home, "ask", "Anything?", llm="ollama:qwen3:8b", ollama_url="http://127.0.0.1:9")
    missing = _run(home, "ask", "Anything?", llm="ollama:llama9:70b", ollama_url=ollama.url)
    ollama.failures.append(Failure("/api/chat", status=500))
    broken = _run(home, "ask", "How often do the wipers sweep?", llm="ollama:qwen3:8b", ollama_url=ollama.url)
    for done, words in ((gone, "does not answer"), (missing, "ollama pull llama9:70b"), (broken, "could not run")):
        assert done.returncode == 1
        assert words in done.stderr
        assert "Traceback" not in done.stderr


def test_auto_prefers_a_qwen_on_ollama(home: Path, ollama: OllamaStandIn) -> None:
    with Engine(load_settings(home=home, ollama_url=ollama.url)) as engine:
        status = engine.status()
    assert status.chat is not None
    assert (status.chat.provider, status.chat.name) == ("ollama", "qwen3:8b")


def _run(
    home: Path, *arguments: str, llm: str, ollama_url: str = "http://127.0.0.1:9"
) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ, "FOOTNOTE_HOME": str(home), "FOOTNOTE_LLM": llm, "FOOTNOTE_OLLAMA_URL": ollama_url,
        "FOOTNOTE_CONTEXT_TOKENS": "4096",
    }  # fmt: skip
    command = [sys.executable, "-m", "rag", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=180)
