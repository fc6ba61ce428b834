"""The X-ray of a file as HTML: what it is, and leaf by leaf the text that was taken from it and its passages.

A leaf is a page or, in a format without pages, a run of passages that is short enough to be looked at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag.answering.places import numbered_place
from rag.types import Chunk, FileReport, FileState, FileXray, PageText, PageVerdict, Remedy
from rag.ui import render_untrusted, texts
from rag.ui.render import date, encoding, escape, figure, many, notice, size
from rag.ui.render_ingest import STATES

LEAF_CHARACTERS = 12_000
"""About how much text one leaf of a format without pages holds."""

ENCODINGS = (
    "utf_8", "utf_16", "cp1252", "latin_1", "mac_roman", "cp932", "shift_jis", "euc_jp", "iso2022_jp", "gb18030",
    "gbk", "big5", "euc_kr", "cp1250", "cp1251", "koi8_r", "cp1253", "cp1254", "cp1255", "cp1256", "cp437",
)  # fmt: skip
"""Encodings offered by name; any other that Python knows can be typed."""

_SIGNS = {
    PageVerdict.TEXT: "✓",
    PageVerdict.RECOGNISED: "✓",
    PageVerdict.SCAN: "▣",
    PageVerdict.EMPTY: "○",
    PageVerdict.GARBLED: "≠",
    PageVerdict.DAMAGED: "✕",
}
"""So that a verdict can be told without its colour."""

_LEVELS = {
    PageVerdict.TEXT: "ok",
    PageVerdict.RECOGNISED: "ok",
    PageVerdict.SCAN: "warning",
    PageVerdict.EMPTY: "",
    PageVerdict.GARBLED: "error",
    PageVerdict.DAMAGED: "error",
}


@dataclass(frozen=True)
class Piece:
    """A stretch of a leaf's text.

    Attributes:
        text: The text.
        start: Where it begins in the text of the page, or of the file where that has no pages.
        chunk: The passage that it belongs to; None where it belongs to none.
        number: The passage's number in the file, from 1.
        shared: How many of its first characters are the end of the passage before as well.
        continued: Whether the passage began on an earlier page.
    """

    text: str
    start: int
    chunk: Chunk | None = None
    number: int = 0
    shared: int = 0
    continued: bool = False


def _is_problem(page: PageText) -> bool:
    return bool(page.problem) or _LEVELS[page.verdict] in ("warning", "error")


def problem_pages(xray: FileXray) -> list[int]:
    """Numbers of the pages that were not read fully."""
    return [page.number for page in xray.pages if _is_problem(page)]


def leaves(xray: FileXray) -> int:
    """How many leaves the file has; 0 where nothing was read."""
    return len(xray.pages) if xray.pages else len(_parts(xray))


def _parts(xray: FileXray) -> list[list[Piece]]:
    """The leaves of a format without pages."""
    placed = [Piece(chunk.text, chunk.span.start, chunk, number) for number, chunk in enumerate(xray.chunks, start=1)]
    parts: list[list[Piece]] = []
    length = LEAF_CHARACTERS
    for piece in _with_gaps(xray.text, placed):
        if length >= LEAF_CHARACTERS:
            parts.append([])
            length = 0
        parts[-1].append(piece)
        length += len(piece.text)
    return parts


def _on_page(xray: FileXray, page: PageText) -> list[Piece]:
    """A page's text as passages and what lies between them.

    The page's own place in the document is not kept, so each passage is looked for in the page's text, from where the
    one before was found; one that spans pages is cut at its page breaks first.
    """
    placed: list[Piece] = []
    for number, chunk in enumerate(xray.chunks, start=1):
        index = page.number - (chunk.page or 0)
        breaks = [chunk.span.start, *chunk.page_breaks, chunk.span.end]
        if chunk.page is None or not 0 <= index < len(breaks) - 1:
            continue
        part = chunk.text[breaks[index] - chunk.span.start : breaks[index + 1] - chunk.span.start].strip()
        start = page.text.find(part, placed[-1].start + 1 if placed else 0) if part else -1
        if start >= 0:
            placed.append(Piece(part, start, chunk, number, continued=index > 0))
    return _with_gaps(page.text, placed)


def _with_gaps(text: str, placed: Sequence[Piece]) -> list[Piece]:
    """The passages in their order, with what lies between them and how much two neighbours share."""
    pieces: list[Piece] = []
    at = 0
    for piece in placed:
        if text[at : piece.start].strip():
            pieces.append(Piece(text[at : piece.start].strip("\n"), at))
        end = piece.start + len(piece.text)
        pieces.append(replace(piece, shared=max(0, min(at, end) - piece.start)))
        at = max(at, end)
    if text[at:].strip():
        pieces.append(Piece(text[at:].strip("\n"), at))
    return pieces


def _piece(piece: Piece) -> str:
    if piece.chunk is None:
        return (
            f'<div class="fn-piece between"><p class="fn-piece-head">{escape(texts.XRAY_BETWEEN)}</p>'
            f'<div class="fn-piece-text" dir="auto">{escape(piece.text)}</div></div>'
        )
    chunk = piece.chunk
    facts = [
        numbered_place(chunk),
        many(chunk.tokens, texts.XRAY_TOKENS_ONE, texts.XRAY_TOKENS),
        texts.XRAY_CONTINUED if piece.continued else "",
    ]
    heading = " › ".join(chunk.heading_path)
    path = f'<span class="fn-where" dir="auto">{escape(heading)}</span>' if heading else ""
    context = ""
    if chunk.context and not piece.continued:
        context = f'<div class="fn-context" title="{escape(texts.XRAY_WITH)}" dir="auto">{escape(chunk.context)}</div>'
    shared = ""
    if piece.shared:
        again = escape(piece.text[: piece.shared])
        shared = f'<span class="fn-shared" title="{escape(texts.XRAY_SHARED)}">{again}</span>'
    rest = render_untrusted.passage(chunk, text=piece.text[piece.shared :])
    name = escape(texts.XRAY_PASSAGE.format(number=piece.number))
    return (
        f'<div class="fn-piece"><p class="fn-piece-head"><b>{name}</b> '
        f"{escape(' · '.join(filter(None, facts)))} {path}{render_untrusted.badges(chunk)}</p>"
        f'{context}<div class="fn-piece-text" dir="auto">{shared}{rest}</div></div>'
    )


def verdict(page: PageText) -> str:
    """A page's verdict in words, with a sign and a colour, and what could not be read on it."""
    label = texts.VERDICT_PAGE[page.verdict.value]
    means = page.problem or texts.VERDICT_MEANS[page.verdict.value]
    problem = f" <span>{escape(means)}</span>" if means else ""
    return (
        f'<p class="fn-page-verdict"><span class="fn-state {_LEVELS[page.verdict]}">{_SIGNS[page.verdict]} '
        f"{escape(label)}</span>{problem}</p>"
    )


