import json
from collections import defaultdict
from pathlib import Path

import pytest

from rag.index.chunking.chunks import ChunkProfile, chunk_document
from rag.index.chunking.clauses import Clause, canonical, carried, clauses, is_within, outer
from rag.sources.plain.markdown import read_markdown
from rag.sources.readers import read
from rag.types import SourceDocument, SourceFile


def _document(text: str) -> SourceDocument:
    return read_markdown(text.encode(), "Note")


def _numbers(text: str) -> list[str]:
    return [clause.number for clause in clauses(_document(text))]


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("8.3.2", "8.3.2"), ("8.3.2.", "8.3.2"), ("Section 8.3.2", "8.3.2"), ("clause 5.1.1.2", "5.1.1.2"),
        ("Abschnitt 8.3", "8.3"), ("Sec. 5.1", "5.1"), ("８．３．２", "8.3.2"), ("8.3.2 a)", "8.3.2"),
        ("Chapter 3", "3"), ("第3章", "3"), ("第三章", "3"), ("Kapitel 4", "4"), ("section iv", "IV"),
        ("A.1", "A.1"), ("a.1.2", "A.1.2"), ("Annex A.1", "A.1"), ("C", "Annex C"), ("Appendix C", "Annex C"),
        ("annex c", "Annex C"), ("附属書C", "Annex C"), ("Anhang 2", "Annex 2"), ("Anlage I", "Annex I"),
        ("§5", "§ 5"), ("§ 5 Abs. 2", "§ 5 Abs. 2"), ("§ 5 (2)", "§ 5 Abs. 2"), ("§ 5a", "§ 5a"),
        ("§ 5 Absatz 2 Satz 1 Nr. 3", "§ 5 Abs. 2"), ("Paragraph 7", "§ 7"),
        ("Article 7", "Article 7"), ("Art. 7", "Article 7"), ("第5条", "Article 5"), ("第百二十三条", "Article 123"),
        ("Article 6(1)(f)", "Article 6"), ("Part II", "Part II"), ("Teil 2", "Part 2"),
        ("soon", ""), ("3 eggs", ""), ("2024", ""), ("1.000", ""), ("", ""),
    ],
)  # fmt: skip
def test_a_number_is_kept_in_one_form(written: str, kept: str) -> None:
    assert canonical(written) == kept
    assert canonical(kept) == kept


@pytest.mark.parametrize(
    ("heading", "number"),
    [
        ("8.8.3.  ETag", "8.8.3"), ("Annex C (informative) Examples", "Annex C"), ("§ 5 Pflichten", "§ 5"),
        ("Appendix A -- Collected Grammar", "Annex A"), ("Abschnitt 2 - Pflichten", "2"), ("1.1はじめに", "1.1"),
        ("第3章　概要", "3"), ("第5条（定義）", "Article 5"), ("一、引言", "1"), ("V. Results", "V"),
        ("A Short Digression", ""), ("I am", ""), ("V2 of it", ""), ("3. Mai 2024", ""), ("3月の予定", ""),
        ("Part of it", ""), ("Anlage (zu § 3)", ""), ("2024 in review", ""), ("7bit Data", ""), ("C++", ""),
    ],
)  # fmt: skip
def test_the_number_that_a_heading_begins_with(heading: str, number: str) -> None:
    assert carried(heading) == number


def test_what_is_around_a_number_and_within_it() -> None:
    assert [outer(number) for number in ("8.3.2", "A.1", "Annex 2.1", "§ 5 Abs. 2", "8", "§ 5", "Article 7")] == [
        "8.3", "Annex A", "Annex 2", "§ 5", "", "", "",
    ]  # fmt: skip
    assert is_within("8.3.2", "8.3")
    assert is_within("A.1.2", "Annex A")
    assert is_within("§ 5 Abs. 2", "§ 5")
    assert not is_within("8.30", "8.3")
    assert not is_within("8", "8.3")
    assert not is_within("", "8")


