"""The answer's sentences bound to the places they come from.

The model writes ``[n]``; here each number is bound to a passage's file, page and characters and checked against its
words. Where a small model cites nothing, or a note that does not hold the sentence, the sentence is bound to the
passage that does, and the citation says that Footnote did it. A number that belongs to no passage is kept and flagged,
and so is what a sentence says beyond the passages that it cites: numbers, dates, names, quoted words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rag.answering.facts import Held, Speech
from rag.answering.places import numbered_place
from rag.index.chunking.sentences import sentences
from rag.index.terms import terms
from rag.types import Chunk, Citation, Flag, Span

TermWeights = Callable[[str], Mapping[str, float]]
"""The terms of a text with their weights in the library."""

MINIMUM_OVERLAP = 0.5
"""Share of a sentence's informative words that a passage must hold before Footnote binds the sentence to it."""

CLEARLY_BETTER = 0.25
"""By how much another passage must hold more of the sentence than the one that the model cites, to replace it."""

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_MARK = re.compile(r"(?<![ \u00a0])[ \u00a0]*[\[【]\s*(\d{1,2}(?:\s*[,;]\s*\d{1,2})*)\s*[\]】]")
_MINIMUM_TERMS = 2


@dataclass(frozen=True, slots=True)
class CheckedText:
    """An answer after the check; see :class:`rag.types.Answer` for the fields."""

    text: str
    citations: tuple[Citation, ...]
    unknown_numbers: tuple[int, ...]
    unsupported: tuple[Span, ...]
    flags: tuple[Flag, ...]


def check_citations(answer: str, passages: Sequence[Chunk], weigh: TermWeights) -> CheckedText:
    """Binds every sentence of an answer to the passages that support it.

    Args:
        answer: The model's text with its ``[n]``.
        passages: The chunks in the prompt; ``n`` counts them from 1.
        weigh: Weights of a text's terms: rare words of the library say more than common ones.
    """
    bare, marks = _take_out_marks(answer)
    text = ""
    citations: list[Citation] = []
    unknown: list[int] = []
    unsupported: list[Span] = []
    flags: list[Flag] = []
    end = 0
    spans = sentences(bare)
    reader = PassageReader(passages, Speech.of(bare))
    for at, span in enumerate(spans):
        text += bare[end : span.start]
        end = span.end
        sentence = bare[span.start : span.end]
        place = Span(len(text), len(text) + len(sentence))
        cited = list(dict.fromkeys(number for position, number in marks if _owner(position, spans, bare) == at))
        unknown += [number for number in cited if not 1 <= number <= len(passages)]
        bound = _bind(sentence, [number for number in cited if 1 <= number <= len(passages)], passages, weigh)
        citations += [_citation(sentence, place, number, by, reader, weigh) for number, by in bound]
        read = tuple(dict.fromkeys(number for number, _ in bound)) or tuple(range(1, len(passages) + 1))
        flags += [Flag(_moved(flag.span, place.start), flag.kind) for flag in reader.lacking(sentence, read)]
        if not bound and len(set(terms(sentence))) >= _MINIMUM_TERMS:
            unsupported.append(place)
        shown = dict.fromkeys([number for number, _ in bound] + [n for n in cited if not 1 <= n <= len(passages)])
        text += sentence + "".join(f" [{number}]" for number in shown)
    text += bare[end:]
    return CheckedText(text.rstrip(), tuple(citations), tuple(dict.fromkeys(unknown)), tuple(unsupported), tuple(flags))


def without_marks(answer: str) -> str:
    """The text without its ``[n]``."""
    return _take_out_marks(answer)[0]


def marked_sentences(answer: str) -> list[tuple[Span, tuple[int, ...]]]:
    """The sentences of a checked answer without their ``[n]``, and the numbers that stand after each.

    Args:
        answer: The text that :func:`check_citations` made, with the marks after their sentences.
    """
    bare, marks = _take_out_marks(answer)
    ends: list[tuple[int, int]] = []  # where a mark was taken out, and how much longer the answer is up to there
    shift = 0
    for match in _marks(answer):
        shift += len(match.group())
        ends.append((match.end() - shift, shift))
    spans = sentences(bare)
    found = []
    for at, span in enumerate(spans):
        by = max((shift for position, shift in ends if position <= span.start), default=0)
        numbers = dict.fromkeys(number for position, number in marks if _owner(position, spans, bare) == at)
        found.append((_moved(span, by), tuple(numbers)))
    return found


def _marks(answer: str) -> Iterator[re.Match[str]]:
    """The ``[n]`` of an answer; x[1] in a program is no citation."""
    code = [match.span() for match in _CODE.finditer(answer)]
    return (m for m in _MARK.finditer(answer) if not any(start <= m.start() < stop for start, stop in code))


