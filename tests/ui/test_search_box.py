from rag.types import Filters, SearchOptions
from rag.ui import search_box


def test_empty_fields_search_everything_as_the_library_says() -> None:
    assert search_box.typed(" ", "", "", "", "", "", "", "all", "as set", "as set") == SearchOptions()


def test_commas_tell_several_apart_but_not_in_a_phrase() -> None:
    typed = search_box.typed(
        "heron, *.pdf,", " standards ", "8.3,Annex C", " 2024 ", "2025-05", ' "one, two" ', "draft", "normative",
        "on", "off",
    )  # fmt: skip
    filters = Filters(
        ("heron", "*.pdf"), ("standards",), "2024", "2025-05", ("8.3", "Annex C"), "normative", ("one, two",),
        ("draft",),
    )  # fmt: skip
    assert typed == SearchOptions(filters, hyde=True, rerank=False)
