import pytest

from rag.answering.numbers import numbers, readings


def read(text: str) -> list[tuple[str, list[float], str]]:
    """What is written, what it can mean, and what its unit measures, of numbers that are surely meant as such."""
    return [
        (text[n.span.start : n.span.end], sorted(n.values), n.unit.measures if n.unit else n.name)
        for n in numbers(text)
        if not n.loose
    ]


@pytest.mark.parametrize(
    ("figures", "values"),
    [
        ("1,234.5", {1234.5}), ("1.234,5", {1234.5}), ("1 234,5", {1234.5}), ("1'234.5", {1234.5}), ("1,234", {1234, 1.234}),
        ("1.234", {1234, 1.234}), ("0.125", {0.125}), ("3,5", {3.5}), ("1,234,567", {1234567}), ("007", {7}),
    ],
)  # fmt: skip
def test_figures_are_read_in_every_notation(figures: str, values: set[float]) -> None:
    assert readings(figures) == values


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It opens at 16 bar.", [("16 bar", [16], "pressure")]),
        ("10mm or 10 mm", [("10mm", [10], "length"), ("10 mm", [10], "length")]),
        ("12–16 h", [("12", [12], "time"), ("16 h", [16], "time")]),
        ("10 x 20 mm", [("10", [10], "length"), ("20 mm", [20], "length")]),
        ("-5 °C, minus 5 °C", [("-5 °C", [-5], "temperature"), ("minus 5 °C", [-5], "temperature")]),
        ("4.5 million euros", [("4.5 million euros", [4.5e6], "EUR")]),
        ("4,5 Mio. Euro", [("4,5 Mio. Euro", [4.5e6], "EUR")]),
        ("$5 and €3,50", [("$5", [5], "USD"), ("€3,50", [3.5], "EUR")]),
        ("450万円、1億2000万人", [("450万円", [4.5e6], "JPY"), ("1億2000万", [1.2e8], "")]),
        ("3×10^5 Pa", [("3×10^5 Pa", [3e5], "pressure")]),
        ("90 km/h or 25 m^3/h", [("90 km/h", [90], "length/time"), ("25 m^3/h", [25], "length^3/time")]),
        ("圧力は16 barです", [("16 bar", [16], "pressure")]),
        ("3時間半、3分の1", [("3時間半", [3.5], "time"), ("3", [3], ""), ("1", [1], "")]),
        ("Clause 8.3.2 and 1/2", [("8.3.2", [], "8.3.2"), ("1/2", [0.5], "1/2")]),
        ("HS-014, T2, x86, 3D and B2B", []),
        ("the 3rd of them", [("3rd", [3], "")]),
        ("twenty-five hours", [("twenty-five hours", [25], "time")]),
        ("three hundred and four and a half hours", [("three hundred", [300], ""), ("four and a half hours", [4.5], "time")]),
        ("fünfundzwanzig Stunden", [("fünfundzwanzig Stunden", [25], "time")]),
        ("zweihundertvierzig, viereinhalb", [("zweihundertvierzig", [240], ""), ("viereinhalb", [4.5], "")]),
        ("三人と二十五個", [("三", [3], ""), ("二十五", [25], "")]),
        ("1. First\n2) Then 30 g", [("30 g", [30], "mass")]),
    ],
)  # fmt: skip
def test_numbers_are_found_with_their_units(text: str, found: list[tuple[str, list[float], str]]) -> None:
    assert read(text) == found


def test_words_that_may_be_no_numbers_only_confirm_others() -> None:
    loose = {text: [sorted(n.values) for n in numbers(text) if n.loose] for text in ("one of both", "dritten", "一部")}
    assert loose == {"one of both": [[1.0], [2.0]], "dritten": [[3.0]], "一部": [[1.0]]}


@pytest.mark.parametrize("piece", ["1-", "1 000 ", "hundert", "٣", "1月", "1/2 "])
def test_a_long_text_comes_to_an_end(piece: str) -> None:
    numbers(piece * 3000)


@pytest.mark.parametrize("text", ["1e999", "3×10^400", "1e-99999", f"1/{'1' * 5000}", f"{'9' * 400}/1", "9" * 5000])
def test_numbers_beyond_any_scale_are_numbers_too(text: str) -> None:
    assert numbers(text)
