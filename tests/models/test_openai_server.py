"""The other servers, and failures; the embedded model's tests show the same class before a real llama-server."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from rag.errors import InputTooLong, ModelFailed, ModelMissing, ModelUnavailable
from rag.models.base import estimate_tokens
from rag.models.openai_server import OpenAIChat


class StandIn:
    """A server of OpenAI's API with scripted text; ``script`` says what comes instead of lines of the stream."""

    def __init__(self):
        self.models = [{"id": "mistral-7b", "owned_by": "organization"}, {"id": "phi-2.7b", "owned_by": "organization"}]
        self.script = ["Hello", " there"]
        self.status = 200
        self.stall = 0.0
        self.requests = []
        stand_in = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, format, *args):
                pass

            def do_GET(self):
                self.answer({"/v1/models": {"object": "list", "data": stand_in.models}}.get(self.path))

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                stand_in.requests.append((self.path, self.headers, body))
                if stand_in.stall:
                    time.sleep(stand_in.stall)
                    self.close_connection = True
                    return None
                if stand_in.status != 200:
                    return self.answer({"error": {"message": stand_in.script[0]}}, stand_in.status)
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                for piece in stand_in.script:
                    if piece is None:
                        self.close_connection = True
                        return None
                    if not piece.startswith(("data:", "{")):
                        piece = json.dumps({"choices": [{"index": 0, "delta": {"content": piece}}]})
                    self.chunk(f"data: {piece}\n\n".encode())
                self.chunk(b"data: [DONE]\n\n")
                return self.chunk(b"")

            def answer(self, value, status=200):
                content = json.dumps(value or {"error": {"message": "no such page"}}).encode()
                self.send_response(status if value else 404)
                self.send_header("Content-Length", str(len(content)))
                self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.write(content)

            def chunk(self, content):
                self.wfile.write(f"{len(content):x}\r\n".encode() + content + b"\r\n")

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.http.handle_error = lambda *_: None  # a client that hangs up is no news here
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1"
        threading.Thread(target=self.http.serve_forever, args=(0.05,), daemon=True).start()

    def close(self):
        self.http.shutdown()
        self.http.server_close()


@pytest.fixture
def server():
    stand_in = StandIn()
    yield stand_in
    stand_in.close()


@pytest.fixture
def settings(make_settings):
    return make_settings(answer_tokens=99, seed=4, temperature=0.1, timeout=5)


def ask(chat, question="Hello?"):
    with chat.errors():
        return "".join(chunk.content for chunk in chat.runnable.stream(question))


def test_the_first_model_is_taken_and_what_is_on_the_wire(server, settings):
    chat = OpenAIChat(settings, server.url, "secret")
    assert ask(chat) == "Hello there"
    path, headers, body = server.requests[-1]
    assert path == "/v1/chat/completions"
    assert headers["Authorization"] == "Bearer secret"
    assert (body["model"], body["max_tokens"], body["seed"], body["temperature"]) == ("mistral-7b", 99, 4, 0.1)
    assert body["stream_options"] == {"include_usage": True}
    assert "max_completion_tokens" not in body
    assert "chat_template_kwargs" not in body  # a server that does not know it may refuse it


def test_a_named_model(server, settings):
    chat = OpenAIChat(settings, server.url + "/", "", "phi-2.7b")
    assert chat.served == ("mistral-7b", "phi-2.7b")
    assert (chat.identity.provider, chat.identity.name, chat.identity.small) == ("openai", "phi-2.7b", True)
    assert chat.identity.context_tokens == settings.context_tokens
    ask(chat)
    assert server.requests[-1][2]["model"] == "phi-2.7b"


def test_thinking_is_switched_off_where_the_server_has_a_switch(server, settings):
    server.models = [{"id": "Qwen/Qwen3-8B", "owned_by": "vllm"}]
    ask(OpenAIChat(settings, server.url, ""))
    assert server.requests[-1][2]["chat_template_kwargs"] == {"enable_thinking": False}


