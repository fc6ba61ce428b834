"""The page in Chromium, with the real engine; the chat model is the stand-in for Ollama, whose words are known."""

from __future__ import annotations

import re
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rag.engine import SAMPLES, Engine
from rag.settings import load_settings

if TYPE_CHECKING:
    from conftest import Visit
    from fakes.ollama_server import OllamaStandIn

pytestmark = [pytest.mark.browser, pytest.mark.slow]

Start = Callable[..., "Visit"]


@pytest.fixture(scope="session")
def indexed_samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which the sample notes are indexed; to be copied, not used."""
    home = tmp_path_factory.mktemp("indexed") / "home"
    with Engine(load_settings(home=home, llm="none", embedder="e5-small")) as engine:
        for _ in engine.sync(SAMPLES, engine.sample_folder()):
            pass
    return home


@pytest.fixture
def with_samples(indexed_samples: Path, tmp_path: Path) -> Path:
    """The tests' own home, the sample notes indexed in it."""
    return Path(shutil.copytree(indexed_samples, tmp_path / "home", dirs_exist_ok=True))


def ask(visit: Visit, question: str) -> None:
    visit.fill("#question textarea", question)
    visit.page.locator("#question textarea").press("Enter")


def wait_for_answer(visit: Visit, count: int = 1) -> None:
    visit.page.locator("[data-do=inspect]").nth(count - 1).wait_for()


def open_tab(visit: Visit, name: str) -> None:
    visit.page.get_by_role("tab", name=name).click()


def write_notes(folder: Path, count: int, days: int = 3) -> Path:
    """Notes that are all different, so that each passage has to be embedded; the more days, the longer that takes."""
    folder.mkdir(parents=True)
    for number in range(count):
        text = f"# Note {number}\n\nThe pump number {number} runs at {number + 10} bar in hall {number % 7}.\n"
        text += "".join(f"On day {day} it was seen at {day + number} bar by shift {day * 7}.\n" for day in range(days))
        (folder / f"note-{number:02}.md").write_text(text, encoding="utf-8")
    return folder


def test_index_a_folder_and_reload_in_the_middle(visit: Start, tmp_path: Path) -> None:
    folder = write_notes(tmp_path / "notes <b>", 25, days=35)
    here = visit(llm="none")
    page = here.page
    assert page.locator("[data-do=sample]").inner_text() == "Index the sample notes"
    open_tab(here, "Ingest")
    here.fill("#folder textarea, #folder input", str(folder))
    page.click("#preview")
    page.locator("#plan", has_text="25 new").wait_for()
    page.click("#index")
    page.locator("#job [data-state=running]", has_text=re.compile(r"[1-9]\d* of 25 files")).wait_for()

    here.open()
    open_tab(here, "Ingest")
    page.locator("#job [data-state=running]", has_text="of 25 files").wait_for()
    page.locator("#job [data-state=done]", has_text="25 new").wait_for(timeout=120_000)
    page.locator("#files", has_text="25 files: 25 read").wait_for()
    here.fill("#needle textarea, #needle input", "note-07")
    page.locator("#files tbody tr").nth(1).wait_for(state="detached")
    assert "note-07.md" in page.locator("#files tbody").inner_text()
    page.click("#files [data-do=remove]")
    page.locator("#files", has_text="24 files").wait_for()
    assert len(here.engine.files(SAMPLES)) == 24
    assert (folder / "note-07.md").exists()