def leaf(xray: FileXray, number: int) -> str:
    """One leaf: a page with the place for its picture beside its text, or the next passages.

    Args:
        xray: The file.
        number: Which leaf, from 1; one that is out of range is brought into it.
    """
    count = leaves(xray)
    if count == 0:
        told = texts.XRAY_COPY.format(path=xray.record.copy_of) if xray.record.copy_of else texts.XRAY_NOTHING
        return f'<p class="fn-quiet">{escape(told)}</p>'
    index = min(max(number, 1), count) - 1
    if not xray.pages:
        return f'<div class="fn-taken"><h4>{escape(texts.XRAY_TEXT_WHOLE)}</h4>{_taken(_parts(xray)[index])}</div>'
    page = xray.pages[index]
    alt = escape(texts.XRAY_IMAGE.format(page=page.number))
    loading = escape(texts.XRAY_IMAGE_LOADING.format(page=page.number))
    body = (
        _taken(_on_page(xray, page)) if page.text.strip() else f'<p class="fn-quiet">{escape(texts.XRAY_NO_TEXT)}</p>'
    )
    return (
        f'{verdict(page)}<div class="fn-beside"><figure class="fn-leaf" data-page="{page.number}" data-alt="{alt}">'
        f'<p>{loading}</p></figure><div class="fn-taken"><h4>{escape(texts.XRAY_TEXT)}</h4>{body}</div></div>'
    )


def _taken(pieces: Sequence[Piece]) -> str:
    return "".join(_piece(piece) for piece in pieces)


def pages(xray: FileXray) -> str:
    """What the pages turned out to be, counted: ``12 pages: 10 text, 2 scan``."""
    if not xray.pages:
        return ""
    counts = Counter(page.verdict for page in xray.pages)
    parts = [texts.VERDICT_PAGES[kind.value].format(count=figure(counts[kind])) for kind in PageVerdict if counts[kind]]
    return f"{many(len(xray.pages), texts.PAGES_ONE, texts.PAGES_MANY)}: {', '.join(parts)}"


