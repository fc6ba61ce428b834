"""Why not this? Fifty passages by a replay of the search that shares no code with it, and each gate by itself."""

from __future__ import annotations

import math
import random
import re
import sqlite3
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fakes.hash_embedder import HashEmbedder
from fakes.ollama_server import OllamaStandIn
from material import write_notes

from rag.answering.chain import Answering, AnswerRun
from rag.errors import QueryError
from rag.index.chunking.chunks import ChunkProfile
from rag.index.library import Library, Shelf
from rag.index.plan import make_plan
from rag.index.sync import apply_plan
from rag.index.terms import terms
from rag.inspection.explain import Account, Explanation, Gate, Wanted, explain
from rag.models.ollama import OllamaChat
from rag.retrieval.retriever import Retriever
from rag.settings import Settings, load_settings
from rag.sources.workers import ReaderPool
from rag.types import Answer, AnswerDone, Evidence, Filters, Retrieval, SearchOptions, Trace, Verdict

PROFILE = ChunkProfile(200, 0, minimum=0)
CANDIDATES = 8
NOTES = 3
EVERYTHING = Filters()
THINGS = ("pump", "valve", "boiler", "sensor", "filter", "gauge")
PLACES = ("hall", "cellar", "roof", "harbour", "workshop")
VERBS = ("opens", "closes", "leaks", "hums", "trips", "drifts")


def _notes() -> dict[str, str]:
    """Notes of one to three sections whose words overlap, some of them nearly the same."""
    chance = random.Random(7)
    notes: dict[str, str] = {}
    for number in range(36):
        parts = []
        for part in range(chance.randint(1, 3)):
            sentences = [
                f"The {chance.choice(THINGS)} in the {chance.choice(PLACES)} {chance.choice(VERBS)} "
                f"at {chance.randint(2, 40)} bar, as was seen on day {chance.randint(1, 300)}."
                for _ in range(chance.randint(1, 4))
            ]
            parts.append(f"## Part {part} of log {number}\n\n{' '.join(sentences)}\n")
        notes[f"{chance.choice(PLACES)}/log-{number:02}.md"] = "\n".join(parts)
    for number in range(4):
        # The same note from different hands: one word apart, so that none of them is a copy of a file.
        told = "The old boiler in the harbour leaks at 12 bar since the winter storm broke its main seal and " * 2
        notes[f"copies/seal-{number}.md"] = f"## Seal\n\n{told}nobody has time, says {'ABCD'[number]}.\n"
    return notes


def _index(library: Library, root: Path, embedder: HashEmbedder, readers: ReaderPool) -> None:
    list(apply_plan(library, make_plan(library, root, PROFILE), embedder, readers, PROFILE))


@pytest.fixture(scope="module")
def embedder() -> HashEmbedder:
    return HashEmbedder()


@pytest.fixture(scope="module")
def shared_shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    with Shelf(tmp_path_factory.mktemp("shelf")) as opened:
        yield opened


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_notes(tmp_path_factory.mktemp("notes"), _notes())


@pytest.fixture(scope="module")
def retriever(shared_shelf: Shelf, root: Path, embedder: HashEmbedder, readers: ReaderPool) -> Retriever:
    library = shared_shelf.create("Logs")
    _index(library, root, embedder, readers)
    return Retriever(libraries=(library,), embedder=embedder, candidates=CANDIDATES)


@pytest.fixture(scope="module")
def chat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OllamaChat]:
    with OllamaStandIn() as stand_in:
        stand_in.reply = ["That is not told."]
        home = tmp_path_factory.mktemp("home")
        yield OllamaChat(load_settings(home=home, ollama_url=stand_in.url), "qwen3:8b")


def _why(retriever: Retriever, wanted: Wanted, retrieval: Retrieval, trace: Trace | None) -> Explanation:
    return explain(wanted, retrieval, trace, retriever)


def _account(retriever: Retriever, chunk_id: str, trace: Trace) -> Account:
    (account,) = _why(retriever, Wanted(chunk=chunk_id), trace.retrieval, trace).accounts
    return account


