"""The command line, run as a person runs it: in a process of its own."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from material import write_notes

ROOT = Path(__file__).parent.parent
NOTES = {
    "boiler.md": "# Boiler\n\nThe relief valve of the boiler opens at 16 bar.",
    "garden.txt": "The roses are cut back in March.",
    "empty.md": "",
}


@pytest.fixture
def run(tmp_path: Path):
    def call(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        variables = {
            **os.environ, "FOOTNOTE_HOME": str(tmp_path / "home"), "FOOTNOTE_LLM": "none",
            "FOOTNOTE_OLLAMA_URL": "http://127.0.0.1:9", **environment,
        }  # fmt: skip
        command = [sys.executable, "-m", "rag", *arguments]
        return subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, timeout=120)

    return call


@pytest.mark.slow
def test_index_ask_and_doctor(run, tmp_path: Path) -> None:
    root = write_notes(tmp_path / "notes", NOTES)
    (root / "picture.xyz").write_bytes(b"?")
    plan = run("index", str(root), "--plan")
    assert plan.returncode == 0
    assert "new       boiler.md" in plan.stdout

    indexed = run("index", str(root), "--json")
    assert indexed.returncode == 0, indexed.stderr
    report = json.loads(indexed.stdout)
    assert {file["path"]: (file["change"], file["state"]) for file in report["files"]} == {
        "boiler.md": ("new", "indexed"), "garden.txt": ("new", "indexed"), "empty.md": ("new", "failed"),
    }  # fmt: skip
    assert next(file for file in report["files"] if file["path"] == "empty.md")["reason"]
    assert report["skipped"][0][0] == "picture.xyz"

    again = run("index", str(root))
    assert "3 unchanged" in again.stdout
    assert "0 chunks embedded" in again.stdout

    asked = run("ask", "At how many bar does the relief valve open?", "--json")
    assert asked.returncode == 0, asked.stderr
    answer = json.loads(asked.stdout)
    assert answer["outcome"] == "search_only"
    assert answer["query"] == "At how many bar does the relief valve open?"
    assert answer["verdict"] in ("enough", "some")
    hit = answer["hits"][0]
    assert hit["file"] == "boiler.md"
    assert set(hit["scores"]) == {"cosine", "bm25", "rrf"}
    assert hit["in_prompt"] is False
    assert NOTES["boiler.md"][slice(*hit["span"])] == hit["text"]

    text = run("ask", "At how many bar does the relief valve open?").stdout
    assert text.index("cosine") < text.index("only searches")

    doctor = run("doctor", "--json")
    assert doctor.returncode == 0
    assert {check["state"] for check in json.loads(doctor.stdout)} <= {"ok", "warning", "off"}


@pytest.mark.slow
def test_a_search_is_held_to_what_options_and_question_say(run, tmp_path: Path) -> None:
    root = write_notes(tmp_path / "notes", {**NOTES, "plant/valve.md": "# Valve\n\nThe relief valve opens at 20 bar."})
    assert run("index", str(root)).returncode == 0

    def found(*arguments: str) -> dict:
        done = run(*arguments, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    held = found("search", "At how many bar does the relief valve open?", "--folder", "plant", "--without", "rose")
    assert [hit["file"] for hit in held["hits"]] == ["plant/valve.md"]
    assert held["filters"]["folders"] == ["plant"]
    assert held["filters"]["without"] == ["rose"]
    assert held["verdict"] in ("enough", "some", "none")
    assert {stage["name"] for stage in held["stages"]} >= {"dense", "lexical", "fusion"}

    typed = found("ask", 'file:boiler "relief valve" opens when?', "--anyway", "--no-hyde")
    assert [hit["file"] for hit in typed["hits"]] == ["boiler.md"]
    assert typed["filters"]["files"] == ["boiler"]
    assert typed["query"] == "relief valve opens when?"
    assert typed["hits"][0]["copies"] == []

    rewritten = found("ask", "And there?", "--rewrite", "When are the roses cut back?")
    assert rewritten["query"] == "When are the roses cut back?"
    assert rewritten["hits"][0]["file"] == "garden.txt"

    loosened = found("search", '"steam valve" of the boiler')
    assert loosened["loosened"] == ["steam valve"]
    assert loosened["filters"]["phrases"] == []
    assert "no passage holds “steam valve” word for word" in run("search", '"steam valve" of the boiler').stdout

    text = run("search", "valve after:2001", "--exact", "relief valve").stdout
    assert "held to: after 2001 · “relief valve”" in text
    assert "evidence: " in text
    why = run("why", "At how many bar does the relief valve open? folder:plant", "--file", "garden").stdout
    assert "filtered          garden.txt" in why
    assert "→ Ask without “folder plant”. Tried: place " in why
    unreadable = run("search", "valve after:soon")
    assert unreadable.returncode == 1
    assert "“after:soon” is no date" in unreadable.stderr
    assert run("search", "valve", "--normative", "--informative").returncode == 2


@pytest.mark.slow
def test_errors_that_a_person_can_mend_exit_with_1_and_say_what_to_do(run, tmp_path: Path) -> None:
    for arguments, words in (
        (("index", str(tmp_path / "nowhere")), "There is no folder"),
        (("ask", "Anything?"), "is empty"),
        (("search", "Anything?", "--before", "soon"), "is no date"),
        (("ask", "Anything?", "--library", "Unknown"), "no library “Unknown”"),
        (("models", "use", "no-such-model"), "no-such-model"),
    ):
        done = run(*arguments)
        assert done.returncode == 1, arguments
        assert words in done.stderr
        assert "Traceback" not in done.stderr
        assert len(done.stderr.strip().splitlines()) >= 2, "a message and what to do next"


def test_an_error_is_json_too_when_json_is_asked_for(run) -> None:
    done = run("ask", "Anything?", "--json")
    assert done.returncode == 1
    assert "is empty" in json.loads(done.stdout)["error"]


@pytest.mark.parametrize("arguments", [(), ("index",), ("ask",), ("search",), ("fly",), ("ask", "x", "--notes", "0")])
def test_wrong_usage_exits_with_2(run, arguments: tuple[str, ...]) -> None:
    assert run(*arguments).returncode == 2


def test_a_bad_setting_and_an_unreachable_ollama_are_told(run) -> None:
    bad = run("doctor", FOOTNOTE_CHUNK_TOKENS="many")
    assert bad.returncode == 1
    assert "FOOTNOTE_CHUNK_TOKENS" in bad.stderr
    gone = run("ask", "Anything?", FOOTNOTE_LLM="ollama:qwen3:8b")
    assert gone.returncode == 1
    assert "Traceback" not in gone.stderr


@pytest.mark.slow
def test_a_mistyped_folder_and_a_plan_make_no_library(run, tmp_path: Path) -> None:
    assert run("index", str(tmp_path / "nowhere"), "--library", "New").returncode == 1
    assert run("index", str(tmp_path), "--plan", "--library", "New").returncode == 1
    assert "no library “New”" in run("ask", "x", "--library", "New").stderr


@pytest.mark.slow
def test_ctrl_c_ends_an_index_after_the_slice_at_work(tmp_path: Path) -> None:
    root = write_notes(tmp_path / "notes", {f"{n:03}.md": f"Note {n}. " + "Some words here. " * 60 for n in range(80)})
    process = subprocess.Popen(
        [sys.executable, "-m", "rag", "index", str(root), "--json"], cwd=ROOT, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "FOOTNOTE_HOME": str(tmp_path / "home"), "FOOTNOTE_LLM": "none"}, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stderr is not None
    while "chunks" not in process.stderr.read(200):
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "Traceback" not in err
    report = json.loads(out)
    assert report["stopped"] is True
    assert 0 <= len(report["files"]) < 80


def test_models_list(run) -> None:
    done = run("models", "list", "--json")
    assert done.returncode == 0
    assert {"embedded", "e5-small", "bge-m3"} <= {model["id"] for model in json.loads(done.stdout)}


@pytest.mark.slow
def test_folders_are_chosen_checked_and_unlocked(run, tmp_path: Path, shared_data: Path) -> None:
    root = write_notes(tmp_path / "notes", {**NOTES, "draft.md": "# Draft\n\nNot yet."})
    source = shared_data / "pdf/encrypted-user/pypdf__libreoffice-writer-password.pdf"
    (root / "locked.pdf").write_bytes(source.read_bytes())
    report = json.loads(run("index", str(root), "--exclude", "draft*", "--json").stdout)
    assert {file["path"]: file["state"] for file in report["files"]} == {
        "boiler.md": "indexed", "garden.txt": "indexed", "empty.md": "failed", "locked.pdf": "failed",
    }  # fmt: skip
    assert ["draft.md", "left out by “draft*” in the library's settings"] in report["skipped"]

    unlocked = run("index", str(root), "--password", "openpassword", "--verify")
    assert unlocked.returncode == 0, unlocked.stderr
    assert "openpassword" not in unlocked.stdout + unlocked.stderr
    assert "3 read, 0 partly, 1 not" in unlocked.stdout

    for folder in (root / name for name in ("boiler.md", "garden.txt", "empty.md", "locked.pdf", "draft.md")):
        folder.unlink()
    emptied = run("index", str(root))
    assert emptied.returncode == 1
    assert "holds none of the 4 files" in emptied.stderr
    checked = run("check")
    assert checked.returncode == 0, checked.stdout
    assert "error" not in checked.stdout
    assert "4 removed" in run("index", str(root), "--allow-empty").stdout

    renamed = run("libraries", "--rename", "Sample notes", "Work", "--json")
    assert [info["name"] for info in json.loads(renamed.stdout)] == ["Work"]
    assert run("ask", "What is in the draft?", "--library", "Work", "--library", "Play").returncode == 1