def test_look_inside_a_file_and_read_it_with_another_encoding(visit: Start, tmp_path: Path) -> None:
    folder = write_notes(tmp_path / "notes", 2)
    (folder / "empty.txt").write_bytes(b"")
    (folder / "été <i>.txt").write_bytes("L'été à la plage, où le café était fermé.\n".encode("cp1252") * 5)
    here = visit(llm="none")
    page = here.page
    open_tab(here, "Ingest")
    here.fill("#folder textarea, #folder input", str(folder))
    page.click("#preview")
    page.locator("#plan", has_text="4 files to index").wait_for()
    page.click("#plan [data-do=index]")
    page.locator("#job [data-state=done]").wait_for(timeout=120_000)
    page.locator("#files", has_text="4 files: 3 read, 1 not").wait_for()

    page.get_by_label("Not read 1").check()
    page.locator("#files tbody tr").nth(1).wait_for(state="detached")
    assert "empty.txt" in page.locator("#files tbody").inner_text()
    page.get_by_label("All 4").check()

    page.locator("#files .fn-open", has_text="été <i>").focus()
    page.keyboard.press("Enter")
    panel = page.locator("dialog.fn-xray")
    panel.locator(".fn-piece", has_text="L'été à la plage").first.wait_for()
    assert panel.locator("h3").inner_text() == "été <i>.txt"
    assert "lines 1–5" in panel.locator(".fn-piece-head").first.inner_text()
    panel.locator("summary", has_text="Encoding").click()
    here.fill(panel.locator("input[name=encoding]"), "windows-1251")
    page.keyboard.press("Enter")
    panel.locator(".fn-piece", has_text="L'йtй").first.wait_for()
    assert "set by you" in panel.locator(".fn-xray-head").inner_text()
    page.keyboard.press("Escape")
    panel.wait_for(state="hidden")
    page.locator("#files button.fn-open:focus", has_text="été <i>").wait_for()
    (record,) = (file for file in here.engine.files(SAMPLES) if "été" in file.path)
    assert record.options.encoding == "windows_1251"


def test_what_the_settings_leave_out_leaves_the_library(visit: Start, tmp_path: Path) -> None:
    folder = write_notes(tmp_path / "notes", 3)
    here = visit(llm="none")
    page = here.page
    open_tab(here, "Ingest")
    here.fill("#folder textarea, #folder input", str(folder))
    page.click("#index")
    page.locator("#job [data-state=done]").wait_for(timeout=120_000)
    page.click("#settings > button")
    here.fill(page.get_by_label("Exclude"), "*-02.md")
    page.click("#save-settings")
    page.locator("#saved", has_text="touches 1 file").wait_for()
    page.click("#saved [data-do=sync]")
    page.locator("#files", has_text="2 files: 2 read").wait_for(timeout=120_000)
    here.open()
    open_tab(here, "Ingest")
    page.click("#settings > button")
    here.rest()
    assert page.get_by_label("Exclude").input_value() == "*-02.md"
    assert (folder / "note-02.md").exists()


def test_a_password_opens_a_file_and_is_kept_nowhere(visit: Start, shared_data: Path) -> None:
    here = visit(llm="none")
    page = here.page
    open_tab(here, "Ingest")
    here.fill("#folder textarea, #folder input", str(shared_data / "pdf" / "encrypted-user"))
    page.click("#index")
    page.locator("#files", has_text="3 files: 0 read, 3 not").wait_for(timeout=120_000)
    row = page.locator("#files tr", has_text="libreoffice-writer-password")
    row.locator("button", has_text="Password…").click()
    panel = page.locator("dialog.fn-xray")
    for password, outcome in (("no", "Read again: not read"), ("openpassword", "Read again: read")):
        here.fill(panel.locator("input[type=password]"), password)
        page.keyboard.press("Enter")
        panel.locator(".fn-xray-told", has_text=outcome).wait_for()
    image = panel.locator("figure img")
    image.wait_for()
    assert image.evaluate("(image) => image.complete && image.naturalWidth > 500")
    assert panel.locator(".fn-piece-text").first.inner_text().strip()
    panel.get_by_role("button", name="Close").click()
    row.locator(".fn-state", has_text=re.compile("^read$")).wait_for()
    home = here.engine.settings.home
    assert not [path for path in home.rglob("*") if path.is_file() and b"openpassword" in path.read_bytes()]


