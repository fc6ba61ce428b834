"""One answer taken apart, as HTML: the five steps, each passage's way, the window, the prompt, the time."""

from __future__ import annotations

from collections.abc import Sequence

from rag.answering.places import numbered_place
from rag.answering.remarks import was_cut
from rag.inspection.ledger import (
    Checkpoint,
    Entry,
    Fact,
    Gate,
    Ledger,
    Reading,
    Rendered,
    State,
    Step,
    Stop,
    checkpoint_of_files,
    first_trouble,
    step_of,
)
from rag.types import FileRecord, Hit, Prompt, Stage, Trace
from rag.ui import render_untrusted, texts
from rag.ui.render import duration, escape, figure, many, notice, score, table, term

SHOWN = 12
"""Passages of the ledger that are shown at once; those that came into the prompt always are."""

_NAMED = 3
_NOTICEABLE = 0.0005  # seconds; less would be written as none
_LISTED = 12
_WAY = (Gate.FOUND, Gate.KEPT, Gate.SENT, Gate.READ, Gate.CITED)
_STOP_STATES = {Stop.CITED: "good", Stop.NO_ROOM: "bad", Stop.CUT: "bad", Stop.UNCITED: "look"}


def section(title: str, body: str, name: str, step: str = "") -> str:
    """A box with its heading; ``step`` names the one of the five steps that it belongs to."""
    mark = f'<span class="fn-step-number">{list(texts.STEPS).index(step) + 1}</span> ' if step else ""
    return f'<section class="fn-box fn-{name}" data-step="{step}"><h3>{mark}{title}</h3>{body}</section>'


# ------------------------------------------------------------------------------------------------------- the five steps


def steps(found: Sequence[Checkpoint], *, asked: bool = True) -> str:
    """The five steps as tiles that lead to their sections, and above them where to look first.

    Args:
        found: The steps.
        asked: Whether there is a question yet.
    """
    tiles = "".join(
        f'<li><button type="button" class="fn-tile {step.state}" data-do="go" data-step="{step.name}" '
        f'title="{escape(texts.STEPS[step.name][1])}"><span class="fn-step-number">{number}</span>'
        f"<b>{escape(texts.STEPS[step.name][0])}</b>"
        f'<span class="fn-state {_CLASSES[step.state]}">{escape(texts.STEP_STATES[step.state])}</span>'
        f"<span>{_facts(step) if asked or step.facts else escape(texts.STEPS[step.name][1])}</span></button></li>"
        for number, step in enumerate(found, start=1)
    )
    first = _first(found) if asked or first_trouble(found) else notice(texts.DIAGNOSTICS_EMPTY, kind="quiet")
    return f'{first}<ol class="fn-steps" aria-label="{escape(texts.STEPS_LABEL)}">{tiles}</ol>'


_CLASSES = {State.GOOD: "ok", State.LOOK: "warning", State.BAD: "error", State.NONE: "off"}


def _facts(step: Checkpoint) -> str:
    if not step.facts:
        return escape(texts.STEP_NOT_REACHED)
    return "".join(f'<i class="{fact.state}">{escape(told(fact))}</i>' for fact in step.facts)


def told(fact: Fact) -> str:
    """A fact as a phrase."""
    one, more = texts.FACTS[fact.kind]
    named = [*fact.values[:_NAMED], *(("…",) if len(fact.values) > _NAMED else ())]
    phrase = one if fact.count == 1 and one else more
    return phrase.format(*fact.values, count=figure(fact.count), names=", ".join(named))


