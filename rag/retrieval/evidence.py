"""How much the notes have to say about a question, judged from the search itself before anything is generated."""

from __future__ import annotations

from statistics import fmean

from rag.retrieval.lexical import QueryTerms
from rag.types import Evidence, Hit, Stage, Verdict

CONTRAST_ENOUGH = 0.045
CONTRAST_NONE = 0.02
COVERAGE_ENOUGH = 0.5
COVERAGE_NONE = 0.35

FEWEST_HITS = 6
"""Below this there is no background to stand out from."""


def judge(dense: Stage, hits: tuple[Hit, ...], query_terms: QueryTerms) -> Evidence:
    """The verdict on a search.

    Two features, neither of which is enough alone: *contrast*, how far the best cosine stands above the background (the
    mean of the lower half of the dense hits), and *coverage*, the share of the question's informative words that one of
    the first three passages holds. Cosines themselves say little: this embedder's lie between 0.7 and 0.9 for anything.
    """
    if not dense.hits:
        return Evidence(Verdict.NONE, "Nothing was found.")
    cosines = [hit.score for hit in dense.hits]
    background = fmean(cosines[len(cosines) // 2 :])
    contrast = cosines[0] - background
    coverage = max((query_terms.coverage(hit.chunk) for hit in hits[:3]), default=0.0)
    features = {"cosine": cosines[0], "contrast": contrast, "coverage": coverage}
    figures = (
        f"best cosine {cosines[0]:.3f}, {contrast:.3f} above the background; "
        f"the first passages hold {coverage:.2f} of the question's informative words"
    )
    if len(cosines) < FEWEST_HITS:
        return Evidence(Verdict.SOME, f"Too few passages to judge by: {figures}.", features)
    if contrast >= CONTRAST_ENOUGH or coverage >= COVERAGE_ENOUGH:
        return Evidence(Verdict.ENOUGH, f"The notes seem to speak of this: {figures}.", features)
    if contrast < CONTRAST_NONE and coverage < COVERAGE_NONE:
        return Evidence(Verdict.NONE, f"The notes do not seem to speak of this: {figures}.", features)
    return Evidence(Verdict.SOME, f"The notes may speak of this: {figures}.", features)
