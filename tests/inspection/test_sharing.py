"""The decision over a table of machines, and what a sync makes of it with a server that speaks Ollama's protocol."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from fakes.hash_embedder import HashEmbedder
from fakes.ollama_server import Failure, OllamaStandIn

from rag.engine import SAMPLES, Engine
from rag.errors import ModelFailed
from rag.inspection import sharing
from rag.inspection.sharing import Machine, Sharing, SharingPlan, decide, machine_of
from rag.models.devices import Card
from rag.models.memory import CardUse, Residence
from rag.models.picked import PickedModels
from rag.settings import Choices, Settings, load_settings

GB = 2**30


def machine(card: float, chat: float, embedder: float = 2.1, question: float = 1.6, **more: object) -> Machine:
    """Sizes in GB; the embedder's are those of BGE-M3."""
    base = Machine(int(card * GB), 0, int(chat * GB), True, int(embedder * GB), int(question * GB))
    return replace(base, card_name="a card", chat_name="qwen3:8b", embedder_name="BGE-M3", **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("card", "chat", "way", "questions_on_card"),
    [
        (0, 2, "none", False), (0, 5, "none", False), (0, 20, "none", False),
        (6, 2, "together", True), (6, 3, "together", True), (6, 4, "turns", True), (6, 5, "turns", False),
        (6, 7, "turns", False), (6, 20, "turns", False),
        (8, 2, "together", True), (8, 5, "together", True), (8, 5.8, "turns", True), (8, 7, "turns", False),
        (8, 20, "turns", False),
        (12, 2, "together", True), (12, 7, "together", True), (12, 9, "together", True), (12, 10, "turns", True),
        (12, 12, "turns", False), (12, 20, "turns", False),
        (24, 2, "together", True), (24, 7, "together", True), (24, 20, "together", True),
    ],
)  # fmt: skip
def test_a_table_of_machines(card: float, chat: float, way: str, questions_on_card: bool) -> None:
    plan = decide(machine(card, chat))
    assert (plan.way, plan.questions_on_card) == (way, questions_on_card)


@pytest.mark.parametrize("card", [0, 4, 6, 8, 12, 24])
@pytest.mark.parametrize("chat", [0, 2, 5, 7, 12, 20])
@pytest.mark.parametrize("others", [0, 1, 5])
@pytest.mark.parametrize("leaves", [True, False])
def test_nothing_is_ever_planned_that_does_not_fit(card: float, chat: float, others: float, leaves: bool) -> None:
    given = machine(card, chat, others=int(others * GB), leaves=leaves)
    plan = decide(given)
    taken = given.embedder if plan.documents_on_card else 0
    assert taken + (given.chat if plan.way == "together" else 0) <= given.card - given.others or taken == 0
    if plan.questions_on_card:
        assert given.question + given.chat <= given.card - given.others
    if plan.way == "turns":
        assert leaves
        assert chat > 0
    # The card is used where it can be: nothing runs on the CPU that would have fitted.
    if given.embedder + given.chat <= given.room:
        assert plan.way == "together"


def test_a_chat_model_larger_than_the_card_spills_and_is_said_to() -> None:
    plan = decide(machine(8, 20))
    assert plan.spilled == 20 * GB - plan.machine.room
    assert decide(machine(24, 7)).spilled == 0


def test_other_programs_take_their_share() -> None:
    assert decide(machine(8, 5)).way == "together"
    plan = decide(machine(8, 5, others=2 * GB))
    assert plan.way == "turns"
    assert "other programs use 2.0 GB" in plan.reason


def test_a_server_that_keeps_its_model_leaves_the_cpu_to_the_embedder() -> None:
    plan = decide(machine(8, 7, leaves=False))
    assert (plan.way, plan.questions_on_card) == ("cpu", False)
    assert "cannot be asked to leave" in plan.reason


def test_an_embedder_that_finds_no_room_even_alone_runs_on_the_cpu() -> None:
    plan = decide(machine(6, 2, embedder=7))
    assert plan.way == "cpu"
    assert "finds no room" in plan.reason


def test_the_bundled_embedder_takes_nothing_of_the_card() -> None:
    plan = decide(machine(8, 7, embedder=0, question=0))
    assert (plan.way, plan.documents_on_card, plan.questions_on_card) == ("none", False, False)
    assert "BGE-M3 runs on the CPU" in plan.reason


def test_a_device_that_was_set_is_never_overridden() -> None:
    assert decide(machine(8, 7, fixed=True)).questions_on_card
    assert decide(machine(8, 7, fixed=True)).way == "turns"
    stuck = decide(machine(8, 7, fixed=True, leaves=False))
    assert (stuck.way, stuck.questions_on_card) == ("together", True)
    assert "FOOTNOTE_DEVICE" in stuck.reason
    assert decide(machine(8, 7, fixed=True), "cpu").documents_on_card


