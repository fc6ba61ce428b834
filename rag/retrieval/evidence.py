"""How much the notes have to say about a question, judged from the search itself before anything is generated.

A few features of the search are weighed by a logistic model; its weights and cut-offs are data, ``evidence.json``
beside this module, fitted with ``python -m tests.bench.refusal --fit`` and stored with what they were fitted on and how
they did on questions held out. A score by itself says little: this embedder's cosines lie between 0.75 and 0.9 for
anything.

What no score can see is the near miss, where the notes speak of the topic and do not hold the answer: there the model
has to refuse.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

from rag.retrieval.clause import SURE
from rag.retrieval.language import language_of
from rag.retrieval.lexical import QueryTerms
from rag.types import Evidence, Hit, Stage, Verdict

FITTED = Path(__file__).with_suffix(".json")
"""Where the weights and cut-offs are."""

FEATURES = ("cosine", "contrast", "coverage", "margin", "agreement")
"""What is weighed where question and notes are in one language; see :func:`measure`."""

FEATURES_ACROSS = ("cosine", "contrast")
"""What is weighed where the passages found are in another language than the question: words say nothing there."""

FEATURES_UNMEASURED = ("coverage", "margin", "agreement", "standing")
"""What is weighed where it is not known what the embedder's cosines mean: nothing that depends on their scale."""

FEWEST_HITS = 6
"""Below this there is no background to stand out from."""

ABOVE = "above the cut-off"
"""The feature that says how far the strength lies above the cut-off that Footnote comes with, in log-odds: what a
library's own cut-off is compared with."""

_FIRST = 3  # passages that a verdict looks into
_COVERED = 0.6  # of the informative words: enough by itself where the embedder's cosines are not known
_LANGUAGE_SHOWS = 400  # characters of a passage
_SAYS = {
    Verdict.NONE: "The notes do not seem to speak of this",
    Verdict.SOME: "The notes may speak of this",
    Verdict.ENOUGH: "The notes seem to speak of this",
}


@dataclass(frozen=True, slots=True)
class Model:
    """A fitted logistic model.

    Attributes:
        intercept: Of the sum.
        weights: By feature.
        none: Strength below which the verdict is *none*.
        enough: Strength from which on it is *enough*.
        languages: What is added to the sum for a question in a language, by its code: this embedder's cosines are
            higher in some than in others.
    """

    intercept: float
    weights: Mapping[str, float]
    none: float
    enough: float
    languages: Mapping[str, float] = field(default_factory=dict)

    def strength(self, features: Mapping[str, float], language: str = "") -> float:
        """How likely the notes speak of it, 0 to 1, if half of all questions were about something else."""
        total = self.intercept + self.languages.get(language, 0.0)
        total += sum(weight * features[name] for name, weight in self.weights.items())
        return 1 / (1 + math.exp(-total))

    def stricter(self, by: float) -> Model:
        """The model with the lower cut-off raised by so much, in log-odds; the upper one is not below it."""
        if not by:
            return self
        none = 1 / (1 + math.exp(-(_log_odds(self.none) + by)))
        return replace(self, none=none, enough=max(none, self.enough))

    def verdict(self, strength: float) -> Verdict:
        """The verdict at a strength."""
        if strength < self.none:
            return Verdict.NONE
        return Verdict.SOME if strength < self.enough else Verdict.ENOUGH


@dataclass(frozen=True, slots=True)
class Fitted:
    """The models for one embedder: the question in the language of the passages found, and in another; and one for
    embedders that none was fitted for, which refuses nothing by itself and is there to be calibrated."""

    embedder: str
    within: Model
    across: Model
    unmeasured: Model


@cache
def fitted() -> Fitted:
    """The models of :data:`FITTED`."""
    stored: dict[str, Any] = json.loads(FITTED.read_text(encoding="utf-8"))
    return Fitted(stored["embedder"], *(Model(**stored[name]) for name in ("within", "across", "unmeasured")))