def _first(found: Sequence[Checkpoint]) -> str:
    """Where to look first, and what to do about it."""
    trouble = first_trouble(found)
    if trouble is None:
        whole = all(step.facts for step in found)
        return notice(texts.FIRST_NONE if whole else texts.FIRST_NONE_SEARCHED, kind="good")
    worst = [fact for fact in trouble.facts if fact.state is trouble.state]
    name = texts.STEPS[trouble.name][0]
    said = "; ".join(told(fact) for fact in worst)
    hints = " ".join(dict.fromkeys(texts.FACT_HINTS[fact.kind] for fact in worst if fact.kind in texts.FACT_HINTS))
    label = texts.FIRST_BAD if trouble.state is State.BAD else texts.FIRST_LOOK
    before = [step.name for step in found[: found.index(trouble)] if step.state is State.LOOK]
    if before:
        hints += " " + texts.FIRST_BEFORE.format(name=texts.STEPS[before[0]][0])
    kind = "error" if trouble.state is State.BAD else "warning"
    return notice(label.format(name=name, said=said).replace("….", "…"), hints.strip(), kind)


def waiting(files: Reading) -> str:
    """The five steps before the first question: what each will tell, and how the files are read."""
    read = checkpoint_of_files(files)
    return steps((read, *(Checkpoint(name, ()) for name in texts.STEPS if name != read.name)), asked=False)


def reading(files: Reading) -> str:
    """The files that were not read, not wholly, or are otherwise on disk now; empty where all is well."""
    groups = (
        (texts.READING_FAILED, files.failed, "error"),
        (texts.READING_PARTLY, files.partly, "warning"),
        (texts.READING_CHANGED, files.changed, "warning"),
    )
    rows = "".join(_file_row(label, record, state) for label, records, state in groups for record in records[:_LISTED])
    if not rows:
        return ""
    left = sum(max(0, len(records) - _LISTED) for _, records, _ in groups)
    more = f'<p class="fn-quiet">{escape(texts.READING_MORE.format(count=figure(left)))}</p>' if left else ""
    button = (
        f'<div class="fn-actions"><button type="button" data-do="ingest">{escape(texts.READING_INGEST)}</button></div>'
    )
    return section(escape(texts.SECTION_READING), f'<ul class="fn-health">{rows}</ul>{more}{button}', "reading", "read")


def _file_row(label: str, record: FileRecord, state: str) -> str:
    why = record.reason if label != texts.READING_CHANGED else ""
    return (
        f'<li><span class="fn-state {state}">{escape(label)}</span>'
        f'<div><b class="fn-path">{escape(record.path)}</b> {escape(why)}</div></li>'
    )


# -------------------------------------------------------------------------------------------------------------- ledger


def ledger(opened: Ledger, trace: Trace | None) -> str:
    """Every passage that a search saw: how far it came and why no further, its scores and ranks by search, tokens."""
    title = escape(texts.SECTION_LEDGER)
    if not opened.entries:
        return section(title, notice(texts.SOURCES_NONE, kind="quiet"), "ledger", "kept")
    counted = trace is not None and trace.prompt is not None
    head = _head(opened.rankings, counted)
    rows = [_row(entry, opened.rankings, counted) for entry in opened.entries]
    shown = [number < SHOWN or entry.reached >= Gate.SENT for number, entry in enumerate(opened.entries)]
    body = "".join(
        row if visible else row.replace('<tr class="', '<tr class="more ', 1)
        for row, visible in zip(rows, shown, strict=True)
    )
    label = texts.LEDGER_ALL.format(count=figure(len(rows)))
    button = (
        f'<div class="fn-actions"><button type="button" data-do="all">{escape(label)}</button></div>'
        if not all(shown)
        else ""
    )
    return section(
        title,
        f"{_funnel(opened)}{table(texts.SECTION_LEDGER, head, body)}{button}",
        "ledger",
        "kept",
    )


def _funnel(opened: Ledger) -> str:
    """How many passages came how far."""
    counts = "".join(
        f"<li><b>{figure(opened.count(gate))}</b> {term(f'gate {name}', texts.GATES[name])}</li>"
        for gate, name in ((gate, gate.name.lower()) for gate in _WAY)
    )
    return f'<ol class="fn-funnel">{counts}</ol>'


