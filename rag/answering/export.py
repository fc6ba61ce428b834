"""A conversation as Markdown, with the sources of every answer."""

from __future__ import annotations

import time
from collections.abc import Sequence

from rag.answering.places import place
from rag.answering.remarks import caution, held_to
from rag.types import Answer, Citation, Exchange


def to_markdown(title: str, exchanges: Sequence[Exchange]) -> str:
    """Writes a conversation down: questions, answers, and under each answer the passages it cites."""
    parts = [f"# {title}", ""]
    for exchange in exchanges:
        trace = exchange.trace
        asked = time.strftime("%Y-%m-%d %H:%M", time.localtime(trace.asked_at))
        model = trace.model.name if trace.model else "search only"
        held = "".join(f"; held to {phrase}" for phrase in held_to(trace.retrieval.filters))
        parts += [f"## {exchange.question}", "", f"*{asked}, {model}{held}*", "", trace.answer.text, ""]
        mark, sentence = caution(trace.retrieval)
        if mark and trace.answer.outcome == "answered":
            parts += [f"> {mark}. {sentence}", ""]
        for warning in trace.answer.warnings:
            parts += [f"> {warning}", ""]
        parts += _sources(trace.answer)
    return "\n".join(parts).rstrip() + "\n"


def _sources(answer: Answer) -> list[str]:
    """One line a cited passage, with the cited words."""
    if not answer.citations:
        return []
    lines = ["Sources:", ""]
    seen = set()
    for citation in answer.citations:
        if (citation.number, citation.span) in seen:
            continue
        seen.add((citation.number, citation.span))
        by = "" if citation.by == "model" else " (bound by Footnote from the words)"
        missing = f" – not in the passage: {', '.join(citation.missing)}" if citation.missing else ""
        lines.append(
            f"- [{citation.number}] {place(citation.chunk, citation.page)}{by}{missing}: “{cited_words(citation)}”"
        )
    return [*lines, ""]


def cited_words(citation: Citation) -> str:
    """The words of the passage that a citation points at, on one line."""
    start = citation.chunk.span.start
    return " ".join(citation.chunk.text[citation.span.start - start : citation.span.end - start].split())
