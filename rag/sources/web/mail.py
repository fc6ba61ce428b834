"""Mails (eml, msg) with their attachments, and web archives (mhtml)."""

from __future__ import annotations

import email
import email.policy
import hashlib
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email.message import Message
from pathlib import Path

from rag.errors import SourceError
from rag.sources.dates import plain_date
from rag.sources.draft import Draft
from rag.sources.encodings import decode
from rag.sources.markup import parse_html
from rag.sources.office import ole
from rag.sources.office.rtf import read_rtf
from rag.sources.web.html import decode_declared, decode_html, read_html, write_html
from rag.types import DEFAULT_READING, ReadOptions, Remedy, SourceDocument

_MOST_ATTACHMENTS = 200
_SHOWN_HEADERS = ("From", "To", "Cc", "Date", "Subject")
_SIGNATURES = (".p7s", ".p7m", ".asc", ".sig", ".pgp", ".ics", ".vcf")
_FAULTS = (ValueError, LookupError, AttributeError, TypeError, NameError)  # the mail parser's own, on malformed headers
_LAST_TIME = 2_650_467_743_990_000_000  # the end of the year 9999 in steps of 100 ns since 1601
_COMPRESSED_RTF = b"LZFu"
_DICTIONARY = (
    b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor "
    b"MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par "
    b"\\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx"
)


@dataclass(slots=True)
class _Attachment:
    name: str
    content: bytes | _Mail


@dataclass(slots=True)
class _Mail:
    """What both mail formats come down to."""

    headers: dict[str, str]
    texts: list[str] = field(default_factory=list)  # in order
    pages: list[Draft] = field(default_factory=list)  # those texts that are web pages
    attachments: list[_Attachment] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    remedies: list[Remedy] = field(default_factory=list)

    def add(self, data: bytes, charset: str, is_html: bool, options: ReadOptions) -> None:
        """Adds a part of the text, by the encoding that a person or the mail names, or else by what fits."""
        if not data.strip():
            return
        for encoding in dict.fromkeys((options.encoding, "")):
            try:
                if is_html:
                    decoded = decode_html(data, encoding, charset)
                else:
                    decoded = decode(data, encoding) if encoding else decode_declared(data, charset)
            except SourceError as error:
                failure = f"a part of the mail's text: {error.message.rstrip('.')}"
                continue
            self.problems += decoded.problems
            self.remedies += decoded.remedies
            self.show(decoded.text, is_html)
            return
        self.problems.append(failure)
        self.remedies.append(Remedy.ENCODING)

    def show(self, text: str, is_html: bool) -> None:
        """Adds a part of the text. Headings in a mail are typography; "Message" stays the way to all of it."""
        if is_html:
            page = Draft()
            write_html(parse_html(text), page)
            self.pages.append(page)
            text = page.text
        self.texts.append(text)


def read_eml(data: bytes, title: str, options: ReadOptions = DEFAULT_READING) -> SourceDocument:
    """Reads a mail as it is sent over the net, with its attachments.

    Args:
        data: The file's bytes.
        title: Taken when the mail has no subject.

    Raises:
        SourceError: It is no mail, or there is nothing to read in it.
    """
    message = email.message_from_bytes(data, policy=email.policy.default)
    if not any(name in message for name in ("From", "To", "Subject", "Date", "Received", "Message-ID", "MIME-Version")):
        raise SourceError("The file is no mail, though its name ends like one.")
    return _written(_from_mime(message, options), data, title, options)


def read_msg(data: bytes, title: str, options: ReadOptions = DEFAULT_READING) -> SourceDocument:
    """Reads a mail as Outlook saves it, with its attachments.

    Args:
        data: The file's bytes.
        title: Taken when the mail has no subject.

    Raises:
        SourceError: It is no such mail, damaged, or there is nothing to read in it.
    """
    with ole.opened(data) as file:
        if "__properties_version1.0" not in file:
            raise SourceError("The file is no Outlook mail, though its name ends like one.")
        mail = _from_outlook(file, "", options)
    return _written(mail, data, title, options)


