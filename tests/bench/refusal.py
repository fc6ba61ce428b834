"""Does the verdict on the evidence tell what the notes speak of from what they do not?

``python -m tests.bench.refusal [--fit] [--fit-unmeasured] [--near-miss N]``

For each of five languages: the kept articles of ``qa/refusal`` as notes, questions about them (wrongly refused when the
verdict is *none*) and about removed articles (rightly refused). Beside each language's notes alone, a few articles of
them, and all languages with English notes of other topics together, since a verdict must not hang on the size of a
library; and questions in another language than the notes. Exits with 1 where a bar falls short: of all questions about
absent topics 95 % refused, of those that the notes answer at most 5 %; across languages at most 5 % of each pair.

``--fit`` fits ``rag/retrieval/evidence.json`` anew on the half of the articles that is there to develop with, and then
measures on the other half. ``--fit-unmeasured`` fits only the model for embedders that no other one was fitted for, on
each language's notes alone. ``--near-miss N`` asks the embedded model N questions of SQuAD 2, half of them without an
answer in the paragraphs that speak of their topic.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag.answering.chain import Answering, AnswerRun
from rag.index.library import Library
from rag.models.base import Embedder
from rag.models.bundled import BundledEmbedder
from rag.retrieval import evidence
from rag.retrieval.language import language_of
from rag.retrieval.lexical import weigh_terms
from rag.retrieval.retriever import Retriever
from rag.settings import load_settings, prepare_environment
from rag.types import AnswerDone, Retrieval, Trace, Verdict
from tests.bench import sets
from tests.bench.cached import CachedEmbedder, Kept, embedded_chat
from tests.bench.sets import Material, Passage, Question

LANGUAGES = {"en": "xquad-en", "de": "xquad-de", "zh": "xquad-zh", "ar": "xquad-ar", "ja": "jsquad-ja"}
PAIRS = ("de-en", "zh-en", "ar-en", "en-de", "en-zh", "en-ar")
"""Language of the questions, language of the notes."""

ACROSS = "across languages"
"""The feature that decides which model is used."""

REFUSED, WRONGLY = 0.95, 0.05
_WRONGLY_IN_FIT = 0.05
_ENOUGH_THOUGH_ABSENT = 0.005
_SHRINKAGE = 10.0
_NEAR_MISS_ARTICLES = 4


@dataclass(frozen=True, slots=True)
class Observation:
    """One search: what was searched, whether the notes speak of it, and what was seen."""

    group: str
    name: str
    language: str
    answerable: bool
    held_out: bool
    verdict: Verdict
    features: Mapping[str, float]


def main() -> None:
    """Searches everything, fits where that is wanted, and prints the rates."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fit", action="store_true", help="fit the verdict anew, and store it")
    parser.add_argument("--fit-unmeasured", action="store_true", help="only this: fit the model for other embedders")
    parser.add_argument("--near-miss", type=int, default=0, metavar="N", help="only this: ask the model N questions")
    options = parser.parse_args()
    prepare_environment()
    embedder = CachedEmbedder(BundledEmbedder(), Kept())
    if options.near_miss:
        near_miss(options.near_miss, embedder)
        return
    if options.fit_unmeasured:
        stored = json.loads(evidence.FITTED.read_text(encoding="utf-8"))
        _store(stored | {"unmeasured": unmeasured(list(observe_alone(embedder)))})
        return
    observed = list(observe(embedder))
    if options.fit:
        stored = fit(observed, embedder.identity.model)
        _store(stored)
        observed = [_judged_anew(observation) for observation in observed]
        _store(stored | {"held_out": figures(observed)})
    missed = report(observed)
    if missed:
        sys.exit("Short of a bar: " + "; ".join(missed))