def head(xray: FileXray) -> str:
    """What the file is and how it was read."""
    record = xray.record
    coding = encoding(record.encoding or record.options.encoding)
    if record.options.encoding:
        coding = texts.XRAY_SET_ENCODING.format(encoding=coding)
    facts = (
        (texts.XRAY_TITLE, record.title),
        (texts.XRAY_AUTHORS, ", ".join(record.authors)),
        (texts.XRAY_YEAR, str(record.year or "")),
        (texts.COLUMN_PAGES, pages(xray)),
        (texts.COLUMN_CHUNKS, figure(record.chunks)),
        (texts.XRAY_ENCODING, coding),
        (texts.COLUMN_SIZE, size(record.size)),
        (texts.XRAY_MODIFIED, date(record.mtime_ns / 1e9)),
        (texts.XRAY_INDEXED, date(record.indexed_at)),
        (texts.XRAY_FOLDER, record.root),
    )
    rows = "".join(f'<dt>{escape(name)}</dt><dd dir="auto">{escape(value)}</dd>' for name, value in facts if value)
    stale = notice(texts.XRAY_STALE) if xray.stale else ""
    reason = f" <span>{escape(record.reason)}</span>" if record.reason else ""
    return (
        f'<p class="fn-page-verdict"><span class="fn-state {record.state.value}">{escape(STATES[record.state])}</span>'
        f'{reason}</p>{stale}<dl class="fn-pairs">{rows}</dl>'
    )


def tools(xray: FileXray, ocr_engine: str) -> str:
    """What can be done about the file; only what would help is offered.

    Args:
        xray: The file.
        ocr_engine: Name of the engine that recognises text; empty where none is installed.
    """
    record = xray.record
    parts = [
        f'<div class="fn-actions"><button type="button" data-do="again">{escape(texts.XRAY_REREAD)}</button>'
        f"{_ocr_button(xray, ocr_engine)}</div>"
    ]
    if _wants_ocr(xray) and not record.options.ocr:
        told = (
            texts.XRAY_OCR_INFO.format(engine=ocr_engine)
            if ocr_engine
            else texts.XRAY_OCR_MISSING.format(command=texts.XRAY_OCR_COMMAND)
        )
        parts.append(f'<p class="fn-quiet">{escape(told)}</p>')
    if Remedy.PASSWORD in record.remedies:
        parts.append(
            '<form class="fn-ask" data-do="password">'
            f'<label>{escape(texts.XRAY_PASSWORD)} <input name="password" type="password" autocomplete="off"></label>'
            f'<button type="submit">{escape(texts.XRAY_PASSWORD_GIVE)}</button>'
            f'<p class="fn-quiet">{escape(texts.XRAY_PASSWORD_INFO)}</p></form>'
        )
    if record.encoding or record.options.encoding or Remedy.ENCODING in record.remedies:
        parts.append(_encoding_form(xray))
    return "".join(parts)


def _wants_ocr(xray: FileXray) -> bool:
    unread = (PageVerdict.SCAN, PageVerdict.GARBLED)
    return Remedy.OCR in xray.record.remedies or any(page.verdict in unread for page in xray.pages)


def _ocr_button(xray: FileXray, ocr_engine: str) -> str:
    if xray.record.options.ocr:
        return f'<button type="button" data-do="no-ocr">{escape(texts.XRAY_OCR_OFF)}</button>'
    if ocr_engine and _wants_ocr(xray):
        return f'<button type="button" data-do="ocr">{escape(texts.XRAY_OCR)}</button>'
    return ""


def _encoding_form(xray: FileXray) -> str:
    record = xray.record
    names = "".join(f'<option value="{escape(encoding(name))}"></option>' for name in ENCODINGS)
    doubtful = Remedy.ENCODING in record.remedies or bool(record.options.encoding)
    return (
        f'<details class="fn-fold" {"open" if doubtful else ""}><summary>{escape(texts.XRAY_ENCODING)}: '
        f"{escape(encoding(record.encoding) or '–')}</summary>"
        '<form class="fn-ask" data-do="encoding">'
        f'<label>{escape(texts.XRAY_ENCODING)} <input name="encoding" list="fn-encodings" autocomplete="off" '
        f'placeholder="{escape(texts.XRAY_ENCODING_FIND)}" value="{escape(encoding(record.options.encoding))}"></label>'
        f'<datalist id="fn-encodings">{names}</datalist>'
        f'<button type="submit">{escape(texts.XRAY_ENCODING_SET)}</button>'
        f'<p class="fn-quiet">{escape(texts.XRAY_ENCODING_INFO)}</p></form></details>'
    )


def outcome(report: FileReport) -> str:
    """How reading the file again ended."""
    state = STATES[report.state] if report.state is not None else texts.CHANGE_REMOVED
    if report.reason:
        line = texts.XRAY_REREAD_DONE_WHY.format(state=state, reason=report.reason)
    else:
        passages = many(report.chunks, texts.PASSAGES_ONE, texts.PASSAGES_MANY)
        line = texts.XRAY_REREAD_DONE.format(state=state, passages=passages)
    return notice(line, kind="warning" if report.state in (FileState.PARTLY, FileState.FAILED) else "quiet")