@pytest.mark.slow
def test_a_folder_that_vanished_is_forgotten_only_after_asking(visit: Start, tmp_path: Path) -> None:
    folder = write_notes(tmp_path / "notes", 2)
    here = visit(llm="none")
    page = here.page
    open_tab(here, "Ingest")
    here.fill("#folder textarea, #folder input", str(folder))
    page.click("#index")
    page.locator("#files", has_text="2 files: 2 read").wait_for(timeout=120_000)
    shutil.rmtree(folder)
    page.click("#index")
    page.locator("#plan", has_text="The library holds 2 files of this folder").wait_for()
    assert len(here.engine.files(SAMPLES)) == 2
    page.click("#plan [data-do=forget]")
    page.locator("#job [data-state=done]", has_text="2 removed").wait_for(timeout=120_000)
    assert here.engine.files(SAMPLES) == ()


@pytest.mark.slow
def test_a_citation_says_that_its_file_has_changed(visit: Start, tmp_path: Path, ollama: OllamaStandIn) -> None:
    folder = write_notes(tmp_path / "notes", 1)
    ollama.reply = ["The pump number 0 runs at 10 bar [1]."]
    here = visit()
    page = here.page
    for _ in here.engine.sync(SAMPLES, folder):
        pass
    here.open()
    ask(here, "At how many bar does pump number 0 run?")
    wait_for_answer(here)
    assert page.locator(".fn-badge.aged").count() == 0
    (folder / "note-00.md").write_text("# Note 0\n\nThe pump is gone.\n", encoding="utf-8")
    here.open()
    page.locator(".fn-badge.aged", has_text="changed since it was indexed").first.wait_for()
    assert "is not what the folder says now" in page.locator(".fn-answered").inner_text()
    # Folders are compared every half a minute.
    page.locator("#side-state", has_text="1 file changed").get_by_role("button", name="Sync").click(timeout=90_000)
    page.locator(".fn-badge.aged", has_text="from an older version").first.wait_for()


@pytest.mark.slow
def test_a_library_is_renamed_and_several_are_searched_as_one(visit: Start, with_samples: Path, tmp_path: Path) -> None:
    here = visit(llm="none")
    here.engine.create_library("Pumps")
    for _ in here.engine.sync("Pumps", write_notes(tmp_path / "notes", 1)):
        pass
    page = here.page
    open_tab(here, "Ingest")
    page.click("#libraries > button")
    here.fill(page.get_by_label(f"Rename “{SAMPLES}” to"), "Heron")
    page.click("#rename-library")
    page.get_by_label("Rename “Heron” to").wait_for()
    assert sorted(info.name for info in here.engine.libraries()) == ["Heron", "Pumps"]
    open_tab(here, "Chat")
    page.locator("#also").get_by_label("Pumps").check()
    ask(here, "At how many bar does pump number 0 run?")
    wait_for_answer(here)
    assert "Pumps" in page.locator(".fn-card", has_text="note-00.md").first.inner_text()


@pytest.mark.slow
def test_a_stopped_index_resumes(visit: Start, tmp_path: Path) -> None:
    here = visit(llm="none")
    page = here.page
    open_tab(here, "Ingest")
    here.fill("#folder textarea, #folder input", str(write_notes(tmp_path / "notes", 20, days=35)))
    page.click("#index")
    page.locator("#job [data-state=running]", has_text=re.compile(r"[1-9]\d* of 20 files")).wait_for()
    page.click("#stop-sync")
    page.locator("#job [data-state=stopped]").wait_for()
    assert 0 < len(here.engine.files(SAMPLES)) < 20
    page.click("#resume")
    page.locator("#job [data-state=done]").wait_for(timeout=120_000)
    assert len(here.engine.files(SAMPLES)) == 20


