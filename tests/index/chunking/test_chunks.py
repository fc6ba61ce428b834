import random
from itertools import pairwise
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from material import make_document

from rag.index.chunking.chunks import ChunkProfile, Piece, chunk_document, embedded_text, header_of
from rag.sources.plain.text import Heading, sections
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


@st.composite
def structured(draw: st.DrawFn) -> SourceDocument:
    """Documents of everything that is treated in a way of its own."""
    lines = draw(
        st.lists(
            st.sampled_from(
                [
                    "# 1 One", "# 2 Two", "## 1.1 Sub", "## 2.1 Sub", "# Plain", "## Sub", "### Deep", "Contents",
                    "- [a](#a)", "1.1 Foo .... 3", "```", "~~~", "| a | b |", "|---|---|", "| 1 | 2 |", "Table 1: x",
                    "Figure 2: y", "So:", "", "", "text here. And more text here. " * 3, "日本語の文。もう一つの文。",
                    "x" * 150, "This section is informative.", "It SHALL do so.",
                ]
            ),
            min_size=1,
            max_size=30,
        )
    )  # fmt: skip
    text, headings = "", []
    for line in lines:
        if line.startswith("#"):
            marks, _, title = line.partition(" ")
            headings.append(Heading(len(text), len(marks), title))
        text += line + "\n"
    return SourceDocument(text, "Title", sections(text, headings), "0", number=draw(st.sampled_from(["", "5", "A"])))


profiles = st.builds(
    ChunkProfile,
    limit=st.just(LIMIT),
    overlap=st.integers(min_value=0, max_value=12),
    name=st.sampled_from(["sections", "words"]),
    minimum=st.sampled_from([0, 4, 8, 15]),
)


def _check(document: SourceDocument, pieces: list[Piece], limit: int = LIMIT) -> None:
    """The invariants that hold for whatever is cut, however it is cut."""
    covered: set[int] = set()
    for piece in pieces:
        text = document.text[piece.span.start : piece.span.end]
        assert text == text.strip() != ""
        assert piece.tokens == _count(text) <= limit
        covered |= set(range(piece.span.start, piece.span.end))
    assert all(character.isspace() or at in covered for at, character in enumerate(document.text))
    for one, next_one in pairwise(pieces):
        assert one.span.start < next_one.span.start
        assert one.span.end < next_one.span.end


@given(documents() | structured(), profiles)
def test_invariants(document: SourceDocument, profile: ChunkProfile) -> None:
    pieces = chunk_document(document, _count, profile, 100)
    _check(document, pieces)
    assert all((piece.page is None) == (not document.pages) for piece in pieces)
    known = {document.text[piece.span.start : piece.span.end]: piece.tokens for piece in pieces}
    _check(document, chunk_document(document, _count, profile, 100, known))


@given(structured())
def test_a_numbered_section_begins_a_chunk_and_nothing_overlaps_but_pieces_of_one_section(
    document: SourceDocument,
) -> None:
    pieces = chunk_document(document, _count, ChunkProfile(LIMIT, 5, "sections", 8), 100)
    begun = {piece.span.start for piece in pieces}
    numbered = [section for section in document.sections if section.heading_path[-1:] in (("1.1 Sub",), ("2.1 Sub",))]
    assert all(document.text.index("#", section.span.start) in begun for section in numbered)
    for one, next_one in pairwise(pieces):
        if next_one.span.start < one.span.end:
            assert next_one.heading_path == one.heading_path
            assert next_one.contents == one.contents


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


WORDS = ["pump", "valve", "report", "annual", "pressure", "limit", "shows", "that", "the", "of", "plant", "steam"]


@pytest.mark.parametrize("separator", ["\n", " ", "\n\n"])
@pytest.mark.parametrize(("name", "overlap"), [("sections", 0), ("sections", 30), ("words", 30)])
@pytest.mark.parametrize("edit", ["change", "insert", "delete"])
def test_an_edit_in_one_long_section_moves_no_cut_but_those_beside_it(
    separator: str, name: Literal["sections", "words"], overlap: int, edit: str
) -> None:
    made = random.Random(f"{separator} {overlap} {edit}")
    lines = [" ".join(made.choices(WORDS, k=made.randint(6, 20))).capitalize() + "." for _ in range(300)]
    profile = ChunkProfile(200, overlap, name, 32)
    document = make_document(separator.join(lines))
    before = _texts(document, chunk_document(document, _count, profile, 480))
    assert len(before) > 20
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


