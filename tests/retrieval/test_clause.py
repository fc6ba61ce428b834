from dataclasses import replace
from functools import partial

import pytest
from material import make_document, make_file

from rag.index.catalog import Catalog, Condition, Indexed
from rag.index.chunking.chunks import Piece
from rag.index.library import Library, Shelf
from rag.index.selection import select
from rag.retrieval.clause import mentions, search_clause
from rag.types import FileState, Filters, Span, Stage


def _put(library: Library, path: str, title: str, *clauses: tuple[str, str]) -> None:
    pieces, start = [], 0
    for section, text in clauses:
        contents = section == "" or len(text) < 12
        pieces.append(Piece(Span(start, start + len(text)), (), None, None, 1, section=section, contents=contents))
        start += len(text) + 1
    document = make_document("\n".join(text for _, text in clauses), title)
    ids = library.catalog.next_chunk_ids(make_file(path), len(pieces))
    ending = Indexed(FileState.INDEXED, "", path, "r")
    library.catalog.put_file(make_file(path), document, pieces, ids, ending)


@pytest.fixture
def standards(library: Library) -> Library:
    put = partial(_put, library)
    put(
        "rfc/rfc9110.txt", "RFC 9110: HTTP Semantics",
        ("", "Contents: 8.8.3 ETag, 8.8.3.1 Comparison"), ("8", "8. Metadata of representations"),
        ("8.8.3", "8.8.3. ETag is an opaque validator"), ("8.8.3", "and more about the entity tag"),
        ("8.8.3.1", "8.8.3.1. Comparison of tags"), ("11.6", "11.6. Bare"), ("11.6.1", "11.6.1. WWW-Authenticate"),
    )  # fmt: skip
    put("rfc/rfc2045.txt", "RFC 2045: The format of messages", ("8", "8. Content-Description, a header field"))
    put("nist/sp800-63/sec5.md", "Risk Management", ("5.1", "Initial impact assessment of the risk"))
    put("nist/sp800-63a/sec5.md", "Level Requirements", ("5.1", "General requirements of proofing"))
    put(
        "law/betrsichv_2015.md", "Verordnung über Arbeitsmittel (BetrSichV 2015)", ("§ 7", "§ 7 Vereinfachte Pflichten")
    )
    put("law/prodhaftg.md", "Gesetz (ProdHaftG)", ("§ 7", "§ 7 Beweis ist zu führen"), ("Annex C", "Anhang C Muster"))
    put("law/ja.md", "民法", ("Article 5", "第五条 未成年者の法律行為"))
    return library


def _first(stage: Stage | None) -> tuple[str, str]:
    assert stage is not None
    return (stage.hits[0].chunk.path, stage.hits[0].chunk.section) if stage.hits else ("", "")


@pytest.mark.parametrize(
    ("question", "path", "section"),
    [
        ("RFC 9110 section 8.8.3", "rfc/rfc9110.txt", "8.8.3"),
        ("What does Section 8.8.3. of rfc9110 say?", "rfc/rfc9110.txt", "8.8.3"),
        ("rfc9110 8.8.3", "rfc/rfc9110.txt", "8.8.3"),
        ("In HTTP, what is in chapter 8?", "rfc/rfc9110.txt", "8"),
        ("What does RFC 2045 say in section 8?", "rfc/rfc2045.txt", "8"),
        ("What does NIST 800-63A clause 5.1 say?", "nist/sp800-63a/sec5.md", "5.1"),
        ("What does NIST 800-63 clause 5.1 say?", "nist/sp800-63/sec5.md", "5.1"),
        ("800-63A § 5.1", "nist/sp800-63a/sec5.md", "5.1"),
        ("§ 7 BetrSichV", "law/betrsichv_2015.md", "§ 7"),
        ("Was regelt §7 der betrsichv?", "law/betrsichv_2015.md", "§ 7"),
        ("Was steht in § 7 Abs. 2 ProdHaftG?", "law/prodhaftg.md", "§ 7"),
        ("Section 7 of the ProdHaftG", "law/prodhaftg.md", "§ 7"),
        ("Annex C of ProdHaftG", "law/prodhaftg.md", "Annex C"),
        ("what is in appendix c?", "law/prodhaftg.md", "Annex C"),
        ("第５条は何を定めていますか", "law/ja.md", "Article 5"),
        ("民法第五条", "law/ja.md", "Article 5"),
    ],
)
def test_a_named_clause_comes_first_and_before_other_legs(
    standards: Library, question: str, path: str, section: str
) -> None:
    stage = search_clause(standards, question, 10)
    assert _first(stage) == (path, section)
    assert stage is not None
    assert stage.weight == 10.0
    assert {hit.chunk.path for hit in stage.hits} == {path}
    assert [hit.rank for hit in stage.hits] == list(range(1, len(stage.hits) + 1))


@pytest.mark.parametrize(
    "question",
    [
        "What is an entity tag?",
        "Does the valve open at 16.5 bar or is it 8.8 bar on some days?",
        "How do I install it in 5 minutes?",
        "In this section a user is created",
        "the part I like most",
        "It was written on 2024-05-01 at 8:30",
        "",
    ],
)
def test_a_question_that_names_no_clause_is_none(standards: Library, question: str) -> None:
    assert search_clause(standards, question, 10) is None


def test_of_an_unnamed_document_the_words_decide_and_the_vote_is_an_ordinary_one(standards: Library) -> None:
    stage = search_clause(standards, "What does section 5.1 say about the impact of risk?", 10)
    assert _first(stage) == ("nist/sp800-63/sec5.md", "5.1")
    assert stage is not None
    assert (stage.weight, len(stage.hits)) == (1.0, 2)
    assert "unsure" in stage.note


