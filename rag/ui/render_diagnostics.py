"""Diagnostics as HTML: what was searched and found, what was sent, how full the window was, where the time went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rag.answering.places import numbered_place
from rag.answering.remarks import held_to, loosened, was_asked
from rag.types import Chunk, HealthCheck, Passage, Prompt, Retrieval, Trace, Verdict, Window
from rag.ui import texts
from rag.ui.render import date, duration, escape, figure, many, notice, score, term

VERDICTS = {
    Verdict.ENOUGH: texts.VERDICT_ENOUGH,
    Verdict.SOME: texts.VERDICT_SOME,
    Verdict.NONE: texts.VERDICT_NONE,
}
LEGS = ("dense", "lexical", "sparse", "clause")
"""Steps that vote in the fusion."""

AFTERWARDS = ("fold", "follow")
"""Steps that give no score of their own."""

HEALTH = {
    "ok": texts.STATE_OK,
    "warning": texts.STATE_WARNING,
    "error": texts.STATE_ERROR,
    "off": texts.STATE_OFF,
}


def _section(title: str, body: str, name: str) -> str:
    return f'<section class="fn-box fn-{name}"><h3>{title}</h3>{body}</section>'


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
    return _section(escape(texts.SECTION_QUERY), f'<dl class="fn-pairs">{listed}</dl>', "query")


def _evidence(retrieval: Retrieval) -> str:
    evidence = retrieval.evidence
    features = "".join(
        f"<span>{escape(name.replace('_', ' '))} <b>{value:.3g}</b></span>" for name, value in evidence.features.items()
    )
    return _section(
        term("evidence", texts.SECTION_EVIDENCE),
        f'<p><span class="fn-verdict {evidence.verdict.value}">{escape(VERDICTS[evidence.verdict])}</span> '
        f'{escape(evidence.reason)}</p><p class="fn-scores">{features}</p>',
        "evidence",
    )


def _passage_cell(chunk: Chunk) -> str:
    where = ", ".join(filter(None, (numbered_place(chunk), " › ".join(chunk.heading_path))))
    return (
        f'<details class="fn-peek"><summary><span class="fn-path">{escape(chunk.path)}</span> '
        f'<span class="fn-where">{escape(where)}</span></summary>'
        f'<blockquote class="fn-passage" dir="auto">{escape(chunk.text)}</blockquote></details>'
    )


def stages(retrieval: Retrieval) -> str:
    """The steps of the search in their order: how many passages each found, what its vote weighed, and why."""
    rows = []
    for stage in retrieval.stages:
        kind = _step(stage.name)
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
    return _section(
        escape(texts.SECTION_STAGES),
        f'<div class="fn-table" tabindex="0" role="region" aria-label="{escape(texts.SECTION_STAGES)}"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>",
        "stages",
    )


def _step(name: str) -> str:
    """A stage's name without what it searched: ``dense`` of ``dense: hypothetical``."""
    return name.partition(":")[0]


def candidates(retrieval: Retrieval, prompt: Prompt | None) -> str:
    """Every chunk that any stage saw, with each ranking's score and rank, and what became of it."""
    chunks: dict[str, Chunk] = {hit.chunk.id: hit.chunk for hit in retrieval.hits}
    for stage in retrieval.stages:
        chunks |= {hit.chunk.id: hit.chunk for hit in stage.hits if hit.chunk.id not in chunks}
    ranking = [stage for stage in retrieval.stages if _step(stage.name) not in AFTERWARDS]
    found = [{hit.chunk.id: hit for hit in stage.hits} for stage in ranking]
    ranks = {hit.chunk.id: hit.rank for hit in retrieval.hits}
    passages = _by_chunk(prompt)
    head = (
        f'<th scope="col" class="num">{term("rank", texts.COLUMN_RANK)}</th><th scope="col">{texts.COLUMN_PASSAGE}</th>'
    )
    head += "".join(
        f'<th scope="col" class="num">{term(stage.score_name)} '
        f"<small>{term(_step(stage.name), stage.name)}</small></th>"
        for stage in ranking
    )
    if prompt is not None:
        head += f'<th scope="col" class="num">{term("tokens", texts.COLUMN_TOKENS)}</th>'
    rows = []
    for chunk_id, chunk in chunks.items():
        cells = ""
        for stage, hits in zip(ranking, found, strict=True):
            hit = hits.get(chunk_id)
            cells += (
                f'<td class="num">{score(stage.score_name, hit.score)} <small>{hit.rank}.</small></td>'
                if hit
                else '<td class="num fn-quiet">–</td>'
            )
        passage = passages.get(chunk_id)
        if prompt is not None:
            tokens = figure(passage.tokens) if passage is not None and passage.tokens else "–"
            cells += f'<td class="num">{tokens}</td>'
        inside = passage is not None and passage.in_prompt
        rows.append(
            f'<tr class="{"inside" if inside else ""}"><td class="num">{ranks.get(chunk_id, "–")}</td>'
            f"<td>{_passage_cell(chunk)}{_fate(chunk_id, retrieval, prompt, passage)}</td>{cells}</tr>"
        )
    if not rows:
        return _section(texts.SECTION_CANDIDATES, notice(texts.SOURCES_NONE, kind="quiet"), "candidates")
    return _section(
        f"{escape(texts.SECTION_CANDIDATES)} <small>{figure(len(rows))}</small>",
        f'<div class="fn-table" tabindex="0" role="region" aria-label="{texts.SECTION_CANDIDATES}"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>",
        "candidates",
    )


def _by_chunk(prompt: Prompt | None) -> dict[str, Passage]:
    """By the id of a chunk, the passage that it became, by itself or joined with its neighbours."""
    found: dict[str, Passage] = {}
    for passage in prompt.passages if prompt is not None else ():
        found[passage.hit.chunk.id] = passage
    for passage in prompt.passages if prompt is not None else ():
        if passage.in_prompt:
            found |= {chunk.id: passage for chunk in passage.joined}
    return found


