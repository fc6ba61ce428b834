from dataclasses import replace

from page_values import HOSTILE, make_chunk, make_prompt, make_retrieval, make_trace, parse

from rag.answering.citations import check_citations
from rag.index.terms import terms
from rag.types import Answer, Trace
from rag.ui import render_audit


def traced(answer: str, *texts: str) -> Trace:
    chunks = [make_chunk(number, text) for number, text in enumerate(texts, start=1)]
    checked = check_citations(answer, chunks, lambda text: dict.fromkeys(terms(text), 1.0))
    retrieval = make_retrieval(*chunks)
    finished = Answer(
        checked.text, "answered", checked.citations, checked.unknown_numbers, checked.unsupported, (), checked.flags
    )
    return make_trace(retrieval, make_prompt(retrieval, len(chunks)), finished)


def test_the_first_line_counts_what_is_wrong() -> None:
    html = render_audit.audit(
        traced("It runs at **18 bar**. [1] It runs at 19 bar. [1] Elephants migrate north. [9]", "It runs at 16 bar.")
    )
    tree = parse(html)
    assert "2 numbers are not in the cited text" in tree.text
    assert "[9] cites nothing" in tree.text
    assert "1 sentence without a citation" in tree.text
    assert "3 sentences" in tree.text
    assert html.count('class="fn-missing number"') == 2
    assert "It runs at 18 bar." in tree.text, "without signs of Markdown"
    assert "18 bar is a number that the cited passage does not have." in tree.text


def test_a_right_answer_is_said_to_be_one() -> None:
    tree = parse(render_audit.audit(traced("It runs at 16 bar. [1]", "It runs at 16 bar.")))
    assert "Every sentence is cited" in tree.text
    assert "words held 1.00" in " ".join(tree.text.split())


def test_it_says_where_a_number_is_instead_and_in_which_language_it_was_compared() -> None:
    tree = parse(
        render_audit.audit(traced("It runs at 18 bar. [1]", "It runs at 16 bar.", "The other runs at 18 bar."))
    )
    assert "It is in [2]." in tree.text
    tree = parse(
        render_audit.audit(traced("Sie läuft mit 16 bar und ist die Pumpe. [1]", "It runs at 16 bar. It is the pump."))
    )
    assert "another language" in tree.text


def test_nothing_without_an_answer() -> None:
    trace = traced("Not there.", "It runs.")
    assert render_audit.audit(replace(trace, answer=Answer("Not there.", "not_in_notes"))) == ""
    assert render_audit.audit(replace(trace, prompt=None)) == ""


def test_answer_and_passages_can_do_nothing() -> None:
    trace = traced(f"{HOSTILE} runs at 18 bar “{HOSTILE}”. [1]", f"{HOSTILE} runs at 16 bar.")
    assert HOSTILE in parse(render_audit.audit(trace)).text
