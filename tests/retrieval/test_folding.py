from dataclasses import replace

import pytest
from material import make_chunk

from rag.retrieval.folding import fold
from rag.types import Hit, Stage

NOTE = (
    "The relief valve of the boiler opens at 16 bar and is checked every May by the heating company, which then leaves "
    "a sheet with the pressure that it found and the name of whoever found it."
)


def ranking(*texts: str, **more: object) -> Stage:
    chunks = [make_chunk(text, id=f"lib.{number}.1.0", path=f"{number}.md") for number, text in enumerate(texts)]
    hits = tuple(Hit(chunk, 1 / rank, rank) for rank, chunk in enumerate(chunks, start=1))
    return Stage("fusion", "rrf", hits, 0.0)


@pytest.mark.parametrize(
    ("other", "is_copy"),
    [
        (NOTE, True),
        (NOTE.replace("whoever", "the one who"), True),
        (NOTE.upper(), True),
        (NOTE.replace("16 bar", "12 bar"), False),  # another fact, however alike
        (NOTE + " The pump runs at night, and nobody has looked at it since the caretaker left for good.", False),
        ("Roses are cut back in March.", False),
    ],
)
def test_copies_are_folded_into_the_better_passage(other: str, is_copy: bool) -> None:
    folded = fold(ranking(NOTE, "Tea is drunk at four.", other, "Bread is baked on Fridays."))
    paths = [hit.chunk.path for hit in folded.hits]
    assert paths == (["0.md", "1.md", "3.md"] if is_copy else ["0.md", "1.md", "2.md", "3.md"])
    assert [hit.rank for hit in folded.hits] == list(range(1, len(paths) + 1))
    assert [copy.path for copy in folded.hits[0].copies] == (["2.md"] if is_copy else [])
    assert folded.score_name == "rrf"
    assert ("folded into it: 1" in folded.note) == is_copy


def test_short_passages_are_copies_only_when_they_say_the_same() -> None:
    folded = fold(ranking("Yes.", "No.", "yes!", "Yes, on 4 May."))
    assert [hit.chunk.path for hit in folded.hits] == ["0.md", "1.md", "3.md"]


def test_a_number_among_characters_without_spaces_is_only_its_digits() -> None:
    said = "会議は5月12日の午後三時からです。場所は本館の二階の大きな会議室で、資料は前の日までに配られます"
    folded = fold(ranking(said, said.replace("からです", "からだ"), said.replace("12日", "13日")))
    assert [hit.chunk.path for hit in folded.hits] == ["0.md", "2.md"]


def test_a_table_of_contents_follows_what_it_lists_unless_it_is_asked_for() -> None:
    stage = ranking("8.3 Valves ..... 12", NOTE)
    contents = replace(stage.hits[0], chunk=replace(stage.hits[0].chunk, contents=True))
    folded = fold(replace(stage, hits=(contents, stage.hits[1])))
    assert [(hit.chunk.path, hit.rank) for hit in folded.hits] == [("1.md", 1), ("0.md", 2)]
    assert "put last: 1" in folded.note
    asked_for = fold(replace(stage, hits=(contents, stage.hits[1])), {contents.chunk.id})
    assert [hit.chunk.path for hit in asked_for.hits] == ["0.md", "1.md"]
