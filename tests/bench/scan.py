"""How fast a folder is scanned: files in folders, with and without patterns; nothing is opened.

``python -m tests.bench.scan [--files N] [--folders N]``
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from statistics import median

from rag.sources.scan import EVERYTHING, Choice, scan

PATTERNS = Choice(
    include=("*.md", "*.txt", "*.pdf", "papers/"),
    exclude=("*.log", "drafts/", "/private/", "**/old/*.txt", "!keep.log", "tmp*/", "[Tt]rash/", "*.bak"),
    max_bytes=200 * 2**20,
)


def main() -> None:
    """Makes the folder and measures the scan of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--folders", type=int, default=300)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        root = Path(made)
        fill(root, options.files, options.folders)
        measure("defaults", root, EVERYTHING)
        measure("12 patterns", root, PATTERNS)
        for number in range(0, options.folders, 10):
            (folder(root, number) / ".footnoteignore").write_text("*.tmp\nold/\n!old/keep.md\n", encoding="utf-8")
        measure("12 patterns, .footnoteignore in every tenth folder", root, PATTERNS)


def folder(root: Path, number: int) -> Path:
    """A folder three deep."""
    return root / f"year {number % 10}" / f"project {number % 60}" / f"part {number}"


def fill(root: Path, files: int, folders: int) -> None:
    """Writes small files of four endings, spread over the folders."""
    for number in range(folders):
        folder(root, number).mkdir(parents=True)
    for number in range(files):
        ending = (".md", ".txt", ".pdf", ".md")[number % 4]
        (folder(root, number % folders) / f"note {number}{ending}").write_bytes(b"words")


def measure(what: str, root: Path, choice: Choice) -> None:
    """Prints how long a scan takes, also without what other programs take, the files it finds and the lines it skips."""
    seconds, alone = [], []
    for _ in range(5):
        started, worked = time.perf_counter(), time.process_time()
        found = scan(root, choice)
        seconds.append(time.perf_counter() - started)
        alone.append(time.process_time() - worked)
    print(
        f"{what}: {median(seconds):.3f} s, of which {median(alone):.3f} s at work; "
        f"{len(found.files):,} files, {len(found.skipped):,} lines skipped"
    )


if __name__ == "__main__":
    main()
