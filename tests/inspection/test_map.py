"""The map of a library: the widest directions, the question in its place, the same every time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from fakes.hash_embedder import HashEmbedder
from material import write_notes

from rag.errors import LibraryEmpty
from rag.index.chunking.chunks import ChunkProfile
from rag.index.library import Library
from rag.index.plan import make_plan
from rag.index.sync import apply_plan
from rag.inspection import map as maps
from rag.inspection.map import draw_map
from rag.retrieval.retriever import Retriever
from rag.sources.workers import ReaderPool

PROFILE = ChunkProfile(100, 0)


def fill(library: Library, root: Path, readers: ReaderPool, count: int) -> HashEmbedder:
    embedder = HashEmbedder()
    notes = {f"{'ab'[number % 2]}/note{number}.md": f"Note {number} of the pump." for number in range(count)}
    for _ in apply_plan(library, make_plan(library, write_notes(root, notes), PROFILE), embedder, readers, PROFILE):
        pass
    return embedder


def test_a_map_shows_all_passages_the_question_and_what_was_found(
    library: Library, tmp_path: Path, readers: ReaderPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = fill(library, tmp_path / "notes", readers, 12)
    found = Retriever(libraries=(library,), embedder=embedder).search("note 7 pump")
    vector = embedder.embed_query("note 7 pump")
    drawn = draw_map(library, found.hits, vector)
    assert len(drawn.spots) + len(drawn.hits) == drawn.total == 12
    assert [spot.chunk.id for spot in drawn.hits] == [hit.chunk.id for hit in found.hits[: maps.HITS]]
    assert drawn == draw_map(library, found.hits, vector)

    # Distances on the map are those in the plane of the two largest singular values.
    shown = [*drawn.hits, *drawn.spots]
    rows = np.array([library.vectors.get([spot.chunk.id])[spot.chunk.id] for spot in shown])
    left, values, _ = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    assert drawn.held == pytest.approx((values[:2] ** 2).sum() / (values**2).sum())
    flat = left[:, :2] * values[:2]
    wanted = np.linalg.norm(flat[:, np.newaxis] - flat, axis=-1)
    placed = np.array([(spot.x, spot.y) for spot in shown])
    ours = np.linalg.norm(placed[:, np.newaxis] - placed, axis=-1)
    assert ours == pytest.approx(wanted, abs=1e-9)
    assert drawn.question is not None
    # A question that is a passage, word for word, lies on it.
    first = drawn.spots[0]
    again = draw_map(library, found.hits, library.vectors.get([first.chunk.id])[first.chunk.id])
    assert again.question == pytest.approx((first.x, first.y), abs=1e-6)

    monkeypatch.setattr(maps, "SHOWN", 5)
    few = draw_map(library, found.hits[:2])
    assert len(few.hits) == 2
    assert 5 <= len(few.spots) + 2 <= 7
    assert few.total == 12
    assert few.question is None


def test_two_passages_make_no_map(library: Library, tmp_path: Path, readers: ReaderPool) -> None:
    fill(library, tmp_path / "notes", readers, 2)
    with pytest.raises(LibraryEmpty, match="too few passages"):
        draw_map(library)
