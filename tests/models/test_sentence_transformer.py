import json
import shutil
import socket
from pathlib import Path

import numpy as np
import pytest

from rag.errors import InputTooLong, ModelFailed, ModelMissing, ModelUnavailable
from rag.models import torch_model
from rag.models.memory import BYTES_A_TOKEN, CONTEXT_BYTES
from rag.models.sentence_transformer import SentenceTransformerEmbedder

WORDS = ["tide", "moon", "sea", "bread", "note", "number", "about", "the", "of", "a", "query", "passage"]


@pytest.fixture(scope="module")
def model_folder(tmp_path_factory):
    """A real, tiny and untrained BERT with a vocabulary of a few words, as sentence-transformers saves one."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder = tmp_path_factory.mktemp("tiny-bert")
    letters = list("abcdefghijklmnopqrstuvwxyz0123456789:")
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    vocabulary = [*special, *WORDS, *letters, *(f"##{letter}" for letter in letters)]
    numbered = {word: number for number, word in enumerate(vocabulary)}
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=64,
    )
    BertModel(config).save_pretrained(folder / "bert")
    BertTokenizerFast(vocab=numbered, model_max_length=64).save_pretrained(folder / "bert")
    transformer = Transformer(str(folder / "bert"), max_seq_length=64)
    model = SentenceTransformer(modules=[transformer, Pooling(32)], device="cpu")
    model.save(str(folder / "model"))
    return folder / "model"


@pytest.fixture
def embedder(model_folder, make_settings):
    embedder = SentenceTransformerEmbedder(make_settings(embed_batch_tokens=128), str(model_folder))
    yield embedder
    embedder.close()


TEXTS = [f"note number {number} about the " + "tide of the moon " * (number % 9) for number in range(30)]


def test_identity(embedder, model_folder):
    identity = embedder.identity
    assert (identity.provider, identity.model, identity.revision) == ("sentence-transformers", str(model_folder), "")
    assert (identity.dimension, identity.max_tokens, identity.normalized) == (32, 64, True)
    assert embedder.device == "cpu"
    assert embedder.exact_counts


def test_the_vectors_are_the_library_s_own(embedder, model_folder):
    from sentence_transformers import SentenceTransformer

    own = SentenceTransformer(str(model_folder), device="cpu").encode(TEXTS, normalize_embeddings=True)
    vectors = np.array(embedder.embed_documents(TEXTS))
    assert vectors.shape == (30, 32)
    assert np.allclose(vectors, own, atol=1e-5)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(30), abs=1e-5)


def test_counts_are_what_the_model_reads(embedder):
    assert embedder.count_tokens("the tide") == 4
    assert embedder.count_tokens("zz") == 4  # one piece a letter
    assert embedder.count_tokens("") == 2


def test_batches_stay_within_the_budget_the_longest_first(embedder):
    shapes = watch_batches(embedder)
    embedder.embed_documents(TEXTS)
    assert sum(rows for rows, _ in shapes) == len(TEXTS)
    assert all(rows * length <= 128 for rows, length in shapes)
    lengths = [length for _, length in shapes]
    assert lengths == sorted(lengths, reverse=True)


def watch_batches(embedder, memory=None):
    """Shapes of the batches that the network sees; one of more than ``memory`` tokens runs out of it, as on a GPU."""
    import torch

    shapes = []

    def look(module, inputs):
        rows, length = inputs[0].shape
        if memory is not None and rows * length > memory:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
        shapes.append((rows, length))

    first_layer(embedder).register_forward_pre_hook(look)
    return shapes


def first_layer(embedder):
    return embedder._torch.model.transformers_model.embeddings.word_embeddings


def test_out_of_memory_halves_the_batch_and_loses_nothing(model_folder, make_settings, embedder):
    expected = embedder.embed_documents(TEXTS)
    cramped = SentenceTransformerEmbedder(make_settings(embed_batch_tokens=100_000), str(model_folder))
    shapes = watch_batches(cramped, memory=150)
    vectors = cramped.embed_documents(TEXTS)
    assert np.allclose(vectors, expected, atol=1e-5)
    assert all(rows * length <= 150 for rows, length in shapes)
    assert sum(rows for rows, _ in shapes) == len(TEXTS)


def test_after_running_out_of_memory_the_next_batches_are_smaller(model_folder, make_settings):
    import torch

    cramped = SentenceTransformerEmbedder(make_settings(embed_batch_tokens=1024), str(model_folder))
    failures = []

    def look(module, inputs):
        if inputs[0].numel() > 300:
            failures.append(inputs[0].shape)
            raise torch.OutOfMemoryError("CUDA out of memory.")

    first_layer(cramped).register_forward_pre_hook(look)
    cramped.embed_documents(TEXTS)
    assert failures
    failures.clear()
    cramped.embed_documents(TEXTS)
    assert failures == []


def test_a_single_text_that_does_not_fit_the_memory(embedder):
    watch_batches(embedder, memory=3)
    with pytest.raises(ModelFailed, match="no memory left on cpu"):
        embedder.embed_query("the tide of the moon")


def test_another_failure_of_the_network(embedder):
    def fail(*_):
        raise RuntimeError("CUDA error: device-side assert triggered")

    first_layer(embedder).register_forward_pre_hook(fail)
    with pytest.raises(ModelFailed, match="device-side assert"):
        embedder.embed_query("tide")


def test_a_text_too_long_is_refused_never_cut(embedder):
    assert len(embedder.embed_documents(["tide " * 62])[0]) == 32
    with pytest.raises(InputTooLong, match="65 tokens does not fit the 64"):
        embedder.embed_documents(["short", "tide " * 63])
    with pytest.raises(InputTooLong):
        embedder.embed_query("tide " * 63)


def test_no_texts(embedder):
    assert embedder.embed_documents([]) == []


def test_prefixes_of_the_model_s_own_configuration(model_folder, make_settings, tmp_path):
    folder = tmp_path / "with-prompts"
    shutil.copytree(model_folder, folder)
    configuration = json.loads((folder / "config_sentence_transformers.json").read_text())
    configuration["prompts"] = {"query": "query: ", "document": "passage: "}
    configuration["default_prompt_name"] = "query"
    (folder / "config_sentence_transformers.json").write_text(json.dumps(configuration))
    embedder = SentenceTransformerEmbedder(make_settings(), str(folder))
    plain = SentenceTransformerEmbedder(make_settings(), str(model_folder))

    assert (embedder.identity.query_prefix, embedder.identity.passage_prefix) == ("query: ", "passage: ")
    assert embedder.embed_query("tide") == pytest.approx(plain.embed_query("query: tide"), abs=1e-5)
    assert embedder.embed_documents(["tide"])[0] == pytest.approx(plain.embed_query("passage: tide"), abs=1e-5)
    assert embedder.count_tokens("tide") == plain.count_tokens("passage: tide")


def test_prefixes_that_are_known_by_name(model_folder, make_settings, tmp_path):
    folder = tmp_path / "e5-tiny"
    shutil.copytree(model_folder, folder)
    identity = SentenceTransformerEmbedder(make_settings(), str(folder)).identity
    assert (identity.query_prefix, identity.passage_prefix) == ("query: ", "passage: ")


@pytest.fixture
def hub_cache(model_folder, tmp_path, monkeypatch):
    """A hub cache that holds the tiny model under a hub name, as the hub's client lays it out."""
    from huggingface_hub import constants

    repository = tmp_path / "hub" / "models--tests--tiny"
    shutil.copytree(model_folder, repository / "snapshots" / "0123abcd")
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("0123abcd")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    return repository