@pytest.mark.parametrize(
    ("wanted", "chat", "way"),
    [
        ("cpu", 2, "cpu"),
        ("turns", 2, "turns"),
        ("together", 7, "together"),
        ("cpu", 7, "cpu"),
        ("turns", 0, "together"),
    ],
)
def test_what_is_chosen_holds(wanted: str, chat: float, way: str) -> None:
    plan = decide(machine(8, chat), sharing.as_way(wanted))
    assert plan.way == way
    assert plan.wanted == wanted


def test_a_choice_that_nobody_knows_any_more_leaves_it_to_footnote() -> None:
    assert sharing.as_way("half") == "auto"


def test_what_the_models_take_themselves_does_not_count_as_other_programs() -> None:
    cards = (Card("RTX 4060", 8 * GB, 7 * GB, "580.65"),)
    chat = Residence("Ollama", size=5 * GB, on_card=5 * GB, here=True, leaves=True)
    use = CardUse(documents=2 * GB, question=GB, there=True, fixed=False)
    assert machine_of(cards, chat, use, chat_name="", embedder_name="").others == GB
    assert machine_of(cards, replace(chat, beside=GB), use, chat_name="", embedder_name="").others == 0
    away = replace(chat, here=False)
    given = machine_of(cards, away, use, chat_name="", embedder_name="")
    assert (given.chat, given.others) == (0, 6 * GB)


class OnCard(HashEmbedder):
    """An embedder with a place on the card and one on the CPU, which notes where it was."""

    def __init__(self) -> None:
        super().__init__()
        self.there = True
        self.moves: list[bool] = []
        self.full = False

    def card_use(self) -> CardUse:
        return CardUse(2 * GB, int(1.5 * GB), self.there, fixed=False)

    def move(self, *, to_card: bool) -> None:
        if to_card and self.full:
            raise ModelFailed("No room on the card.", "Close a program.")
        if to_card != self.there:
            self.there = to_card
            self.moves.append(to_card)


@dataclass
class Shared:
    """A card of 8 GB, a chat model that fills it, and an embedder."""

    sharing: Sharing
    models: PickedModels
    embedder: OnCard
    ollama: OllamaStandIn

    @property
    def loaded(self) -> bool:
        return "qwen3:8b" in self.ollama.loaded

    def load(self) -> None:
        chat = self.models.chat()[0]
        assert chat is not None
        chat.load()


@pytest.fixture
def shared(tmp_path: Path, ollama: OllamaStandIn, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shared]:
    settings = load_settings(home=tmp_path, ollama_url=ollama.url, llm="ollama:qwen3:8b")
    choices = Choices(tmp_path / "choices.json")
    models = PickedModels(settings, choices)
    monkeypatch.setattr(sharing, "graphics_cards", lambda: (Card("RTX 4060", 8 * GB, 0),))
    yield Shared(Sharing(settings, choices, models), models, OnCard(), ollama)
    models.close()


def test_a_sync_has_the_card_to_itself_and_the_chat_model_comes_back(shared: Shared) -> None:
    shared.load()
    shared.sharing.place(shared.embedder)
    assert shared.embedder.there is False, "questions are embedded on the CPU, since the chat model fills the card"
    with shared.sharing.embedding(shared.embedder, None):
        assert shared.sharing.taken == "qwen3:8b"
        assert not shared.loaded
        assert shared.embedder.there
        sent = shared.ollama.sent("/api/generate")
        assert sent["keep_alive"] == 0
        assert not sent.get("prompt")
    assert shared.sharing.taken == ""
    assert shared.embedder.there is False
    assert shared.loaded
    loading = shared.ollama.sent("/api/chat")
    assert loading["messages"] == []
    # The same as with every question: another window, or another shift, would load the model once more.
    assert loading["options"] == {"num_ctx": 8192}
    assert (loading["truncate"], loading["shift"], loading["keep_alive"]) == (False, False, "10m")


def test_a_chat_model_that_was_not_loaded_is_not_loaded_for_it(shared: Shared) -> None:
    with shared.sharing.embedding(shared.embedder, None):
        assert shared.embedder.there
    assert not shared.loaded
    assert not any(request.path in ("/api/generate", "/api/chat") for request in shared.ollama.requests)


def test_a_sync_of_seconds_unloads_nothing(shared: Shared) -> None:
    shared.load()
    shared.sharing.place(shared.embedder)
    with shared.sharing.embedding(shared.embedder, 2.0):
        assert shared.loaded
        assert not shared.embedder.there


