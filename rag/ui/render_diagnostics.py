"""Diagnostics as HTML: one question from what was searched to what was used, and the health checks."""

from __future__ import annotations

from collections.abc import Sequence

from rag.answering.remarks import held_to, loosened, was_asked
from rag.inspection.ledger import Reading, checkpoints, open_ledger, step_of, timeline
from rag.types import HealthCheck, Retrieval, Trace, Verdict
from rag.ui import render_audit, render_ledger, texts
from rag.ui.render import date, escape, figure, term
from rag.ui.render_ledger import section

VERDICTS = {
    Verdict.ENOUGH: texts.VERDICT_ENOUGH,
    Verdict.SOME: texts.VERDICT_SOME,
    Verdict.NONE: texts.VERDICT_NONE,
}
LEGS = ("dense", "lexical", "sparse", "clause")
"""Steps that vote in the fusion."""

HEALTH = {
    "ok": texts.STATE_OK,
    "warning": texts.STATE_WARNING,
    "error": texts.STATE_ERROR,
    "off": texts.STATE_OFF,
}


def _query(retrieval: Retrieval) -> str:
    rows = [(texts.QUESTION_TYPED, escape(retrieval.question))]
    rows += [(texts.QUERY_SEARCHED, escape(query)) for query in retrieval.queries]
    if retrieval.hypothetical:
        rows.append((term("hypothetical", texts.QUERY_HYPOTHETICAL), escape(retrieval.hypothetical)))
    if retrieval.rewrite_note:
        rows.append((texts.QUERY_NOTE, escape(retrieval.rewrite_note)))
    holding = held_to(retrieval.filters)
    rows.append((texts.QUERY_HELD_TO, escape(" · ".join(holding) or texts.QUERY_EVERYTHING)))
    if retrieval.loosened:
        rows.append((texts.QUERY_QUOTED, escape(loosened(retrieval))))
    listed = "".join(f'<dt>{name}</dt><dd dir="auto">{value}</dd>' for name, value in rows)
    return section(escape(texts.SECTION_QUERY), f'<dl class="fn-pairs">{listed}</dl>', "query", "found")


def _evidence(retrieval: Retrieval) -> str:
    evidence = retrieval.evidence
    features = "".join(
        f"<span>{escape(name.replace('_', ' '))} <b>{value:.3g}</b></span>" for name, value in evidence.features.items()
    )
    return section(
        term("evidence", texts.SECTION_EVIDENCE),
        f'<p><span class="fn-verdict {evidence.verdict.value}">{escape(VERDICTS[evidence.verdict])}</span> '
        f'{escape(evidence.reason)}</p><p class="fn-scores">{features}</p>',
        "evidence",
        "found",
    )


def stages(retrieval: Retrieval) -> str:
    """The steps of the search in their order: how many passages each found, what its vote weighed, and why."""
    rows = []
    for stage in retrieval.stages:
        kind = step_of(stage.name)
        weight = ""
        if kind in LEGS:
            weight = f"{stage.weight:.2f}" if stage.weight else escape(texts.NO_VOTE)
        folded = sum(len(hit.copies) for hit in stage.hits) if kind == "fold" else 0
        more = f" <small>{escape(texts.STAGE_FOLDED.format(count=folded))}</small>" if folded else ""
        rows.append(
            f'<tr class="{"" if stage.weight else "silent"}"><th scope="row">{term(kind, stage.name)}</th>'
            f'<td>{term(stage.score_name)}</td><td class="num">{figure(len(stage.hits))}{more}</td>'
            f'<td class="num">{weight}</td><td class="fn-why">{escape(stage.note)}</td></tr>'
        )
    if not rows:
        return ""
    names = (texts.COLUMN_STAGE, texts.COLUMN_SCORE, texts.COLUMN_FOUND, texts.COLUMN_WEIGHT, texts.COLUMN_WHY)
    head = "".join(
        f'<th scope="col" class="{"num" if name in (texts.COLUMN_FOUND, texts.COLUMN_WEIGHT) else ""}">'
        f"{term(name.lower(), name)}</th>"
        for name in names
    )
    return section(
        escape(texts.SECTION_STAGES),
        f'<div class="fn-table" tabindex="0" role="region" aria-label="{escape(texts.SECTION_STAGES)}"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>",
        "stages",
        "found",
    )


def report(retrieval: Retrieval, trace: Trace | None, reading: Reading) -> str:
    """Everything about one question but its prompt: the five steps, then each of them in its order.

    Args:
        retrieval: The search.
        trace: The record of the answer; None for a search without one.
        reading: How the files that were searched are read now.
    """
    opened = open_ledger(retrieval, trace)
    found = checkpoints(retrieval, trace, opened, reading)
    was_sent = trace is not None and was_asked(trace)
    return (
        f"{_heading(retrieval, trace)}{render_ledger.steps(found)}{render_ledger.reading(reading)}"
        f'<div class="fn-two">{_query(retrieval)}{_evidence(retrieval)}</div>{stages(retrieval)}'
        f"{render_ledger.ledger(opened, trace)}"
        f"{render_ledger.window(trace) if trace is not None and was_sent else ''}"
        f"{render_audit.audit(trace) if trace is not None else ''}"
        f"{render_ledger.waterfall(timeline(retrieval, trace))}"
    )


def _heading(retrieval: Retrieval, trace: Trace | None) -> str:
    """The question, and when, where and by which model it was answered."""
    facts = [retrieval.library]
    if trace is not None:
        facts = [date(trace.asked_at), *facts, *([trace.model.name] if trace.model is not None else [])]
    told = " · ".join(facts if trace is not None else [*facts, texts.ONLY_SEARCHED])
    return (
        f'<h2 class="fn-asked-here" dir="auto">{escape(retrieval.question)}</h2><p class="fn-quiet">{escape(told)}</p>'
    )


def health(checks: Sequence[HealthCheck]) -> str:
    """The health checks, worst first, each with what to do."""
    order = {"error": 0, "warning": 1, "off": 2, "ok": 3}
    rows = "".join(
        f'<li><span class="fn-state {check.state}">{escape(HEALTH[check.state])}</span>'
        f"<div><b>{escape(check.name)}</b> {escape(check.detail)}"
        f"{f'<p>{escape(check.action)}</p>' if check.action else ''}</div></li>"
        for check in sorted(checks, key=lambda check: order[check.state])
    )
    return f'<ul class="fn-health">{rows}</ul>'