def judge(
    legs: Sequence[Stage],
    hits: Sequence[Hit],
    query: str,
    query_terms: QueryTerms,
    embedder: str,
    strictness: float = 0.0,
) -> Evidence:
    """The verdict on a search.

    Args:
        legs: What each leg found; those named ``dense`` and ``lexical`` are looked at, and ``clause``.
        hits: The final ranking.
        query: What was searched.
        query_terms: Its terms with their weights.
        embedder: The embedder's name; with another than the models were fitted for, only the library's own cut-off
            refuses anything.
        strictness: The library's own cut-off (see :attr:`rag.types.LibrarySettings.evidence`).
    """
    stages = {stage.name: stage for stage in legs}
    dense = stages["dense"]
    if not hits or not dense.hits:
        return Evidence(Verdict.NONE, "Nothing was found.")
    features = measure(dense, stages.get("lexical"), hits, query_terms)
    figures = (
        f"best cosine {features['cosine']:.3f}, {features['contrast']:.3f} above the background; the first passages"
        f" hold {features['coverage']:.2f} of the question's informative words"
    )
    if (clause := stages.get("clause")) and clause.hits and clause.weight == SURE:
        return Evidence(Verdict.ENOUGH, f"The section that is asked for is in the notes: {figures}.", features)
    if len(dense.hits) < FEWEST_HITS:
        return Evidence(Verdict.SOME, f"Too few passages to judge by: {figures}.", features)
    language = language_of(query)
    across = is_across(language, dense)
    if embedder != fitted().embedder:
        return _unmeasured(features, figures, embedder, 0.0 if across else strictness, across)
    shipped = fitted().across if across else fitted().within
    model, strength = shipped.stricter(strictness), shipped.strength(features, language)
    figures += (
        f", in {'another' if across else 'the same'} language; strength {strength:.2f}"
        f" (none below {model.none:.2f}{', as kept for this library' if strictness else ''},"
        f" enough from {model.enough:.2f})"
    )
    above = _log_odds(strength) - _log_odds(shipped.none)
    features |= {"across languages": float(across), "strength": strength, ABOVE: above}
    verdict = model.verdict(strength)
    return Evidence(verdict, f"{_SAYS[verdict]}: {figures}.", features)


def _unmeasured(features: dict[str, float], figures: str, embedder: str, strictness: float, across: bool) -> Evidence:
    """The verdict where nothing was fitted for the embedder: *none* only by the library's own cut-off."""
    shipped = fitted().unmeasured
    strength, model = shipped.strength(features), shipped.stricter(strictness)
    verdict = Verdict.ENOUGH if features["coverage"] >= _COVERED else Verdict.SOME
    if not across:  # where words say nothing, neither does the model
        features |= {"strength": strength, ABOVE: _log_odds(strength) - _log_odds(shipped.none)}
    if strictness and model.verdict(strength) is Verdict.NONE:
        why = f"{figures}; strength {strength:.2f} (none below {model.none:.2f}, as kept for this library)"
        return Evidence(Verdict.NONE, f"{_SAYS[Verdict.NONE]}: {why}.", features)
    return Evidence(verdict, f"What {embedder}'s cosines mean was not measured: {figures}.", features)


def _log_odds(chance: float) -> float:
    chance = min(max(chance, 1e-12), 1 - 1e-12)
    return math.log(chance / (1 - chance))


def measure(dense: Stage, lexical: Stage | None, hits: Sequence[Hit], query_terms: QueryTerms) -> dict[str, float]:
    """The features of a search, none of which depends much on how many passages a library holds.

    Returns:
        ``cosine``, the best; ``contrast``, how far it stands above the background, the mean of the lower half of the
        hits; ``coverage``, the share of the question's informative words that one of the first three passages holds;
        ``margin``, how far the best BM25 score stands above the sixth, as a share of it; ``agreement``, one by the rank
        in the keyword leg of the passage that the dense leg put first; ``standing``, the contrast by the standard
        deviation of the other hits' cosines.
    """
    cosines = [hit.score for hit in dense.hits]
    found = lexical.hits if lexical else ()
    first = dense.hits[0].chunk.id
    contrast, spread = cosines[0] - fmean(cosines[len(cosines) // 2 :]), pstdev(cosines[1:] or cosines)
    return {
        "cosine": cosines[0],
        "contrast": contrast,
        "coverage": max((query_terms.coverage(hit.chunk) for hit in hits[:_FIRST]), default=0.0),
        "margin": 1 - found[min(5, len(found) - 1)].score / found[0].score if found else 0.0,
        "agreement": next((1 / hit.rank for hit in found if hit.chunk.id == first), 0.0),
        "standing": contrast / spread if spread else 0.0,
    }


def is_across(language: str, dense: Stage) -> bool:
    """Whether most of the first passages are in another language than the question's."""
    languages = Counter(language_of(hit.chunk.text[:_LANGUAGE_SHOWS]) for hit in dense.hits[:_FIRST])
    return languages.most_common(1)[0][0] != language
