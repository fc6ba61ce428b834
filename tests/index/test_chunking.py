import random
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from material import make_document

from rag.index.chunking import ChunkProfile, Piece, chunk_document
from rag.types import Mark, Page, Place, Section, SourceDocument, Span

LIMIT = 20


def _count(text: str) -> int:
    """A stand-in that behaves like a tokenizer: about four characters a token, never none for a visible text."""
    return -(-len(text.strip()) // 4)


@st.composite
def documents(draw: st.DrawFn) -> SourceDocument:
    blocks = draw(st.lists(st.text(alphabet="ab cdé.\n!?日本語。、x", max_size=200), min_size=1, max_size=6))
    text = ""
    sections = []
    for at, block in enumerate(blocks):
        start = len(text)
        text += block + "\n"
        sections.append(Section((f"H{at}",) if at % 2 else (), Span(start, len(text))))
    middle = len(text) // 2
    pages = (Page(1, Span(0, middle)), Page(2, Span(middle, len(text))))
    return SourceDocument(text, "Title", tuple(sections), "0", pages)


@given(documents(), st.integers(min_value=0, max_value=12))
def test_invariants(document: SourceDocument, overlap: int) -> None:
    pieces = chunk_document(document, _count, ChunkProfile(LIMIT, overlap), 100)
    covered: set[int] = set()
    for piece in pieces:
        text = document.text[piece.span.start : piece.span.end]
        assert text == text.strip() != ""
        assert piece.tokens == _count(text) <= LIMIT
        assert piece.page is not None
        covered |= set(range(piece.span.start, piece.span.end))
    assert all(character.isspace() or at in covered for at, character in enumerate(document.text))
    for one, next_one in pairwise(pieces):
        assert one.span.start < next_one.span.start
        assert one.span.end < next_one.span.end


def test_pieces_of_one_long_section_overlap_and_others_do_not() -> None:
    long = " ".join(f"Sentence number {n} is here." for n in range(12))
    text = f"{long}\nA short one."
    document = SourceDocument(
        text, "T", (Section((), Span(0, len(long) + 1)), Section(("B",), Span(len(long) + 1, len(text)))), "0"
    )
    pieces = chunk_document(document, _count, ChunkProfile(LIMIT, 8), 100)
    assert len(pieces) > 3
    for one, next_one in pairwise(pieces[:-1]):
        assert next_one.span.start < one.span.end
    assert pieces[-1].span.start >= pieces[-2].span.end
    assert pieces[-1].heading_path == ("B",)


def test_a_heading_without_text_rides_with_the_section_below_it() -> None:
    text = "# A\n\n## B\n\nText of B."
    sections = (Section(("A",), Span(0, 5)), Section(("A", "B"), Span(5, len(text))))
    pieces = chunk_document(SourceDocument(text, "T", sections, "0"), _count, ChunkProfile(LIMIT, 0), 100)
    assert [(text[p.span.start : p.span.end], p.heading_path) for p in pieces] == [(text, ("A", "B"))]


def test_pages_of_a_chunk_that_crosses_a_page_break() -> None:
    document = make_document("One two.\n\nThree.", pages=(Page(3, Span(0, 10)), Page(4, Span(10, 16))))
    (piece,) = chunk_document(document, _count, ChunkProfile(LIMIT, 0), 100)
    assert (piece.page, piece.page_end, piece.page_breaks) == (3, 4, (10,))


def _texts(document: SourceDocument, pieces: list[Piece]) -> list[str]:
    return [document.text[piece.span.start : piece.span.end] for piece in pieces]


def test_a_section_that_is_whole_is_one_chunk_up_to_the_embedders_maximum() -> None:
    abstract = "We measure what is measured. " * 10
    text = f"# Abstract\n{abstract}\n# One\nText."
    at = text.index("# One")
    sections = (Section(("Abstract",), Span(0, at), whole=True), Section(("One",), Span(at, len(text))))
    document = SourceDocument(text, "T", sections, "0")
    pieces = chunk_document(document, _count, ChunkProfile(LIMIT, 0), 200)
    assert _texts(document, pieces) == [text[:at].strip(), text[at:]]
    short = chunk_document(document, _count, ChunkProfile(LIMIT, 0), 60)
    assert len(short) > 2
    assert all(piece.tokens <= LIMIT for piece in short)


def test_a_table_cut_between_rows_repeats_caption_and_header_and_tears_no_row() -> None:
    head = "| Name | Bar |\n|------|----:|"
    rows = [f"| pump number {n} | {n}.5 |" for n in range(30)]
    text = "\n".join(["Before.", "", "Table 3: Limits", "", head, *rows, "", "After the table comes more."])
    document = make_document(text)
    pieces = chunk_document(document, _count, ChunkProfile(40, 0), 200)
    texts = _texts(document, pieces)
    assert texts[0].startswith("Before.\n\nTable 3: Limits\n\n| Name | Bar |\n|------|----:|\n| pump number 0 |")
    assert pieces[0].context == ""
    assert len(pieces) > 4
    for text_, piece in zip(texts[1:-1], pieces[1:-1], strict=True):
        assert piece.context == f"Table 3: Limits\n{head}"
        assert all(line in rows for line in text_.split("\n"))
        assert piece.tokens <= 40
    assert sum(text_.count("| pump number") for text_ in texts) == 30
    assert texts[-1].endswith("After the table comes more.")


def test_a_table_that_fits_stays_in_one_piece_with_the_line_above_it() -> None:
    filler = "Words that fill the piece before the table. " * 3
    table = "Limits by pump:\n| Name | Bar |\n|---|---|\n| a | 1 |\n| b | 2 |"
    document = make_document(f"{filler}\n\n{table}\n\n{filler}")
    assert table in _texts(document, chunk_document(document, _count, ChunkProfile(35, 0), 200))


def test_a_header_row_too_long_to_be_repeated_is_left_out() -> None:
    head = "| " + " | ".join(f"column number {n}" for n in range(20)) + " |\n|" + "---|" * 20
    document = make_document("\n".join([head, *(f"| {n} " * 20 + "|" for n in range(10))]))
    pieces = chunk_document(document, _count, ChunkProfile(60, 0), 80)
    assert all(piece.context == "" and piece.tokens <= 60 for piece in pieces)


@pytest.mark.parametrize(
    ("marks", "expected"),
    [
        ((Mark(0, "line", 1),), [Place("line", 1, 2), Place("line", 4, 4)]),
        ((Mark(0, "row", 0), Mark(4, "row", 7)), [Place("row", 7, 7), Place("row", 9, 9)]),
        ((Mark(0, "slide", 3), Mark(9, "slide", 4)), [Place("slide", 3, 3), Place("slide", 4, 4)]),
        ((Mark(4, "cell", 2),), [Place("cell", 2, 2), Place("cell", 2, 2)]),
        ((Mark(0, "line", 1), Mark(8, "line", 0)), [Place("line", 1, 2), None]),
    ],
)
def test_places(marks: tuple[Mark, ...], expected: list[Place | None]) -> None:
    text = "one\ntwo\n\nfour"
    sections = (Section(("A",), Span(0, 8)), Section(("B",), Span(8, len(text))))
    document = SourceDocument(text, "T", sections, "0", marks=marks)
    pieces = chunk_document(document, _count, ChunkProfile(LIMIT, 0), 100)
    assert [piece.place for piece in pieces] == expected


@pytest.mark.parametrize("separator", ["\n", " ", "\n\n"])
@pytest.mark.parametrize("overlap", [0, 30])
@pytest.mark.parametrize("edit", ["change", "insert", "delete"])
def test_an_edit_in_one_long_section_moves_no_cut_but_those_beside_it(separator: str, overlap: int, edit: str) -> None:
    made = random.Random(f"{separator} {overlap} {edit}")
    words = ["pump", "valve", "report", "annual", "pressure", "limit", "shows", "that", "the", "of", "plant", "steam"]
    lines = [" ".join(made.choices(words, k=made.randint(6, 20))).capitalize() + "." for _ in range(600)]
    profile = ChunkProfile(200, overlap)
    document = make_document(separator.join(lines))
    before = _texts(document, chunk_document(document, _count, profile, 480))
    assert len(before) > 50
    for _ in range(5):
        at = made.randrange(len(lines))
        if edit == "insert":
            lines.insert(at, "A line that was not there before.")
        elif edit == "delete":
            del lines[at]
        else:
            lines[at] = f"{lines[at][:-1]} and 25 more."
        document = make_document(separator.join(lines))
        pieces = chunk_document(document, _count, profile, 480, {text: _count(text) for text in before})
        after = _texts(document, pieces)
        assert len(set(after) - set(before)) <= 2
        assert all(one.span.end < two.span.end for one, two in pairwise(pieces))
        assert all(piece.tokens <= 200 for piece in pieces)
        before = after
    assert len(before) <= 1.1 * len(chunk_document(document, _count, profile, 480)) + 1, "no crumbs are left behind"


@settings(max_examples=40)
@given(documents(), documents(), st.integers(min_value=0, max_value=12))
def test_invariants_hold_whatever_was_known(document: SourceDocument, other: SourceDocument, overlap: int) -> None:
    profile = ChunkProfile(LIMIT, overlap)
    known = [text * 3 for text in _texts(other, chunk_document(other, _count, profile, 100))]
    long = make_document(document.text * 3)
    known += _texts(long, chunk_document(long, _count, ChunkProfile(LIMIT, 0), 100))
    pieces = chunk_document(long, _count, profile, 100, {text: _count(text) for text in known})
    covered = {at for piece in pieces for at in range(piece.span.start, piece.span.end)}
    assert all(character.isspace() or at in covered for at, character in enumerate(long.text))
    assert all(piece.tokens <= LIMIT for piece in pieces)
    for one, two in pairwise(pieces):
        assert one.span.start < two.span.start
        assert one.span.end < two.span.end
