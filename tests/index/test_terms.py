import pytest

from rag.index.terms import terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Clause 8.3.2 and A.1", ["clause", "claus", "8.3.2", "and", "a.1"]),
        ("§ 5 Abs. 2, §7", ["§5", "abs", "2", "§7"]),
        ("num_ctx=4096", ["num_ctx", "num", "ctx", "4096"]),
        ("ＡＢＣ１２３ Straße", ["abc123", "strasse", "stras"]),
        ("第５条", ["第", "5", "条"]),
        ("16,000 km, 3,5 bar", ["16000", "km", "3,5", "bar"]),
        ("東京は", ["東", "京", "東京", "京は"]),
        ("猫", ["猫"]),
        ("GPU上で", ["gpu", "上", "上で"]),
        ("メール・アドレス", ["メー", "ール", "アド", "ドレ", "レス"]),
        ("서울에서", ["서울", "울에", "에서"]),
        ("ภาษา", ["ภา", "าษ", "ษา"]),
        ("2024-05-01", ["2024-05-01"]),
        ("read-only", ["read-only", "read", "only"]),
        ("naïve Größe", ["naïve", "naive", "grösse", "gross"]),
        ("والكتاب؟", ["والكتاب", "كتاب"]),
        ("हिन्दी भाषा", ["हिन्दी", "हिनदी", "भाषा"]),
        ("", []),
    ],
)
def test_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


def test_a_clause_number_is_not_found_by_its_first_part() -> None:
    assert "8" not in terms("see 8.3.2")


@pytest.mark.parametrize(
    ("one", "other"), [("valves", "valve"), ("Behälters", "Behälter"), ("الكتاب", "كتاب"), ("résumé", "resume")]
)
def test_forms_of_a_word_meet(one: str, other: str) -> None:
    assert set(terms(one)) & set(terms(other))


def test_a_word_inside_another_does_not_meet_it() -> None:
    assert not set(terms("start")) & set(terms("art"))
