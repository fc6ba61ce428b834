"""A replay bundle as HTML: its buttons, what a second run showed, and the answer as a page to keep and print."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rag.answering.places import place
from rag.answering.remarks import held_to
from rag.inspection.audit import Audit
from rag.inspection.bundle import Bundle, Differences, Moved, Replay
from rag.types import Passage, Stage, Trace
from rag.ui import texts
from rag.ui.render import date, duration, escape, figure, notice, score, table, term

_STYLE = """
:root { color-scheme: light dark; }
body { max-width: 56rem; margin: 2rem auto; padding: 0 1rem; font: 16px/1.55 system-ui, sans-serif; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.15rem; margin-top: 2rem; } h3 { font-size: 1rem; margin-bottom: 0; }
blockquote, pre { margin: 0.4rem 0 1rem; padding: 0.6rem 0.9rem; border-left: 3px solid #8aa; white-space: pre-wrap;
  overflow-wrap: anywhere; font: inherit; font-size: 0.92rem; background: rgb(128 128 128 / 10%); }
pre { font-family: ui-monospace, monospace; }
table { border-collapse: collapse; font-size: 0.9rem; } td, th { padding: 0.2rem 0.7rem 0.2rem 0; text-align: left;
  vertical-align: top; overflow-wrap: anywhere; } .num { text-align: right; font-variant-numeric: tabular-nums; }
