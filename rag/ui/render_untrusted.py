"""Untrusted text as HTML: the badges of a passage, the passage with what is doubtful in it marked, and the warning."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from rag.answering.places import numbered_place
from rag.answering.untrusted import Doubt, doubts
from rag.inspection.untrusted import MOST_SHOWN, Screening
from rag.types import Chunk, Prompt, Span
from rag.ui import texts
from rag.ui.render import escape, figure, many, notice, progress, table

_SHOWN = 80  # characters of a doubtful stretch in a tooltip
_LISTED = 3
_BEFORE = 60  # characters of a passage shown before what is doubtful in it
_EXCERPT = 300


def badges(chunk: Chunk) -> str:
    """A passage's badges; nothing for nearly all passages."""
    found = doubts(chunk)
    parts = []
    for kind, label, some in (
        ("hidden", texts.UNTRUSTED_HIDDEN, [doubt for doubt in found if doubt.hidden is not None]),
        ("speaks", texts.UNTRUSTED_SPEAKS, [doubt for doubt in found if doubt.aim is not None]),
    ):
        if some:
            lines = [_told(chunk.text, doubt) for doubt in some[:_LISTED]]
            if len(some) > _LISTED:
                lines.append(texts.UNTRUSTED_MORE.format(count=len(some) - _LISTED))
            title = "\n".join((texts.UNTRUSTED_MEANS[kind], *lines))
            parts.append(f'<span class="fn-badge {kind}" title="{escape(title)}">{escape(label)}</span>')
    return "".join(parts)


def passage(chunk: Chunk, cited: Sequence[Span] = (), text: str | None = None) -> str:
    """A passage's text, escaped, with its cited words and with what is doubtful in it marked.

    Args:
        chunk: The passage.
        cited: Ranges of its text that an answer cites; they may overlap or reach beyond the text.
        text: The part of it to show; None: all of it.
    """
    whole = chunk.text
    shown = whole if text is None else text
    shift = max(0, whole.find(shown))
    found = [doubt for doubt in doubts(chunk) if doubt.span.start < shift + len(shown) and shift < doubt.span.end]
    edges = {0, len(shown)}
    for span in (*cited, *(doubt.span for doubt in found)):
        edges |= {min(max(span.start - shift, 0), len(shown)), min(max(span.end - shift, 0), len(shown))}
    ordered = sorted(edges)
    parts: list[str] = []
    for start, end in pairwise(ordered):
        piece = escape(shown[start:end])
        over = [doubt for doubt in found if doubt.span.start - shift <= start and end <= doubt.span.end - shift]
        if over:
            kind = "hidden" if any(doubt.hidden is not None for doubt in over) else "speaks"
            title = " ".join(dict.fromkeys(_why(doubt) for doubt in over))
            piece = f'<span class="fn-doubt {kind}" title="{escape(title)}">{piece}</span>'
        if any(span.start - shift <= start and end <= span.end - shift for span in cited):
            piece = f"<mark>{piece}</mark>"
        parts.append(piece)
    return "".join(parts)


def warning(prompt: Prompt | None) -> str:
    """Says that passages which the model read hold hidden text, or text that speaks to it; empty where none does."""
    read = [one.hit.chunk for one in prompt.passages if one.in_prompt] if prompt is not None else []
    found = {chunk.id: doubts(chunk) for chunk in read}
    doubtful = [some for some in found.values() if some]
    if not doubtful:
        return ""
    speaks = any(doubt.aim is not None for some in doubtful for doubt in some)
    kept_back = any(doubt.kept_back for some in doubtful for doubt in some)
    what = (
        (texts.UNTRUSTED_READ_ONE, texts.UNTRUSTED_READ)
        if speaks
        else (texts.UNTRUSTED_UNSEEN_ONE, texts.UNTRUSTED_UNSEEN)
    )
    hint = f"{texts.UNTRUSTED_KEPT_BACK} {texts.UNTRUSTED_HINT}" if kept_back else texts.UNTRUSTED_HINT
    return notice(many(len(doubtful), *what), hint)


def screening(done: Screening) -> str:
    """How far a library has been looked through, and the passages found; a row opens its file's X-ray."""
    looked, total = figure(done.looked), figure(done.total)
    if done.looked < done.total:
        head = progress(done.looked, done.total, texts.UNTRUSTED_LOOKING.format(looked=looked, total=total))
    elif not done.total:
        return notice(texts.UNTRUSTED_EMPTY, kind="quiet")
    elif not done.found:
        return notice(many(done.total, texts.UNTRUSTED_NONE_ONE, texts.UNTRUSTED_NONE), kind="quiet")
    else:
        files = many(done.files, texts.FILES_ONE, texts.FILES_MANY)
        counts = {"hidden": figure(done.hidden), "speaking": figure(done.speaking), "files": files}
        head = f"<p>{escape(texts.UNTRUSTED_FOUND.format(looked=looked, **counts))}</p>"
        if len(done.found) == MOST_SHOWN:
            head += f'<p class="fn-quiet">{escape(texts.UNTRUSTED_FIRST.format(count=MOST_SHOWN))}</p>'
    if not done.found:
        return head
    return head + table(texts.UNTRUSTED_LIST, "", "".join(_row(chunk) for chunk in done.found))


def _row(chunk: Chunk) -> str:
    where = ", ".join(filter(None, (numbered_place(chunk), " › ".join(chunk.heading_path))))
    first = doubts(chunk)[0].span.start
    start = max(0, first - _BEFORE)
    excerpt = passage(chunk, text=chunk.text[start : start + _EXCERPT])
    look = escape(texts.OPEN_XRAY.format(path=chunk.path))
    return (
        f'<tr data-id="{chunk.file_id}"><td><button type="button" class="fn-open" data-do="xray" aria-label="{look}">'
        f'{escape(chunk.path)}</button> <span class="fn-where">{escape(where)}</span>{badges(chunk)}'
        f'<p class="fn-fate" dir="auto">{"… " if start else ""}{excerpt}</p></td></tr>'
    )


def _told(text: str, doubt: Doubt) -> str:
    words = " ".join(text[doubt.span.start : doubt.span.end].split())
    shortened = words if len(words) <= _SHOWN else f"{words[:_SHOWN].rstrip()}…"
    return f"“{shortened}”: {_why(doubt)}"


def _why(doubt: Doubt) -> str:
    parts = []
    if doubt.hidden is not None:
        parts.append(texts.UNTRUSTED_HOW[doubt.hidden])
    if doubt.aim is not None:
        parts.append(texts.UNTRUSTED_AIM[doubt.aim])
    if doubt.kept_back:
        parts.append(texts.UNTRUSTED_KEPT_BACK)
    return " ".join(parts)