def _asked(
    retriever: Retriever, chat: OllamaChat, question: str, filters: Filters = EVERYTHING, notes: int = NOTES
) -> Trace:
    *_, done = AnswerRun(Answering(retriever, chat, notes, 100, SearchOptions(filters)), question).events()
    assert isinstance(done, AnswerDone)
    return done.trace


# ---------------------------------------------------------------------------------------------------- the replay


class _Replay:
    """The search over again from the files on disk, by what its documentation says: no module of it is used but the
    splitting of words, which is no step of it.
    """

    def __init__(self, folder: Path, embedder: HashEmbedder) -> None:
        with sqlite3.connect(f"file:{folder / 'catalog.sqlite'}?mode=ro", uri=True) as connection:
            rows = connection.execute(
                "SELECT chunk.id, path, title, heading_path, chunk.text FROM chunk JOIN file ON file.id = file_id"
                " ORDER BY row"
            ).fetchall()
        self.paths = {id_: path for id_, path, *_ in rows}
        self.texts = {id_: text for id_, *_, text in rows}
        headings = {id_: " ".join(re.findall(r'"((?:[^"\\]|\\.)*)"', path)) for id_, _, _, path, _ in rows}
        self.words = {id_: terms(f"{title}\n{headings[id_]}\n{text}") for id_, _, title, _, text in rows}
        with sqlite3.connect(f"file:{folder / 'vectors.sqlite'}?mode=ro", uri=True) as connection:
            self.vectors = {
                id_: np.frombuffer(blob, dtype=np.float32)
                for id_, blob in connection.execute("SELECT id, vector FROM vector")
            }
        self._embedder = embedder

    def gate(self, id_: str, question: str, folder: str) -> tuple[str, dict[str, int]]:
        """The first gate that a passage does not pass, and its rank in each leg among all that are let through."""
        through = [one for one, path in self.paths.items() if path.startswith(folder)]
        if id_ not in through:
            return "filtered", {}
        dense = self._dense(question, through)
        lexical, votes = self._lexical(question, through)
        ranks = {name: _rank(id_, leg) for name, leg in (("dense", dense), ("lexical", lexical)) if id_ in leg}
        legs = [(list(dense), 1.0), (list(lexical), votes)]
        if not any(id_ in leg[:CANDIDATES] for leg, _ in legs):
            return "below the cut", ranks
        fused: dict[str, float] = {}
        for leg, weight in legs:
            for rank, one in enumerate(leg[:CANDIDATES], start=1):
                if weight:
                    fused[one] = fused.get(one, 0.0) + weight / (10 + rank)
        order = sorted(fused, key=lambda one: -fused[one])
        if id_ not in order:
            return "lost in fusion", ranks
        kept: list[str] = []
        for one in order:
            if not any(self._alike(one, other) for other in kept):
                kept.append(one)
            elif one == id_:
                return "folded", ranks
        return ("" if kept.index(id_) < NOTES else "over the budget"), ranks

    def _dense(self, question: str, through: list[str]) -> dict[str, float]:
        query = np.asarray(self._embedder.embed_query(question))
        return _best_first({one: float(self.vectors[one] @ query) for one in through})

    def _lexical(self, question: str, through: list[str]) -> tuple[dict[str, float], float]:
        total = len(self.words)
        holding = Counter(word for words in self.words.values() for word in set(words))
        weight = {
            word: math.log(1 + (total - holding[word] + 0.5) / (holding[word] + 0.5)) for word in set(terms(question))
        }
        held = {one: self.words[one] for one in through if weight.keys() & set(self.words[one])}
        average = sum(map(len, held.values())) / max(1, len(held))
        scores = {}
        for one, words in held.items():
            count = Counter(words)
            length = 1.2 * (0.25 + 0.75 * len(words) / average)
            scores[one] = sum(value * count[word] * 2.2 / (count[word] + length) for word, value in weight.items())
        if not scores:
            return {}, 0.0
        best = list(_best_first(scores))
        covered = sum(value for word, value in weight.items() if word in held[best[0]]) / sum(weight.values())
        margin = 1 - scores[best[1]] / scores[best[0]] if len(best) > 1 else 0.0
        sure = min(1.0, max(0.0, (covered + 0.3 * margin - 0.3) / 0.2))
        return _best_first(scores), round(sure * (0.8 + 1.2 * covered), 2)

    def _alike(self, one: str, other: str) -> bool:
        words, others = (re.findall(r"\w+", self.texts[id_].casefold()) for id_ in (one, other))
        if sorted({w for w in words if not w.isalpha()}) != sorted({w for w in others if not w.isalpha()}):
            return False
        threes, more = (set(zip(some, some[1:], some[2:], strict=False)) for some in (words, others))
        return len(threes & more) >= 0.8 * len(threes | more)


