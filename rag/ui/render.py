"""What all tabs share when types become HTML: escaping, figures, the status line, notices.

Everything here and in the other ``render_…`` modules is a pure function from values to HTML. File names, chunk text,
model output and error messages are untrusted: each passes through :func:`escape` on its way out.
"""

from __future__ import annotations

import html
import time
from collections.abc import Sequence

from rag.types import Span, Status
from rag.ui import texts

_UNITS = ("B", "KB", "MB", "GB", "TB")
_OWN = ("embedded", "bundled")
_SCORE_DIGITS = {"cosine": 3, "bm25": 2, "rrf": 4}


def escape(text: object) -> str:
    """Text that is safe between tags and inside quoted attributes."""
    return html.escape(str(text), quote=True)


def size(count: int) -> str:
    """Bytes for people: ``1.1 GB``."""
    value = float(count)
    for unit in _UNITS:
        if value < 1000 or unit == _UNITS[-1]:
            return f"{value:.0f} {unit}" if unit in ("B", "KB") or value >= 100 else f"{value:.1f} {unit}"
        value /= 1000
    raise AssertionError("the last unit always returns")


def figure(count: int) -> str:
    """A whole number with thousands apart."""
    return f"{count:,}"


def many(count: int, one: str, more: str) -> str:
    """``one`` when there is one, else ``more`` filled with the count."""
    return one if count == 1 else more.format(count=figure(count))


def duration(seconds: float) -> str:
    """Seconds for people: ``0.031 s``, ``12 s``, ``3 min 20 s``, ``2 h 5 min``."""
    if seconds < 1:
        return f"{seconds:.3f} s"
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def date(unix_seconds: float) -> str:
    """A time on this machine's clock: ``2026-03-04 14:05``."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(unix_seconds))


def clock(unix_seconds: float) -> str:
    """A time of the day on this machine's clock: ``14:05``; with the date when it is another day."""
    today = time.strftime("%Y-%m-%d", time.localtime())
    when = date(unix_seconds)
    return when.removeprefix(f"{today} ")


def encoding(name: str) -> str:
    """A text encoding by the name that people know: ``UTF-8`` for ``utf_8``."""
    return name.replace("_", "-").upper()


def score(name: str, value: float) -> str:
    """A score with the digits that its kind needs, never a percentage."""
    return f"{value:.{_SCORE_DIGITS.get(name, 3)}f}"


def term(word: str, shown: str | None = None) -> str:
    """A technical word with its meaning as a tooltip."""
    meaning = texts.PLAIN_WORDS.get(word.lower())
    label = escape(shown if shown is not None else word)
    return f'<abbr title="{escape(meaning)}">{label}</abbr>' if meaning else label


def marked(text: str, spans: Sequence[Span]) -> str:
    """Escaped text with the given ranges in ``<mark>``; ranges may overlap or reach beyond the text."""
    parts: list[str] = []
    at = 0
    for span in sorted(spans, key=lambda span: span.start):
        start, end = max(span.start, at), min(span.end, len(text))
        if start < end:
            parts.append(f"{escape(text[at:start])}<mark>{escape(text[start:end])}</mark>")
            at = end
    return "".join(parts) + escape(text[at:])


def notice(message: str, hint: str = "", kind: str = "warning") -> str:
    """A boxed message with what to do next; ``kind`` is ``warning``, ``error`` or ``quiet``."""
    told = f" <span>{escape(hint)}</span>" if hint else ""
    return f'<div class="fn-notice {escape(kind)}" role="status"><strong>{escape(message)}</strong>{told}</div>'


def titles(names: Sequence[str], figures: Sequence[str] = ()) -> str:
    """The cells of a table's head, each with its meaning where it has one; those of ``figures`` stand at the right."""
    return "".join(
        f'<th scope="col" class="{"num" if name in figures else ""}">{term(name.lower(), name)}</th>' for name in names
    )


def table(label: str, head: str, rows: str) -> str:
    """A table that scrolls by itself where it is wider than the page.

    Args:
        label: What it holds, for those who hear the page.
        head: The cells of its head; empty: it has none.
        rows: Its rows, as HTML.
    """
    titles = f"<thead><tr>{head}</tr></thead>" if head else ""
    return (
        f'<div class="fn-table" tabindex="0" role="region" aria-label="{escape(label)}"><table>'
        f"{titles}<tbody>{rows}</tbody></table></div>"
    )


def progress(done: int, total: int, label: str) -> str:
    """A bar with its label under it; without a total the bar only shows that something moves."""
    value = f'value="{done}" max="{total}"' if total > 0 else ""
    told = escape(label)
    return f'<div class="fn-progress"><progress {value} aria-label="{told}"></progress><p>{told}</p></div>'


def status_line(status: Status | None) -> str:
    """What is running, in one line, and under it a sentence for whatever fell back; ``None`` while it is looked up."""
    brand = '<span class="fn-brand">Footnote<sup>1</sup></span>'
    if status is None:
        return f'<div class="fn-status">{brand}<span>{escape(texts.STATUS_LOOKING)}</span></div>'
    chat, embedder = status.chat, status.embedder
    model = (chat.name, chat.provider) if chat else (texts.STATUS_NO_MODEL, "")
    vectors = (embedder.model, embedder.provider) if embedder else (texts.STATUS_NO_EMBEDDER, "")
    entries = [
        ("model", texts.STATUS_MODEL, _named(*model), _title(*model, status.chat_reason), "" if chat else "off"),
        (
            "embedder",
            texts.STATUS_EMBEDDER,
            _named(*vectors),
            _title(*vectors, status.embedder_reason),
            "" if embedder else "off",
        ),
        ("device", texts.STATUS_DEVICE, status.device or "–", "", ""),
    ]
    if chat:
        window = texts.STATUS_TOKENS.format(count=figure(chat.context_tokens))
        entries.append(("window", texts.STATUS_WINDOW, window, "", ""))
    cells = "".join(
        f'<span class="fn-fact {word} {state}" title="{escape(title)}"><i>{term(word, label)}</i> '
        f"<b>{escape(value)}</b></span>"
        for word, label, value, title, state in entries
    )
    warnings = "".join(f"<li>{escape(warning)}</li>" for warning in status.warnings)
    told = f'<ul class="fn-warnings" role="status">{warnings}</ul>' if warnings else ""
    return f'<div class="fn-status">{brand}{cells}</div>{told}'


def _named(name: str, provider: str) -> str:
    """The model as the line shows it: who runs it is only said where that is not Footnote itself."""
    return f"{name} ({provider})" if provider not in ("", *_OWN) else name


def _title(name: str, provider: str, reason: str) -> str:
    """The whole of it, since the line cuts what is too long for it."""
    return f"{name} ({provider}): {reason}" if provider else reason
