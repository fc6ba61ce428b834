"""How well the chat model answers, refuses and cites with its prompt, when the right passage is among its notes.

``python -m tests.bench.prompts [--answerable 20] [--unanswerable 12] [--notes 3]``

Questions: SQuAD 2.0 (English), each with its own paragraph and distractors from the same article; "unanswerable" ones are
near misses, the hardest kind. Counts, with the model that the settings pick:

* right: the answer holds an expected answer's words; wrongly refused: answerable, but refused;
* rightly refused: unanswerable and refused;
* cited right: first citation by the model alone, and after Footnote's own check.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from pathlib import Path

from rag.answering.citations import check_citations
from rag.answering.prompts import answer_messages
from rag.answering.stream import is_refusal
from rag.index.terms import terms
from rag.models.choice import pick_chat
from rag.settings import load_settings, prepare_environment
from rag.types import Chunk, Span

DATA = Path(__file__).parents[3] / "shared" / "data" / "qa" / "squad2.json"


def main() -> None:
    """Asks every question once and prints the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answerable", type=int, default=20)
    parser.add_argument("--unanswerable", type=int, default=12)
    parser.add_argument("--notes", type=int, default=3)
    parser.add_argument("--show", action="store_true", help="print every answer")
    options = parser.parse_args()
    prepare_environment()
    settings = load_settings()
    chat, reason = pick_chat(settings, settings.llm)
    if chat is None:
        raise SystemExit(reason)
    counts = dict.fromkeys(("right", "wrongly refused", "rightly refused", "cited right by model", "cited right"), 0)
    seconds = []
    for question, accepted, chunks, gold in _questions(options.answerable, options.unanswerable, options.notes):
        started = time.perf_counter()
        messages = answer_messages(question, chunks, [], small=chat.identity.small)
        text = chat.runnable.invoke(messages).text.strip()
        seconds.append(time.perf_counter() - started)
        refused = is_refusal(text)
        if accepted:
            held = set(terms(text))
            right = any(set(terms(answer)) <= held for answer in accepted)
            counts["right"] += right and not refused
            counts["wrongly refused"] += refused
            checked = check_citations(text, chunks, lambda sentence: dict.fromkeys(terms(sentence), 1.0))
            own = [citation.number for citation in checked.citations if citation.by == "model"]
            counts["cited right by model"] += own[:1] == [gold]
            counts["cited right"] += [citation.number for citation in checked.citations][:1] == [gold]
        else:
            counts["rightly refused"] += refused
        if options.show:
            print(f"{'?' if accepted else '-'} {question}\n   {text!r}   [{gold}] {accepted[:1]}", flush=True)
    seconds.sort()
    print(f"{chat.identity.name}, {options.notes} notes: {options.answerable} answerable, {options.unanswerable} not")
    print(", ".join(f"{name} {count}" for name, count in counts.items()))
    print(f"median {seconds[len(seconds) // 2]:.1f} s a question")
    chat.close()


def _questions(answerable: int, unanswerable: int, notes: int) -> list[tuple[str, list[str], list[Chunk], int]]:
    """Question, accepted answers (none: unanswerable), notes, and the number of the right note."""
    articles = json.loads(DATA.read_text(encoding="utf-8"))["data"]
    pairs = [
        (article, at, qa)
        for article in articles
        for at, paragraph in enumerate(article["paragraphs"])
        for qa in paragraph["qas"]
    ]
    shuffled = random.Random(7)
    shuffled.shuffle(pairs)
    kinds = {False: answerable, True: unanswerable}
    chosen = []
    for article, at, qa in pairs:
        if kinds[qa["is_impossible"]] == 0:
            continue
        kinds[qa["is_impossible"]] -= 1
        others = [n for n in range(len(article["paragraphs"])) if n != at]
        texts = [article["paragraphs"][n]["context"] for n in [at, *shuffled.sample(others, notes - 1)]]
        order = list(range(notes))
        shuffled.shuffle(order)
        chunks = [_chunk(article["title"], texts[n]) for n in order]
        accepted = [] if qa["is_impossible"] else [answer["text"] for answer in qa["answers"]]
        chosen.append((qa["question"], accepted, chunks, order.index(0) + 1))
    return chosen


def _chunk(title: str, text: str) -> Chunk:
    return Chunk("1.1.0", 1, f"{title}.md", title, text, Span(0, len(text)), (), None, None, 0)


if __name__ == "__main__":
    main()