def _fate(chunk_id: str, retrieval: Retrieval, prompt: Prompt | None, passage: Passage | None) -> str:
    """What became of a candidate, a line each: folded, followed, joined, in the prompt or cut."""
    told = []
    hit = next((hit for hit in retrieval.hits if hit.chunk.id == chunk_id), None)
    twin = next((hit for hit in retrieval.hits if any(copy.id == chunk_id for copy in hit.copies)), None)
    if twin is not None:
        told.append(texts.FATE_FOLDED.format(rank=twin.rank))
    elif hit is None:
        told.append(texts.FATE_CUT)
    if hit is not None and hit.note:
        told.append(texts.FOLLOWED.format(note=hit.note))
    if hit is not None and hit.copies:
        told.append(many(len(hit.copies), texts.FATE_COPIES_ONE, texts.FATE_COPIES))
    if passage is not None and passage.in_prompt:
        label = texts.FATE_JOINED if passage.joined else texts.FATE_READ
        told.insert(0, label.format(number=passage.number, count=len(passage.joined)))
    elif passage is not None and passage.reason:
        told.append(passage.reason)
    elif prompt is not None and hit is not None:
        told.append(texts.NOT_IN_PROMPT)
    return "".join(f'<p class="fn-fate">{escape(line)}</p>' for line in told)


def window(used: Window) -> str:
    """The window as a bar of shares with its legend, and the model's own count next to ours."""
    parts = [
        ("system", texts.WINDOW_SYSTEM, used.system),
        ("history", texts.WINDOW_HISTORY, used.history),
        ("passages", texts.WINDOW_PASSAGES, used.passages),
        ("question", texts.WINDOW_QUESTION, used.question),
        ("answer", texts.WINDOW_ANSWER, used.answer_room),
        ("free", texts.WINDOW_FREE, max(0, used.total - used.used - used.answer_room)),
    ]
    whole = max(used.total, sum(count for _, _, count in parts), 1)
    bar = "".join(f'<span class="{name}" style="width:{100 * count / whole:.2f}%"></span>' for name, _, count in parts)
    legend = "".join(
        f'<li><span class="fn-swatch {name}"></span>{escape(label)} <b>{figure(count)}</b></li>'
        for name, label, count in parts
    )
    kind = texts.WINDOW_EXACT if used.exact else texts.WINDOW_ESTIMATE
    line = (
        texts.WINDOW_COUNT_UNREAD.format(used=figure(used.used), kind=kind)
        if used.read is None
        else texts.WINDOW_COUNT.format(used=figure(used.used), kind=kind, read=figure(used.read))
    )
    total = escape(texts.WINDOW_TOTAL.format(total=figure(used.total)))
    return _section(
        f"{term('window', texts.SECTION_WINDOW)} <small>{total}</small>",
        f'<div class="fn-window" aria-hidden="true">{bar}</div><ul class="fn-window-legend">{legend}</ul>'
        f"<p>{escape(line)}</p>",
        "window-box",
    )


def prompt(sent: Prompt | None) -> str:
    """The messages exactly as they were sent, folded and ready to be copied."""
    if sent is None:
        return _section(escape(texts.SECTION_PROMPT), f'<p class="fn-quiet">{escape(texts.NO_PROMPT)}</p>', "prompt")
    whole = "\n\n".join(f"[{message.role}]\n{message.content}" for message in sent.messages)
    messages = "".join(
        f'<h4>{escape(message.role)}</h4><pre dir="auto">{escape(message.content)}</pre>' for message in sent.messages
    )
    count = many(len(sent.messages), "1 message", "{count} messages")
    return (
        f'<section class="fn-box fn-prompt"><details class="fn-fold"><summary><h3>{escape(texts.SECTION_PROMPT)} '
        f'<small>{escape(count)}</small></h3></summary><div class="fn-actions"><button type="button" data-do="copy" '
        f'data-copy="{escape(whole)}" data-done="{escape(texts.COPIED)}">{escape(texts.COPY)}</button></div>'
        f"{messages}</details></section>"
    )


def timings(seconds: Mapping[str, float]) -> str:
    """Where the time went, as a list of bars in the order of the work."""
    shown = [(name, value) for name, value in seconds.items() if value > 0]
    if not shown:
        return ""
    longest = max(value for _, value in shown)
    rows = "".join(
        f"<li><span>{term(_step(name), name)}</span>"
        f'<span class="fn-bar"><i style="width:{100 * value / longest:.1f}%"></i></span><b>{duration(value)}</b></li>'
        for name, value in shown
    )
    return _section(escape(texts.SECTION_TIMES), f'<ul class="fn-timings">{rows}</ul>', "times")


def report(retrieval: Retrieval, trace: Trace | None) -> str:
    """Everything about one question; ``trace`` is None for a search without an answer."""
    sent = trace.prompt if trace is not None and was_asked(trace) else None
    seconds = {**retrieval.seconds, **(trace.seconds if trace is not None else {})}
    when = ""
    if trace is not None:
        model = f" · {trace.model.name}" if trace.model is not None else ""
        when = f'<p class="fn-quiet">{escape(date(trace.asked_at))} · {escape(retrieval.library)}{escape(model)}</p>'
    return (
        f'{when}<div class="fn-two">{_query(retrieval)}{_evidence(retrieval)}</div>'
        f"{stages(retrieval)}{candidates(retrieval, sent)}"
        f'<div class="fn-two">{window(sent.window) if sent is not None else ""}{timings(seconds)}</div>'
        f"{prompt(sent) if trace is not None else ''}"
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