def test_ask_open_a_citation_and_look_inside(visit: Start, with_samples: Path, ollama: OllamaStandIn) -> None:
    ollama.reply = ["The highest turbidity was ", "312 NTU at H6 [1].", " It cost 77 euros."]
    here = visit()
    page = here.page
    page.locator(".fn-example").first.wait_for()
    ask(here, "What was the highest turbidity of the season, and where was it measured?")
    wait_for_answer(here)
    answer = page.locator(".fn-text")
    assert "312 NTU at H6" in answer.inner_text()
    assert answer.locator(".fn-unsupported, .fn-missing").count() > 0

    answer.locator("button[data-cite='1']").first.click()
    card = page.locator("details.fn-card[open]")
    assert "heron-first-season.pdf" in card.inner_text()
    assert "page 1" in card.inner_text()
    assert "cosine" in card.inner_text()
    assert "312 NTU" in " ".join(card.locator(".fn-passage mark").all_inner_texts())
    image = card.locator("figure img")
    image.wait_for()
    assert image.evaluate("(image) => image.complete && image.naturalWidth > 500")

    page.click("[data-do=inspect]")
    report = page.locator("#report")
    report.locator(".fn-steps").wait_for()
    for words in ("What was searched", "Evidence", "The window", "first token", "qwen3:8b"):
        assert words in report.inner_text()
    assert report.locator("tr.inside").count() > 0
    page.locator("#prompt summary").click()
    assert "312 NTU" in " ".join(page.locator("#prompt pre").all_inner_texts())
    open_tab(here, "This machine")
    page.locator("#health li").first.wait_for()
    open_tab(here, "One answer")

    here.fill("#query textarea, #query input", "lightning")
    page.locator("#query button").click()
    report.locator("dd", has_text="lightning").first.wait_for()
    assert page.locator("#prompt .fn-prompt").count() == 0


def test_a_search_is_held_to_a_file_and_what_the_notes_do_not_say_is_asked_anyway(
    visit: Start, with_samples: Path, ollama: OllamaStandIn
) -> None:
    ollama.reply = ["Every 6 hours [1]."]
    here = visit()
    page = here.page
    page.click("#search-options > button")
    here.fill("#held-file input, #held-file textarea", "decisions")
    page.locator("#chosen .fn-held", has_text="file decisions").wait_for()
    page.click("#search-options > button")
    ask(here, "How often do the wipers sweep the optical window?")
    wait_for_answer(here)
    assert "file decisions" in page.locator(".fn-asked").inner_text()
    paths = page.locator(".fn-card .fn-path").all_inner_texts()
    assert paths
    assert set(paths) == {"project/decisions.md"}

    page.click("#chosen [data-do=clear]")
    page.locator("#chosen .fn-held").wait_for(state="detached")
    ask(here, "Who won the football world cup in Brazil in 2014?")
    wait_for_answer(here, 2)
    refused = page.locator(".fn-exchange").nth(1)
    assert "file decisions" not in refused.inner_text()
    assert "the model was not asked" in refused.inner_text()
    assert refused.locator(".fn-card").count() > 0
    here.fill("#question textarea", "what is being typed stays")
    refused.locator("[data-do=anyway]").click()
    wait_for_answer(here, 3)
    answered = page.locator(".fn-exchange").nth(2)
    assert "Asked anyway" in answered.inner_text()
    assert "6 hours" in answered.locator(".fn-text").inner_text()
    assert page.locator("#question textarea").input_value() == "what is being typed stays"
    here.open()
    page.locator(".fn-thin.none").wait_for()


def test_what_a_follow_up_searches_can_be_changed_and_searched_again(
    visit: Start, with_samples: Path, ollama: OllamaStandIn
) -> None:
    rewritten = "Why do the wipers sweep the optical window?"

    def reply(messages: list[dict[str, str]]) -> list[str]:
        return [rewritten] if "Rewrite" in messages[0]["content"] else ["Every 6 hours [1]."]

    ollama.reply = reply
    here = visit()
    page = here.page
    ask(here, "How often do the wipers sweep the optical window?")
    wait_for_answer(here)
    assert page.locator(".fn-searched").count() == 0
    ask(here, "And why do they?")
    wait_for_answer(here, 2)
    searched = page.locator(".fn-exchange").nth(1).locator("details.fn-searched")
    assert f"searched: {rewritten}" in searched.inner_text()
    searched.locator("summary").click()
    assert "And why do they?" in searched.locator("dl").inner_text()
    here.fill(searched.locator("textarea"), "What did each wiper head cost? <b>")
    page.keyboard.press("Enter")
    wait_for_answer(here, 3)
    again = page.locator(".fn-exchange").nth(2)
    assert again.locator("h3").inner_text() == "And why do they?"
    assert "searched: What did each wiper head cost? <b>" in again.locator(".fn-searched").inner_text()
    again.locator("[data-do=inspect]").click()
    page.locator("#report dd", has_text="What did each wiper head cost? <b>").first.wait_for()


