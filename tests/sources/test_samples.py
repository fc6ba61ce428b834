"""The sample notes, and that each sample question's answer stands where the question file says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rag.sources.readers import read
from rag.sources.scan import scan
from rag.types import SourceDocument, Span

ASSETS = Path(__file__).parents[2] / "assets"
QUESTIONS = [json.loads(line) for line in (ASSETS / "sample_questions.jsonl").read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def samples() -> dict[str, SourceDocument]:
    return {file.path: read(file) for file in scan(ASSETS / "sample_notes").files}


def test_all_of_it_can_be_read(samples: dict[str, SourceDocument], check_document: Callable[[SourceDocument], None]):
    assert scan(ASSETS / "sample_notes").skipped == ()
    assert len(samples) >= 12
    assert {Path(path).suffix for path in samples} == {".md", ".txt", ".pdf"}
    for document in samples.values():
        check_document(document)
        assert document.problems == ()
    assert len(samples["reference/heron-first-season.pdf"].pages) == 2


def test_questions_are_complete():
    assert len({question["id"] for question in QUESTIONS}) == len(QUESTIONS) >= 30
    assert {question["language"] for question in QUESTIONS} == {"en", "ja", "de"}
    unanswerable = [question for question in QUESTIONS if not question["answerable"]]
    assert {question["why"] for question in unanswerable} == {"topic absent", "near miss"}
    assert len(unanswerable) >= 10
    assert all(question["path"] is None and not question["accept"] for question in unanswerable)
    assert all(not question["evidence"] for question in unanswerable)
    assert {question["page"] for question in QUESTIONS} >= {1, 2}


@pytest.mark.parametrize("question", [q for q in QUESTIONS if q["answerable"]], ids=lambda question: question["id"])
def test_an_answer_stands_where_it_is_said_to(samples: dict[str, SourceDocument], question: dict[str, Any]):
    document = samples[question["path"]]
    spans: list[Span] = [section.span for section in document.sections if question["heading"] in section.heading_path]
    assert spans, question["heading"]
    if question["page"]:
        page = document.pages[question["page"] - 1].span
        spans = [Span(max(span.start, page.start), min(span.end, page.end)) for span in spans]
    assert question["evidence"]
    assert question["accept"]
    for words in question["evidence"]:
        assert any(words in " ".join(document.text[span.start : span.end].split()) for span in spans), words
