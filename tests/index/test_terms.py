import pytest

from rag.index.terms import terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Clause 8.3.2 and A.1", ["clause", "8.3.2", "and", "a.1"]),
        ("§ 5 Abs. 2, §7", ["§", "5", "abs", "2", "§7"]),
        ("num_ctx=4096", ["num_ctx", "num", "ctx", "4096"]),
        ("ＡＢＣ１２３ Straße", ["abc123", "strasse"]),
        ("東京は", ["東京", "京は"]),
        ("猫", ["猫"]),
        ("GPU上で", ["gpu", "上で"]),
        ("2024-05-01", ["2024-05-01"]),
        ("read-only", ["read-only", "read", "only"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("", []),
    ],
)
def test_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


def test_a_clause_number_is_not_found_by_its_first_part() -> None:
    assert "8" not in terms("see 8.3.2")