def test_an_answer_survives_a_reload_and_can_be_stopped(
    visit: Start, with_samples: Path, ollama: OllamaStandIn
) -> None:
    ollama.reply = [f"word{number} " for number in range(400)]
    ollama.delay = 0.05
    here = visit()
    page = here.page
    ask(here, "How often do the wipers sweep the optical window?")
    page.locator(".fn-text", has_text="word3").wait_for()
    assert page.locator("details.fn-card").count() > 0
    here.open()
    page.locator(".fn-text", has_text="word9").wait_for()
    page.locator("#question .stop-button").click()
    wait_for_answer(here)
    assert "this answer is not complete" in page.locator(".fn-answered").inner_text()
    assert "word399" not in page.locator(".fn-text").inner_text()
    (conversation,) = here.engine.conversations(SAMPLES)
    (exchange,) = here.engine.exchanges(SAMPLES, conversation.id)
    assert exchange.trace.answer.outcome == "stopped"
    ollama.reply, ollama.delay = ["Every 6 hours [1]."], 0.0
    page.click("[data-do=retry]")
    wait_for_answer(here, 2)
    assert "6 hours" in page.locator(".fn-text").nth(1).inner_text()


@pytest.mark.slow
def test_a_question_typed_while_a_stopped_model_still_reads_stays(
    visit: Start, with_samples: Path, ollama: OllamaStandIn
) -> None:
    has_read = threading.Event()
    reply = ["Every 6 hours [1]."]
    ollama.reply = lambda messages: reply if has_read.wait(60) else []
    here = visit()
    page = here.page
    assert page.locator(".fn-status").evaluate("(line) => line.offsetHeight") < 40
    ask(here, "How often do the wipers sweep the optical window?")
    page.locator(".fn-waiting", has_text="Reading").wait_for()
    page.locator("#question .stop-button").click()
    page.locator(".fn-answered", has_text="Stopped").wait_for()
    page.locator("#question .stop-button", has_text="Stopping").wait_for()

    another = "How often do the wipers sweep, in hours?"
    ask(here, another)
    page.locator(".toast-body", has_text="still ending").wait_for()
    field = page.locator("#question textarea")
    assert field.input_value() == another
    has_read.set()
    page.locator("#question .submit-button").wait_for()
    assert field.input_value() == another
    field.press("Enter")
    wait_for_answer(here, 2)
    assert "6 hours" in page.locator(".fn-text").last.inner_text()
    assert field.input_value() == ""


@pytest.mark.slow
def test_conversations_are_kept_renamed_exported_and_deleted(
    visit: Start, with_samples: Path, ollama: OllamaStandIn
) -> None:
    ollama.reply = ["Every 6 hours [1]."]
    here = visit()
    page = here.page
    ask(here, "How often do the wipers sweep the optical window?")
    wait_for_answer(here)
    page.click("[data-do=rename]")
    here.fill(".fn-rename:visible", "Wipers <img src=x onerror=alert(1)>")
    page.keyboard.press("Enter")
    page.locator(".fn-conversations", has_text="Wipers <img").wait_for()
    with page.expect_download() as download:
        page.click("[data-do=export]")
    assert "Every 6 hours" in Path(download.value.path()).read_text(encoding="utf-8")
    page.click("[data-do=new]")
    page.locator(".fn-example").first.wait_for()
    page.click("[data-do=open]")
    page.locator(".fn-text", has_text="6 hours").wait_for()
    page.click("[data-do=ask-delete]")
    page.click("[data-do=delete]")
    page.locator(".fn-conversations").wait_for(state="detached")
    assert here.engine.conversations(SAMPLES) == ()


def test_without_a_model_it_searches_and_offers_one(visit: Start, with_samples: Path, tmp_path: Path) -> None:
    here = visit(cache=tmp_path / "empty-cache", ollama_url="http://127.0.0.1:9")
    page = here.page
    assert "search only" in page.locator("#status").inner_text()
    assert "1.1 GB" in page.locator("[data-do=pull]").inner_text()
    ask(here, "How often do the wipers sweep the optical window?")
    wait_for_answer(here)
    assert "only searches" in page.locator(".fn-answered").inner_text()
    assert "every 6 hours" in " ".join(page.locator(".fn-card").all_inner_texts()).lower()