@pytest.mark.parametrize("lengths", [(5,), (4, 8, 40, 150)])
@pytest.mark.parametrize("numbered", [False, True])
def test_an_edit_moves_no_cut_of_other_sections_however_short_they_are(
    lengths: tuple[int, ...], numbered: bool
) -> None:
    made = random.Random(f"{lengths} {numbered}")
    parts: list[str] = []
    for at in range(60):
        parts.append(f"# {at + 1}. Part" if numbered else f"# Part {at}")
        parts += [" ".join(made.choices(WORDS, k=15)) + "." for _ in range(1 + made.choice(lengths) // 15)]
    profile = ChunkProfile(100, 20, "sections", 32)

    def cut(known: list[str]) -> list[str]:
        text = "\n".join(parts)
        starts = [0]
        for part in parts[:-1]:
            starts.append(starts[-1] + len(part) + 1)
        headings = [Heading(at, 1, part[2:]) for at, part in zip(starts, parts, strict=True) if part.startswith("#")]
        document = SourceDocument(text, "T", sections(text, headings), "0")
        pieces = chunk_document(document, _count, profile, 480, {words: _count(words) for words in known})
        _check(document, pieces, 100)
        return _texts(document, pieces)

    before = cut([])
    for edit in ["change", "insert", "delete"] * 3:
        at = made.choice([at for at, part in enumerate(parts) if edit == "change" or not part.startswith("#")])
        if edit == "insert":
            parts.insert(at, "A line that was not there before.")
        elif edit == "delete":
            del parts[at]
        else:
            parts[at] = f"{parts[at]} and 25 more"
        after = cut(before)
        assert len(set(after) - set(before)) <= 2
        before = after
    assert len(before) <= 1.1 * len(cut([])) + 1, "no crumbs are left behind"


@settings(max_examples=40)
@given(documents(), documents(), profiles)
def test_invariants_hold_whatever_was_known(
    document: SourceDocument, other: SourceDocument, profile: ChunkProfile
) -> None:
    known = [text * 3 for text in _texts(other, chunk_document(other, _count, profile, 100))]
    long = make_document(document.text * 3)
    known += _texts(long, chunk_document(long, _count, ChunkProfile(LIMIT, 0), 100))
    _check(long, chunk_document(long, _count, profile, 100, {text: _count(text) for text in known}))


def test_windows_of_words_have_one_length_and_share_their_ends() -> None:
    words = [f"word{n:03}" for n in range(200)]
    text = "# One\n" + " ".join(words[:100]) + "\n# 2.1 Two\n" + " ".join(words[100:])
    at = text.index("# 2.1")
    headings = [Heading(0, 1, "One"), Heading(at, 1, "2.1 Two")]
    document = SourceDocument(text, "T", sections(text, headings), "0")
    pieces = chunk_document(document, _count, ChunkProfile(60, 10, "words", 20), 200)
    _check(document, pieces, 60)
    assert {piece.tokens for piece in pieces[:-1]} <= set(range(55, 61))
    assert all(one.span.end - two.span.start in range(30, 45) for one, two in pairwise(pieces))
    assert [piece.section for piece in pieces] == [""] * 4 + ["2.1"] * 4
    assert [piece.heading_path for piece in pieces] == [("One",)] * 4 + [("2.1 Two",)] * 4


@pytest.mark.parametrize("name", ["sections", "words"])
def test_the_last_piece_begins_earlier_where_it_would_be_too_short(name: Literal["sections", "words"]) -> None:
    document = make_document(" ".join(f"Sentence number {n:02}." for n in range(13)))
    short = chunk_document(document, _count, ChunkProfile(55, 0, name, 0), 100)
    longer = chunk_document(document, _count, ChunkProfile(55, 0, name, 20), 100)
    assert short[-1].tokens < 20 <= longer[-1].tokens
    assert [piece.span for piece in short[:-1]] == [piece.span for piece in longer[:-1]]


def test_what_is_known_of_a_section_is_known_of_its_chunks() -> None:
    text = "# 5.1 Rules\nThis section is normative.\n" + "A rule. " * 30
    document = SourceDocument(text, "T", sections(text, [Heading(0, 1, "5.1 Rules")]), "0")
    pieces = chunk_document(document, _count, ChunkProfile(LIMIT, 0), 100)
    assert len(pieces) > 2
    assert {(piece.section, piece.stance, piece.contents) for piece in pieces} == {("5.1", "normative", False)}


def test_a_table_of_contents_is_cut_between_its_lines() -> None:
    listed = [f"{n}.{m}. Name of a chapter ....... {n * m}" for n in range(1, 4) for m in range(1, 4)]
    document = make_document("Before.\n\n" + "\n".join(listed) + "\n\nAfter this come words.")
    pieces = chunk_document(document, _count, ChunkProfile(LIMIT, 8), 100)
    inside = [text for text, piece in zip(_texts(document, pieces), pieces, strict=True) if piece.contents]
    assert [line for text in inside for line in text.split("\n")] == listed
    assert [piece.contents for piece in pieces][:: len(pieces) - 1] == [False, False]


@pytest.mark.parametrize(
    ("title", "path", "section", "header"),
    [
        ("Guide", (), "", "Guide"),
        ("Guide", ("Guide", "Setup"), "", "Guide › Setup"),
        ("Guide", ("A", "B", "C", "D"), "", "Guide › B › C › D"),
        ("SP 800", ("Rules", "Records"), "5.1", "SP 800 › Rules › 5.1 Records"),
        ("Rules", ("Rules",), "5", "5 Rules"),
        ("Guide", ("8.3 Tests", "Setup"), "8.3", "Guide › 8.3 Tests › Setup"),
        ("Guide", (), "4", "Guide › 4"),
        (
            "Law",
            ("A law (" + "x" * 60 + ") of pumps (PumpV)",),
            "",
            "A law (" + "x" * 32 + "…" + "xx) of pumps (PumpV)",
        ),
    ],
)
def test_the_header_of_a_chunk(title: str, path: tuple[str, ...], section: str, header: str) -> None:
    assert header_of(title, path, section) == header
    assert embedded_text(title, path, section, "| a |", "| 1 |") == f"{header}\n| a |\n| 1 |"
