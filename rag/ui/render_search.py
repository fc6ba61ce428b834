"""Around one search as HTML: what it was held to, what was searched, and how much the notes have to say."""

from __future__ import annotations

from collections.abc import Iterable

from rag.answering.remarks import caution, held_to, loosened, was_asked
from rag.types import Filters, Retrieval, SearchOptions, Trace
from rag.ui import texts
from rag.ui.render import escape, many, notice


def _chips(phrases: Iterable[str], kind: str = "") -> str:
    return " ".join(f'<span class="fn-held {kind}">{escape(phrase)}</span>' for phrase in phrases)


def _held(filters: Filters) -> str:
    """What a search is held to, with the words before it; empty where it is not."""
    chips = _chips(held_to(filters))
    return f"{escape(texts.HELD_TO)} {chips}" if chips else ""


def chosen(options: SearchOptions) -> str:
    """What is set for the next questions, with the way to clear it; empty where nothing is."""
    switches = [
        (options.hyde, texts.WITH_HYDE, texts.WITHOUT_HYDE),
        (options.rerank, texts.WITH_RERANK, texts.WITHOUT_RERANK),
    ]
    ways = _chips((on if choice else off for choice, on, off in switches if choice is not None), "way")
    parts = f"{_held(options.filters)} {ways}".strip()
    if not parts:
        return ""
    clear = f'<button type="button" data-do="clear">{escape(texts.CLEAR)}</button>'
    return f'<p class="fn-chosen-options" role="status">{parts} {clear}</p>'


def searched(retrieval: Retrieval, index: int | None) -> str:
    """What was searched, where that is more than what was typed; unfolds to all of it.

    Args:
        retrieval: The search.
        index: The exchange's place in the conversation, for searching something else instead; None while it is made.
    """
    rewritten = len(retrieval.queries) > 1
    holding = f"{_held(retrieval.filters)} {escape(loosened(retrieval))}".strip()
    if not rewritten and not retrieval.hypothetical:
        return f'<p class="fn-searched">{holding}</p>' if holding else ""
    line = escape(texts.SEARCHED.format(query=retrieval.queries[0])) if rewritten else ""
    made_up = _chips((texts.WITH_HYDE,), "way") if retrieval.hypothetical else ""
    rows = [(texts.SEARCHED_FIRST, retrieval.queries[0])]
    rows += [(texts.SEARCHED_BESIDE, query) for query in retrieval.queries[1:]]
    if retrieval.rewrite_note:
        rows.append((texts.SEARCHED_WHY, retrieval.rewrite_note))
    if retrieval.hypothetical:
        rows.append((texts.SEARCHED_HYDE, retrieval.hypothetical))
    listed = "".join(f'<dt>{escape(name)}</dt><dd dir="auto">{escape(value)}</dd>' for name, value in rows)
    return (
        f'<details class="fn-searched"><summary title="{escape(texts.SEARCHED_TITLE)}">{line} {holding} {made_up}'
        f'</summary><dl class="fn-pairs">{listed}</dl>{_instead(retrieval.queries[0], index)}</details>'
    )


def _instead(query: str, index: int | None) -> str:
    """The query in a field of its own, to be changed and searched."""
    if index is None:
        return ""
    label = escape(texts.SEARCH_INSTEAD_LABEL)
    return (
        f'<form class="fn-instead" data-index="{index}"><label>{label}'
        f'<textarea name="rewrite" rows="2" dir="auto">{escape(query)}</textarea></label>'
        f'<button type="submit">{escape(texts.SEARCH_INSTEAD)}</button></form>'
    )


def thin(retrieval: Retrieval) -> str:
    """The mark of an answer that rests on little; empty where the notes have enough to say."""
    mark, sentence = caution(retrieval)
    if not mark:
        return ""
    return (
        f'<p class="fn-thin {retrieval.evidence.verdict.value}" role="note" '
        f'title="{escape(retrieval.evidence.reason)}"><b>{escape(mark)}</b> {escape(sentence)}</p>'
    )


def unanswered(trace: Trace, index: int) -> str:
    """Why a question was left unanswered and, where no model was asked, the way to ask it all the same."""
    retrieval = trace.retrieval
    if was_asked(trace):
        count = sum(passage.in_prompt for passage in trace.prompt.passages) if trace.prompt else 0
        return notice(many(count, texts.UNANSWERED_READ_ONE, texts.UNANSWERED_READ), kind="quiet")
    narrow = _chips(held_to(retrieval.filters))
    where = f"<p>{escape(texts.UNANSWERED_NARROW)} {narrow}</p>" if narrow else ""
    anyway = (
        '<div class="fn-actions">'
        f'<button type="button" class="fn-primary" data-do="anyway" data-index="{index}" '
        f'title="{escape(texts.ASK_ANYWAY_TITLE)}">{escape(texts.ASK_ANYWAY)}</button></div>'
    )
    return (
        f'<div class="fn-unanswered"><p title="{escape(retrieval.evidence.reason)}">'
        f"{escape(texts.UNANSWERED if retrieval.hits else texts.UNANSWERED_NOTHING)}</p>{where}"
        f"{anyway if retrieval.hits else ''}</div>"
    )
