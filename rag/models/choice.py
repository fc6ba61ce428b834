"""Which models are used: what the settings name, or the best that is there; and what else could be had.

``auto`` asks no model hub, loads no weights to find out, and never fails for want of a chat model; what a person named
is never replaced by something else.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from rag.errors import ModelError, ModelMissing, ModelUnavailable, SettingsError
from rag.models import downloads, hub
from rag.models.base import ChatModel, Embedder
from rag.models.bundled import BundledEmbedder
from rag.models.devices import device_warnings
from rag.models.embedded import EmbeddedChat, require_runtime
from rag.models.ollama import OllamaChat, OllamaEmbedder, OllamaModel, OllamaServer
from rag.models.openai_server import OpenAIChat
from rag.models.reranker import Reranker
from rag.models.sentence_transformer import SentenceTransformerEmbedder
from rag.settings import Settings
from rag.types import EmbedderIdentity, ModelChoice, PullProgress

__all__ = [
    "device_warnings",
    "embedder_for",
    "fallback_warnings",
    "kind_of",
    "list_models",
    "pick_chat",
    "pick_embedder",
    "pick_reranker",
    "pull",
]

_BGE_M3 = hub.SHORT_NAMES["bge-m3"]
_BGE_RERANKER = hub.SHORT_NAMES["bge-reranker-v2-m3"]
_FETCHED_BYTES = {_BGE_M3: 2_290_000_000, _BGE_RERANKER: 2_290_000_000}
_SUGGESTED = (("qwen3:8b", 5_200_000_000), ("qwen3:4b", 2_600_000_000))
_GET_A_MODEL = (
    "Without a chat model Footnote only searches. `python -m rag models pull embedded` fetches one (1.1 GB); "
    "`ollama pull qwen3:8b` a stronger one for Ollama."
)
_passed_over: dict[Settings, tuple[str, ...]] = {}  # what the last pick has met, so that nobody need ask again


def pick_embedder(settings: Settings, wanted: str) -> tuple[Embedder, str]:
    """The embedder that is wanted, and why it is this one.

    Args:
        settings: Addresses, device and batch size.
        wanted: What the setting ``embedder`` takes.

    Raises:
        ModelError: It cannot be had.
        SettingsError: It is no embedder.
    """
    if wanted == "auto":
        if hub.cached_model(_BGE_M3):
            return SentenceTransformerEmbedder(settings, _BGE_M3), "BGE-M3 is on this machine."
        return BundledEmbedder(), "BGE-M3 is not on this machine: the bundled multilingual-e5-small."
    reason = f"{wanted} was chosen."
    if wanted == "e5-small":
        return BundledEmbedder(), reason
    if wanted == "bge-m3":
        return SentenceTransformerEmbedder(settings, _BGE_M3), reason
    if wanted == "bge-reranker-v2-m3":
        raise SettingsError(
            "bge-reranker-v2-m3 sorts what was found, and embeds nothing.",
            "Once it is fetched, switch reranking on in a library's settings or for one question.",
        )
    if wanted.startswith("ollama:"):
        return OllamaEmbedder(settings, wanted.removeprefix("ollama:")), reason
    return SentenceTransformerEmbedder(settings, wanted.removeprefix("hf:")), reason


def embedder_for(settings: Settings, identity: EmbedderIdentity) -> Embedder:
    """The embedder that a library was built with, the very same weights.

    Raises:
        ModelError: It cannot be had.
    """
    embedder: Embedder
    if identity.provider == "bundled":
        embedder = BundledEmbedder()
    elif identity.provider == "ollama":
        embedder = OllamaEmbedder(settings, identity.model)
    else:
        embedder = SentenceTransformerEmbedder(settings, identity.model)
    if embedder.identity != identity:
        embedder.close()
        raise ModelMissing(
            f"{identity.model} is not the one that the library was built with: it was {_version(identity)} then, "
            f"and is {_version(embedder.identity)} now.",
            "Index the library again with the embedder that is here.",
        )
    return embedder


def pick_chat(settings: Settings, wanted: str) -> tuple[ChatModel | None, str]:
    """The chat model that is wanted, and why it is this one, or why there is none.

    Args:
        settings: Addresses, window and sampling.
        wanted: What the setting ``llm`` takes.

    Raises:
        ModelError: A model was named and cannot be had; never for ``auto``.
        SettingsError: ``wanted`` names no kind of model.
    """
    provider, _, name = wanted.partition(":")
    _passed_over.pop(settings, None)
    if wanted == "auto":
        return _best_chat(settings)
    if wanted == "none":
        return None, "Search only, as chosen."
    if wanted == "embedded":
        return _embedded_chat(settings), "The embedded model was chosen."
    if provider == "ollama" and name:
        return OllamaChat(settings, name), f"{name} on Ollama was chosen."
    if provider == "openai":
        chat = _openai_chat(settings, name)
        return chat, f"{chat.identity.name} at {settings.openai_url} was chosen."
    raise SettingsError(
        f"FOOTNOTE_LLM is {wanted!r}, which names no kind of chat model.",
        "It takes auto, embedded, ollama:MODEL, openai:MODEL or none.",
    )


def pick_reranker(settings: Settings) -> tuple[Reranker | None, str]:
    """The cross-encoder that the setting ``reranker`` names, and why it is this one, or why there is none.

    Raises:
        ModelMissing: A model was named and is not on this disk.
    """
    wanted = settings.reranker
    if wanted == "none":
        return None, "No reranking, as FOOTNOTE_RERANKER says."
    if wanted != "auto":
        return Reranker(settings, hub.SHORT_NAMES.get(wanted, wanted)), f"{wanted} was chosen."
    if hub.cached_model(_BGE_RERANKER):
        return Reranker(settings, _BGE_RERANKER), "bge-reranker-v2-m3 is on this machine."
    return None, (
        "bge-reranker-v2-m3 is not on this machine; `python -m rag models pull bge-reranker-v2-m3` fetches it (2.3 GB)."
    )


def fallback_warnings(settings: Settings) -> tuple[str, ...]:
    """What the settings name and the last ``auto`` could not take, as sentences; asks no server again."""
    return _passed_over.get(settings, ())


def kind_of(settings: Settings, model_id: str) -> Literal["chat", "embedding", "reranking"]:
    """What a model is for, as far as it is known; asks Ollama and the configured server.

    Args:
        settings: Their addresses.
        model_id: What settings and ``models use`` take; a name on Ollama with or without its tag ``:latest``.
    """
    for known in list_models(settings):
        if known.id.removesuffix(":latest") == model_id.removesuffix(":latest"):
            return known.kind
    # Of what no list knows, only chat models are named with their server in front.
    named_as_chat = model_id in ("auto", "none", "embedded") or model_id.startswith(("ollama:", "openai:"))
    return "chat" if named_as_chat else "embedding"


def list_models(settings: Settings) -> tuple[ModelChoice, ...]:
    """The models that can be chosen, or fetched and then chosen; asks Ollama and the configured server, not the hub."""
    choices = [_embedded_choice(settings), *_openai_choices(settings), _bundled_choice(), *_hub_choices()]
    try:
        models = OllamaServer(settings).models()
    except ModelError:
        return tuple(choices)
    names = {model.name for model in models}
    choices += [choice for model in models for choice in _ollama_choices(model)]
    choices += [
        ModelChoice(f"ollama:{name}", "chat", f"{name} (Ollama)", False, size, "Not pulled yet.")
        for name, size in _SUGGESTED
        if name not in names
    ]
    return tuple(choices)


def pull(settings: Settings, model_id: str) -> Iterator[PullProgress]:
    """Fetches a model; closing the iterator stops it, and the next pull goes on from there.

    Args:
        settings: Where models are kept, and Ollama's address.
        model_id: ``embedded``, ``bge-m3``, ``bge-reranker-v2-m3``, ``ollama:NAME``, or ``hf:NAME`` for a
            sentence-transformers model.

    Raises:
        ModelError: It cannot be fetched.
        SettingsError: There is nothing to fetch under that name.
    """
    provider, _, name = model_id.partition(":")
    if model_id == "embedded":
        return downloads.fetch(downloads.EMBEDDED, settings.models_dir)
    if model_id in hub.SHORT_NAMES:
        return hub.fetch_model(hub.SHORT_NAMES[model_id])
    if provider == "ollama" and name:
        return OllamaServer(settings).pull(name)
    if provider == "hf" and name:
        return hub.fetch_model(name)
    raise SettingsError(
        f"There is nothing to fetch under the name {model_id!r}.",
        "Fetch embedded, bge-m3, bge-reranker-v2-m3, ollama:MODEL or hf:NAME (a sentence-transformers model).",
    )


def _best_chat(settings: Settings) -> tuple[ChatModel | None, str]:
    reasons = []
    try:
        model = _best_on_ollama(OllamaServer(settings).models())
        if model:
            return OllamaChat(settings, model.name), f"Ollama answers at {settings.ollama_url} with {model.name}."
        reasons.append(f"Ollama at {settings.ollama_url} has no chat model")
    except ModelUnavailable:
        reasons.append("no Ollama")
    except ModelError as error:
        reasons.append(_because(error))
    if settings.openai_url:
        try:
            chat = _openai_chat(settings, "")
            return chat, _sentence(reasons, f"{chat.identity.name} at {settings.openai_url}")
        except ModelError as error:
            reasons.append(_because(error))
            _pass_over(settings, "FOOTNOTE_OPENAI_URL", error)
    else:
        reasons.append("no server configured")
    try:
        return _embedded_chat(settings), _sentence(reasons, "the embedded model")
    except ModelError as error:
        reasons.append(_because(error))
        if settings.model_path:
            _pass_over(settings, "FOOTNOTE_MODEL_PATH", error)
    return None, _sentence(reasons, "search only") + " " + _GET_A_MODEL


def _pass_over(settings: Settings, name: str, error: ModelError) -> None:
    _passed_over[settings] = (*fallback_warnings(settings), f"{name} is passed over. {error}")


def _because(error: ModelError) -> str:
    return error.message.rstrip(".").replace("The ", "the ", 1)


def _sentence(reasons: list[str], outcome: str) -> str:
    text = "; ".join(reasons)
    return f"{text[0].upper()}{text[1:]}: {outcome}."


def _best_on_ollama(models: tuple[OllamaModel, ...]) -> OllamaModel | None:
    """A Qwen first; never one that runs on Ollama's servers instead of this machine."""
    usable = [model for model in models if "completion" in model.capabilities and not is_in_the_cloud(model.name)]
    return min(
        usable, key=lambda model: (not model.name.startswith("qwen3"), not model.name.startswith("qwen")), default=None
    )


