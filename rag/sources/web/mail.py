"""Mails (eml, msg) with their attachments, and web archives (mhtml)."""

from __future__ import annotations

import email
import email.policy
import hashlib
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage, Message
from pathlib import Path

from rag.errors import SourceError
from rag.sources.draft import Draft
from rag.sources.encodings import decode
from rag.sources.markup import parse_html
from rag.sources.office import ole
from rag.sources.office.rtf import read_rtf
from rag.sources.web.html import decode_html, read_html, write_html
from rag.types import DEFAULT_READING, ReadOptions, Remedy, SourceDocument

_MOST_ATTACHMENTS = 200
_SHOWN_HEADERS = ("From", "To", "Cc", "Date", "Subject")
_SIGNATURES = (".p7s", ".p7m", ".asc", ".sig", ".pgp", ".ics", ".vcf")
_COMPRESSED_RTF = b"LZFu"
_DICTIONARY = (
    b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor "
    b"MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par "
    b"\\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx"
)


@dataclass(slots=True)
class _Attachment:
    name: str
    data: bytes


@dataclass(slots=True)
class _Mail:
    """What both mail formats come down to."""

    headers: dict[str, str]
    plain: str = ""
    html: str = ""
    attachments: list[_Attachment] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


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
        mail = _from_outlook(file, "")
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
    for part in _walk(message):
        if part.get_content_type() in ("text/html", "application/xhtml+xml"):
            page = _bytes(part)
            document = read_html(page, title, ReadOptions(encoding=options.encoding or _charset(part)))
            return replace(document, sha256=hashlib.sha256(data).hexdigest())
    raise SourceError("There is no web page in the file.")


def _written(mail: _Mail, data: bytes, title: str, options: ReadOptions) -> SourceDocument:
    draft = Draft()
    subject = mail.headers.get("Subject", "")
    draft.heading(1, "Message")
    draft.paragraph("\n".join(f"{name}: {mail.headers[name]}" for name in _SHOWN_HEADERS if mail.headers.get(name)))
    if mail.plain.strip():
        draft.paragraph(mail.plain)
    elif mail.html.strip():
        # Headings in a mail are typography; "Message" stays the way to all of it.
        page = Draft()
        write_html(parse_html(mail.html), page)
        draft.paragraph(page.text)
    draft.problems += mail.problems
    for attachment in mail.attachments[:_MOST_ATTACHMENTS]:
        _attach(attachment, draft, options)
    if len(mail.attachments) > _MOST_ATTACHMENTS:
        draft.problems.append(f"attachments after the first {_MOST_ATTACHMENTS}: not read")
    return draft.finish(data, subject or title)


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
        document = readers.read_bytes(attachment.data, name, options)
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


def _from_mime(message: EmailMessage | Message, options: ReadOptions) -> _Mail:
    mail = _Mail({name: _header(message, name) for name in _SHOWN_HEADERS})
    for part in _walk(message):
        kind = part.get_content_type()
        name = _file_name(part)
        if kind == "message/rfc822":
            inner = part.get_payload()
            nested = inner[0] if isinstance(inner, list) and inner else None
            if isinstance(nested, Message):
                mail.attachments.append(
                    _Attachment(name or f"{_header(nested, 'Subject') or 'mail'}.eml", bytes(nested))
                )
        elif kind in ("text/plain", "text/html") and not name and part.get_content_disposition() != "attachment":
            text = _decoded(_bytes(part), _charset(part), kind == "text/html", options)
            if kind == "text/plain":
                mail.plain = f"{mail.plain}\n\n{text}" if mail.plain else text
            else:
                mail.html += text
        elif not kind.startswith("multipart/") and not _is_decoration(part):
            mail.attachments.append(_Attachment(name or f"part{_ENDINGS.get(kind, '')}", _bytes(part)))
    return mail


_ENDINGS = {
    "text/plain": ".txt", "text/html": ".html", "text/csv": ".csv", "application/pdf": ".pdf", "text/calendar": ".ics",
    "application/pgp-signature": ".sig", "application/pkcs7-signature": ".p7s", "text/markdown": ".md",
    "message/delivery-status": ".txt", "text/rfc822-headers": ".txt",
}  # fmt: skip


def _walk(message: Message) -> Iterator[Message]:
    """The leaves of a mail; a mail within it is a leaf."""
    waiting: list[Message] = [message]
    while waiting:
        part = waiting.pop()
        inner = part.get_payload()
        if part.is_multipart() and part.get_content_type() != "message/rfc822" and isinstance(inner, list):
            waiting.extend(child for child in reversed(inner) if isinstance(child, Message))
        else:
            yield part


def _is_decoration(part: Message) -> bool:
    """Whether a part is an image within the text: a logo, a signature, a counter."""
    disposition = part.get_content_disposition()
    shown = disposition == "inline" or (part["Content-ID"] is not None and disposition != "attachment")
    return shown and part.get_content_type().startswith("image/")


