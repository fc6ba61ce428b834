import json
import time

import httpx
import pytest
from fakes.ollama_server import Failure, StandInModel
from langchain_core.prompts import ChatPromptTemplate

from rag.errors import DownloadFailed, InputTooLong, ModelError, ModelFailed, ModelMissing, ModelUnavailable
from rag.models.ollama import OllamaChat, OllamaEmbedder, OllamaServer
from rag.types import Message


@pytest.fixture
def settings(ollama, make_settings):
    sampling = {"answer_tokens": 77, "seed": 5, "temperature": 0.2}
    return make_settings(ollama_url=ollama.url, context_tokens=2048, keep_alive="7m", timeout=5, **sampling)


def ask(chat, text="Hello?"):
    with chat.errors():
        return list(chat.runnable.stream([("system", "Be brief."), ("human", text)]))


def test_what_is_on_the_wire(ollama, settings):
    chunks = ask(OllamaChat(settings, "qwen3:8b"))

    assert "".join(chunk.content for chunk in chunks) == "A scripted answer."
    sent = ollama.sent("/api/chat")
    assert sent["truncate"] is False
    assert sent["shift"] is False
    assert sent["think"] is False
    assert sent["stream"] is True
    assert sent["keep_alive"] == "7m"
    assert sent["options"] == {"num_ctx": 2048, "num_predict": 77, "temperature": 0.2, "seed": 5}
    assert sent["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello?"},
    ]


def test_the_prompt_is_rendered_as_it_would_be_sent_and_nothing_is_generated(ollama, settings):
    chat = OllamaChat(settings, "qwen3:8b")
    ask(chat)
    answered = ollama.sent("/api/chat")
    messages = [Message("system", "Be brief."), Message("user", "Hello?")]
    assert chat.rendered(messages) == "<|system|> Be brief.\n<|user|> Hello?"
    sent = ollama.sent("/api/chat")
    assert sent["_debug_render_only"] is True
    for field in ("model", "messages", "truncate", "shift", "think", "keep_alive"):
        assert sent[field] == answered[field]
    assert sent["options"]["num_ctx"] == answered["options"]["num_ctx"]
    with pytest.raises(InputTooLong, match="longer than the window"):
        chat.rendered([Message("user", "word " * 2100)])
    ollama.failures.append(Failure("/api/chat", status=500))
    with pytest.raises(ModelFailed, match="could not run qwen3:8b"):
        chat.rendered(messages)


async def _ask_asynchronously(chat):
    return [chunk async for chunk in chat.runnable.astream("Hello?")]


def test_the_asynchronous_client_sends_the_same(ollama, settings):
    import asyncio

    chat = OllamaChat(settings, "qwen3:8b")
    asyncio.run(_ask_asynchronously(chat))
    assert ollama.sent("/api/chat")["truncate"] is False
    assert ollama.sent("/api/chat")["shift"] is False


def test_the_last_chunk_tells_counts_and_the_reason_of_the_end(ollama, settings):
    last = ask(OllamaChat(settings, "qwen3:8b"))[-2:]
    usage = next(chunk.usage_metadata for chunk in last if chunk.usage_metadata)
    assert usage["input_tokens"] == len(["<|system|>", "Be", "brief.", "<|user|>", "Hello?"])
    assert usage["output_tokens"] == 3
    assert any(chunk.response_metadata.get("done_reason") == "stop" for chunk in last)


def test_it_stands_in_a_chain_and_streams_piece_by_piece(ollama, settings):
    ollama.reply, ollama.delay = ["one ", "two ", "three"], 0.15
    chain = ChatPromptTemplate.from_messages([("human", "{question}")]) | OllamaChat(settings, "qwen3:8b").runnable
    started = time.perf_counter()
    stream = chain.stream({"question": "Count"})
    first = next(stream)
    assert first.content == "one "
    assert time.perf_counter() - started < 0.14
    assert "".join(chunk.content for chunk in stream) == "two three"


def test_closing_the_stream_hangs_up(ollama, settings):
    ollama.reply, ollama.delay = ["word "] * 200, 0.02
    stream = OllamaChat(settings, "qwen3:8b").runnable.stream("Go on")
    next(stream)
    stream.close()
    deadline = time.monotonic() + 3
    while not ollama.broken_off and time.monotonic() < deadline:
        time.sleep(0.02)
    assert ollama.broken_off == 1


