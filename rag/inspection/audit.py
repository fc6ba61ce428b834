"""The citation audit: every sentence of an answer beside what it cites. No model is needed, only the trace."""

from __future__ import annotations

from dataclasses import dataclass

from rag.answering.citations import without_marks
from rag.index.chunking.sentences import sentences
from rag.types import Citation, Span, Trace


@dataclass(frozen=True, slots=True)
class AuditedSentence:
    """One sentence of the answer.

    Attributes:
        text: The sentence without its ``[n]``.
        span: Where it is in ``Answer.text``.
        citations: What it is bound to.
    """

    text: str
    span: Span
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class Audit:
    """An answer, sentence by sentence."""

    sentences: tuple[AuditedSentence, ...]
    unknown_numbers: tuple[int, ...]


def audit(trace: Trace) -> Audit | None:
    """Audits an answer; None where there is none."""
    answer = trace.answer
    if answer.outcome in ("not_in_notes", "search_only") or not answer.text:
        return None
    audited = []
    for span in sentences(answer.text):
        bare = without_marks(answer.text[span.start : span.end]).strip()
        cited = tuple(c for c in answer.citations if span.start <= c.answer_span.start < span.end)
        if bare:
            audited.append(AuditedSentence(bare, span, cited))
    return Audit(tuple(audited), answer.unknown_numbers)
