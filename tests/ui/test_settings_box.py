from rag.types import LibrarySettings
from rag.ui import settings_box


def test_the_fields_say_one_pattern_a_line() -> None:
    typed = settings_box.typed(
        "*.pdf\n\n/papers/\n", "  \n!keep/", "words", 120, None, 40, True, False, True, True, False
    )
    assert typed == LibrarySettings(
        include=("*.pdf", "/papers/"), exclude=("!keep/",), chunk_tokens=120, layout=True, watch=True,
        chunk_profile="words", chunk_minimum=40, hyde=True,
    )  # fmt: skip


def test_empty_fields_leave_a_thing_to_the_program() -> None:
    assert settings_box.typed("", "", "", None, None, None, False, False, False, False, False) == LibrarySettings()
