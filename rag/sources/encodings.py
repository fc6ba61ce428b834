"""From bytes to characters: which encoding a text file is in, how sure that is, and what stayed doubtful.

A byte order mark decides, then strict UTF-8. What is left is weighed: every candidate encoding turns a sample of the
bytes into some text, and the one whose text is likeliest to have been written by a person is taken. The distance to the
runner-up says how sure that is.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from rag.errors import SourceError
from rag.sources.likelihood import likelihood
from rag.types import Remedy

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_ESCAPED = ("iso2022_jp", "iso2022_jp_2", "iso2022_jp_ext", "iso2022_kr")  # ASCII bytes only, with escape sequences
_JAPANESE_SEGMENT = re.compile(r"\x1b(\$[@B]|\([BIJ])([^\x1b\r\n]*)")
_PAIR = re.compile(r"[!-~]{2}|[!-~]")
_WIDE = {"utf-16-le": 2, "utf-16-be": 2, "utf-32-le": 4, "utf-32-be": 4}  # bytes of a unit
# How much rarer each is than the first, as a logarithm. Of two that give the same text, the first is named.
_CANDIDATES = {
    **dict.fromkeys(("cp932", "euc_jp", "gb18030", "big5", "cp1252"), 0.0),
    **dict.fromkeys(
        ("euc_jis_2004", "cp950", "cp949", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256"), -1.0
    ),
    **dict.fromkeys(("latin-1", "koi8-r", "iso8859-2", "iso8859-7", "iso8859-5", "mac_roman"), -1.5),
    **dict.fromkeys(("big5hkscs", "cp1257", "koi8-u", "cp866", "mac_cyrillic", "mac_latin2"), -2.5),
    **dict.fromkeys(("iso8859-15", "cp850", "cp852", "cp437"), -3.0),
}
_SAMPLE = 4_000  # bytes that the best candidates are weighed by; more makes it slower, not better
_GLANCE = 400  # bytes that leave only the best candidates
_KEPT = 8
_SURE = 3.0  # how much likelier the choice must be than the next one, as a logarithm
_GARBLED = -10.0  # mean logarithm below which a text is none that a person wrote
_REPLACED = -4.0  # for a character that an encoding lacks; UTF-8 is the one that other bytes get into
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f]")


@dataclass(frozen=True, slots=True)
class Decoded:
    r"""A file's characters.

    Attributes:
        text: With ``\n`` line ends and without NUL; form feeds are kept.
        encoding: By its Python name.
        problems: What stayed doubtful, or was replaced.
        notes: What is worth knowing and certain: "read as CP932".
    """

    text: str
    encoding: str
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def remedies(self) -> tuple[Remedy, ...]:
        """What a person can do about the problems."""
        return (Remedy.ENCODING,) if self.problems else ()


def decode(data: bytes, encoding: str = "") -> Decoded:
    """Turns a file's bytes into text.

    Args:
        data: The bytes.
        encoding: What a person said it is in; empty: found out.

    Raises:
        SourceError: The bytes are not text in any encoding that is known here, or not in the one that was asked for.
    """
    if encoding:
        return _decode_as(data, encoding)
    for mark, marked in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return _lossy(data[len(mark) :], marked)
    if b"\x1b$" in data:
        for escaped in _ESCAPED:
            if (text := _strictly(data, escaped)) is not None and not text.isascii():
                return _finish(text, escaped, notes=(f"read as {_name(escaped)}",))
        if data.isascii() and (b"\x1b$B" in data or b"\x1b$@" in data):
            text = _JAPANESE_SEGMENT.sub(_japanese, data.decode("ascii"))
            notes = (f"read as {_name(_ESCAPED[0])}",)
            return _finish(text, _ESCAPED[0], replaced=text.count(_REPLACEMENT), notes=notes)
    # UTF-16 that happens to be valid UTF-8 has far more NULs and other control characters.
    if (text := _strictly(data, "utf-8")) is not None and len(_CONTROLS.findall(text)) <= len(text) / 10:
        left = ("escape sequences of an encoding that is not known, kept as they are",) if b"\x1b$" in data else ()
        return _finish(text, "utf-8", problems=left)
    return _weigh(data)


def _japanese(segment: re.Match[str]) -> str:
    """The characters of a segment of ISO-2022-JP, with those of Windows, which Python knows in CP932 only."""
    charset, characters = segment.groups()
    if charset == "(I":  # kana of half width
        return bytes(ord(character) | 0x80 for character in characters).decode("cp932", "replace")
    return _PAIR.sub(_japanese_character, characters) if charset.startswith("$") else characters


def _japanese_character(match: re.Match[str]) -> str:
    pair = match.group().encode()
    if len(pair) == 1:
        return _REPLACEMENT
    row, cell = pair
    lead = (row + 1) // 2 + (0x70 if row < 0x5F else 0xB0)
    trail = cell + (0x1F if cell < 0x60 else 0x20) if row % 2 else cell + 0x7E
    return _strictly(bytes((lead, trail)), "cp932") or _REPLACEMENT


def decode_text(data: bytes, encoding: str = "") -> Decoded:
    """As :func:`decode`, for files that are to be read as they are.

    Raises:
        SourceError: It is not text, or there is nothing in it.
    """
    decoded = decode(data, encoding)
    if not decoded.text.strip():
        raise SourceError("There is no text in the file, only blanks.")
    return decoded


def _decode_as(data: bytes, encoding: str) -> Decoded:
    try:
        name = codecs.lookup(encoding).name
        text = data.decode(name)
    except UnicodeError as error:
        raise SourceError(
            f"The file is not in {encoding.upper()}.",
            "Choose another encoding, or none to have it found out.",
            remedy=Remedy.ENCODING,
        ) from error
    except (LookupError, ValueError) as error:  # ValueError: a NUL in the name
        raise SourceError(
            f"There is no text encoding named {encoding}.",
            "Choose one by its Python name, such as utf-8, cp932, gb18030, big5 or cp1252.",
            remedy=Remedy.ENCODING,
        ) from error
    return _finish(text.removeprefix("\ufeff"), name)


def _finish(
    text: str, encoding: str, *, replaced: int = 0, problems: Iterable[str] = (), notes: Iterable[str] = ()
) -> Decoded:
    """Puts line ends right and names what is no text.

    Raises:
        SourceError: Too much of it is no text.
    """
    found = list(problems)
    controls = len(_CONTROLS.findall(text))
    if controls > max(3, len(text) / 20) or replaced > len(text) / 3:
        raise SourceError(
            "The file is not text, or its encoding cannot be told.",
            "Save it as UTF-8 if it is text, or say what its encoding is.",
            remedy=Remedy.ENCODING,
        )
    if replaced:
        found.append(f"characters that are not valid {_name(encoding)}, replaced: {replaced}")
    if nuls := text.count("\0"):
        found.append(f"NUL characters, replaced: {nuls}")
        text = text.replace("\0", _REPLACEMENT)
    if controls > nuls:
        found.append(f"control characters that no text has: {controls - nuls}")
    return Decoded(re.sub(r"\r\n?", "\n", text), encoding, tuple(found), tuple(notes))


@dataclass(frozen=True, slots=True)
class _Weighed:
    """A candidate with the text that it makes of a sample, and how likely that is."""

    score: float
    encoding: str
    text: str


def _weigh(data: bytes) -> Decoded:
    """Finds the encoding of bytes that are not plain UTF-8."""
    lines = [line for line in re.split(rb"(?<=[\r\n])", data) if not line.isascii()]
    plain = lines and not _CONTROLS.search(data.decode("ascii", "ignore"))  # else it may be UTF-16, which has no lines
    ranking = _rank(_sample(lines if plain else data))
    ours = [line for line in lines if _strictly(line, "utf-8") is not None]
    others = [line for line in lines if _strictly(line, "utf-8") is None]
    if ours and others and ranking[0].encoding not in _WIDE:
        whole = _rank(_sample(ours + others))[0]
        rest = _rank(_sample(others))
        if likelihood(_sample(ours)[0].decode("utf-8", "replace")) + rest[0].score > whole.score:
            return _mixed(data, rest[0].encoding)
    return _choose(data, ranking)


def _choose(data: bytes, ranking: list[_Weighed]) -> Decoded:
    """Decodes everything with the best candidate and says how sure the choice is."""
    best = ranking[0]
    same = [weighed.encoding for weighed in ranking if weighed.text == best.text]
    encoding = next((name for name in same if _strictly(data, name) is not None), best.encoding)
    others = [weighed for weighed in ranking if weighed.text != best.text]
    high = sum(1 for character in best.text if character >= "\x7f")
    if encoding == "utf-8":
        return _lossy(data, encoding)
    if others and best.score - others[0].score < _SURE:
        return _lossy(
            data,
            encoding,
            problems=(
                f"the encoding cannot be told for certain: it was read as {_name(encoding)}, "
                f"and {_name(others[0].encoding)} is almost as likely",
            ),
        )
    if high and best.score / len(best.text) < _GARBLED:
        return _lossy(data, encoding, problems=(f"it was read as {_name(encoding)}, but does not look like text",))
    return _lossy(data, encoding, notes=(f"read as {_name(encoding)}",))


def _mixed(data: bytes, other: str) -> Decoded:
    """Decodes a file of which some lines are UTF-8 and the others are not."""
    if other == "utf-8":
        return _lossy(data, other)
    parts: list[str] = []
    foreign: list[int] = []
    for number, line in enumerate(re.split(rb"(?<=\n)|(?<=\r)(?!\n)", data), 1):
        text = _strictly(line, "utf-8")
        if text is None:
            foreign.append(number)
            text = line.decode(other, "replace")
        parts.append(text)
    where = f"line {foreign[0]} is" if len(foreign) == 1 else f"{len(foreign)} lines from line {foreign[0]} on are"
    problem = f"two encodings in one file: {where} not UTF-8, and read as {_name(other)}"
    return _finish("".join(parts), "utf-8", problems=(problem,))


def _lossy(data: bytes, encoding: str, *, problems: Iterable[str] = (), notes: Iterable[str] = ()) -> Decoded:
    text = data.decode(encoding, "replace")
    replaced = text.count(_REPLACEMENT)
    if replaced and encoding == "utf-8":
        replaced -= data.count(_REPLACEMENT.encode())  # those were there before
    return _finish(text, encoding, replaced=replaced, problems=problems, notes=notes)


def _sample(source: bytes | list[bytes]) -> tuple[bytes, bool]:
    """The bytes to weigh: of lines, those that say something; and whether the last character may be cut off."""
    if isinstance(source, bytes):
        return source[:_SAMPLE], len(source) > _SAMPLE
    sample = b""
    for line in source:
        # Of a very long line, what is around the first byte that says something.
        start = 0 if len(line) < _SAMPLE else max(0, next(i for i, byte in enumerate(line) if byte > 0x7F) - 80)
        sample += line[start : start + _SAMPLE - len(sample)]
        if len(sample) >= _SAMPLE:
            return sample, True
    return sample, False


def _rank(sample: tuple[bytes, bool]) -> list[_Weighed]:
    """All candidates, the likeliest first; those that are out of the question at a glance are weighed no further."""
    data, cut = sample
    candidates: Mapping[str, float] = {"utf-8": 0.0, **_CANDIDATES, **dict.fromkeys(_WIDE, 0.0)}
    if b"\x1b$" in data:
        candidates = {**candidates, _ESCAPED[0]: 0.0}
    if len(data) > 2 * _GLANCE:
        glance = _sorted(_weighed(data[:_GLANCE], candidates, cut=True))
        kept = {weighed.text for weighed in glance[:_KEPT]}
        candidates = {w.encoding: candidates[w.encoding] for w in glance if w.text in kept}
    return _sorted(_weighed(data, candidates, cut))


def _sorted(weighed: Iterable[_Weighed]) -> list[_Weighed]:
    order = ["utf-8", *_CANDIDATES]
    return sorted(
        weighed, key=lambda found: (-found.score, order.index(found.encoding) if found.encoding in order else 0)
    )


def _weighed(data: bytes, candidates: Mapping[str, float], cut: bool) -> Iterator[_Weighed]:
    known: dict[str, float] = {}
    for encoding, prior in candidates.items():
        text = _begin(data, encoding, cut)
        if text is None:
            continue
        if text not in known:
            known[text] = likelihood(text)
        lacking = 0 if encoding == "utf-8" else text.count(_REPLACEMENT)
        yield _Weighed(known[text] + prior + _REPLACED * lacking, encoding, text)


def _begin(data: bytes, encoding: str, cut: bool) -> str | None:
    """Decodes bytes that may end inside a character; None where they are no UTF-16 or UTF-32 at all."""
    if unit := _WIDE.get(encoding):
        if len(data) % unit and not cut:
            return None
        return _strictly(data[: len(data) // unit * unit], encoding)
    return codecs.getincrementaldecoder(encoding)("replace").decode(data, not cut)


def _strictly(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except UnicodeError:
        return None


def _name(encoding: str) -> str:
    """An encoding's name as people write it."""
    return encoding.replace("_", "-").upper()
