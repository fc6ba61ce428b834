from pathlib import Path

import pytest
from fakes.ollama_server import OllamaStandIn
from material import write_notes

from rag.errors import LibraryEmpty, QueryError
from rag.index.chunking.chunks import ChunkProfile
from rag.index.library import Library, Shelf
from rag.index.plan import make_plan
from rag.index.sync import apply_plan
from rag.models.bundled import BundledEmbedder
from rag.models.ollama import OllamaChat
from rag.models.reranker import Reranker
from rag.retrieval.retriever import Retriever
from rag.settings import Settings
from rag.sources.workers import ReaderPool
from rag.types import Filters, SearchOptions, Verdict

NOTES = {
    "boiler.md": "# Boiler\n\nThe relief valve of the boiler opens at 16 bar.",
    "garden.md": "# Garden\n\nThe roses are cut back in March, before the first shoots.",
    "travel.md": "# Travel\n\nThe night train to Vienna leaves at 21:40 from platform 7.",
    "ja.md": "# 会議\n\n次の会議は五月十二日の午後三時からです。",
}


@pytest.fixture
def retriever(library: Library, tmp_path: Path, embedder: BundledEmbedder, readers: ReaderPool) -> Retriever:
    root = write_notes(tmp_path / "notes", NOTES)
    profile = ChunkProfile(100, 20)
    list(apply_plan(library, make_plan(library, root, profile), embedder, readers, profile))
    return Retriever(libraries=(library,), embedder=embedder, candidates=10)


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("At how many bar does the relief valve open?", "boiler.md"),
        ("Wann werden die Rosen geschnitten?", "garden.md"),
        ("次の会議はいつですか？", "ja.md"),
        ("ウィーン行きの夜行列車は何時に出ますか？", "travel.md"),
    ],
)
def test_the_right_note_comes_first_in_any_language(retriever: Retriever, question: str, path: str) -> None:
    assert retriever.search(question).hits[0].chunk.path == path


def test_every_stage_is_on_record(retriever: Retriever) -> None:
    retrieval = retriever.search("relief valve")
    assert [(stage.name, stage.score_name) for stage in retrieval.stages] == [
        ("dense", "cosine"), ("lexical", "bm25"), ("fusion", "rrf"), ("fold", "rrf"), ("follow", ""),
    ]  # fmt: skip
    best = retrieval.hits[0].chunk.id
    assert set(retrieval.scores(best)) == {"cosine", "bm25", "rrf"}
    assert retrieval.ranks(best) == {"dense": 1, "lexical": 1, "fusion": 1, "fold": 1}
    assert set(retrieval.seconds) == {"embed", "dense", "lexical", "fusion", "fold", "follow"}
    assert -1 <= retrieval.scores(best)["cosine"] <= 1


def test_a_follow_up_is_searched_as_it_was_meant_and_as_it_was_typed(retriever: Retriever) -> None:
    retrieval = retriever.search("And the roses?", "When are the roses of the garden cut?", "rewritten")
    assert retrieval.queries == ("When are the roses of the garden cut?", "And the roses?")
    stages = {stage.name: stage for stage in retrieval.stages}
    assert 0 < stages["dense: as typed"].weight < stages["dense"].weight
    assert retrieval.hits[0].chunk.path == "garden.md"
    best = retrieval.hits[0].chunk.id
    assert retrieval.scores(best)["cosine"] == stages["dense"].hits[0].score


def test_filters_hold_in_every_leg(retriever: Retriever) -> None:
    typed = retriever.search("When does it open or leave? file:travel")
    chosen = retriever.search("When does it open or leave?", options=SearchOptions(Filters(files=("travel",))))
    for retrieval in (typed, chosen):
        assert retrieval.filters.files == ("travel",)
        assert retrieval.queries == ("When does it open or leave?",)
        assert {hit.chunk.path for stage in retrieval.stages for hit in stage.hits} == {"travel.md"}
    nothing = retriever.search("valve file:nowhere")
    assert nothing.hits == ()
    assert nothing.evidence.verdict is Verdict.NONE
    assert "filters" in nothing.evidence.reason
    with pytest.raises(QueryError, match="only filters"):
        retriever.search("file:travel")


def test_a_phrase_is_exact_where_a_passage_holds_it(retriever: Retriever) -> None:
    exact = retriever.search('What is said of the "first shoots"?')
    assert {hit.chunk.path for hit in exact.hits} == {"garden.md"}
    assert exact.filters.phrases == ("first shoots",)
    quoted = retriever.search('When does the "steam valve" open?')
    assert quoted.filters.phrases == ()
    assert quoted.loosened == ("steam valve",)
    assert quoted.hits[0].chunk.path == "boiler.md"
    for nothing in (
        retriever.search("valve", options=SearchOptions(Filters(phrases=("steam valve",)))),
        retriever.search('the "relief valve" file:nowhere'),  # not the phrase's fault
    ):
        assert nothing.hits == ()
        assert nothing.loosened == ()


