"""Does Footnote find the right passage, and does joining its legs never make it worse?

``python -m tests.bench.retrieval [--full] [--sets NAMES] [--hyde N] [--rewrite N] [--held-out]``

One table, a row a configuration and set: the dense leg alone, the keyword leg alone, both by plain reciprocal ranks,
Footnote's whole search (``ours``), LangChain's stock recipe on the same embedder. Columns: nDCG@10, recall at 1, 5 and
10, mean reciprocal rank, and the median milliseconds of a question without its embedding. Exits with 1 where a bar
falls short. Vectors and the model's words are kept in the user's cache folder, so that another run takes seconds.

Sets: ``en``, ``de``, ``zh``, ``ar`` (XQuAD, one language), ``de-en``, ``zh-en``, ``ar-en`` (its questions over English
paragraphs), ``de-mixed``, ``zh-mixed`` (over articles half in that language and half in English), ``ja`` (JSQuAD), ``squad2`` (answerable questions), ``rust`` (Japanese over English: the English original of
each section is searched with the first sentence of the Japanese translation), ``clauses`` (numbers and names of clauses
in ``standards/``, indexed as a person would), ``mtrag`` (last questions of conversations; rewritten by the embedded
model). Without ``--full`` each set is a fixed sample.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, median

from rag.answering.condense import condense
from rag.models.base import Embedder
from rag.models.bundled import BundledEmbedder
from rag.retrieval.retriever import Retriever
from rag.settings import load_settings, prepare_environment
from rag.types import Hit, Retrieval, Stage
from tests.bench import sets
from tests.bench.cached import CachedEmbedder, Kept, embedded_chat
from tests.bench.measures import Quality, mean, quality
from tests.bench.sets import Material, Question
from tests.bench.stock import StockRecipe

BM25 = {"en": 0.958, "de": 0.924, "zh": 0.963, "ar": 0.891, "ja": 0.937, "squad2": 0.830}
"""nDCG@10 of plain BM25 with words and character bigrams on the whole of each set."""

WORSE_THAN_A_LEG = 0.005
WORSE_THAN_DENSE = 0.01
CLAUSES = 0.95
SAMPLE = 200

_LONGEST_QUERY = 1200  # characters, so that the embedder takes it


@dataclass(slots=True)
class Report:
    """Rows of the table, and the bars that were held against them."""

    rows: dict[tuple[str, str], Quality] = field(default_factory=dict)
    missed: list[str] = field(default_factory=list)

    def row(self, name: str, configuration: str, found: Sequence[Quality], seconds: Sequence[float]) -> None:
        """Adds and prints a row."""
        average = mean(found)
        self.rows[name, configuration] = average
        figures = (average.ndcg, *average.recall, average.mrr)
        cells = "".join(f"{figure:>8.3f}" for figure in figures)
        print(f"{name:<10}{configuration:<18}{len(found):>6}{cells}{1000 * median(seconds):>8.1f}", flush=True)

    def bar(self, what: str, reached: float, wanted: float) -> None:
        """Notes whether a figure reaches what it has to."""
        holds = reached >= wanted
        print(f"    {'holds' if holds else 'MISSED'}: {what}: {reached:.3f}, wanted {wanted:.3f}", flush=True)
        if not holds:
            self.missed.append(what)


def main() -> None:
    """Measures what was named and says what fell short."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="all passages and questions")
    parser.add_argument("--sets", default="", help="names, separated by commas; nothing: all")
    parser.add_argument("--hyde", type=int, default=0, metavar="N", help="also with HyDE, on N questions of a set")
    parser.add_argument("--show", action="store_true", help="also print the clauses that were not found")
    parser.add_argument("--held-out", action="store_true", help="only questions about articles of the held-out half")
    options = parser.parse_args()
    prepare_environment()
    embedder = CachedEmbedder(BundledEmbedder(), Kept())
    report = Report()
    wanted = options.sets.split(",") if options.sets else [*SETS]
    print(f"{'set':<10}{'configuration':<18}{'asked':>6}" + "".join(f"{name:>8}" for name in _COLUMNS))
    for name in wanted:
        SETS[name](name, embedder, report, options)
    if report.missed:
        sys.exit("Short of a bar: " + "; ".join(report.missed))


_COLUMNS = ("nDCG@10", "R@1", "R@5", "R@10", "MRR", "ms")


def same_language(name: str, embedder: Embedder, report: Report, options: argparse.Namespace) -> None:
    """Questions in the language of the passages: the search is as good as its better leg, and as plain BM25."""
    material = _material(name, options.full)
    _compare(name, material, embedder, report, options)
    rows = report.rows
    better = max(rows[name, "dense"].ndcg, rows[name, "keyword"].ndcg)
    report.bar(f"{name}: nDCG, ours by the better leg", rows[name, "ours"].ndcg, better - WORSE_THAN_A_LEG)
    report.bar(f"{name}: nDCG, ours by BM25's figure", rows[name, "ours"].ndcg, BM25[name])


