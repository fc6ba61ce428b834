"""The citation audit as HTML: what is wrong in one line, then every sentence with what it cites."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from rag.answering.places import place
from rag.inspection import audit as inspection
from rag.inspection.audit import Audit, AuditedCitation, AuditedSentence, MissingFact
from rag.inspection.contradiction import Contradiction, contradictions
from rag.types import FactKind, Span, Trace
from rag.ui import texts
from rag.ui.render import escape, many, term

_SIGNS = re.compile(r"\*\*|__|`|^#+ ")

KINDS: tuple[FactKind, ...] = ("number", "unit", "date", "name", "quote")


def audit(trace: Trace) -> str:
    """The audit of an answer; empty where there is none."""
    found = inspection.audit(trace)
    if found is None:
        return ""
    opposed = {one.sentence.start: one for one in contradictions(trace)}
    rows = "".join(_sentence(sentence, opposed.get(sentence.span.start)) for sentence in found.sentences)
    note = ""
    if any(sentence.translated for sentence in found.sentences):
        note = f'<p class="fn-quiet">{escape(texts.AUDIT_TRANSLATED)}</p>'
    return (
        f'<section class="fn-box fn-audit"><h3>{term("citation audit", texts.SECTION_AUDIT)} '
        f"<small>{escape(many(len(found.sentences), texts.AUDIT_SENTENCES_ONE, texts.AUDIT_SENTENCES))}</small></h3>"
        f'{summary(found, len(opposed))}<ol class="fn-sentences">{rows}</ol>{note}'
        f'<p class="fn-quiet">{escape(texts.AUDIT_SCOPE)}</p></section>'
    )


def summary(found: Audit, contradicted: int = 0) -> str:
    """What is wrong, counted by kind; that nothing is, where nothing is."""
    if found.clean and not contradicted:
        return f'<p><span class="fn-verdict enough">{escape(texts.AUDIT_CLEAN)}</span></p>'
    counts = Counter(fact.kind for fact in found.missing)
    lines = [many(counts[kind], *texts.AUDIT_MISSING[kind]) for kind in KINDS if counts[kind]]
    signs = [f'<span class="fn-verdict none">{escape(line)}</span>' for line in lines]
    if found.unknown:
        numbers = ", ".join(f"[{number}]" for number in found.unknown)
        signs.append(f'<span class="fn-verdict none">{escape(texts.AUDIT_UNKNOWN.format(numbers=numbers))}</span>')
    if found.uncited:
        line = many(found.uncited, texts.AUDIT_UNCITED_ONE, texts.AUDIT_UNCITED)
        signs.append(f'<span class="fn-verdict some">{escape(line)}</span>')
    if contradicted:
        line = many(contradicted, texts.AUDIT_CONTRADICTED_ONE, texts.AUDIT_CONTRADICTED)
        signs.append(f'<span class="fn-verdict some">{escape(line)}</span>')
    return f'<p class="fn-signs">{"".join(signs)}</p>'


def _sentence(sentence: AuditedSentence, opposed: Contradiction | None) -> str:
    state = "bad" if sentence.missing or sentence.unknown else "good" if sentence.citations else "open"
    told = "".join(f"<li>{_missing(fact, bool(sentence.citations))}</li>" for fact in sentence.missing)
    told += "".join(
        f'<li><span class="fn-chip unknown">{number}</span> {escape(texts.CHIP_UNKNOWN.format(number=number))}</li>'
        for number in sentence.unknown
    )
    told += "".join(f"<li>{_citation(one)}</li>" for one in sentence.citations)
    if opposed is not None:
        told += f"<li>{_opposed(opposed)}</li>"
    if not sentence.citations:
        told += f'<li class="fn-quiet">{escape(texts.AUDIT_NO_CITATION)}</li>'
    return f'<li class="{state}"><p dir="auto">{_marked(sentence)}</p><ul>{told}</ul></li>'


def _opposed(one: Contradiction) -> str:
    """A passage that says something else than the sentence."""
    read = f"[{one.number}]" if one.number else texts.AUDIT_UNREAD
    return (
        f"<b>{escape(texts.AUDIT_OPPOSED)}</b> {escape(read)} "
        f'<span class="fn-path">{escape(place(one.chunk))}</span>'
        f'<blockquote class="fn-passage" dir="auto">{escape(one.says)}</blockquote>'
    )


def _marked(sentence: AuditedSentence) -> str:
    """The sentence with what is missing from its passages marked, as chat marks it."""
    parts: list[str] = []
    at = 0
    for fact in sentence.missing:
        span = Span(fact.span.start - sentence.span.start, fact.span.end - sentence.span.start)
        title = escape(texts.FLAG_TITLES[fact.kind])
        parts.append(_plain(sentence.text[at : span.start]))
        parts.append(f'<span class="fn-missing {fact.kind}" title="{title}">{_plain(fact.text)}</span>')
        at = span.end
    return "".join(parts) + _plain(sentence.text[at:])


def _plain(text: str) -> str:
    """Escaped text without Markdown's signs of emphasis, code and headings."""
    return escape(_SIGNS.sub("", text))


def _missing(fact: MissingFact, cited: bool) -> str:
    told = (texts.AUDIT_LACKS if cited else texts.AUDIT_LACKS_ALL)[fact.kind]
    where = f" {texts.AUDIT_ELSEWHERE.format(numbers=_listed(fact.elsewhere))}" if fact.elsewhere else ""
    return f'<b dir="auto">{_plain(fact.text)}</b> {escape(told)}{escape(where)}'


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(f"[{number}]" for number in numbers)


def _citation(one: AuditedCitation) -> str:
    citation = one.citation
    by = texts.LEGEND_MODEL if citation.by == "model" else texts.LEGEND_FOOTNOTE
    start = citation.chunk.span.start
    words = citation.chunk.text[citation.span.start - start : citation.span.end - start]
    return (
        f'<span class="fn-chip by-{citation.by}">{citation.number}</span> <span class="fn-path">'
        f'{escape(place(citation.chunk, citation.page))}</span> <span class="fn-where">{escape(by)}</span> '
        f'<span class="fn-scores"><span>{term("overlap", texts.AUDIT_OVERLAP)} <b>{citation.overlap:.2f}</b></span>'
        f"<span>{term('verbatim', texts.AUDIT_VERBATIM)} <b>{one.verbatim:.2f}</b></span></span>"
        f'<blockquote class="fn-passage" dir="auto">{escape(words)}</blockquote>'
    )