def test_a_model_of_the_hub_loads_from_its_cache_without_any_connection(hub_cache, make_settings, monkeypatch):
    def refuse(self, address):
        raise AssertionError(f"a connection to {address} was tried")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *arguments, **_: refuse(None, arguments[0]))
    embedder = SentenceTransformerEmbedder(make_settings(), "tests/tiny")
    assert embedder.identity.model == "tests/tiny"
    assert embedder.identity.revision == "0123abcd"
    assert len(embedder.embed_query("tide")) == 32


def test_a_model_that_is_not_here(make_settings):
    with pytest.raises(ModelMissing, match="tests/none is not on this machine") as caught:
        SentenceTransformerEmbedder(make_settings(), "tests/none")
    assert "models pull hf:tests/none" in caught.value.hint


def test_a_device_that_is_not_here(model_folder, make_settings):
    with pytest.raises(ModelUnavailable, match="The device cuda:7 cannot be used"):
        SentenceTransformerEmbedder(make_settings(device="cuda:7"), str(model_folder))


def test_a_folder_that_holds_no_model(make_settings, tmp_path):
    (tmp_path / "notes").mkdir()
    with pytest.raises(ModelFailed, match="cannot be loaded"):
        SentenceTransformerEmbedder(make_settings(), str(tmp_path / "notes"))


