import gradio as gr

from rag.engine import Engine
from rag.types import Filters, LibrarySettings, SearchOptions
from rag.ui import search_box, texts


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


def test_switches_name_the_librarys_settings_and_what_is_missing(engine: Engine) -> None:
    with gr.Blocks():
        box = search_box.search_box()
    updates = search_box.switches(box, engine, LibrarySettings(hyde=True))
    assert (texts.AS_LIBRARY_ON, "as set") in updates[box.hyde]["choices"]
    assert updates[box.hyde]["visible"] is False
    assert (texts.AS_LIBRARY_OFF, "as set") in updates[box.rerank]["choices"]
    assert texts.NO_MODEL_WRITES in updates[box.missing]