def _store(stored: Mapping[str, Any]) -> None:
    evidence.FITTED.write_text(json.dumps(stored, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    evidence.fitted.cache_clear()


def near_miss(count: int, embedder: Embedder) -> None:
    """Questions whose topic the notes speak of: how many are refused by the verdict, and by verdict and model."""
    kinds = {
        "answered in the notes": sets.squad("squad2.json", "squad2", _NEAR_MISS_ARTICLES),
        "near miss": sets.squad("squad2.json", "squad2", _NEAR_MISS_ARTICLES, impossible=True),
    }
    print(f"{'question':<24}{'asked':>6}{'verdict none':>14}{'refused':>9}")
    with embedded_chat() as chat, sets.opened_library() as library:
        sets.fill(library, kinds["near miss"].passages, embedder, load_settings().chunk_tokens)
        answering = Answering(Retriever(libraries=(library,), embedder=embedder), chat, None, 512)
        for kind, material in kinds.items():
            answers = [_answer(answering, question.text) for question in sets.spread(material.questions, count // 2)]
            none = fmean(trace.retrieval.evidence.verdict is Verdict.NONE for trace in answers)
            refused = fmean(trace.answer.outcome == "not_in_notes" for trace in answers)
            print(f"{kind:<24}{len(answers):>6}{none:>14.3f}{refused:>9.3f}", flush=True)


def _answer(answering: Answering, question: str) -> Trace:
    *_, done = AnswerRun(answering, question).events()
    if not isinstance(done, AnswerDone):
        raise ValueError("The answer has no end.")
    return done.trace


# ------------------------------------------------------------------------------------------------------------- searches


def observe(embedder: Embedder) -> Iterator[Observation]:
    """All searches of the benchmark."""
    material = {language: _named(language, *sets.refusal(name)) for language, name in LANGUAGES.items()}
    yield from observe_alone(embedder)
    for language, (kept, absent) in material.items():
        few = set(list(dict.fromkeys(passage.article for passage in kept.passages))[::3])
        passages = [passage for passage in kept.passages if passage.article in few]
        asked = [question for question in kept.questions if question.article in few]
        yield from _searched("few", passages, {language: (asked, absent[::2])}, embedder)
    everything = [*sets.squad("squad2.json", "squad2", 4).passages]
    everything += [passage for kept, _ in material.values() for passage in kept.passages]
    half = {language: (kept.questions[::2], absent[::2]) for language, (kept, absent) in material.items()}
    yield from _searched("together", everything, half, embedder)
    for pair in PAIRS:
        (kept, absent), (notes, _) = (material[language] for language in pair.split("-"))
        there = {passage.article for passage in notes.passages}
        asked = [question for question in kept.questions if question.article in there]
        yield from _searched("across", notes.passages, {pair: (asked, absent)}, embedder)


def observe_alone(embedder: Embedder) -> Iterator[Observation]:
    """The searches in each language's notes alone."""
    for language, name in LANGUAGES.items():
        kept, absent = _named(language, *sets.refusal(name))
        yield from _searched("alone", kept.passages, {language: (kept.questions, absent)}, embedder)


def _named(language: str, kept: Material, absent: tuple[Question, ...]) -> tuple[Material, tuple[Question, ...]]:
    """The same with names that no other language's passages have."""
    passages = tuple(replace(passage, name=f"{language} {passage.name}") for passage in kept.passages)
    return replace(kept, passages=passages), absent


def _searched(
    group: str,
    passages: Sequence[Passage],
    asked: Mapping[str, tuple[Sequence[Question], Sequence[Question]]],
    embedder: Embedder,
) -> Iterator[Observation]:
    """Searches some passages with questions, by name: those that the passages answer, and the others."""
    with sets.opened_library() as library:
        sets.fill(library, passages, embedder)
        retriever = Retriever(libraries=(library,), embedder=embedder)
        for name, both in asked.items():
            for answerable, questions in zip((True, False), both, strict=True):
                for question in questions:
                    retrieval = retriever.search(question.text)
                    language = language_of(retrieval.queries[0])
                    features = _features(retrieval, library, language)
                    verdict = retrieval.evidence.verdict
                    yield Observation(group, name, language, answerable, question.held_out, verdict, features)


def _features(retrieval: Retrieval, library: Library, language: str) -> dict[str, float]:
    """What the verdict is made from, also where nothing was fitted for the embedder yet; nothing where too few were found."""
    stages = {stage.name: stage for stage in retrieval.stages}
    if len(stages["dense"].hits) < evidence.FEWEST_HITS:
        return {}
    terms = weigh_terms([library.catalog], retrieval.queries[0])
    features = evidence.measure(stages["dense"], stages.get("lexical"), retrieval.hits, terms)
    return features | {ACROSS: float(evidence.is_across(language, stages["dense"]))}


# ----------------------------------------------------------------------------------------------------------------- fit


def fit(observed: Sequence[Observation], embedder: str) -> dict[str, Any]:
    """Models of the half to develop with, as they are stored."""
    seen = [observation for observation in observed if observation.features and not observation.held_out]
    within = [observation for observation in seen if not observation.features[ACROSS]]
    across = [observation for observation in seen if observation.features[ACROSS] and observation.group == "across"]
    return {
        "embedder": embedder,
        "fitted": date.today().isoformat(),
        "command": "python -m tests.bench.refusal --fit",
        "sets": "qa/refusal (XQuAD en, de, zh, ar; JSQuAD) alone, a third of each, and all together with SQuAD 2; "
        "questions and notes in different languages: " + ", ".join(PAIRS),
        "questions": len(seen),
        "within": _model(within, evidence.FEATURES, ["all"] * len(within), tuple(LANGUAGES)),
        "across": _model(across, evidence.FEATURES_ACROSS, [observation.name for observation in across]),
        "unmeasured": unmeasured(seen),
    }


def unmeasured(observed: Sequence[Observation]) -> dict[str, Any]:
    """The model for embedders that no other one was fitted for, as it is stored; by itself it refuses nothing."""
    seen = [one for one in observed if one.features and not one.held_out and not one.features[ACROSS]]
    found = _model(seen, evidence.FEATURES_UNMEASURED, ["all"] * len(seen))
    held = [one for one in observed if one.features and one.held_out and not one.features[ACROSS]]
    _print_order(found, held)
    return found | {"none": 0.0}


def _print_order(found: Mapping[str, Any], held: Sequence[Observation]) -> None:
    """How often a question that the notes answer comes out stronger than one that they do not speak of."""
    model = evidence.Model(**found)
    for name in dict.fromkeys(one.name for one in held):
        there, absent = (
            [model.strength(one.features) for one in held if one.name == name and one.answerable is answerable]
            for answerable in (True, False)
        )
        above = fmean(one > other for one in there for other in absent)
        print(f"unmeasured, held out, {name:<8}{above:>9.3f}   ({len(there)} and {len(absent)})", flush=True)


def _model(
    seen: Sequence[Observation], names: Sequence[str], kinds: Sequence[str], languages: Sequence[str] = ()
) -> dict[str, Any]:
    """Weights and cut-offs; of no kind are more wrongly refused than :data:`_WRONGLY_IN_FIT`."""
    table = np.array(
        [
            [one.features[name] for name in names] + [float(one.language == language) for language in languages]
            for one in seen
        ]
    )
    truth = np.array([observation.answerable for observation in seen])
    middle, spread = table.mean(axis=0), table.std(axis=0)
    # Each set counts the same, and in it both kinds of question.
    sizes = Counter((observation.group, observation.name, observation.answerable) for observation in seen)
    counts = np.array(
        [100 / sizes[observation.group, observation.name, observation.answerable] for observation in seen]
    )
    weights = _logistic((table - middle) / spread, truth, counts)
    slopes = weights[1:] / spread
    intercept = float(weights[0] - slopes @ middle)
    if languages:
        # A question in a language that is none of these is judged as if it were in all of them.
        usual = float(slopes[len(names) :].mean())
        slopes[len(names) :] -= usual
        intercept += usual
    strengths = 1 / (1 + np.exp(-(intercept + table @ slopes)))
    groups = [np.array([kind == one for kind in kinds]) & truth for one in sorted(set(kinds))]
    rounded = [round(float(slope), 4) for slope in slopes]
    added = dict(zip(languages, rounded[len(names) :], strict=True))
    return {
        "intercept": round(intercept, 4),
        "weights": dict(zip(names, rounded[: len(names)], strict=True)),
        **({"languages": added} if added else {}),
        "none": round(min(float(np.quantile(strengths[group], _WRONGLY_IN_FIT)) for group in groups), 4),
        "enough": round(float(np.quantile(strengths[~truth], 1 - _ENOUGH_THOUGH_ABSENT)), 4),
    }


def _logistic(table: NDArray[np.float64], truth: NDArray[np.bool_], counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights of a logistic regression, the intercept first, by Newton's method with a little shrinkage."""
    rows = np.column_stack((np.ones(len(table)), table))
    weights = np.zeros(rows.shape[1])
    shrinkage = np.diag([0.0, *[_SHRINKAGE] * table.shape[1]])
    for _ in range(50):
        chances = 1 / (1 + np.exp(-(rows @ weights)))
        slope = rows.T @ (counts * (chances - truth)) + shrinkage @ weights
        bend = (rows.T * (counts * chances * (1 - chances))) @ rows + shrinkage
        weights -= np.linalg.solve(bend, slope)
    return weights


def _judged_anew(observation: Observation) -> Observation:
    if not observation.features:
        return observation
    model = evidence.fitted().across if observation.features[ACROSS] else evidence.fitted().within
    return replace(observation, verdict=model.verdict(model.strength(observation.features, observation.language)))


# -------------------------------------------------------------------------------------------------------------- figures


@dataclass(frozen=True, slots=True)
class Rates:
    """Shares of the questions whose verdict is *none*, with their numbers."""

    refused: float
    wrongly: float
    absent: int
    answerable: int


def rates(observed: Sequence[Observation]) -> Rates:
    """How many were refused of those that the notes do not speak of, and of those that they answer."""
    shares = []
    for answerable in (False, True):
        verdicts = [one.verdict for one in observed if one.answerable is answerable]
        shares.append((sum(verdict is Verdict.NONE for verdict in verdicts) / max(1, len(verdicts)), len(verdicts)))
    return Rates(shares[0][0], shares[1][0], shares[0][1], shares[1][1])


def figures(observed: Sequence[Observation]) -> dict[str, Any]:
    """The rates on questions held out, as they are stored."""
    found = {}
    for group in ("alone", "few", "together", "across"):
        held = rates([one for one in observed if one.group == group and one.held_out])
        found[group] = {"refused": round(held.refused, 3), "wrongly_refused": round(held.wrongly, 3)}
    return found


def report(observed: Sequence[Observation]) -> list[str]:
    """Prints all rates, and names the bars that are missed."""
    print(f"{'notes':<10}{'set':<8}{'refused':>9}{'wrongly':>9}{'held out:':>12}{'refused':>9}{'wrongly':>9}")
    missed = []
    for group, name in dict.fromkeys((one.group, one.name) for one in observed):
        found = _line(group, name, [one for one in observed if (one.group, one.name) == (group, name)])
        if group == "across" and found.wrongly > WRONGLY:
            missed.append(f"{name}: {found.wrongly:.3f} wrongly refused, at most {WRONGLY} wanted")
    for group in dict.fromkeys(one.group for one in observed):
        found = _line(group, "all", [one for one in observed if one.group == group])
        if group == "alone" and found.wrongly > WRONGLY:
            missed.append(f"{found.wrongly:.3f} wrongly refused, at most {WRONGLY} wanted")
        if group == "alone" and found.refused < REFUSED:
            missed.append(f"{found.refused:.3f} of the absent topics refused, {REFUSED} wanted")
    return missed


def _line(group: str, name: str, observed: Sequence[Observation]) -> Rates:
    every, held = rates(observed), rates([one for one in observed if one.held_out])
    print(
        f"{group:<10}{name:<8}{every.refused:>9.3f}{every.wrongly:>9.3f}{'':>12}{held.refused:>9.3f}{held.wrongly:>9.3f}"
        f"   ({every.absent} and {every.answerable}; {held.absent} and {held.answerable})",
        flush=True,
    )
    return every


if __name__ == "__main__":
    main()
