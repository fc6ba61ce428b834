from rag.answering.taken import Taken
from rag.types import Span


def test_stretches_meet_where_they_share_a_character() -> None:
    taken = Taken(10)
    taken.add(Span(2, 5))
    assert taken.meets(Span(4, 6))
    assert taken.meets(Span(0, 10))
    assert not taken.meets(Span(5, 10))
    assert not taken.meets(Span(0, 2))