def test_counts_are_estimates_where_the_server_does_not_count(server, settings):
    chat = OpenAIChat(settings, server.url, "")
    assert not chat.exact_counts
    assert chat.count_tokens(["some words", ""]) == [estimate_tokens("some words"), 0]


def test_no_server(settings):
    with pytest.raises(ModelUnavailable, match=r"http://127\.0\.0\.1:9/v1 does not answer") as caught:
        OpenAIChat(settings, "http://127.0.0.1:9/v1", "")
    assert "FOOTNOTE_OPENAI_URL" in caught.value.hint


def test_the_server_goes_away_between_questions(server, settings):
    chat = OpenAIChat(settings, server.url, "")
    server.close()
    with pytest.raises(ModelUnavailable, match="does not answer"):
        ask(chat)


def test_models_that_are_not_there(server, settings):
    with pytest.raises(ModelMissing, match="has no model qwen3") as caught:
        OpenAIChat(settings, server.url, "", "qwen3")
    assert "mistral-7b, phi-2.7b" in caught.value.hint
    server.models = []
    with pytest.raises(ModelMissing, match="has no model"):
        OpenAIChat(settings, server.url, "")


def test_something_else_at_the_address(plain_server, settings):
    with pytest.raises(ModelFailed, match="not as OpenAI's API has it"):
        OpenAIChat(settings, plain_server("<html>hello</html>"), "")
    with pytest.raises(ModelFailed, match="not as OpenAI's API has it"):
        OpenAIChat(settings, plain_server('["a list"]'), "")
    with pytest.raises(ModelMissing, match="does not have it"):
        OpenAIChat(settings, plain_server("nothing here", status=404), "")


@pytest.mark.parametrize(
    ("status", "words", "error", "message"),
    [
        (500, "the model crashed", ModelFailed, "answers 500: .*the model crashed"),
        (503, "Loading model", ModelFailed, "answers 503"),
        (404, "model not found", ModelMissing, "does not have it"),
        (401, "Invalid API Key", ModelUnavailable, "refuses the key"),
        (400, "This model's maximum context length is 4096 tokens", InputTooLong, "takes no prompt of this length"),
        (400, "temperature must be positive", ModelFailed, "temperature must be positive"),
    ],
)
def test_a_refusal(server, settings, status, words, error, message):
    chat = OpenAIChat(settings, server.url, "")
    server.status, server.script = status, [words]
    with pytest.raises(error, match=message):
        ask(chat)


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (["Hel", None], "broke off in the middle"),
        ([None], "broke off in the middle"),
        (["Hel", '{"error": {"code": 500, "message": "out of memory"}}'], "broke off: out of memory"),
        (["Hel", "{not json"], "not as OpenAI's API has it"),
        ([], "empty answer"),
    ],
    ids=["cut", "cut at once", "error line", "garbage", "nothing"],
)
def test_a_stream_that_breaks(server, settings, script, message):
    chat = OpenAIChat(settings, server.url, "")
    server.script = script
    with pytest.raises(ModelFailed, match=message):
        ask(chat)


def test_a_server_that_does_not_answer_in_time(server, make_settings):
    chat = OpenAIChat(make_settings(timeout=0.3), server.url, "")
    server.stall = 1.5
    with pytest.raises(ModelFailed, match="did not answer in time"):
        ask(chat)
    assert len(server.requests) == 1  # nothing is asked twice


def test_our_own_errors_pass_through(server, settings):
    with pytest.raises(ValueError, match="of ours"), OpenAIChat(settings, server.url, "").errors():
        raise ValueError("of ours")


def test_proxies_are_not_asked(server, settings, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert ask(OpenAIChat(settings, server.url, "")) == "Hello there"


def test_what_a_server_tells_of_how_its_model_lies_in_memory(server, settings):
    server.models = [{"id": "phi-2.7b", "owned_by": "vllm", "meta": {"n_ctx_train": 2048}}]
    told = OpenAIChat(settings, server.url, "").residence()
    assert (told.server, told.trained, told.loaded, told.leaves) == ("vllm", 2048, False, False)
