"""The keyword leg: BM25 over the library's terms, and how much it may be trusted for this query."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from rag.index.catalog import Catalog
from rag.index.library import Library
from rag.index.selection import Selection
from rag.index.terms import terms
from rag.retrieval.ranking import looked_up
from rag.types import Chunk, Hit, Stage

_K1, _B = 1.2, 0.75
"""Source: Robertson and Zaragoza 2009, "The probabilistic relevance framework"; the values of SQLite's FTS5."""

_AFFORDABLE = 6_000
"""Chunks that a search ranks: beyond, common terms do not find chunks, but are counted in those that rarer ones find.

Source: measured with 100,000 chunks, where each chunk that is ranked costs one to two microseconds.
"""

_CANDIDATES = 100
"""Chunks whose terms are all counted."""

_FEW = 500
"""Chunks let through by filters up to which the terms of all of them are counted."""

_DOUBTED, _TRUSTED = 0.3, 0.5
_MARGIN_WEIGHT = 0.3
_LEAST_VOTE, _MORE_BY_COVERAGE = 0.8, 1.2
"""The leg's confidence is the share of the query's informative words in its best hit, and a little of how far that hit
stands above the next one. Up to the first value the leg abstains, from the second on it has its full vote, which is the
larger the more of those words the hit holds: up to twice the dense leg's, since in languages that the embedder knows
less well words are the better guide (JSQuAD: .947 with it, .934 without, keyword leg alone .950).

Source: nDCG@10 of both legs fused, XQuAD with multilingual-e5-small, 200 questions a set (de, zh, ar, en; German over
English; German over half German, half English): .983 .979 .948 .996 .950 .889. By the share alone, with a step at .35,
.983 .977 .940 .996 .950 .882; with a full vote always, .982 .984 .941 .996 .863 .817; dense alone, .965 .954 .927 .984
.950 .869.
"""


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """A query's terms with their inverse document frequency in the libraries searched."""

    weights: Mapping[str, float]

    @property
    def mass(self) -> float:
        """Sum of all weights."""
        return sum(self.weights.values())

    def coverage(self, chunk: Chunk) -> float:
        """Share of the query's weight whose terms the chunk holds, 0 to 1."""
        return self.share(terms("\n".join((chunk.title, *chunk.heading_path, chunk.context, chunk.text))))

    def share(self, held: Sequence[str]) -> float:
        """Share of the query's weight whose terms are among those held, 0 to 1."""
        if not self.weights:
            return 0.0
        return sum(self.weights[term] for term in self.weights.keys() & set(held)) / self.mass


def weigh_terms(catalogs: Sequence[Catalog], query: str) -> QueryTerms:
    """Weighs a query's terms over all the chunks of the catalogs; a term that none of them holds weighs most.

    Source: the BM25 inverse document frequency, ``log(1 + (N - n + 0.5) / (n + 0.5))``.
    """
    query_terms = list(dict.fromkeys(terms(query)))
    total = sum(catalog.total() for catalog in catalogs)
    counts = [catalog.document_frequencies(query_terms) for catalog in catalogs]
    holding = {term: sum(count[term] for count in counts) for term in query_terms}
    return QueryTerms({term: math.log(1 + (total - n + 0.5) / (n + 0.5)) for term, n in holding.items()})


def search_lexical(library: Library, query_terms: QueryTerms, limit: int, within: Selection | None = None) -> Stage:
    """Searches the keyword index; its weight is 0 when it knows nothing about this query.

    Args:
        library: The library.
        query_terms: The query's terms with their weights.
        limit: Hits at most.
        within: The chunks that the search is held to; None: all.
    """
    started = time.perf_counter()
    held = _candidates(library.catalog, query_terms, max(limit, _CANDIDATES), within)
    scores = _scores(query_terms, held)
    best = sorted(scores, key=lambda id_: -scores[id_])[:limit]
    hits = looked_up(library.catalog, [(id_, scores[id_]) for id_ in best])
    coverage = query_terms.share(held[hits[0].chunk.id]) if hits else 0.0
    margin = 1 - hits[1].score / hits[0].score if len(hits) > 1 else 0.0
    sure = (coverage + _MARGIN_WEIGHT * margin - _DOUBTED) / (_TRUSTED - _DOUBTED)
    weight = round(min(1.0, max(0.0, sure)) * (_LEAST_VOTE + _MORE_BY_COVERAGE * coverage), 2)
    return Stage("lexical", "bm25", hits, time.perf_counter() - started, weight, _note(hits, coverage, margin, weight))


def _candidates(
    catalog: Catalog, query_terms: QueryTerms, limit: int, within: Selection | None
) -> dict[str, list[str]]:
    """Chunks that hold the query's rarer terms, with all the terms of each."""
    condition = within.condition if within else None
    if within and within.count <= _FEW:
        return catalog.search_terms(list(query_terms.weights), _FEW, condition, ranked=False)
    rarest = sorted(query_terms.weights, key=lambda term: -query_terms.weights[term])
    total = catalog.total()
    affordable, ranked = 0, 0.0
    for term in rarest:
        ranked += (total + 1) / math.exp(query_terms.weights[term])
        if affordable and ranked > _AFFORDABLE:
            break
        affordable += 1
    found = catalog.search_terms(rarest[:affordable], limit, condition)
    if len(found) < limit and affordable < len(rarest):
        found = catalog.search_terms(rarest, limit, condition)
    return found


def _scores(query_terms: QueryTerms, held: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """The BM25 score of each chunk, by its id; a length is long or short beside those that were found with it."""
    weights = query_terms.weights
    average = fmean(len(all_terms) for all_terms in held.values()) if held else 1.0
    scores = {}
    for id_, all_terms in held.items():
        dampened = _K1 * (1 - _B + _B * len(all_terms) / average)
        counts = Counter(filter(weights.__contains__, all_terms))
        scores[id_] = sum(weights[term] * n * (_K1 + 1) / (n + dampened) for term, n in counts.items())
    return scores


def _note(hits: Sequence[Hit], coverage: float, margin: float, weight: float) -> str:
    if not hits:
        return "No word of the question occurs in what was searched; this leg has no vote."
    share = f"Its best hit holds {coverage:.2f} of the question's informative words"
    figures = f"{share} and stands {margin:.2f} above the next one"
    return f"{figures}, too little: it has no vote." if weight == 0.0 else f"{figures}."