def _head(rankings: Sequence[Stage], counted: bool) -> str:
    columns = [("num", term("rank", texts.COLUMN_RANK)), ("", escape(texts.COLUMN_PASSAGE))]
    columns.append(("", term("way", texts.COLUMN_WAY)))
    columns += [
        ("num", f"{term(stage.score_name)} <small>{term(step_of(stage.name), stage.name)}</small>")
        for stage in rankings
    ]
    if counted:
        columns.append(("num", term("tokens", texts.COLUMN_TOKENS)))
    return "".join(f'<th scope="col" class="{kind}">{name}</th>' for kind, name in columns)


def _row(entry: Entry, rankings: Sequence[Stage], counted: bool) -> str:
    cells = "".join(_score(stage, hit) for stage, hit in zip(rankings, entry.hits, strict=True))
    if counted:
        tokens = entry.passage.tokens if entry.passage is not None else 0
        cells += f'<td class="num">{figure(tokens) if tokens else "–"}</td>'
    number = entry.passage.number if entry.passage is not None and entry.reached >= Gate.SENT else 0
    return (
        f'<tr class="{"inside" if number else ""}" data-number="{number or ""}">'
        f'<td class="num">{entry.rank or "–"}</td>'
        f"<td>{_passage(entry)}</td><td>{_way(entry)}</td>{cells}</tr>"
    )


def _score(stage: Stage, hit: Hit | None) -> str:
    if hit is None:
        return '<td class="num fn-quiet">–</td>'
    return f'<td class="num">{score(stage.score_name, hit.score)} <small>{hit.rank}.</small></td>'


def _passage(entry: Entry) -> str:
    chunk = entry.chunk
    where = ", ".join(filter(None, (numbered_place(chunk), " › ".join(chunk.heading_path))))
    library = f"{chunk.library}: " if chunk.library else ""
    return (
        f'<details class="fn-peek"><summary><span class="fn-path">{escape(library + chunk.path)}</span> '
        f'<span class="fn-where">{escape(where)}</span>{render_untrusted.badges(chunk)}</summary>'
        f'<blockquote class="fn-passage" dir="auto">{render_untrusted.passage(chunk)}</blockquote>'
        f'<div class="fn-actions"><button type="button" data-do="why" data-chunk="{escape(chunk.id)}">'
        f"{escape(texts.LEDGER_WHY)}</button>{_inside(entry)}</div></details>"
        f'<p class="fn-fate">{escape(" · ".join(reasons(entry)))}</p>'
    )


def _inside(entry: Entry) -> str:
    """The way into the passage's file, where it is of the library in use."""
    if entry.chunk.library:
        return ""
    return f'<button type="button" data-do="xray" data-id="{entry.chunk.file_id}">{escape(texts.LEDGER_LOOK)}</button>'


def _way(entry: Entry) -> str:
    """Five dots, as many of them full as gates were passed."""
    title = texts.GATES[entry.reached.name.lower()]
    dots = "".join(f'<i class="{"on" if entry.reached >= gate else ""}"></i>' for gate in _WAY)
    return (
        f'<span class="fn-way {_STOP_STATES.get(entry.stop, "")}" role="img" aria-label="{escape(title)}" '
        f'title="{escape(title)}">{dots}</span>'
    )


def reasons(entry: Entry) -> list[str]:
    """What became of a passage, a phrase each: its number in the prompt, why it came no further, what is special."""
    passage = entry.passage
    lines = []
    if passage is not None and passage.in_prompt and entry.stop is not Stop.NOT_ASKED:
        label = texts.FATE_JOINED if passage.joined else texts.FATE_READ
        lines.append(label.format(number=passage.number, count=len(passage.joined)))
    if entry.stop in (Stop.NO_ROOM, Stop.NOT_WANTED) and passage is not None:
        lines.append(passage.reason or texts.STOPS[entry.stop])
    elif entry.stop is not Stop.NO_MODEL:
        lines.append(texts.STOPS[entry.stop].format(rank=entry.into))
    if entry.note:
        lines.append(texts.FOLLOWED.format(note=entry.note))
    if entry.copies:
        lines.append(many(entry.copies, texts.FATE_COPIES_ONE, texts.FATE_COPIES))
    return lines


