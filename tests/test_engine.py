import time
from pathlib import Path

import pytest
from fakes.ollama_server import Failure, OllamaStandIn
from material import write_notes

from rag.answering.untrusted import instructions_in
from rag.engine import SAMPLES, Engine
from rag.errors import (
    EmbedderMismatch,
    LibraryCorrupt,
    LibraryEmpty,
    LibraryError,
    ModelFailed,
    ModelMissing,
    SettingsError,
    SourceError,
)
from rag.models.bundled import BundledEmbedder
from rag.settings import Settings
from rag.types import AnswerDone, FileState, Filters, LibrarySettings, RetrievalDone, SearchOptions

NOTES = {
    "boiler.md": "# Boiler\n\nThe relief valve of the boiler opens at 16 bar.",
    "garden.md": "# Garden\n\nThe roses are cut back in March.",
}


def _wait(engine: Engine, library: str) -> None:
    until = time.monotonic() + 60
    while engine.job(library).state in ("running", "stopping"):
        assert time.monotonic() < until, "the sync did not end"
        time.sleep(0.05)


def test_first_start_has_the_sample_library_and_it_is_empty(engine: Engine) -> None:
    (info,) = engine.libraries()
    assert (info.name, info.files, info.error) == (SAMPLES, 0, "")
    assert engine.default_library() == SAMPLES
    assert list(engine.sample_folder().rglob("*.md"))
    with pytest.raises(LibraryEmpty):
        engine.search(SAMPLES, "anything")


def test_without_a_model_it_indexes_searches_and_says_that_it_only_searches(engine: Engine, tmp_path: Path) -> None:
    root = write_notes(tmp_path / "notes", NOTES)
    engine.start_sync(SAMPLES, root)
    _wait(engine, SAMPLES)
    assert engine.job(SAMPLES).state == "done"
    first, last = engine.ask(SAMPLES, "At how many bar does the relief valve open?")
    assert isinstance(first, RetrievalDone)
    assert first.prompt is None
    assert first.retrieval.hits[0].chunk.path == "boiler.md"
    assert isinstance(last, AnswerDone)
    assert last.trace.answer.outcome == "search_only"
    assert "only searches" in last.trace.answer.text
    assert engine.last_trace(SAMPLES) == last.trace
    assert engine.status().chat is None


def test_a_job_survives_a_restart_of_the_process(settings: Settings, tmp_path: Path) -> None:
    root = write_notes(tmp_path / "notes", NOTES)
    with Engine(settings) as engine:
        list(engine.sync(SAMPLES, root))
    with Engine(settings) as engine:
        job = engine.job(SAMPLES)
        assert (job.state, job.root) == ("done", str(root))
        assert job.report is not None
        assert job.report.chunks_embedded == 2


