"""The test material as passages and questions, and libraries filled with them.

A set's unit is its paragraph: a library holds one chunk a paragraph (two or three where it is longer than the embedder
takes), stored through the real catalog and vectors. Articles are halved, by their place in the set, into a half to
develop with and a held-out half; translations of an article are in the same half.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag.index.catalog import Indexed
from rag.index.chunking import ChunkProfile, chunk_document, embedded_text
from rag.index.library import Library, Shelf
from rag.models.base import Embedder
from rag.types import FileState, Section, SourceDocument, SourceFile, Span

DATA = Path(__file__).parents[3] / "shared" / "data"

RUST_SAMPLE = 12
"""Files of the Rust Book in the sample."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A paragraph: its name in the set, the article it is from, and its text."""

    name: str
    article: str
    text: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the names of the passages that answer it; none where nothing does."""

    text: str
    right: frozenset[str]
    article: str
    held_out: bool


@dataclass(frozen=True, slots=True)
class Material:
    """Passages and questions about them."""

    name: str
    passages: tuple[Passage, ...]
    questions: tuple[Question, ...]


def squad(path: str, name: str, articles: int | None = None) -> Material:
    """A file in SQuAD's format; of questions, those that have an answer.

    Args:
        path: Below ``qa``.
        name: Of the set.
        articles: The first so many; None: all.
    """
    passages: list[Passage] = []
    questions: list[Question] = []
    for at, article in enumerate(_articles(path)[:articles]):
        for number, paragraph in enumerate(article["paragraphs"]):
            title, _, text = paragraph["context"].rpartition(" [SEP] ")
            passages.append(Passage(f"{at}-{number}", article["title"], text, title))
            questions += [
                Question(qa["question"], frozenset({f"{at}-{number}"}), article["title"], at % 2 == 1)
                for qa in paragraph["qas"]
                if not qa.get("is_impossible")
            ]
    return Material(name, tuple(passages), tuple(questions))


def across(passages: Material, questions: Material, name: str) -> Material:
    """Questions of one language over the passages of another; both sets have the same names."""
    return Material(name, passages.passages, questions.questions)


def mixed(questions: Material, others: Material, name: str) -> Material:
    """A set whose articles are, two by two, in its own language or in another; both sets have the same names."""
    articles = list(dict.fromkeys(passage.article for passage in questions.passages))
    passages = tuple(
        other if articles.index(own.article) % 4 < 2 else own
        for own, other in zip(questions.passages, others.passages, strict=True)
    )
    return Material(name, passages, questions.questions)


def refusal(name: str) -> tuple[Material, tuple[Question, ...]]:
    """A set of ``qa/refusal``: kept articles with questions about them, and questions about the removed ones."""
    kept = json.loads((DATA / "qa" / "refusal" / f"{name}.json").read_text(encoding="utf-8"))
    path = "jsquad.json" if name.startswith("jsquad") else f"xquad/{name.replace('-', '.')}.json"
    titles = [article["title"] for article in _articles(path)]
    whole = squad(path, name)
    passages = tuple(passage for passage in whole.passages if passage.article in kept["kept_articles"])
    asked = {line["question"] for line in kept["answerable"]}
    answerable = {
        question.text: question
        for question in whole.questions
        if question.text in asked and question.article in kept["kept_articles"]
    }
    # Not by their place among all: the few removed articles would fall into one half.
    removed = sorted({line["removed_article"] for line in kept["unanswerable"]}, key=titles.index)
    halves = {title: at % 2 == 1 for at, title in enumerate(removed)}
    absent = tuple(
        Question(line["question"], frozenset(), line["removed_article"], halves[line["removed_article"]])
        for line in kept["unanswerable"]
    )
    return Material(name, passages, tuple(answerable.values())), absent


def rust_book(chapters: int | None = None) -> Material:
    """Sections of the Rust Book in English, and for each the first sentence of its Japanese translation.

    The Japanese chapters hold the English original of each paragraph in a comment above it: the comments are the
    passages, cut at their headings, and what stands below them gives the questions.

    Args:
        chapters: The first so many files; None: all.
    """
    passages: list[Passage] = []
    questions: list[Question] = []
    for at, path in enumerate(sorted((DATA / "notes" / "rustbook-ja").glob("*.md"))[:chapters]):
        number, title, english, japanese = 0, "", "", ""
        pieces = re.split(r"<!--(.*?)-->", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        for original, translation in [*zip(pieces[1::2], pieces[2::2], strict=True), ("# ", "")]:
            if heading := re.match(r"\s*#+ *(.*)", original):
                sentence = _first_sentence(japanese)
                if english.strip() and sentence:
                    name = f"{path.stem}-{number}"
                    passages.append(Passage(name, path.stem, english.strip(), title))
                    questions.append(Question(sentence, frozenset({name}), path.stem, at % 2 == 1))
                number, title, english, japanese = number + 1, heading[1].strip(), "", ""
            else:
                english += original
                japanese += translation
    return Material("rust", tuple(passages), tuple(questions))


def _first_sentence(japanese: str) -> str:
    """The first sentence of running text; empty where there is none."""
    for paragraph in re.split(r"\n\s*\n", re.sub(r"```.*?```", "", japanese, flags=re.DOTALL)):
        text = re.sub(r"\s+", "", re.sub(r"<[^>]*>", "", paragraph))
        if "。" in text and not text.startswith(("#", "*", "-", ">", "{")):
            return text.split("。")[0] + "。"
    return ""


def spread(questions: Sequence[Question], limit: int) -> list[Question]:
    """So many of the questions, evenly from first to last."""
    if len(questions) <= limit:
        return list(questions)
    return [questions[at * len(questions) // limit] for at in range(limit)]


@contextmanager
def opened_library() -> Iterator[Library]:
    """An empty library in a folder that goes away again."""
    with tempfile.TemporaryDirectory() as folder, Shelf(Path(folder)) as shelf:
        yield shelf.create("Benchmark")


def fill(library: Library, passages: Sequence[Passage], embedder: Embedder, limit: int = 0) -> None:
    """Stores passages, each as a file that is called after it.

    Args:
        library: An empty one.
        passages: What to store.
        embedder: The library's embedder from now on.
        limit: Longest chunk in its tokens; 0: a passage is one chunk, as long as the embedder can take it.
    """
    library.bind(embedder.identity)
    overhead = embedder.count_tokens("")
    longest = embedder.identity.max_tokens - overhead - 2
    profile = ChunkProfile(limit or longest, 0)
    for passage in passages:
        document = SourceDocument(passage.text, passage.title, (Section((), Span(0, len(passage.text))),), passage.name)
        pieces = chunk_document(document, lambda text: embedder.count_tokens(text) - overhead, profile, longest)
        file = SourceFile(Path("/bench"), passage.name, len(passage.text), 1)
        ids = library.catalog.next_chunk_ids(file, len(pieces))
        texts = [
            embedded_text(
                passage.title,
                piece.heading_path,
                piece.section,
                piece.context,
                passage.text[piece.span.start : piece.span.end],
            )
            for piece in pieces
        ]
        library.vectors.add(ids, embedder.embed_documents(texts))
        library.catalog.put_file(file, document, pieces, ids, Indexed(FileState.INDEXED, "", passage.name, "bench"))
    library.vectors.settle()


def _articles(path: str) -> list[dict[str, Any]]:
    articles: list[dict[str, Any]] = json.loads((DATA / "qa" / path).read_text(encoding="utf-8"))["data"]
    return articles
