import pytest
from fakes.ollama_server import Failure, OllamaStandIn

from rag.errors import ModelFailed
from rag.models.ollama import OllamaChat
from rag.retrieval.hyde import write_hypothetical
from rag.settings import Settings


@pytest.fixture
def chat(settings: Settings, ollama: OllamaStandIn) -> OllamaChat:
    return OllamaChat(settings.model_copy(update={"ollama_url": ollama.url}), "qwen3:8b")


def test_the_model_makes_a_passage_up(chat: OllamaChat, ollama: OllamaStandIn) -> None:
    ollama.reply = ["<think>hm</think>The valve ", "opens\n\nat 12 bar."]
    assert write_hypothetical("At how many bar does the valve open?", chat) == "The valve opens at 12 bar."
    assert ollama.sent("/api/chat")["messages"][-1]["content"] == "At how many bar does the valve open?"


def test_a_model_that_goes_on_and_on_is_stopped(chat: OllamaChat, ollama: OllamaStandIn) -> None:
    ollama.reply = ["word "] * 2000
    passage = write_hypothetical("Why?", chat)
    assert 500 < len(passage) <= 600


def test_a_model_that_fails_says_so(chat: OllamaChat, ollama: OllamaStandIn) -> None:
    ollama.failures.append(Failure("/api/chat", status=500))
    with pytest.raises(ModelFailed):
        write_hypothetical("Why?", chat)
