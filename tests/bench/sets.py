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
from typing import Any, TypeVar

from rag.index.catalog import Indexed
from rag.index.chunking.chunks import ChunkProfile, chunk_document, embedded_text
from rag.index.library import Library, Shelf
from rag.index.plan import make_plan
from rag.index.sync import apply_plan
from rag.models.base import Embedder
from rag.settings import load_settings
from rag.sources.workers import ReaderPool
from rag.types import Chunk, FileState, Section, SourceDocument, SourceFile, Span, Turn

T = TypeVar("T")

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


def squad(path: str, name: str, articles: int | None = None, *, impossible: bool = False) -> Material:
    """A file in SQuAD's format.

    Args:
        path: Below ``qa``.
        name: Of the set.
        articles: The first so many; None: all.
        impossible: The questions are those that seem to be about a paragraph, and that it does not answer.
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
                if qa.get("is_impossible", False) is impossible
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


# -------------------------------------------------------------------------------------------------------------- clauses

STANDARDS_SAMPLE = (
    "baustellv",
    "prodhaftg",
    "sp800-63a/sec4",
    "sp800-63a/sec5",
    "sp800-63a/sec6",
    "sp800-63/sec4",
    "rfc1939",
)
"""Parts of the paths of the standards in the sample."""

_ABBREVIATIONS = {"baustellv": "BaustellV", "betrsichv_2015": "BetrSichV", "prodhaftg": "ProdHaftG"}
_WORDINGS = {
    "rfc": (
        "{name} {section}",
        "What does {section} of {name} say?",
        "{name}, §{clause}",
        "{title} ({name}, {clause})",
    ),
    "nist": (
        "What does NIST {name} clause {clause} say?",
        "SP {name} section {clause}",
        "{clause} in {name}",
        "{name}, section {clause}: {title}",
    ),
    "gesetz": (
        "{clause} {name}",
        "Was steht in {clause} {name}?",
        "{name} {clause}",
        "What does {clause} of the {name} require?",
    ),
}


@dataclass(frozen=True, slots=True)
class ClauseQuestion:
    """A question that names a clause.

    Attributes:
        text: The question.
        path: The file that the clause is in.
        heading: The words of its title.
        first: The first words below its heading.
        below: These are another heading's, whose text may be in a chunk of its own.
    """

    text: str
    path: str
    heading: tuple[str, ...]
    first: tuple[str, ...]
    below: bool

    def is_right(self, chunk: Chunk) -> bool:
        """Whether the chunk holds the heading with the first words below it: a table of contents does not."""
        return chunk.path == self.path and self._place(chunk) is not None

    def begins(self, chunk: Chunk) -> bool:
        """Whether the clause's heading stands at the chunk's beginning, but for its number."""
        place = self._place(chunk)
        return place is not None and place <= _NUMBER_WORDS

    def _place(self, chunk: Chunk) -> int | None:
        """Where in the chunk's words the heading is."""
        words = _words(chunk.text)
        if self.below and words[: len(self.first)] == self.first:
            return 0
        for at in range(len(words)):
            if words[at : at + len(self.heading)] == self.heading:
                below = words[at + len(self.heading) : at + len(self.heading) + len(self.first) + _BETWEEN]
                if any(below[begin : begin + len(self.first)] == self.first for begin in range(_BETWEEN + 1)):
                    return at
        return None


_NUMBER_WORDS = 5  # of "Section 5.1.1.2"
_BETWEEN = 6  # words between a heading and its text that an index of clauses leaves out


def clause_questions(documents: Sequence[str] | None = None) -> list[ClauseQuestion]:
    """Every clause of ``standards/clause_index.jsonl`` with one wording of its kind after the other.

    Args:
        documents: Parts of the paths of those that are asked for; None: all.
    """
    found = []
    for line in (DATA / "standards" / "clause_index.jsonl").read_text(encoding="utf-8").splitlines():
        clause = json.loads(line)
        path = clause["doc"].removeprefix("standards/")
        if documents is not None and not any(part in path for part in documents):
            continue
        wordings = _WORDINGS[clause["kind"]]
        section = clause["clause"] if clause["clause"].startswith("Appendix") else f"section {clause['clause']}"
        text = wordings[len(found) % len(wordings)].format(name=_name(path), section=section, **clause)
        # Where a clause begins with a heading below its own, that one's chunk is where its text begins.
        heading, first = _words(clause["title"]), _words(clause["first"])[:4]
        found.append(ClauseQuestion(text, path, heading, first, below=clause["first"].startswith("#")))
    return found


def _name(path: str) -> str:
    """What people call a standard."""
    folder, file = path.split("/")[-2:]
    if file.startswith("rfc"):
        return f"RFC {file[3:-4]}"
    return _ABBREVIATIONS.get(folder) or folder.removeprefix("sp").upper()


def _words(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\w+", text.casefold()))


def sync_standards(library: Library, folder: Path, embedder: Embedder, documents: Sequence[str] | None = None) -> None:
    """Indexes the standards as the program does.

    Args:
        library: An empty one.
        folder: An empty folder for the files.
        embedder: The library's.
        documents: Parts of their paths; None: all.
    """
    for path in sorted((DATA / "standards").rglob("*.*")):
        place = path.relative_to(DATA / "standards")
        if place.suffix in (".md", ".txt") and (
            documents is None or any(part in place.as_posix() for part in documents)
        ):
            (folder / place).parent.mkdir(parents=True, exist_ok=True)
            (folder / place).write_bytes(path.read_bytes())
    settings = load_settings()
    profile = ChunkProfile(settings.chunk_tokens, settings.chunk_overlap)
    with ReaderPool(workers=1, timeout=settings.read_timeout) as readers:
        for _ in apply_plan(library, make_plan(library, folder, profile), embedder, readers, profile):
            pass


# -------------------------------------------------------------------------------------------------------- conversations

CONVERSATIONS_SAMPLE = 24
"""Conversations in the sample."""

_MOST_PASSAGES = 5


@dataclass(frozen=True, slots=True)
class Conversation:
    """The last question of a conversation, what was said before, and the passages that answer it."""

    question: str
    history: tuple[Turn, ...]
    right: frozenset[str]


def conversations(limit: int | None = None) -> tuple[list[Passage], list[Conversation]]:
    """Conversations of MTRAG-UN whose last question has passages, and the passages of all of them.

    Args:
        limit: So many conversations, with their passages only; None: all.
    """
    lines = (DATA / "qa" / "mtrag_un.jsonl").read_text(encoding="utf-8").splitlines()
    tasks = [task for task in map(json.loads, lines) if 0 < len(task["contexts"]) <= _MOST_PASSAGES]
    passages: dict[str, Passage] = {}
    asked = []
    for task in spread([task for task in tasks if len(task["input"]) > 1], limit or len(tasks)):
        for context in task["contexts"]:
            passages[context["document_id"]] = Passage(context["document_id"], "", context["text"])
        turns = [Turn("user" if turn["speaker"] == "user" else "assistant", turn["text"]) for turn in task["input"]]
        right = frozenset(context["document_id"] for context in task["contexts"])
        asked.append(Conversation(turns[-1].text, tuple(turns[:-1]), right))
    return list(passages.values()), asked


def spread(questions: Sequence[T], limit: int) -> list[T]:
    """So many of them, evenly from first to last."""
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
    overhead = embedder.count_tokens("a") - 1
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