def _best_first(scores: dict[str, float]) -> dict[str, float]:
    return dict(sorted(scores.items(), key=lambda scored: -scored[1]))


def _rank(id_: str, leg: dict[str, float]) -> int:
    """The place of a passage in a leg; below the cut, those that are as good count as one."""
    place = list(leg).index(id_) + 1
    return place if place <= CANDIDATES else 1 + sum(score > leg[id_] + 1e-9 for score in leg.values())


QUESTIONS = (
    ("Which pump in the cellar trips at 12 bar?", ""),
    ("The old boiler leaks since the winter storm broke its main seal", ""),
    ("Where does a gauge drift?", "harbour/"),
    ("sensor hall hums 30 bar day", "hall/"),
    ("Warum zischt in jeder Nacht ein valve so seltsam", ""),
)


def test_fifty_passages_stop_where_an_independent_replay_stops_them(
    retriever: Retriever, embedder: HashEmbedder, chat: OllamaChat
) -> None:
    (library,) = retriever.libraries
    replay = _Replay(library.folder, embedder)
    chance = random.Random(50)
    seen: Counter[str] = Counter()
    for question, folder in QUESTIONS:
        trace = _asked(retriever, chat, question, Filters(folders=(folder,)) if folder else EVERYTHING)
        # Half of them from what was found, since by chance nearly all would be below the cut.
        found = sorted({hit.chunk.id for stage in trace.retrieval.stages for hit in stage.hits})
        some = chance.sample(found, min(6, len(found)))
        some += chance.sample(sorted(replay.paths.keys() - set(some)), 10 - len(some))
        for id_ in some:
            expected, ranks = replay.gate(id_, question, folder)
            account = _account(retriever, id_, trace)
            assert (account.gate or "") == expected, (question, account)
            told = {standing.step: standing.rank for standing in account.standings if standing.step in ranks}
            assert told == ranks, (question, account)
            seen[expected] += 1
    assert sum(seen.values()) == 50
    assert set(seen) == {"", "filtered", "below the cut", "lost in fusion", "folded", "over the budget"}, seen


# ------------------------------------------------------------------------------------------------- gate by gate


def test_what_a_way_promises_it_keeps(retriever: Retriever, chat: OllamaChat) -> None:
    question = "Which pump in the cellar trips at 12 bar?"
    trace = _asked(retriever, chat, question)
    late = next(passage for passage in trace.prompt.passages if passage.reason == f"beyond the {NOTES} passages wanted")
    account = _account(retriever, late.hit.chunk.id, trace)
    assert account.gate is Gate.BUDGET
    (given,) = re.findall(r"FOOTNOTE_NOTES=(\d+)", account.ways[0].change)
    again = _asked(retriever, chat, question, notes=int(given))
    assert _account(retriever, late.hit.chunk.id, again).number == int(given)

    (library,) = retriever.libraries
    dense = library.vectors.exact(retriever.embedder.embed_query(question), 20)
    seen = {hit.chunk.id for stage in trace.retrieval.stages for hit in stage.hits}
    below, rank = next((id_, rank) for rank, (id_, _) in enumerate(dense, start=1) if id_ not in seen)
    account = _account(retriever, below, trace)
    assert account.gate is Gate.LEGS
    assert f"dense: rank {rank} with cosine" in account.reason
    assert f"FOOTNOTE_CANDIDATES={rank}" in account.ways[0].change
    deeper = retriever.model_copy(update={"candidates": rank}).search(question)
    assert account.ways[0].rank == next(hit.rank for hit in deeper.hits if hit.chunk.id == below)
    assert all(way.tried for way in account.ways)
    assert account.ways[-1].rank, "held to its file it is found"


