"""A stand-in for Ollama that speaks its native API, failures included.

In a test::

    with OllamaStandIn() as ollama:
        ollama.reply = ["Hello", " there"]
        ollama.failures.append(Failure("/api/chat", status=500))
        ...  # requests to ollama.url
        assert ollama.sent("/api/chat")["truncate"] is False

By hand, in front of a llama-server: ``python tests/fakes/ollama_server.py --backend http://127.0.0.1:8080``.

A token is a word here, unless a backend counts. The rules of the context are Ollama's: a prompt that does not fit is
cut silently with ``truncate`` (the default) and refused without it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx

DEFAULT_WINDOW = 4096
Json = dict[str, Any]


@dataclass
class StandInModel:
    """A model that the stand-in has; ``embedding_length`` is the dimension of its vectors."""

    name: str
    capabilities: tuple[str, ...] = ("completion",)
    parameter_size: str = "8.2B"
    context_length: int = 40960
    embedding_length: int = 4096
    family: str = "qwen3"
    size: int = 5_200_000_000

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.name.encode()).hexdigest()

    def in_memory(self, window: int) -> int:
        """Bytes with a window of so many tokens: 36 layers of 8 heads, keys and values of 128 numbers of two bytes."""
        cached = 0 if "embedding" in self.capabilities else window * 36 * 8 * 2 * 128 * 2
        return self.size + cached + 600 * 2**20

    @property
    def details(self) -> Json:
        return {
            "parent_model": "",
            "format": "gguf",
            "family": self.family,
            "families": [self.family],
            "parameter_size": self.parameter_size,
            "quantization_level": "Q4_K_M",
            "context_length": self.context_length,
            "embedding_length": self.embedding_length,
        }


def default_models() -> list[StandInModel]:
    """A chat model, a small one, and two embedders."""
    return [
        StandInModel("llama3.2:3b", family="llama", parameter_size="3.2B", context_length=131072),
        StandInModel("qwen3:8b", ("completion", "tools", "thinking")),
        StandInModel("qwen2.5:1.5b", family="qwen2", parameter_size="1.5B", context_length=32768, size=986_000_000),
        StandInModel("nomic-embed-text:latest", ("embedding",), "137M", 2048, 768, "nomic-bert", 274_000_000),
        StandInModel("bge-m3:latest", ("embedding",), "566.70M", 8192, 1024, "bert", 1_200_000_000),
    ]


@dataclass
class Failure:
    """What goes wrong at the next request to ``path``; each is used once.

    Attributes:
        status: Answered instead of 200, when it is set.
        error: The words of the answer, or of the error line.
        after: Lines of the stream that still come before it breaks; None when it does not break in the stream.
        cut: Whether the connection is dropped there, rather than an error line sent.
        stall: Seconds to wait before anything is answered.
    """

    path: str
    status: int = 0
    error: str = "llama runner process has terminated"
    after: int | None = None
    cut: bool = False
    stall: float = 0.0


@dataclass
class Request:
    """What a client sent."""

    method: str
    path: str
    body: Json = field(default_factory=dict)


class Refused(Exception):
    """An answer that is not 200."""

    def __init__(self, status: int, error: str) -> None:
        super().__init__(error)
        self.status = status


class OllamaStandIn:
    """The server; starts on a free loopback port.

    Attributes:
        models: What ``/api/tags`` lists.
        reply: The pieces that a chat answers, or a function of its messages; unused with a backend.
        thinking: What a thinking model thinks first, unless it was told not to.
        delay: Seconds between the pieces of an answer.
        failures: What goes wrong, in order.
        requests: What was asked, in order.
        broken_off: Answers that the client did not wait for.
        window: Tokens of the window when ``num_ctx`` is not sent.
        loaded: The window of each model that lies in memory, by name.
        vram: Bytes of the graphics card; a model that is larger spills.
    """

    def __init__(self, port: int = 0, backend: str = "", key: str = "") -> None:
        self.models = default_models()
        self.reply: list[str] | Callable[[list[Json]], list[str]] = ["A", " scripted", " answer."]
        self.thinking = "Let me think."
        self.delay = 0.0
        self.failures: list[Failure] = []
        self.requests: list[Request] = []
        self.broken_off = 0
        self.window = DEFAULT_WINDOW
        self.loaded: dict[str, int] = {}
        self.vram = 80 * 2**30
        self._layers: dict[str, int | None] = {}  # ``num_gpu``, as the models in memory were loaded with it
        self._backend = (
            httpx.Client(
                base_url=backend,
                headers={"Authorization": f"Bearer {key}"} if key else {},
                timeout=300,
                trust_env=False,
            )
            if backend
            else None
        )
        stand_in = self

        class Handler(_Handler):
            owner = stand_in

        self._http = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def __enter__(self) -> OllamaStandIn:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stops the server."""
        self._http.shutdown()
        self._http.server_close()
        if self._backend:
            self._backend.close()

    def sent(self, path: str) -> Json:
        """The body of the last request to a path."""
        return next(request.body for request in reversed(self.requests) if request.path == path)

    # What each call answers: a dict for one JSON object, an iterator for lines.

    def answer(self, method: str, path: str, body: Json) -> Json | Iterator[Json]:
        calls: dict[tuple[str, str], Callable[[Json], Json | Iterator[Json]]] = {
            ("GET", "/api/version"): lambda _: {"version": "0.35.0"},
            ("GET", "/api/tags"): lambda _: {"models": [self._listed(model) for model in self.models]},
            ("GET", "/api/ps"): lambda _: {"models": self._running()},
            ("POST", "/api/show"): self._show,
            ("POST", "/api/chat"): self._chat,
            ("POST", "/api/generate"): self._unload,
            ("POST", "/api/embed"): self._embed,
            ("POST", "/api/pull"): self._pull,
        }
        if (method, path) not in calls:
            raise Refused(404, "404 page not found")
        return calls[method, path](body)

    def _find(self, body: Json) -> StandInModel:
        name = str(body.get("model", ""))
        for model in self.models:
            if model.name in (name, f"{name}:latest"):
                return model
        raise Refused(404, f"model '{name}' not found")

    def _listed(self, model: StandInModel) -> Json:
        return {
            "name": model.name,
            "model": model.name,
            "modified_at": "2026-08-01T12:00:00Z",
            "size": model.size,
            "digest": model.digest,
            "details": model.details,
            "capabilities": list(model.capabilities),
        }

    def _running(self) -> list[Json]:
        return [
            self._listed(model)
            | {
                "expires_at": "2026-08-01T12:10:00Z",
                "size": model.in_memory(self.loaded[model.name]),
                "size_vram": 0
                if self._layers.get(model.name) == 0
                else min(model.in_memory(self.loaded[model.name]), self.vram),
                "context_length": self.loaded[model.name],
            }
            for model in self.models
            if model.name in self.loaded
        ]

    def _show(self, body: Json) -> Json:
        model = self._find(body)
        return {
            "capabilities": list(model.capabilities),
            "details": model.details,
            "model_info": {
                "general.architecture": model.family,
                f"{model.family}.context_length": model.context_length,
                f"{model.family}.embedding_length": model.embedding_length,
                f"{model.family}.block_count": 36,
                f"{model.family}.attention.head_count": 32,
                f"{model.family}.attention.head_count_kv": 8,
                f"{model.family}.attention.key_length": 128,
                f"{model.family}.attention.value_length": 128,
            },
            "parameters": "",
            "template": "{{ .Prompt }}",
        }

    def _load(self, model: StandInModel, window: int, options: Json) -> None:
        self.loaded[model.name] = window
        self._layers[model.name] = options.get("num_gpu")

    def _unload(self, body: Json) -> Json:
        model = self._find(body)
        if body.get("keep_alive") != 0 or body.get("prompt"):
            raise Refused(400, "the stand-in only unloads")
        self.loaded.pop(model.name, None)
        return {"model": model.name, "response": "", "done": True, "done_reason": "unload"}

    def _chat(self, body: Json) -> Json | Iterator[Json]:
        model = self._find(body)
        if "completion" not in model.capabilities:
            raise Refused(400, f'"{model.name}" does not support chat')
        if body.get("think") and "thinking" not in model.capabilities:
            raise Refused(400, f'"{model.name}" does not support thinking')
        options = body.get("options") or {}
        window = int(options.get("num_ctx") or self.window)
        messages = self._fit(body["messages"], window, truncate=body.get("truncate", True))
        self._load(model, window, options)
        if not messages:
            return {
                "model": model.name,
                "message": {"role": "assistant", "content": ""},
                "done": True,
                "done_reason": "load",
            }
        if body.get("_debug_render_only"):
            return {"model": model.name, "_debug_info": {"rendered_template": _render(messages)}}
        thinks = "thinking" in model.capabilities and body.get("think", True) is not False
        lines = self._lines(model, messages, options, thinks=thinks)
        if body.get("stream", True):
            return lines
        *pieces, last = lines
        for kind in ("content", "thinking"):
            text = "".join(line["message"].get(kind, "") for line in pieces)
            if text:
                last["message"][kind] = text
        return last

    def _fit(self, messages: list[Json], window: int, *, truncate: bool) -> list[Json]:
        """Ollama's rules for a prompt that is longer than the window."""
        length = self._tokens(_render(messages))
        if length <= window:
            return messages
        if not truncate:
            raise Refused(400, f"the prompt has {length} tokens, which exceeds the context length of {window} tokens")
        kept = list(messages)
        while self._tokens(_render(kept)) > window:
            dropped = next((message for message in kept[:-1] if message["role"] != "system"), None)
            if dropped is None:
                break
            kept.remove(dropped)
        if self._tokens(_render(kept)) > window:
            words = kept[-1]["content"].split()
            quarter = window // 4
            kept[-1] = kept[-1] | {"content": " ".join(words[:quarter] + words[-quarter:])}
        return kept

    def _lines(self, model: StandInModel, messages: list[Json], options: Json, *, thinks: bool) -> Iterator[Json]:
        started = time.perf_counter()
        base = {"model": model.name, "created_at": "2026-08-01T12:00:00Z"}
        if thinks:
            yield base | {
                "message": {"role": "assistant", "content": "", "thinking": self.thinking},
                "done": False,
            }
        limit = int(options.get("num_predict") or -1)
        count, reason = 0, "stop"
        for piece in self._pieces(messages, options):
            if 0 <= limit <= count:
                reason = "length"
                break
            yield base | {"message": {"role": "assistant", "content": piece}, "done": False}
            count += 1
            time.sleep(self.delay)
        nanoseconds = int((time.perf_counter() - started) * 1e9)
        yield base | {
            "message": {"role": "assistant", "content": ""},
            "done": True,
            "done_reason": reason,
            "total_duration": nanoseconds,
            "load_duration": 0,
            "prompt_eval_count": self._tokens(_render(messages)),
            "prompt_eval_duration": nanoseconds // 2,
            "eval_count": count,
            "eval_duration": nanoseconds // 2,
        }

    def _pieces(self, messages: list[Json], options: Json) -> Iterator[str]:
        if self._backend is None:
            yield from self.reply(messages) if callable(self.reply) else self.reply
            return
        request = {
            "messages": [{"role": message["role"], "content": message["content"]} for message in messages],
            "stream": True,
            "temperature": options.get("temperature", 0.8),
            "seed": options.get("seed", 0),
            "max_tokens": options.get("num_predict", -1),
        }
        with self._backend.stream("POST", "/v1/chat/completions", json=request) as response:
            for line in response.iter_lines():
                if line.startswith("data: {"):
                    choices = json.loads(line.removeprefix("data: ")).get("choices") or [{}]
                    if piece := choices[0].get("delta", {}).get("content"):
                        yield piece

    def _tokens(self, text: str) -> int:
        if self._backend is None:
            return len(text.split())
        return len(self._backend.post("/tokenize", json={"content": text}).json()["tokens"])

    def _embed(self, body: Json) -> Json:
        model = self._find(body)
        if "embedding" not in model.capabilities:
            raise Refused(400, f'"{model.name}" does not support embeddings')
        texts = [body["input"]] if isinstance(body["input"], str) else list(body["input"])
        window = min(int((body.get("options") or {}).get("num_ctx") or self.window), model.context_length)
        counts = [len(text.split()) for text in texts]
        if max(counts, default=0) > window:
            if not body.get("truncate", True):
                raise Refused(400, "the input length exceeds the context length")
            texts = [" ".join(text.split()[:window]) for text in texts]
        self._load(model, window, body.get("options") or {})
        return {
            "model": model.name,
            "embeddings": [embedding(text, model.embedding_length) for text in texts],
            "prompt_eval_count": sum(counts),
        }

    def _pull(self, body: Json) -> Iterator[Json]:
        name = str(body["model"])
        layer = f"sha256:{hashlib.sha256(name.encode()).hexdigest()}"
        yield {"status": "pulling manifest"}
        for completed in (0, 500, 1000):
            yield {"status": f"pulling {layer[7:19]}", "digest": layer, "total": 1000, "completed": completed}
        yield {"status": "verifying sha256 digest"}
        self.models.append(StandInModel(name if ":" in name else f"{name}:latest"))
        yield {"status": "success"}