def test_half_precision_weights_run_in_single_precision_on_the_cpu(model_folder, make_settings, tmp_path):
    import torch
    from sentence_transformers import SentenceTransformer

    folder = tmp_path / "half"
    SentenceTransformer(str(model_folder), device="cpu").half().save(str(folder))
    embedder = SentenceTransformerEmbedder(make_settings(), str(folder))
    assert next(embedder._torch.model.parameters()).dtype is torch.float32


def test_closing_twice_is_harmless(model_folder, make_settings):
    embedder = SentenceTransformerEmbedder(make_settings(), str(model_folder))
    embedder.close()
    embedder.close()


def test_the_folder_may_start_at_home(model_folder, make_settings, monkeypatch):
    monkeypatch.setattr(Path, "home", staticmethod(lambda: model_folder.parent))
    monkeypatch.setenv("HOME", str(model_folder.parent))
    assert SentenceTransformerEmbedder(make_settings(), "~/model").identity.dimension == 32


@pytest.fixture
def on_card(model_folder, make_settings, monkeypatch):
    """As on a machine with a card, which here is the CPU by another name: there it runs in half precision."""
    monkeypatch.setattr(torch_model, "_best_device", lambda: "cpu:0")
    embedder = SentenceTransformerEmbedder(make_settings(embed_batch_tokens=128), str(model_folder))
    embedder.move(to_card=True)
    yield embedder
    embedder.close()


def test_it_moves_between_card_and_cpu_and_finds_the_same(on_card, embedder):
    import torch

    def parameter():
        return next(on_card._torch.model.parameters())

    assert (on_card.device, parameter().dtype) == ("cpu:0", torch.float16)
    there = np.array(on_card.embed_documents(TEXTS))
    on_card.move(to_card=False)
    assert (on_card.device, parameter().dtype) == ("cpu", torch.float32)
    here = np.array(on_card.embed_documents(TEXTS))
    single = np.array(embedder.embed_documents(TEXTS))
    assert (there * here).sum(axis=1).min() > 0.999
    assert (here * single).sum(axis=1).min() > 0.999
    on_card.move(to_card=True)
    assert on_card.device == "cpu:0"


def test_what_it_takes_of_a_card_is_told_from_its_weights(on_card):
    parameters = sum(parameter.numel() for parameter in on_card._torch.model.parameters())
    use = on_card.card_use()
    assert (use.question, use.there, use.fixed) == (2 * parameters + CONTEXT_BYTES, True, False)
    assert use.documents == use.question + 128 * BYTES_A_TOKEN


def test_without_a_card_it_takes_nothing_and_moves_nowhere(embedder):
    assert embedder.card_use() is None
    embedder.move(to_card=True)
    assert embedder.device == "cpu"


def test_a_card_without_room_leaves_it_where_it_is(on_card, monkeypatch):
    on_card.move(to_card=False)
    model, moves = on_card._torch.model, []

    def full(*, device, dtype):
        moves.append(device)
        if device == "cpu:0":
            raise RuntimeError("CUDA out of memory. Tried to allocate 20.00 MiB")

    monkeypatch.setattr(model, "to", full)
    with pytest.raises(ModelFailed, match="out of memory"):
        on_card.move(to_card=True)
    assert (on_card.device, moves) == ("cpu", ["cpu:0", "cpu"])


def test_a_device_that_was_set_is_kept(model_folder, make_settings):
    embedder = SentenceTransformerEmbedder(make_settings(device="cpu"), str(model_folder))
    embedder.move(to_card=True)
    assert embedder.device == "cpu"
    embedder.close()


def test_a_card_that_is_full_at_the_start_leaves_it_to_the_cpu(model_folder, make_settings, monkeypatch):
    load = torch_model._load

    def full(folder, device, kind):
        if device != "cpu":
            raise ModelFailed("The model cannot be loaded: CUDA out of memory.", "Fetch it again.")
        return load(folder, device, kind)

    monkeypatch.setattr(torch_model, "_best_device", lambda: "cuda:0")
    monkeypatch.setattr(torch_model, "_load", full)
    embedder = SentenceTransformerEmbedder(make_settings(), str(model_folder))
    assert embedder.device == "cpu"
    assert not embedder.card_use().there
    embedder.close()
    with pytest.raises(ModelFailed):
        SentenceTransformerEmbedder(make_settings(device="cuda:0"), str(model_folder))
