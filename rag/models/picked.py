"""The models in use: which were picked, why, and when they are let go."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from rag.errors import ModelError, ModelMissing, SettingsError
from rag.models import choice
from rag.models.base import ChatModel, Embedder
from rag.models.reranker import Reranker
from rag.settings import Choices, Settings
from rag.types import ChatModelIdentity, EmbedderIdentity, ModelChoice

_LOOK_AGAIN_SECONDS = 20.0


class PickedModels:
    """One chat model, and an embedder for each identity that a library was built with; opened when first needed.

    Args:
        settings: The settings.
        choices: What a person chose; holds where the settings say ``auto``.
    """

    def __init__(self, settings: Settings, choices: Choices) -> None:
        self._settings = settings
        self._choices = choices
        self._embedders: dict[EmbedderIdentity, Embedder] = {}
        self._default: tuple[Embedder, str] | None = None
        self._reranker: tuple[Reranker | None, str] | None = None
        self._chat: tuple[ChatModel | None, str] | None = None
        self._retired: list[ChatModel] = []
        self._answers = 0
        self._looked_at = 0.0
        self._lock = threading.RLock()

    def default_embedder(self) -> tuple[Embedder, str]:
        """The embedder for new libraries, and why it."""
        with self._lock:
            if self._default is None:
                wanted = self._choices.wanted("embedder", self._settings.embedder)
                self._default = choice.pick_embedder(self._settings, wanted)
            embedder = self._default[0]
            self._embedders.setdefault(embedder.identity, embedder)
            return self._default

    def embedder(self, identity: EmbedderIdentity) -> Embedder:
        """The embedder of that identity.

        Raises:
            ModelError: It cannot be had.
        """
        with self._lock:
            if identity not in self._embedders:
                self._embedders[identity] = choice.embedder_for(self._settings, identity)
            return self._embedders[identity]

    def reranker(self) -> tuple[Reranker | None, str]:
        """The cross-encoder that sorts what was found, and why it, or why there is none.

        Raises:
            ModelError: A model was named and cannot be had.
        """
        with self._lock:
            if self._reranker is None:
                self._reranker = choice.pick_reranker(self._settings)
            return self._reranker

    def chat(self) -> tuple[ChatModel | None, str]:
        """The chat model, and why it. Where ``auto`` had to fall back, a server started since is noticed."""
        with self._lock:
            picked = self._chat
            wanted = self._choices.wanted("llm", self._settings.llm)
            settled = picked is not None and picked[0] is not None and picked[0].identity.provider != "embedded"
            if picked is None:
                self._replace_chat(choice.pick_chat(self._settings, wanted))
            elif wanted == "auto" and not settled and time.monotonic() - self._looked_at > _LOOK_AGAIN_SECONDS:
                better = choice.pick_chat(self._settings, wanted)
                same = [pick[0].identity.provider if pick[0] else "" for pick in (picked, better)]
                if same[0] != same[1]:
                    self._replace_chat(better)
                self._looked_at = time.monotonic()
            if self._chat is None:
                raise ValueError("A model, or none, was picked just now.")
            return self._chat

    @contextmanager
    def using_chat(self) -> Iterator[ChatModel | None]:
        """The chat model, kept open for as long as an answer needs it."""
        with self._lock:
            chat = self.chat()[0]
            self._answers += 1
        try:
            yield chat
        finally:
            with self._lock:
                self._answers -= 1
                self._close_retired()

    def others(self) -> tuple[ModelChoice, ...]:
        """The chat models that are ready to be opened beside the one in use; asks the servers.

        Those in the cloud are left out: a comparison must not take notes off this machine by the way.
        """
        chat = self.chat()[0]
        own = "" if chat is None else _id(chat.identity)
        models = choice.list_models(self._settings)
        ready = (model for model in models if model.kind == "chat" and model.ready and model.id != own)
        return tuple(model for model in ready if not choice.is_in_the_cloud(model.id))

    @contextmanager
    def beside(self, model_id: str) -> Iterator[ChatModel]:
        """Another chat model next to the one in use, which stays as it is.

        At the end it is closed, and leaves the memory of its server unless it was there before.

        Raises:
            ModelError: It cannot be had.
            SettingsError: That names no chat model.
        """
        # Under settings of its own: what the pick of the one in use had to pass over is still to be told.
        chat, why = choice.pick_chat(self._settings.model_copy(update={"llm": model_id}), model_id)
        if chat is None:
            raise ModelMissing(why, "Choose a chat model to compare with.")
        was_loaded = True
        try:
            was_loaded = chat.residence().window > 0
            yield chat
        finally:
            if not was_loaded:
                with suppress(ModelError):  # it has answered; its server lets it go by itself later
                    chat.unload()
            chat.close()

    def use(self, model_id: str) -> None:
        """Takes another chat model or another embedder for new libraries, and remembers it.

        Raises:
            SettingsError: A setting in the environment decides already.
            ModelError: It cannot be had.
        """
        kinds = ("chat", "embedding") if model_id == "auto" else (choice.kind_of(self._settings, model_id),)
        for kind in kinds:
            if kind == "reranking":
                raise SettingsError(
                    f"{model_id} sorts what was found, wherever that is asked for.",
                    "Ask with --rerank, or turn it on in the library's settings; FOOTNOTE_RERANKER names another one.",
                )
            setting = "llm" if kind == "chat" else "embedder"
            fixed = getattr(self._settings, setting)
            if fixed not in ("auto", model_id):
                raise SettingsError(
                    f"FOOTNOTE_{setting.upper()} says {fixed}, and what is set there is never overridden.",
                    f"Remove FOOTNOTE_{setting.upper()} from the environment or .env to choose here.",
                )
            with self._lock:
                if kind == "chat":
                    self._replace_chat(choice.pick_chat(self._settings, model_id))
                else:
                    self._default = choice.pick_embedder(self._settings, model_id)
            self._choices.set(setting, model_id)

    def look_again(self) -> None:
        """Lets the models be picked anew, as after a download."""
        with self._lock:
            self._replace_chat(None)
            self._default = None
            self._forget_reranker()

    def close(self) -> None:
        """Frees all models."""
        with self._lock:
            self._answers = 0
            self._replace_chat(None)
            for embedder in self._embedders.values():
                embedder.close()
            self._embedders.clear()
            self._default = None
            self._forget_reranker()

    def _forget_reranker(self) -> None:
        if self._reranker is not None and self._reranker[0] is not None:
            self._reranker[0].close()
        self._reranker = None

    def _replace_chat(self, picked: tuple[ChatModel | None, str] | None) -> None:
        """Takes another chat model; the old one is closed as soon as no answer needs it."""
        with self._lock:
            if self._chat is not None and self._chat[0] is not None:
                self._retired.append(self._chat[0])
            self._chat = picked
            self._looked_at = time.monotonic()
            self._close_retired()

    def _close_retired(self) -> None:
        if self._answers == 0:
            while self._retired:
                self._retired.pop().close()


def _id(identity: ChatModelIdentity) -> str:
    """What the settings call a model."""
    return "embedded" if identity.provider == "embedded" else f"{identity.provider}:{identity.name}"
