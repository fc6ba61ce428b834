import re

from page_values import HOSTILE, make_chunk, make_prompt, make_retrieval, parse

from rag.types import Answer, Citation, ConversationInfo, LibraryInfo, ModelChoice, Span
from rag.ui import render_chat


def span_of(text: str, part: str) -> Span:
    start = text.index(part)
    return Span(start, start + len(part))


def cite(text: str, sentence: str, number: int, by: str = "model", missing: tuple[str, ...] = ()) -> Citation:
    chunk = make_chunk(number)
    return Citation(
        number, chunk, Span(chunk.span.start, chunk.span.start + 10), span_of(text, sentence), by, 0.8, missing
    )


def classes(html: str, number: int) -> list[str]:
    return re.findall(rf'class="fn-chip ([a-z-]+)" data-cite="{number}"', html)


def test_chips_tell_who_bound_them() -> None:
    text = "One holds [1]. Two holds [2]. Nine holds [9]."
    answer = Answer(
        text, "answered", (cite(text, "One holds [1].", 1), cite(text, "Two holds [2].", 2, "footnote")), (9,)
    )
    html = render_chat.answer_text(answer)
    assert (classes(html, 1), classes(html, 2), classes(html, 9)) == (["by-model"], ["by-footnote"], ["unknown"])
    assert "bound by Footnote from the words: notes/2.md" in html
    assert parse(html).text.split() == ["One", "holds", "1.", "Two", "holds", "2.", "Nine", "holds", "9."]


def test_the_same_number_twice_is_told_apart_by_its_sentence() -> None:
    text = "First fact [1]. Second fact [1]."
    answer = Answer(text, "answered", (cite(text, "First fact [1].", 1), cite(text, "Second fact [1].", 1, "footnote")))
    assert classes(render_chat.answer_text(answer), 1) == ["by-model", "by-footnote"]


def test_marks_that_name_several_passages_become_one_chip_each() -> None:
    text = "Both say so [1, 2]."
    html = render_chat.answer_text(Answer(text, "answered", (cite(text, text, 1), cite(text, text, 2))))
    assert classes(html, 1) == classes(html, 2) == ["by-model"]


def test_unsupported_sentences_are_marked_without_breaking_lists_or_emphasis() -> None:
    text = "Good [1].\n\n- **Bold claim** stays.\n- Other.\n"
    answer = Answer(text, "answered", (cite(text, "Good [1].", 1),), (), (span_of(text, "- **Bold claim** stays."),))
    html = render_chat.answer_text(answer)
    assert parse(html).tags.count("li") == 2
    assert re.search(r'<strong><span class="fn-unsupported"[^>]*>Bold claim</span></strong>', html)
    assert "fn-unsupported" not in html.split("Other")[1]


def test_a_chip_stays_beside_its_word() -> None:
    html = render_chat.answer_text(Answer("It has one owner [1]. **Bold** [2]", "answered"))
    assert re.search(r'It has one <span class="fn-tied">owner <button[^>]*>1</button></span>\.', html)
    assert re.search(r"<strong>Bold</strong> <button", html)
    parse(html)


def test_a_number_is_marked_missing_only_when_every_cited_passage_lacks_it() -> None:
    text = "It takes 30 ms and 128 layers [1] [2]."
    answer = Answer(
        text, "answered", (cite(text, text, 1, missing=("128", "30 ms")), cite(text, text, 2, missing=("128",)))
    )
    html = render_chat.answer_text(answer)
    assert re.findall(r'class="fn-missing"[^>]*>([^<]*)<', html) == ["128"]


def test_an_answer_can_do_and_fetch_nothing() -> None:
    text = f"{HOSTILE} [x](javascript:alert(1)) ![i](http://evil.example/i.png) <http://evil.example> \ue000\ue010 [1]"
    answer = Answer(text, "answered", (cite(text, "[1]", 1),), (), (Span(3, 40),), (HOSTILE,))
    tree = parse(render_chat.answer(answer, HOSTILE, 0))
    assert "onerror" in tree.text
    assert ("button", "data-question", HOSTILE) in tree.attributes
    assert "\ue000" not in tree.text
    assert "\ue010" not in tree.text


def test_code_keeps_its_text() -> None:
    tree = parse(render_chat.answer_text(Answer("```\nlet a = <b>;\n```\n`x[1]`", "answered")))
    assert "let a = <b>;" in tree.text


