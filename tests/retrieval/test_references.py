from pathlib import Path

import pytest
from fakes.hash_embedder import HashEmbedder
from material import write_notes

from rag.index.chunking.chunks import ChunkProfile
from rag.index.library import Library
from rag.index.plan import make_plan
from rag.index.selection import select
from rag.index.sync import apply_plan
from rag.retrieval.references import follow, references
from rag.sources.workers import ReaderPool
from rag.types import Chunk, Filters, Hit

STANDARD = """# 5 Pumps

## 5.1 General

Pumps are built as specified in 5.2.1, and their seals are those of Table C.4 in Annex C.
Section 7 of RFC 2045 does not apply.

## 5.2 Pressure

### 5.2.1 Limits

The pressure never exceeds 16 bar.

### 5.2.2 Records

Each reading is written down.

# Annex C (informative)

Seals are bought ready-made.

Table C.4: Seals by temperature

| Seal | Temperature |
|------|-------------|
| NBR  | 100 °C      |
| FKM  | 200 °C      |
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see Table C.4 in Annex C", [("Table C.4", "", "C.4"), ("Annex C", "Annex C", "")]),
        ("as specified in 5.2.1, the pump", [("5.2.1", "5.2.1", "")]),
        ("described in 5.2", [("5.2", "5.2", "")]),
        ("(see Section 8.8.3)", [("Section 8.8.3", "8.8.3", "")]),
        ("nach § 5 Absatz 2 ist", [("§ 5", "§ 5", "")]),
        ("§ 10 des Flaggenrechtsgesetzes", []),
        ("§ 4 Absatz 1 Satz 2 der Betriebssicherheitsverordnung", []),
        ("Section 5 of [RFC7234]", []),
        ("Section 5 of this document", [("Section 5", "5", "")]),
        ("第5条の規定による", [("第5条", "Article 5", "")]),
        ("表3に示す", [("表3", "", "3")]),
        ("a pressure of 5.2 bar in 2.5 seconds", []),
        ("It rose by 5.2.", []),
    ],
)
def test_references_to_the_same_document(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert [(found.words, found.section, found.caption) for found in references(text)] == expected


@pytest.fixture
def chunks(library: Library, tmp_path: Path, readers: ReaderPool) -> tuple[Chunk, ...]:
    root = write_notes(tmp_path / "notes", {"standard.md": STANDARD, "other.md": STANDARD.replace("16 bar", "6 bar")})
    profile = ChunkProfile(60, 10)
    list(apply_plan(library, make_plan(library, root, profile), HashEmbedder(), readers, profile))
    (file,) = (file for file in library.catalog.files() if file.path == "standard.md")
    return library.catalog.chunks_of(file.id)


def test_the_passages_that_are_referred_to_are_found_in_the_same_file(
    library: Library, chunks: tuple[Chunk, ...]
) -> None:
    (general,) = (chunk for chunk in chunks if "as specified in" in chunk.text)
    stage = follow([Hit(general, 0.5, 1)], [(library, None)])
    # The annex is where the table is: it comes once.
    assert [hit.note for hit in stage.hits] == ["“5.2.1” in passage 1", "“Table C.4” in passage 1"]
    limits, annex = (hit.chunk for hit in stage.hits)
    assert "16 bar" in limits.text
    assert annex.text.startswith("# Annex C")
    assert {chunk.path for chunk in (limits, annex)} == {"standard.md"}


def test_what_filters_leave_out_is_not_followed(library: Library, chunks: tuple[Chunk, ...]) -> None:
    (general,) = (chunk for chunk in chunks if "as specified in" in chunk.text)
    within = select(library.catalog, Filters(without=("FKM",)))
    stage = follow([Hit(general, 0.5, 1)], [(library, within)])
    assert [hit.note for hit in stage.hits] == ["“5.2.1” in passage 1"]


def test_what_is_among_the_best_already_is_not_followed(library: Library, chunks: tuple[Chunk, ...]) -> None:
    (general,) = (chunk for chunk in chunks if "as specified in" in chunk.text)
    (limits,) = (chunk for chunk in chunks if "16 bar" in chunk.text)
    stage = follow([Hit(general, 0.5, 1), Hit(limits, 0.4, 2)], [(library, None)])
    assert limits.id not in {hit.chunk.id for hit in stage.hits}
