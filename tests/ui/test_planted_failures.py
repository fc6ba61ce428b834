"""Five things that go wrong unseen in other tools: each is told by the page that shows one answer."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pymupdf
from fakes.ollama_server import OllamaStandIn
from material import write_notes
from page_values import parse

from rag.engine import SAMPLES, Engine
from rag.settings import Settings
from rag.types import AnswerDone, Trace
from rag.ui import render_diagnostics

WORDS = "The feed pump of line 3 is set to {} bar. It is checked every six months by the shift."


def page_of(engine: Engine, trace: Trace) -> str:
    """The words of the five steps, with where to look first, and of what follows them."""
    html = render_diagnostics.report(trace.retrieval, trace, engine.inspector.reading(SAMPLES))
    return " ".join(parse(html).text.split())


def asked(settings: Settings, folder: Path, ollama: OllamaStandIn, question: str, reply: str, **changed: object) -> str:
    """Indexes a folder, asks, and reads the page."""
    ollama.reply = [reply]
    chosen = {"ollama_url": ollama.url, "llm": "ollama:qwen3:8b", **changed}
    with Engine(settings.model_copy(update=chosen)) as engine:
        for _ in engine.sync(SAMPLES, folder):
            pass
        *_, done = engine.ask(SAMPLES, question)
        assert isinstance(done, AnswerDone)
        return page_of(engine, done.trace)


def test_a_scan_without_text_is_told_before_anything_else(
    settings: Settings, tmp_path: Path, ollama: OllamaStandIn
) -> None:
    folder = write_notes(tmp_path / "notes", {"valves.md": "# Valves\n\nThe relief valve opens at 20 bar."})
    with pymupdf.open() as paper, pymupdf.open() as scan:
        paper.new_page().insert_text((72, 72), WORDS.format(12))
        picture = paper[0].get_pixmap(dpi=72)
        scan.new_page().insert_image(scan[0].rect, pixmap=picture)
        scan.save(folder / "pump-setting.pdf")
    page = asked(settings, folder, ollama, "What is the feed pump set to?", "NOT IN THE NOTES")
    assert "1 not read: pump-setting.pdf" in page
    assert "looks like a scan" in page


def test_a_passage_cut_by_the_budget_is_told(settings: Settings, tmp_path: Path, ollama: OllamaStandIn) -> None:
    long = " ".join(f"Reading {number} of the feed pump was {number + 3} bar on that day." for number in range(24))
    folder = write_notes(
        tmp_path / "notes", {f"log-{at}.md": f"# Log {at}\n\n{long} Log {at} ends." for at in range(4)}
    )
    (folder / "pump.md").write_text(f"# Pump\n\n{WORDS.format(12)}")
    page = asked(
        settings, folder, ollama, "What is the feed pump of line 3 set to?", "The feed pump is set to 12 bar. [1]",
        context_tokens=1024, answer_tokens=256, notes=5,
    )  # fmt: skip
    assert "Look first at “Fitted”" in page
    assert "did not fit the window" in page
    assert "Raise FOOTNOTE_CONTEXT_TOKENS" in page


def test_a_question_in_another_language_than_the_notes_is_told(
    settings: Settings, tmp_path: Path, ollama: OllamaStandIn
) -> None:
    notes = {
        "pump.md": f"# Feed pump\n\n{WORDS.format(12)}",
        **{
            f"note-{at}.md": f"# Note {at}\n\nThe relief valve of boiler {at} opens at {at + 7} bar." for at in range(8)
        },
    }
    folder = write_notes(tmp_path / "notes", notes)
    question = "Auf welchen Druck ist die Speisepumpe der Linie eingestellt?"
    page = asked(settings, folder, ollama, question, "Die Speisepumpe ist auf 12 bar eingestellt. [1]")
    assert "question and passages are in different languages" in page
    assert "the search by words has no vote" in page
    assert "No word of the question occurs in what was searched" in page


def test_a_file_that_changed_since_is_told(settings: Settings, tmp_path: Path, ollama: OllamaStandIn) -> None:
    folder = write_notes(tmp_path / "notes", {"pump.md": f"# Feed pump\n\n{WORDS.format(12)}"})
    ollama.reply = ["The feed pump of line 3 is set to 12 bar. [1]"]
    with Engine(settings.model_copy(update={"ollama_url": ollama.url, "llm": "ollama:qwen3:8b"})) as engine:
        for _ in engine.sync(SAMPLES, folder):
            pass
        (folder / "pump.md").write_text(f"# Feed pump\n\n{WORDS.format(16)} The seal was changed.")
        later = time.time() + 60
        os.utime(folder / "pump.md", (later, later))
        *_, done = engine.ask(SAMPLES, "What is the feed pump of line 3 set to?")
        assert isinstance(done, AnswerDone)
        page = page_of(engine, done.trace)
    assert "Look first at “Read”" in page
    assert "the model was given 1 file that has changed since: pump.md" in page
    assert "Sync the library in Ingest, then ask again." in page


def test_notes_that_contradict_each_other_are_told(settings: Settings, tmp_path: Path, ollama: OllamaStandIn) -> None:
    notes = {
        "pump-2023.md": f"# Feed pump\n\n{WORDS.format(12)}",
        "pump-2025.md": "# After the rebuild\n\nThe feed pump of line 3 is set to 16 bar since the rebuild in May 2025.",
        "valves.md": "# Valves\n\nThe relief valve opens at 20 bar. The feed pump of line 2 is set to 9 bar.",
    }
    folder = write_notes(tmp_path / "notes", notes)
    question = "What pressure is the feed pump of line 3 set to?"
    page = asked(settings, folder, ollama, question, "The feed pump of line 3 is set to 12 bar. [1]")
    assert "another passage says something else: pump-2025.md" in page
    assert "set to 16 bar since the rebuild in May 2025" in page