def embedding(text: str, dimension: int) -> list[float]:
    """A vector of norm 1 in which every word of the text has its own direction; the same for the same words."""
    vector = [0.0] * dimension
    for word in text.lower().split() or [""]:
        place = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
        vector[place % dimension] += 1.0
    norm = sum(value * value for value in vector) ** 0.5
    return [value / norm for value in vector]


def _render(messages: list[Json]) -> str:
    return "\n".join(f"<|{message['role']}|> {message['content']}" for message in messages)


class _Handler(BaseHTTPRequestHandler):
    owner: OllamaStandIn
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing: the requests are kept instead."""

    def do_GET(self) -> None:
        self._serve("GET", {})

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self._serve("POST", json.loads(content) if content else {})

    def _serve(self, method: str, body: Json) -> None:
        self.owner.requests.append(Request(method, self.path, body))
        failure = next((failure for failure in self.owner.failures if failure.path == self.path), None)
        if failure:
            self.owner.failures.remove(failure)
            time.sleep(failure.stall)
        try:
            if failure and failure.status:
                raise Refused(failure.status, failure.error)
            answer = self.owner.answer(method, self.path, body)
            if isinstance(answer, dict):
                self._send(200, answer)
            else:
                self._stream(answer, failure)
        except Refused as refused:
            self._send(refused.status, {"error": str(refused)})
        except (BrokenPipeError, ConnectionResetError):
            self.owner.broken_off += 1
            self.close_connection = True

    def _send(self, status: int, answer: Json) -> None:
        content = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _stream(self, lines: Iterator[Json], failure: Failure | None) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for number, line in enumerate(lines):
            if failure and failure.after == number:
                if failure.cut:
                    self.close_connection = True
                    return
                self._chunk({"error": failure.error})
                break
            self._chunk(line)
        self.wfile.write(b"0\r\n\r\n")

    def _chunk(self, line: Json) -> None:
        content = json.dumps(line).encode() + b"\n"
        self.wfile.write(f"{len(content):x}\r\n".encode() + content + b"\r\n")
        self.wfile.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=11434)
    parser.add_argument("--backend", default="", help="address of a llama-server whose text is passed on")
    parser.add_argument("--key", default="", help="that server's key")
    arguments = parser.parse_args()
    with OllamaStandIn(arguments.port, arguments.backend, arguments.key) as server:
        print(f"Listening at {server.url}; Ctrl-C ends it.")
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            print()


if __name__ == "__main__":
    main()