def test_a_made_up_passage_is_searched_beside_the_question(
    retriever: Retriever, settings: Settings, ollama: OllamaStandIn
) -> None:
    ollama.reply = ["Roses are pruned each year in early spring, before they sprout."]
    writer = OllamaChat(settings.model_copy(update={"ollama_url": ollama.url}), "qwen3:8b")
    retrieval = retriever.model_copy(update={"writer": writer}).search("What has to be done outside in March?")
    assert retrieval.hypothetical == ollama.reply[0]
    stages = {stage.name: stage for stage in retrieval.stages}
    assert stages["dense: hypothetical"].hits[0].chunk.path == "garden.md"
    assert 0 < stages["dense: hypothetical"].weight < 1
    assert retrieval.seconds["hypothetical"] > 0


class Contrary(Reranker):
    """Likes best what was found last."""

    name, device = "contrary", "cpu"

    def __init__(self) -> None:
        self.seen = 0

    def scores(self, query: str, texts: list[str]) -> list[float]:
        return [float(at) for at in range(len(texts))]

    def reads_whole(self, query: str, text: str) -> bool:
        return True


def test_a_reranker_sorts_what_was_found_but_no_section_that_was_asked_for(
    retriever: Retriever, tmp_path: Path, embedder: BundledEmbedder, readers: ReaderPool
) -> None:
    contrary = retriever.model_copy(update={"reranker": Contrary()})
    fused = retriever.search("When does the valve open?").hits
    assert [hit.chunk.id for hit in contrary.search("When does the valve open?").hits] == [
        hit.chunk.id for hit in reversed(fused)
    ]
    (library,) = retriever.libraries
    clauses = "# 3 Valves\n\nA valve is checked every year.\n\n# 4 Pumps\n\nA pump is checked every day.\n"
    profile = ChunkProfile(100, 20)
    root = write_notes(tmp_path / "notes", {"rules.md": clauses})
    list(apply_plan(library, make_plan(library, root, profile), embedder, readers, profile))
    assert contrary.search("What does section 4 say?").hits[0].chunk.section == "4"


def test_copies_are_listed_with_the_best(
    retriever: Retriever, tmp_path: Path, embedder: BundledEmbedder, readers: ReaderPool
) -> None:
    (library,) = retriever.libraries
    root = write_notes(tmp_path / "notes", {"old/boiler.md": NOTES["boiler.md"] + "\n"})  # other bytes, the same words
    profile = ChunkProfile(100, 20)
    list(apply_plan(library, make_plan(library, root, profile), embedder, readers, profile))
    best = retriever.search("At how many bar does the relief valve open?").hits[0]
    assert {best.chunk.path, *(copy.path for copy in best.copies)} == {"boiler.md", "old/boiler.md"}


def test_as_a_langchain_retriever_it_hands_out_documents_with_their_place(retriever: Retriever) -> None:
    document = retriever.invoke("relief valve")[0]
    assert document.metadata["path"] == "boiler.md"
    assert document.metadata["heading"] == "Boiler"
    text = NOTES["boiler.md"]
    assert text[document.metadata["start"] : document.metadata["end"]] == document.page_content


def test_an_empty_library_says_what_to_do(library: Library, embedder: BundledEmbedder) -> None:
    with pytest.raises(LibraryEmpty, match="Index a folder"):
        Retriever(libraries=(library,), embedder=embedder).search("anything")


def test_two_libraries_are_searched_as_one(
    retriever: Retriever, shelf: Shelf, tmp_path: Path, embedder: BundledEmbedder, readers: ReaderPool
) -> None:
    root = write_notes(tmp_path / "more", {"bike.md": "# Bike\n\nThe chain of the bicycle is oiled every 300 km."})
    profile = ChunkProfile(100, 20)
    other = shelf.create("Other")
    list(apply_plan(other, make_plan(other, root, profile), embedder, readers, profile))
    both = Retriever(libraries=(*retriever.libraries, other, shelf.create("Empty")), embedder=embedder, candidates=10)
    for question, path in (("How often is the chain oiled?", "bike.md"), ("When does the valve open?", "boiler.md")):
        found = both.search(question)
        assert found.hits[0].chunk.path == path
        assert found.hits[0].chunk.library == ("Other" if path == "bike.md" else retriever.libraries[0].name)
        assert [hit.rank for hit in found.stages[0].hits] == list(range(1, 6))
        cosines = [hit.score for hit in found.stages[0].hits]
        assert cosines == sorted(cosines, reverse=True)