def across_languages(name: str, embedder: Embedder, report: Report, options: argparse.Namespace) -> None:
    """Questions in another language: words in common are chance, and must not spoil what meaning found."""
    asked, searched = name.split("-")
    questions, passages = _material(asked, options.full), _material(searched, options.full)
    _compare(name, sets.across(passages, questions, name), embedder, report, options)
    dense = report.rows[name, "dense"].at[5]
    report.bar(f"{name}: recall@5, ours by dense", report.rows[name, "ours"].at[5], dense - WORSE_THAN_DENSE)


def mixed_notes(name: str, embedder: Embedder, report: Report, options: argparse.Namespace) -> None:
    """Notes in two languages: there are words in common with many passages, and the right one may be in the other."""
    asked = name.split("-")[0]
    own, english = _material(asked, options.full), _material("en", options.full)
    _compare(name, sets.mixed(own, english, name), embedder, report, options)
    dense = report.rows[name, "dense"].at[5]
    report.bar(f"{name}: recall@5, ours by dense", report.rows[name, "ours"].at[5], dense - WORSE_THAN_DENSE)


def rust_book(name: str, embedder: Embedder, report: Report, options: argparse.Namespace) -> None:
    """Japanese sentences over English sections."""
    material = sets.rust_book(None if options.full else sets.RUST_SAMPLE)
    _compare(name, material, embedder, report, options, limit=200)
    report.bar(f"{name}: recall@5, ours by dense", report.rows[name, "ours"].at[5], report.rows[name, "dense"].at[5])


def clauses(name: str, embedder: Embedder, report: Report, options: argparse.Namespace) -> None:
    """Clauses by number and by name, in standards that were indexed as a person would."""
    asked = sets.clause_questions(None if options.full else sets.STANDARDS_SAMPLE)
    if not options.full:
        asked = sets.spread(asked, SAMPLE)
    with sets.opened_library() as library, tempfile.TemporaryDirectory() as folder:
        sets.sync_standards(library, Path(folder), embedder, None if options.full else sets.STANDARDS_SAMPLE)
        retriever = Retriever(libraries=(library,), embedder=embedder)
        retriever.search(asked[0].text)
        found: dict[str, list[Quality]] = defaultdict(list)
        seconds: dict[str, list[float]] = defaultdict(list)
        at_heading, there = [], []
        for question in asked:
            started = time.perf_counter()
            retrieval = retriever.search(question.text)
            took = time.perf_counter() - started - retrieval.seconds["embed"]
            for configuration, (ranked, spent) in (
                _configurations(retrieval) | {"ours": (retrieval.hits, took)}
            ).items():
                names = ["right" if question.is_right(hit.chunk) else hit.chunk.id for hit in ranked]
                found[configuration].append(quality(names, frozenset({"right"})))
                seconds[configuration].append(spent)
            first = next((hit for hit in retrieval.hits[:3] if question.is_right(hit.chunk)), None)
            there.append(first is not None)
            at_heading.append(first is not None and question.begins(first.chunk))
            if first is None and options.show:
                print(f"        not among the first three: {question.text}")
            elif options.show and not at_heading[-1]:
                print(f"        not at its heading: {question.text}: {first.chunk.text[:60]!r}")
    for configuration in found:
        report.row(name, configuration, found[configuration], seconds[configuration])
    report.bar(f"{name}: right clause in the first three", fmean(there), CLAUSES)
    report.bar(f"{name}: and its chunk begins at the heading", fmean(at_heading), CLAUSES)


def conversations(name: str, embedder: Embedder, report: Report, options: argparse.Namespace) -> None:
    """The last question of a conversation: as it is, with all questions before it, and as Footnote rewrites it."""
    passages, asked = sets.conversations(None if options.full else sets.CONVERSATIONS_SAMPLE)
    with embedded_chat() as chat, sets.opened_library() as library:
        sets.fill(library, passages, embedder, load_settings().chunk_tokens)
        retriever = Retriever(libraries=(library,), embedder=embedder)
        found: dict[str, list[Quality]] = defaultdict(list)
        seconds: dict[str, list[float]] = defaultdict(list)
        for conversation in asked:
            rewritten, _ = condense(conversation.question, conversation.history, chat)
            every = " ".join(turn.text for turn in conversation.history if turn.role == "user")
            for configuration, query in {
                "last turn": conversation.question,
                "all turns": f"{every} {conversation.question}"[-_LONGEST_QUERY:],
                "ours": rewritten,
            }.items():
                started = time.perf_counter()
                question = conversation.question if configuration == "ours" else query
                retrieval = retriever.search(question, query)
                seconds[configuration].append(time.perf_counter() - started - retrieval.seconds["embed"])
                found[configuration].append(quality(_names(retrieval.hits), conversation.right))
    for configuration in found:
        report.row(name, configuration, found[configuration], seconds[configuration])
    wanted = report.rows[name, "all turns"].at[10]
    report.bar(f"{name}: recall@10, rewritten by all turns", report.rows[name, "ours"].at[10], wanted)