def test_a_clause_that_no_document_has_finds_nothing(standards: Library) -> None:
    stage = search_clause(standards, "RFC 9110 section 99.9", 10)
    assert stage is not None
    assert (stage.hits, stage.weight) == ((), 0.0)
    assert "99.9" in stage.note


def test_contents_do_not_compete_and_a_bare_heading_brings_what_stands_below_it(standards: Library) -> None:
    stage = search_clause(standards, "RFC 9110 section 8.8.3", 10)
    assert stage is not None
    assert [hit.chunk.text[:8] for hit in stage.hits] == ["8.8.3. E", "and more"]
    bare = search_clause(standards, "RFC 9110 section 11.6", 10)
    assert bare is not None
    assert [hit.chunk.section for hit in bare.hits] == ["11.6", "11.6.1"]


def test_two_clauses_are_both_found_their_beginnings_first(standards: Library) -> None:
    stage = search_clause(standards, "Compare sections 8.8.3 and 8.8.3.1 of RFC 9110", 10)
    assert stage is not None
    assert {hit.chunk.section for hit in stage.hits[:2]} == {"8.8.3", "8.8.3.1"}


def test_filters_hold(standards: Library) -> None:
    within = select(standards.catalog, Filters(files=("prodhaftg",)))
    assert _first(search_clause(standards, "§ 7 BetrSichV", 10, within)) == ("law/prodhaftg.md", "§ 7")
    nothing = select(standards.catalog, replace(Filters(), files=("no such",)))
    assert _first(search_clause(standards, "§ 7 BetrSichV", 10, nothing)) == ("", "")


def test_a_mention_is_sure_by_its_label_or_its_depth() -> None:
    (labelled,), (deep,), (bare,) = mentions("section 8.8"), mentions("What is in 8.8.3?"), mentions("RFC 9110 8.8")
    (version,) = mentions("What changed in Python 8.8.3?")
    assert (version.number, version.sure) == ("8.8.3", False)
    assert (labelled.number, labelled.sure) == ("8.8", True)
    assert (deep.number, deep.sure) == ("8.8.3", True)
    assert (bare.number, bare.sure) == ("8.8", False)


@pytest.mark.parametrize(
    "question",
    [
        "What does RFC 9110 section 3 say?",
        "What does section 3 of the lease say about rent?",
        "In chapter 3 of Moby Dick, who is Queequeg?",
        "What changed in Python 3.11.2?",
        "Why does the printer at 10.0.0.1 not answer?",
    ],
)
def test_a_clause_of_a_document_that_is_not_there_is_not_sure(library: Library, question: str) -> None:
    _put(library, "rfc7231.txt", "RFC 7231: HTTP Semantics", ("3", "3. Representations have data"))
    _put(library, "more.txt", "Notes", ("3.11.2", "3.11.2. On compost"), ("10.0.0.1", "10.0.0.1. On moss"))
    _put(library, "garden.md", "Garden", ("", "Roses are cut back in the month of March"))
    stage = search_clause(library, question, 10)
    assert stage is not None
    assert (stage.hits != (), stage.weight) == (True, 1.0)
    assert "unsure" in stage.note


@pytest.mark.parametrize("question", ["What does section 3 say?", "section 3: which data do representations have?"])
def test_where_no_document_is_named_a_clause_that_says_what_is_asked_is_sure(library: Library, question: str) -> None:
    _put(library, "rfc7231.txt", "RFC 7231: HTTP Semantics", ("3", "3. Representations have data"))
    _put(library, "garden.md", "Garden", ("", "Roses are cut back in the month of March"))
    stage = search_clause(library, question, 10)
    assert _first(stage) == ("rfc7231.txt", "3")
    assert stage is not None
    assert stage.weight == 10.0


def test_filters_come_before_the_files_that_are_looked_into(library: Library) -> None:
    for number in range(20):
        _put(library, f"doc{number}/terms.md", "Terms", ("4.2", f"4.2. What is agreed on item {number}"))
        _put(library, f"doc{number}/law.md", "Law", ("§ 6", f"§ 6 What is the law of item {number}"))
    within = select(library.catalog, Filters(folders=("doc15",)))
    for question, path, section in (
        ("What does section 4.2 say?", "doc15/terms.md", "4.2"),
        ("§ 6 Abs. 3", "doc15/law.md", "§ 6"),
        ("section 6 of the Law", "doc15/law.md", "§ 6"),
    ):
        stage = search_clause(library, question, 10, within)
        assert _first(stage) == (path, section)
        assert stage is not None
        assert stage.weight == 10.0


def test_a_file_that_a_sync_adds_meanwhile_is_found(standards: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    known = standards.catalog.file_facts()

    def before(_: Catalog, __: Condition | None = None) -> list[tuple[int, str, str, str, int]]:
        return [facts for facts in known if "9110" not in facts[1]]

    monkeypatch.setattr(Catalog, "file_facts", before)
    assert _first(search_clause(standards, "RFC 2045 section 8.8.3", 10)) == ("rfc/rfc9110.txt", "8.8.3")


def test_scores_can_be_compared_between_libraries(shelf: Shelf) -> None:
    many, one = shelf.create("Many"), shelf.create("One")
    for number in range(30):
        _put(many, f"note{number}.md", "Note", ("", f"A note on plant {number} of the garden"))
    _put(many, "rfc2045.txt", "RFC 2045", ("8", "8. Content-Description, a header field"))
    _put(one, "rfc9110.txt", "RFC 9110", ("8", "8. Metadata of representations"))
    wrong, right = (search_clause(library, "What does RFC 9110 section 8 say?", 10) for library in (many, one))
    assert wrong is not None
    assert right is not None
    assert (wrong.weight, right.weight) == (1.0, 10.0)
    assert wrong.hits[0].score < right.hits[0].score
