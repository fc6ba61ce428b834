"""What models gave once, kept on disk: a benchmark is run many times, and its texts and models stay the same."""

from __future__ import annotations

import hashlib
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

from rag.models import choice
from rag.models.base import ChatModel, Embedder
from rag.settings import load_settings


class Kept:
    """Values by what they were made from, in ``bench.sqlite`` in the user's cache folder.

    Args:
        path: The file; None: the usual one.
    """

    def __init__(self, path: Path | None = None) -> None:
        path = path or load_settings().cache / "bench.sqlite"
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(path, timeout=60.0, isolation_level=None, check_same_thread=False)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = NORMAL")
        self._connection.execute("CREATE TABLE IF NOT EXISTS made (key BLOB PRIMARY KEY, value BLOB NOT NULL)")

    def get(self, key: Sequence[str], make: Callable[[], bytes]) -> bytes:
        """The value of a key, made now where it was never made before."""
        digest = hashlib.sha256("\0".join(key).encode(errors="surrogatepass")).digest()
        with self._lock:  # LangChain runs the steps of a chain in threads of its own
            row = self._connection.execute("SELECT value FROM made WHERE key = ?", (digest,)).fetchone()
        if row is None:
            row = (make(),)
            with self._lock:
                self._connection.execute("INSERT OR REPLACE INTO made VALUES (?, ?)", (digest, row[0]))
        return bytes(row[0])

    def text(self, key: Sequence[str], make: Callable[[], str]) -> str:
        """A text that was made from a key."""
        return self.get(key, lambda: make().encode()).decode()


class CachedEmbedder(Embedder):
    """An embedder that computes no vector twice, in this run or a later one.

    Args:
        embedder: The real one.
        kept: Where its vectors are kept.
    """

    def __init__(self, embedder: Embedder, kept: Kept) -> None:
        self._embedder = embedder
        self._kept = kept
        self.identity = embedder.identity
        self.device = embedder.device
        self.exact_counts = embedder.exact_counts

    def count_tokens(self, text: str) -> int:
        return self._embedder.count_tokens(text)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self._vector("passage", text, lambda text: self._embedder.embed_documents([text])[0]) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self._vector("question", text, self._embedder.embed_query)

    def _vector(self, kind: str, text: str, embed: Callable[[str], Sequence[float]]) -> list[float]:
        made = self._kept.get((repr(self.identity), kind, text), lambda: np.asarray(embed(text), "<f4").tobytes())
        return np.frombuffer(made, "<f4").tolist()


class CachedChat(ChatModel):
    """A chat model that answers the same messages once, in this run or a later one.

    Args:
        chat: The real one; started when something is asked that it never answered.
        kept: Where its answers are kept.
    """

    def __init__(self, chat: ChatModel, kept: Kept) -> None:
        self._chat = chat
        self.identity = chat.identity
        self.exact_counts = chat.exact_counts
        self._model = _CachedModel(chat=chat, kept=kept)

    @property
    def runnable(self) -> BaseChatModel:
        return self._model

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._chat.count_tokens(texts)

    def errors(self) -> AbstractContextManager[None]:
        return self._chat.errors()

    def close(self) -> None:
        self._chat.close()


class _CachedModel(BaseChatModel):
    chat: Any
    kept: Any

    @property
    def _llm_type(self) -> str:
        return "cached"

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=AIMessage(self._said(messages)))])

    def _stream(self, messages: list[BaseMessage], *_: Any, **__: Any) -> Iterator[ChatGenerationChunk]:
        yield ChatGenerationChunk(message=AIMessageChunk(self._said(messages)))

    def _said(self, messages: list[BaseMessage]) -> str:
        key = (repr(self.chat.identity), *(f"{message.type}: {message.text}" for message in messages))
        return str(self.kept.text(key, lambda: self.chat.runnable.invoke(messages).text))


@contextmanager
def embedded_chat() -> Iterator[CachedChat]:
    """The chat model that is always there, its answers kept."""
    chat, why = choice.pick_chat(load_settings(), "embedded")
    if chat is None:
        sys.exit(why)
    with closing(CachedChat(chat, Kept())) as cached:
        yield cached
