"""Ollama: chat, embeddings, and the models it has, always through its native API."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx
import pydantic
from langchain_core.language_models import BaseChatModel

from rag.errors import DownloadFailed, InputTooLong, ModelError, ModelFailed, ModelMissing, ModelUnavailable
from rag.models.base import ChatModel, Embedder, batches, estimate_tokens, is_small, known_prefixes, unit_rows
from rag.models.memory import RUNNER_BYTES, CardUse, Residence
from rag.settings import Settings, is_loopback
from rag.types import ChatModelIdentity, EmbedderIdentity, Message, PullProgress

if TYPE_CHECKING:
    import ollama

_CONNECT_SECONDS = 0.5
_ASK_SECONDS = 5.0
_LEAVING_SECONDS = 10.0
_LOOKS = 40  # whether a model has left, in that time
_LONGEST_EMBEDDING = 8192  # tokens; some embedders take 40,000, and Ollama would set memory aside for all of them
_SPECIAL_TOKENS = 2


@dataclass(frozen=True, slots=True)
class OllamaModel:
    """A model that an Ollama server has.

    Attributes:
        name: With its tag, ``qwen3:8b``.
        digest: Hash of its manifest.
        size: Bytes on the server's disk.
        parameters: As Ollama writes it: ``8.2B``, ``494.03M``; empty when unknown.
        capabilities: ``completion``, ``embedding``, ``thinking`` and others.
        context_length: Tokens it was trained for; 0 when unknown.
        window_bytes: Memory that each token of the window takes, in half precision; 0 when unknown.
    """

    name: str
    digest: str
    size: int
    parameters: str
    capabilities: tuple[str, ...]
    context_length: int
    window_bytes: int = 0

    def bytes_with(self, window: int) -> int:
        """What it takes of a graphics card with a window of so many tokens, reckoned."""
        return self.size + self.window_bytes * window + RUNNER_BYTES


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model in an Ollama server's memory.

    Attributes:
        size: Bytes, its window included.
        on_card: Bytes of them on graphics cards.
        window: Tokens of the window that it was loaded with.
    """

    size: int
    on_card: int
    window: int


