import subprocess
import sys
import time

import httpx2
import pytest
from langchain_core.prompts import ChatPromptTemplate

from rag.errors import InputTooLong, ModelFailed, ModelMissing, ModelUnavailable
from rag.models.base import estimate_tokens
from rag.models.embedded import EmbeddedChat
from rag.models.openai_server import OpenAIChat
from rag.types import Message


@pytest.fixture(scope="module")
def chat(embedded_model_file, tmp_path_factory):
    from rag.settings import load_settings

    chat = EmbeddedChat(load_settings(context_tokens=2048, answer_tokens=24), embedded_model_file, "a digest")
    yield chat
    chat.close()


def slot_is_busy(chat):
    answer = chat._client._http.get(f"{chat._client._root}/slots")
    return answer.json()[0]["is_processing"]


def test_nothing_starts_before_it_is_needed(embedded_model_file, make_settings):
    started = time.perf_counter()
    chat = EmbeddedChat(make_settings(), embedded_model_file)
    assert time.perf_counter() - started < 1
    assert chat._server is None
    assert chat.identity.small
    assert chat.identity.context_tokens == 8192
    chat.close()


def test_it_answers_in_a_chain_and_tells_its_tokens(chat):
    prompt = ChatPromptTemplate.from_messages([("system", "Answer with one word."), ("human", "{question}")])
    with chat.errors():
        chunks = list((prompt | chat.runnable).stream({"question": "What is the capital of France?"}))
    assert "Paris" in "".join(chunk.content for chunk in chunks)
    usage = next(chunk.usage_metadata for chunk in chunks if chunk.usage_metadata)
    assert usage["output_tokens"] >= 1
    assert usage["input_tokens"] > 15


def test_the_same_question_gets_the_same_answer(chat):
    question = "Name a river in Europe. Answer with its name only."
    first, second = (chat.runnable.invoke(question).content for _ in range(2))
    assert first == second != ""


def test_two_prompts_in_turn_are_not_read_again_from_their_start(chat):
    _ = chat.runnable
    rewriting = "You rewrite questions so that they can be searched alone. " * 4
    answering = "You answer from the numbered passages and cite them. " * 4
    for prompt in (rewriting, answering, rewriting):
        messages = [{"role": "system", "content": prompt}, {"role": "user", "content": "And how often?"}]
        asked = {"messages": messages, "max_tokens": 1}
        answer = chat._client._http.post(f"{chat._client._url}/chat/completions", json=asked).json()
    assert answer["timings"]["cache_n"] > answer["timings"]["prompt_n"]


def test_tokens_are_counted_by_the_model_itself(chat):
    assert chat.exact_counts
    assert chat.count_tokens(["hello world", "", "潮の満ち引き"])[:2] == [2, 0]


def test_the_rendered_prompt_is_what_the_model_counts(chat):
    messages = [Message("system", "Answer with one word."), Message("user", "What is the capital of France?")]
    text = chat.rendered(messages)
    assert text.startswith("<|im_start|>system\nAnswer with one word.<|im_end|>\n<|im_start|>user\nWhat")
    assert text.endswith("<|im_start|>assistant\n")
    prompt = [("system", messages[0].content), ("human", messages[1].content)]
    read = next(chunk.usage_metadata for chunk in chat.runnable.stream(prompt) if chunk.usage_metadata)["input_tokens"]
    assert chat.count_tokens([text]) == [read]


def test_the_estimate_for_models_that_do_not_count_is_cautious(chat):
    texts = [
        "Tides are the rise and fall of sea levels caused by the gravitational forces of the Moon and the Sun.",
        "Die Gezeiten entstehen durch die Anziehungskraft des Mondes und der Sonne auf das Wasser der Meere.",
        "潮汐は、月や太陽の引力によって海面の高さが周期的に上下する現象である。",
        "Приливы и отливы вызваны притяжением Луны и Солнца, и повторяются дважды в сутки.",
        "| 2021 | 3,141.59 | 17 | 0x1F4A9 |\n| 2022 | 2,718.28 | 18 | 0x1F4AA |",
    ]
    for text, exact in zip(texts, chat.count_tokens(texts), strict=True):
        assert exact <= estimate_tokens(text) <= 3 * exact