def test_a_filter_is_named_and_the_search_without_it_tried(retriever: Retriever, chat: OllamaChat) -> None:
    question = "The old boiler leaks since the winter storm broke its main seal"
    free = retriever.search(question).hits[0].chunk
    held = retriever.search(question, options=SearchOptions(Filters(folders=("roof",), without=("12345",))))
    (account,) = _why(retriever, Wanted(chunk=free.id), held, None).accounts
    assert (account.gate, account.reason) == (Gate.FILTERS, "The search was held to other passages: folder roof.")
    assert account.ways[0].change == "Ask without “folder roof”."
    assert account.ways[0].rank == 1


def test_a_copy_points_to_the_passage_that_stands_for_it(retriever: Retriever, chat: OllamaChat) -> None:
    trace = _asked(retriever, chat, "The old boiler leaks since the winter storm broke its main seal")
    best = trace.retrieval.hits[0]
    assert best.copies
    account = _account(retriever, best.copies[0].id, trace)
    assert account.gate is Gate.FOLD
    assert account.reason.endswith("the passage in place 1, which the model read as [1].")


def test_what_the_window_cannot_hold_is_told_in_tokens(
    retriever: Retriever, ollama: OllamaStandIn, settings: Settings
) -> None:
    narrow = OllamaChat(settings.model_copy(update={"ollama_url": ollama.url, "context_tokens": 1024}), "qwen3:8b")
    ollama.reply = ["Nothing."]
    trace = _asked(retriever, narrow, "Which pump in the cellar trips at 12 bar?", notes=20)
    outside = next(one for one in trace.prompt.passages if one.reason.startswith("does not fit"))
    account = _account(retriever, outside.hit.chunk.id, trace)
    assert account.gate is Gate.BUDGET
    assert "FOOTNOTE_CONTEXT_TOKENS" in account.ways[0].change
    assert "does not fit" in account.reason


def test_where_the_notes_do_not_seem_to_say_the_verdict_is_what_stopped_it(
    retriever: Retriever, chat: OllamaChat
) -> None:
    trace = _asked(retriever, chat, "Which pump in the cellar trips at 12 bar?")
    silent = replace(
        trace,
        retrieval=replace(trace.retrieval, evidence=Evidence(Verdict.NONE, "Nothing speaks of it.")),
        answer=Answer("Your notes do not seem to say.", "not_in_notes"),
        seconds={},
    )
    best = trace.retrieval.hits[0].chunk.id
    for account in (
        _account(retriever, best, silent),
        *_why(retriever, Wanted(chunk=best), silent.retrieval, None).accounts,
    ):
        assert account.gate is Gate.VERDICT
        assert "Nothing speaks of it." in account.reason
    assert _account(retriever, best, trace).gate is None
    only_searched = _why(retriever, Wanted(chunk=best), trace.retrieval, None).accounts[0]
    assert (only_searched.gate, only_searched.number) == (None, 0)


def test_several_passages_come_with_the_one_that_came_farthest_in_front(retriever: Retriever, chat: OllamaChat) -> None:
    trace = _asked(retriever, chat, "Which pump in the cellar trips at 12 bar?")
    found = _why(retriever, Wanted(file="log-"), trace.retrieval, trace)
    assert len(found.accounts) == 12
    assert found.more > 0
    assert found.accounts[0].number
    gates = [list(Gate).index(account.gate) if account.gate else 99 for account in found.accounts]
    assert gates == sorted(gates, reverse=True)
    assert all("/log-" in account.chunk.path for account in found.accounts)
    by_line = _why(retriever, Wanted(file=found.accounts[0].chunk.path, page=3), trace.retrieval, trace)
    assert [account.chunk.place.first <= 3 <= account.chunk.place.last for account in by_line.accounts] == [True]


