from rag.answering.remarks import held_to
from rag.types import Filters


def test_each_kind_of_filter_is_one_phrase() -> None:
    assert held_to(Filters()) == ()
    filters = Filters(("heron", "b.md"), ("sub",), "2024", "2025-05", ("8.3", "A.1"), "informative", ("a b",), ("c",))
    assert held_to(filters) == (
        "file heron or b.md", "folder sub", "after 2024", "before 2025-05", "section 8.3 or A.1", "informative only",
        "“a b”", "without c",
    )  # fmt: skip
