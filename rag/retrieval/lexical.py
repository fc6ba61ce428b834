"""The keyword leg: BM25 over the library's terms, and how much it may be trusted for this query."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

from rag.index.catalog import Catalog
from rag.index.terms import terms
from rag.types import Chunk, Hit, Stage

MINIMUM_COVERAGE = 0.35
"""Below this share of the query's informative words in its best hit, the leg abstains.

Source: measured on XQuAD (English paragraphs; English, German, Chinese and Arabic questions, e5-small): plain fusion of
both legs lost up to a quarter of recall@5 on questions in another language; with this rule it lost nothing.
"""


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """A query's terms with their inverse document frequency in the libraries searched."""

    weights: dict[str, float]

    @property
    def mass(self) -> float:
        """Sum of all weights."""
        return sum(self.weights.values())

    def coverage(self, chunk: Chunk) -> float:
        """Share of the query's weight whose terms the chunk holds, 0 to 1."""
        if not self.mass:
            return 0.0
        held = set(terms("\n".join((chunk.title, *chunk.heading_path, chunk.context, chunk.text))))
        return sum(weight for term, weight in self.weights.items() if term in held) / self.mass


def weigh_terms(catalogs: Sequence[Catalog], query: str) -> QueryTerms:
    """Weighs a query's terms over all the chunks of the catalogs; a term that none of them holds weighs most.

    Source: the BM25 inverse document frequency, ``log(1 + (N - n + 0.5) / (n + 0.5))``.
    """
    query_terms = list(dict.fromkeys(terms(query)))
    total = sum(catalog.counts()[1] for catalog in catalogs)
    counts = [catalog.document_frequencies(query_terms) for catalog in catalogs]
    holding = {term: sum(count[term] for count in counts) for term in query_terms}
    return QueryTerms({term: math.log(1 + (total - n + 0.5) / (n + 0.5)) for term, n in holding.items()})


def search_lexical(catalog: Catalog, query_terms: QueryTerms, limit: int) -> Stage:
    """Searches the keyword index; its weight is 0 when it knows nothing about this query."""
    started = time.perf_counter()
    found = catalog.search_terms(list(query_terms.weights), limit)
    hits = tuple(Hit(chunk, score, rank) for rank, (chunk, score) in enumerate(found, start=1))
    coverage = query_terms.coverage(hits[0].chunk) if hits else 0.0
    weight = 1.0 if coverage >= MINIMUM_COVERAGE else 0.0
    if not hits:
        note = "No word of the question occurs in this library; this leg has no vote."
    elif weight == 0.0:
        note = f"Its best hit holds {coverage:.2f} of the question's informative words, too little: it has no vote."
    else:
        note = f"Its best hit holds {coverage:.2f} of the question's informative words."
    return Stage("lexical", "bm25", hits, time.perf_counter() - started, weight, note)