class _BrokenEmbedder(BundledEmbedder):
    """The real embedder, but it breaks off."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        raise ModelFailed("The embedder broke off.", "Start it again.")


def test_a_sync_that_fails_is_told_and_kept(engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no folder"):
        engine.start_sync(SAMPLES, tmp_path / "nowhere")
    assert engine.job(SAMPLES).state == "idle"
    engine._models._default = (_BrokenEmbedder(), "for this test")
    engine.start_sync(SAMPLES, write_notes(tmp_path / "notes", NOTES))
    _wait(engine, SAMPLES)
    job = engine.job(SAMPLES)
    assert (job.state, job.error, job.hint) == ("failed", "The embedder broke off.", "Start it again.")


def test_only_one_sync_a_library_at_a_time_and_a_stop_keeps_what_is_stored(engine: Engine, tmp_path: Path) -> None:
    root = write_notes(tmp_path / "notes", {f"{n:03}.md": f"Note {n}. " + "Some words here. " * 40 for n in range(60)})
    engine.start_sync(SAMPLES, root)
    with pytest.raises(LibraryError, match="running"):
        engine.start_sync(SAMPLES, root)
    while not engine.files(SAMPLES):
        time.sleep(0.02)
    engine.stop_sync(SAMPLES)
    _wait(engine, SAMPLES)
    assert engine.job(SAMPLES).state == "stopped"
    assert 0 < len(engine.files(SAMPLES)) < 60


def test_removed_and_read_again(engine: Engine, tmp_path: Path) -> None:
    root = write_notes(tmp_path / "notes", NOTES)
    list(engine.sync(SAMPLES, root))
    boiler = next(file for file in engine.files(SAMPLES) if file.path == "boiler.md")
    (root / "boiler.md").write_text("The relief valve opens at 25 bar.")
    report = engine.reread_file(SAMPLES, boiler.id)
    assert (report.state, report.embedded) == (FileState.INDEXED, 1)
    assert "25 bar" in engine.search(SAMPLES, "relief valve").hits[0].chunk.text
    engine.remove_file(SAMPLES, boiler.id)
    assert [file.path for file in engine.files(SAMPLES)] == ["garden.md"]
    assert (root / "boiler.md").exists()
    with pytest.raises(LibraryError):
        engine.remove_file(SAMPLES, boiler.id)


def test_what_was_removed_while_it_was_answered_is_not_shown_again(engine: Engine, tmp_path: Path) -> None:
    list(engine.sync(SAMPLES, write_notes(tmp_path / "notes", NOTES)))
    conversation = engine.new_conversation(SAMPLES)
    answering = engine.ask(SAMPLES, "At how many bar does the relief valve open?", conversation=conversation)
    next(answering)
    assert not instructions_in("The relief valve opens at 16 bar.")
    boiler = next(file for file in engine.files(SAMPLES) if file.path == "boiler.md")
    engine.remove_file(SAMPLES, boiler.id)
    assert not instructions_in.cache_info().currsize
    list(answering)
    assert "16 bar" not in repr(engine.last_trace(SAMPLES))
    assert "16 bar" not in repr(engine.exchanges(SAMPLES, conversation))
    engine.delete_conversation(SAMPLES, conversation)
    assert engine.last_trace(SAMPLES) is None


def test_conversations_keep_what_was_asked_and_export_it(engine: Engine, tmp_path: Path) -> None:
    list(engine.sync(SAMPLES, write_notes(tmp_path / "notes", NOTES)))
    number = engine.new_conversation(SAMPLES)
    list(engine.ask(SAMPLES, "At how many bar does the valve open?", conversation=number))
    list(engine.ask(SAMPLES, "And the roses?", conversation=number))
    assert [exchange.question for exchange in engine.exchanges(SAMPLES, number)] == [
        "At how many bar does the valve open?", "And the roses?",
    ]  # fmt: skip
    engine.rename_conversation(SAMPLES, number, "Valves")
    assert engine.export_conversation(SAMPLES, number).startswith("# Valves\n\n## At how many bar")
    engine.delete_conversation(SAMPLES, number)
    assert engine.conversations(SAMPLES) == ()


def test_a_follow_up_without_a_model_is_searched_with_the_question_before_it(engine: Engine, tmp_path: Path) -> None:
    list(engine.sync(SAMPLES, write_notes(tmp_path / "notes", NOTES)))
    number = engine.new_conversation(SAMPLES)
    library = engine._shelf.library(SAMPLES)
    list(engine.ask(SAMPLES, "When are the roses cut?", conversation=number))
    (exchange,) = engine.exchanges(SAMPLES, number)
    from dataclasses import replace

    answered = replace(exchange.trace, answer=replace(exchange.trace.answer, outcome="answered", text="In March. [1]"))
    library.catalog.add_exchange(number, answered)
    first, _ = engine.ask(SAMPLES, "And why?", conversation=number)
    assert isinstance(first, RetrievalDone)
    assert first.retrieval.queries == ("When are the roses cut? And why?", "And why?")
    assert first.retrieval.question == "And why?"


def test_a_person_decides_what_is_searched(settings: Settings, ollama: OllamaStandIn, tmp_path: Path) -> None:
    ollama.reply = ["In March, before the first shoots."]
    with Engine(settings.model_copy(update={"ollama_url": ollama.url})) as engine:
        list(engine.sync(SAMPLES, write_notes(tmp_path / "notes", NOTES)))
        held = engine.search(SAMPLES, "When does it open?", options=SearchOptions(Filters(files=("garden",))))
        assert {hit.chunk.path for hit in held.hits} == {"garden.md"}
        first, *_, last = engine.ask(SAMPLES, "And when?", options=SearchOptions(rewrite="When are the roses cut?"))
        assert isinstance(first, RetrievalDone)
        assert first.retrieval.queries == ("When are the roses cut?", "And when?")
        assert first.retrieval.rewrite_note == "Searched as told."
        assert first.prompt is not None
        assert "Question: When are the roses cut?" in first.prompt.messages[-1].content
        assert isinstance(last, AnswerDone)

        assert engine.search(SAMPLES, "roses").hypothetical == ""
        made_up = engine.search(SAMPLES, "roses", options=SearchOptions(hyde=True))
        assert made_up.hypothetical == ollama.reply[0]
        engine.set_library_settings(SAMPLES, LibrarySettings(hyde=True))
        assert engine.search(SAMPLES, "roses").hypothetical == ollama.reply[0]
        assert engine.search(SAMPLES, "roses", options=SearchOptions(hyde=False)).hypothetical == ""
        assert engine.reranker()[0] is False
        with pytest.raises(ModelMissing, match="bge-reranker-v2-m3"):
            engine.search(SAMPLES, "roses", options=SearchOptions(rerank=True))
        ollama.failures.append(Failure("/api/chat", status=500))
        failed = engine.search(SAMPLES, "roses")
        assert failed.hits
        assert "No passage was made up" in next(stage.note for stage in failed.stages if "hypothetical" in stage.name)


def test_what_no_filter_lets_through_is_not_asked_of_the_model(
    settings: Settings, ollama: OllamaStandIn, tmp_path: Path
) -> None:
    with Engine(settings.model_copy(update={"ollama_url": ollama.url})) as engine:
        list(engine.sync(SAMPLES, write_notes(tmp_path / "notes", NOTES)))
        for anyway in (False, True):
            *_, last = engine.ask(SAMPLES, "roses file:nowhere", options=SearchOptions(anyway=anyway))
            assert isinstance(last, AnswerDone)
            assert last.trace.answer.outcome == "not_in_notes"
        assert all(request.path != "/api/chat" for request in ollama.requests)


@pytest.mark.slow
def test_a_page_is_drawn_for_a_pdf_and_refused_for_others(engine: Engine, tmp_path: Path) -> None:
    list(engine.sync(SAMPLES, engine.sample_folder()))
    hit = next(hit for hit in engine.search(SAMPLES, "heron first season").hits if hit.chunk.path.endswith(".pdf"))
    assert engine.page_image(SAMPLES, hit.chunk.id).startswith(b"\x89PNG")
    pieces = engine._shelf.library(SAMPLES).catalog.chunks_of(hit.chunk.file_id)
    first, *_, last = sorted(pieces, key=lambda chunk: chunk.span.start)
    # Of a passage that was put together, the first chunk's name is known, and the place that is cited.
    assert engine.page_image(SAMPLES, first.id, [last.span]) == engine.page_image(SAMPLES, last.id, [last.span])
    assert engine.page_image(SAMPLES, first.id, [last.span]) != engine.page_image(SAMPLES, first.id)
    note = next(hit for hit in engine.search(SAMPLES, "sourdough").hits if hit.chunk.page is None)
    with pytest.raises(LibraryError, match="no pages"):
        engine.page_image(SAMPLES, note.chunk.id)


def test_a_library_of_another_embedder_is_refused_when_the_setting_is_explicit(
    settings: Settings, tmp_path: Path
) -> None:
    from dataclasses import replace

    with Engine(settings) as engine:
        list(engine.sync(SAMPLES, write_notes(tmp_path / "notes", NOTES)))
        catalog = engine._shelf.library(SAMPLES).catalog
        identity = catalog.embedder()
        assert identity is not None
        catalog.set_embedder(replace(identity, provider="sentence-transformers", model="BAAI/bge-m3", dimension=1024))
    with Engine(settings.model_copy(update={"embedder": "e5-small"})) as engine, pytest.raises(EmbedderMismatch):
        engine.search(SAMPLES, "valve")


def test_a_corrupt_library_is_named_and_can_be_deleted(settings: Settings) -> None:
    with Engine(settings) as engine:
        engine.create_library("Broken")
    path = next(settings.home.glob("libraries/Broken/catalog.sqlite"))
    for extra in path.parent.glob("catalog.sqlite-*"):
        extra.unlink()
    path.write_bytes(b"not a database at all, whatever its name says" * 200)
    with Engine(settings) as engine:
        broken = next(info for info in engine.libraries() if info.name == "Broken")
        assert "catalog" in broken.error
        with pytest.raises(LibraryCorrupt):
            engine.search("Broken", "x")
        checks = engine.health("Broken")
        assert any(check.state == "error" and "Broken" in check.detail for check in checks)
        engine.delete_library("Broken")
        assert [info.name for info in engine.libraries()] == [SAMPLES]


def test_a_choice_is_remembered_and_an_explicit_setting_is_not_overridden(settings: Settings) -> None:
    with Engine(settings) as engine:
        engine.use_model("none")
        assert engine.status().chat is None
    with Engine(settings) as engine:
        assert engine.status().chat is None
    fixed = settings.model_copy(update={"llm": "none"})
    with Engine(fixed) as engine, pytest.raises(SettingsError, match="FOOTNOTE_LLM says none"):
        engine.use_model("embedded")


def test_names_that_mean_something_to_the_file_system_delete_nothing_else(engine: Engine) -> None:
    home = engine.settings.home
    for name in ("..", ".", "a/b", "a_b"):
        engine.create_library(name)
        (engine.dropped_folder(name)).mkdir()
        (engine.dropped_folder(name) / "note.md").write_text(name)
    for name in ("..", ".", "a/b"):
        engine.delete_library(name)
    assert (engine.dropped_folder("a_b") / "note.md").read_text() == "a_b"
    assert {info.name for info in engine.libraries()} == {SAMPLES, "a_b"}
    assert (home / "libraries").is_dir()


def test_changes_by_hand_wait_for_a_running_sync(engine: Engine, tmp_path: Path) -> None:
    list(engine.sync(SAMPLES, write_notes(tmp_path / "first", NOTES)))
    file = engine.files(SAMPLES)[0]
    root = write_notes(tmp_path / "notes", {f"{n:03}.md": f"Note {n}. " + "Some words here. " * 40 for n in range(40)})
    engine.start_sync(SAMPLES, root)
    with pytest.raises(LibraryError, match="is running"):
        engine.remove_file(SAMPLES, file.id)
    with pytest.raises(LibraryError, match="is running"):
        engine.reread_file(SAMPLES, file.id)
    engine.stop_sync(SAMPLES)
    _wait(engine, SAMPLES)
    assert not any(check.state == "error" for check in engine.health(SAMPLES))


def test_a_rebuild_needs_all_folders_and_keeps_them(engine: Engine, tmp_path: Path) -> None:
    one, two = write_notes(tmp_path / "one", NOTES), write_notes(tmp_path / "two", {"other.md": "The moon is far."})
    list(engine.sync(SAMPLES, one))
    list(engine.sync(SAMPLES, two))
    (tmp_path / "two").rename(tmp_path / "away")
    with pytest.raises(SourceError, match="two"):
        engine.start_rebuild(SAMPLES)
    assert len(engine.files(SAMPLES)) == 3
    (tmp_path / "away").rename(tmp_path / "two")
    engine.start_rebuild(SAMPLES)
    _wait(engine, SAMPLES)
    report = engine.job(SAMPLES).report
    assert report is not None
    assert report.chunks_embedded == 3
    assert next(info for info in engine.libraries() if info.name == SAMPLES).roots == (str(one), str(two))


@pytest.mark.parametrize("typed", ["~nobody-of-that-name/notes", "x" * 400, "a\0b", "README.md"])
def test_a_path_that_is_no_folder_is_told(engine: Engine, typed: str) -> None:
    for call in (engine.plan, engine.start_sync):
        with pytest.raises(SourceError):
            call(SAMPLES, Path(typed))


def test_rebuild_makes_the_same_library_anew(engine: Engine, tmp_path: Path) -> None:
    root = write_notes(tmp_path / "notes", NOTES)
    list(engine.sync(SAMPLES, root))
    engine.start_rebuild(SAMPLES)
    _wait(engine, SAMPLES)
    assert engine.job(SAMPLES).state == "done"
    assert {file.path for file in engine.files(SAMPLES)} == set(NOTES)
    assert engine.search(SAMPLES, "relief valve").hits[0].chunk.path == "boiler.md"
