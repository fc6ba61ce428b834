import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from material import make_chunk, make_document, make_file

from rag.errors import LibraryCorrupt
from rag.index.catalog import Catalog, Indexed, embedded_hash
from rag.index.chunking.chunks import Piece, embedded_text
from rag.types import (
    Answer,
    Evidence,
    FileState,
    Hidden,
    Hit,
    Page,
    PageVerdict,
    Place,
    ReadOptions,
    Remedy,
    Retrieval,
    SourceFile,
    Span,
    Stage,
    Trace,
    Verdict,
)

IDENTITY_JSON = dict(
    provider="bundled", model="m", revision="1", dimension=3, normalized=True, query_prefix="q: ", passage_prefix="",
    max_tokens=512,
)  # fmt: skip


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    opened = Catalog(tmp_path / "catalog.sqlite")
    yield opened
    opened.close()


def _put(catalog: Catalog, path: str, *texts: str) -> list[str]:
    """Stores a file of one chunk a text, without vectors."""
    whole = "\n".join(texts)
    pieces = []
    at = 0
    for text in texts:
        pieces.append(Piece(Span(at, at + len(text)), ("H",), None, None, 1))
        at += len(text) + 1
    file = make_file(path)
    ids = catalog.next_chunk_ids(file, len(pieces))
    catalog.put_file(file, make_document(whole), pieces, ids, Indexed(FileState.INDEXED, "", "s", "r"))
    return ids


def _trace(question: str) -> Trace:
    from rag.types import EmbedderIdentity

    hit = Hit(make_chunk("The text."), 0.5, 1)
    retrieval = Retrieval(
        "L", question, (question,), "", (hit,), (Stage("dense", "cosine", (hit,), 0.1),), Evidence(Verdict.SOME, "why"),
        {"embed": 0.1},
    )  # fmt: skip
    return Trace(
        "t", 1.0, retrieval, None, None, EmbedderIdentity(**IDENTITY_JSON), Answer("A.", "answered"), {"x": 1.0}
    )


def test_a_stored_file_is_found_again_with_its_chunks(catalog: Catalog) -> None:
    ids = _put(catalog, "a.md", "first text", "second text")
    (record,) = catalog.files()
    assert (record.path, record.chunks, record.state) == ("a.md", 2, FileState.INDEXED)
    chunks = [catalog.chunks(ids)[id_] for id_ in ids]
    assert [chunk.text for chunk in chunks] == ["first text", "second text"]
    assert chunks[1].span == Span(11, 22)
    assert catalog.leftover_vectors() == []


def test_a_changed_file_leaves_nothing_behind_but_journal_lines(catalog: Catalog) -> None:
    old = _put(catalog, "a.md", "old zebra text")
    new = _put(catalog, "a.md", "new giraffe text")
    assert set(old).isdisjoint(new)
    assert catalog.chunk_ids() == set(new)
    assert catalog.search_terms(["zebra"], 10) == {}
    assert list(catalog.search_terms(["giraffe"], 10)) == new
    assert catalog.leftover_vectors() == old
    catalog.clear_journal(old)
    assert catalog.leftover_vectors() == []


def test_ids_given_out_but_never_stored_are_left_over(catalog: Catalog) -> None:
    ids = catalog.next_chunk_ids(make_file("never.md"), 2)
    assert catalog.leftover_vectors() == ids


def test_a_removed_file_is_gone_from_every_table(catalog: Catalog) -> None:
    ids = _put(catalog, "a.md", "zebra")
    catalog.remove_file(catalog.files()[0].id)
    assert (catalog.files(), catalog.chunk_ids(), catalog.search_terms(["zebra"], 5)) == ((), set(), {})
    assert catalog.leftover_vectors() == ids
    assert catalog.document_frequencies(["zebra"]) == {"zebra": 0}


def test_file_ids_are_never_used_twice(catalog: Catalog) -> None:
    first = _put(catalog, "a.md", "x")
    catalog.remove_file(catalog.files()[0].id)
    assert set(_put(catalog, "b.md", "y")).isdisjoint(first)


def test_bm25_ranks_the_rarer_word_higher_and_finds_clauses_and_cjk(catalog: Catalog) -> None:
    both, pump, clause, japanese = _put(
        catalog, "a.md", "the pump and the valve", "the pump alone", "clause 8.3.2 of the pump", "東京は日本の首都です"
    )
    best = catalog.search_terms(["pump", "valve"], 10)
    assert next(iter(best)) == both
    assert set(best) == {both, pump, clause}
    assert best[pump][-3:] == ["the", "pump", "alone"], "with all terms, so that what was not searched can be counted"
    assert len(catalog.search_terms(["pump", "valve"], 2)) == 2
    assert list(catalog.search_terms(["8.3.2"], 10)) == [clause]
    assert list(catalog.search_terms(["首都"], 10)) == [japanese]