def test_a_model_that_fails_says_so_and_can_be_asked_again(
    visit: Start, with_samples: Path, ollama: OllamaStandIn
) -> None:
    from fakes.ollama_server import Failure

    ollama.failures.append(Failure("/api/chat", status=500))
    ollama.reply = ["Every 6 hours [1]."]
    here = visit()
    ask(here, "How often do the wipers sweep the optical window?")
    here.page.locator(".fn-answered .fn-notice.error").wait_for()
    here.page.click("[data-do=edit]")
    assert here.page.locator("#question textarea").input_value() == "How often do the wipers sweep the optical window?"
    here.page.click("[data-do=retry]")
    here.page.locator(".fn-text", has_text="6 hours").wait_for()


@pytest.mark.slow
def test_dropped_folders_keep_their_names_and_leave_no_upload(visit: Start, tmp_path: Path) -> None:
    dropped = tmp_path / "drop"
    write_notes(dropped / "sub", 1)
    (dropped / "日本.txt").write_text("こんにちは。", encoding="utf-8")
    (dropped / ".hidden.md").write_text("no", encoding="utf-8")
    here = visit(llm="none")
    page = here.page
    open_tab(here, "Ingest")
    page.set_input_files("#fn-folder", str(dropped))
    page.locator("#plan", has_text="2 new").wait_for()
    folder = here.engine.dropped_folder(SAMPLES)
    kept = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert kept == {"drop/sub/note-00.md", "drop/日本.txt"}
    assert [path for path in here.uploads.rglob("*") if path.is_file()] == []


@pytest.mark.slow
def test_libraries_are_created_and_deleted_after_asking(visit: Start) -> None:
    here = visit(llm="none")
    page = here.page
    open_tab(here, "Ingest")
    page.click("#libraries > button")
    here.fill(page.get_by_label("Name of a new library"), "Thesis")
    page.get_by_role("button", name="Create library").click()
    page.get_by_role("button", name="Delete “Thesis”…").click()
    page.get_by_role("button", name="Delete it").click()
    page.get_by_role("button", name=f"Delete “{SAMPLES}”…").wait_for()
    assert [info.name for info in here.engine.libraries()] == [SAMPLES]


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_shows_all_three_tabs_without_scrolling_sideways(
    visit: Start, with_samples: Path, ollama: OllamaStandIn, scheme: str
) -> None:
    ollama.reply = ["Every 6 hours [1]."]
    here = visit(width=390, height=844)
    page = here.page
    page.emulate_media(color_scheme=scheme)
    page.locator("#side:not(.open)").wait_for()
    ask(here, "How often do the wipers sweep the optical window?")
    wait_for_answer(here)
    for tab in ("Chat", "Ingest", "Diagnostics"):
        open_tab(here, tab)
        page.wait_for_timeout(300)
        assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0, tab
    open_tab(here, "Ingest")
    page.locator("#files .fn-open", has_text="heron-first-season.pdf").click()
    page.locator("dialog.fn-xray figure img").wait_for()
    assert page.locator("dialog.fn-xray .fn-xray-body").evaluate("(body) => body.scrollWidth - body.clientWidth") <= 0


@pytest.mark.slow
def test_the_page_can_be_used_with_the_keyboard(visit: Start, with_samples: Path, ollama: OllamaStandIn) -> None:
    ollama.reply = ["Every 6 hours [1]."]
    here = visit()
    page = here.page
    page.locator(".fn-example").first.focus()
    page.keyboard.press("Enter")
    wait_for_answer(here)
    page.locator(".fn-text button[data-cite]").first.focus()
    page.keyboard.press("Enter")
    page.locator("details.fn-card[open] summary:focus").wait_for()
    page.keyboard.press("Enter")
    page.locator("details.fn-card[open]").wait_for(state="detached")
