"""How fast and how large folders are: indexing against the embedder alone, memory, and unchanged files.

``python -m tests.bench.folders [notes] [pdfs] [memory] [unchanged] [--files N]``

Without names it measures all four. Whole syncs are compared with the embedder alone on the same chunks, one after the
other in the same run, since machines differ.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

import numpy as np
import psutil

from rag.engine import SAMPLES, Engine
from rag.models.base import Embedder
from rag.models.choice import pick_embedder
from rag.settings import load_settings, prepare_environment
from rag.types import EmbedderIdentity

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data"


class Recorder(Embedder):
    """An embedder that keeps what it was given."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.texts: list[str] = []

    @property
    def identity(self) -> EmbedderIdentity:
        return self._inner.identity

    @property
    def device(self) -> str:
        return self._inner.device

    def count_tokens(self, text: str) -> int:
        return self._inner.count_tokens(text)

    def embed_query(self, text: str) -> list[float]:
        return self._inner.embed_query(text)

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        self.texts += texts
        return self._inner.embed_documents(list(texts))

    def close(self) -> None:
        self._inner.close()


class Instant(Recorder):
    """Vectors that cost nothing, so that what is measured is everything but the model."""

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        seeds = [int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) for text in texts]
        rows = np.stack([np.random.default_rng(seed).standard_normal(self.identity.dimension) for seed in seeds])
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).tolist()


