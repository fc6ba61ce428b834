"""The whole way on the sample notes: are the right passages found, the right facts answered and cited, the rest refused?

``python -m tests.bench.samples [--show] [--search-only] [--notes N]``

Indexes the sample notes into a library of its own and asks every line of ``assets/sample_questions.jsonl``.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from rag.engine import SAMPLES, Engine
from rag.settings import load_settings, prepare_environment
from rag.types import AnswerDone, Trace

QUESTIONS = Path(__file__).parents[2] / "assets" / "sample_questions.jsonl"


def main() -> None:
    """Asks everything once and prints the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", action="store_true", help="print every answer")
    parser.add_argument("--search-only", action="store_true", help="do not ask the model")
    parser.add_argument("--notes", type=int, help="passages for the model")
    parser.add_argument("--only", help="ids, separated by commas")
    options = parser.parse_args()
    prepare_environment()
    lines = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    if options.only:
        lines = [line for line in lines if line["id"] in options.only.split(",")]
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as home:
        settings = load_settings(home=home, **({"llm": "none"} if options.search_only else {}))
        with Engine(settings) as engine:
            for _ in engine.sync(SAMPLES, engine.sample_folder()):
                pass
            for line in lines:
                started = time.perf_counter()
                trace = _ask(engine, line["question"], options.notes)
                _count(counts, line, trace)
                if options.show:
                    _show(line, trace, time.perf_counter() - started)
    for name, count in sorted(counts.items()):
        print(f"{name:<34} {count}")


def _ask(engine: Engine, question: str, notes: int | None) -> Trace:
    for event in engine.ask(SAMPLES, question, notes=notes):
        if isinstance(event, AnswerDone):
            return event.trace
    raise ValueError("no answer")


def _count(counts: Counter[str], line: dict[str, Any], trace: Trace) -> None:
    kind = "answerable" if line["answerable"] else "unanswerable"
    counts[f"{kind}"] += 1
    counts[f"{kind}: evidence {trace.retrieval.evidence.verdict}"] += 1
    refused = trace.answer.outcome == "not_in_notes"
    counts[f"{kind}: refused"] += refused
    if not line["answerable"]:
        return
    for n in (1, 2, 3):
        counts[f"answerable: place in first {n}"] += any(_is_place(hit.chunk, line) for hit in trace.retrieval.hits[:n])
    text = " ".join(trace.answer.text.split()).casefold()
    right = not refused and any(accepted.casefold() in text for accepted in line["accept"])
    counts["answerable: right"] += right
    cited = [_is_place(citation.chunk, line) for citation in trace.answer.citations]
    counts["answerable: right and cited there"] += right and any(cited)


def _is_place(chunk: Any, line: dict[str, Any]) -> bool:
    return (
        chunk.path == line["path"]
        and (line["page"] is None or chunk.page <= line["page"] <= chunk.page_end)
        and any(evidence in " ".join(chunk.text.split()) or line["page"] for evidence in line["evidence"])
    )


def _show(line: dict[str, Any], trace: Trace, seconds: float) -> None:
    place = next((hit.rank for hit in trace.retrieval.hits if line["answerable"] and _is_place(hit.chunk, line)), None)
    features = ", ".join(f"{name} {value:.3f}" for name, value in trace.retrieval.evidence.features.items())
    print(f"{line['id']} {'?' if line['answerable'] else '-'} {line['question']}")
    print(f"    {trace.retrieval.evidence.verdict} ({features}); place at rank {place}; {seconds:.1f} s")
    print(f"    {trace.answer.outcome}: {trace.answer.text!r}  wanted {line['answer']!r}", flush=True)


if __name__ == "__main__":
    main()