def test_identity(ollama, settings):
    big = OllamaChat(settings, "qwen3:8b").identity
    assert (big.provider, big.name, big.context_tokens, big.small) == ("ollama", "qwen3:8b", 2048, False)
    assert big.digest == ollama.models[1].digest
    assert OllamaChat(settings, "qwen2.5:1.5b").identity.small is True


def test_the_window_is_no_larger_than_the_model_was_trained_for(ollama, settings):
    ollama.models.append(StandInModel("tiny:latest", context_length=1024, parameter_size=""))
    chat = OllamaChat(settings, "tiny")
    assert chat.identity.context_tokens == 1024
    assert chat.identity.name == "tiny:latest"
    ask(chat)
    assert ollama.sent("/api/chat")["options"]["num_ctx"] == 1024


def test_ollama_is_not_running(make_settings):
    with pytest.raises(ModelUnavailable, match=r"does not answer at http://127\.0\.0\.1:9") as caught:
        OllamaChat(make_settings(), "qwen3:8b")
    assert "ollama serve" in caught.value.hint


def test_ollama_goes_away_between_questions(ollama, settings):
    chat = OllamaChat(settings, "qwen3:8b")
    ollama.close()
    with pytest.raises(ModelUnavailable, match="does not answer"):
        ask(chat)


def test_a_model_that_was_not_pulled(settings):
    with pytest.raises(ModelMissing, match="does not have the model qwen3:14b") as caught:
        OllamaChat(settings, "qwen3:14b")
    assert "ollama pull qwen3:14b" in caught.value.hint


def test_a_model_that_was_removed_meanwhile(ollama, settings):
    chat = OllamaChat(settings, "qwen3:8b")
    ollama.models.clear()
    with pytest.raises(ModelMissing, match="qwen3:8b"):
        ask(chat)


def test_an_embedder_cannot_chat(settings):
    with pytest.raises(ModelMissing, match="no chat model"):
        OllamaChat(settings, "bge-m3")


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        (Failure("/api/chat", status=500), "llama runner process has terminated"),
        (Failure("/api/chat", after=1, cut=True), "broke off in the middle"),
        (Failure("/api/chat", after=1, error="out of memory"), "out of memory"),
        (Failure("/api/chat", after=0, cut=True), "broke off in the middle"),
    ],
    ids=["500", "cut", "error line", "cut before the first line"],
)
def test_a_model_that_fails(ollama, settings, failure, words):
    chat = OllamaChat(settings, "qwen3:8b")
    ollama.failures.append(failure)
    with pytest.raises(ModelFailed, match=words):
        ask(chat)
    assert "".join(chunk.content for chunk in ask(chat)) == "A scripted answer."


def test_a_stream_that_ends_without_a_line(ollama, settings):
    chat = OllamaChat(settings, "qwen3:8b")
    ollama.answer = lambda *_: iter(())
    with pytest.raises(ModelFailed, match="empty answer"):
        ask(chat)


def test_a_server_that_does_not_answer_in_time(ollama, make_settings):
    chat = OllamaChat(make_settings(ollama_url=ollama.url, timeout=0.2), "qwen3:8b")
    ollama.failures.append(Failure("/api/chat", stall=1))
    with pytest.raises(ModelFailed, match="in time") as caught:
        ask(chat)
    assert "FOOTNOTE_TIMEOUT" in caught.value.hint


def test_a_prompt_longer_than_the_window_is_refused_not_cut(ollama, settings):
    chat = OllamaChat(settings, "qwen3:8b")
    with pytest.raises(InputTooLong, match="context length"):
        ask(chat, "word " * 3000)
    # What would have happened without the two fields: status 200 and half of the prompt gone.
    body = {"model": "qwen3:8b", "stream": False, "messages": [{"role": "user", "content": "word " * 3000}]}
    answer = httpx.post(f"{ollama.url}/api/chat", json=body | {"options": {"num_ctx": 2048}}, trust_env=False)
    assert answer.status_code == 200
    assert answer.json()["prompt_eval_count"] < 2048


