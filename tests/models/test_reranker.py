import shutil
from pathlib import Path

import numpy as np
import pytest
from fakes import tiny_m3

from rag.errors import InputTooLong, ModelFailed, ModelMissing, ModelUnavailable
from rag.models import torch_model
from rag.models.choice import pick_reranker
from rag.models.reranker import Reranker

QUERY = "which pump runs at 16 bar"
TEXTS = [
    "the tide of the moon",
    "pump 12 runs at 16 bar, pump 13 at 4 bar",
    "",
    *(f"note number {number} about " + "the water pressure of a valve " * (number % 7) for number in range(20)),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tiny_m3.save_reranker(tmp_path_factory.mktemp("reranker") / "model")


@pytest.fixture
def reranker(folder, make_settings):
    reranker = Reranker(make_settings(embed_batch_tokens=256), str(folder))
    yield reranker
    reranker.close()


def _score(folder: Path, query: str, text: str) -> float:
    encoder = tiny_m3.NumpyEncoder(folder, "roberta.")
    return encoder.score(tiny_m3.token_ids(folder, query, text))


def test_scores_are_the_model_s_own_number(reranker, folder):
    scores = reranker.scores(QUERY, TEXTS)
    expected = [_score(folder, QUERY, text) for text in TEXTS]
    assert np.allclose(scores, expected, atol=1e-5)
    assert np.argsort(scores).tolist() == np.argsort(expected).tolist()
    assert np.std(scores) > 0.01


def test_batches_and_padding_change_nothing(reranker, folder, make_settings):
    together = Reranker(make_settings(embed_batch_tokens=100_000), str(folder))
    alone = [reranker.scores(QUERY, [text])[0] for text in TEXTS]
    assert np.allclose(together.scores(QUERY, TEXTS), alone, atol=1e-5)
    assert np.allclose(reranker.scores(QUERY, TEXTS), alone, atol=1e-5)


def test_a_passage_too_long_is_read_in_pieces_that_cover_it(reranker, folder):
    text = "the tide of the moon and the sea " * 20 + "pump 12 runs at 16 bar"
    assert not reranker.reads_whole(QUERY, text)
    pieces = reranker._pieces(QUERY, text)
    assert len(pieces) > 1
    assert "".join(pieces) == text
    assert all(len(tiny_m3.token_ids(folder, QUERY, piece)) <= reranker.max_tokens for piece in pieces)
    expected = max(_score(folder, QUERY, piece) for piece in pieces)
    assert reranker.scores(QUERY, ["the tide", text])[1] == pytest.approx(expected, abs=1e-5)


def test_a_text_without_white_space_is_cut_all_the_same(reranker):
    text = "0123456789" * 40
    pieces = reranker._pieces(QUERY, text)
    assert "".join(pieces) == text
    assert all(reranker.reads_whole(QUERY, piece) for piece in pieces)


def test_a_question_too_long_is_refused_never_cut(reranker):
    with pytest.raises(InputTooLong, match=f"no room for a passage in the {tiny_m3.LONGEST} tokens"):
        reranker.scores("tide " * tiny_m3.LONGEST, ["the moon"])


def test_no_passages(reranker):
    assert reranker.scores(QUERY, []) == []


def test_out_of_memory_halves_the_batch_and_loses_nothing(reranker, folder, make_settings):
    import torch

    cramped = Reranker(make_settings(embed_batch_tokens=100_000), str(folder))

    def look(module, inputs):
        if inputs[0].numel() > 400:
            raise torch.OutOfMemoryError("CUDA out of memory.")

    cramped._torch.model.model.roberta.embeddings.word_embeddings.register_forward_pre_hook(look)
    assert np.allclose(cramped.scores(QUERY, TEXTS), reranker.scores(QUERY, TEXTS), atol=1e-5)


def test_a_score_that_is_no_number_is_an_error(reranker):
    reranker._torch.model.model.classifier.out_proj.bias.data.fill_(float("nan"))
    with pytest.raises(ModelFailed, match="no number"):
        reranker.scores(QUERY, ["the tide"])


def test_a_model_that_is_no_cross_encoder(make_settings, tmp_path):
    tiny_m3.save_reranker(tmp_path / "three", labels=3)
    tiny_m3.save_embedder(tmp_path / "embedder", heads=False)
    for name in ("three", "embedder"):
        with pytest.raises(ModelFailed, match="gives no score for a question and a passage"):
            Reranker(make_settings(), str(tmp_path / name)).scores(QUERY, TEXTS)


def test_a_folder_that_holds_no_model(make_settings, tmp_path):
    (tmp_path / "notes").mkdir()
    with pytest.raises(ModelFailed, match="cannot be loaded"):
        Reranker(make_settings(), str(tmp_path / "notes")).scores(QUERY, TEXTS)


def test_a_device_that_is_not_here(folder, make_settings):
    with pytest.raises(ModelUnavailable, match="The device cuda:7 cannot be used"):
        Reranker(make_settings(device="cuda:7"), str(folder)).scores(QUERY, TEXTS)


@pytest.fixture
def hub_cache(tmp_path, monkeypatch) -> Path:
    """A hub cache without any model."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "hub"


def test_without_weights_there_is_none_and_the_reason_says_how_to_have_it(make_settings, hub_cache):
    reranker, reason = pick_reranker(make_settings())
    assert reranker is None
    assert "models pull bge-reranker-v2-m3" in reason
    assert pick_reranker(make_settings(reranker="none"))[0] is None


def test_weights_in_the_hub_s_cache_are_taken(make_settings, hub_cache, folder):
    repository = hub_cache / "models--BAAI--bge-reranker-v2-m3"
    shutil.copytree(folder, repository / "snapshots" / "0123abcd")
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("0123abcd")
    for setting in ("auto", "bge-reranker-v2-m3"):
        reranker, _ = pick_reranker(make_settings(reranker=setting))
        assert reranker is not None
        assert reranker.name == "BAAI/bge-reranker-v2-m3"
        assert len(reranker.scores(QUERY, TEXTS)) == len(TEXTS)


def test_a_folder_that_was_named_is_taken(make_settings, folder):
    reranker, reason = pick_reranker(make_settings(reranker=str(folder)))
    assert reranker is not None
    assert reason.endswith("was chosen.")


def test_a_reranker_that_was_named_and_is_not_here_is_an_error(make_settings, hub_cache):
    with pytest.raises(ModelMissing, match="is not on this machine") as caught:
        pick_reranker(make_settings(reranker="bge-reranker-v2-m3"))
    assert "models pull bge-reranker-v2-m3" in caught.value.hint
    with pytest.raises(ModelMissing) as caught:
        pick_reranker(make_settings(reranker="tests/none"))
    assert "models pull hf:tests/none" in caught.value.hint


def test_it_is_loaded_when_it_is_first_needed(make_settings, folder):
    reranker = Reranker(make_settings(), str(folder))
    assert reranker._loaded is None
    reranker.close()
    assert reranker.scores(QUERY, TEXTS[:1])
    assert reranker.device == "cpu"
    loaded = reranker._loaded
    reranker.scores(QUERY, TEXTS[:1])
    assert reranker._loaded is loaded
    reranker.close()
    reranker.close()
    assert loaded.model is None


def test_it_goes_where_questions_go_even_before_it_is_loaded(folder, make_settings, monkeypatch):
    monkeypatch.setattr(torch_model, "_best_device", lambda: "cpu:0")  # the CPU by another name stands for the card
    reranker = Reranker(make_settings(), str(folder))
    reranker.move(to_card=False)
    assert reranker.device == "cpu"
    before = reranker.scores(QUERY, TEXTS[:2])
    reranker.move(to_card=True)
    assert reranker.device == "cpu:0"
    assert reranker.scores(QUERY, TEXTS[:2]) == pytest.approx(before, abs=0.02)
    reranker.close()
