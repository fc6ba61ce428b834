from collections.abc import Callable
from pathlib import Path

import pytest
from material import make_document, make_file

from rag.index.catalog import Catalog, Indexed
from rag.index.chunking.chunks import Piece
from rag.index.selection import select
from rag.types import FileState, Filters, Span, Stance

DAY = 86_400 * 10**9
Found = Callable[..., set[str]]


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    return Catalog(tmp_path / "catalog.sqlite")


@pytest.fixture
def put(catalog: Catalog) -> Callable[..., str]:
    """Stores a file of one chunk."""

    def put(
        path: str, text: str = "Some text.", section: str = "", stance: Stance = "", date: str = "", days: int = 0
    ) -> str:
        file = make_file(path, mtime_ns=DAY * days + DAY // 2)
        document = make_document(text)
        if date:
            document = type(document)(text, "Note", document.sections, "s", date=date)
        piece = Piece(Span(0, len(text)), (), None, None, 1, section=section, stance=stance)
        (id_,) = catalog.next_chunk_ids(file, 1)
        catalog.put_file(file, document, [piece], [id_], Indexed(FileState.INDEXED, "", path, "r"))
        return id_

    return put


@pytest.fixture
def found(catalog: Catalog) -> Found:
    """The paths of the files whose chunk filters let through."""

    def found(**filters: object) -> set[str]:
        selection = select(catalog, Filters(**filters))
        assert selection is not None
        ids = selection.ids()
        assert selection.count == len(ids)
        assert selection.among([*ids, "x.1.1.0"]) == set(ids)
        return {chunk.path for chunk in catalog.chunks(ids).values()}

    return found


def test_no_filter_is_no_selection(catalog: Catalog) -> None:
    assert select(catalog, Filters()) is None


def test_files_and_folders(put: Callable[..., str], found: Found) -> None:
    for path in ("Plant/Boiler.md", "plant/unit-2/boiler-2.pdf", "old/plant/notes.md", "plantation.md", "a[1].md"):
        put(path)
    assert found(files=("boiler",)) == {"Plant/Boiler.md", "plant/unit-2/boiler-2.pdf"}
    assert found(files=("*.PDF",)) == {"plant/unit-2/boiler-2.pdf"}
    assert found(files=("boiler*",)) == {"Plant/Boiler.md", "plant/unit-2/boiler-2.pdf"}
    assert found(files=("plant/*.md",)) == {"Plant/Boiler.md", "old/plant/notes.md"}
    assert found(files=("[1]", "plantation.md")) == {"a[1].md", "plantation.md"}
    assert found(folders=("plant",)) == {"Plant/Boiler.md", "plant/unit-2/boiler-2.pdf"}
    assert found(folders=("/plant/unit-2/",)) == {"plant/unit-2/boiler-2.pdf"}
    assert found(folders=("unit-2",)) == {"plant/unit-2/boiler-2.pdf"}, "a subfolder, where none lies at the top"
    assert found(folders=("plant",), files=("*.md",)) == {"Plant/Boiler.md"}
    assert found(files=("nothing",)) == set()


def test_each_folder_may_lie_at_the_top_or_deeper(put: Callable[..., str], found: Found) -> None:
    for path in ("standards/a.md", "work/2019/b.md", "work/standards/c.md"):
        put(path)
    assert found(folders=("standards", "2019")) == {"standards/a.md", "work/2019/b.md"}


def test_apostrophes_have_one_shape(put: Callable[..., str], found: Found) -> None:
    put("a.md", "The pump’s valve")
    put("b.md", "The pump's valve")
    assert found(phrases=("pump's valve",)) == found(phrases=("pump’s valve",)) == {"a.md", "b.md"}


def test_dates(put: Callable[..., str], found: Found) -> None:
    put("year.md", date="2023")
    put("month.md", date="2024-05")
    put("day.md", date="2024-05-20")
    put("file.md", days=20_000)  # 2024-10-04
    assert found(after="2024") == {"month.md", "day.md", "file.md"}
    assert found(after="2024-05-21") == {"month.md", "file.md"}
    assert found(before="2024-05") == {"year.md", "month.md", "day.md"}
    assert found(before="2024-05-19") == {"year.md", "month.md"}
    assert found(after="2023-06", before="2023-06") == {"year.md"}
    assert found(after="2024-10-03", before="2024-10-05") == {"file.md"}


def test_sections_and_stance(put: Callable[..., str], found: Found) -> None:
    for section in ("8", "8.3", "8.3.1", "8.30", "Annex A", "A.1", "§ 5", "§ 5 Abs. 2", "§ 50", ""):
        put(f"{section or 'none'}.md", section=section, stance="normative" if section.startswith("8") else "")
    assert found(sections=("8.3",)) == {"8.3.md", "8.3.1.md"}
    assert found(sections=("Annex A", "§ 5")) == {"Annex A.md", "A.1.md", "§ 5.md", "§ 5 Abs. 2.md"}
    assert found(sections=("9",)) == set()
    assert found(stance="normative", sections=("8.3", "§ 5")) == {"8.3.md", "8.3.1.md"}
    assert found(stance="informative") == set()


@pytest.mark.parametrize(
    ("phrase", "paths"),
    [
        ("relief valve", {"a.md", "b.md"}),
        ("RELIEF  VALVE", {"a.md", "b.md"}),
        ("valve", {"a.md", "b.md"}),
        ("valve relief", set()),
        ("valves", set()),
        ("lief valve", set()),
        ("ＲＥＬＩＥＦ", {"a.md", "b.md", "c.md"}),
        ("所有権", {"ja.md"}),
        ("所有", {"ja.md"}),
        ("猫", {"ja.md"}),
        ("の", {"ja.md"}),
        ("8.3.2 (a)", {"b.md"}),
        ("?!", {"b.md"}),
    ],
)
def test_phrases_stand_word_for_word(put: Callable[..., str], found: Found, phrase: str, paths: set[str]) -> None:
    put("a.md", "The Relief\n  valve opens.")
    put("b.md", "See 8.3.2 (a): the relief valve?!")
    put("c.md", "A valve for relief, and a relief of valve-like shape.") if phrase != "valve" else None
    put("ja.md", "所有権とは猫の話")
    assert found(phrases=(phrase,)) == paths
    everything = found(files=("*",))
    assert found(without=(phrase,)) == everything - paths
    assert found(phrases=(phrase,), without=("opens",)) == paths - {"a.md"}


def test_what_was_typed_is_no_search_syntax(put: Callable[..., str], found: Found) -> None:
    put("a.md", "harmless")
    for typed in ('" OR harmless', "harmless*", "%", "NEAR(harmless", "'"):
        assert found(phrases=(typed,)) == set()
        assert found(files=(typed,)) == set()
        assert found(without=(typed,)) == {"a.md"}
