from rag.index.chunking.measure import Measure
from rag.index.chunking.units import line_units, text_units, word_units
from rag.types import Span


def _count(text: str) -> int:
    return -(-len(text.strip()) // 4)


def _texts(text: str, limit: int = 20) -> list[str]:
    measure = Measure(text, _count, {})
    return [measure.of(unit) for unit in text_units(measure, Span(0, len(text)), limit, 100).spans]


def test_a_code_block_that_fits_is_not_torn_at_its_blank_lines() -> None:
    code = "```python\na = 1\n\nb = 2\n```"
    assert _texts(f"Before.\n\n{code}\n\nAfter.") == ["Before.", code, "After."]


def test_a_long_code_block_is_torn_between_its_lines_only() -> None:
    lines = [f"value_{n} = first(n). second({n})  # why" for n in range(9)]
    units = _texts("\n".join(["```", *lines, "```"]))
    assert [line for unit in units for line in unit.split("\n")] == ["```", *lines, "```"]


def test_a_table_in_code_is_code() -> None:
    code = "```\n| a | b |\n|---|---|\n| 1 | 2 |\n```"
    assert _texts(code) == [code]


def test_a_long_line_of_white_space_costs_no_time() -> None:
    blank = " " * 200_000
    assert _texts(f"One.\n{blank}\n\n---{blank}x\n\nTwo.", 200_000) == ["One.", f"---{blank}x", "Two."]


def test_a_caption_stays_with_what_it_captions() -> None:
    assert _texts("Words.\n\n![](a.png)\n\nFigure 2: A pump.") == ["Words.", "![](a.png)\n\nFigure 2: A pump."]
    assert _texts("Words.\n\nTable 1. Sizes\n\na 1\nb 2\n\nMore.") == ["Words.", "Table 1. Sizes\n\na 1\nb 2", "More."]
    assert _texts("図1 ポンプの構造\n\n弁。") == ["図1 ポンプの構造", "弁。"]
    assert _texts("絵。\n\n図1 ポンプの構造\n\n弁。") == ["絵。\n\n図1 ポンプの構造", "弁。"]
    code = "```\nx = 1\n```"
    assert _texts(f'A.\n\n<span class="filename">main.rs</span>\n\n{code}\n\nB.') == [
        "A.", f'<span class="filename">main.rs</span>\n\n{code}', "B.",
    ]  # fmt: skip


def test_a_line_that_ends_in_a_colon_stays_with_what_it_announces() -> None:
    assert _texts("First.\n\nThe pump shall:\n\n- start\n- stop\n\nLast.") == [
        "First.", "The pump shall:\n\n- start\n- stop", "Last.",
    ]  # fmt: skip
    long = "The pump shall do all of this:"
    assert _texts(f"{long}\n\n{'word ' * 15}".strip()) == [long, ("word " * 15).strip()]


def test_words_and_a_few_characters_where_a_script_does_not_part_words() -> None:
    text = "One two\nthree。日本語の文です。x"
    measure = Measure(text, _count, {})
    units = word_units(measure, Span(0, len(text)), 10)
    assert [measure.of(unit) for unit in units.spans] == ["One", "two", "three。", "日本語の", "文です。", "x"]
    assert units.context(0) == ("", 10)


def test_lines() -> None:
    text = "1. One. Two\n\n2. Three"
    measure = Measure(text, _count, {})
    assert [measure.of(unit) for unit in line_units(measure, Span(0, len(text)), 4).spans] == [
        "1. One. Two",
        "2. Three",
    ]
