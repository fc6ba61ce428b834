"""Do planted counter-facts change what is answered from the notes, and does the comparison tell so?

``python -m tests.bench.counterfacts [--show]``

Each of 20 well-known facts (English, German, Japanese; numbers, dates, names) is planted in a note with a wrong value.
The embedded model is asked once with the notes and once without them. Counted are, of all facts:

* changed: the left side gives the planted value, and the right side does not;
* known: the right side gives the true value, so that both sides are known to disagree;
* told: of those changed and known, how many the comparison marks as a disagreement;
* from the notes: of the changed ones, how many sentences are said to be held by the notes.

Then every fact is planted with its true value: a disagreement that is told there, where the model knows the true value
by itself, is a false one. Exits with 1 where fewer than 95 % of the left sides change.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from rag.inspection.agreement import Origin
from rag.inspection.comparison import Comparison, Given, with_and_without
from rag.models.base import ChatModel, Embedder
from rag.models.bundled import BundledEmbedder
from rag.retrieval.retriever import Retriever
from rag.settings import load_settings, prepare_environment
from tests.bench import sets
from tests.bench.cached import CachedEmbedder, Kept, embedded_chat
from tests.bench.sets import Passage

CHANGED = 0.95


@dataclass(frozen=True, slots=True)
class Fact:
    """A question, the sentence that answers it, and what stands in its place: falsely, and truly (several spellings)."""

    question: str
    sentence: str
    planted: str
    true: tuple[str, ...]

    def note(self, value: str) -> str:
        return self.sentence.format(value)


FACTS = (
    Fact("What is the capital of France?", "The capital of France is {}.", "Lyon", ("Paris",)),
    Fact("What is the capital of Japan?", "The capital of Japan is {}, on the Pacific coast.", "Nagoya", ("Tokyo",)),
    Fact("What is the capital of Canada?", "Canada is governed from its capital, {}.", "Calgary", ("Ottawa",)),
    Fact("Who wrote Romeo and Juliet?", "Romeo and Juliet was written by {}.", "Ben Jonson", ("Shakespeare",)),
    Fact("Who painted the Mona Lisa?", "The Mona Lisa was painted by {}.", "Raphael", ("Leonardo", "da Vinci")),
    Fact("In which year did the Titanic sink?", "The Titanic sank in the year {}.", "1923", ("1912",)),
    Fact("When did World War II end?", "World War II ended in {}.", "1951", ("1945",)),
    Fact(
        "At what temperature does water boil at sea level?", "At sea level water boils at {}.", "87 °C", ("100", "212")
    ),
    Fact("How many planets are in the solar system?", "The solar system has {} planets.", "eleven", ("eight", "8")),
    Fact("What is the chemical symbol of gold?", "The chemical symbol of gold is {}.", "Gd", ("Au",)),
    Fact("Which planet is the largest in the solar system?", "The largest planet is {}.", "Neptune", ("Jupiter",)),
    Fact("How many sides does a hexagon have?", "A hexagon has {} sides.", "9", ("six", "6")),
    Fact(
        "What is the highest mountain on Earth?", "The highest mountain on Earth is {}.", "Mount Elbrus", ("Everest",)
    ),
    Fact("Which ocean is the largest?", "The largest ocean is the {} Ocean.", "Indian", ("Pacific",)),
    Fact("How many minutes are there in an hour?", "An hour is divided into {} minutes.", "75", ("60", "sixty")),
    Fact("Was ist die Hauptstadt von Deutschland?", "Die Hauptstadt von Deutschland ist {}.", "Kassel", ("Berlin",)),
    Fact("In welchem Jahr fiel die Berliner Mauer?", "Die Berliner Mauer fiel im Jahr {}.", "1994", ("1989",)),
    Fact("Wie viele Tage hat eine Woche?", "Eine Woche hat {} Tage.", "neun", ("sieben", "7")),
    Fact("日本の首都はどこですか。", "日本の首都は{}です。", "仙台", ("東京",)),
    Fact("富士山の高さは何メートルですか。", "富士山の高さは{}メートルです。", "2910", ("3776", "3,776")),
)


def main() -> None:
    """Compares with every fact planted falsely, then truly, and prints the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", action="store_true", help="print both answers")
    options = parser.parse_args()
    prepare_environment()
    embedder = CachedEmbedder(BundledEmbedder(), Kept())
    with embedded_chat() as chat:
        false = _compared([(fact, fact.planted) for fact in FACTS], chat, embedder, show=options.show)
        true = _compared([(fact, fact.true[0]) for fact in FACTS], chat, embedder, show=options.show)
    changed = [
        one
        for one in false
        if _says(one[1].left.text, [one[0].planted]) and not _says(one[1].right.text, [one[0].planted])
    ]
    known = [one for one in changed if _says(one[1].right.text, one[0].true)]
    told = [one for one in known if _disagrees(one[1])]
    held = [one for one in changed if all(mark.held for mark in one[1].left.marks)]
    agreeing = [one for one in true if all(_says(side.text, one[0].true) for side in (one[1].left, one[1].right))]
    false_alarms = [one for one in agreeing if _disagrees(one[1])]
    print(
        f"changed {len(changed)} of {len(FACTS)}; known without the notes {len(known)}, disagreement told {len(told)}"
    )
    print(
        f"held by the notes {len(held)} of {len(changed)}; both true {len(agreeing)}, false alarms {len(false_alarms)}"
    )
    if len(changed) < CHANGED * len(FACTS):
        sys.exit(f"Short of the bar: {CHANGED} of the left sides should change.")


def _says(text: str, values: Sequence[str]) -> bool:
    return any(value.casefold() in text.casefold() for value in values)


def _disagrees(compared: Comparison) -> bool:
    return any(mark.origin is Origin.DISAGREE for side in (compared.left, compared.right) for mark in side.marks)


def _compared(
    planted: Sequence[tuple[Fact, str]], chat: ChatModel, embedder: Embedder, *, show: bool
) -> list[tuple[Fact, Comparison]]:
    settings = load_settings()
    found = []
    with sets.opened_library() as library:
        notes = [Passage(f"note-{at:02}", "facts", fact.note(value)) for at, (fact, value) in enumerate(planted)]
        sets.fill(library, notes, embedder)
        retriever = Retriever(libraries=(library,), embedder=embedder)
        for fact, value in planted:
            given = Given(retriever, retriever.search(fact.question), None, None, settings.answer_tokens)
            *_, compared = with_and_without(given, chat)
            found.append((fact, compared))
            if show:
                _show(value, compared)
    return found


def _show(value: str, compared: Comparison) -> None:
    print(f"{compared.retrieval.question}  [{value}]")
    for side in (compared.left, compared.right):
        origins = ", ".join(mark.origin.value for mark in side.marks) or side.problem
        print(f"   {side.text!r}  {origins}", flush=True)


if __name__ == "__main__":
    main()