def test_query_terms_cannot_inject_search_syntax(catalog: Catalog) -> None:
    _put(catalog, "a.md", "harmless")
    for term in ('"', 'x" OR "harmless', "NEAR(", "terms:", "*", "-"):
        catalog.search_terms([term], 5)
    assert catalog.search_terms(['" OR harmless OR "'], 5) == {}


def test_headings_and_title_are_searched_with_the_text(catalog: Catalog) -> None:
    _put(catalog, "a.md", "some text")
    assert len(catalog.search_terms(["note"], 5)) == 1


def test_job_that_never_ended_is_interrupted(catalog: Catalog) -> None:
    assert catalog.job().state == "idle"
    catalog.start_job("/notes")
    assert (catalog.job().state, catalog.job().root) == ("interrupted", "/notes")
    catalog.end_job("failed", error="E", hint="H")
    assert (catalog.job().state, catalog.job().error, catalog.job().hint) == ("failed", "E", "H")


def test_conversations(catalog: Catalog) -> None:
    one = catalog.new_conversation()
    assert catalog.new_conversation() == one, "one in which nothing was said is taken again"
    trace = _trace("When?")
    catalog.add_exchange(one, trace)
    two = catalog.new_conversation()
    assert [info.id for info in catalog.conversations()] == [two, one]
    assert [info.title for info in catalog.conversations()] == ["", "When?"]
    (exchange,) = catalog.exchanges(one)
    assert exchange.trace == trace
    assert catalog.last_exchange() == exchange
    catalog.rename_conversation(one, "Better")
    catalog.add_exchange(one, _trace("And then?"))
    assert catalog.conversations()[0].title == "Better"
    catalog.delete_conversation(one)
    assert [info.id for info in catalog.conversations()] == [two]
    assert catalog.last_exchange() is None


def test_an_answer_that_comes_after_its_file_was_removed_is_kept_without_its_words(catalog: Catalog) -> None:
    (gone,), (stays,) = _put(catalog, "gone.md", "The text."), _put(catalog, "stays.md", "The text.")
    trace = _trace("When?")
    hits = tuple(Hit(make_chunk("The text.", id_), 0.5, rank) for rank, id_ in enumerate((gone, stays, "x.1.1.0")))
    catalog.remove_file(1)
    catalog.add_exchange(catalog.new_conversation(), replace(trace, retrieval=replace(trace.retrieval, hits=hits)))
    last = catalog.last_exchange()
    assert last is not None
    assert [hit.chunk.text for hit in last.trace.retrieval.hits] == ["", "The text.", "The text."]


def test_a_file_that_is_no_catalog_is_corrupt(tmp_path: Path) -> None:
    path = tmp_path / "catalog.sqlite"
    path.write_bytes(b"this is no database, but long enough to be looked at as one" * 100)
    with pytest.raises(LibraryCorrupt, match=r"catalog\.sqlite.*not a database"):
        Catalog(path)


def test_a_damaged_page_is_corrupt_when_it_is_met(tmp_path: Path) -> None:
    path = tmp_path / "catalog.sqlite"
    catalog = Catalog(path)
    for n in range(50):
        _put(catalog, f"{n}.md", "some words " * 200)
    catalog.close()
    data = bytearray(path.read_bytes())
    data[8192:-4096] = bytes(len(data) - 8192 - 4096)
    path.write_bytes(data)
    with pytest.raises(LibraryCorrupt):
        opened = Catalog(path)
        opened.files()
        opened.chunk_ids()
        opened.search_terms(["words"], 5)


