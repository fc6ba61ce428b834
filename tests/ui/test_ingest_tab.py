import pytest

from rag.errors import SourceError
from rag.ui import texts
from rag.ui.ingest_tab import _folder


@pytest.mark.parametrize("typed", ["~nosuchuser/notes", "a\0b", "x" * 300, " /notes "])
def test_a_typed_path_is_left_for_the_engine_to_judge(typed: str) -> None:
    assert str(_folder(typed)) == typed.strip()


def test_no_path_at_all() -> None:
    with pytest.raises(SourceError, match=texts.FOLDER_EMPTY):
        _folder("  ")
