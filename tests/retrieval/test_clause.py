from dataclasses import replace

import pytest
from material import make_document, make_file

from rag.index.catalog import Indexed
from rag.index.chunking.chunks import Piece
from rag.index.library import Library
from rag.index.selection import select
from rag.retrieval.clause import mentions, search_clause
from rag.types import FileState, Filters, Span, Stage


@pytest.fixture
def standards(library: Library) -> Library:
    def put(path: str, title: str, *clauses: tuple[str, str]) -> None:
        pieces, start = [], 0
        for section, text in clauses:
            contents = section == "" or len(text) < 12
            pieces.append(Piece(Span(start, start + len(text)), (), None, None, 1, section=section, contents=contents))
            start += len(text) + 1
        document = make_document("\n".join(text for _, text in clauses), title)
        ids = library.catalog.next_chunk_ids(make_file(path), len(pieces))
        ending = Indexed(FileState.INDEXED, "", path, "r")
        library.catalog.put_file(make_file(path), document, pieces, ids, ending)

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
    assert (labelled.number, labelled.sure) == ("8.8", True)
    assert (deep.number, deep.sure) == ("8.8.3", True)
    assert (bare.number, bare.sure) == ("8.8", False)
