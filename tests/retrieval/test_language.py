import pytest

from rag.retrieval.language import language_of


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("What is the sampling rate of the sensor?", "en"),
        ("Wie hoch ist der Grenzwert?", "de"),
        ("Quelle est la température du four ?", "fr"),
        ("¿Cuál es la temperatura?", "es"),
        ("会議はいつですか", "ja"),
        ("会议是什么时候", "zh"),
        ("회의는 언제입니까", "ko"),
        ("ما هي العاصمة", "ar"),
        ("Когда совещание?", "ru"),
        ("BetrSichV § 7?", "en"),
        ("hi", "en"),
        ("GitHub Actionsのキャッシュとは", "ja"),
        ("What does the sign 猫 in the second picture of the report mean?", "en"),
        ("", "en"),
    ],
)
def test_language_of_a_question(text: str, code: str) -> None:
    assert language_of(text) == code
