"""How the standards are cut: clauses that begin a chunk and give it their number, and the chunks' lengths.

    python -m tests.bench.chunks            as the settings say
    FOOTNOTE_CHUNK_PROFILE=words python -m tests.bench.chunks

Exits non-zero when a clause of ``standards/clause_index.jsonl`` begins no chunk of the sections profile.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path

from rag.index.chunking.chunks import ChunkProfile, chunk_document
from rag.index.chunking.clauses import canonical
from rag.models.bundled import BundledEmbedder
from rag.settings import load_settings
from rag.sources.readers import read
from rag.types import SourceFile

SHARED = Path(__file__).parents[3] / "shared" / "data"


def main() -> int:
    """Prints one line a document and one for all."""
    settings = load_settings()
    profile = ChunkProfile(
        settings.chunk_tokens, settings.chunk_overlap, settings.chunk_profile, settings.chunk_minimum
    )
    embedder = BundledEmbedder()
    overhead = embedder.count_tokens("a") - 1
    longest = embedder.identity.max_tokens - overhead - 2
    clauses = defaultdict(list)
    for line in (SHARED / "standards/clause_index.jsonl").read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        clauses[entry["doc"]].append((entry["line"], canonical(entry["clause"])))
    print(profile)
    print(f"{'clauses':>8} {'begin':>8} {'numbered':>8} {'chunks':>8} {'tokens':>8} {'listing':>8}")
    total = [0] * 6
    for path, wanted in clauses.items():
        document = read(SourceFile(SHARED, path, 0, 0))
        pieces = chunk_document(document, lambda text: embedder.count_tokens(text) - overhead, profile, longest)
        places = {(piece.place.first, piece.section) for piece in pieces if piece.place}
        begun = sum(line in {first for first, _ in places} for line, _ in wanted)
        row = [
            len(wanted), begun, sum(clause in places for clause in wanted), len(pieces),
            sum(piece.tokens for piece in pieces), sum(piece.contents for piece in pieces),
        ]  # fmt: skip
        total = [one + other for one, other in zip(total, row, strict=True)]
        _print(row, path)
    _print(total, "all")
    return 1 if profile.name == "sections" and total[2] < total[0] else 0


def _print(row: list[int], name: str) -> None:
    row = [*row[:4], round(row[4] / row[3]), row[5]]
    print(" ".join(f"{value:>8}" for value in row), name)


if __name__ == "__main__":
    sys.exit(main())
