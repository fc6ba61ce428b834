"""Two answers to one question as HTML, side by side: what each says, where it comes from, and what it cost."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag.inspection.agreement import Mark, Origin
from rag.inspection.audit import audit
from rag.inspection.comparison import Comparison, Side
from rag.ui import render_audit, texts
from rag.ui.render import duration, escape, figure, many, notice, table, term

_CITED = re.compile(r"\[\d+\]")
_DISTURBED = ("failed", "stopped")


def comparison(compared: Comparison) -> str:
    """The whole comparison, finished or not."""
    left, right = compared.left, compared.right
    names = (texts.COMPARE_WITH, texts.COMPARE_WITHOUT) if compared.kind == "notes" else (_name(left), _name(right))
    question = escape(compared.retrieval.question)
    return (
        f'<div class="fn-compare" data-state="{"done" if compared.ended else "running"}">'
        f'<p class="fn-compare-question" dir="auto">{question}</p>{_verdict(compared)}'
        f'<div class="fn-sides">{_side(left, right, names[0], compared)}{_side(right, left, names[1], compared)}</div>'
        f"{_disagreements(compared, names)}{_legend(left, right)}{_figures(compared, names)}</div>"
    )


def _name(side: Side) -> str:
    return side.model.name if side.model is not None else texts.COMPARE_OPENING


def _side(side: Side, other: Side, name: str, compared: Comparison) -> str:
    notes = many(len(compared.notes), texts.COMPARE_NOTES_ONE, texts.COMPARE_NOTES)
    told = [texts.COMPARE_ALONE if side.alone else notes]
    told += [texts.COMPARE_KEPT] if side.kept else []
    if compared.kind == "notes" and side.model is not None:
        told.insert(0, side.model.name)
    return (
        f'<section class="fn-box fn-side"><h3>{escape(name)}</h3>'
        f'<p class="fn-quiet">{escape(" · ".join(told))}</p>{_body(side, other)}</section>'
    )


def _body(side: Side, other: Side) -> str:
    if side.problem:
        return notice(side.problem, side.hint, "error")
    if side.trace is None and not side.text:
        label = texts.COMPARE_WRITING if other.ended or side.model is None else texts.COMPARE_WAITING
        return f'<p class="fn-waiting"><span class="fn-pulse"></span>{escape(label)}</p>'
    warnings = "".join(notice(warning) for warning in side.trace.answer.warnings) if side.trace is not None else ""
    if side.trace is not None and side.trace.answer.outcome == "stopped":
        warnings += notice(texts.OUTCOME_STOPPED, kind="quiet")
    return f'<div class="fn-said" dir="auto">{_said(side)}</div>{_audit(side)}{warnings}'


def _audit(side: Side) -> str:
    """What is wrong with the citations of an answer from the notes, in a line."""
    found = audit(side.trace) if side.trace is not None and not side.alone else None
    return render_audit.summary(found) if found is not None else ""


def _said(side: Side) -> str:
    """The answer as the model wrote it, each sentence in the colour of where it comes from."""
    text, parts, at = side.text, [], 0
    for mark in side.marks:
        parts.append(_between(text[at : mark.span.start]))
        title = escape(texts.ORIGINS[mark.origin])
        parts.append(f'<span class="fn-origin {mark.origin.value}" title="{title}">{_sentence(text, mark)}</span>')
        at = mark.span.end
    return "".join(parts) + _between(text[at:])


def _between(text: str) -> str:
    return _CITED.sub(lambda match: f'<span class="fn-cited">{match.group()}</span>', escape(text))


def _sentence(text: str, mark: Mark) -> str:
    parts, at = [], mark.span.start
    for span in mark.own:
        parts += [escape(text[at : span.start]), f"<b>{escape(text[span.start : span.end])}</b>"]
        at = max(at, span.end)
    return "".join(parts) + escape(text[at : mark.span.end])


def _verdict(compared: Comparison) -> str:
    """The comparison in one sentence; empty while it is not finished."""
    left, right = compared.left, compared.right
    if left.trace is None or right.trace is None:
        return ""
    outcomes = [side.trace.answer.outcome for side in (left, right) if side.trace is not None]
    if any(outcome in _DISTURBED for outcome in outcomes):
        return ""
    origins = [{mark.origin for mark in side.marks} for side in (left, right)]
    refused = [outcome == "not_in_notes" for outcome in outcomes]
    kind, told = _verdict_of(compared, origins, refused)
    return f'<p class="fn-compare-verdict {kind}" role="status">{escape(told)}</p>'


def _verdict_of(compared: Comparison, origins: Sequence[set[Origin]], refused: Sequence[bool]) -> tuple[str, str]:
    ours, theirs = origins
    if Origin.DISAGREE in ours | theirs:
        return "disagree", texts.COMPARE_DISAGREE if compared.kind == "notes" else texts.COMPARE_MODELS_DISAGREE
    if compared.kind == "models":
        if any(refused):
            return "model", texts.COMPARE_BOTH_REFUSE if all(refused) else texts.COMPARE_ONE_REFUSES
        return ("model", texts.COMPARE_UNHELD) if Origin.MODEL in ours | theirs else ("notes", texts.COMPARE_HELD)
    if refused[0]:
        return ("both", texts.COMPARE_MISSED) if Origin.BOTH in theirs else ("model", texts.COMPARE_REFUSED)
    if ours <= {Origin.NOTES, Origin.BOTH} and ours:
        return ("both", texts.COMPARE_KNOWN) if Origin.BOTH in ours else ("notes", texts.COMPARE_FROM_NOTES)
    return "model", texts.COMPARE_NOT_FROM_NOTES


def _disagreements(compared: Comparison, names: tuple[str, str]) -> str:
    """Each pair of sentences that say something else, under each other, so that nobody has to look for them."""
    left, right = compared.left, compared.right
    ours = {(mark.span, mark.other): mark for mark in left.marks if mark.other is not None}
    theirs = {(mark.other, mark.span): mark for mark in right.marks if mark.other is not None}
    rows = ""
    for here, there in dict.fromkeys((*ours, *theirs)):
        if here is None or there is None:
            continue
        said = ours.get((here, there)) or Mark(here, Origin.DISAGREE)
        instead = theirs.get((here, there)) or Mark(there, Origin.DISAGREE)
        rows += (
            f'<li><p><i>{escape(names[0])}</i> <span dir="auto">{_sentence(left.text, said)}</span></p>'
            f'<p><i>{escape(names[1])}</i> <span dir="auto">{_sentence(right.text, instead)}</span></p></li>'
        )
    return f'<ul class="fn-disagreements" aria-label="{escape(texts.ORIGINS["disagree"])}">{rows}</ul>' if rows else ""


def _legend(left: Side, right: Side) -> str:
    used = {mark.origin for mark in (*left.marks, *right.marks)}
    signs = "".join(
        f'<span><span class="fn-origin {origin.value}">{escape(texts.LEGEND_SENTENCE)}</span> '
        f"{escape(texts.ORIGINS[origin])}</span>"
        for origin in Origin
        if origin in used
    )
    return f'<p class="fn-legend">{signs}</p>' if signs else ""


def _figures(compared: Comparison, names: tuple[str, str]) -> str:
    """What each side cost and how well its sentences are held, as a table; empty before both have ended."""
    sides = (compared.left, compared.right)
    if not compared.ended or not any(side.trace for side in sides):
        return ""
    rows = [
        (term("first token", texts.COMPARE_FIRST), [_seconds(side, "first token") for side in sides]),
        (term("generation", texts.COMPARE_GENERATION), [_seconds(side, "generation") for side in sides]),
        (escape(texts.COMPARE_LOADING), [duration(side.loading) if side.loading >= 0.05 else "–" for side in sides]),
        (term("tokens", texts.COMPARE_PROMPT), [_prompt_tokens(side) for side in sides]),
        (term("tokens", texts.COMPARE_WRITTEN), [_written(side) for side in sides]),
        (term("tokens per second", texts.COMPARE_SPEED), [_speed(side) for side in sides]),
        (escape(texts.COMPARE_SENTENCES), [_held(side) for side in sides]),
    ]
    body = "".join(
        f'<tr><th scope="row">{label}</th><td class="num">{escape(values[0])}</td>'
        f'<td class="num">{escape(values[1])}</td></tr>'
        for label, values in rows
        if any(value != "–" for value in values)
    )
    head = "".join(f'<th scope="col" class="num">{escape(name)}</th>' for name in names)
    return table(texts.COMPARE_COST, f"<th></th>{head}", body)


def _seconds(side: Side, step: str) -> str:
    if side.trace is None or step not in side.trace.seconds:
        return "–"
    seconds = side.trace.seconds[step]
    if step == "first token" and side.trace.generation is not None:
        seconds = max(0.0, seconds - side.trace.generation.loading)
    return duration(seconds)


def _prompt_tokens(side: Side) -> str:
    if side.trace is None or side.trace.prompt is None:
        return "–"
    window = side.trace.prompt.window
    return figure(window.read if window.read is not None else window.used)


def _tokens(side: Side) -> int | None:
    return side.trace.generation.tokens if side.trace is not None and side.trace.generation is not None else None


def _written(side: Side) -> str:
    tokens = _tokens(side)
    return "–" if tokens is None else figure(tokens)


def _speed(side: Side) -> str:
    tokens = _tokens(side)
    seconds = side.trace.seconds.get("generation", 0.0) if side.trace is not None else 0.0
    return f"{tokens / seconds:.1f}" if tokens and seconds > 0 else "–"


def _held(side: Side) -> str:
    """How many of its sentences a passage holds."""
    told = [mark for mark in side.marks if mark.origin is not Origin.UNSURE]
    if not told:
        return "–"
    return texts.COMPARE_OF.format(count=sum(mark.held for mark in told), total=len(told))