def read_mhtml(data: bytes, title: str, options: ReadOptions = DEFAULT_READING) -> SourceDocument:
    """Reads a web page that a browser saved into one file.

    Args:
        data: The file's bytes.
        title: Taken when neither the page's title nor a heading gives one.

    Raises:
        SourceError: There is no page in it, or the page shows no words.
    """
    message = email.message_from_bytes(data, policy=email.policy.default)
    for part, _ in _walk(message):
        if part.get_content_type() in ("text/html", "application/xhtml+xml"):
            document = read_html(_bytes(part), title, options, _charset(part))
            return replace(document, sha256=hashlib.sha256(data).hexdigest())
    raise SourceError("There is no web page in the file.")


def _written(mail: _Mail, data: bytes, title: str, options: ReadOptions) -> SourceDocument:
    draft = Draft()
    subject = mail.headers.get("Subject", "")
    draft.heading(1, "Message")
    draft.paragraph("\n".join(f"{name}: {mail.headers[name]}" for name in _SHOWN_HEADERS if mail.headers.get(name)))
    for page in mail.pages:
        draft.take_hidden(page)
    for text in mail.texts:
        draft.paragraph(text)
    draft.problems += mail.problems
    draft.remedies += mail.remedies
    for attachment in mail.attachments[:_MOST_ATTACHMENTS]:
        _attach(attachment, draft, options)
    if len(mail.attachments) > _MOST_ATTACHMENTS:
        draft.problems.append(f"attachments after the first {_MOST_ATTACHMENTS}: not read")
    return replace(draft.finish(data, subject or title), date=plain_date(mail.headers.get("Date", "")))


def _attach(attachment: _Attachment, draft: Draft, options: ReadOptions) -> None:
    """Reads an attachment as a section, or says why it could not be read."""
    from rag.sources import readers  # which knows this module in turn

    name = attachment.name
    label = f"attachment {name}"
    kind = readers.format_of(name)
    if name.lower().endswith(_SIGNATURES) or (kind is not None and kind.needs_ocr and not options.ocr):
        draft.notes.append(f"{label}: not read, {'a picture' if kind else 'not a document'}")
        return
    try:
        if isinstance(attachment.content, _Mail):
            document = _written(attachment.content, b"", name, options)
        else:  # the encoding that was asked for is that of the mail
            document = readers.read_bytes(attachment.content, name, replace(options, encoding=""))
    except SourceError as error:
        draft.problems.append(f"{label}: {error.message.rstrip('.')}")
        if error.remedy:
            draft.remedies.append(error.remedy)
        return
    draft.problems += [f"{label}: {problem}" for problem in document.problems]
    draft.notes += [f"{label}: {note}" for note in document.notes]
    draft.remedies += [remedy for remedy in document.remedies if remedy is not Remedy.ENCODING]
    draft.append(document, f"Attachment {name}", 1)


# ----------------------------------------------------------------------------------------------------------------- MIME


def _from_mime(message: Message, options: ReadOptions) -> _Mail:
    mail = _Mail({name: _header(message, name) for name in _SHOWN_HEADERS})
    for part, is_repeated in _walk(message):
        try:
            _take(part, is_repeated, mail, options)
        except _FAULTS:
            mail.problems.append("a part of the mail: malformed, and not read")
    return mail


def _take(part: Message, is_repeated: bool, mail: _Mail, options: ReadOptions) -> None:
    """Adds a part to what it is of the mail: a text, or an attachment."""
    kind = part.get_content_type()
    name = _file_name(part)
    if kind == "message/rfc822":
        inner = part.get_payload()
        nested = inner[0] if isinstance(inner, list) and inner else None
        if isinstance(nested, Message):
            name = name or f"{_header(nested, 'Subject') or 'mail'}.eml"
            mail.attachments.append(_Attachment(name, _from_mime(nested, options)))
    elif kind in ("text/plain", "text/html") and not name and part.get_content_disposition() != "attachment":
        if kind == "text/plain" or not is_repeated:
            mail.add(_bytes(part), _charset(part), kind == "text/html", options)
    elif not kind.startswith("multipart/") and not _is_decoration(part):
        mail.attachments.append(_Attachment(name or f"part{_ENDINGS.get(kind, '')}", _bytes(part)))