def main() -> None:
    """Measures what was named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    measures: dict[str, Callable[[argparse.Namespace], None]] = {
        "notes": notes, "pdfs": pdfs, "memory": memory, "unchanged": unchanged,
    }  # fmt: skip
    parser.add_argument("what", nargs="*", choices=[*measures, []], help="what to measure; nothing: all")
    parser.add_argument("--files", type=int, default=200, help="PDFs to make")
    parser.add_argument("--notes", type=int, default=12, help="files of rustbook-de to index (33: all)")
    options = parser.parse_args()
    prepare_environment()
    for name in options.what or measures:
        measures[name](options)


def _index(folder: Path, make: Callable[[Path], None], wrap: type[Recorder] = Recorder) -> tuple[float, Recorder]:
    """Seconds of a first sync of a folder in a new home, and the embedder with what it was given."""
    root = folder / "notes"
    root.mkdir()
    make(root)
    settings = load_settings(home=folder / "home", llm="none")
    with Engine(settings) as engine:
        recorder = wrap(pick_embedder(settings, settings.embedder)[0])
        engine._models._default = (recorder, "measured")
        started = time.perf_counter()
        for _ in engine.sync(SAMPLES, root):
            pass
        return time.perf_counter() - started, recorder


def _ratio(name: str, make: Callable[[Path], None], rounds: int) -> None:
    ratios, speeds = [], []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            whole, recorder = _index(Path(folder), make)
        alone = pick_embedder(load_settings(), "auto")[0]
        alone.embed_documents(recorder.texts[:8])  # loading the model is not what is compared
        started = time.perf_counter()
        alone.embed_documents(recorder.texts)
        ratios.append(whole / (time.perf_counter() - started))
        speeds.append(len(recorder.texts) / whole)
    print(
        f"{name}: {len(recorder.texts)} chunks, {median(speeds):.2f} chunks/s, whole sync / embedder alone = "
        f"{median(ratios):.3f} ({', '.join(f'{ratio:.3f}' for ratio in ratios)})"
    )


def notes(options: argparse.Namespace) -> None:
    """Part of rustbook-de."""
    files = sorted((DATA / "notes" / "rustbook-de").glob("*.md"))[: options.notes]
    _ratio("notes", lambda root: [(root / file.name).write_bytes(file.read_bytes()) for file in files] and None, 3)


def pdfs(options: argparse.Namespace) -> None:
    """PDFs made by repeating the readable ones of the test material, each with a title of its own and a line of its own
    on every page: what the library holds already is not embedded again."""
    _ratio(f"{options.files} PDFs", lambda root: _make_pdfs(root, options.files), 3)


def _make_pdfs(root: Path, count: int) -> None:
    import pymupdf

    sources = []
    for path in sorted((DATA / "pdf").rglob("*.pdf")):
        try:
            with pymupdf.open(path) as document:
                if document.needs_pass or document.page_count > 4:
                    continue
                texts = [page.get_text().strip() for page in document]  # every page has to load
                if texts and all(texts):
                    sources.append(path)
        except (RuntimeError, pymupdf.mupdf.FzErrorBase):
            continue
    for number in range(count):
        source = sources[number % len(sources)]
        with pymupdf.open(source) as document:
            for page in document:
                page.insert_text((40, 30), f"Copy {number} of {source.stem}, page {page.number + 1}", fontsize=8)
            document.set_metadata((document.metadata or {}) | {"title": f"Copy {number} of {source.stem}"})
            document.save(root / f"{number:03}-{source.name}")


def memory(_: argparse.Namespace) -> None:
    """Memory of this process while 20,000 chunks go through it, and of its readers."""
    this = psutil.Process()
    sizes: list[tuple[float, int]] = []
    readers = 0
    ended = threading.Event()

    def watch() -> None:
        nonlocal readers
        while not ended.wait(0.5):
            sizes.append((time.perf_counter(), this.memory_info().rss))
            readers = max([readers, *(child.memory_info().rss for child in this.children())])

    def make(root: Path) -> None:
        words = [
            "ring",
            "valve",
            "relay",
            "shaft",
            "pump",
            "seal",
            "gauge",
            "frame",
            "bearing",
            "cable",
            "filter",
            "nozzle",
        ]
        for number in range(1000):
            rng = np.random.default_rng(number)
            paragraphs = [
                f"## Part {part}\n\n" + " ".join(f"{rng.choice(words)}{rng.integers(1000)}" for _ in range(60))
                for part in range(20)
            ]
            (root / f"{number:04}.md").write_text("\n\n".join(paragraphs))

    thread = threading.Thread(target=watch)
    thread.start()
    with tempfile.TemporaryDirectory() as folder:
        seconds, _ = _index(Path(folder), make, Instant)
        home = sum(file.stat().st_size for file in (Path(folder) / "home").rglob("*") if file.is_file())
    ended.set()
    thread.join()
    parts = [sizes[len(sizes) * part // 4][1] / 2**20 for part in range(4)] + [sizes[-1][1] / 2**20]
    print(
        f"memory: 20,000 chunks in {seconds:.0f} s without a model; this process at each quarter of it "
        f"{', '.join(f'{size:.0f}' for size in parts)} MiB, peak {max(size for _, size in sizes) / 2**20:.0f} MiB; "
        f"largest reader {readers / 2**20:.0f} MiB; on disk {home / 2**20:.0f} MiB"
    )


def unchanged(_: argparse.Namespace) -> None:
    """A plan and a sync of 10,000 files that have not changed."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "notes"
        for number in range(10_000):
            path = root / f"{number % 300:03}" / f"{number:05}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"Note {number}: bolt {number * 7} holds plate {number * 3}.")
        settings = load_settings(home=Path(folder) / "home", llm="none")
        with Engine(settings) as engine:
            engine._models._default = (Instant(pick_embedder(settings, "auto")[0]), "measured")
            for _ in engine.sync(SAMPLES, root):
                pass
            plans, syncs, checks = [], [], []
            for _ in range(5):
                started = time.perf_counter()
                assert not engine.plan(SAMPLES, root).work
                plans.append(time.perf_counter() - started)
                started = time.perf_counter()
                for _ in engine.sync(SAMPLES, root):
                    pass
                syncs.append(time.perf_counter() - started)
            started = time.perf_counter()
            assert not engine.plan(SAMPLES, root, verify=True).work
            checks.append(time.perf_counter() - started)
    print(
        f"unchanged: 10,000 files: plan {median(plans):.2f} s, sync {median(syncs):.2f} s, "
        f"full hash check {median(checks):.2f} s ({os.cpu_count()} cores)"
    )


if __name__ == "__main__":
    main()