small, .quiet { opacity: 0.7; } mark { background: #fd8; color: #000; }
"""


def controls(trace: Trace | None) -> str:
    """What can be done with the answer that is shown: saved as a bundle or as a page; and a bundle opened."""
    key = escape(trace.id) if trace is not None else ""
    disabled = "" if trace is not None else " disabled"
    save = "".join(
        f'<button type="button" data-do="save" data-kind="{kind}" data-key="{key}"{disabled}>{escape(label)}</button>'
        for kind, label in (("json", texts.BUNDLE_JSON), ("html", texts.BUNDLE_HTML))
    )
    nothing = "" if trace is not None else f'<p class="fn-quiet">{escape(texts.BUNDLE_NOTHING)}</p>'
    return (
        f'<p class="fn-quiet">{escape(texts.BUNDLE_INFO)}</p>{nothing}<div class="fn-actions">{save}'
        f'<label class="fn-file">{escape(texts.BUNDLE_OPEN)}'
        f'<input type="file" accept=".json,application/json" class="fn-unseen"></label></div>'
    )


# --------------------------------------------------------------------------------------------------------- run again


def replay(then: Trace, progress: Replay) -> str:
    """How far a second run is, or what it showed."""
    if progress.differences is None:
        step = texts.REPLAY_SEARCHING if progress.step == "search" else texts.REPLAY_ANSWERING
        return f'<p class="fn-quiet" role="status">{escape(step)}</p>{_text(progress.text)}'
    told = progress.differences
    same = told.same_text and told.same_prompt is not False
    return (
        f'<div class="fn-replay" role="status">{_verdict(told)}'
        f"{_answers(then.answer.text, progress.text) if not same else ''}"
        f"{_conditions(told)}{_sources(told)}{_moved(told.moved)}</div>"
    )


def _verdict(told: Differences) -> str:
    if told.same_prompt is None:
        message = texts.REPLAY_UNASKED_SAME if told.same_text else texts.REPLAY_UNASKED_OTHER
    elif told.same_prompt:
        message = texts.REPLAY_SAME if told.same_text else texts.REPLAY_OTHER_TEXT
    else:
        message = texts.REPLAY_OTHER_PROMPT_SAME_TEXT if told.same_text else texts.REPLAY_OTHER_PROMPT
    index = texts.REPLAY_INDEX_SAME if told.same_index else texts.REPLAY_INDEX_OTHER
    return notice(message, index, "good" if told.same_text and told.same_prompt is not False else "warning")


def _answers(then: str, now: str) -> str:
    return (
        f'<div class="fn-two"><section><h4>{escape(texts.REPLAY_THEN)}</h4>{_text(then)}</section>'
        f"<section><h4>{escape(texts.REPLAY_NOW)}</h4>{_text(now)}</section></div>"
    )


def _text(text: str) -> str:
    return f'<blockquote class="fn-passage" dir="auto">{escape(text)}</blockquote>' if text else ""


def _conditions(told: Differences) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(then or "–")}</td><td>{escape(now or "–")}</td></tr>'
        for name, then, now in told.conditions
    )
    return _table(texts.REPLAY_CONDITIONS, (texts.REPLAY_WHAT, texts.REPLAY_THEN, texts.REPLAY_NOW), rows)


def _sources(told: Differences) -> str:
    rows = "".join(
        f'<tr><th scope="row" class="fn-path">{escape(path)}</th><td>{escape(what)}</td></tr>'
        for path, what in told.sources
    )
    return _table(texts.REPLAY_SOURCES, (texts.REPLAY_FILE, texts.REPLAY_BECAME), rows)


def _moved(moved: Sequence[Moved]) -> str:
    rows = "".join(
        f'<tr><td class="num">{_rank(move.then)}</td><td class="num">{_rank(move.now)}</td>'
        f"<td>{escape(place(move.chunk))}</td><td>{escape(move.why)}</td></tr>"
        for move in moved
    )
    names = (texts.REPLAY_THEN, texts.REPLAY_NOW, texts.COLUMN_PASSAGE, texts.COLUMN_WHY)
    return _table(texts.REPLAY_MOVED, names, rows)


def _rank(rank: int | None) -> str:
    return figure(rank) if rank is not None else "–"


def _table(title: str, names: Sequence[str], rows: str) -> str:
    if not rows:
        return ""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in names)
    return f"<h4>{escape(title)}</h4>{table(title, head, rows)}"


# ------------------------------------------------------------------------------------------------- a page to keep


def page(bundle: Bundle) -> str:
    """The bundle as a page by itself, without scripts and without anything from elsewhere."""
    trace = bundle.trace
    title = escape(trace.retrieval.question)
    parts = [
        f"<h1>{title}</h1>",
        f'<p class="quiet">{escape(texts.PAGE_ASKED.format(when=date(trace.asked_at), version=bundle.version))}</p>',
        f"<blockquote dir='auto'>{escape(trace.answer.text)}</blockquote>",
        *(f"<p><strong>{escape(warning)}</strong></p>" for warning in trace.answer.warnings),
        _audit(bundle.audit),
        _passages(trace),
        _facts(bundle),
        *_stages(trace.retrieval.stages),
        _messages(trace),
        _files(bundle),
    ]
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<style>{_STYLE}</style></head><body>{''.join(parts)}</body></html>\n"
    )


def _audit(found: Audit | None) -> str:
    if found is None:
        return ""
    lines = []
    for sentence in found.sentences:
        numbers = ", ".join(f"[{one.citation.number}]" for one in sentence.citations) or texts.PAGE_UNCITED
        missing = ", ".join(f"{fact.kind} “{fact.text}”" for fact in sentence.missing)
        lacks = f" — <mark>{escape(texts.PAGE_LACKS.format(what=missing))}</mark>" if missing else ""
        lines.append(f"<li>{escape(sentence.text)} <small>{escape(numbers)}</small>{lacks}</li>")
    return f"<h2>{escape(texts.PAGE_AUDIT)}</h2><ol>{''.join(lines)}</ol>"


def _passages(trace: Trace) -> str:
    passages = trace.prompt.passages if trace.prompt else ()
    read: Iterable[Passage] = sorted((one for one in passages if one.in_prompt), key=lambda one: one.number)
    items = "".join(
        f"<h3>[{one.number}] {escape(place(one.hit.chunk))}</h3>"
        f"<blockquote dir='auto'>{escape(one.hit.chunk.text)}</blockquote>"
        for one in read
    )
    return f"<h2>{escape(texts.PAGE_PASSAGES)}</h2>{items}" if items else ""


def _facts(bundle: Bundle) -> str:
    trace = bundle.trace
    retrieval, model, window = trace.retrieval, trace.model, trace.prompt.window if trace.prompt else None
    facts = [
        (texts.QUERY_SEARCHED, " · ".join(retrieval.queries)),
        (texts.QUERY_HYPOTHETICAL, retrieval.hypothetical),
        (texts.QUERY_HELD_TO, " · ".join(held_to(retrieval.filters)) or texts.QUERY_EVERYTHING),
        (texts.SECTION_EVIDENCE, f"{retrieval.evidence.verdict.value}. {retrieval.evidence.reason}"),
        (texts.STATUS_MODEL, f"{model.name} ({model.provider}) {model.digest}" if model else texts.STATUS_NO_MODEL),
        (texts.STATUS_EMBEDDER, f"{trace.embedder.model} ({trace.embedder.provider}) {trace.embedder.revision}"),
        (
            texts.STATUS_WINDOW,
            texts.PAGE_WINDOW.format(used=figure(window.used), total=figure(window.total), read=window.read or "–")
            if window
            else "",
        ),
        *trace.settings.items(),
        *((name, duration(seconds)) for name, seconds in trace.seconds.items()),
        (
            texts.PAGE_INDEX,
            f"{figure(bundle.index.files)} / {figure(bundle.index.chunks)} · {bundle.index.fingerprint[:16]}",
        ),
    ]
    rows = "".join(
        f"<tr><th scope='row'>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in facts if value
    )
    return f"<h2>{escape(texts.PAGE_FACTS)}</h2><table>{rows}</table>"


def _stages(stages: Sequence[Stage]) -> list[str]:
    parts = [f"<h2>{escape(texts.SECTION_STAGES)}</h2>"]
    for stage in stages:
        rows = "".join(
            f"<tr><td class='num'>{hit.rank}</td><td class='num'>{score(stage.score_name, hit.score)}</td>"
            f"<td>{escape(place(hit.chunk))}</td></tr>"
            for hit in stage.hits
        )
        meaning = term(stage.name.partition(":")[0], stage.name)
        parts.append(
            f"<details><summary>{meaning}: {len(stage.hits)} <small>{escape(stage.note)}</small></summary>"
            f"<table>{rows}</table></details>"
        )
    return parts


def _messages(trace: Trace) -> str:
    if trace.prompt is None:
        return ""
    items = "".join(
        f"<h3>{escape(message.role)}</h3><pre dir='auto'>{escape(message.content)}</pre>"
        for message in trace.prompt.messages
    )
    return f"<h2>{escape(texts.PAGE_PROMPT)}</h2>{items}"


def _files(bundle: Bundle) -> str:
    rows = "".join(
        f"<tr><td>{escape(source.path)}</td><td><small>{escape(source.sha256 or texts.PAGE_GONE)}</small></td></tr>"
        for source in bundle.index.sources
    )
    return f"<h2>{escape(texts.PAGE_FILES)}</h2><table>{rows}</table>" if rows else ""