@pytest.mark.parametrize(("version", "said"), [(99, "a newer Footnote"), (2, "an older Footnote")])
def test_another_format_is_refused(tmp_path: Path, version: int, said: str) -> None:
    path = tmp_path / "catalog.sqlite"
    Catalog(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {version}")
    with pytest.raises(LibraryCorrupt, match=said):
        Catalog(path)


def test_what_is_known_of_a_file_comes_back(catalog: Catalog) -> None:
    file = SourceFile(Path("/notes"), "paper.pdf", 7, 8, 9)
    pages = (Page(1, Span(0, 3)), Page(2, Span(3, 3), "no text on it", PageVerdict.SCAN))
    document = replace(make_document("One", pages=pages), encoding="cp932", authors=("A. B.", "C. D."), year=1998)
    piece = Piece(Span(0, 3), ("H",), 1, 1, 1, (), Place("row", 2, 40), "| Name |\n|---|")
    (id_,) = catalog.next_chunk_ids(file, 1)
    remedies = (Remedy.OCR, Remedy.ENCODING)
    catalog.put_file(file, document, [piece], [id_], Indexed(FileState.PARTLY, "why", "s", "r", remedies))
    (record,) = catalog.files()
    assert (record.inode, record.encoding, record.remedies, record.authors, record.year) == (
        9, "cp932", remedies, ("A. B.", "C. D."), 1998,
    )  # fmt: skip
    assert catalog.pages(record.id) == pages
    (chunk,) = catalog.chunks_of(record.id)
    assert (chunk.place, chunk.context) == (piece.place, piece.context)
    assert len(catalog.search_terms(["name"], 5)) == 1, "what stands above a table's rows is searched with them"
    catalog.set_options(record.id, ReadOptions(ocr=True, passwords=("secret",)))
    assert catalog.files()[0].options == ReadOptions(ocr=True)


def test_what_is_known_of_a_section_comes_back_with_its_chunks(catalog: Catalog) -> None:
    file = make_file("standard.md")
    document = replace(make_document("One. Two."), date="2024-05", year=1998)
    pieces = [
        Piece(Span(0, 4), ("Rules",), None, None, 1, section="5.1", stance="normative"),
        Piece(Span(5, 9), ("Rules",), None, None, 1, contents=True),
    ]
    ids = catalog.next_chunk_ids(file, 2)
    ending = Indexed(FileState.INDEXED, "", "s", "r")
    catalog.put_file(file, document, pieces, ids, ending)
    chunks = catalog.chunks_of(1)
    assert [(chunk.section, chunk.stance, chunk.contents) for chunk in chunks] == [
        ("5.1", "normative", False), ("", "", True),
    ]  # fmt: skip
    assert {chunk.date for chunk in chunks} == {"2024-05"}
    assert list(catalog.search_terms(["5.1"], 5)) == ids[:1], "a number that no heading carries is searched"
    catalog.put_file(file, replace(document, date=""), [replace(pieces[0], stance=""), pieces[1]], ids, ending)
    assert [(chunk.id, chunk.stance, chunk.date) for chunk in catalog.chunks_of(1)] == [
        (ids[0], "", "1998"), (ids[1], "", "1998"),
    ]  # fmt: skip


def test_a_chunk_that_stays_keeps_its_id_and_moves_with_the_text(catalog: Catalog) -> None:
    first, second = _put(catalog, "a.md", "first text", "second text")
    file = make_file("a.md")
    (fresh,) = catalog.next_chunk_ids(file, 1)
    pieces = [Piece(Span(0, 8), ("H",), None, None, 1), Piece(Span(9, 20), ("H",), None, None, 1)]
    ending = Indexed(FileState.INDEXED, "", "s", "r")
    catalog.put_file(file, make_document("new text\nsecond text"), pieces, [fresh, second], ending)
    assert [(chunk.id, chunk.text, chunk.span) for chunk in catalog.chunks_of(1)] == [
        (fresh, "new text", Span(0, 8)), (second, "second text", Span(9, 20)),
    ]  # fmt: skip
    assert catalog.leftover_vectors() == [first]
    assert list(catalog.search_terms(["second"], 5)) == [second]
    assert catalog.search_terms(["first"], 5) == {}
    stored = embedded_hash(embedded_text("Note", ("H",), "", "", "second text"))
    assert catalog.reusable([stored, b"unknown"]) == {stored: (second,)}


def test_chunk_ids_are_those_of_one_library(tmp_path: Path) -> None:
    catalogs = [Catalog(tmp_path / name) for name in ("one.sqlite", "two.sqlite")]
    one, two = (catalog.next_chunk_ids(make_file(), 1)[0] for catalog in catalogs)
    assert one != two
    for catalog, id_ in zip(catalogs, (one, two), strict=True):
        assert id_.startswith(f"{catalog.source(1)}.")
        catalog.close()


def test_what_is_hidden_stays_with_its_chunk_through_edits(catalog: Catalog) -> None:
    file = make_file("a.md")
    pieces = [Piece(Span(0, 5), (), None, None, 1), Piece(Span(6, 12), (), None, None, 1)]
    ids = catalog.next_chunk_ids(file, 2)
    ending = Indexed(FileState.INDEXED, "", "s", "r")
    hidden = Hidden(Span(4, 8), "colour")
    catalog.put_file(file, replace(make_document("plain secret"), hidden=(hidden,)), pieces, ids, ending)
    assert [chunk.hidden for chunk in catalog.chunks_of(1)] == [(hidden,), (hidden,)]
    moved = Hidden(Span(7, 13), "tiny")
    later = [Piece(Span(1, 6), (), None, None, 1), Piece(Span(7, 13), (), None, None, 1)]
    catalog.put_file(file, replace(make_document("\nplain secret"), hidden=(moved,)), later, ids, ending)
    assert [chunk.hidden for chunk in catalog.chunks_of(1)] == [(), (moved,)]


def test_a_library_of_the_format_before_is_brought_up_and_keeps_everything(tmp_path: Path) -> None:
    path = tmp_path / "catalog.sqlite"
    with closing(Catalog(path)) as catalog:
        (id_,) = _put(catalog, "a.md", "the pump")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("ALTER TABLE chunk DROP COLUMN hidden")
        connection.execute("PRAGMA user_version = 3")
    for _ in range(2):
        with closing(Catalog(path)) as catalog:
            (chunk,) = catalog.chunks_of(1)
            assert (chunk.id, chunk.text, chunk.hidden) == (id_, "the pump", ())
            assert list(catalog.search_terms(["pump"], 5)) == [id_]
            assert catalog.damage() == ""