def test_our_own_errors_pass_through(settings):
    chat = OllamaChat(settings, "qwen3:8b")
    with pytest.raises(ValueError, match="of ours"), chat.errors():
        raise ValueError("of ours")


def test_something_else_at_the_address(make_settings, plain_server):
    with pytest.raises(ModelError, match="not Ollama"):
        OllamaChat(make_settings(ollama_url=plain_server("<html>hello</html>")), "qwen3:8b")


# --------------------------------------------------------------------------------------------------------- embeddings


def test_embedding_with_prefixes_and_nothing_cut(ollama, settings):
    embedder = OllamaEmbedder(settings, "nomic-embed-text")
    vectors = embedder.embed_documents(["tides", "moon phases"])
    sent = ollama.sent("/api/embed")
    assert sent["truncate"] is False
    assert sent["options"] == {"num_ctx": 2048}
    assert sorted(sent["input"]) == ["search_document: moon phases", "search_document: tides"]
    assert [len(vector) for vector in vectors] == [768, 768]
    assert sum(value * value for value in vectors[0]) == pytest.approx(1, abs=1e-5)

    embedder.embed_query("when is high tide")
    assert ollama.sent("/api/embed")["input"] == ["search_query: when is high tide"]


def test_the_identity_of_an_embedder(ollama, settings):
    identity = OllamaEmbedder(settings, "bge-m3").identity
    assert identity.provider == "ollama"
    assert identity.model == "bge-m3:latest"
    assert identity.revision == ollama.models[4].digest
    assert (identity.dimension, identity.max_tokens, identity.query_prefix) == (1024, 8192, "")


def test_texts_come_back_in_order_from_batches_by_length(ollama, make_settings):
    embedder = OllamaEmbedder(make_settings(ollama_url=ollama.url, embed_batch_tokens=64), "bge-m3")
    texts = [f"text number {number} " + "filler " * (number % 7) for number in range(40)]
    requests_before = len(ollama.requests)
    together = embedder.embed_documents(texts)
    sizes = [len(request.body["input"]) for request in ollama.requests[requests_before:]]
    assert len(sizes) > 5
    assert sum(sizes) == 40
    assert together == [embedder.embed_documents([text])[0] for text in texts]


def test_no_texts(settings):
    assert OllamaEmbedder(settings, "bge-m3").embed_documents([]) == []


def test_a_text_longer_than_the_embedder_takes(settings):
    with pytest.raises(InputTooLong, match="nomic-embed-text"):
        OllamaEmbedder(settings, "nomic-embed-text").embed_documents(["word " * 2100])


def test_a_chat_model_cannot_embed(settings):
    with pytest.raises(ModelFailed, match="does not support embeddings"):
        OllamaEmbedder(settings, "qwen3:8b")


def test_the_embedder_fails_midway(ollama, settings):
    embedder = OllamaEmbedder(settings, "bge-m3")
    ollama.failures.append(Failure("/api/embed", status=500, error="failed to encode response: unsupported value: NaN"))
    with pytest.raises(ModelFailed, match="NaN"):
        embedder.embed_documents(["a"])


def test_the_embedder_was_not_pulled(settings):
    with pytest.raises(ModelMissing, match="ollama pull mxbai-embed-large"):
        OllamaEmbedder(settings, "mxbai-embed-large")


# ------------------------------------------------------------------------------------------------------- list and pull


def test_models_with_what_they_can(ollama, settings):
    models = {model.name: model for model in OllamaServer(settings).models()}
    assert models["qwen3:8b"].capabilities == ("completion", "tools", "thinking")
    assert models["nomic-embed-text:latest"].context_length == 2048
    assert models["qwen2.5:1.5b"].parameters == "1.5B"
    assert models["qwen2.5:1.5b"].size == 986_000_000


def test_pull_shows_progress(ollama, settings):
    progress = list(OllamaServer(settings).pull("qwen3:4b"))
    assert [(step.done, step.total) for step in progress if step.total][-1] == (1000, 1000)
    assert progress[-1].status == "success"
    assert OllamaServer(settings).model("qwen3:4b").name == "qwen3:4b"


def test_pull_that_fails(ollama, settings):
    ollama.failures.append(Failure("/api/pull", after=1, error="pull model manifest: file does not exist"))
    with pytest.raises(DownloadFailed, match="file does not exist"):
        list(OllamaServer(settings).pull("no-such-model"))


