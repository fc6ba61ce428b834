from tests.bench.audit import KINDS, PRECISION, RECALL, flags, measure, precision, recall, written


def test_numbers_that_are_wrong_are_found_and_right_ones_left_alone() -> None:
    answers = written()
    assert len(answers) == 100
    assert [one.answer for one in answers if flags(one, one.answer)] == []
    counts = measure(answers, seed=0)
    for kind in KINDS:
        together = sum((counts[kind, language] for language in ("en", "de", "ja")), start=type(counts[kind, "en"])())
        assert precision(together) >= PRECISION
        assert recall(together) >= (RECALL if kind != "name" else 0.9)