def _take_out_marks(answer: str) -> tuple[str, list[tuple[int, int]]]:
    """The text without its ``[n]``, and each number with the position in that text where it stood."""
    bare = ""
    marks: list[tuple[int, int]] = []
    end = 0
    for match in _marks(answer):
        bare += answer[end : match.start()]
        end = match.end()
        marks += [(len(bare), int(number)) for number in re.findall(r"\d+", match.group(1))]
    return bare + answer[end:], marks


def _owner(position: int, spans: Sequence[Span], bare: str) -> int | None:
    """Which sentence a mark belongs to: the one before it, but at the beginning of a line the one after it."""
    line = bare.rfind("\n", 0, position) + 1
    following = next((at for at, span in enumerate(spans) if span.start >= position), None)
    if not bare[line:position].strip() and following is not None:
        return following
    return next((at for at in reversed(range(len(spans))) if spans[at].start < position), following)


def _bind(sentence: str, cited: Sequence[int], passages: Sequence[Chunk], weigh: TermWeights) -> list[tuple[int, str]]:
    """Which passages a sentence is bound to, and by whom."""
    if not passages:
        return []
    weights = weigh(sentence)
    overlaps = [_overlap(weights, chunk.text, chunk.heading_path) for chunk in passages]
    best = max(range(len(passages)), key=lambda at: overlaps[at])
    # A sentence of function words only ("Yes.") weighs next to nothing; its overlap with anything is chance.
    if cited:
        kept = [n for n in cited if overlaps[n - 1] >= overlaps[best] - CLEARLY_BETTER or overlaps[n - 1] >= 0.75]
        if kept:
            return [(number, "model") for number in kept]
        if overlaps[best] < MINIMUM_OVERLAP:
            return [(number, "model") for number in cited]
    if overlaps[best] >= MINIMUM_OVERLAP and len(weights) >= _MINIMUM_TERMS:
        return [(best + 1, "footnote")]
    return []


class PassageReader:
    """The passages of one answer, each read once for what it can confirm.

    Args:
        passages: The chunks in the prompt; ``n`` counts them from 1.
        speech: How the answer is written.
    """

    def __init__(self, passages: Sequence[Chunk], speech: Speech) -> None:
        self.passages = passages
        self._speech = speech
        self._held: dict[tuple[int, ...], Held] = {}

    def lacking(self, sentence: str, numbers: tuple[int, ...]) -> list[Flag]:
        """What a sentence says beyond the passages of these numbers; nothing where there are none."""
        return self._read(numbers).lacking(sentence, self._speech) if numbers else []

    def translated(self, numbers: tuple[int, ...]) -> bool:
        """Whether these passages are in another language than the answer, so that names are not compared."""
        return bool(numbers) and self._read(numbers).speech != self._speech

    def _read(self, numbers: tuple[int, ...]) -> Held:
        if numbers not in self._held:
            self._held[numbers] = Held([shown_to_model(self.passages[number - 1]) for number in numbers])
        return self._held[numbers]


def shown_to_model(chunk: Chunk) -> str:
    """All of a passage that the model reads, and its title: what a sentence may rest on."""
    told = (
        chunk.path,
        chunk.title,
        *chunk.heading_path,
        chunk.section,
        chunk.date,
        numbered_place(chunk),
        chunk.context,
    )
    return "\n".join((*filter(None, told), chunk.text))


def _moved(span: Span, by: int) -> Span:
    return Span(span.start + by, span.end + by)


def _citation(sentence: str, place: Span, number: int, by: str, reader: PassageReader, weigh: TermWeights) -> Citation:
    weights = weigh(sentence)
    chunk = reader.passages[number - 1]
    inside = _supporting_span(weights, chunk.text)
    return Citation(
        number=number,
        chunk=chunk,
        span=Span(chunk.span.start + inside.start, chunk.span.start + inside.end),
        answer_span=place,
        by="model" if by == "model" else "footnote",
        overlap=_overlap(weights, chunk.text, chunk.heading_path),
        missing=tuple(dict.fromkeys(sentence[f.span.start : f.span.end] for f in reader.lacking(sentence, (number,)))),
    )


def _overlap(weights: Mapping[str, float], text: str, heading_path: Sequence[str] = ()) -> float:
    """Share of the weight whose terms the text holds, 0 to 1."""
    total = sum(weights.values())
    if not total:
        return 0.0
    held = set(terms("\n".join((*heading_path, text))))
    return sum(weight for term, weight in weights.items() if term in held) / total


def _supporting_span(weights: Mapping[str, float], text: str) -> Span:
    """The shortest run of the passage's sentences that holds nearly all of what the passage shares with the answer."""
    spans = sentences(text)
    whole = Span(0, len(text))
    shared = _overlap(weights, text)
    if len(spans) < 2 or not shared:
        return whole
    best = whole
    for first in range(len(spans)):
        for last in range(first, len(spans)):
            candidate = Span(spans[first].start, spans[last].end)
            if candidate.end - candidate.start >= best.end - best.start:
                break
            if _overlap(weights, text[candidate.start : candidate.end]) >= 0.9 * shared:
                best = candidate
                break
    return best
