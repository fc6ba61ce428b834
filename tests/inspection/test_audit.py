import pytest
from material import make_chunk
from page_values import make_prompt, make_retrieval, make_trace

from rag.answering.citations import check_citations
from rag.index.terms import terms
from rag.inspection.audit import Audit, audit, verbatim
from rag.types import Answer, Trace

PUMP = make_chunk(
    "The pump was installed by Hanae on 4 March 2019. It runs at 16 bar. The motor has 4 kW.",
    id="1.1.0",
    path="pump.md",
)
GARDEN = make_chunk(
    "Roses are cut in March by Ruben. The hedge is 18 dm high, at 18 bar.", id="2.1.0", path="garden.md"
)
COMMON = {"the", "is", "it", "in", "at", "was", "by", "on"}


def traced(answer: str, *chunks: object, outcome: str = "answered") -> Trace:
    passages = chunks or (PUMP, GARDEN)
    checked = check_citations(answer, passages, lambda text: {t: 0.1 if t in COMMON else 1.0 for t in terms(text)})
    retrieval = make_retrieval(*passages)
    finished = Answer(
        checked.text, outcome, checked.citations, checked.unknown_numbers, checked.unsupported, (), checked.flags
    )
    return make_trace(retrieval, make_prompt(retrieval, len(passages)), finished)


def audited(answer: str, *chunks: object) -> Audit:
    found = audit(traced(answer, *chunks))
    assert found is not None
    return found


def test_every_sentence_stands_with_its_citations_and_what_they_lack() -> None:
    answer = "It runs at **18 bar**. [1] Tomasz installed the pump on 4 April 2019 [1]. Elephants migrate. [1] See [7]."
    found = audited(answer)
    said = [(one.text, [c.citation.number for c in one.citations], one.unknown) for one in found.sentences]
    assert said == [
        ("It runs at **18 bar**.", [1], ()),
        ("Tomasz installed the pump on 4 April 2019.", [1], ()),
        ("Elephants migrate.", [1], ()),
        ("See.", [], (7,)),
    ]
    assert [(fact.kind, fact.text) for fact in found.missing] == [
        ("number", "18 bar"), ("name", "Tomasz"), ("date", "4 April 2019"),
    ]  # fmt: skip
    assert (found.uncited, found.unknown, found.clean) == (1, (7,), False)


def test_what_is_missing_is_what_chat_has_marked() -> None:
    trace = traced(
        "It runs at **18 bar**. [1] It was Tomasz, on 4 March 2018. The motor has 5 kW. “Roses are blue.” [2]"
    )
    found = audit(trace)
    assert found is not None
    assert [(fact.kind, fact.span) for fact in found.missing] == [(flag.kind, flag.span) for flag in trace.answer.flags]
    for fact in found.missing:
        assert trace.answer.text[fact.span.start : fact.span.end] == fact.text


def test_it_says_which_other_passage_has_it() -> None:
    (fact,) = audited("It runs at 18 bar. [1]").missing
    assert fact.elsewhere == (2,)
    (fact,) = audited("It runs at 19 bar. [1]").missing
    assert fact.elsewhere == ()


def test_a_sentence_without_a_citation_is_held_against_all_that_was_read() -> None:
    found = audited("Elephants drink 18 l and weigh 16 bar or 77 t.")
    assert [one.citations for one in found.sentences] == [()]
    assert [(fact.kind, fact.text) for fact in found.missing] == [("unit", "18 l"), ("number", "77 t")]


def test_a_right_answer_is_clean() -> None:
    assert audited("The pump runs at 16 bar. [1] In March, Ruben cuts the roses. [2]").clean


def test_languages_that_differ_are_told() -> None:
    found = audited("Die Pumpe wurde am 4. März 2019 von Frau Weber eingebaut. [1] Sie hat 5 kW. [1]")
    assert all(one.translated for one in found.sentences)
    assert [fact.text for fact in found.missing] == ["5 kW"]


@pytest.mark.parametrize("outcome", ["not_in_notes", "search_only"])
def test_without_an_answer_there_is_nothing_to_audit(outcome: str) -> None:
    assert audit(traced("Your notes do not seem to say.", outcome=outcome)) is None


@pytest.mark.parametrize(
    ("sentence", "cited", "share"),
    [
        ("It runs at 16 bar.", "The pump: it runs at 16 bar, always.", 1.0),
        ("The pump runs at 16 bar.", "It runs at 16 bar.", 4 / 6),
        ("Quite other words are here.", "It runs at 16 bar.", 0.0),
        ("Yes.", "yes", 1.0),
        ("", "It runs.", 0.0),
        ("圧力は16バールである。", "圧力は16バールであると書く", 1.0),
        ("水の圧力について", "水の温度について", 0.0),
    ],
)
def test_how_much_is_word_for_word(sentence: str, cited: str, share: float) -> None:
    assert verbatim(sentence, cited) == pytest.approx(share)
