from dataclasses import replace

from page_values import HOSTILE, judged, make_chunk, make_prompt, make_retrieval, make_trace, parse

from rag.types import Answer, Filters, SearchOptions, Verdict
from rag.ui import render_search

EVERYTHING = Filters(
    (HOSTILE, "b.md"), ("standards",), "2024", "2025-05", ("8.3",), "normative", (HOSTILE,), ("draft",)
)


def test_what_is_set_is_told_with_a_way_to_clear_it() -> None:
    assert render_search.chosen(SearchOptions()) == ""
    tree = parse(render_search.chosen(SearchOptions(EVERYTHING, hyde=True, rerank=False)))
    words = " ".join(tree.text.split())
    for part in (f"file {HOSTILE} or b.md", "after 2024", "section 8.3", "normative only", "without draft"):
        assert part in tree.text
    assert "with a made-up passage" in words
    assert "not sorted by a reranker" in words
    assert ("button", "data-do", "clear") in tree.attributes
    assert "held to" not in render_search.chosen(SearchOptions(hyde=False))


def test_what_was_searched_is_told_where_it_is_not_what_was_typed() -> None:
    assert render_search.searched(make_retrieval(make_chunk(1)), 0) == ""
    held = make_retrieval(make_chunk(1), filters=Filters(files=(HOSTILE,)))
    assert f"file {HOSTILE}" in parse(render_search.searched(held, 0)).text
    rewritten = make_retrieval(make_chunk(1), question=HOSTILE, query=f"Why {HOSTILE}", rewrite_note="A follow-up.")
    tree = parse(render_search.searched(rewritten, 3))
    assert f"searched: Why {HOSTILE}" in tree.text
    assert "A follow-up." in tree.text
    assert tree.text.count(HOSTILE) == 4, "in the line, in the list with the original, and in the field"
    assert ("form", "data-index", "3") in tree.attributes
    assert "form" not in parse(render_search.searched(rewritten, None)).tags
    made_up = make_retrieval(make_chunk(1), hypothetical=HOSTILE)
    assert HOSTILE in parse(render_search.searched(made_up, 0)).text


def test_quoted_words_that_were_not_asked_for_are_told_whatever_else_is() -> None:
    said = f"no passage holds “steam valve” and “{HOSTILE}” word for word: searched without that"
    phrases = ("steam valve", HOSTILE)
    plain = make_retrieval(make_chunk(1), loosened=phrases)
    assert parse(render_search.searched(plain, 0)).text == said
    for more in ({"query": "Rewritten"}, {"hypothetical": "Made up"}, {"filters": Filters(files=("heron",))}):
        assert said in parse(render_search.searched(make_retrieval(make_chunk(1), loosened=phrases, **more), 0)).text


def test_a_question_held_to_too_little_says_so_and_one_without_a_hit_offers_no_model() -> None:
    retrieval = make_retrieval(make_chunk(1), filters=Filters(files=("heron",)), evidence=judged(Verdict.NONE))
    refused = Answer("Not there.", "not_in_notes")
    tree = parse(render_search.unanswered(make_trace(retrieval, make_prompt(retrieval, 1), refused, asked=False), 2))
    assert "Only a part of your notes was searched" in tree.text
    assert "file heron" in tree.text
    nothing = replace(retrieval, hits=())
    tree = parse(render_search.unanswered(make_trace(nothing, make_prompt(nothing, 0), refused, asked=False), 2))
    assert "button" not in tree.tags
