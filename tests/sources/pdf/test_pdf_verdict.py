from __future__ import annotations

from pathlib import Path

import pytest

from rag.sources.pdf.verdict import is_garbled, is_unreadable_line

ENGLISH = (
    "The sensors are read every ten minutes, and the values are kept for a year on the server in the pump house. " * 3
)


def shifted(text: str, by: int) -> str:
    return "".join(chr(ord(c) + by) if c != " " else c for c in text)


@pytest.mark.parametrize(
    "text",
    [
        "\ue001\ue002\ue003 \ue004\ue005 and \ue006\ue007",
        "\N{REPLACEMENT CHARACTER}" * 10 + " sensors",
        shifted(ENGLISH, -29),
        shifted(ENGLISH, 3),
        "".join(chr(0x400 + 7 * n % 50) + "aβ" + chr(0x10A0 + n % 20) for n in range(80)),
        "! \" # $ % & ' ( ) * + , - . / : ; < = > ? @ [ ] ^ _ { | } ~ " * 4,
    ],
    ids=["private use", "replaced", "moved down", "moved up", "scripts mixed", "signs"],
)
def test_garbled(text: str):
    assert is_garbled(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        ENGLISH,
        "わたくしといふ現象は仮定された有機交流電燈のひとつの青い照明です。PDFとHTMLのファイルを読む。" * 5,
        "Příliš žluťoučký kůň úpěl ďábelské ódy. Strč prst skrz krk. Vlk zmrzl, zhltl hrst zrn. " * 4,
        "Съешь же ещё этих мягких французских булок, да выпей чаю с GPU и CPU. " * 5,
        "| 2,100 | 150 | 300 | 1.5 % | 10.20% | 278.46 |\n| --- | --- |\n" * 8,
        "1 Introduction . . . . . . . . . . . . . . . . . . . . . . . . . . . . . . 1\n" * 20,
        "HTTP TLS XML JSON PDF DNS TCP UDP SSH NTP",
        "∀x∈ℝ: x² ≥ 0, so α + β ≤ γ and ∂f/∂x = 0 " * 8,
        "مرحبا بالعالم هذا نص عربي طويل بما يكفي للاختبار " * 6,
        "สวัสดีชาวโลก นี่คือข้อความภาษาไทยที่ยาวพอสำหรับการทดสอบ " * 6,
        "नमस्ते दुनिया यह परीक्षण के लिए पर्याप्त लंबा हिंदी पाठ है " * 6,
        "안녕하세요 세계 이것은 시험을 위한 충분히 긴 한국어 문장입니다 " * 6,
    ],
)
def test_not_garbled(text: str):
    assert not is_garbled(text)


def test_real_text_in_many_languages_is_not_garbled(shared_data: Path):
    for path in sorted((shared_data / "notes").rglob("*.md"))[::7]:
        text = path.read_text(encoding="utf-8")
        for start in range(0, len(text), 2500):
            assert not is_garbled(text[start : start + 2500]), (path, start)


def test_lines_of_unknown_signs():
    assert is_unreadable_line("\ue0a1\ue0b2 = \ue0c3\ue0d4")
    assert not is_unreadable_line("\uf0b7 a point of a list")
    assert not is_unreadable_line("")