def test_words_are_found_as_they_stand_else_together(retriever: Retriever, chat: OllamaChat) -> None:
    trace = _asked(retriever, chat, "Who says that nobody has time?")
    exact = _why(retriever, Wanted(phrase="“broke its main  SEAL and”"), trace.retrieval, trace)
    assert {account.chunk.path for account in exact.accounts} == {f"copies/seal-{number}.md" for number in range(4)}
    assert exact.note == ""
    loose = _why(retriever, Wanted(phrase="seal broken by the winter storm in the harbour"), trace.retrieval, trace)
    assert loose.accounts == (), "a word that none of them holds"
    loose = _why(retriever, Wanted(phrase="seal winter harbour"), trace.retrieval, trace)
    assert "all of them" in loose.note
    assert {account.chunk.path for account in loose.accounts} == {f"copies/seal-{number}.md" for number in range(4)}
    with pytest.raises(QueryError, match="Nothing is named"):
        _why(retriever, Wanted(page=3), trace.retrieval, trace)


def test_what_was_indexed_or_removed_since_is_not_blamed_on_the_search(
    library: Library, tmp_path: Path, embedder: HashEmbedder, readers: ReaderPool, chat: OllamaChat
) -> None:
    root = write_notes(tmp_path / "notes", {f"{n}.md": f"# {n}\n\nThe pump number {n} is blue.\n" for n in range(12)})
    _index(library, root, embedder, readers)
    retriever = Retriever(libraries=(library,), embedder=embedder, candidates=3)
    trace = _asked(retriever, chat, "Which colour has the gate?")
    write_notes(root, {"gate.md": "# Gate\n\nThe gate is green.\n"})
    _index(library, root, embedder, readers)
    (account,) = _why(retriever, Wanted(file="gate.md"), trace.retrieval, trace).accounts
    assert (account.gate, account.ways[0].change) == (Gate.INDEXED, "Ask again: what is indexed now is searched.")
    again = _asked(retriever, chat, "Which colour has the gate?")
    assert _why(retriever, Wanted(file="gate.md"), again.retrieval, again).accounts[0].gate is not Gate.INDEXED

    seen = {hit.chunk.path for stage in again.retrieval.stages for hit in stage.hits}
    gone = next(
        chunk
        for record in library.catalog.files()
        if record.path not in seen
        for chunk in library.catalog.chunks_of(record.id)
    )
    old = next(hit.chunk for stage in again.retrieval.stages for hit in stage.hits)
    for chunk in (gone, old):
        library.remove_file(chunk.file_id)
    library.clean_up()
    assert _account(retriever, old.id, again).gate is not Gate.INDEXED, "it was found, whatever became of it since"
    assert _why(retriever, Wanted(chunk=gone.id), again.retrieval, again).accounts == ()


def test_two_libraries_are_looked_into_as_one(
    retriever: Retriever, shelf: Shelf, tmp_path: Path, embedder: HashEmbedder, readers: ReaderPool
) -> None:
    other = shelf.create("Other")
    _index(other, write_notes(tmp_path / "more", {"x.md": "# X\n\nA zebra eats grass at 12 bar.\n"}), embedder, readers)
    both = retriever.model_copy(update={"libraries": (*retriever.libraries, other)})
    retrieval = both.search("Which pump in the cellar trips at 12 bar?")
    (account,) = _why(both, Wanted(file="x.md"), retrieval, None).accounts
    dense = next(standing for standing in account.standings if standing.step == "dense")
    vector = embedder.embed_query("Which pump in the cellar trips at 12 bar?")
    scores = [score for library in both.libraries for _, score in library.vectors.exact(vector, 1000)]
    assert dense.score is not None
    assert dense.rank == 1 + sum(score > dense.score + 1e-6 for score in scores)
