import pytest
from page_values import make_chunk, make_prompt, make_retrieval, make_trace, parse

from rag.inspection.contradiction import contradictions
from rag.types import Answer, Citation, Span
from rag.ui import render_chat

OLD = "The feed pump of line 3 is set to 12 bar. It is checked every six months."
NEW = "The feed pump of line 3 is set to 16 bar since the rebuild in May 2025. The seal was changed."
OTHER = "The relief valve of line 3 opens at 20 bar. The feed pump of line 2 is set to 9 bar."
QUESTION = "What pressure is the feed pump of line 3 set to?"


def answered(text, *passages, question=QUESTION, inside=3, cites=1):
    chunks = [make_chunk(number, passage) for number, passage in enumerate(passages, start=1)]
    retrieval = make_retrieval(*chunks, question=question)
    cited = chunks[cites - 1]
    citation = Citation(cites, cited, cited.span, Span(0, len(text)), "model", 1.0)
    return make_trace(retrieval, make_prompt(retrieval, inside), Answer(f"{text} [{cites}]", "answered", (citation,)))


def test_another_passage_with_another_number_is_shown_beside_the_answer():
    trace = answered("The feed pump of line 3 is set to 12 bar.", OLD, NEW, OTHER)
    (found,) = contradictions(trace)
    assert (found.number, found.chunk.id) == (2, "c2")
    assert found.says == "The feed pump of line 3 is set to 16 bar since the rebuild in May 2025."
    assert [trace.answer.text[span.start : span.end] for span in found.words] == ["12 bar"]


def test_a_passage_that_the_model_did_not_read_counts_too():
    (found,) = contradictions(answered("The feed pump of line 3 is set to 12 bar.", OLD, OTHER, NEW, inside=1))
    assert (found.number, found.chunk.id) == (0, "c3")


@pytest.mark.parametrize(
    ("text", "question", "cites"),
    [
        ("It is checked every six months.", "How often is the feed pump checked?", 1),
        ("The relief valve of line 3 opens at 20 bar.", "When does the relief valve of line 3 open?", 3),
        ("The feed pump of line 2 is set to 9 bar.", "What is the feed pump of line 2 set to?", 3),
    ],
)
def test_passages_about_something_else_contradict_nothing(text, question, cites):
    assert contradictions(answered(text, OLD, NEW, OTHER, question=question, cites=cites)) == ()


def test_without_a_cited_sentence_there_is_nothing_to_compare():
    retrieval = make_retrieval(make_chunk(1, OLD), make_chunk(2, NEW), question=QUESTION)
    refused = make_trace(retrieval, make_prompt(retrieval, 2), Answer("Your notes do not seem to say.", "not_in_notes"))
    assert contradictions(refused) == ()


def test_chat_shows_it_under_the_answer():
    shown = parse(render_chat.answer(answered("The feed pump of line 3 is set to 12 bar.", OLD, NEW, OTHER), 0)).text
    assert "Another passage says something else (notes/2.md): “The feed pump of line 3 is set to 16 bar" in shown
