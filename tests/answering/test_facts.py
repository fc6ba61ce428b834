import pytest

from rag.answering.facts import Held, Speech, read
from rag.types import Span


def lacking(sentence: str, passage: str, language: str = "") -> list[tuple[str, str]]:
    speech = Speech(language) if language else Speech.of(sentence)
    flags = Held([passage]).lacking(sentence, speech)
    return [(flag.kind, sentence[flag.span.start : flag.span.end]) for flag in flags]


@pytest.mark.parametrize(
    ("sentence", "passage", "missing"),
    [
        ("It opens at 16 bar.", "opens at 16 bar", []),
        ("It opens at 18 bar.", "opens at 16 bar", [("number", "18 bar")]),
        ("It is 16 mm wide.", "It is 16 cm wide.", [("unit", "16 mm")]),
        ("It is 16 psi.", "It is 16 bar.", [("unit", "16 psi")]),
        ("It is 16 wide.", "It is 16 cm wide.", []),
        ("It is 1 cm.", "It is 10 mm.", []),
        ("It is 10mm.", "It is 10 mm.", []),
        ("It takes two hours, or 2 h.", "It takes 120 minutes.", []),
        ("At 75.2 °F.", "at 24 °C", []),
        ("At 24 degrees.", "at 24 °C", []),
        ("圧力は１２３ barです", "123 bar", []),
        ("In total 1,234.5 kg.", "Gesamt 1.234,5 kg", []),
        ("About 1,234 people.", "1234 people", []),
        ("On 2024-05-01 at 14:30.", "2024-05-01, 14:31", [("date", "14:30")]),
        ("Clause 8.3.2 applies.", "8.3.1 and 8.3.3", [("number", "8.3.2")]),
        ("Clause 8.3.2 applies.", "8.3.2 says so", []),
        ("It costs 3,5 €.", "3.5 €", []),
        ("It was -5 °C.", "It was 5 °C.", [("number", "-5 °C")]),
        ("Rule HS-014 of 2025.", "HS-014, 2025", []),
        ("Rule HS-015 of 2025.", "HS-014, 2025", [("name", "HS-015")]),
        ("There are three stations.", "There are 3 stations.", []),
        ("There are four stations.", "There are 3 stations.", [("number", "four")]),
        ("Es gibt drei Stationen.", "There are three stations.", []),
        ("The **16** bar valve of `T2`.", "T2 opens at 16 bar", []),
        ("The area is 3 m².", "3 square metres", []),
        ("It holds 6½ litres.", "6.5 l", []),
        ("In 1998 it ran 1500 m.", "in 1998: 1.5 km", []),
        ("Hanae set it up.", "Hanae did so.", []),
        ("It was set up by Tomasz.", "It was set up by Hanae.", [("name", "Tomasz")]),
        ("It was set up by Hanae's team.", "Hanae set it up.", []),
        ("It is German work.", "It was made in Germany.", []),
        ("NIST says so.", "National Institute of Standards and Technology", []),
        ("NASA says so.", "National Institute of Standards and Technology", [("name", "NASA")]),
        ("Sie wurde von Tomasz eingebaut.", "Sie wurde von Hanae eingebaut.", [("name", "Tomasz")]),
        ("Herr Weber prüft die Pumpe.", "Herr Vogel prüft die Pumpe.", [("name", "Weber")]),
        ("Die Pumpe und der Motor laufen.", "Sie laufen.", []),
        ("佐藤さんが交換した。", "田中さんが交換した。", [("name", "佐藤")]),
        ("田中が交換した。", "田中さんが交換した。", []),
        ("マリー・キュリーの発見だ。", "マリーキュリーが発見した。", []),
        ("Hanae交換した。", "田中さんが交換した。", []),
        ("The sign says “keep out”.", "Keep  out!", []),
        ("The sign says “keep off”.", "Keep out!", [("quote", "keep off")]),
        ("The sign says “opens at 18 bar”.", "It opens at 16 bar.", [("number", "18 bar")]),
        ("「禁煙」と書いてある。", "「喫煙」と書いてあります。", [("quote", "禁煙")]),
    ],
)  # fmt: skip
def test_what_a_passage_lacks(sentence: str, passage: str, missing: list[tuple[str, str]]) -> None:
    assert lacking(sentence, passage) == missing


def test_names_and_quotations_are_compared_within_one_language_only() -> None:
    passage = "The station was built in the United States with 3 pumps, and the sign says “keep out” of the T2."
    said = "Die Station steht in den Vereinigten Staaten mit 4 Pumpen, auf dem Schild von T6 steht „draußen bleiben“."
    assert lacking(said, passage) == [("number", "4"), ("name", "T6")]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Der Motor hat 4 kW.", "de"),
        ("The motor has 4 kW.", "en"),
        ("Die Pumpe läuft mit 16 bar.", "de"),
        ("出力は4 kWです。", "ja"),
    ],
)
def test_the_language_of_one_sentence(text: str, language: str) -> None:
    assert Speech.of(text) == Speech(language)


def test_reading_keeps_where_characters_come_from() -> None:
    normal = read("Es hat **１６** ㎜, 10² und ½ ｶﾞ.")
    assert normal.text == "Es hat 16 mm, 10^2 und 0.5 ガ."
    start = normal.text.index("16 mm")
    span = normal.source(Span(start, start + 5))
    assert "Es hat **１６** ㎜, 10² und ½ ｶﾞ."[span.start : span.end] == "１６** ㎜"


def test_several_passages_confirm_together() -> None:
    held = Held(["The pump was installed on 4 March.", "All of this was in 2019, at 16 bar."])
    assert held.lacking("On 4 March 2019 it ran at 16 bar.", Speech("en")) == []