def test_a_question_in_the_middle_gets_the_card_and_the_sync_takes_it_again(
    shared: Shared, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared.load()
    with shared.sharing.embedding(shared.embedder, None) as renew:
        with shared.sharing.answering():
            assert not shared.embedder.there
            shared.load()
            renew()
            assert shared.loaded, "nothing is taken from under a question"
        renew()
        assert shared.loaded, "the next question may follow at once"
        monkeypatch.setattr(sharing, "_QUIET_SECONDS", 0.0)
        time.sleep(0.001)
        renew()
        assert shared.embedder.there
        assert not shared.loaded
    assert shared.loaded


def test_a_sync_that_begins_while_a_question_is_answered_waits_for_it(
    shared: Shared, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sharing, "_QUIET_SECONDS", 0.0)
    shared.load()
    shared.sharing.place(shared.embedder)
    with shared.sharing.answering():
        context = shared.sharing.embedding(shared.embedder, None)
        renew = context.__enter__()
        assert shared.loaded
    time.sleep(0.001)
    renew()
    assert not shared.loaded
    context.__exit__(None, None, None)
    assert shared.loaded


def test_a_server_that_refuses_ends_no_sync_and_is_told(shared: Shared) -> None:
    shared.load()
    shared.sharing.place(shared.embedder)
    shared.ollama.failures.append(Failure("/api/generate", status=500, error="cannot unload"))
    with shared.sharing.embedding(shared.embedder, None) as renew:
        renew()
        assert shared.loaded
        assert not shared.embedder.there
    assert "cannot unload" in shared.sharing.trouble


def test_an_embedder_that_finds_no_room_goes_on_where_it_is(shared: Shared) -> None:
    shared.load()
    shared.sharing.place(shared.embedder)
    shared.embedder.full = True
    with shared.sharing.embedding(shared.embedder, None):
        assert not shared.embedder.there
    assert "No room" in shared.sharing.trouble
    assert shared.loaded, "it had left, and comes back"


def test_the_models_stay_where_a_person_wants_them(shared: Shared) -> None:
    shared.load()
    shared.sharing.choose("together")
    shared.sharing.place(shared.embedder)
    with shared.sharing.embedding(shared.embedder, None):
        assert shared.loaded
        assert shared.embedder.there
    shared.sharing.choose("cpu")
    shared.sharing.place(shared.embedder)
    assert not shared.embedder.there


def test_a_sync_of_another_library_beside_it_changes_nothing(shared: Shared) -> None:
    shared.load()
    with shared.sharing.embedding(shared.embedder, None):
        with shared.sharing.embedding(shared.embedder, None):
            assert shared.sharing.taken
        assert shared.sharing.taken
        assert shared.embedder.there
    assert shared.loaded


def test_the_setting_wins_over_the_choice(tmp_path: Path) -> None:
    choices = Choices(tmp_path / "choices.json")
    settings: Settings = load_settings(home=tmp_path, sharing="turns", llm="none")
    told = Sharing(settings, choices, PickedModels(settings, choices))
    told.choose("cpu")
    assert told.wanted == "turns"


def test_an_embedder_without_a_place_on_the_card_asks_nobody(shared: Shared) -> None:
    plain = HashEmbedder()
    shared.sharing.place(plain)
    with shared.sharing.embedding(plain, None):
        pass
    assert shared.ollama.requests == []


def test_the_plan_is_the_same_before_and_after_the_model_is_loaded(shared: Shared) -> None:
    before: SharingPlan = shared.sharing.plan(shared.embedder)
    shared.load()
    assert shared.sharing.plan(shared.embedder).way == before.way == "turns"


def test_the_engine_does_it_around_every_sync(
    tmp_path: Path, ollama: OllamaStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sharing, "graphics_cards", lambda: (Card("RTX 4060", 8 * GB, 0),))
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "pump.md").write_text("# Pump\n\nThe feed pump runs at 12 bar.\n", encoding="utf-8")
    settings = load_settings(
        home=tmp_path / "home", ollama_url=ollama.url, llm="ollama:qwen3:8b", embedder="ollama:bge-m3", read_workers=1
    )
    with Engine(settings) as engine:
        ollama.loaded["qwen3:8b"] = 8192
        for _ in engine.sync(SAMPLES, notes):
            pass
        assert (engine.inspector.sharing.taken, engine.inspector.sharing.trouble) == ("", "")
        engine.search(SAMPLES, "feed pump")
    paths = [(request.path, request.body) for request in ollama.requests if request.method == "POST"]
    steps = [_step(path, body) for path, body in paths if path != "/api/show"]
    leaves = steps.index("qwen3:8b leaves")
    assert steps.index("embeds on the card", leaves) < steps.index("qwen3:8b comes back")
    assert steps[-1] == "embeds on the CPU", "the question"
    assert "qwen3:8b" in ollama.loaded


def _step(path: str, body: dict[str, Any]) -> str:
    if path == "/api/embed":
        return "embeds on the CPU" if body["options"].get("num_gpu") == 0 else "embeds on the card"
    return f"{body['model']} {'leaves' if path == '/api/generate' else 'comes back'}"
