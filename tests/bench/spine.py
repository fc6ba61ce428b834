"""How fast the spine is: start, memory, indexing, first token, second sync.

``python -m tests.bench.spine [start] [index] [token] [sync] [--files N]``

Without names it measures all four. Figures are medians; shares of one run are compared, since machines differ.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from statistics import median

from rag.engine import SAMPLES, Engine
from rag.index.chunking.chunks import ChunkProfile, chunk_document, embedded_text
from rag.models.choice import pick_embedder
from rag.settings import load_settings, prepare_environment
from rag.sources.readers import read
from rag.sources.scan import scan
from rag.types import TextDelta

ROOT = Path(__file__).parents[2]
NOTES = ROOT.parent / "shared" / "data" / "notes" / "rustbook-de"
QUESTIONS = (
    "How often do the wipers sweep the optical window?",
    "Which SSH port does the backup server use?",
    "At what time are the home folders backed up?",
    "What would a second gateway cost?",
    "How heavy must the anchors be?",
)


def main() -> None:
    """Measures what was named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    measures: dict[str, Callable[[argparse.Namespace], None]] = {
        "start": start, "index": index, "token": token, "sync": sync,
    }  # fmt: skip
    parser.add_argument("what", nargs="*", choices=[*measures, []], help="what to measure; nothing: all")
    parser.add_argument("--files", type=int, default=8, help="files of rustbook-de to index (33: all)")
    options = parser.parse_args()
    prepare_environment()
    for name in options.what or measures:
        measures[name](options)


def start(_: argparse.Namespace) -> None:
    """From ``python app.py`` to a page that answers; memory then, and after indexing the sample notes."""
    seconds, idle = [], []
    for _ in range(3):
        with tempfile.TemporaryDirectory() as home:
            process, address, took = _start_page(home)
            try:
                seconds.append(took)
                idle.append(_memory(process.pid))
                maps = Path(f"/proc/{process.pid}/maps").read_text(encoding="utf-8", errors="replace")
                loaded = sorted({name for name in ("libtorch", "chromadb_rust", "xllamacpp") if name in maps})
            finally:
                process.terminate()
                process.wait(30)
    print(f"start: {median(seconds):.1f} s to a page that answers at {address}; idle {median(idle):.0f} MiB; {loaded=}")
    with tempfile.TemporaryDirectory() as home:
        code = (
            "from rag.engine import Engine, SAMPLES; from rag.settings import *; prepare_environment();"
            f"e = Engine(load_settings(home={home!r}, llm='none')); list(e.sync(SAMPLES, e.sample_folder()));"
            "print([l for l in open('/proc/self/status') if l.startswith(('VmRSS', 'VmHWM'))])"
        )
        done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    rss, peak = (int(value) / 1024 for value in re.findall(r"(\d+) kB", done.stdout)[::-1])
    print(f"memory without the page after indexing the sample notes: {rss:.0f} MiB, peak {peak:.0f} MiB")


def _start_page(home: str) -> tuple[subprocess.Popen[str], str, float]:
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "app.py"], cwd=ROOT, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "FOOTNOTE_HOME": home, "FOOTNOTE_PORT": "0"},
    )  # fmt: skip
    assert process.stdout is not None
    for line in process.stdout:
        found = re.search(r"http://\S+", line)
        if found:
            urllib.request.urlopen(found.group(), timeout=30).read()
            return process, found.group(), time.perf_counter() - started
    raise SystemExit("the page did not start")


def _memory(pid: int) -> float:
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(encoding="utf-8"))
    return int(found[1]) / 1024 if found else 0.0


