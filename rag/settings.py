"""Every setting in one place, and the only reader of the environment.

A setting comes from the environment (``FOOTNOTE_…``), else from a file ``.env`` in the working directory, else from the
default here. ``.env.example`` and the README's table mirror this class field by field; a test compares the three.
"""

from __future__ import annotations

import ipaddress
import json
import os
import threading
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

import platformdirs
from pydantic import AliasChoices, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from rag.errors import SettingsError

_ENVIRONMENT = {
    "GRADIO_ANALYTICS_ENABLED": "False",
    "ANONYMIZED_TELEMETRY": "False",  # chromadb
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "ORT_DISABLE_TELEMETRY": "1",  # onnxruntime, which PyMuPDF loads: it asks for its maker's server after ten seconds
    "HF_HUB_OFFLINE": "1",  # without a hub, loading a model by its name retries for over a minute
    "DO_NOT_TRACK": "1",
    "LANGSMITH_TRACING": "false",
    "LANGCHAIN_TRACING_V2": "false",
    "OTEL_SDK_DISABLED": "true",
    "TOKENIZERS_PARALLELISM": "false",
    # Threads that spin while they wait make llama.cpp ten times slower as soon as another program wants a core.
    "OMP_WAIT_POLICY": "passive",
}

Way = Literal["auto", "together", "turns", "cpu"]
"""How two models share a graphics card."""

Port = Annotated[int, Field(ge=0, le=65535)]


class Settings(BaseSettings):
    """Footnote's settings; each field's description is its documentation."""

    model_config = SettingsConfigDict(
        env_prefix="FOOTNOTE_",
        env_file=".env",
        env_file_encoding="utf-8-sig",
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
    )

    home: Path = Field(
        default_factory=lambda: Path(platformdirs.user_data_dir("footnote", appauthor=False)),
        description="Where libraries, conversations and choices are kept.",
    )
    cache: Path = Field(
        default_factory=lambda: Path(platformdirs.user_cache_dir("footnote", appauthor=False)),
        description="Where downloaded models are kept.",
    )

    embedder: str = Field(
        "auto",
        description="auto, e5-small (bundled), bge-m3, ollama:MODEL, or a sentence-transformers name or folder.",
    )
    device: str = Field("auto", description="Where sentence-transformers runs: auto, cpu, cuda, cuda:1, mps.")
    embed_batch_tokens: int = Field(8192, ge=64, description="Tokens embedded at once, padding included.")
    reranker: str = Field(
        "auto",
        description="What reranks: auto (bge-reranker-v2-m3 where it is), none, or a cross-encoder's name or folder.",
    )

    llm: str = Field("auto", description="auto, embedded, ollama:MODEL, openai:MODEL, or none (search only).")
    model_path: Path | None = Field(None, description="A GGUF file of your own for the embedded model.")
    ollama_url: str = Field("http://127.0.0.1:11434", description="Address of Ollama.")
    openai_url: str = Field("", description="Address of an OpenAI-compatible server, ending in /v1; empty: none.")
    openai_api_key: SecretStr = Field(SecretStr(""), description="Key for that server, where it wants one.")
    context_tokens: int = Field(8192, ge=1024, description="The chat model's window, sent with every request.")
    answer_tokens: int = Field(512, ge=16, description="Room kept in the window for the answer.")
    temperature: float = Field(0.0, ge=0.0, le=2.0, description="Sampling temperature; 0 gives the same answer again.")
    seed: int = Field(0, description="Sampling seed.")
    keep_alive: str = Field("10m", description="How long Ollama keeps the model loaded.")
    sharing: Way = Field(
        "auto", description="How embedder and chat model share a graphics card: auto, together, turns, or cpu."
    )
    timeout: float = Field(300.0, gt=0, description="Seconds to wait for a model's next words before giving up.")

    chunk_profile: Literal["sections", "words"] = Field(
        "sections", description="How documents are cut: sections (one a chunk), or words (windows of one length)."
    )
    chunk_tokens: int = Field(200, ge=32, description="Longest chunk, in the embedder's tokens.")
    chunk_overlap: int = Field(30, ge=0, description="Tokens that pieces of one split section share.")
    chunk_minimum: int = Field(32, ge=0, description="Shorter chunks ride with their neighbours, in tokens.")
    candidates: int = Field(30, ge=1, description="Chunks that each search leg hands to the fusion.")
    notes: int = Field(0, ge=0, le=50, description="Chunks given to the model; 0 lets the model's size decide.")

    read_workers: int = Field(
        0, ge=0, le=32, description="Processes that read files; 0: half as many as there are cores, four at most."
    )
    read_timeout: float = Field(120.0, gt=0, description="Seconds after which the reading of one file is given up.")
    read_memory_mb: int = Field(4096, ge=256, description="Memory that one reading process may use, in MiB.")
    max_file_mb: int = Field(200, ge=1, description="Files larger than this are skipped, in MiB.")
    chroma_url: str = Field(
        "",
        validation_alias=AliasChoices("FOOTNOTE_CHROMA_URL", "CHROMA_URL"),
        description="Address of a Chroma server; empty: Chroma runs inside Footnote. CHROMA_URL works too.",
    )

    host: str = Field("127.0.0.1", description="Address the page listens on; any but loopback needs user and password.")
    port: Port = Field(7860, description="Port of the page; 0 takes a free one.")
    user: str = Field("", description="User name for the page; empty: no login (loopback only).")
    password: SecretStr = Field(SecretStr(""), description="Password for the page.")

    @field_validator("home", "cache", "model_path")
    @classmethod
    def _written_out(cls, path: Path | None) -> Path | None:
        """``~`` is written out here, since no shell does it in ``.env``."""
        try:
            return path and path.expanduser()
        except RuntimeError as error:
            raise ValueError("there is no such user") from error

    @field_validator("ollama_url", "openai_url", "chroma_url")
    @classmethod
    def _address(cls, url: str) -> str:
        parts = urlsplit(url)
        if url and (parts.scheme not in ("http", "https") or not parts.hostname):
            raise ValueError("an address begins with http:// or https:// and names a host, as in http://127.0.0.1:8000")
        _ = parts.port  # raises when it is no number from 0 to 65535
        return url

    @property
    def models_dir(self) -> Path:
        """Where model files lie."""
        return self.cache / "models"


