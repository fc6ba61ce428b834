import re
from dataclasses import replace

from page_values import HOSTILE, judged, make_chunk, make_prompt, make_retrieval, make_trace, parse

from rag.types import Answer, Citation, ConversationInfo, Flag, LibraryInfo, ModelChoice, Passage, Span, Verdict
from rag.ui import render_chat


def shown(answer: Answer, question: str = "q", verdict: Verdict = Verdict.ENOUGH, asked: bool = True) -> str:
    retrieval = make_retrieval(make_chunk(1), question=question, evidence=judged(verdict))
    return render_chat.answer(make_trace(retrieval, make_prompt(retrieval, 1), answer, asked), 4)


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


def test_what_the_cited_passages_lack_is_marked_by_its_kind() -> None:
    text = "It **takes 30 ms** and Hanae wrote “so it is” [1]."
    flags = tuple(
        Flag(span_of(text, part), kind)
        for part, kind in (("30 ms", "number"), ("Hanae", "name"), ("so it is", "quote"))
    )
    html = shown(Answer(text, "answered", (cite(text, text, 1),), flags=flags))
    marked = re.findall(r'class="fn-missing ([a-z]+)" title="([^"]*)">([^<]*)<', html)
    assert [(kind, part) for kind, _, part in marked] == [("number", "30 ms"), ("name", "Hanae"), ("quote", "so it is")]
    assert "This name is not in the cited passage" in marked[1][1]
    assert "not in the cited passage" in parse(html).text
    bold = Answer("**16** bar.", "answered", flags=(Flag(Span(2, 10), "number"),))
    assert re.findall(r"fn-missing[^>]*>([^<]*)<", render_chat.answer_text(bold)) == ["16", " bar"]


def test_an_answer_can_do_and_fetch_nothing() -> None:
    text = f"{HOSTILE} [x](javascript:alert(1)) ![i](http://evil.example/i.png) <http://evil.example> \ue000\ue010 [1]"
    answer = Answer(text, "answered", (cite(text, "[1]", 1),), (), (Span(3, 40),), (HOSTILE,))
    tree = parse(shown(answer, HOSTILE))
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
    plain = shown(Answer(text, "answered", (cite(text, text, 1),)))
    assert "fn-legend" not in plain
    ours = shown(Answer(text, "answered", (cite(text, text, 1, "footnote"),)))
    assert "bound by Footnote from the words" in parse(ours).text


def test_outcomes_say_so() -> None:
    assert "only searches" in parse(shown(Answer("Footnote only searches.", "search_only"))).text
    assert "not complete" in parse(shown(Answer("Half", "stopped"))).text
    assert "failed" in parse(shown(Answer("Half", "failed", warnings=("Broke off.",)))).text
    assert HOSTILE in parse(render_chat.failed(HOSTILE, HOSTILE, HOSTILE)).text


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


def test_thin_evidence_is_marked_and_a_refusal_says_who_refused() -> None:
    said = Answer("Yes [1].", "answered")
    assert "Thin evidence" not in parse(shown(said)).text
    assert parse(shown(said)).attributes.count(("button", "data-index", "4")) == 2, "asking again, and looking inside"
    assert "Thin evidence" in parse(shown(said, verdict=Verdict.SOME)).text
    assert "Asked anyway" in parse(shown(said, verdict=Verdict.NONE)).text
    refused = Answer("Your notes do not seem to say.", "not_in_notes")
    unasked = parse(shown(refused, verdict=Verdict.NONE, asked=False))
    assert "model was not asked" in unasked.text
    assert ("button", "data-do", "anyway") in unasked.attributes
    assert ("button", "data-index", "4") in unasked.attributes
    asked = parse(shown(refused, verdict=Verdict.SOME))
    assert "The model read 1 passage and found no answer in it." in asked.text
    assert ("button", "data-do", "anyway") not in asked.attributes
    searched = parse(shown(Answer("Only searching.", "search_only"), verdict=Verdict.NONE, asked=False))
    assert "do not seem to say" in searched.text


def test_cards_tell_section_stance_copies_the_way_here_and_what_was_joined() -> None:
    chunk = replace(make_chunk(1), section=HOSTILE, stance="normative")
    retrieval = make_retrieval(chunk, make_chunk(2), make_chunk(3))
    copies = (make_chunk(7, path=HOSTILE), make_chunk(8, path="b.md"))
    first, second, third = retrieval.hits
    first = replace(first, copies=copies)
    second = replace(second, copies=copies[:1], note=f"“see {HOSTILE}” in passage 1")
    retrieval = replace(retrieval, hits=(first, second, third))
    prompt = make_prompt(retrieval, 3)
    first_part = make_chunk(9)
    joined = Passage(3, replace(third, chunk=first_part), 30, joined=(first_part, make_chunk(3)))
    tree = parse(render_chat.sources(retrieval, replace(prompt, passages=(*prompt.passages[:2], joined)), None))
    assert HOSTILE in tree.text
    assert "normative" in tree.text
    assert "also in 2 other passages" in tree.text
    assert "also in b.md" in tree.text
    assert f"also in {HOSTILE}" in tree.text
    assert f"followed from “see {HOSTILE}” in passage 1" in tree.text
    assert "2 neighbouring passages read as one" in tree.text
    assert "cosine 0.870" in tree.text, "the scores are those of the part that was found"


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
