from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from material import make_document

from rag.index.chunking import ChunkProfile, chunk_document
from rag.types import Page, Section, SourceDocument, Span

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
