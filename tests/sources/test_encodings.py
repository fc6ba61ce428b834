from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.errors import SourceError
from rag.sources.encodings import decode
from rag.types import Remedy

SENTENCES = {
    "装置の点検が終わりました。来週までに報告書を送ってください。": (
        "cp932",
        "euc_jp",
        "iso2022_jp",
        "utf-16-le",
        "utf-16-be",
    ),
    "①試験の結果と②考察、髙橋さん。": ("cp932",),
    "设备已经检查过，运行正常。请在本周结束之前寄出报告。": ("gbk", "gb18030", "utf-16-le", "utf-16-be"),
    "會議改到星期五上午十點舉行，請寄出報告。": ("big5", "cp950", "utf-16-le"),
    "회의는 금요일 오전 열 시로 연기되었습니다.": ("cp949", "utf-16-be"),
    "Die Besprechung ist am 3. Oktober um zehn Uhr in München.": ("cp1252", "latin-1", "mac_roman", "cp850"),
    "Für die Prüfung nötig: „Straße“ – Ausweis.": ("cp1252", "mac_roman"),
    "L’appareil a été vérifié ; il fonctionne très bien.": ("cp1252", "mac_roman"),
    "El año pasado no llovió en la montaña; ¿qué pasó?": ("cp1252", "latin-1", "mac_roman"),
    "Spotkanie zostało przełożone na piątek, na godzinę dziesiątą.": ("cp1250", "iso8859-2"),
    "Zařízení bylo zkontrolováno a funguje správně.": ("cp1250",),
    "Toplantı cuma günü saat ona ertelendi; lütfen raporu gönderin.": ("cp1254",),
    "Совещание переносится на пятницу, третьего октября.": ("cp1251", "koi8-r", "cp866", "iso8859-5"),
    "Το όργανο ελέγχθηκε και λειτουργεί κανονικά.": ("cp1253", "iso8859-7"),
    "המכשיר נבדק ופועל כראוי.": ("cp1255",),
}


def test_the_truth_about_every_file(shared_data: Path):
    folder = shared_data / "encodings" / "generated"
    entries = json.loads((folder / "index.json").read_text())
    for entry in entries:
        decoded = decode((folder / entry["file"]).read_bytes())
        assert decoded.text == entry["utf8"].replace("\r\n", "\n").replace("\r", "\n"), entry["file"]
        assert not decoded.problems, entry["file"]
    assert len(entries) > 20


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("invalid_utf8.md", "characters that are not valid UTF-8, replaced: 3"),
        (
            "mixed_utf8_then_sjis.txt",
            "two encodings in one file: 5 lines from line 8 on are not UTF-8, and read as CP932",
        ),
        ("nul_bytes.txt", "NUL characters, replaced: 3"),
    ],
)
def test_what_is_doubtful_is_named(shared_data: Path, name: str, said: str):
    decoded = decode((shared_data / "encodings" / "generated" / name).read_bytes())
    assert decoded.problems == (said,)
    assert decoded.remedies == (Remedy.ENCODING,)


def test_both_halves_of_a_mixed_file_are_readable():
    first, second = "最初の行は正しく書かれている。\n", "次の行は別の文字コードである。\n"
    assert decode(first.encode() + second.encode("cp932")).text == first + second


@pytest.mark.parametrize(("text", "encoding"), [(text, name) for text, names in SENTENCES.items() for name in names])
def test_one_sentence_is_enough(text: str, encoding: str):
    assert decode(text.encode(encoding)).text == text


def test_marks_line_ends_and_nul():
    assert decode(b"\xef\xbb\xbfa\r\nb\rc\nd").text == "a\nb\nc\nd"
    for encoding in ("utf-16", "utf-32", "utf-8-sig"):
        assert decode("Grüße".encode(encoding)).text == "Grüße"
    assert decode(b"one\0two three four").text == "one\ufffdtwo three four"


def test_damaged_utf8_stays_utf8():
    decoded = decode("Zürich, Köln, Münster, Düren, Bühl, Jülich: ".encode() + b"\xff")
    assert decoded.text == "Zürich, Köln, Münster, Düren, Bühl, Jülich: \ufffd"
    assert decoded.problems == ("characters that are not valid UTF-8, replaced: 1",)


def test_a_replacement_character_in_the_file_is_no_damage():
    assert decode("before \ufffd after".encode()).problems == ()


def test_a_certain_choice_is_a_note_and_an_uncertain_one_a_problem():
    assert decode("お世話になっております。".encode("cp932")).notes == ("read as CP932",)
    doubtful = decode("Список деталей".encode("mac_cyrillic"))
    assert "cannot be told for certain" in doubtful.problems[0]
    assert doubtful.remedies == (Remedy.ENCODING,)


def test_a_person_decides():
    decoded = decode("Список деталей".encode("mac_cyrillic"), "mac_cyrillic")
    assert (decoded.text, decoded.encoding, decoded.problems) == ("Список деталей", "mac-cyrillic", ())
    assert decode("\ufeffword".encode("utf-16-le"), "utf-16-le").text == "word"


@pytest.mark.parametrize(
    ("encoding", "said"),
    [("no-such", "no text encoding named"), ("hex", "no text encoding"), ("ascii", "not in ASCII")],
)
def test_an_encoding_that_does_not_fit_is_an_error(encoding: str, said: str):
    with pytest.raises(SourceError, match=said) as caught:
        decode("Grüße".encode(), encoding)
    assert caught.value.remedy is Remedy.ENCODING


def test_bytes_that_are_not_text_are_an_error(shared_data: Path):
    data = (shared_data / "formats/broken-generated/random_bytes.pdf").read_bytes()
    with pytest.raises(SourceError, match="not text"):
        decode(data)


@given(st.text(max_size=300))
def test_utf8_text_is_kept_but_for_line_ends_and_nul(text: str):
    try:
        decoded = decode(b"\xef\xbb\xbf" + text.encode())
    except SourceError:
        return  # more control characters than a text has
    assert decoded.text == text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")


@given(st.binary(max_size=400))
def test_any_bytes_end_as_text_or_as_an_error(data: bytes):
    try:
        decoded = decode(data)
    except SourceError:
        return
    assert "\0" not in decoded.text
    assert "\r" not in decoded.text


def test_japanese_with_escapes_has_the_characters_of_windows():
    decoded = decode(b"\x1b$B-!$3$l\x1b(B is \x1b$B-j\x1b(I1\x1b(B\n\x1b$B$3\x1b(B")
    assert (decoded.text, decoded.problems) == ("①これ is ㈱ｱ\nこ", ())
    assert decoded.encoding == "iso2022_jp"
    assert "replaced: 1" in decode(b"\x1b$B-!$3$l$" + b"\x1b(B and more").problems[0]


def test_escapes_that_nobody_knows_are_a_problem():
    assert "escape sequences" in decode(b"\x1b$)A\x0e=;\x0f and some more words in ASCII").problems[0]


def test_a_few_nuls_do_not_make_utf16():
    decoded = decode(b"<p>a\0b</p>")
    assert (decoded.text, decoded.encoding) == ("<p>a\ufffdb</p>", "utf-8")
    assert decoded.problems == ("NUL characters, replaced: 1",)
