import pytest

from rag.errors import QueryError
from rag.retrieval.query import merged, parse_query, readable
from rag.types import Filters


@pytest.mark.parametrize(
    "typed",
    [
        "What does HTTP: The Definitive Guide say?",
        "Is the ratio 3:1 or 16:9?",
        "Read file:///notes/a.md and https://example.org/a:b",
        "What is 3 -2, and -5 °C?",
        "a well-known fact - and another – here",
        "What is in the file: a report?",
        'a 5" pipe and a 6" pipe',
        "profile:admin",
        "What is in the file:?",
        'a " " b',
    ],
)
def test_what_is_no_filter_stays_as_it_is(typed: str) -> None:
    assert parse_query(typed) == (typed, Filters())


@pytest.mark.parametrize(
    ("typed", "text", "filters"),
    [
        ("valves file:boiler", "valves", Filters(files=("boiler",))),
        ("File:boiler.md, valves", "valves", Filters(files=("boiler.md",))),
        ("valves FOLDER:plant/unit-2 file:a file:b", "valves", Filters(("a", "b"), ("plant/unit-2",))),
        ('what? file:"my notes.md"', "what?", Filters(files=("my notes.md",))),
        ("圧力は？　file：報告", "圧力は？", Filters(files=("報告",))),
        ("x after:2023 before:2024-5", "x", Filters(after="2023", before="2024-05")),
        ("x after:2024/5/1", "x", Filters(after="2024-05-01")),
        ("x before:2024年5月1日", "x", Filters(before="2024-05-01")),
        ("limits section:8.3.", "limits", Filters(sections=("8.3",))),
        ("section:Annex C limits", "limits", Filters(sections=("Annex C",))),
        ("section:§5", "§ 5", Filters(sections=("§ 5",))),
        ("x is:normative", "x", Filters(stance="normative")),
        ('the "exact  phrase" here', "the exact phrase here", Filters(phrases=("exact phrase",))),
        ("「所有権」とは何ですか", "所有権とは何ですか", Filters(phrases=("所有権",))),
        ("Was sagt „Kessel bauen“ dazu?", "Was sagt Kessel bauen dazu?", Filters(phrases=("Kessel bauen",))),
        ("“one” «two» „three”", "one two three", Filters(phrases=("one", "two", "three"))),
        ("report -draft", "report", Filters(without=("draft",))),
        ("報告 －下書き", "報告", Filters(without=("下書き",))),
        ('report -"first draft"', "report", Filters(without=("first draft",))),
    ],
)
def test_filters_are_taken_out_of_the_question(typed: str, text: str, filters: Filters) -> None:
    assert parse_query(typed) == (text, filters)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("x after:soon", "after:2024-05-01"),
        ("x after:2024-13", "is no date"),
        ("x before:2024-02-30", "is no date"),
        ("x is:draft", "is:normative"),
        ("x section:Introduction", "names no section"),
        ("file:report", "nothing to search for"),
        ("-draft ?", "nothing to search for"),
    ],
)
def test_what_cannot_be_read_is_said(typed: str, said: str) -> None:
    with pytest.raises(QueryError) as raised:
        parse_query(typed)
    assert said in str(raised.value)


def test_an_empty_question_is_no_matter_of_filters() -> None:
    assert parse_query("  ") == ("", Filters())


def test_merged_filters_hold_what_both_do() -> None:
    one = Filters(files=("a",), after="2023", before="2024", stance="normative", phrases=("p",))
    other = Filters(files=("b", "a"), after="2024-02", before="2024-05", without=("w",))
    assert merged(one, other) == Filters(("a", "b"), (), "2024-02", "2024-05", (), "normative", ("p",), ("w",))
    assert merged(other, one).stance == "normative"
    assert merged(Filters(), one) == one


def test_filters_from_fields_are_read_like_those_in_a_question() -> None:
    written = Filters(files=("a",), after="2024/5", before="2025年", sections=("Appendix C", "8.3."))
    assert readable(written) == Filters(files=("a",), after="2024-05", before="2025", sections=("Annex C", "8.3"))
    for unreadable in (Filters(after="soon"), Filters(before="2024-13"), Filters(sections=("valves",))):
        with pytest.raises(QueryError):
            readable(unreadable)


def test_a_blank_filter_asks_for_nothing():
    blank = Filters(files=("",), phrases=("", "  "), without=(" ",))
    assert merged(Filters(after="2024"), blank) == Filters(after="2024")
