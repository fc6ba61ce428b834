"""How long a search of sparse weights takes in a large library, and what a block of postings should hold.

``python -m tests.bench.sparse [--chunks 100000] [--block 1024]``

Weights are made up: tokens as frequent as words are (Zipf's law over 60,000 of them), about 150 to a chunk, as BGE-M3
gives for a chunk of 200 tokens. Everything else is real. Prints median milliseconds of CPU time, which other programs do
not lengthen: of a question of 14 tokens, half of which nearly every chunk holds; of the same held to 1 of 1,000 and to 1
of 50 chunks; of taking out a file of three chunks.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np

from rag.index import postings, vectors
from rag.index.vectors import VectorStore

_TOKENS = 60_000
_DIMENSION = 1024
_AT_ONCE = 500
_REPEATS = 30


def main() -> None:
    """Builds a store, and prints what it takes to use it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--block", type=int, default=postings._BLOCK, help="rows of a block")
    options = parser.parse_args()
    postings._BLOCK = options.block
    vectors._BATCH = 10**9  # Chroma is not what is measured
    chance = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        store = VectorStore(Path(folder), "", "footnote-bench")
        started = time.perf_counter()
        texts = [_weights(chance, 220) for _ in range(5000)]
        row = chance.normal(size=_DIMENSION).tolist()
        for at in range(0, options.chunks, _AT_ONCE):
            some = [texts[n] for n in chance.integers(0, len(texts), _AT_ONCE)]
            ids = [f"{at + n}" for n in range(_AT_ONCE)]
            store.add(ids, [row] * _AT_ONCE, postings.packed(some))
        print(f"{options.chunks} chunks, blocks of {options.block}")
        print(f"added in {time.perf_counter() - started:.0f} s; postings {_megabytes(store):.0f} MB")
        names = [str(n) for n in range(options.chunks)]
        questions = [_weights(chance, 14) for _ in range(_REPEATS)]
        print(f"question       {_median(lambda n: store.search_weights(questions[n], 30)):7.1f} ms")
        for share in (1000, 50):
            among = names[::share]
            taken = _median(lambda n, among=among: store.search_weights(questions[n], 30, among))  # type: ignore[misc]
            print(f"1 of {share:<10}{taken:7.1f} ms")
        print(f"taken out      {_median(lambda n: store.delete(names[n * 50 : n * 50 + 3])):7.1f} ms")
        store.close()


def _weights(chance: np.random.Generator, tokens: int) -> dict[int, float]:
    shares = 1 / np.arange(1, _TOKENS + 1) ** 1.05
    found = np.unique(chance.choice(_TOKENS, tokens, p=shares / shares.sum()))
    return dict(zip(found.tolist(), chance.random(len(found)).tolist(), strict=True))


def _megabytes(store: VectorStore) -> float:
    return float(store._connection.execute("SELECT sum(length(entries)) FROM posting").fetchone()[0]) / 1e6


def _median(work: Callable[[int], object]) -> float:
    taken = []
    for n in range(_REPEATS):
        started = time.process_time()
        work(n)
        taken.append(time.process_time() - started)
    return median(taken) * 1000


if __name__ == "__main__":
    main()
