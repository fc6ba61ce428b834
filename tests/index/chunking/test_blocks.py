from rag.index.chunking.blocks import Block, blocks_of, joined
from rag.index.chunking.cutting import Known
from rag.index.chunking.measure import Measure
from rag.sources.plain.markdown import read_markdown
from rag.types import SourceDocument

LONG = "Words that say enough to stand alone. " * 4


def _document(text: str) -> SourceDocument:
    return read_markdown(text.encode(), "Note")


def _blocks(text: str) -> list[tuple[str, str, bool]]:
    document = _document(text)
    return [
        (document.text[block.span.start : block.span.end], " › ".join(block.heading_path), block.contents)
        for block in blocks_of(document)
    ]


def _joined(text: str, minimum: int = 20, limit: int = 60, known: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    document = _document(text)
    measure = Measure(document.text, lambda words: -(-len(words) // 4), {})
    blocks = joined(blocks_of(document), measure, minimum, lambda _: limit, Known(known))
    return [(measure.of(block.span), _name(block)) for block in blocks]


def _name(block: Block) -> str:
    return block.heading_path[-1] if block.heading_path else ""


def test_a_bare_heading_is_read_with_the_section_below_it() -> None:
    assert _blocks("# A\n## B\n### C\nWords.") == [("# A\n## B\n### C\nWords.", "A › B › C", False)]
    assert _blocks("A\n===\n\n## B\nWords.") == [("A\n===\n\n## B\nWords.", "A › B", False)]
    assert _blocks("# A\nWords.\n# B\n# C\nWords.")[1] == ("# B", "B", False)


def test_a_numbered_section_begins_a_block_and_the_bare_heading_above_it_lists_what_follows() -> None:
    assert _blocks("# Note\n## 1. A\n### 1.1 B\nWords.\n### 1.2 C\nWords.") == [
        ("# Note", "Note", True),
        ("## 1. A", "Note › 1. A", True),
        ("### 1.1 B\nWords.", "Note › 1. A › 1.1 B", False),
        ("### 1.2 C\nWords.", "Note › 1. A › 1.2 C", False),
    ]


def test_a_number_and_its_title_may_be_two_headings() -> None:
    document = _document("# Part 1\n# Pumps\nWords.\n# Part 2\n# Valves\nWords.")
    first, second = blocks_of(document)
    assert (first.heading_path, first.clause.number, first.clause.begins) == (("Part 1", "Pumps"), "Part 1", True)
    assert (second.heading_path, second.clause.number) == (("Part 2", "Valves"), "Part 2")


def test_a_table_of_contents_is_a_block_of_its_own() -> None:
    listed = "## Contents\n\n- [A](#a)\n- [B](#b)\n- [C](#c)"
    assert _blocks(f"# Note\n\nWords.\n\n{listed}\n\n## A\n\nWords.") == [
        ("# Note\n\nWords.", "Note", False), (listed, "Note › Contents", True), ("## A\n\nWords.", "Note › A", False),
    ]  # fmt: skip


def test_short_sections_ride_with_their_parent_and_with_each_other() -> None:
    assert _joined(f"# A\n{LONG}\n## B\nShort.") == [(f"# A\n{LONG}\n## B\nShort.", "A")]
    short = "\n".join(f"## S{n}\nSome words." for n in range(5))
    assert [text.count("##") for text, _ in _joined(f"# A\n{LONG}{LONG}\n{short}")] == [0, 5]
    assert [text.count("##") for text, _ in _joined(f"# A\n{LONG}\n{short}")] == [0, 5]
    longer = "\n".join(f"## S{n}\nSome more words in here, of which there are a few." for n in range(6))
    assert [text.count("##") for text, _ in _joined(longer)] == [2, 2, 2]


def test_a_joined_chunk_is_named_after_what_most_of_it_says() -> None:
    assert _joined(f"# A\nShort.\n## B\n{LONG}") == [(f"# A\nShort.\n## B\n{LONG}".strip(), "B")]
    assert _joined(f"# 8.1 A\nShort.\n## B\n{LONG}") == [(f"# 8.1 A\nShort.\n## B\n{LONG}".strip(), "8.1 A")]


def test_what_does_not_ride() -> None:
    numbered = "# 1. A\nShort.\n# 2. B\nShort."
    assert [name for _, name in _joined(numbered)] == ["1. A", "2. B"]
    too_long = f"# A\n{LONG}{LONG}\n## B\nShort."
    assert [name for _, name in _joined(too_long, limit=70)] == ["A", "B"]
    no_kin = f"# A\n## B\n{LONG}\n# C\nShort."
    assert [name for _, name in _joined(no_kin)] == ["B", "C"]


def test_sections_that_were_joined_before_stay_together() -> None:
    sections = [f"## S{n}\nSome more words in here, of which there are a few." for n in range(6)]
    before = tuple(text for text, _ in _joined("\n".join(sections)))
    after = [text for text, _ in _joined("\n".join(["## New\nWords.", *sections]), known=before)]
    assert len(set(after) - set(before)) == 1
    assert set(before[1:]) <= set(after)
