"""A conversation as HTML: questions, answers with their citations, source cards, empty states, the list of chats."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from types import MappingProxyType

from markdown_it import MarkdownIt

from rag.answering.places import numbered_place, place
from rag.inspection.contradiction import contradictions
from rag.types import (
    Answer,
    Chunk,
    Citation,
    ConversationInfo,
    FactKind,
    Flag,
    Hit,
    LibraryInfo,
    ModelChoice,
    Passage,
    Prompt,
    Retrieval,
    Span,
    Trace,
    Verdict,
)
from rag.ui import render_search, render_untrusted, texts
from rag.ui.render import date, escape, many, marked, notice, score, size, term

NEAREST = 3
"""Passages shown under a question that the notes do not answer."""

SEARCHED = 5
"""Passages shown where Footnote only searches and nothing was asked for."""

_MARK = re.compile(r"\[\s*\d{1,3}(?:\s*[,;]\s*\d{1,3})*\s*\]")
_TAG = re.compile(r"(<[^>]*>)")
_LEADING = re.compile(r"[\s>#*+\-]*(?:\d+[.)]\s+)?")
_EXCERPT = 220
_LONGEST_WORD = 20

# Characters of Unicode's private area stand in the Markdown source where HTML belongs later, so that neither the text
# nor the Markdown around them can forge or break it. Whatever of them the model itself writes is replaced first.
_PRIVATE = dict.fromkeys(range(0xE000, 0xF900), 0xFFFD)
_UNSUPPORTED = ("\ue000", "\ue001")
_FLAGGED: dict[str, FactKind] = {
    "\ue002": "number",
    "\ue003": "unit",
    "\ue004": "date",
    "\ue005": "name",
    "\ue006": "quote",
}
_FLAG_OF = {kind: stand_in for stand_in, kind in _FLAGGED.items()}
_FLAG_ENDS = "\ue007"
_FIRST_CHIP = 0xE010
_STAND_INS = re.compile(r"([\ue000-\uf8ff])")


@cache
def _markdown() -> MarkdownIt:
    """Markdown without HTML, links and images: an answer may not carry addresses to click or fetch."""
    return (
        MarkdownIt("commonmark", {"html": False, "breaks": True})
        .enable(["table", "strikethrough"])
        .disable(["link", "image", "autolink", "reference", "html_inline", "html_block"])
    )


def _chip(number: int, kind: str, title: str) -> str:
    label = escape(title)
    return (
        f'<button type="button" class="fn-chip {kind}" data-cite="{number}" title="{label}" aria-label="{label}">'
        f"{number}</button>"
    )


def _paint(rendered: str, chips: Mapping[str, str]) -> str:
    """Puts chips and soft marks where their stand-ins are, wrapping text only so that tags stay nested."""
    parts: list[str] = []
    unsupported = False
    flagged: FactKind | None = None
    for piece in _TAG.split(rendered):
        if piece.startswith("<"):
            parts.append(piece)
            continue
        for run in _STAND_INS.split(piece):
            if run in _UNSUPPORTED:
                unsupported = run == _UNSUPPORTED[0]
            elif run in _FLAGGED or run == _FLAG_ENDS:
                flagged = _FLAGGED.get(run)
            elif run in chips:
                parts.append(_beside_its_word(parts, chips[run]))
            elif run and flagged:
                title = escape(texts.FLAG_TITLES[flagged])
                parts.append(f'<span class="fn-missing {flagged}" title="{title}">{run}</span>')
            elif run.strip() and unsupported:
                parts.append(f'<span class="fn-unsupported" title="{escape(texts.UNSUPPORTED_TITLE)}">{run}</span>')
            else:
                parts.append(run)
    return "".join(parts)


def _beside_its_word(parts: list[str], chip: str) -> str:
    """The chip tied to the word before it, which is taken from the end of ``parts``, so that no line begins with it."""
    before = parts[-1] if parts else ""
    if "<" in before or not before.strip():
        return chip
    kept, space, word = before.rstrip().rpartition(" ")
    if len(word) > _LONGEST_WORD:
        return chip
    parts[-1] = kept + space
    return f'<span class="fn-tied">{word} {chip}</span>'


def _with_stand_ins(
    text: str, chip_of: Mapping[tuple[int, int], Sequence[str]], soft: Sequence[tuple[Span, tuple[str, str]]]
) -> tuple[str, dict[str, str]]:
    """The Markdown source with stand-ins, and the HTML of each chip's stand-in."""
    chips: dict[str, str] = {}
    edits: list[tuple[int, int, str]] = []
    for (start, end), html_of_marks in chip_of.items():
        stand_ins = ""
        for chip in html_of_marks:
            stand_in = chr(_FIRST_CHIP + len(chips))
            chips[stand_in] = chip
            stand_ins += stand_in
        edits.append((start, end, stand_ins))
    for span, (opening, closing) in soft:
        edits.append((span.start, span.start, opening))
        edits.append((span.end, span.end, closing))
    parts: list[str] = []
    at = 0
    for start, end, stand_in in sorted(edits, key=lambda edit: (edit[0], edit[1])):
        parts += [text[at:start], stand_in]
        at = max(at, end)
    return "".join(parts) + text[at:], chips


