import pytest

from rag.answering.numbers import missing_numbers


@pytest.mark.parametrize(
    ("sentence", "passage", "missing"),
    [
        ("It opens at 16 bar.", "opens at 16 bar", ()),
        ("It opens at 18 bar.", "opens at 16 bar", ("18 bar",)),
        ("It is 16 mm wide.", "It is 16 cm wide.", ("16 mm",)),
        ("It is 16 wide.", "It is 16 cm wide.", ()),
        ("It is 10mm.", "It is 10 mm.", ()),
        ("１２３個です", "123個あります", ()),
        ("In total 1,234.5 kg.", "Gesamt 1.234,5 kg", ()),
        ("About 1,234 people.", "1234 people", ()),
        ("On 2024-05-01 at 14:30.", "2024-05-01, 14:31", ("14:30",)),
        ("Clause 8.3.2 applies.", "8.3.1 and 8.3.3", ("8.3.2",)),
        ("It costs 3,5 €.", "3.5 €", ()),
        ("At 40 °C.", "at 40 °C, up to 60 °C", ()),
        ("It was -5 °C.", "It was 5 °C.", ("-5 °C",)),
        ("Rule HS-014 of 2025.", "HS-014, 2025", ()),
        ("Version x86 of B2B.", "nothing", ()),
    ],
)
def test_missing_numbers(sentence: str, passage: str, missing: tuple[str, ...]) -> None:
    assert missing_numbers(sentence, passage) == missing
