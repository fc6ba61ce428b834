from __future__ import annotations

import struct
from collections.abc import Callable
from email.message import EmailMessage
from email.policy import SMTP
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from office_files import docx, paragraph, sheet_rows, xlsx

from rag.errors import SourceError
from rag.sources.office.ole import opened
from rag.sources.web.mail import _date, _unpacked, read_eml, read_mhtml, read_msg
from rag.types import DEFAULT_READING, Mark, ReadOptions, Remedy, SourceDocument

Check = Callable[[SourceDocument], None]


def mail(text: str = "Hello Bob,\nhere it is.", subject: str = "The figures", **attachments: bytes) -> EmailMessage:
    message = EmailMessage(policy=SMTP)
    message["From"], message["To"], message["Subject"] = "Ann <ann@example.com>", "bob@example.com", subject
    message["Date"] = "Mon, 2 Mar 2026 10:00:00 +0100"
    message.set_content(text)
    for name, data in attachments.items():
        name = name.replace("_", ".")
        message.add_attachment(data, maintype="application", subtype="octet-stream", filename=name)
    return message


def paths(document: SourceDocument) -> list[tuple[str, ...]]:
    return [section.heading_path for section in document.sections]


def test_head_text_and_readable_attachments(check_document: Check):
    word = docx(paragraph("Scope", '<w:outlineLvl w:val="0"/>') + paragraph("from Word"))
    message = mail(
        report_docx=word, sheet_xlsx=xlsx({"S": sheet_rows({7: {"A": "x", "B": "y"}})}), note_txt=b"and a note"
    )
    document = read_eml(bytes(message), "file")
    check_document(document)
    assert (document.title, document.date) == ("The figures", "2026-03-02")
    assert document.text.startswith(
        "Message\n\nFrom: Ann <ann@example.com>\nTo: bob@example.com\nDate: Mon, 02 Mar 2026 10:00:00 +0100\n"
        "Subject: The figures\n\nHello Bob,\nhere it is."
    )
    assert paths(document) == [
        ("Message",),
        ("Attachment report.docx",),
        ("Attachment report.docx", "Scope"),
        ("Attachment sheet.xlsx",),
        ("Attachment sheet.xlsx", "S"),
        ("Attachment note.txt",),
    ]
    row = document.text.index("| x | y |")
    assert Mark(row, "row", 7) in document.marks
    assert document.problems == ()


def test_an_attachment_that_cannot_be_read_is_named_and_a_picture_is_only_noted():
    document = read_eml(
        bytes(mail(broken_docx=b"PK\x03\x04rubbish", photo_png=b"\x89PNG\r\n\x1a\n", key_asc=b"x")), "file"
    )
    assert document.problems == (
        "attachment broken.docx: The file is cut short or damaged: its list of parts is missing",
    )
    assert document.notes == (
        "attachment photo.png: not read, a picture",
        "attachment key.asc: not read, not a document",
    )


def test_pages_of_an_attached_pdf_are_headings(shared_data: Path, check_document: Check):
    pdf = (shared_data / "formats/broken-generated/pdf_no_eof.pdf").read_bytes()
    document = read_eml(bytes(mail(report_pdf=pdf)), "file")
    check_document(document)
    inside = [path for path in paths(document) if path[0] == "Attachment report.pdf"]
    assert {path[-1] for path in inside[1:]} == {"page 1", "page 2", "page 3"}
    assert document.pages == ()


def test_the_web_page_is_read_where_there_is_no_plain_text():
    message = EmailMessage(policy=SMTP)
    message["From"], message["Subject"] = "a@example.com", "=?iso-2022-jp?B?GyRCMnE1RBsoQg==?="
    message.set_content(
        "<html><head><style>p{}</style></head><body><h1>Big</h1><p>caf\u00e9</p></body></html>", subtype="html"
    )
    document = read_eml(bytes(message), "file")
    assert document.title == "会議"
    assert document.text.endswith("Big\n\ncafé")
    assert paths(document) == [("Message",)]


def test_the_plain_text_is_taken_once_where_both_are_sent():
    message = mail("plain words")
    message.add_alternative("<p>styled words</p>", subtype="html")
    assert "styled" not in read_eml(bytes(message), "file").text


def test_texts_that_do_not_repeat_each_other_are_all_read_in_order():
    message = mail("first")
    message.make_mixed()
    for text, kind in [("<p>styled words</p>", "html"), ("the list's footer", "plain")]:
        part = EmailMessage(policy=SMTP)
        part.set_content(text, subtype=kind)
        message.attach(part)
    assert read_eml(bytes(message), "file").text.endswith("first\n\nstyled words\n\nthe list's footer")


@pytest.mark.parametrize(
    ("charset", "data", "words"),
    [
        ("koi8-r", "да".encode("koi8-r"), "да"),
        ("iso-8859-1", b"\x93quoted\x94", "\u201cquoted\u201d"),
        ("iso-8859-1", "Grüße".encode(), "Grüße"),  # names the wrong one
    ],
)
def test_the_encoding_that_a_mail_names_is_believed_before_a_guess(charset: str, data: bytes, words: str):
    head = f"From: a@example.com\r\nContent-Type: text/plain; charset={charset}\r\n\r\n"
    document = read_eml(head.encode() + data, "file")
    assert document.text.endswith(f"\n\n{words}")
    assert document.problems == ()