_ENDINGS = {
    "text/plain": ".txt", "text/html": ".html", "text/csv": ".csv", "application/pdf": ".pdf", "text/calendar": ".ics",
    "application/pgp-signature": ".sig", "application/pkcs7-signature": ".p7s", "text/markdown": ".md",
    "message/delivery-status": ".txt", "text/rfc822-headers": ".txt",
}  # fmt: skip


def _walk(message: Message) -> Iterator[tuple[Message, bool]]:
    """The leaves of a mail, each with whether its words are there as plain text too; a mail within it is a leaf."""
    waiting = [(message, False)]
    while waiting:
        part, is_repeated = waiting.pop()
        inner = part.get_payload()
        if part.is_multipart() and part.get_content_type() != "message/rfc822" and isinstance(inner, list):
            children = [child for child in inner if isinstance(child, Message)]
            if part.get_content_type() == "multipart/alternative":
                is_repeated = is_repeated or any(
                    child.get_content_type() == "text/plain" and _bytes(child).strip() for child in children
                )
            waiting.extend((child, is_repeated) for child in reversed(children))
        else:
            yield part, is_repeated


def _is_decoration(part: Message) -> bool:
    """Whether a part is an image within the text: a logo, a signature, a counter."""
    disposition = part.get_content_disposition()
    shown = disposition == "inline" or (part["Content-ID"] is not None and disposition != "attachment")
    return shown and part.get_content_type().startswith("image/")


def _header(message: Message, name: str) -> str:
    """A header in plain words; as it stands where it is malformed."""
    try:
        return " ".join(str(message.get(name, "")).split())
    except _FAULTS:
        return next(
            (" ".join(str(value).split()) for key, value in message.raw_items() if key.lower() == name.lower()), ""
        )


def _file_name(part: Message) -> str:
    try:
        name = part.get_filename("") or ""
    except _FAULTS:
        name = ""
    return _clean_name(name)


def _clean_name(name: str) -> str:
    """A file's name without folders and line breaks."""
    return " ".join(Path(name.replace("\\", "/")).name.split())


def _charset(part: Message) -> str:
    """The encoding that a part names; empty where it names none, or the one that stands for none."""
    try:
        name = part.get_content_charset("") or ""
    except _FAULTS:
        return ""
    return "" if name in ("us-ascii", "ascii") else name


def _bytes(part: Message) -> bytes:
    try:
        payload = part.get_payload(decode=True)
    except (ValueError, LookupError):
        return b""
    return payload if isinstance(payload, bytes) else b""


# -------------------------------------------------------------------------------------------------------------- Outlook


def _from_outlook(file: ole.CompoundFile, folder: str, options: ReadOptions) -> _Mail:
    """A mail in an Outlook file, or in one that is attached to it."""
    mail = _Mail({})

    def add(tag: str, is_html: bool = False, into: _Mail = mail) -> None:
        wide = file.read(f"{folder}__substg1.0_{tag}001F").decode("utf-16-le", "replace").rstrip("\0")
        if wide.strip():
            into.show(wide, is_html)
        else:
            into.add(file.read(f"{folder}__substg1.0_{tag}001E").rstrip(b"\0"), "", is_html, options)

    def text(tag: str) -> str:
        found = _Mail({})
        add(tag, into=found)
        return "".join(found.texts)

    name, address = text("0C1A"), text("5D01") or text("0C1F")
    address = address if "@" in address else ""
    sender = f"{name} <{address}>" if name and address and name != address else name or address
    mail.headers |= {"From": sender, "To": text("0E04"), "Cc": text("0E03"), "Subject": text("0037")}
    mail.headers["Date"] = _date(file, folder)
    add("1000")
    if not mail.texts:
        mail.add(file.read(f"{folder}__substg1.0_10130102"), "", True, options)
    if not mail.texts:
        add("1013", is_html=True)
    if not mail.texts and (packed := file.read(f"{folder}__substg1.0_10090102")):
        try:
            mail.texts.append(read_rtf(_unpacked(packed), "").text)
        except SourceError as error:
            mail.problems.append(f"the mail's text: {error.message.rstrip('.')}")
    mail.attachments = list(_outlook_attachments(file, folder, mail.problems, options))
    return mail


