"""The best passages once more, token by token: how near each token of the question comes to one of the passage."""

from __future__ import annotations

import time
from collections.abc import Sequence

from rag.index.chunking.chunks import embedded_text_of
from rag.models.base import Embedder
from rag.models.bge_m3 import multi_vector_score
from rag.retrieval.reranking import sorted_anew
from rag.types import Hit, Stage


def is_affordable(embedder: Embedder) -> bool:
    """Whether passages are compared token by token, each at the cost of a pass through the model: on a GPU."""
    return embedder.device.startswith(("cuda", "mps"))


def rescore(query: str, hits: Sequence[Hit], embedder: Embedder) -> Stage | None:
    """Sorts passages by their token vectors' score; None where the embedder has no such head.

    Source: Khattab and Zaharia 2020, "ColBERT" (late interaction), as Chen et al. 2024, M3-Embedding, do it.
    """
    started = time.perf_counter()
    vectors = embedder.token_vectors([query, *(embedded_text_of(hit.chunk) for hit in hits)])
    if vectors is None:
        return None
    of_query, *of_passages = vectors
    scores = [multi_vector_score(of_query, of_passage) for of_passage in of_passages]
    return Stage("multivector", "m3 multi-vector", sorted_anew(hits, scores), time.perf_counter() - started)