def test_a_doubtful_encoding_is_a_problem():
    document = read_eml(b"From: a@example.com\r\n\r\n\xe3\xe5", "file")
    assert "cannot be told for certain" in document.problems[0]
    assert document.remedies == (Remedy.ENCODING,)


def test_the_encoding_that_a_person_names_is_that_of_the_mail_only():
    data = b"From: a@example.com\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\n" + "да".encode(
        "koi8-r"
    )
    data += b"\r\n--b\r\nContent-Disposition: attachment; filename=note.txt\r\n\r\n" + "Grüße".encode() + b"\r\n--b--"
    text = read_eml(data, "file", ReadOptions(encoding="koi8-r")).text
    assert "да" in text
    assert "Grüße" in text


def test_a_malformed_mail_within_a_mail_does_not_cost_the_rest():
    data = (
        "From: a@example.com\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nouter words\r\n--b\r\n"
        "Content-Type: message/rfc822\r\n\r\nSubject: \ud83d inner\r\nTo: <\r\nDate: ,\r\n\r\ninner words\r\n--b--"
    )
    document = read_eml(data.encode("utf-8", "surrogatepass"), "file")
    assert "outer words" in document.text
    assert "inner words" in document.text


def test_a_line_break_in_an_attachments_name_is_a_blank():
    data = bytes(mail(note_txt=b"words")).replace(b'filename="note.txt"', b"filename*=utf-8''my%0Anote.txt")
    assert paths(read_eml(data, "file"))[-1] == ("Attachment my note.txt",)


def test_a_time_after_the_last_year_is_no_time():
    def date(value: int) -> str:
        properties = bytes(32) + struct.pack("<IIQ", 0x00390040, 0, value)
        file: Any = SimpleNamespace(read=lambda _: properties)
        return _date(file, "")

    assert date(2**62 - 1) == ""
    assert date(2_650_467_743_980_000_000).endswith("9999 23:59 UTC")
    assert date(134_168_616_000_000_000).endswith("UTC")


@pytest.mark.parametrize("charset", ["shift_jis", "utf-8", "x-unknown", "us-ascii"])
def test_encodings_of_the_text(charset: str):
    codec = "utf-8" if charset == "x-unknown" else "shift_jis" if charset == "us-ascii" else charset
    words = "議事録を送ります。来週の会議までに確認してください。"
    data = (
        b"From: a@example.com\r\nContent-Type: text/plain; charset="
        + charset.encode()
        + b"\r\n\r\n"
        + words.encode(codec)
    )
    assert words in read_eml(data, "file").text


def test_mails_in_mails_are_read_down_to_a_depth():
    inner = bytes(mail("the innermost words", "0"))
    for number in range(1, 4):
        inner = bytes(mail("outer", str(number), forwarded_eml=inner))
    document = read_eml(inner, "file")
    assert "the innermost words" in document.text
    assert paths(document)[-1] == (*["Attachment forwarded.eml"] * 3, "Message")
    for number in range(4, 12):
        inner = bytes(mail("outer", str(number), forwarded_eml=inner))
    document = read_eml(inner, "file")
    assert "files deep inside of others, and was not read" in document.problems[0]


def test_parts_in_parts_without_end_stop():
    head = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n" % (at, at) for at in range(100))
    data = b"From: a@example.com\r\nMIME-Version: 1.0\r\n" + head + b"Content-Type: text/plain\r\n\r\nneedle"
    assert read_eml(data, "file").text.endswith("needle")


def test_an_outlook_mail(shared_data: Path, check_document: Check):
    data = (shared_data / "formats/markitdown/test_outlook_msg.msg").read_bytes()
    document = read_msg(data, "file")
    check_document(document)
    assert document.title == "Test Email Message"
    assert "From: " in document.text
    assert "To: " in document.text
    assert document.text.endswith("This is the body of the test email message")
    with opened(data) as file:
        assert _unpacked(file.read("__substg1.0_10090102")).startswith(b"{\\rtf1")


def test_compressed_rich_text_repeats_what_stands_in_its_window():
    packed = bytes.fromhex(
        "2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af32068656c090020627705b06c647d0a800fa0"
    )
    assert _unpacked(packed) == b"{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n"
    assert _unpacked(packed[:30]).startswith(b"{\\rtf1")


def test_a_saved_web_page():
    data = (
        b"MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=b\r\n\r\n--b\r\nContent-Type: text/html; charset=utf-8\r\n"
        b"Content-Transfer-Encoding: quoted-printable\r\n\r\n<title>Saved</title><h1>Head</h1><p>caf=C3=A9</p>\r\n--b--"
    )
    document = read_mhtml(data, "file")
    assert (document.title, document.text) == ("Saved", "Head\n\ncafé")


def test_a_saved_web_page_that_names_the_wrong_encoding():
    head = b"MIME-Version: 1.0\r\nContent-Type: text/html; charset=utf-16\r\n\r\n"
    assert read_mhtml(head + b"<p>plain words</p>", "file").text == "plain words"
    assert "words" in read_mhtml(head + "<p>andere Wörter, words</p>".encode("cp1252"), "file").text


@pytest.mark.parametrize("reader", [read_eml, read_msg, read_mhtml])
def test_what_is_no_mail_says_so(reader: Callable[[bytes, str, ReadOptions], SourceDocument]):
    with pytest.raises(SourceError):
        reader(b"just some words\n", "file", DEFAULT_READING)