def test_only_this_process_may_use_the_server(chat):
    _ = chat.runnable
    root = chat._client._root
    assert root.startswith("http://127.0.0.1:")
    for key in ({}, {"Authorization": "Bearer guess"}):
        with httpx2.Client(headers=key, trust_env=False) as stranger:
            question = {"messages": [{"role": "user", "content": "Hi"}]}
            assert stranger.post(f"{root}/v1/chat/completions", json=question).status_code == 401
            assert stranger.post(f"{root}/tokenize", json={"content": "Hi"}).status_code == 401
            assert stranger.get(f"{root}/slots").status_code == 401
            assert stranger.get(f"{root}/").status_code == 404


def test_closing_the_stream_stops_the_generation(chat):
    # Left alone it would go on for most of a minute.
    endless = chat.runnable.bind(extra_body={"max_tokens": 1500})
    stream = endless.stream("Count from one to four hundred in words.")
    for _ in range(4):
        next(stream)
    assert slot_is_busy(chat)
    stream.close()
    deadline = time.monotonic() + 15
    while slot_is_busy(chat) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not slot_is_busy(chat)


def test_an_answer_is_no_longer_than_the_settings_say(chat):
    chunks = list(chat.runnable.stream("Count from one to four hundred in words."))
    usage = next(chunk.usage_metadata for chunk in chunks if chunk.usage_metadata)
    assert usage["output_tokens"] == 24
    assert any(chunk.response_metadata.get("finish_reason") == "length" for chunk in chunks)


def test_a_prompt_longer_than_the_window_is_refused(chat):
    with pytest.raises(InputTooLong, match="The embedded model takes no prompt of this length"), chat.errors():
        chat.runnable.invoke("word " * 2100)


def test_a_llama_server_counts_and_tells_its_window(chat, make_settings):
    _ = chat.runnable
    key = chat._client._http.headers["Authorization"].removeprefix("Bearer ")
    other = OpenAIChat(make_settings(context_tokens=8192), chat._client._url, key)
    assert other.identity.context_tokens == 2048
    assert other.exact_counts
    assert other.count_tokens(["hello world"]) == [2]
    with pytest.raises(ModelUnavailable, match="refuses the key"):
        OpenAIChat(make_settings(), chat._client._url, "wrong")
    with pytest.raises(ModelMissing, match="has no model other"):
        OpenAIChat(make_settings(), chat._client._url, key, "other")


def test_how_it_lies_in_memory(chat):
    chat.count_tokens(["It runs now."])
    told = chat.residence()
    assert told.loaded
    assert told.server.startswith("llama.cpp inside Footnote")
    assert told.trained == 32768
    assert told.size > 1_000_000_000


def test_it_starts_again_after_it_was_closed(chat):
    _ = chat.runnable
    address = chat._client._root
    chat.close()
    chat.close()
    with pytest.raises(httpx2.ConnectError), httpx2.Client(trust_env=False) as client:
        client.get(f"{address}/health")
    assert chat.count_tokens(["hello world"]) == [2]


@pytest.mark.slow
def test_the_process_ends_though_nobody_closed_it(embedded_model_file):
    script = (
        "import sys, pathlib\n"
        "from rag.settings import load_settings\n"
        "from rag.models.embedded import EmbeddedChat\n"
        "chat = EmbeddedChat(load_settings(context_tokens=1024), pathlib.Path(sys.argv[1]))\n"
        "next(chat.runnable.stream('Count to a hundred.'))\n"
        "print('started')\n"
    )
    command = [sys.executable, "-c", script, str(embedded_model_file)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "started\n", "")


def test_a_file_that_llama_cpp_cannot_load(embedded_model_file, make_settings, tmp_path):
    cut = tmp_path / "cut.gguf"
    with embedded_model_file.open("rb") as whole:
        cut.write_bytes(whole.read(10_000_000))
    chat = EmbeddedChat(make_settings(), cut)
    with pytest.raises(ModelFailed, match=r"cannot load .*cut\.gguf"):
        _ = chat.runnable


def test_where_the_package_is_missing(embedded_model_file, make_settings, monkeypatch):
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(ModelUnavailable, match="cannot run on this system"):
        EmbeddedChat(make_settings(), embedded_model_file)
