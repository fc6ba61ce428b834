from rag.types import LibrarySettings
from rag.ui import settings_box


def test_the_fields_say_one_pattern_a_line() -> None:
    typed = settings_box.typed("*.pdf\n\n/papers/\n", "  \n!keep/", 120, None, True, False, True)
    assert typed == LibrarySettings(
        include=("*.pdf", "/papers/"), exclude=("!keep/",), chunk_tokens=120, layout=True, watch=True
    )


def test_empty_fields_leave_a_thing_to_the_program() -> None:
    assert settings_box.typed("", "", None, None, False, False, False) == LibrarySettings()
