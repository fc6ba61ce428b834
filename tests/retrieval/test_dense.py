import numpy as np
import pytest
from material import make_document, make_file

from rag.index.catalog import Indexed
from rag.index.chunking.chunks import Piece
from rag.index.library import Library
from rag.index.selection import Selection, select
from rag.retrieval import dense
from rag.retrieval.dense import search_dense
from rag.types import FileState, Filters, Span


@pytest.fixture
def vectors() -> np.ndarray:
    rows = np.random.default_rng(1).normal(size=(400, 16)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture
def filled(library: Library, vectors: np.ndarray) -> Library:
    """40 files of ten chunks."""
    for number in range(40):
        file, text = make_file(f"{number}.md"), "0123456789"
        ids = library.catalog.next_chunk_ids(file, 10)
        pieces = [Piece(Span(at, at + 1), (), None, None, 1) for at in range(10)]
        library.vectors.add(ids, vectors[10 * number : 10 * number + 10].tolist())
        ending = Indexed(FileState.INDEXED, "", str(number), "r")
        library.catalog.put_file(file, make_document(text), pieces, ids, ending)
    return library


def _selected(library: Library, *files: str) -> Selection:
    selection = select(library.catalog, Filters(files=files))
    assert selection is not None
    return selection


def _nearest(vectors: np.ndarray, query: np.ndarray, rows: list[int], limit: int) -> list[str]:
    best = sorted(rows, key=lambda row: -float(vectors[row] @ query))[:limit]
    return [f"{row // 10}.md:{row % 10}" for row in best]


@pytest.mark.parametrize("few", [2000, 0])
@pytest.mark.parametrize("files", [("7.md",), ("1*.md",), ("?.md", "*.md")])
def test_filters_never_starve_the_best_and_keep_their_order(
    filled: Library, vectors: np.ndarray, files: tuple[str, ...], few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dense, "_FEW", few)
    query = np.random.default_rng(2).normal(size=16).astype(np.float32)
    within = _selected(filled, *files)
    hits = search_dense(filled, query.tolist(), 8, within).hits
    names = {"7.md": [7], "1*.md": [1, *range(10, 20)]}.get(files[0], list(range(40)))
    rows = (
        [10 * number + at for number in names for at in range(10)]
        if files[0] != "7.md"
        else [10 * number + at for number in (7, 17, 27, 37) for at in range(10)]
    )
    assert [f"{hit.chunk.path}:{hit.chunk.text}" for hit in hits] == _nearest(vectors, query, rows, 8)
    assert [hit.rank for hit in hits] == list(range(1, 9))


def test_fewer_chunks_than_asked_for_are_all_found(filled: Library, vectors: np.ndarray) -> None:
    within = _selected(filled, "/7.md", "*/7.md")
    assert within.count == 0
    assert search_dense(filled, vectors[0].tolist(), 30, within).hits == ()
    within = _selected(filled, "17.md")
    assert len(search_dense(filled, vectors[0].tolist(), 30, within).hits) == 10
