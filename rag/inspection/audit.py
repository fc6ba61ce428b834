"""The citation audit: every sentence of an answer beside what it cites. No model is needed, only the trace."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from rag.answering.citations import PassageReader, marked_sentences, without_marks
from rag.answering.facts import Speech
from rag.index.terms import is_spaced
from rag.types import Answer, Chunk, Citation, FactKind, Flag, Span, Trace

_TOKEN = re.compile(r"\w+")
_RUN_OF_WORDS, _RUN_OF_CHARACTERS = 3, 6
"""What stands in a text by no chance: a run of so many words, or characters where no spaces divide them."""


@dataclass(frozen=True, slots=True)
class AuditedCitation:
    """A citation and how close its sentence keeps to it.

    Attributes:
        citation: The citation; its ``overlap`` is the share of the sentence's informative words in the passage.
        verbatim: Share of the sentence's words that stand in the cited span in runs of three or more (in writing
            without spaces: of six characters or more), 0 to 1. Source: extractive fragment coverage, Grusky, Naaman
            and Artzi, 2018, here without fragments that are shorter.
    """

    citation: Citation
    verbatim: float


@dataclass(frozen=True, slots=True)
class MissingFact:
    """Something in a sentence that what it cites lacks.

    Attributes:
        kind: What it is.
        text: As the sentence has it.
        span: Where it is in ``Answer.text``.
        elsewhere: Numbers of other passages that the model read and that hold it.
    """

    kind: FactKind
    text: str
    span: Span
    elsewhere: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AuditedSentence:
    """One sentence of the answer.

    Attributes:
        text: The sentence without its ``[n]``.
        span: Where it is in ``Answer.text``.
        citations: What it is bound to.
        unknown: Numbers it cites that belong to no passage.
        missing: What it says beyond its citations or, where it has none, beyond all that the model read.
        translated: Whether what it cites is in another language, so that names and quotations were not compared.
    """

    text: str
    span: Span
    citations: tuple[AuditedCitation, ...]
    unknown: tuple[int, ...]
    missing: tuple[MissingFact, ...]
    translated: bool


@dataclass(frozen=True, slots=True)
class Audit:
    """An answer, sentence by sentence."""

    sentences: tuple[AuditedSentence, ...]

    @property
    def uncited(self) -> int:
        """How many sentences have no citation."""
        return sum(not sentence.citations for sentence in self.sentences)

    @property
    def missing(self) -> tuple[MissingFact, ...]:
        """All that the answer says beyond what it cites."""
        return tuple(fact for sentence in self.sentences for fact in sentence.missing)

    @property
    def unknown(self) -> tuple[int, ...]:
        """Numbers cited that belong to no passage, each once."""
        return tuple(dict.fromkeys(number for sentence in self.sentences for number in sentence.unknown))

    @property
    def clean(self) -> bool:
        """Whether every sentence is cited and nothing is missing."""
        return not (self.uncited or self.missing or self.unknown)


def audit(trace: Trace) -> Audit | None:
    """Audits an answer; None where there is none, since the notes do not say or nothing was to be written."""
    answer = trace.answer
    if answer.outcome in ("not_in_notes", "search_only") or not answer.text or trace.prompt is None:
        return None
    return audited(answer, tuple(_read_passages(trace)))


@lru_cache(64)
def audited(answer: Answer, passages: tuple[Chunk, ...]) -> Audit:
    """Audits an answer; kept, since what is shown of one answer asks for it several times.

    Args:
        answer: The answer.
        passages: What the model read, in the order of its numbers.
    """
    reader = PassageReader(passages, Speech.of(without_marks(answer.text)))
    found = []
    for span, numbers in marked_sentences(answer.text):
        text = answer.text[span.start : span.end]
        citations = tuple(
            AuditedCitation(citation, verbatim(text, _cited(citation)))
            for citation in answer.citations
            if citation.answer_span.overlaps(span)
        )
        bound = tuple(dict.fromkeys(one.citation.number for one in citations if one.citation.number <= len(passages)))
        read = bound or tuple(range(1, len(passages) + 1))
        missing = tuple(_missing(flag, span, text, reader, read) for flag in reader.lacking(text, read))
        unknown = tuple(number for number in numbers if not 1 <= number <= len(passages))
        found.append(AuditedSentence(text, span, citations, unknown, missing, reader.translated(read)))
    return Audit(tuple(found))


def _read_passages(trace: Trace) -> Sequence[Chunk]:
    passages = (passage for passage in (trace.prompt.passages if trace.prompt else ()) if passage.in_prompt)
    return [passage.hit.chunk for passage in sorted(passages, key=lambda passage: passage.number)]


def _missing(flag: Flag, span: Span, text: str, reader: PassageReader, read: tuple[int, ...]) -> MissingFact:
    others = [number for number in range(1, len(reader.passages) + 1) if number not in read]
    elsewhere = tuple(
        number for number in others if not any(o.span.overlaps(flag.span) for o in reader.lacking(text, (number,)))
    )
    place = Span(span.start + flag.span.start, span.start + flag.span.end)
    return MissingFact(flag.kind, text[flag.span.start : flag.span.end], place, elsewhere)


def _cited(citation: Citation) -> str:
    start = citation.chunk.span.start
    return citation.chunk.text[citation.span.start - start : citation.span.end - start]


def verbatim(sentence: str, cited: str) -> float:
    """Share of a sentence's words that stand in the cited text in long runs (see :class:`AuditedCitation`)."""
    words, spaced = _words(sentence)
    held, _ = _words(cited)
    length = min(_RUN_OF_WORDS if spaced else _RUN_OF_CHARACTERS, len(words))
    if not length:
        return 0.0
    runs = {tuple(held[at : at + length]) for at in range(len(held) - length + 1)}
    covered: set[int] = set()
    for at in range(len(words) - length + 1):
        if tuple(words[at : at + length]) in runs:
            covered.update(range(at, at + length))
    return len(covered) / len(words)


def _words(text: str) -> tuple[list[str], bool]:
    """The words of a text, characters where no spaces divide them; and whether most of it is words."""
    words: list[str] = []
    characters = 0
    for match in _TOKEN.finditer(unicodedata.normalize("NFKC", text).casefold()):
        if is_spaced(match.group()):
            words.append(match.group())
        else:
            words += match.group()
            characters += len(match.group())
    return words, 2 * characters <= len(words)