def _numbers(mark: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", mark)]


def _bound(citations: Sequence[Citation], number: int, at: int) -> Citation | None:
    """The citation that the mark ``[number]`` at that place of the answer stands for."""
    named = [citation for citation in citations if citation.number == number]
    return min(
        named,
        key=lambda citation: max(citation.answer_span.start - at, at - citation.answer_span.end, 0),
        default=None,
    )


def _answer_chip(answer: Answer, number: int, at: int) -> str:
    citation = _bound(answer.citations, number, at)
    if citation is None:
        return _chip(number, "unknown", texts.CHIP_UNKNOWN.format(number=number))
    title = texts.CHIP_MODEL if citation.by == "model" else texts.CHIP_FOOTNOTE
    return _chip(number, f"by-{citation.by}", title.format(number=number, place=place(citation.chunk)))


def _trimmed(text: str, span: Span) -> Span:
    """The span without the list or heading signs at its start and the space at its end, which Markdown needs alone."""
    piece = text[span.start : span.end]
    lead = _LEADING.match(piece)
    start = span.start + (lead.end() if lead else 0)
    return Span(start, max(start, span.start + len(piece.rstrip())))


def _flags(answer: Answer) -> list[Flag]:
    """What the answer says beyond what it cites, as far as a mark for it touches no citation."""
    marks = [Span(*match.span()) for match in _MARK.finditer(answer.text)]
    return [flag for flag in answer.flags if not any(flag.span.overlaps(mark) for mark in marks)]


def answer_text(answer: Answer) -> str:
    """The answer's Markdown as HTML, with citation chips and soft marks on what no passage supports."""
    text = answer.text.translate(_PRIVATE)
    chip_of = {
        match.span(): [_answer_chip(answer, number, match.start()) for number in _numbers(match.group())]
        for match in _MARK.finditer(text)
    }
    soft = [(_trimmed(text, span), _UNSUPPORTED) for span in answer.unsupported]
    soft += [(flag.span, (_FLAG_OF[flag.kind], _FLAG_ENDS)) for flag in _flags(answer)]
    source, chips = _with_stand_ins(text, chip_of, soft)
    return _paint(_markdown().render(source), chips)


def streaming(text: str, passages: Sequence[Passage]) -> str:
    """The answer so far: marks are shown as chips that are not yet checked."""
    text = text.translate(_PRIVATE)
    places = {passage.number: place(passage.hit.chunk) for passage in passages if passage.in_prompt}
    chip_of = {
        match.span(): [
            _chip(number, "pending", texts.CHIP_PENDING.format(number=number, place=places.get(number, "?")))
            for number in _numbers(match.group())
        ]
        for match in _MARK.finditer(text)
    }
    source, chips = _with_stand_ins(text, chip_of, ())
    return f'<div class="fn-text" dir="auto">{_paint(_markdown().render(source), chips)}</div>'


def _legend(answer: Answer) -> str:
    """Explains the signs that this answer uses; nothing when the model's own marks are all there is."""
    signs = []
    if any(citation.by == "footnote" for citation in answer.citations):
        if any(citation.by == "model" for citation in answer.citations):
            signs.append(f'<span class="fn-chip by-model">n</span> {escape(texts.LEGEND_MODEL)}')
        signs.append(f'<span class="fn-chip by-footnote">n</span> {escape(texts.LEGEND_FOOTNOTE)}')
    if answer.unknown_numbers:
        signs.append(f'<span class="fn-chip unknown">n</span> {escape(texts.LEGEND_UNKNOWN)}')
    if answer.unsupported:
        signs.append(f'<span class="fn-unsupported">text</span> {escape(texts.LEGEND_UNSUPPORTED)}')
    if _flags(answer):
        signs.append(f'<span class="fn-missing">12</span> {escape(texts.LEGEND_MISSING)}')
    return f'<p class="fn-legend">{"".join(f"<span>{sign}</span>" for sign in signs)}</p>' if signs else ""


def question(text: str, retrieval: Retrieval | None, index: int | None = None) -> str:
    """The question, and under it what was searched when that is not what was typed.

    Args:
        text: As typed.
        retrieval: What was found; None before that.
        index: The exchange's place in the conversation, from 0; None while it is being answered.
    """
    below = render_search.searched(retrieval, index) if retrieval is not None else ""
    return f'<h3 class="fn-question">{escape(text)}</h3>{below}'


def waiting(retrieval: Retrieval | None, prompt: Prompt | None) -> str:
    """What is going on before the first word."""
    label = texts.SEARCHING
    if retrieval is not None and prompt is not None:
        label = many(sum(passage.in_prompt for passage in prompt.passages), texts.READING_ONE, texts.READING)
    return f'<p class="fn-waiting" role="status"><span class="fn-pulse"></span>{escape(label)}</p>'


def answer(trace: Trace, index: int, ages: Mapping[str, str] = MappingProxyType({})) -> str:
    """A finished answer with its warnings, its legend and what can be done with it.

    Args:
        trace: The answer with its record.
        index: The exchange's place in the conversation, from 0.
        ages: By the id of a passage, what became of its file since (see :meth:`rag.engine.Engine.freshness`).
    """
    finished = trace.answer
    parts = []
    if finished.outcome == "search_only":
        parts.append(notice(finished.text, kind="quiet"))
    elif finished.outcome == "failed":
        parts.append(notice(texts.OUTCOME_FAILED, kind="error"))
    if finished.text and finished.outcome in ("answered", "stopped", "failed"):
        parts.append(render_search.thin(trace.retrieval))
    if finished.text and finished.outcome != "search_only":
        parts.append(f'<div class="fn-text {finished.outcome}" dir="auto">{answer_text(finished)}</div>')
    if finished.outcome == "not_in_notes":
        parts.append(render_search.unanswered(trace, index))
    if finished.outcome == "search_only" and trace.retrieval.evidence.verdict is Verdict.NONE:
        parts.append(notice(texts.SEARCH_ONLY_NONE))
    if finished.outcome == "stopped":
        parts.append(notice(texts.OUTCOME_STOPPED, kind="quiet"))
    parts += [notice(warning) for warning in finished.warnings]
    parts.append(render_untrusted.warning(trace.prompt if finished.outcome == "answered" else None))
    parts += [notice(texts.CONTRADICTED.format(path=one.chunk.path), f"“{one.says}”") for one in contradictions(trace)]
    aged = len({citation.chunk.id for citation in finished.citations} & ages.keys())
    if aged:
        parts.append(notice(many(aged, texts.AGED_ONE, texts.AGED), texts.AGED_HINT))
    parts.append(_legend(finished))
    parts.append(
        '<div class="fn-actions">'
        f'<button type="button" data-do="retry" data-question="{escape(trace.retrieval.question)}" '
        f'data-index="{index}" title="{escape(texts.RETRY_TITLE)}">'
        f"{escape(texts.RETRY)}</button>"
        f'<button type="button" data-do="copy" data-copy="{escape(finished.text)}" data-done="{escape(texts.COPIED)}">'
        f"{escape(texts.COPY)}</button>"
        f'<button type="button" data-do="inspect" data-index="{index}" title="{escape(texts.INSPECT_TITLE)}">'
        f"{escape(texts.INSPECT)}</button>"
        f"{_pointer('nowhere', texts.POINT_NOWHERE, texts.POINT_NOWHERE_TITLE)}</div>"
    )
    return "".join(parts)


def _pointer(what: str, label: str, title: str) -> str:
    """A button that keeps the question to measure the library with."""
    return (
        f'<button type="button" class="fn-point" data-do="{what}" title="{escape(title)}" '
        f'data-done="{escape(texts.POINT_DONE)}">{escape(label)}</button>'
    )


def failed(message: str, hint: str, asked: str) -> str:
    """An answer that broke off, with the reason and the way to try again."""
    return notice(message, hint, "error") + _again(asked)


def stopped(text: str, passages: Sequence[Passage], asked: str) -> str:
    """An answer that was stopped while the model has not noticed yet: what it had said, and the way to ask again."""
    said = streaming(text, passages) if text else ""
    return f"{said}{notice(texts.OUTCOME_STOPPED, kind='quiet')}{_again(asked)}"


def _again(asked: str) -> str:
    return (
        '<div class="fn-actions">'
        f'<button type="button" data-do="retry" data-question="{escape(asked)}">{escape(texts.RETRY)}</button>'
        f'<button type="button" data-do="edit" data-question="{escape(asked)}">{escape(texts.EDIT)}</button></div>'
    )


def _scores(retrieval: Retrieval, chunk: Chunk) -> str:
    return "".join(
        f"<span>{term(name)} <b>{score(name, value)}</b></span>" for name, value in retrieval.scores(chunk.id).items()
    )


def _excerpt(text: str, spans: Sequence[Span]) -> str:
    """A line of the passage around its first cited words, cut between words."""
    start = max(0, min((span.start for span in spans), default=0) - 40)
    end = min(len(text), start + _EXCERPT)
    if start > 0 and (gap := text.find(" ", start, start + 40)) >= 0:
        start = gap + 1
    if end < len(text) and (gap := text.rfind(" ", end - 40, end)) >= 0:
        end = gap
    shifted = [Span(span.start - start, span.end - start) for span in spans if span.end > start]
    shown = marked(text[start:end].replace("\n", " "), shifted)
    return f"{'… ' if start else ''}{shown}{' …' if end < len(text) else ''}"


def _card(
    number: int,
    hit: Hit,
    retrieval: Retrieval,
    cited: Sequence[Citation] | None,
    age: str = "",
    joined: Sequence[Chunk] = (),
) -> str:
    chunk = hit.chunk
    spans = [
        Span(citation.span.start - chunk.span.start, citation.span.end - chunk.span.start) for citation in cited or ()
    ]
    where = ", ".join(filter(None, (numbered_place(chunk), " › ".join(chunk.heading_path))))
    badge = _nature(chunk) + render_untrusted.badges(chunk)
    if cited is not None and number:
        kind, label = ("cited", texts.CITED) if cited else ("uncited", texts.NOT_CITED)
        badge += f'<span class="fn-badge {kind}">{escape(label)}</span>'
    if age:
        badge += f'<span class="fn-badge aged" title="{escape(texts.AGE_TITLES[age])}">{escape(texts.AGE[age])}</span>'
    image = ""
    if chunk.page is not None:
        wanted = ",".join(f"{citation.span.start}-{citation.span.end}" for citation in cited or ())
        image = (
            f'<figure class="fn-page" data-chunk="{escape(chunk.id)}" data-spans="{wanted}" '
            f'data-library="{escape(chunk.library)}" '
            f'data-alt="{escape(texts.PAGE_ALT.format(page=chunk.page, path=chunk.path))}">'
            f"<p>{escape(texts.PAGE_LOADING.format(page=chunk.page))}</p></figure>"
        )
    library = f'<span class="fn-badge library">{escape(chunk.library)}</span>' if chunk.library else ""
    context = f'<div class="fn-context">{escape(chunk.context)}</div>' if chunk.context else ""
    shown_number = f'<span class="fn-number">{number}</span>' if number else ""
    return (
        f'<details class="fn-card" data-number="{number}" data-key="{escape(chunk.id)}">'
        f'<summary title="{escape(texts.IN_FILE)}">{shown_number}<span class="fn-head">'
        f'{library}<span class="fn-path">{escape(chunk.path)}</span> '
        f'<span class="fn-where">{escape(where)}</span>{badge}{_story(hit, len(joined))}'
        f'<span class="fn-scores">{_scores(retrieval, _found(retrieval, joined) or chunk)}</span>'
        f'<span class="fn-excerpt" dir="auto">{_excerpt(chunk.text, spans)}</span></span></summary>'
        f'<blockquote class="fn-passage" dir="auto">{context}{render_untrusted.passage(chunk, spans)}</blockquote>'
        f'<div class="fn-actions">{_pointer("answers", texts.POINT_ANSWERS, texts.POINT_ANSWERS_TITLE)}</div>'
        f"{_copies(hit)}{image}</details>"
    )


def _found(retrieval: Retrieval, joined: Sequence[Chunk]) -> Chunk | None:
    """Of neighbours that were put together, the one that the search found first."""
    parts = {chunk.id for chunk in joined}
    return next((hit.chunk for hit in retrieval.hits if hit.chunk.id in parts), None)


def _nature(chunk: Chunk) -> str:
    """The section's number and whether the passage binds, where the document says so."""
    badges = ""
    if chunk.section:
        label = texts.SECTION.format(number=chunk.section) if chunk.section[0].isdigit() else chunk.section
        badges += f'<span class="fn-badge section">{escape(label)}</span>'
    if chunk.stance:
        title = texts.NORMATIVE_TITLE if chunk.stance == "normative" else texts.INFORMATIVE_TITLE
        badges += f'<span class="fn-badge {chunk.stance}" title="{escape(title)}">{escape(chunk.stance)}</span>'
    return badges


def _story(hit: Hit, joined: int) -> str:
    """How the passage came to be as it is: followed from another one, put together, found in other places too."""
    lines = []
    if hit.note:
        note = escape(texts.FOLLOWED.format(note=hit.note))
        lines.append(f'<span title="{escape(texts.FOLLOWED_TITLE)}">{note}</span>')
    if joined > 1:
        lines.append(f"<span>{escape(texts.JOINED.format(count=joined))}</span>")
    if hit.copies:
        also = many(len(hit.copies), texts.ALSO_IN.format(place=_short(hit.copies[0])), texts.ALSO_IN_MANY)
        lines.append(f'<span title="{escape(texts.ALSO_IN_TITLE)}">{escape(also)}</span>')
    return f'<span class="fn-story">{"".join(lines)}</span>' if lines else ""


def _short(chunk: Chunk) -> str:
    return ", ".join(filter(None, (chunk.path, numbered_place(chunk))))


def _copies(hit: Hit) -> str:
    """Every place where nearly the same is said, once there are several."""
    if len(hit.copies) < 2:
        return ""
    places = "".join(f"<li>{escape(texts.ALSO_IN.format(place=place(copy)))}</li>" for copy in hit.copies)
    return f'<ul class="fn-copies" title="{escape(texts.ALSO_IN_TITLE)}">{places}</ul>'


def shown_chunks(traces: Iterable[Trace]) -> list[Chunk]:
    """The passages that the cards beside these answers show."""
    chunks: dict[str, Chunk] = {}
    for trace in traces:
        passages = trace.prompt.passages if trace.prompt else ()
        hits = [*(passage.hit for passage in passages if passage.in_prompt), *trace.retrieval.hits[:SEARCHED]]
        chunks |= {hit.chunk.id: hit.chunk for hit in hits}
    return list(chunks.values())


def sources(
    retrieval: Retrieval,
    prompt: Prompt | None,
    finished: Answer | None,
    shown: int = 0,
    ages: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """The cards beside an answer: what the model read or, where it read nothing, the nearest passages.

    Args:
        retrieval: The search, for the scores.
        prompt: What went to the model; None where nothing did.
        finished: The answer; None while it is being written.
        shown: Passages to show where Footnote only searches; 0 for a handful.
        ages: By the id of a passage, what became of its file since; fresh ones are absent.
    """
    hits: Sequence[Hit]
    if prompt is not None and (finished is None or finished.outcome != "not_in_notes"):
        title = texts.SOURCES_FOUND if finished is None else texts.SOURCES
        cards = []
        for passage in sorted((p for p in prompt.passages if p.in_prompt), key=lambda p: p.number):
            chunk = passage.hit.chunk
            cited = None
            if finished is not None:
                cited = [c for c in finished.citations if c.number == passage.number and c.chunk.id == chunk.id]
            age = ages.get(chunk.id, "")
            cards.append(_card(passage.number, passage.hit, retrieval, cited, age, passage.joined))
    else:
        only_search = finished is not None and finished.outcome == "search_only"
        title = texts.SOURCES if only_search else texts.SOURCES_NEAREST
        hits = retrieval.hits[: (shown or SEARCHED) if only_search else NEAREST]
        cards = [_card(0, hit, retrieval, None, ages.get(hit.chunk.id, "")) for hit in hits]
    if not cards:
        return f'<p class="fn-quiet">{escape(texts.SOURCES_NONE)}</p>'
    return f"<h4>{escape(title)}</h4>{''.join(cards)}"


def no_model(choice: ModelChoice | None) -> str:
    """Says that there is no chat model, with the button that fetches one where one can be had."""
    button = ""
    if choice is not None:
        label = escape(texts.NO_MODEL_ACTION.format(label=choice.label, size=size(choice.size)))
        button = (
            f'<button type="button" class="fn-primary" data-do="pull" data-model="{escape(choice.id)}">{label}</button>'
        )
    return (
        f'<div class="fn-offer"><div><strong>{escape(texts.NO_MODEL_TITLE)}</strong>'
        f"<p>{escape(texts.NO_MODEL)}</p></div>{button}</div>"
    )


def empty(library: LibraryInfo, examples: Sequence[str], *, sample: bool, job: str) -> str:
    """What a conversation without a question says: what to do next.

    Args:
        library: The library at hand.
        examples: Questions to begin with.
        sample: Whether this is the library of the sample notes.
        job: HTML of the running job, empty when none runs.
    """
    if job:
        told = f"<p>{escape(texts.EMPTY_INDEXING)}</p>" if library.chunks else ""
        body = f"<h2>{escape(texts.EMPTY_INDEXING_TITLE)}</h2>{job}{told}"
    elif library.chunks == 0:
        title, text, action, do = (
            (texts.EMPTY_SAMPLE_TITLE, texts.EMPTY_SAMPLE, texts.EMPTY_SAMPLE_ACTION, "sample")
            if sample
            else (texts.EMPTY_LIBRARY_TITLE, texts.EMPTY_LIBRARY, texts.EMPTY_LIBRARY_ACTION, "ingest")
        )
        body = (
            f"<h2>{escape(title)}</h2><p>{escape(text)}</p>"
            f'<button type="button" class="fn-primary" data-do="{do}">{escape(action)}</button>'
        )
    else:
        chips = "".join(
            f'<button type="button" class="fn-example" dir="auto" data-do="retry" data-question="{escape(example)}">'
            f"{escape(example)}</button>"
            for example in examples
        )
        offered = f"<h4>{escape(texts.EMPTY_EXAMPLES)}</h4><div class='fn-examples'>{chips}</div>" if chips else ""
        body = (
            f"<h2>{escape(texts.EMPTY_READY_TITLE.format(library=library.name))}</h2>"
            f"<p>{escape(texts.EMPTY_READY)}</p>{offered}"
        )
    return f'<div class="fn-empty">{body}</div>'


def conversations(listed: Sequence[ConversationInfo], current: int | None) -> str:
    """The library's conversations as a list of buttons; the open one can be renamed, exported and deleted."""
    head = (
        f'<div class="fn-list-head"><h4>{escape(texts.CONVERSATIONS)}</h4>'
        f'<button type="button" data-do="new">{escape(texts.CONVERSATION_NEW)}</button></div>'
    )
    if not listed:
        return f'{head}<p class="fn-quiet">{escape(texts.CONVERSATION_NONE)}</p>'
    rows = []
    for info in listed:
        title = info.title or texts.CONVERSATION_UNTITLED
        turns = many(info.turns, texts.CONVERSATION_TURNS_ONE, texts.CONVERSATION_TURNS)
        is_open = info.id == current
        tools = ""
        if is_open:
            tools = (
                '<div class="fn-tools">'
                f'<button type="button" data-do="rename">{escape(texts.RENAME)}</button>'
                f'<button type="button" data-do="export">{escape(texts.EXPORT)}</button>'
                f'<button type="button" data-do="ask-delete">{escape(texts.DELETE)}</button></div>'
                f'<div class="fn-tools fn-sure" hidden><span>{escape(texts.DELETE_REALLY)}</span>'
                f'<button type="button" data-do="delete">{escape(texts.YES)}</button>'
                f'<button type="button" data-do="keep">{escape(texts.NO)}</button></div>'
                f'<input class="fn-rename" hidden aria-label="{escape(texts.RENAME)}" value="{escape(title)}">'
            )
        rows.append(
            f'<li class="{"open" if is_open else ""}" data-id="{info.id}" data-title="{escape(title)}">'
            f'<button type="button" data-do="open" {"aria-current=true" if is_open else ""}>'
            f'<span dir="auto">{escape(title)}</span>'
            f"<small>{escape(turns)} · {escape(date(info.updated_at))}</small></button>"
            f"{tools}</li>"
        )
    return f'{head}<ul class="fn-conversations">{"".join(rows)}</ul>'