def test_proxies_are_not_asked(ollama, settings, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert ask(OllamaChat(settings, "qwen3:8b"))
    assert OllamaEmbedder(settings, "bge-m3").embed_query("moon")


def test_the_stand_in_renders_and_unloads(ollama):
    # Nothing of ours uses these two yet, but whoever tests against the stand-in may trust them.
    def post(path, **body):
        return httpx.post(ollama.url + path, json=body, trust_env=False).json()

    messages = [{"role": "user", "content": "hi"}]
    rendered = post("/api/chat", model="qwen3:8b", messages=messages, _debug_render_only=True)
    assert rendered["_debug_info"]["rendered_template"] == "<|user|> hi"
    post("/api/chat", model="qwen3:8b", messages=messages, stream=False, options={"num_ctx": 512})
    running = httpx.get(f"{ollama.url}/api/ps", trust_env=False).json()["models"]
    assert [(model["name"], model["context_length"]) for model in running] == [("qwen3:8b", 512)]
    assert json.loads(json.dumps(post("/api/generate", model="qwen3:8b", keep_alive=0)))["done_reason"] == "unload"
    assert httpx.get(f"{ollama.url}/api/ps", trust_env=False).json() == {"models": []}


def test_how_a_model_lies_in_memory(ollama, settings):
    chat = OllamaChat(settings, "qwen3:8b")
    before = chat.residence()
    assert (before.server, before.loaded, before.trained) == ("Ollama 0.35.0", False, 40960)
    assert before.size == ollama.models[1].in_memory(2048), "reckoned from its figures before it is loaded"
    assert (before.here, before.leaves) == (True, True)
    ollama.vram = 4_000_000_000
    chat.load()
    after = chat.residence()
    assert (after.on_card, after.window) == (4_000_000_000, 2048)
    assert after.spilled == after.size - 4_000_000_000 > 0


def test_a_model_leaves_and_comes_back_with_its_window(ollama, settings):
    chat = OllamaChat(settings, "qwen3:8b")
    chat.load()
    sent = ollama.sent("/api/chat")
    assert (sent["messages"], sent["options"], sent["keep_alive"]) == ([], {"num_ctx": 2048}, "7m")
    assert (sent["truncate"], sent["shift"]) == (False, False)
    chat.unload()
    assert ollama.sent("/api/generate") == {"model": "qwen3:8b", "stream": False, "keep_alive": 0.0}
    assert not chat.residence().loaded


def test_other_models_of_the_server_give_way(ollama, settings):
    OllamaChat(settings, "llama3.2:3b").load()
    chat = OllamaChat(settings, "qwen3:8b")
    assert chat.residence().beside == ollama.models[0].in_memory(2048)


def test_a_model_that_does_not_leave_is_told(ollama, settings, monkeypatch):
    monkeypatch.setattr("rag.models.ollama._LEAVING_SECONDS", 0.1)
    monkeypatch.setattr(ollama, "_unload", lambda body: {"done": True})
    chat = OllamaChat(settings, "qwen3:8b")
    chat.load()
    with pytest.raises(ModelFailed, match="keeps qwen3:8b in memory"):
        chat.unload()


def test_an_embedder_moves_to_the_cpu_and_back(ollama, settings):
    embedder = OllamaEmbedder(settings, "bge-m3")
    use = embedder.card_use()
    assert use is not None
    assert (use.there, use.fixed, use.documents) == (True, False, ollama.models[4].in_memory(0))
    embedder.move(to_card=False)
    assert (embedder.device, "bge-m3:latest" in ollama.loaded) == ("ollama, on the cpu", False)
    embedder.embed_query("tide")
    assert ollama.sent("/api/embed")["options"]["num_gpu"] == 0
    assert not embedder.card_use().there
    embedder.move(to_card=True)
    embedder.embed_query("tide")
    assert "num_gpu" not in ollama.sent("/api/embed")["options"]


def test_a_server_on_another_machine_takes_nothing_of_this_card(settings):
    server = OllamaServer(settings.model_copy(update={"ollama_url": "http://10.0.0.7:11434"}))
    assert not server.is_here
    assert OllamaServer(settings).is_here
