"""How fast a search is in a large library, and how much slower than in a small one.

``python -m tests.bench.scale [--chunks 100000] [--keep FOLDER]``

Chunks are the paragraphs of the notes in ``../shared/data``, repeated with other words in them until there are enough;
vectors have random directions, since no model is needed to search them. Everything else is real: catalog, keyword
index, Chroma, retriever. Questions are sentences of the notes. Prints median milliseconds in a tenth of the chunks and
in all of them, and exits with 1 where a bar falls short. Building takes minutes; ``--keep`` leaves the libraries in a
folder, where the next run finds them.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import cache
from pathlib import Path
from statistics import median

from rag.index.catalog import Indexed
from rag.index.chunking.chunks import ChunkProfile, chunk_document
from rag.index.library import Library, Shelf
from rag.retrieval.retriever import Retriever
from rag.settings import prepare_environment
from rag.types import EmbedderIdentity, FileState, Filters, SearchOptions, Section, SourceDocument, SourceFile, Span
from tests.bench.sets import DATA
from tests.fakes.hash_embedder import HashEmbedder

KEYWORD_MS, WHOLE_MS, FILTERED = 30.0, 60.0, 2.0
_IN_A_FILE = 50
_FOLDERS = 10
_QUESTIONS = 100
_WORD = re.compile(r"\w{5,}")
_FILTERS = {
    "folder": Filters(folders=("part 3",)),
    "file": Filters(files=("note 7",)),
    "word": Filters(without=("error",)),
}


class RandomEmbedder(HashEmbedder):
    """Vectors as long as a real embedder's, in random directions."""

    def __init__(self) -> None:
        super().__init__()
        self.identity = EmbedderIdentity("test", "random", "1", 384, True, "", "", 512)


def main() -> None:
    """Builds both libraries, measures them, and says what fell short."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=100_000, help="in the large library")
    parser.add_argument("--keep", type=Path, help="where the libraries stay")
    options = parser.parse_args()
    prepare_environment()
    embedder = RandomEmbedder()
    with tempfile.TemporaryDirectory() as folder, closing(Shelf(options.keep or Path(folder))) as shelf:
        sizes = (options.chunks // 10, options.chunks)
        found = {}
        for size in sizes:
            library = _library(shelf, size, embedder)
            found[size] = measure(library, embedder)
            for what, milliseconds in found[size].items():
                print(f"{size:>8} chunks  {what:<24}{milliseconds:>8.1f} ms", flush=True)
    missed = list(_missed(found[sizes[0]], found[sizes[1]]))
    if missed:
        sys.exit("Short of a bar: " + "; ".join(missed))


def measure(library: Library, embedder: RandomEmbedder) -> dict[str, float]:
    """Median milliseconds by step, of whole searches, and of whole searches held to a filter."""
    retriever = Retriever(libraries=(library,), embedder=embedder)
    chooser = random.Random(1)
    questions = [" ".join(chooser.choice(_paragraphs()).split()[:12]) for _ in range(_QUESTIONS)]
    for question in questions[:5]:
        retriever.search(question)
    seconds: dict[str, list[float]] = defaultdict(list)
    for question in questions:
        started = time.perf_counter()
        retrieval = retriever.search(question)
        seconds["whole"].append(time.perf_counter() - started - retrieval.seconds["embed"])
        for stage in retrieval.stages:
            seconds[stage.name].append(stage.seconds)
        for name, filters in _FILTERS.items():
            started = time.perf_counter()
            retrieval = retriever.search(question, options=SearchOptions(filters=filters))
            seconds[f"whole, by {name}"].append(time.perf_counter() - started - retrieval.seconds["embed"])
    return {name: 1000 * median(values) for name, values in seconds.items()}


def _missed(small: dict[str, float], large: dict[str, float]) -> Iterator[str]:
    bars = [("lexical", KEYWORD_MS), ("whole", WHOLE_MS)]
    bars += [(f"whole, by {name}", FILTERED * large["whole"]) for name in _FILTERS]
    for name, most in bars:
        if large[name] > most:
            yield f"{name}: {large[name]:.1f} ms, at most {most:.1f} wanted"
    for name in small:
        if large[name] > 10 * max(small[name], 0.1):
            yield f"{name}: {large[name] / small[name]:.1f} times as long in ten times as many chunks"


# ----------------------------------------------------------------------------------------------------------- libraries


def _library(shelf: Shelf, size: int, embedder: RandomEmbedder) -> Library:
    """A library of that size, made where there is none yet."""
    name = f"Scale {size}"
    library = shelf.library(name) if name in shelf.names() else shelf.create(name)
    library.bind(embedder.identity)
    chooser = random.Random(size)
    started = time.perf_counter()
    for number in range(library.catalog.counts()[0], size // _IN_A_FILE):
        _put(library, number, [_varied(chooser) for _ in range(_IN_A_FILE)], embedder)
        if number % 200 == 199:
            print(f"{size:>8} chunks  {number + 1} files after {time.perf_counter() - started:.0f} s", flush=True)
    library.vectors.settle()
    return library


def _put(library: Library, number: int, paragraphs: Sequence[str], embedder: RandomEmbedder) -> None:
    text = "\n\n".join(paragraphs)
    sections, at = [], 0
    for paragraph in paragraphs:
        sections.append(Section((), Span(at, at + len(paragraph) + 2)))
        at += len(paragraph) + 2
    document = SourceDocument(text, f"Note {number}", tuple(sections), str(number))
    file = SourceFile(Path("/bench"), f"part {number % _FOLDERS}/note {number}.txt", len(text), 1)
    pieces = chunk_document(document, embedder.count_tokens, ChunkProfile(400, 0), 400)
    ids = library.catalog.next_chunk_ids(file, len(pieces))
    texts = [text[piece.span.start : piece.span.end] for piece in pieces]
    library.vectors.add(ids, embedder.embed_documents(texts))
    library.catalog.put_file(file, document, pieces, ids, Indexed(FileState.INDEXED, "", str(number), "bench"))


def _varied(chooser: random.Random) -> str:
    """A paragraph of the notes in which every fifth longer word is another one of the notes."""
    words = _words()
    return _WORD.sub(
        lambda word: chooser.choice(words) if chooser.random() < 0.2 else word.group(), chooser.choice(_paragraphs())
    )


@cache
def _paragraphs() -> tuple[str, ...]:
    """Paragraphs of 200 to 1,000 characters."""
    texts = (path.read_text(encoding="utf-8") for path in sorted((DATA / "notes").rglob("*.md")))
    found = (" ".join(part.split()) for text in texts for part in re.split(r"\n\s*\n", text))
    return tuple(paragraph for paragraph in found if 200 <= len(paragraph) <= 1000)


@cache
def _words() -> tuple[str, ...]:
    return tuple(sorted({word for paragraph in _paragraphs() for word in _WORD.findall(paragraph)}))


if __name__ == "__main__":
    main()