SETS: dict[str, Callable[[str, Embedder, Report, argparse.Namespace], None]] = {
    "en": same_language,
    "de": same_language,
    "zh": same_language,
    "ar": same_language,
    "ja": same_language,
    "squad2": same_language,
    "de-en": across_languages,
    "zh-en": across_languages,
    "ar-en": across_languages,
    "de-mixed": mixed_notes,
    "zh-mixed": mixed_notes,
    "rust": rust_book,
    "clauses": clauses,
    "mtrag": conversations,
}


def _material(name: str, full: bool) -> Material:
    if name == "ja":
        return sets.squad("jsquad.json", name)
    if name == "squad2":
        return sets.squad("squad2.json", name, None if full else 4)
    return sets.squad(f"xquad/xquad.{name}.json", name)


def _compare(
    name: str, material: Material, embedder: Embedder, report: Report, options: argparse.Namespace, limit: int = 0
) -> None:
    """The rows of one set."""
    asked = [question for question in material.questions if question.held_out or not options.held_out]
    if not options.full:
        asked = sets.spread(asked, SAMPLE)
    with sets.opened_library() as library:
        sets.fill(library, material.passages, embedder, limit)
        retriever = Retriever(libraries=(library,), embedder=embedder)
        retriever.search(asked[0].text)  # opens what is opened once
        found: dict[str, list[Quality]] = defaultdict(list)
        seconds: dict[str, list[float]] = defaultdict(list)
        for question in asked:
            started = time.perf_counter()
            retrieval = retriever.search(question.text)
            took = time.perf_counter() - started - retrieval.seconds["embed"]
            for configuration, (ranked, spent) in _configurations(retrieval).items():
                found[configuration].append(quality(_names(ranked), question.right))
                seconds[configuration].append(spent)
            found["ours"].append(quality(_names(retrieval.hits), question.right))
            seconds["ours"].append(took)
        for configuration in found:
            report.row(name, configuration, found[configuration], seconds[configuration])
        if options.hyde:
            _with_hyde(name, retriever, sets.spread(asked, options.hyde), report)
    _stock(name, material, asked, embedder, report)


def _with_hyde(name: str, retriever: Retriever, asked: Sequence[Question], report: Report) -> None:
    """Fewer questions, since each costs the model seconds: without and with a made-up passage beside the question."""
    with embedded_chat() as chat:
        for configuration, writer in (("ours, fewer", None), ("ours + HyDE", chat)):
            found, seconds = [], []
            for question in asked:
                started = time.perf_counter()
                retrieval = retriever.model_copy(update={"writer": writer}).search(question.text)
                seconds.append(time.perf_counter() - started - retrieval.seconds["embed"])
                found.append(quality(_names(retrieval.hits), question.right))
            report.row(name, configuration, found, seconds)


def _stock(name: str, material: Material, asked: Sequence[Question], embedder: Embedder, report: Report) -> None:
    stock = StockRecipe(material.passages, embedder)
    found, seconds = [], []
    for question in asked:
        embedder.embed_query(question.text)
        started = time.perf_counter()
        ranked = stock.search(question.text)
        seconds.append(time.perf_counter() - started)
        found.append(quality(ranked, question.right))
    report.row(name, "LangChain stock", found, seconds)


def _configurations(retrieval: Retrieval) -> dict[str, tuple[Sequence[Hit], float]]:
    """Rankings that a search has on record, each with the seconds that it took."""
    legs = {stage.name: stage for stage in retrieval.stages}
    dense, lexical = legs["dense"], legs["lexical"]
    started = time.perf_counter()
    plain = _plain_fusion((dense, lexical))
    fused = time.perf_counter() - started
    return {
        "dense": (dense.hits, dense.seconds),
        "keyword": (lexical.hits, lexical.seconds),
        "plain RRF": (plain, dense.seconds + lexical.seconds + fused),
    }


def _plain_fusion(legs: Sequence[Stage]) -> list[Hit]:
    """Reciprocal ranks as published: equal weights, constant 60."""
    scores: dict[str, float] = defaultdict(float)
    hits = {hit.chunk.id: hit for leg in legs for hit in leg.hits}
    for leg in legs:
        for hit in leg.hits:
            scores[hit.chunk.id] += 1 / (60 + hit.rank)
    return [hits[chunk_id] for chunk_id in sorted(scores, key=lambda chunk_id: -scores[chunk_id])]


def _names(hits: Sequence[Hit]) -> list[str]:
    """Names of the passages, those that were folded into another right behind it."""
    return [chunk.path for hit in hits for chunk in (hit.chunk, *hit.copies)]


if __name__ == "__main__":
    main()
