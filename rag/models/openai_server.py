"""Chat through any server that speaks OpenAI's API: llama-server, vLLM, LM Studio, and the embedded model's own."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import httpx2  # what the openai package speaks through: its errors and clients are of this library
from langchain_core.language_models import BaseChatModel

from rag.errors import InputTooLong, ModelError, ModelFailed, ModelMissing, ModelUnavailable
from rag.models.base import ChatModel, is_small
from rag.models.memory import Residence
from rag.settings import Settings
from rag.types import ChatModelIdentity, Message

_CONNECT_SECONDS = 3.0
_LLAMA_SERVER = "llamacpp"
_THINKING_SWITCH = (
    _LLAMA_SERVER,
    "vllm",
)  # these take chat_template_kwargs; others may refuse a field they do not know

_NO_THINKING = {"enable_thinking": False}

T = TypeVar("T")


class OpenAIChat(ChatModel):
    """A model behind an OpenAI-compatible address.

    What the server tells of itself is used: a llama-server counts tokens exactly and tells its window, and a window
    smaller than the settings ask for is kept to.

    Attributes:
        served: Names of all models that the server has.

    Args:
        settings: Window, sampling and patience.
        url: The server's address, ending in ``/v1``.
        key: The server's key; empty when it wants none.
        model: The model's name; empty takes the first that the server lists.
        who: What errors call the server; empty: by its address.

    Raises:
        ModelUnavailable: The server does not answer, or does not take the key.
        ModelMissing: It does not have the model.
        ModelFailed: Its answer cannot be read.
    """

    def __init__(self, settings: Settings, url: str, key: str, model: str = "", who: str = "") -> None:
        self._url = url.rstrip("/")
        self._who = who or f"The server at {self._url}"
        self._root = self._url.removesuffix("/v1")
        self._timeout = httpx2.Timeout(settings.timeout, connect=_CONNECT_SECONDS)
        self._http = httpx2.Client(
            headers={"Authorization": f"Bearer {key}"} if key else {}, timeout=self._timeout, trust_env=False
        )
        listed = self._ask("GET", f"{self._url}/models", "data", list)
        by_name = {str(model.get("id")): model for model in listed if isinstance(model, dict)}
        owners = {name: str(model.get("owned_by")) for name, model in by_name.items()}
        self.served = tuple(owners)
        if not owners or (model and model not in owners):
            raise ModelMissing(
                f"{self._who} has no model {model}".rstrip() + ".",
                f"It has {', '.join(owners)}: name one of them." if owners else "Load a model there.",
            )
        name = model or next(iter(owners))
        self.exact_counts = owners[name] == _LLAMA_SERVER
        self._owner = owners[name]
        self._trained = int((by_name[name].get("meta") or {}).get("n_ctx_train") or 0)
        window = settings.context_tokens
        if self.exact_counts:
            facts = self._ask("GET", f"{self._root}/props", "default_generation_settings", dict)
            window = min(window, int(facts.get("n_ctx") or window))
        self.identity = ChatModelIdentity("openai", name, "", window, is_small(name))
        self._runnable = self._langchain_model(settings, key, thinking_switch=owners[name] in _THINKING_SWITCH)

    @property
    def runnable(self) -> BaseChatModel:
        """The LangChain model."""
        return self._runnable

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Number of tokens of each text: the model's own count on a llama-server, else a cautious estimate."""
        if not self.exact_counts:
            return super().count_tokens(texts)
        return [len(self._ask("POST", f"{self._root}/tokenize", "tokens", list, content=text)) for text in texts]

    def rendered(self, messages: Sequence[Message]) -> str | None:
        """See the base class: only a llama-server tells."""
        if not self.exact_counts:
            return None
        sent = [{"role": message.role, "content": message.content} for message in messages]
        return self._ask(
            "POST", f"{self._root}/apply-template", "prompt", str, messages=sent, chat_template_kwargs=_NO_THINKING
        )

    def residence(self) -> Residence:
        """See the base class; where its weights lie, no such server tells."""
        server = self._owner
        if self.exact_counts:
            server = f"llama-server {self._ask('GET', f'{self._root}/props', 'build_info', str)}"
        return Residence(server=server, trained=self._trained)

    @contextmanager
    def errors(self) -> Iterator[None]:
        """See the base class."""
        import openai

        try:
            yield
        except (openai.APITimeoutError, httpx2.ReadTimeout) as error:
            raise ModelFailed(
                f"{self._who} did not answer in time.", "Try again, or raise FOOTNOTE_TIMEOUT."
            ) from error
        except openai.APIStatusError as error:
            raise self._refusal(error.status_code, error.message) from error
        except httpx2.HTTPStatusError as error:
            raise self._refusal(error.response.status_code, error.response.text) from error
        except (openai.APIConnectionError, httpx2.TransportError) as error:
            if _never_connected(error):
                raise ModelUnavailable(
                    f"{self._who} does not answer.", "Start it, or correct FOOTNOTE_OPENAI_URL."
                ) from error
            raise ModelFailed(f"{self._who} broke off in the middle of its answer.", "Ask again.") from error
        except openai.APIError as error:
            raise ModelFailed(f"{self._who} broke off: {error.message}", "Ask again.") from error
        except json.JSONDecodeError as error:
            raise self._unreadable() from error
        except ValueError as error:
            if "No generation chunks" not in str(error):
                raise
            raise ModelFailed(f"{self._who} sent an empty answer.", "Ask again.") from error

    def close(self) -> None:
        """Closes the connections; calling it twice is harmless."""
        self._http.close()

    def _langchain_model(self, settings: Settings, key: str, *, thinking_switch: bool) -> BaseChatModel:
        from langchain_openai import ChatOpenAI

        # As extra fields, since the library would rename max_tokens to a name that older servers do not know.
        extra: dict[str, object] = {"max_tokens": settings.answer_tokens}
        if thinking_switch:
            extra["chat_template_kwargs"] = _NO_THINKING
        return ChatOpenAI(
            model=self.identity.name,
            base_url=self._url,
            api_key=key or "none",  # type: ignore[arg-type]  # the library refuses to start without one
            http_client=self._http,
            timeout=self._timeout,
            max_retries=0,
            stream_usage=True,
            temperature=settings.temperature,
            seed=settings.seed,
            extra_body=extra,
        )

    def _ask(self, method: str, url: str, field: str, kind: type[T], **body: object) -> T:
        """One field of what the server answers, which must be of that kind."""
        with self.errors():
            response = self._http.request(method, url, json=body or None)
            answer = response.raise_for_status().json()
        value = answer.get(field) if isinstance(answer, dict) else None
        if not isinstance(value, kind):
            raise self._unreadable()
        return value

    def _unreadable(self) -> ModelFailed:
        return ModelFailed(
            f"{self._who} sent an answer that is not as OpenAI's API has it.",
            "Check that FOOTNOTE_OPENAI_URL is the address of an OpenAI-compatible server, ending in /v1.",
        )

    def _refusal(self, status: int, words: str) -> ModelError:
        """The error for an answer that is not 2xx, in which the server said ``words``."""
        words = " ".join(words.split())[:300]
        if status in (400, 413) and "context" in words:
            return InputTooLong(
                f"{self._who} takes no prompt of this length: {words}",
                "Give the model fewer notes, or a larger window.",
            )
        if status in (401, 403):
            return ModelUnavailable(f"{self._who} refuses the key.", "Correct FOOTNOTE_OPENAI_API_KEY.")
        if status == 404:
            return ModelMissing(f"{self._who} does not have it: {words}", "Choose a model that it lists.")
        return ModelFailed(f"{self._who} answers {status}: {words}", "Look at that server's log.")


def _never_connected(error: BaseException | None) -> bool:
    """Whether an error, or what lies behind it, is a connection that did not come about."""
    while error is not None:
        if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
            return True
        error = error.__cause__
    return False
