"""Diagnostics as HTML: one question from what was searched to what was used."""

from __future__ import annotations

from rag.answering.remarks import held_to, loosened, was_asked
from rag.inspection.ledger import Reading, checkpoints, open_ledger, step_of, timeline
from rag.types import Retrieval, Trace, Verdict
from rag.ui import render_audit, render_chat, render_ledger, texts
from rag.ui.render import date, escape, figure, table, term, titles
from rag.ui.render_ledger import section

VERDICTS = {
    Verdict.ENOUGH: texts.VERDICT_ENOUGH,
    Verdict.SOME: texts.VERDICT_SOME,
    Verdict.NONE: texts.VERDICT_NONE,
}
LEGS = ("dense", "lexical", "sparse", "clause")
"""Steps that vote in the fusion."""


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
    features = "".join(f"<span>{term(name)} <b>{value:.3g}</b></span>" for name, value in evidence.features.items())
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
    head = titles(names, figures=(texts.COLUMN_FOUND, texts.COLUMN_WEIGHT))
    return section(
        escape(texts.SECTION_STAGES),
        f'<details class="fn-fold"><summary>{_in_short(retrieval)}</summary>'
        f"{table(texts.SECTION_STAGES, head, ''.join(rows))}</details>",
        "stages",
        "found",
    )


def _in_short(retrieval: Retrieval) -> str:
    """What each leg found, and which had no vote, in a line."""
    told = []
    for stage in retrieval.stages:
        if step_of(stage.name) in LEGS:
            silent = "" if stage.weight else f", {escape(texts.NO_VOTE)}"
            told.append(f"{term(step_of(stage.name), stage.name)} {figure(len(stage.hits))}{silent}")
    return " · ".join(told)


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
        f"{_heading(retrieval, trace)}{_answer(trace) if trace is not None else ''}"
        f"{render_ledger.steps(found)}{render_ledger.reading(reading)}"
        f'<div class="fn-two">{_query(retrieval)}{_evidence(retrieval)}</div>{stages(retrieval)}'
        f"{render_ledger.ledger(opened, trace)}"
        f"{render_ledger.window(trace) if trace is not None and was_sent else ''}"
        f"{_used(trace) if trace is not None else ''}"
        f"{render_ledger.waterfall(timeline(retrieval, trace))}"
    )


def _answer(trace: Trace) -> str:
    """The answer as chat shows it, its numbers leading to the ledger."""
    if trace.answer.outcome == "search_only" or not trace.answer.text:
        return ""
    return f'<div class="fn-answer-here" dir="auto">{render_chat.answer_text(trace.answer)}</div>'


def _used(trace: Trace) -> str:
    audited = render_audit.audit(trace)
    return f'<div class="fn-used" data-step="used">{audited}</div>' if audited else ""


def _heading(retrieval: Retrieval, trace: Trace | None) -> str:
    """The question, and when, where and by which model it was answered."""
    facts = [retrieval.library]
    if trace is not None:
        facts = [date(trace.asked_at), *facts, *([trace.model.name] if trace.model is not None else [])]
    told = " · ".join(facts if trace is not None else [*facts, texts.ONLY_SEARCHED])
    back = f'<button type="button" data-do="chat">{escape(texts.BACK_TO_CHAT)}</button>' if trace is not None else ""
    return (
        f'<div class="fn-list-head"><h2 class="fn-asked-here" dir="auto">{escape(retrieval.question)}</h2>{back}</div>'
        f'<p class="fn-quiet">{escape(told)}</p>'
    )