def is_in_the_cloud(model: str) -> bool:
    """Whether a model of that name or id runs on Ollama's servers rather than on this machine."""
    return model.endswith("cloud")


def _openai_chat(settings: Settings, name: str) -> OpenAIChat:
    if not settings.openai_url:
        raise SettingsError(
            "An OpenAI-compatible server was chosen, but its address is not set.",
            "Set FOOTNOTE_OPENAI_URL, for example http://127.0.0.1:8080/v1.",
        )
    return OpenAIChat(settings, settings.openai_url, settings.openai_api_key.get_secret_value(), name)


def _embedded_chat(settings: Settings) -> EmbeddedChat:
    if settings.model_path:
        return EmbeddedChat(settings, settings.model_path)
    if not downloads.is_whole(downloads.EMBEDDED, settings.models_dir):
        raise ModelMissing(
            "The embedded model is not on this machine.", "Fetch it with `python -m rag models pull embedded` (1.1 GB)."
        )
    return EmbeddedChat(settings, settings.models_dir / downloads.EMBEDDED.name, downloads.EMBEDDED.sha256)


def _embedded_choice(settings: Settings) -> ModelChoice:
    path: Path | None = settings.model_path
    label = path.stem if path else "Qwen2.5-Coder 1.5B"
    size = downloads.EMBEDDED.size
    try:
        require_runtime()
    except ModelUnavailable as error:
        return ModelChoice("embedded", "chat", label, False, size, error.message)
    if path:
        ready = path.is_file()
        return ModelChoice(
            "embedded",
            "chat",
            label,
            ready,
            path.stat().st_size if ready else 0,
            "" if ready else f"There is no file {path}.",
        )
    ready = downloads.is_whole(downloads.EMBEDDED, settings.models_dir)
    return ModelChoice("embedded", "chat", label, ready, size, "" if ready else "Not fetched yet.")