def test_headings_below_a_number_that_front_matter_tells_are_counted() -> None:
    text = "---\nsection: 5\n---\n# General\n## One\n### Two\n### Three\n## Four\n"
    assert _numbers(text) == ["5", "5.1", "5.1.1", "5.1.2", "5.2"]
    assert _numbers("---\nappendix: A\n---\nBefore.\n# Terms\n## One\n## B.7 Two\n## Three\n") == [
        "", "Annex A", "A.1", "B.7", "A.2",
    ]  # fmt: skip
    assert _numbers("# General\n## One\n") == ["", ""]


def test_a_section_without_a_number_has_that_of_the_one_around_it() -> None:
    document = _document("# 8.3 Tests\n## Setup\n### Wires\n# Other\n")
    assert clauses(document) == [
        Clause("8.3", begins=True), Clause("8.3"), Clause("8.3"), Clause(),
    ]  # fmt: skip


def test_a_number_that_may_be_a_word_needs_company() -> None:
    assert _numbers("# 3 eggs\n# Flour\n") == ["", ""]
    assert _numbers("# 3 Terms\n# 4 Limits\n") == ["3", "4"]
    assert _numbers("# 3 Terms\n## 3.1 Words\n") == ["3", "3.1"]
    assert _numbers("# IV. Method\n## A. Data\n## B. Setup\n# V. Results\n") == ["IV", "IV", "IV", "V"]
    assert _numbers("# A. Grammar\n# B. Changes\n") == ["Annex A", "Annex B"]
    assert _numbers("# 2 Methods\n## 1 First\n## 2 Second\n# 3 Results\n") == ["2", "2", "2", "3"]
    assert _numbers("# Part I\n## 1. One\n# Part II\n## 2. Two\n") == ["Part I", "1", "Part II", "2"]


def test_a_section_binds_as_it_says_and_else_as_the_one_around_it_does() -> None:
    text = (
        "# 1 Scope\nWords.\n# 2 Rules\n_This section is normative._\n## 2.1 More\nWords.\n## 2.2 Example (informative)\n"
        "Words.\n# Annex A\n(informative)\n\nWords.\n## A.1 Part\nWords.\n# 附属書B（規定）\nWords.\n"
    )
    assert [clause.stance for clause in clauses(_document(text))] == [
        "", "normative", "normative", "informative", "informative", "informative", "normative",
    ]  # fmt: skip


def test_words_in_capitals_bind_where_a_document_uses_them_so() -> None:
    rules = "# 1 A\nIt SHALL start.\n# 2 B\nIt starts.\n# 3 C\nIt MUST NOT stop, and SHOULD last.\n"
    assert [clause.stance for clause in clauses(_document(rules))] == ["normative", "", "normative"]
    told = f'# 0 Words\nThe key words "MUST" and "MAY" are those of BCP 14.\n{rules}'
    assert [clause.stance for clause in clauses(_document(told))] == [
        "informative", "normative", "informative", "normative",
    ]  # fmt: skip
    licence = "# A\nIN NO EVENT SHALL THE AUTHORS BE LIABLE. YOU MUST KEEP IT. IT MAY BE SOLD. IT SHOULD BE READ.\n"
    assert [clause.stance for clause in clauses(_document(licence))] == [""]


def test_every_clause_of_the_standards_begins_a_chunk_that_knows_its_number(shared_data: Path) -> None:
    wanted = defaultdict(list)
    for line in (shared_data / "standards/clause_index.jsonl").read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        wanted[entry["doc"]].append((entry["line"], canonical(entry["clause"])))
    for path, expected in wanted.items():
        document = read(SourceFile(shared_data, path, 0, 0))
        pieces = chunk_document(document, lambda text: len(text) // 4, ChunkProfile(200, 30, "sections", 32), 480)
        begun = {(piece.place.first, piece.section) for piece in pieces if piece.place}
        assert set(expected) <= begun, path