# -------------------------------------------------------------------------------------------------- window and prompt


def window(trace: Trace) -> str:
    """The window as a bar of shares with its legend, red where something was cut, and the model's own count."""
    if trace.prompt is None:
        return ""
    used = trace.prompt.window
    written = (trace.generation.tokens if trace.generation is not None else None) or 0
    lacking = sum(passage.over for passage in trace.prompt.passages)
    parts = [
        ("system", texts.WINDOW_SYSTEM, used.system),
        ("history", texts.WINDOW_HISTORY, used.history),
        ("passages", texts.WINDOW_PASSAGES, used.passages),
        ("question", texts.WINDOW_QUESTION, used.question),
        ("answer", texts.WINDOW_ANSWER, used.answer_room),
        ("free", texts.WINDOW_FREE, max(0, used.total - used.used - used.answer_room)),
        ("over", texts.WINDOW_OVER, lacking),
    ]
    whole = max(used.total + lacking, sum(count for _, _, count in parts), 1)
    bar = "".join(
        f'<span class="{name}" style="width:{100 * count / whole:.2f}%" title="{escape(label)} {figure(count)}"></span>'
        for name, label, count in parts
        if count
    )
    unread = max(0, used.used - (used.read or 0)) if was_cut(used) else 0
    if unread:
        left = 100 * (used.read or 0) / whole
        bar += f'<i class="fn-unread" style="left:{left:.2f}%;width:{100 * unread / whole:.2f}%"></i>'
    legend = "".join(
        f'<li><span class="fn-swatch {name}"></span>{escape(label)} <b>{figure(count)}</b></li>'
        for name, label, count in parts
        if count
    )
    total = escape(texts.WINDOW_TOTAL.format(total=figure(used.total)))
    return section(
        f"{term('window', texts.SECTION_WINDOW)} <small>{total}</small>",
        f'<div class="fn-window" aria-hidden="true">{bar}</div><ul class="fn-window-legend">{legend}</ul>'
        f"{''.join(_window_lines(trace, written, unread))}",
        "window-box",
        "fitted",
    )


def _window_lines(trace: Trace, written: int, unread: int) -> list[str]:
    if trace.prompt is None:
        return []
    used = trace.prompt.window
    kind = texts.WINDOW_EXACT if used.exact else texts.WINDOW_ESTIMATE
    ours = texts.WINDOW_OURS.format(used=figure(used.used), kind=kind)
    read = texts.WINDOW_UNTOLD if used.read is None else texts.WINDOW_READ.format(read=figure(used.read))
    lines = []
    if unread:
        lines.append(notice(texts.WINDOW_ALARM.format(unread=figure(unread)), texts.WINDOW_ALARM_HINT, "error"))
    lines.append(f"<p>{escape(ours)} {escape(read)}</p>")
    if written:
        lines.append(f"<p>{escape(texts.WINDOW_WRITTEN.format(count=figure(written)))}</p>")
    short = sum(bool(passage.over) for passage in trace.prompt.passages)
    if short:
        lines.append(notice(many(short, texts.WINDOW_SHORT_ONE, texts.WINDOW_SHORT), texts.WINDOW_SHORT_HINT, "error"))
    if used.forgotten:
        lines.append(notice(texts.WINDOW_FORGOTTEN.format(count=figure(used.forgotten))))
    return lines


