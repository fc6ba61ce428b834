from pathlib import Path

from fakes.hash_embedder import HashEmbedder

from tests.bench.cached import CachedEmbedder, Kept


def test_no_vector_is_computed_twice_even_by_another_process(tmp_path: Path) -> None:
    real = HashEmbedder()
    first = CachedEmbedder(real, Kept(tmp_path / "kept.sqlite"))
    vectors = first.embed_documents(["a note", "another"])
    assert real.embedded == 2
    again = CachedEmbedder(real, Kept(tmp_path / "kept.sqlite"))
    assert again.embed_documents(["another", "a note"]) == vectors[::-1]
    assert real.embedded == 2


def test_questions_and_passages_and_other_models_are_kept_apart(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "kept.sqlite")
    one, other = HashEmbedder("one"), HashEmbedder("other")
    passage = CachedEmbedder(one, kept).embed_documents(["text"])[0]
    CachedEmbedder(one, kept).embed_query("text")
    assert one.embedded == 2
    assert CachedEmbedder(other, kept).embed_documents(["text"])[0] != passage