class OllamaServer:
    """An Ollama server at the address that the settings name."""

    def __init__(self, settings: Settings) -> None:
        self.url = settings.ollama_url
        self.timeout = httpx.Timeout(settings.timeout, connect=_CONNECT_SECONDS)

    def models(self) -> tuple[OllamaModel, ...]:
        """The models it has, in its order (last changed first).

        Raises:
            ModelUnavailable: It does not answer.
            ModelFailed: It answers with an error.
        """
        client = self.client(httpx.Timeout(_ASK_SECONDS, connect=_CONNECT_SECONDS))
        with self.errors():
            return tuple(_model(client, listed) for listed in client.list().models)

    def model(self, name: str) -> OllamaModel:
        """One model; a name without a tag means the tag ``latest``.

        Raises:
            ModelMissing: It was not pulled.
            ModelUnavailable: The server does not answer.
            ModelFailed: It answers with an error.
        """
        client = self.client(httpx.Timeout(_ASK_SECONDS, connect=_CONNECT_SECONDS))
        with self.errors(name):
            for listed in client.list().models:
                if listed.model in (name, f"{name}:latest"):
                    return _model(client, listed)
        raise _not_pulled(name)

    def version(self) -> str:
        """Its version: ``0.35.0``.

        Raises:
            ModelUnavailable: It does not answer.
            ModelFailed: What answers is not Ollama.
        """
        with self.errors(), httpx.Client(timeout=_ASK_SECONDS, trust_env=False) as client:
            answer = client.get(f"{self.url.rstrip('/')}/api/version").json()
        return str(answer.get("version", "")) if isinstance(answer, dict) else ""

    def loaded(self) -> dict[str, LoadedModel]:
        """The models that lie in memory now, by name.

        Raises:
            ModelUnavailable: It does not answer.
            ModelFailed: It answers with an error.
        """
        client = self.client(httpx.Timeout(_ASK_SECONDS, connect=_CONNECT_SECONDS))
        with self.errors():
            listed = client.ps().models
        return {
            model.model or "": LoadedModel(
                size=int(model.size or 0), on_card=int(model.size_vram or 0), window=int(model.context_length or 0)
            )
            for model in listed
        }

    def unload(self, name: str) -> None:
        """Has a model leave memory, and waits until it is gone.

        Raises:
            ModelUnavailable: The server does not answer.
            ModelFailed: It keeps the model.
        """
        with self.errors(name):
            self.client(self.timeout).generate(name, keep_alive=0)
        for _ in range(_LOOKS):
            if name not in self.loaded():
                return
            time.sleep(_LEAVING_SECONDS / _LOOKS)
        raise ModelFailed(f"Ollama keeps {name} in memory.", "It may be answering another program; try again later.")

    @property
    def is_here(self) -> bool:
        """Whether it runs on this machine."""
        return is_loopback(urlsplit(self.url).hostname or "")

    def pull(self, name: str) -> Iterator[PullProgress]:
        """Has the server fetch a model; closing the iterator stops it, and a later pull goes on.

        Raises:
            DownloadFailed: It cannot be fetched.
            ModelUnavailable: The server does not answer.
        """
        layers: dict[str, tuple[int, int]] = {}
        try:
            with self.errors(name):
                for line in self.client(self.timeout).pull(name, stream=True):
                    if line.digest:
                        layers[line.digest] = (line.completed or 0, line.total or 0)
                    done, total = (sum(sizes) for sizes in zip(*layers.values(), strict=True)) if layers else (0, 0)
                    yield PullProgress(line.status or "", done, total)
        except (ModelFailed, ModelMissing) as error:
            raise DownloadFailed(
                f"Ollama could not fetch {name}: {error.message}", "Check the name and the connection, then try again."
            ) from error

    def client(self, timeout: httpx.Timeout, transport: httpx.BaseTransport | None = None) -> ollama.Client:
        """A client of the server that goes through no proxy."""
        import ollama

        return ollama.Client(self.url, timeout=timeout, trust_env=False, transport=transport)

    @contextmanager
    def errors(self, model: str = "") -> Iterator[None]:
        """Turns what the Ollama client raises into a :class:`ModelError`."""
        import ollama

        try:
            yield
        except (ConnectionError, httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise ModelUnavailable(
                f"Ollama does not answer at {self.url}.",
                "Start it (`ollama serve`, or its app), or correct FOOTNOTE_OLLAMA_URL.",
            ) from error
        except httpx.TimeoutException as error:
            raise ModelFailed(
                f"Ollama at {self.url} did not answer in time.", "Try again, or raise FOOTNOTE_TIMEOUT."
            ) from error
        except httpx.TransportError as error:
            raise ModelFailed(
                f"Ollama broke off in the middle of its answer ({error}).", "Ask again; Ollama's log tells more."
            ) from error
        except ollama.ResponseError as error:
            raise _refusal(error.error, error.status_code, model) from error
        except (json.JSONDecodeError, pydantic.ValidationError) as error:
            raise ModelFailed(
                f"What answers at {self.url} is not Ollama, or broke off.", "Correct FOOTNOTE_OLLAMA_URL, or ask again."
            ) from error
        except ValueError as error:
            if "No generation chunks" not in str(error):
                raise
            raise ModelFailed("Ollama sent an empty answer.", "Ask again; Ollama's log tells more.") from error


class OllamaChat(ChatModel):
    """A chat model on Ollama, through ``/api/chat`` with a constant window and nothing cut.

    Raises:
        ModelUnavailable: Ollama does not answer.
        ModelMissing: The model was not pulled, or cannot chat.
    """

    def __init__(self, settings: Settings, name: str) -> None:
        self._server = OllamaServer(settings)
        model = self._server.model(name)
        if "completion" not in model.capabilities:
            raise ModelMissing(f"{model.name} on Ollama is no chat model.", "Choose another, such as ollama:qwen3:8b.")
        self.identity = ChatModelIdentity(
            provider="ollama",
            name=model.name,
            digest=model.digest,
            context_tokens=min(settings.context_tokens, model.context_length or settings.context_tokens),
            small=is_small(model.parameters or model.name),
        )
        self._keep_alive = settings.keep_alive
        self._model = model
        self._measured = 0
        self._runnable = self._langchain_model(settings)

    @property
    def runnable(self) -> BaseChatModel:
        """The LangChain model."""
        return self._runnable

    @contextmanager
    def errors(self) -> Iterator[None]:
        """See the base class."""
        with self._server.errors(self.identity.name):
            yield

    def rendered(self, messages: Sequence[Message]) -> str | None:
        """See the base class; loads the model as an answer does."""
        import ollama

        asked = {
            "model": self.identity.name,
            "messages": [{"role": message.role, "content": message.content} for message in messages],
            "stream": False,
            "think": False,
            "keep_alive": self._keep_alive,
            # An Ollama that does not know the switch would answer instead: with one token at most.
            "_debug_render_only": True,
            "options": {"num_ctx": self.identity.context_tokens, "num_predict": 1},
        }
        with (
            self.errors(),
            httpx.Client(transport=_WholePrompt(), timeout=self._server.timeout, trust_env=False) as client,
        ):
            response = client.post(f"{self._server.url}/api/chat", json=asked)
            if response.is_error:
                raise ollama.ResponseError(response.text, response.status_code)
            text = (response.json().get("_debug_info") or {}).get("rendered_template")
        return str(text) if text else None

    def residence(self) -> Residence:
        """See the base class."""
        name, window = self.identity.name, self.identity.context_tokens
        in_memory = self._server.loaded()
        loaded = in_memory.pop(name, None)
        if loaded is not None and loaded.window >= window:
            self._measured = loaded.size
        return Residence(
            server=f"Ollama {self._server.version()}".strip(),
            size=self._measured or self._model.bytes_with(window),
            on_card=loaded.on_card if loaded is not None else None,
            window=loaded.window if loaded is not None else 0,
            beside=sum(other.on_card for other in in_memory.values()),
            trained=self._model.context_length,
            here=self._server.is_here,
            leaves=True,
        )

    def unload(self) -> None:
        """See the base class."""
        self._server.unload(self.identity.name)

    def load(self) -> None:
        """See the base class."""
        options = {"num_ctx": self.identity.context_tokens}
        client = self._server.client(self._server.timeout, transport=_WholePrompt())
        with self.errors():
            client.chat(self.identity.name, [], think=False, stream=False, options=options, keep_alive=self._keep_alive)

    def _langchain_model(self, settings: Settings) -> BaseChatModel:
        from langchain_ollama import ChatOllama

        return ChatOllama(
            model=self.identity.name,
            base_url=self._server.url,
            num_ctx=self.identity.context_tokens,
            num_predict=settings.answer_tokens,
            temperature=settings.temperature,
            seed=settings.seed,
            keep_alive=settings.keep_alive,
            reasoning=False,
            client_kwargs={"timeout": self._server.timeout, "trust_env": False},
            sync_client_kwargs={"transport": _WholePrompt()},
            async_client_kwargs={"transport": _AsyncWholePrompt()},
        )


class OllamaEmbedder(Embedder):
    """An embedding model on Ollama; its token counts are estimates, and a text that is too long is refused by Ollama.

    Raises:
        ModelUnavailable: Ollama does not answer.
        ModelMissing: The model was not pulled.
        ModelFailed: It cannot embed.
    """

    device = "ollama"
    exact_counts = False

    def __init__(self, settings: Settings, name: str) -> None:
        self._server = OllamaServer(settings)
        self._client = self._server.client(self._server.timeout)
        self._budget = settings.embed_batch_tokens
        self._keep_alive = settings.keep_alive
        model = self._server.model(name)
        self._name = model.name
        self._model = model
        self._on_card = True
        self._window = min(model.context_length or _LONGEST_EMBEDDING, _LONGEST_EMBEDDING)
        query_prefix, passage_prefix = known_prefixes(model.name)
        self.identity = EmbedderIdentity(
            provider="ollama",
            model=model.name,
            revision=model.digest,
            dimension=len(self._embed(["dimension"])[0]),
            normalized=True,
            query_prefix=query_prefix,
            passage_prefix=passage_prefix,
            max_tokens=self._window,
        )

    def card_use(self) -> CardUse | None:
        """See the base class; None for a server on another machine."""
        if not self._server.is_here:
            return None
        loaded = self._server.loaded().get(self._name)
        size = (loaded.on_card if loaded is not None else 0) or self._model.bytes_with(0)
        return CardUse(documents=size, question=size, there=self._on_card, fixed=False)

    def move(self, *, to_card: bool) -> None:
        """See the base class; with its next text Ollama loads it there."""
        if to_card != self._on_card:
            self._on_card = to_card
            self.device = "ollama" if to_card else "ollama, on the cpu"
            self._server.unload(self._name)

    def count_tokens(self, text: str) -> int:
        """A cautious estimate: Ollama has no call that counts."""
        return estimate_tokens(self.identity.passage_prefix + text) + _SPECIAL_TOKENS

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """See the base class."""
        vectors: dict[int, list[float]] = {}
        for group in batches([self.count_tokens(text) for text in texts], self._budget):
            embedded = self._embed([self.identity.passage_prefix + texts[index] for index in group])
            vectors.update(zip(group, embedded, strict=True))
        return [vectors[index] for index in range(len(texts))]

    def embed_query(self, text: str) -> list[float]:
        """See the base class."""
        return self._embed([self.identity.query_prefix + text])[0]

    def _embed(self, texts: list[str]) -> list[list[float]]:
        options = {"num_ctx": self._window} if self._on_card else {"num_ctx": self._window, "num_gpu": 0}
        with self._server.errors(self._name):
            answer = self._client.embed(self._name, texts, truncate=False, options=options, keep_alive=self._keep_alive)
        if len(answer.embeddings) != len(texts):
            raise ModelFailed(
                f"Ollama gave {len(answer.embeddings)} vectors for {len(texts)} texts.", "Update Ollama, or try again."
            )
        return unit_rows(answer.embeddings, self._name)


class _WholePrompt(httpx.HTTPTransport):
    """Adds to chat requests what the Ollama client has no argument for; see :func:`_with_whole_prompt`."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.read()
        return super().handle_request(_with_whole_prompt(request))


class _AsyncWholePrompt(httpx.AsyncHTTPTransport):
    """As :class:`_WholePrompt`, for LangChain's asynchronous calls."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        await request.aread()
        return await super().handle_async_request(_with_whole_prompt(request))


def _with_whole_prompt(request: httpx.Request) -> httpx.Request:
    """The request, telling Ollama to refuse a prompt that does not fit instead of cutting it with status 200."""
    if not request.url.path.endswith("/api/chat"):
        return request
    body = json.loads(request.content) | {"truncate": False, "shift": False}
    headers = [(name, value) for name, value in request.headers.multi_items() if name != "content-length"]
    return httpx.Request(request.method, request.url, headers=headers, json=body, extensions=request.extensions)


def _model(client: ollama.Client, listed: ollama.ListResponse.Model) -> OllamaModel:
    shown = client.show(listed.model or "")
    facts = shown.modelinfo or {}
    details = listed.details
    return OllamaModel(
        name=listed.model or "",
        digest=listed.digest or "",
        size=int(listed.size or 0),
        parameters=(details and details.parameter_size) or "",
        capabilities=tuple(shown.capabilities or ()),
        context_length=int(facts.get(f"{facts.get('general.architecture')}.context_length") or 0),
        window_bytes=_window_bytes(facts),
    )


def _window_bytes(facts: Mapping[str, Any]) -> int:
    """Bytes of keys and values that a token leaves in all layers, in half precision; 0 where the figures lack."""

    def figure(name: str, otherwise: int = 0) -> int:
        value = facts.get(f"{facts.get('general.architecture')}.{name}")
        if isinstance(value, list):  # one for each layer
            numbers = [number for number in value if isinstance(number, int)]
            return max(numbers, default=otherwise)
        return value if isinstance(value, int) else otherwise

    heads = figure("attention.head_count")
    width = figure("embedding_length") // heads if heads else 0
    key, value = figure("attention.key_length", width), figure("attention.value_length", width)
    return 2 * figure("block_count") * figure("attention.head_count_kv", heads) * (key + value)


def _refusal(words: str, status: int, model: str) -> ModelError:
    """The error for what Ollama answered; ``status`` is -1 for an error line inside a stream."""
    words = " ".join(words.split())[:300]
    if "context length" in words or "context size" in words or "context window" in words:
        return InputTooLong(
            f"The text is longer than the window of {model}: Ollama says “{words}”.",
            "Use fewer or smaller notes, or a larger FOOTNOTE_CONTEXT_TOKENS.",
        )
    if status == 404:
        return _not_pulled(model)
    return ModelFailed(f"Ollama could not run {model}: “{words}”.".replace(" :", ":"), "Ollama's log tells more.")


def _not_pulled(model: str) -> ModelMissing:
    return ModelMissing(
        f"Ollama does not have the model {model}.",
        f"Fetch it with `ollama pull {model}`, or `python -m rag models pull ollama:{model}`.",
    )