def _header(message: Message, name: str) -> str:
    """A header in plain words; as it stands where it is malformed."""
    try:
        return " ".join(str(message.get(name, "")).split())
    except (ValueError, IndexError, LookupError, AttributeError, TypeError):  # the parser's own faults on odd headers
        return next(
            (" ".join(str(value).split()) for key, value in message.raw_items() if key.lower() == name.lower()), ""
        )


def _file_name(part: Message) -> str:
    try:
        name = part.get_filename("") or ""
    except (ValueError, IndexError, LookupError, AttributeError, TypeError):
        name = ""
    return Path(name.replace("\\", "/")).name


def _charset(part: Message) -> str:
    try:
        name = part.get_content_charset("") or ""
        b"".decode(name or "ascii")
    except (LookupError, ValueError):
        return ""
    return "" if name in ("us-ascii", "ascii") else name


def _bytes(part: Message) -> bytes:
    try:
        payload = part.get_payload(decode=True)
    except (ValueError, LookupError):
        return b""
    return payload if isinstance(payload, bytes) else b""


def _decoded(data: bytes, charset: str, is_html: bool, options: ReadOptions) -> str:
    """The text of a part by the encoding that it names, or else by what fits."""
    if not data.strip():
        return ""
    for name in (options.encoding, charset, ""):
        try:
            return (decode_html(data, name) if is_html else decode(data, name)).text
        except SourceError:
            continue
    return ""


# -------------------------------------------------------------------------------------------------------------- Outlook


def _from_outlook(file: ole.CompoundFile, folder: str) -> _Mail:
    """A mail in an Outlook file, or in one that is attached to it."""

    def text(tag: str) -> str:
        if wide := file.read(f"{folder}__substg1.0_{tag}001F"):
            return wide.decode("utf-16-le", "replace").rstrip("\0")
        narrow = file.read(f"{folder}__substg1.0_{tag}001E").rstrip(b"\0")
        return _decoded(narrow, "", False, DEFAULT_READING)

    name, address = text("0C1A"), text("5D01") or text("0C1F")
    address = address if "@" in address else ""
    sender = f"{name} <{address}>" if name and address and name != address else name or address
    mail = _Mail({"From": sender, "To": text("0E04"), "Cc": text("0E03"), "Subject": text("0037")})
    mail.headers["Date"] = _date(file, folder)
    mail.plain = text("1000")
    if not mail.plain.strip():
        mail.html = _decoded(file.read(f"{folder}__substg1.0_10130102"), "", True, DEFAULT_READING) or text("1013")
    if not mail.plain.strip() and not mail.html.strip() and (packed := file.read(f"{folder}__substg1.0_10090102")):
        try:
            mail.plain = read_rtf(_unpacked(packed), "").text
        except SourceError as error:
            mail.problems.append(f"the mail's text: {error.message.rstrip('.')}")
    mail.attachments = list(_outlook_attachments(file, folder, mail.problems))
    return mail


def _outlook_attachments(file: ole.CompoundFile, folder: str, problems: list[str]) -> Iterator[_Attachment]:
    depth = folder.count("/")
    storages = dict.fromkeys(
        path.split("/")[depth] for path in file.paths if path.startswith(f"{folder}__attach_version1.0_#")
    )
    for storage in storages:
        inside = f"{folder}{storage}/"

        def text(tag: str, inside: str = inside) -> str:
            wide = file.read(f"{inside}__substg1.0_{tag}001F").decode("utf-16-le", "replace")
            return (wide or file.read(f"{inside}__substg1.0_{tag}001E").decode("cp1252", "replace")).rstrip("\0")

        name = Path((text("3707") or text("3704") or text("3001") or "attachment").replace("\\", "/")).name
        if f"{inside}__substg1.0_37010102" in file:
            is_inline = bool(text("3712")) and text("370E").startswith("image/")
            if not is_inline:
                yield _Attachment(name, file.read(f"{inside}__substg1.0_37010102"))
        elif any(path.startswith(f"{inside}__substg1.0_3701000D/") for path in file.paths):
            nested = _from_outlook(file, f"{inside}__substg1.0_3701000D/")
            yield _Attachment(f"{name.removesuffix('.msg')}.eml", _as_mime(nested))
        else:
            problems.append(f"attachment {name}: only a link to it, or an object, is in the mail")


def _as_mime(mail: _Mail) -> bytes:
    """A mail within a mail in the one form that both readers end in."""
    message = EmailMessage()
    for name, value in mail.headers.items():
        if value:
            message[name] = " ".join(value.split())
    message.set_content(mail.plain) if mail.plain.strip() else message.set_content(mail.html, subtype="html")
    for attachment in mail.attachments:
        message.add_attachment(
            attachment.data, maintype="application", subtype="octet-stream", filename=attachment.name
        )
    return bytes(message)


def _date(file: ole.CompoundFile, folder: str) -> str:
    """When the mail was sent or delivered, from the fixed-size properties."""
    properties = file.read(f"{folder}__properties_version1.0")
    times = {}
    for at in range(32 if not folder else 24, len(properties) - 15, 16):
        tag, _, value = struct.unpack_from("<IIQ", properties, at)
        if tag in (0x00390040, 0x0E060040) and 0 < value < 2**62:
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
