from dataclasses import replace
from pathlib import Path

from page_values import HOSTILE, parse

from rag.inspection.sharing import Machine, decide
from rag.types import Change, HealthCheck, PlannedFile, SyncPlan
from rag.ui import render_ingest, render_machine, texts

GB = 2**30
MACHINE = Machine(8 * GB, GB // 2, 6 * GB, True, 2 * GB, 3 * GB // 2, False, "RTX 4060", "qwen3:8b", "BGE-M3")


def test_what_needs_a_look_comes_first_and_is_counted() -> None:
    checks = (
        HealthCheck("A", "ok", "fine", topic="system"),
        HealthCheck("B", "warning", "doubtful", "Do this.", "card"),
        HealthCheck("C", "error", HOSTILE, HOSTILE, "chat"),
        HealthCheck("D", "off", "-", topic="chat"),
    )
    text = parse(render_machine.health(checks)).text
    assert "1 thing is broken. 1 thing needs a look." in text
    assert text.index(HOSTILE) < text.index("doubtful") < text.index("fine")
    assert text.count(HOSTILE) == 2
    assert "Graphics card" not in text, "a topic of which everything is told above needs no heading"
    assert "Chat model" in text


def test_a_machine_that_is_well_says_so() -> None:
    tree = parse(render_machine.health((HealthCheck("A", "ok", "fine", topic="system"), HealthCheck("B", "off", "-"))))
    assert "All is well. 2 things were looked at." in tree.text


def test_what_is_to_be_typed_stands_out_and_stays_text() -> None:
    check = HealthCheck("A", "warning", "old", f"Run `pip install x` or `{HOSTILE}`.", "system")
    shown = render_machine.health((check,))
    assert "<code>pip install x</code>" in shown
    assert parse(shown).text.count(HOSTILE) == 1


def test_the_card_is_drawn_while_a_person_asks_and_while_a_sync_embeds() -> None:
    shown = render_machine.sharing(decide(MACHINE))
    text = " ".join(parse(shown).text.split())
    assert texts.SHARING_WAYS["turns"] in text
    assert "While you ask 6.5 GB of 8.0 GB" in text
    assert "While a sync embeds 2.5 GB of 8.0 GB" in text
    assert shown.count('class="embedder"') == 1, "questions are embedded on the CPU"
    assert "width:75.00%" in shown


def test_a_model_that_spills_is_drawn_to_the_brim_only() -> None:
    plan = decide(replace(MACHINE, chat=20 * GB))
    text = " ".join(parse(render_machine.sharing(plan, taken="qwen3:8b", set_by="FOOTNOTE_SHARING")).text.split())
    assert "While you ask 8.0 GB of 8.0 GB" in text
    assert "find no room on the card" in text
    assert "qwen3:8b has left the card just now" in text
    assert "FOOTNOTE_SHARING decides this." in text


def test_where_there_is_nothing_to_share_nothing_is_drawn() -> None:
    shown = render_machine.sharing(decide(replace(MACHINE, card=0)))
    assert "fn-window" not in shown
    assert "no graphics card" in parse(shown).text


def test_names_of_models_are_text() -> None:
    named = replace(MACHINE, chat_name=HOSTILE, embedder_name=HOSTILE)
    for plan in (decide(named), decide(replace(named, chat=20 * GB)), decide(replace(named, card=0))):
        assert HOSTILE in parse(render_machine.sharing(plan)).text + HOSTILE * (plan.way == "none")
        assert "<script" not in render_machine.sharing(plan, taken=HOSTILE)
    assert HOSTILE in parse(render_machine.in_a_sync(decide(named))).text


def test_a_sync_tells_only_that_the_chat_model_leaves() -> None:
    assert "qwen3:8b leaves the graphics card" in render_machine.in_a_sync(decide(MACHINE))
    assert render_machine.in_a_sync(decide(replace(MACHINE, chat=2 * GB))) == ""
    assert render_machine.in_a_sync(decide(replace(MACHINE, card=0))) == ""


def test_the_preview_of_a_sync_tells_it_beside_the_time() -> None:
    new = PlannedFile(Change.NEW, "a.md", 1000)
    shown = render_ingest.plan(
        SyncPlan("Notes", Path("/notes"), (new,)), sharing=render_machine.in_a_sync(decide(MACHINE))
    )
    assert "qwen3:8b leaves the graphics card" in parse(shown).text
