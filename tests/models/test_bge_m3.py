import shutil
from pathlib import Path

import numpy as np
import pytest
from fakes import tiny_m3

from rag.errors import InputTooLong, ModelFailed
from rag.models.bge_m3 import multi_vector_score
from rag.models.sentence_transformer import SentenceTransformerEmbedder

TEXTS = [
    "the tide of the moon",
    "pump 12 runs at 16 bar, pump 13 at 4 bar",
    "the ö",  # a character that the vocabulary does not know
    "",
    "a note about the sea " * 12,
    *(f"note number {number} about " + "the water pressure of a valve " * (number % 7) for number in range(20)),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tiny_m3.save_embedder(tmp_path_factory.mktemp("m3") / "model")


@pytest.fixture(scope="module")
def states(folder) -> list[np.ndarray]:
    encoder = tiny_m3.NumpyEncoder(folder)
    return [encoder.states(tiny_m3.token_ids(folder, text)) for text in TEXTS]


@pytest.fixture
def embedder(folder, make_settings):
    embedder = SentenceTransformerEmbedder(make_settings(embed_batch_tokens=256), str(folder))
    yield embedder
    embedder.close()


def _weights(folder: Path, text: str, states: np.ndarray) -> dict[int, float]:
    """The published formula in plain numpy."""
    weight, bias = tiny_m3.linear(folder, "sparse_linear.pt")
    found: dict[int, float] = {}
    for token, state in zip(tiny_m3.token_ids(folder, text), states, strict=True):
        value = max(0.0, float((weight @ state + bias)[0]))
        if value and token not in (tiny_m3.CLS, tiny_m3.PAD, tiny_m3.EOS, tiny_m3.UNK):
            found[token] = max(found.get(token, 0.0), value)
    return found


def _matrix(folder: Path, states: np.ndarray) -> np.ndarray:
    weight, bias = tiny_m3.linear(folder, "colbert_linear.pt")
    rows = np.array([weight @ state + bias for state in states[1:]])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_the_vectors_are_the_library_s_own_to_the_last_bit(embedder, folder, make_settings):
    from sentence_transformers import SentenceTransformer

    own = SentenceTransformer(str(folder), device="cpu")
    for text in TEXTS[:5]:
        (read,) = embedder._run([text], "", embedder._heads.vectors_and_weights)
        assert np.array_equal(own.encode([text])[0], read[0])
    assert np.allclose(embedder.embed_documents(TEXTS), own.encode(TEXTS), atol=1e-6)


def test_vectors_are_the_first_token_s_state(embedder, states):
    first = np.array([of_text[0] / np.linalg.norm(of_text[0]) for of_text in states])
    assert np.allclose(embedder.embed_documents(TEXTS), first, atol=1e-5)


def test_sparse_weights_are_the_published_formula(embedder, folder, states):
    found = embedder.embed_passages(TEXTS)
    assert np.array_equal(found.vectors, embedder.embed_documents(TEXTS))
    assert found.weights is not None
    for text, of_text, weights in zip(TEXTS, states, found.weights, strict=True):
        expected = _weights(folder, text, of_text)
        assert weights.keys() == expected.keys()
        assert all(abs(weights[token] - expected[token]) < 1e-5 for token in expected)
    assert tiny_m3.UNK in tiny_m3.token_ids(folder, TEXTS[2])
    assert found.weights[3] == {}
    assert max(map(len, found.weights)) > 5
    assert embedder.sparse_weights(TEXTS) == found.weights


def test_a_token_that_repeats_has_its_greatest_weight(embedder, folder, states):
    repeated = TEXTS[4]
    ids = tiny_m3.token_ids(folder, repeated)
    weight, bias = tiny_m3.linear(folder, "sparse_linear.pt")
    every = (states[4] @ weight.T + bias)[:, 0]
    (weights,) = embedder.sparse_weights([repeated])
    assert len(weights) < len(ids) / 5
    for token, value in weights.items():
        own = every[[at for at, id_ in enumerate(ids) if id_ == token]]
        assert len(own) > 1
        assert value == pytest.approx(own.max(), abs=1e-5)


def test_a_question_has_the_weights_of_its_words(embedder):
    question = embedder.embed_question("tide of the moon")
    assert question.vectors[0] == embedder.embed_query("tide of the moon")
    assert question.weights == embedder.sparse_weights(["tide of the moon"])


def test_token_vectors_are_the_published_formula(embedder, folder, states):
    found = embedder.token_vectors(TEXTS)
    for of_text, matrix in zip(states, found, strict=True):
        assert matrix.dtype == np.float32
        assert matrix.shape == (len(of_text) - 1, tiny_m3.WIDTH)
        assert np.allclose(matrix, _matrix(folder, of_text), atol=1e-5)


def test_the_score_is_the_mean_of_the_best_cosines(embedder, folder, states):
    query, passage = (_matrix(folder, states[at]) for at in (0, 1))
    expected = np.mean([max(float(row @ other) for other in passage) for row in query])
    found = embedder.token_vectors(TEXTS[:2])
    assert multi_vector_score(*found) == pytest.approx(expected, abs=1e-5)
    assert multi_vector_score(found[0], found[0]) == pytest.approx(1.0, abs=1e-6)


def test_batches_and_padding_change_nothing(embedder, folder, make_settings):
    alone = [embedder.embed_passages([text]) for text in TEXTS]
    together = SentenceTransformerEmbedder(make_settings(embed_batch_tokens=100_000), str(folder))
    found = together.embed_passages(TEXTS)
    assert np.allclose(found.vectors, [one.vectors[0] for one in alone], atol=1e-5)
    for weights, one in zip(found.weights, alone, strict=True):
        assert weights == pytest.approx(one.weights[0], abs=1e-5)
    for matrix, text in zip(together.token_vectors(TEXTS), TEXTS, strict=True):
        assert np.allclose(matrix, embedder.token_vectors([text])[0], atol=1e-5)


def test_a_model_without_heads_has_neither(folder, make_settings, tmp_path):
    plain = tmp_path / "plain"
    shutil.copytree(folder, plain)
    (plain / "colbert_linear.pt").unlink()
    embedder = SentenceTransformerEmbedder(make_settings(), str(plain))
    assert embedder.embed_passages(["tide"]).weights is None
    assert embedder.sparse_weights(["tide"]) is None
    assert embedder.token_vectors(["tide"]) is None


def test_no_texts(embedder):
    assert embedder.embed_passages([]).weights == []
    assert embedder.token_vectors([]) == []


def test_a_text_too_long_is_refused_never_cut(embedder):
    with pytest.raises(InputTooLong):
        embedder.token_vectors(["tide " * tiny_m3.LONGEST])


@pytest.mark.parametrize("damage", ["", "no weights", "of another width"])
def test_a_head_that_cannot_be_read_is_named(folder, make_settings, tmp_path, damage):
    import torch

    broken = tmp_path / "broken"
    shutil.copytree(folder, broken)
    if damage == "of another width":
        torch.save(torch.nn.Linear(8, 1).state_dict(), broken / "sparse_linear.pt")
    else:
        (broken / "sparse_linear.pt").write_text(damage)
    with pytest.raises(ModelFailed, match=r"sparse_linear\.pt cannot be read"):
        SentenceTransformerEmbedder(make_settings(), str(broken))