def _openai_choices(settings: Settings) -> list[ModelChoice]:
    if not settings.openai_url:
        return []
    try:
        chat = _openai_chat(settings, "")
    except ModelError as error:
        return [ModelChoice("openai:", "chat", settings.openai_url, False, 0, error.message)]
    chat.close()
    return [ModelChoice(f"openai:{name}", "chat", f"{name} ({settings.openai_url})", True) for name in chat.served]


def _bundled_choice() -> ModelChoice:
    label = "multilingual-e5-small (bundled)"
    try:
        BundledEmbedder()
    except ModelUnavailable as error:
        return ModelChoice("e5-small", "embedding", label, False, 0, error.message)
    return ModelChoice("e5-small", "embedding", label, True)


def _hub_choices() -> list[ModelChoice]:
    choices: list[ModelChoice] = []
    kinds: tuple[tuple[str, Literal["embedding", "reranking"], str], ...] = (
        ("bge-m3", "embedding", "BGE-M3"),
        ("bge-reranker-v2-m3", "reranking", "bge-reranker-v2-m3"),
    )
    for id_, kind, label in kinds:
        name = hub.SHORT_NAMES[id_]
        ready = hub.cached_model(name) is not None
        choices.append(ModelChoice(id_, kind, label, ready, _FETCHED_BYTES[name], "" if ready else "Not fetched yet."))
    return choices


def _ollama_choices(model: OllamaModel) -> list[ModelChoice]:
    note = "Runs on Ollama's servers: notes would leave this machine." if is_in_the_cloud(model.name) else ""
    label = f"{model.name} (Ollama)"
    choices = []
    if "completion" in model.capabilities:
        choices.append(ModelChoice(f"ollama:{model.name}", "chat", label, True, model.size, note))
    if "embedding" in model.capabilities:
        choices.append(ModelChoice(f"ollama:{model.name}", "embedding", label, True, model.size, note))
    return choices


def _version(identity: EmbedderIdentity) -> str:
    return f"{identity.revision[:12] or 'of unknown version'} with {identity.dimension} dimensions"
