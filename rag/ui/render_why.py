"""“Why not this?” as HTML: the gates a passage passed, the one that stopped it, and what would have let it by."""

from __future__ import annotations

from collections.abc import Sequence

from rag.answering.places import numbered_place
from rag.inspection.explain import Account, Explanation, Gate, Standing, Way
from rag.inspection.unread import Lost
from rag.types import Chunk
from rag.ui import texts
from rag.ui.render import escape, figure, many, notice, score, table, term, titles


def explanation(found: Explanation) -> str:
    """Everything that is known of what was asked for."""
    parts = [notice(found.note, kind="quiet")] if found.note else []
    if found.accounts:
        first, *others = found.accounts
        parts.append(_whole(first))
        parts.append(_others(others, found.more))
    if found.lost:
        parts.append(_lost(found.lost))
    if not found.accounts and not found.lost:
        parts.append(notice(texts.WHY_NOTHING, texts.WHY_NOTHING_HINT, kind="quiet"))
    return f'<div class="fn-account" role="status">{"".join(parts)}</div>'


def button(chunk: Chunk) -> str:
    """The button that asks for a passage's account, wherever it is shown."""
    return (
        f'<button type="button" class="fn-quiet-button" data-do="why" data-chunk="{escape(chunk.id)}">'
        f"{escape(texts.WHY_THIS)}</button>"
    )


def _whole(account: Account) -> str:
    remarks = "".join(f"<li>{escape(remark)}</li>" for remark in account.remarks)
    remarks = remarks and f'<ul class="fn-account-remarks">{remarks}</ul>'
    return (
        f'<section class="fn-box"><h3>{_place(account.chunk)}</h3>'
        f'<p class="fn-account-reason">{_badge(account)} {escape(account.reason)}</p>{_gates(account)}'
        f"{_ways(account)}{remarks}{_standings(account.standings)}"
        f"<details><summary>{escape(texts.WHY_TEXT)}</summary>"
        f'<blockquote class="fn-passage" dir="auto">{escape(account.chunk.text)}</blockquote></details></section>'
    )


def _place(chunk: Chunk) -> str:
    where = ", ".join(filter(None, (numbered_place(chunk), " › ".join(chunk.heading_path))))
    file = f"{chunk.library}: {chunk.path}" if chunk.library else chunk.path
    return f'<span class="fn-path">{escape(file)}</span> <small class="fn-where">{escape(where)}</small>'


def _badge(account: Account) -> str:
    if account.gate is None:
        word, kind = (texts.WHY_READ, "enough") if account.number else (texts.WHY_FOUND, "some")
        return f'<span class="fn-verdict {kind}">{escape(word)}</span>'
    return f'<span class="fn-verdict none">{term(account.gate.value)}</span>'


def _gates(account: Account) -> str:
    """All gates in a row: passed, stopped here, never reached."""
    cells = []
    state = "passed"
    for gate in Gate:
        here = "stopped" if gate is account.gate else state
        if account.gate is None and not account.number and gate in (Gate.VERDICT, Gate.BUDGET):
            here = "open"  # no model was asked
        mark, told = texts.WHY_MARKS[here]
        cells.append(
            f'<li class="{here}"><i aria-hidden="true">{mark}</i> {escape(texts.WHY_GATES[gate.value])}'
            f'<span class="fn-unseen"> ({escape(told)})</span></li>'
        )
        if gate is account.gate:
            state = "open"
    return f'<ol class="fn-gates">{"".join(cells)}</ol>'


def _ways(account: Account) -> str:
    if not account.ways:
        return ""
    listed = "".join(f"<li>{escape(way.change)}{_outcome(way)}</li>" for way in account.ways)
    return f"<h4>{escape(texts.WHY_WAYS)}</h4><ul>{listed}</ul>"


def _outcome(way: Way) -> str:
    if not way.tried:
        return ""
    told = texts.WHY_TRIED.format(rank=figure(way.rank)) if way.rank else texts.WHY_TRIED_NOTHING
    return f' <span class="fn-tried{"" if way.rank else " nothing"}">{escape(told)}</span>'


def _standings(standings: Sequence[Standing]) -> str:
    rows = []
    for standing in standings:
        about = texts.WHY_ABOUT if standing.about else ""
        rank = f"{about}{figure(standing.rank)}" if standing.rank is not None else "–"
        value = score(standing.score_name, standing.score) if standing.score is not None else "–"
        origin = "" if standing.recorded or standing.rank is None else texts.WHY_WORKED_OUT
        note = ". ".join(filter(None, (standing.note, origin)))
        rows.append(
            f'<tr class="{"" if standing.recorded else "silent"}">'
            f'<th scope="row">{term(standing.step.partition(":")[0], standing.step)}</th>'
            f'<td class="num">{rank}</td><td class="num">{figure(standing.handed_on)}</td>'
            f'<td class="num">{value} <small>{term(standing.score_name) if standing.score is not None else ""}</small>'
            f'</td><td class="fn-why">{escape(note)}</td></tr>'
        )
    if not rows:
        return ""
    names = (texts.COLUMN_STAGE, texts.WHY_RANK, texts.WHY_HANDED_ON, texts.COLUMN_SCORE, texts.WHY_NOTE)
    head = titles(names, figures=names[1:-1])
    return table(texts.SECTION_STAGES, head, "".join(rows))


def _others(accounts: Sequence[Account], more: int) -> str:
    if not accounts:
        return ""
    rows = "".join(
        f"<li>{_badge(account)} {_place(account.chunk)} {button(account.chunk)}"
        f'<p class="fn-fate">{escape(account.reason)}</p></li>'
        for account in accounts
    )
    rest = f'<p class="fn-quiet">{escape(many(more, texts.WHY_MORE_ONE, texts.WHY_MORE))}</p>' if more else ""
    title = many(len(accounts), texts.WHY_OTHERS_ONE, texts.WHY_OTHERS)
    return f'<section class="fn-box"><h3>{escape(title)}</h3><ul class="fn-others">{rows}</ul>{rest}</section>'


def _lost(lost: Sequence[Lost]) -> str:
    rows = []
    for one in lost:
        gate = Gate.INDEXED if one.indexed else Gate.READ
        look = (
            f' <button type="button" class="fn-quiet-button" data-do="xray">{escape(texts.WHY_LOOK)}</button>'
            if one.file_id is not None
            else ""
        )
        file = f' data-id="{one.file_id}"' if one.file_id is not None else ""
        name = f'<span class="fn-path">{escape(one.name)}</span>' if one.name else ""
        rows.append(
            f'<tr{file}><td><span class="fn-verdict none">{term(gate.value)}</span></td>'
            f"<td>{name}<p>{escape(one.reason)}</p><p class='fn-fate'>{escape(one.action)}{look}</p></td></tr>"
        )
    return f'<section class="fn-box"><table class="fn-lost"><tbody>{"".join(rows)}</tbody></table></section>'