class Choices:
    """What a person chose on the page or with ``models use``: a small JSON file under ``FOOTNOTE_HOME``."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writing = threading.Lock()

    def get(self, name: str) -> str | None:
        """A choice; None when none was made."""
        return self._read().get(name)

    def wanted(self, name: str, setting: str) -> str:
        """The explicit setting, else what was chosen, else ``auto``."""
        return setting if setting != "auto" else self.get(name) or "auto"

    def set(self, name: str, value: str) -> None:
        """Remembers a choice.

        Raises:
            SettingsError: It cannot be written.
        """
        with self._writing:
            fresh = self._path.with_suffix(".new")
            try:
                fresh.write_text(json.dumps({**self._read(), name: value}, indent=1), encoding="utf-8")
                fresh.replace(self._path)
            except OSError as error:
                raise SettingsError(
                    f"The choice could not be kept in {self._path}: {error.strerror or error}.",
                    "Check the disk and its permissions.",
                ) from error

    def _read(self) -> dict[str, str]:
        """All choices; none when the file is unreadable: a choice can be made again."""
        try:
            known = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return (
            {name: value for name, value in known.items() if isinstance(value, str)} if isinstance(known, dict) else {}
        )


def load_settings(**overrides: object) -> Settings:
    """Reads the settings.

    Args:
        **overrides: Values that win over the environment, by field name; for tests and command line options.

    Raises:
        SettingsError: A value cannot be read; the message names the setting and what it takes.
    """
    try:
        return Settings(**overrides)  # type: ignore[arg-type]  # pydantic checks the values
    except ValidationError as error:
        first = error.errors()[0]
        field = str(first["loc"][0]) if first["loc"] else "?"
        name = field if field.isupper() else f"FOOTNOTE_{field.upper()}"
        raise SettingsError(
            f"The setting {name} is {str(first.get('input'))!r}: {first['msg'].removeprefix('Value error, ')}.",
            "Correct it in the environment or in .env, or remove it to use the default.",
        ) from error
    except UnicodeDecodeError as error:
        raise SettingsError("The file .env is not UTF-8 text.", "Save it as UTF-8.") from error


def prepare_environment() -> None:
    """Turns off every library's telemetry, tracing and hub look-ups; has to run before they are imported."""
    os.environ.update(_ENVIRONMENT)


def telemetry_left_on() -> tuple[str, ...]:
    """Variables of the environment that :func:`prepare_environment` sets and that hold something else now."""
    return tuple(name for name, value in _ENVIRONMENT.items() if _plain(os.environ.get(name, "")) != _plain(value))


def _plain(value: str) -> str:
    """One word for all that libraries take for yes, and one for no."""
    return {"true": "1", "yes": "1", "on": "1", "false": "0", "no": "0", "off": "0"}.get(value.lower(), value.lower())


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
