"""How much the notes have to say about a question, judged from the search itself before anything is generated."""

from __future__ import annotations

from statistics import fmean

from rag.retrieval.lexical import QueryTerms
from rag.types import Evidence, Hit, Stage, Verdict

ENOUGH = 0.055
NONE = 0.04
NONE_WITHOUT_WORDS = 0.025
COVERAGE_WEIGHT = 0.05
"""Cut-offs of the strength, and the weight of its second part.

Source: ``python -m tests.bench.refusal --sets xquad-en,xquad-de,xquad-zh`` with multilingual-e5-small, 300 questions
that the notes answer and 300 about removed articles; chosen to refuse few wrongly rather than many rightly, since what
is left the model can still refuse. They hold for that embedder's cosines.
"""

CALIBRATED_FOR = "multilingual-e5-small"

FEWEST_HITS = 6
"""Below this there is no background to stand out from."""

_SHARED = 0.05
"""Coverage below this means that question and notes have no words in common, as across languages."""


def judge(dense: Stage, hits: tuple[Hit, ...], query_terms: QueryTerms, embedder: str) -> Evidence:
    """The verdict on a search.

    Its strength is *contrast*, how far the best cosine stands above the background (the mean of the lower half of the
    dense hits), and a little of *coverage*, the share of the question's informative words that one of the first three
    passages holds. Cosines themselves say little: this embedder's lie between 0.7 and 0.9 for anything.

    Args:
        dense: What the dense leg found.
        hits: The final ranking.
        query_terms: The query's terms with their weights.
        embedder: The embedder's name; with another than :data:`CALIBRATED_FOR` nothing is refused.
    """
    if not dense.hits:
        return Evidence(Verdict.NONE, "Nothing was found.")
    cosines = [hit.score for hit in dense.hits]
    contrast = cosines[0] - fmean(cosines[len(cosines) // 2 :])
    coverage = max((query_terms.coverage(hit.chunk) for hit in hits[:3]), default=0.0)
    strength = contrast + COVERAGE_WEIGHT * coverage
    features = {"cosine": cosines[0], "contrast": contrast, "coverage": coverage, "strength": strength}
    figures = (
        f"best cosine {cosines[0]:.3f}, {contrast:.3f} above the background; "
        f"the first passages hold {coverage:.2f} of the question's informative words"
    )
    if len(cosines) < FEWEST_HITS:
        return Evidence(Verdict.SOME, f"Too few passages to judge by: {figures}.", features)
    if strength >= ENOUGH:
        return Evidence(Verdict.ENOUGH, f"The notes seem to speak of this: {figures}.", features)
    lowest = NONE if coverage >= _SHARED else NONE_WITHOUT_WORDS
    if strength < lowest and embedder == CALIBRATED_FOR:
        return Evidence(Verdict.NONE, f"The notes do not seem to speak of this: {figures}.", features)
    return Evidence(Verdict.SOME, f"The notes may speak of this: {figures}.", features)
