"""A replay bundle as HTML: the verdict of a second run, and a page that stands by itself."""

from __future__ import annotations

from dataclasses import replace

import pytest
from page_values import HOSTILE, make_chunk, make_prompt, make_retrieval, make_trace, parse

from rag.inspection.bundle import Bundle, Differences, IndexState, Moved, Replay, Source
from rag.types import Answer, Citation, Span
from rag.ui import texts
from rag.ui.render_bundle import controls, page, replay

SAME = Differences((), (), same_index=True, moved=(), same_prompt=True, same_text=True)


def _trace(text: str = "It holds 30 ms. [1]", words: str = "") -> object:
    chunk = make_chunk(1, words, path=words)
    retrieval = make_retrieval(chunk, question=words or "Why?")
    citation = Citation(1, chunk, chunk.span, Span(0, 15), "model", 1.0)
    return make_trace(retrieval, make_prompt(retrieval, 1), Answer(text, "answered", (citation,)))


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({}, texts.REPLAY_SAME),
        ({"same_text": False}, texts.REPLAY_OTHER_TEXT),
        ({"same_prompt": False}, texts.REPLAY_OTHER_PROMPT_SAME_TEXT),
        ({"same_prompt": False, "same_text": False, "same_index": False}, texts.REPLAY_OTHER_PROMPT),
        ({"same_prompt": None}, texts.REPLAY_UNASKED_SAME),
        ({"same_prompt": None, "same_text": False}, texts.REPLAY_UNASKED_OTHER),
    ],
)
def test_the_verdict_says_what_is_the_same(changed: dict[str, object], told: str) -> None:
    html = replay(_trace(), Replay("Other words.", "done", None, replace(SAME, **changed)))
    tree = parse(html)
    assert told in tree.text
    assert ("Other words." in tree.text) == bool(changed and changed != {"same_prompt": None})
    assert (texts.REPLAY_INDEX_OTHER in tree.text) == (changed.get("same_index") is False)


def test_what_is_another_is_listed() -> None:
    told = replace(
        SAME,
        conditions=(("seed", "0", "7"),),
        sources=(("notes/1.md", "its content is another"),),
        moved=(Moved(make_chunk(1), 1, None, "its content is another"), Moved(make_chunk(2), None, 3)),
    )
    text = parse(replay(_trace(), Replay("x", "done", None, told))).text
    for words in ("seed", "notes/1.md", "its content is another", "notes/2.md", texts.REPLAY_MOVED):
        assert words in text
    assert texts.REPLAY_SEARCHING in parse(replay(_trace(), Replay())).text
    assert "so far" in parse(replay(_trace(), Replay("so far", "answer"))).text


def test_without_an_answer_nothing_can_be_saved() -> None:
    assert controls(None).count(" disabled>") == 2
    assert texts.BUNDLE_NOTHING in parse(controls(None)).text
    assert " disabled>" not in controls(_trace())
    assert texts.BUNDLE_NOTHING not in parse(controls(_trace())).text


def test_the_page_stands_by_itself_and_nothing_in_it_breaks_out() -> None:
    trace = replace(_trace(HOSTILE, HOSTILE), settings={"seed": HOSTILE})
    bundle = Bundle("0.1.0", 1.0, trace, IndexState("ab" * 32, 3, 9, (Source(HOSTILE, ""),)))
    html = page(bundle)
    assert html.startswith("<!doctype html>")
    assert "default-src 'none'" in html
    body = html[html.index("<body>") + len("<body>") : html.index("</body>")]
    tree = parse(body)
    assert tree.text.count(HOSTILE) >= 8
    for words in (texts.PAGE_PROMPT, "Cite.", texts.PAGE_FILES, texts.PAGE_GONE, "9 · abababababababab"):
        assert words in tree.text