def index(options: argparse.Namespace) -> None:
    """Indexing part of rustbook-de, as a ratio to the embedder alone on the same chunks."""
    settings = load_settings()
    embedder, _ = pick_embedder(settings, settings.embedder)
    files = scan(NOTES).files[: options.files]
    overhead = embedder.count_tokens("a") - 1
    texts = []
    for file in files:
        document = read(file)
        profile = ChunkProfile(settings.chunk_tokens, settings.chunk_overlap)
        longest = embedder.identity.max_tokens - overhead - 2
        for piece in chunk_document(document, lambda text: embedder.count_tokens(text) - overhead, profile, longest):
            text = document.text[piece.span.start : piece.span.end]
            texts.append(embedded_text(document.title, piece.heading_path, piece.section, piece.context, text))
    ratios, speeds = [], []
    for _ in range(3):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder) / "notes"
            root.mkdir()
            for file in files:
                (root / file.path).write_bytes(file.absolute.read_bytes())
            with Engine(load_settings(home=Path(folder) / "home")) as engine:
                started = time.perf_counter()
                *_, last = engine.sync(SAMPLES, root)
                whole = time.perf_counter() - started
                assert last.result is not None
                assert last.result.chunks_embedded == len(texts)
        started = time.perf_counter()
        embedder.embed_documents(texts)
        alone = time.perf_counter() - started
        ratios.append(whole / alone)
        speeds.append(len(texts) / whole)
    print(
        f"index: {len(files)} files, {len(texts)} chunks, {embedder.identity.model}: {median(speeds):.2f} chunks/s, "
        f"whole sync / embedder alone = {median(ratios):.3f} ({', '.join(f'{ratio:.3f}' for ratio in ratios)})"
    )


def token(_: argparse.Namespace) -> None:
    """From a question to the first token, minus the bare model call with the same prompt.

    Both find the instructions and examples in the server's cache, as every question after the first does; the bare call's
    notes begin with another character, so that they are read anew.
    """
    differences, firsts = [], []
    with tempfile.TemporaryDirectory() as home, Engine(load_settings(home=home)) as engine:
        for _ in engine.sync(SAMPLES, engine.sample_folder()):
            pass
        chat = engine._models.chat()[0]
        if chat is None:
            print("token: there is no chat model here")
            return
        list(engine.ask(SAMPLES, QUESTIONS[-1]))
        for question in QUESTIONS:
            started = time.perf_counter()
            prompt, first = None, None
            events = engine.ask(SAMPLES, question)
            for event in events:
                prompt = getattr(event, "prompt", prompt)
                if isinstance(event, TextDelta):
                    first = time.perf_counter() - started
                    break
            events.close()
            if prompt is None or first is None:
                continue  # refused: there is no first token
            messages = [(message.role, message.content) for message in prompt.messages]
            messages[-1] = ("user", messages[-1][1].replace("Notes:", "notes:", 1))
            started = time.perf_counter()
            for piece in chat.runnable.stream(messages):
                if piece.text:
                    break
            bare = time.perf_counter() - started
            differences.append(first - bare)
            firsts.append(first)
    print(
        f"token: {median(firsts):.2f} s to the first token, {median(differences):.2f} s more than the bare call "
        f"({', '.join(f'{difference:.2f}' for difference in differences)})"
    )


def sync(_: argparse.Namespace) -> None:
    """A second sync of 1,000 files that have not changed."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "notes"
        root.mkdir()
        for number in range(1000):
            (root / f"{number:04}.md").write_text(f"Note {number}: bolt {number * 7} holds plate {number * 3}.")
        with Engine(load_settings(home=Path(folder) / "home", llm="none")) as engine:
            started = time.perf_counter()
            for _ in engine.sync(SAMPLES, root):
                pass
            first = time.perf_counter() - started
            seconds = []
            for _ in range(5):
                started = time.perf_counter()
                *_, last = engine.sync(SAMPLES, root)
                seconds.append(time.perf_counter() - started)
                assert last.result is not None
                assert last.result.chunks_embedded == 0
    print(f"sync: 1,000 files first in {first:.0f} s, unchanged again in {median(seconds):.2f} s, none embedded")


if __name__ == "__main__":
    main()
