from material import make_chunk

from rag.answering.citations import check_citations, without_marks
from rag.index.terms import terms
from rag.types import Span

PUMP = make_chunk("The pump was installed in 2019. It runs at 16 bar. The motor has 4 kW.", id="1.1.0", path="pump.md")
GARDEN = make_chunk("Roses are cut in March. The hedge is trimmed in autumn.", id="2.1.0", path="garden.md")


def _weigh(text: str) -> dict[str, float]:
    common = {"the", "is", "it", "in", "at", "are", "a", "and"}
    return {term: 0.1 if term in common else 1.0 for term in terms(text)}


def _check(answer: str):
    return check_citations(answer, [PUMP, GARDEN], _weigh)


def test_a_right_citation_of_the_model_is_kept_and_bound_to_the_sentence_it_cites() -> None:
    checked = _check("The pump runs at 16 bar. [1]")
    assert checked.text == "The pump runs at 16 bar. [1]"
    (citation,) = checked.citations
    assert (citation.number, citation.by, citation.missing) == (1, "model", ())
    cited = PUMP.text[citation.span.start - PUMP.span.start : citation.span.end - PUMP.span.start]
    assert "It runs at 16 bar." in cited
    assert "motor" not in cited
    assert citation.answer_span == Span(0, len("The pump runs at 16 bar."))


def test_marks_before_and_after_the_full_stop_belong_to_the_same_sentence() -> None:
    for answer in (
        "It runs at 16 bar [1]. Roses are cut in March [2].",
        "It runs at 16 bar.[1] Roses are cut in March.[2]",
    ):
        checked = _check(answer)
        assert checked.text == "It runs at 16 bar. [1] Roses are cut in March. [2]"
        assert [(c.number, c.by) for c in checked.citations] == [(1, "model"), (2, "model")]


def test_a_sentence_without_a_citation_is_bound_by_its_words() -> None:
    checked = _check("Roses are cut in March.")
    assert checked.text == "Roses are cut in March. [2]"
    assert [(c.number, c.by) for c in checked.citations] == [(2, "footnote")]


def test_a_wrong_citation_is_replaced_and_the_citation_says_so() -> None:
    checked = _check("The hedge is trimmed in autumn. [1]")
    assert [(c.number, c.by) for c in checked.citations] == [(2, "footnote")]


def test_a_number_of_no_passage_is_kept_and_flagged() -> None:
    checked = _check("The pump runs at 16 bar. [7]")
    assert checked.unknown_numbers == (7,)
    assert checked.text == "The pump runs at 16 bar. [1] [7]"


def test_a_sentence_that_nothing_supports_is_marked() -> None:
    checked = _check("It runs at 16 bar. [1] Elephants migrate every winter.")
    assert [checked.text[span.start : span.end] for span in checked.unsupported] == ["Elephants migrate every winter."]


def test_numbers_that_the_passage_lacks_are_named() -> None:
    checked = _check("The pump runs at 18 bar. [1]")
    assert checked.citations[0].missing == ("18 bar",)


def test_several_numbers_in_one_mark_and_japanese_brackets() -> None:
    checked = _check("The pump runs at 16 bar [1, 2].")
    assert 1 in [citation.number for citation in checked.citations]
    assert "[1]" in _check("It runs at 16 bar。【1】").text


def test_a_mark_at_the_beginning_of_a_line_belongs_to_what_follows() -> None:
    checked = _check("[1] It runs at 16 bar.\n[2] Roses are cut in March.")
    assert [(c.number, c.by) for c in checked.citations] == [(1, "model"), (2, "model")]
    assert _check("[9] It runs at 16 bar.").unknown_numbers == (9,)


def test_brackets_in_code_are_left_alone() -> None:
    assert "`a = x[1]`" in _check("Use `a = x[1]` here.").text


def test_without_passages_nothing_is_bound() -> None:
    checked = check_citations("Anything at all goes. [1]", [], _weigh)
    assert (checked.citations, checked.unknown_numbers) == ((), (1,))


def test_years_and_code_in_brackets_are_no_citations() -> None:
    assert _check("See [2019] and a[100].").unknown_numbers == ()
    assert without_marks("One [1] two [2, 3].") == "One two."
    assert without_marks("One  \u00a0[1][2] two" + " " * 200_000) == "One two" + " " * 200_000