def test_streaming_shows_marks_as_not_yet_checked() -> None:
    retrieval = make_retrieval(make_chunk(1), make_chunk(2))
    html = render_chat.streaming("So far [1] and **bo", make_prompt(retrieval, 1).passages)
    assert classes(html, 1) == ["pending"]
    parse(html)


def test_legend_explains_only_what_is_there() -> None:
    text = "Fact [1]."
    plain = render_chat.answer(Answer(text, "answered", (cite(text, text, 1),)), "q", 0)
    assert "fn-legend" not in plain
    ours = render_chat.answer(Answer(text, "answered", (cite(text, text, 1, "footnote"),)), "q", 0)
    assert "bound by Footnote from the words" in parse(ours).text


def test_outcomes_say_so() -> None:
    assert "only searches" in parse(render_chat.answer(Answer("Footnote only searches.", "search_only"), "q", 0)).text
    assert "not complete" in parse(render_chat.answer(Answer("Half", "stopped"), "q", 0)).text
    assert "failed" in parse(render_chat.answer(Answer("Half", "failed", warnings=("Broke off.",)), "q", 0)).text
    assert HOSTILE in parse(render_chat.failed(HOSTILE, HOSTILE, HOSTILE)).text


def test_the_searched_query_is_shown_only_when_it_was_rewritten() -> None:
    same = make_retrieval(make_chunk(1))
    assert "searched:" not in render_chat.question("Why?", same)
    rewritten = make_retrieval(make_chunk(1), query=f"Why is that {HOSTILE}")
    assert f"searched: Why is that {HOSTILE}" in parse(render_chat.question(HOSTILE, rewritten)).text


def test_cards_show_place_scores_by_name_and_the_cited_words() -> None:
    chunk = make_chunk(1, "Rust has owners. One at a time.", page=4, path="a.pdf")
    retrieval = make_retrieval(chunk, make_chunk(2, HOSTILE, HOSTILE))
    citation = Citation(1, chunk, Span(chunk.span.start + 17, chunk.span.start + 31), Span(0, 5), "model", 1.0)
    html = render_chat.sources(retrieval, make_prompt(retrieval, 2), Answer("Owner", "answered", (citation,)))
    tree = parse(html)
    assert tree.tags.count("details") == 2
    assert "page 4" in tree.text
    assert "cosine 0.890" in " ".join(tree.text.split())
    assert "bm25 7.25" in " ".join(tree.text.split())
    assert "%" not in tree.text
    assert "<mark>One at a time.</mark>" in html
    assert ("figure", "data-spans", "117-131") in tree.attributes
    assert tree.text.count("not cited") == 1
    assert HOSTILE in tree.text


def test_an_unanswered_question_shows_the_nearest_passages_without_numbers() -> None:
    retrieval = make_retrieval(*(make_chunk(number) for number in range(1, 7)))
    html = render_chat.sources(retrieval, make_prompt(retrieval, 2), Answer("Not there.", "not_in_notes"))
    assert parse(html).tags.count("details") == render_chat.NEAREST
    assert "Nearest passages" in html
    assert "fn-number" not in html


def test_empty_states_say_what_to_do() -> None:
    bare = LibraryInfo(HOSTILE, (), 0, 0, "")
    assert "Index the sample notes" in parse(render_chat.empty(bare, (), sample=True, job="")).text
    assert "Ingest tab" in parse(render_chat.empty(bare, (), sample=False, job="")).text
    busy = parse(render_chat.empty(LibraryInfo("L", ("/n",), 3, 9, "e5"), ("Why?",), sample=True, job="<p>job</p>"))
    assert "read so far" in busy.text
    assert "Why?" not in busy.text
    full = LibraryInfo(HOSTILE, ("/n",), 3, 9, "e5")
    tree = parse(render_chat.empty(full, (HOSTILE,), sample=False, job=""))
    assert ("button", "data-question", HOSTILE) in tree.attributes
    assert "1.1 GB" in parse(render_chat.no_model(ModelChoice("embedded", "chat", HOSTILE, False, 1_117_320_768))).text
    assert "button" not in parse(render_chat.no_model(None)).tags


def test_conversations_list_their_titles_and_tools_for_the_open_one() -> None:
    listed = (ConversationInfo(2, HOSTILE, 1, 0.0), ConversationInfo(1, "", 3, 0.0))
    tree = parse(render_chat.conversations(listed, 2))
    assert HOSTILE in tree.text
    assert "Untitled" in tree.text
    assert "3 questions" in tree.text
    assert [value for _, name, value in tree.attributes if name == "data-do"].count("rename") == 1