def prompt(sent: Prompt | None, rendered: Rendered | None = None, problem: str = "") -> str:
    """The messages exactly as they were sent, folded, each with its tokens; and the text that the model read.

    Args:
        sent: The prompt; None where no model was asked.
        rendered: The one text that the model read, once it was asked for.
        problem: Why it cannot be had.
    """
    title = escape(texts.SECTION_PROMPT)
    if sent is None:
        return section(title, f'<p class="fn-quiet">{escape(texts.NO_PROMPT)}</p>', "prompt")
    whole = "\n\n".join(f"[{message.role}]\n{message.content}" for message in sent.messages)
    messages = "".join(
        f"<h4>{escape(message.role)}{_tokens(message.tokens)}</h4>"
        f'<pre dir="auto" tabindex="0">{escape(message.content)}</pre>'
        for message in sent.messages
    )
    count = many(len(sent.messages), texts.PROMPT_MESSAGES_ONE, texts.PROMPT_MESSAGES)
    if total := sum(message.tokens for message in sent.messages):
        count += f" · {texts.PROMPT_TOKENS.format(count=figure(total))}"
    if rendered is not None:
        kind = texts.WINDOW_EXACT if rendered.exact else texts.WINDOW_ESTIMATE
        counted = texts.PROMPT_RENDERED_COUNT.format(count=figure(rendered.tokens), kind=kind)
        text = (
            f"<h4>{escape(texts.PROMPT_RENDERED)} <small>{escape(counted)}</small></h4>{_copy(rendered.text)}"
            f'<pre dir="auto" tabindex="0">{escape(rendered.text)}</pre>'
        )
    else:
        text = notice(problem) if problem else ""
        text += (
            '<div class="fn-actions"><button type="button" data-do="rendered" '
            f'title="{escape(texts.PROMPT_RENDER_TITLE)}">{escape(texts.PROMPT_RENDER)}</button></div>'
        )
    opened = " open" if rendered is not None or problem else ""
    return (
        f'<section class="fn-box fn-prompt"><details class="fn-fold"{opened}><summary><h3>{title} '
        f"<small>{escape(count)}</small></h3></summary>{text}"
        f"<h4>{escape(texts.PROMPT_AS_MESSAGES)}</h4>{_copy(whole)}{messages}</details></section>"
    )


def _tokens(count: int) -> str:
    return f" <small>{escape(texts.PROMPT_TOKENS.format(count=figure(count)))}</small>" if count else ""


def _copy(text: str) -> str:
    return (
        f'<div class="fn-actions"><button type="button" data-do="copy" data-copy="{escape(text)}" '
        f'data-done="{escape(texts.COPIED)}">{escape(texts.COPY)}</button></div>'
    )


# ------------------------------------------------------------------------------------------------------------ timings


def waterfall(work: Sequence[Step]) -> str:
    """Where the time went: each step as a bar from when it began to when it ended."""
    work = [step for step in work if step.seconds >= _NOTICEABLE]
    if not work:
        return ""
    whole = max(step.start + step.seconds for step in work)
    rows = "".join(
        f'<li class="{"inside" if step.inside else ""}"><span>{term(step_of(step.name), step.name)}</span>'
        f'<span class="fn-bar"><i style="margin-left:{100 * step.start / whole:.2f}%;'
        f'width:{100 * step.seconds / whole:.2f}%"></i></span>'
        f"<b>{duration(step.seconds)}{_speed(step)}</b></li>"
        for step in work
    )
    total = escape(texts.TIMES_TOTAL.format(total=duration(whole)))
    return section(
        f"{escape(texts.SECTION_TIMES)} <small>{total}</small>", f'<ul class="fn-timings">{rows}</ul>', "times"
    )


def _speed(step: Step) -> str:
    if step.speed is None or step.tokens is None:
        return ""
    speed = f"{step.speed:.1f}" if step.speed < 10 else figure(round(step.speed))
    label = texts.TIMES_TOKENS.format(count=figure(step.tokens), speed=speed)
    return f" <small>{escape(label)}</small>"