def _outlook_attachments(
    file: ole.CompoundFile, folder: str, problems: list[str], options: ReadOptions
) -> Iterator[_Attachment]:
    depth = folder.count("/")
    storages = dict.fromkeys(
        path.split("/")[depth] for path in file.paths if path.startswith(f"{folder}__attach_version1.0_#")
    )
    for storage in storages:
        inside = f"{folder}{storage}/"

        def text(tag: str, inside: str = inside) -> str:
            wide = file.read(f"{inside}__substg1.0_{tag}001F").decode("utf-16-le", "replace")
            return (wide or file.read(f"{inside}__substg1.0_{tag}001E").decode("cp1252", "replace")).rstrip("\0")

        name = _clean_name(text("3707") or text("3704") or text("3001")) or "attachment"
        if f"{inside}__substg1.0_37010102" in file:
            is_inline = bool(text("3712")) and text("370E").startswith("image/")
            if not is_inline:
                yield _Attachment(name, file.read(f"{inside}__substg1.0_37010102"))
        elif any(path.startswith(f"{inside}__substg1.0_3701000D/") for path in file.paths):
            yield _Attachment(name, _from_outlook(file, f"{inside}__substg1.0_3701000D/", options))
        else:
            problems.append(f"attachment {name}: only a link to it, or an object, is in the mail")


def _date(file: ole.CompoundFile, folder: str) -> str:
    """When the mail was sent or delivered, from the fixed-size properties."""
    properties = file.read(f"{folder}__properties_version1.0")
    times = {}
    for at in range(32 if not folder else 24, len(properties) - 15, 16):
        tag, _, value = struct.unpack_from("<IIQ", properties, at)
        if tag in (0x00390040, 0x0E060040) and 0 < value < _LAST_TIME:
            times[tag] = datetime(1601, 1, 1, tzinfo=UTC) + timedelta(microseconds=value // 10)
    sent = times.get(0x00390040) or times.get(0x0E060040)
    return sent.strftime("%a, %d %b %Y %H:%M UTC") if sent else ""


def _unpacked(data: bytes) -> bytes:
    """RTF as Outlook compresses it: references into the last 4,096 bytes, and bytes as they are."""
    if len(data) < 16 or data[8:12] != _COMPRESSED_RTF:
        return data[16:]
    wanted = min(struct.unpack_from("<I", data, 4)[0], 50_000_000)
    window = bytearray(_DICTIONARY) + bytearray(4096 - len(_DICTIONARY))
    write = len(_DICTIONARY)
    result = bytearray()
    position = 16
    while position < len(data) and len(result) < wanted:
        flags = data[position]
        position += 1
        for bit in range(8):
            if flags >> bit & 1:
                if position + 1 >= len(data):
                    return bytes(result)
                reference = data[position] << 8 | data[position + 1]
                position += 2
                offset, length = reference >> 4, (reference & 15) + 2
                if offset == write:
                    return bytes(result)
                copied: Iterable[int] = range(offset, offset + length)
            else:
                if position >= len(data):
                    return bytes(result)
                copied = ()
                window[write] = data[position]
                result.append(data[position])
                write = (write + 1) % 4096
                position += 1
            for source in copied:
                byte = window[source % 4096]
                window[write] = byte
                result.append(byte)
                write = (write + 1) % 4096
    return bytes(result)
