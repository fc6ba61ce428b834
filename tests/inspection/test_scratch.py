"""A library for trying things out: what is known is not read or embedded again, and nothing is left of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from fakes.hash_embedder import HashEmbedder
from material import make_document, make_file, write_notes

from rag.errors import SourceError
from rag.index.chunking.chunks import ChunkProfile
from rag.index.library import Library
from rag.index.plan import make_plan
from rag.index.sync import apply_plan
from rag.inspection.scratch import KnownVectors, ReadOnce, fill, scratch_library, sweep
from rag.sources.workers import ReaderPool
from rag.types import DEFAULT_READING, LibrarySettings, ReadOptions, SourceDocument, SourceFile

PROFILE = ChunkProfile(100, 0)


class CountingPool(ReaderPool):
    """Readers that count what they read."""

    def __init__(self) -> None:
        super().__init__(1, 60.0)
        self.read: list[str] = []

    def read_all(
        self, files: Iterable[tuple[SourceFile, ReadOptions]]
    ) -> Iterator[tuple[SourceFile, SourceDocument | SourceError]]:
        for file, _ in files:
            self.read.append(file.path)
            yield file, make_document(file.path)


def test_a_file_is_read_once() -> None:
    pool = CountingPool()
    once = ReadOnce(pool)
    files = [(make_file(path), DEFAULT_READING) for path in ("a.md", "b.md")]
    assert [file.path for file, _ in once.read_all(files[:1])] == ["a.md"]
    both = {file.path: document for file, document in once.read_all(files)}
    assert {path: isinstance(document, SourceDocument) and document.text for path, document in both.items()} == {
        "a.md": "a.md",
        "b.md": "b.md",
    }
    assert pool.read == ["a.md", "b.md"]


@pytest.mark.parametrize("weights", [False, True])
def test_vectors_that_a_library_has_are_taken_from_it(
    library: Library, tmp_path: Path, readers: ReaderPool, weights: bool
) -> None:
    embedder = HashEmbedder(weights=weights)
    root = write_notes(tmp_path / "notes", {"a.md": "# A\n\nThe amber pump.", "b.md": "# B\n\nThe birch pump."})
    for _ in apply_plan(library, make_plan(library, root, PROFILE), embedder, readers, PROFILE):
        pass
    before = embedder.embedded
    known = KnownVectors(embedder, library)
    with scratch_library(tmp_path, LibrarySettings()) as scratch:
        for _ in fill(scratch, library.catalog.files(), known, ReadOnce(readers), PROFILE):
            pass
        assert embedder.embedded == before
        assert known.computed == 0
        here, there = ({*store.vectors.weights([*store.vectors.ids()]).values()} for store in (scratch, library))
        assert here == there
        vectors = [
            sorted(map(tuple, store.vectors.get([*store.vectors.ids()]).values())) for store in (scratch, library)
        ]
        assert vectors[0] == vectors[1]
    fresh = known.embed_passages(["something new", "something new"])
    assert fresh.vectors[0] == fresh.vectors[1] == embedder.embed_passages(["something new"]).vectors[0]
    assert known.computed == 1
    assert (fresh.weights is not None) == weights


def test_files_that_are_gone_are_left_out_and_what_was_left_behind_is_swept(
    library: Library, tmp_path: Path, readers: ReaderPool
) -> None:
    embedder = HashEmbedder()
    root = write_notes(tmp_path / "notes", {"a.md": "The amber pump.", "b.md": "The birch pump."})
    for _ in apply_plan(library, make_plan(library, root, PROFILE), embedder, readers, PROFILE):
        pass
    (root / "a.md").unlink()
    with scratch_library(tmp_path, LibrarySettings()) as scratch:
        for _ in fill(scratch, library.catalog.files(), embedder, ReadOnce(readers), PROFILE):
            pass
        assert [record.path for record in scratch.catalog.files()] == ["b.md"]
    (tmp_path / "scratch-left").mkdir()
    (tmp_path / "scratch-left" / "catalog.sqlite").write_text("notes")
    sweep(tmp_path)
    assert not [*tmp_path.glob("scratch-*")]
    assert (root / "b.md").exists()
