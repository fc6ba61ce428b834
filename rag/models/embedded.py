"""The chat model that needs nothing else on the machine: llama.cpp in this process, on a loopback port of its own."""

from __future__ import annotations

import atexit
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from threading import Lock
from typing import Any

from langchain_core.language_models import BaseChatModel

from rag.errors import ModelFailed, ModelUnavailable
from rag.models.base import ChatModel, is_small
from rag.models.gguf import read_facts
from rag.models.memory import Residence
from rag.models.openai_server import OpenAIChat
from rag.settings import Settings
from rag.types import ChatModelIdentity, Message


class EmbeddedChat(ChatModel):
    """A GGUF file served by xllamacpp.

    The server starts when it is first needed (a few seconds for 1.5 billion parameters), takes requests only from this
    machine and only with a key that this process made up, and stops with :meth:`close` or at exit.

    Args:
        settings: Window, sampling and patience; a window longer than the model was trained for is cut down to that.
        path: The GGUF file.
        digest: SHA-256 of the file where it is known, else empty.

    Raises:
        ModelMissing: There is no such file.
        ModelFailed: It is no GGUF file.
        ModelUnavailable: xllamacpp is not installed.
    """

    exact_counts = True

    def __init__(self, settings: Settings, path: Path, digest: str = "") -> None:
        require_runtime()
        facts = read_facts(path)
        trained = facts.context_length or settings.context_tokens
        self.identity = ChatModelIdentity(
            provider="embedded",
            name=(facts.name or path.stem).removesuffix(" GGUF"),
            digest=digest,
            context_tokens=min(settings.context_tokens, trained),
            small=is_small(facts.size_label or facts.name or path.stem),
        )
        self._settings = settings
        self._path = path
        self._trained = facts.context_length
        self._lock = Lock()
        self._server: Any = None
        self._client: OpenAIChat | None = None

    @property
    def runnable(self) -> BaseChatModel:
        """The LangChain model; asking for it starts the server.

        Raises:
            ModelFailed: llama.cpp cannot load the file.
        """
        return self._started().runnable

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Number of tokens of each text in the model's own vocabulary; starts the server."""
        return self._started().count_tokens(texts)

    def rendered(self, messages: Sequence[Message]) -> str | None:
        """See the base class; starts the server."""
        return self._started().rendered(messages)

    def residence(self) -> Residence:
        """See the base class; starts nothing."""
        import xllamacpp

        size = self._path.stat().st_size
        kinds = xllamacpp.ggml_backend_dev_type
        graphics = (kinds.GGML_BACKEND_DEVICE_TYPE_GPU, kinds.GGML_BACKEND_DEVICE_TYPE_IGPU)
        on_gpu = any(device["type"] in graphics for device in xllamacpp.get_device_info())
        return Residence(
            server=f"llama.cpp inside Footnote (xllamacpp {metadata.version('xllamacpp')})",
            size=size,
            on_card=(size if on_gpu else 0) if self._client is not None else None,
            trained=self._trained,
            here=on_gpu,
        )

    @contextmanager
    def errors(self) -> Iterator[None]:
        """See the base class."""
        with self._started().errors():
            yield

    def close(self) -> None:
        """Stops the server and frees the weights; it starts again when it is needed again."""
        with self._lock:
            if self._client is not None:
                self._client.close()
            self._client = None
            self._server = None  # its destructor stops the server and waits for its threads
        atexit.unregister(self.close)

    def _started(self) -> OpenAIChat:
        with self._lock:
            if self._client is None:
                key = secrets.token_urlsafe(32)
                self._server = _serve(self._path, self.identity.context_tokens, key)
                # A process that ends with llama.cpp's threads still running can hang or crash.
                atexit.register(self.close)
                url = f"{self._server.listening_address}/v1"
                self._client = OpenAIChat(self._settings, url, key, who="The embedded model")
                self.identity = replace(self.identity, context_tokens=self._client.identity.context_tokens)
            return self._client


def require_runtime() -> None:
    """Checks that the embedded model can run on this system.

    Raises:
        ModelUnavailable: xllamacpp is not installed, or not made for this system.
    """
    try:
        import xllamacpp  # noqa: F401
    except (ImportError, OSError) as error:
        raise ModelUnavailable(
            f"The embedded model cannot run on this system ({error}).",
            "Use Ollama, or an OpenAI-compatible server through FOOTNOTE_OPENAI_URL.",
        ) from error


def _serve(path: Path, context_tokens: int, key: str) -> Any:
    """Starts llama.cpp's server on a free loopback port; returns once it answers."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(path)
    parameters.n_ctx = context_tokens
    parameters.n_parallel = 1
    parameters.port = 0
    parameters.api_keys = [key]
    parameters.ui = False
    parameters.verbosity = 0
    # A follow-up asks for a rewriting and for an answer in turn: without a place for both, each is read from its start.
    parameters.cache_ram_mib = 256
    try:
        return xllamacpp.Server(parameters)
    except RuntimeError as error:
        raise ModelFailed(
            f"llama.cpp cannot load {path}: {error}", "Fetch the file again, or choose another."
        ) from error
