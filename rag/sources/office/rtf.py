"""RTF: text in its code pages, with headings, tables, footnotes; layout and pictures are left out."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from rag.errors import SourceError
from rag.sources.draft import Draft
from rag.types import DEFAULT_READING, ReadOptions, SourceDocument

_TOKEN = re.compile(
    rb"\\(?:(?P<word>[a-zA-Z]{1,32})(?P<number>-?[0-9]{1,10})? ?|'(?P<hex>[0-9a-fA-F]{2})|(?P<sign>[^a-zA-Z]))"
    rb"|(?P<brace>[{}])|[\r\n]+|(?P<text>[^\\{}\r\n]+)",
    re.DOTALL,
)
_CHARSETS = {
    0: "cp1252", 77: "mac_roman", 128: "cp932", 129: "cp949", 130: "johab", 134: "gb18030", 136: "cp950",
    161: "cp1253", 162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251",
    222: "cp874", 238: "cp1250", 254: "cp437", 255: "cp850",
}  # fmt: skip
_BASES = {"mac": "mac_roman", "pc": "cp437", "pca": "cp850"}
_SIGNS = {
    "tab": "\t", "line": "\n", "emdash": "—", "endash": "–", "lquote": "‘", "rquote": "’", "ldblquote": "“",
    "rdblquote": "”", "bullet": "•", "emspace": " ", "enspace": " ", "qmspace": " ", "zwj": "", "zwnj": "",
    "~": "\N{NO-BREAK SPACE}", "_": "-", "-": "",
}  # fmt: skip
_UNSEEN = {
    *("colortbl", "pict", "object", "themedata", "colorschememapping", "datastore", "latentstyles", "listtable"),
    *("listoverridetable", "rsidtbl", "generator", "xmlnstbl", "header", "headerl", "headerr", "headerf", "footer"),
    *("footerl", "footerr", "footerf", "ftnsep", "ftnsepc", "ftncn", "aftnsep", "aftnsepc", "aftncn", "fldinst"),
    *("mmathPr", "pgptbl", "filetbl", "revtbl", "userprops", "nonshppict", "bkmkstart", "bkmkend", "pntxta", "pntxtb"),
    *(
        "annotation",
        "atnid",
        "atnauthor",
        "tc",
        "xe",
        "template",
        "private",
        "comment",
        "info",
        "stylesheet",
        "fonttbl",
    ),
}
_READ_ALTHOUGH_OPTIONAL = {"shptxt", "shpinst", "shp", "pn", "fldrslt", "atrfstart", "mmath", "moMath"}
_MOST_GROUPS = 2_000  # open at once; deeper ones are counted and share the state of the last


@dataclass(frozen=True, slots=True)
class _State:
    """What a group inherits and gives back at its end."""

    destination: str = "text"  # "text", "skip", "fonttbl", "stylesheet", "title", "footnote" or "listtext"
    font: int = -1
    skipped: int = 1  # fallback characters after a \u
    hidden: bool = False


def read_rtf(data: bytes, title: str, options: ReadOptions = DEFAULT_READING) -> SourceDocument:
    r"""Reads a rich text file.

    Headings are paragraphs with an outline level, of their own or of a style that is named "heading 1" and so on.

    Args:
        data: The file's bytes.
        title: Taken when neither the file's information nor a heading gives one.

    Raises:
        SourceError: It is no RTF, or without any text.
    """
    start = data.find(b"{\\rtf", 0, 1000)
    if start < 0:
        raise SourceError("The file is no RTF, though its name ends like one.")
    draft = Draft()
    reader = _Reader(draft)
    reader.read(data[start:])
    return draft.finish(data, reader.title or draft.first_heading or title)


class _Reader:
    """Goes through the file once; groups are kept in a list, so that depth costs no stack."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._state = _State()
        self._groups: list[_State] = []
        self._too_deep = 0
        self._encoding = "cp1252"
        self._fonts: dict[int, str] = {}
        self._heading_styles: dict[int, int] = {}
        self._waiting = bytearray()  # bytes of the code page whose character may not be complete
        self._fallback = 0  # characters still to skip after a \u
        self._line: list[str] = []
        self._listed: list[str] = []
        self._footnote: list[str] = []
        self._footnotes: list[str] = []
        self._count = 0
        self._title: list[str] = []
        self._style_name: list[str] = []
        self._style_number = 0
        self._level = -1  # as a heading; none
        self._in_table = False
        self._cells: list[str] = []
        self._rows: list[list[str]] = []
        self._starts_group = False

    @property
    def title(self) -> str:
        """The title in the file's information."""
        return " ".join("".join(self._title).split())

    def read(self, data: bytes) -> None:
        position = 0
        while position < len(data):
            match = _TOKEN.match(data, position)
            if match is None:
                position += 1  # a backslash that ends the file
                continue
            position = match.end()
            if match["word"] and match["word"] == b"bin":
                position += max(0, int(match["number"] or 0))
                continue
            self._token(match)
        self._end_paragraph()
        self._end_table()

    def _token(self, match: re.Match[bytes]) -> None:
        if match["hex"]:
            if not self._skips_fallback():
                self._waiting += bytes.fromhex(match["hex"].decode())
        elif match["text"]:
            text = match["text"]
            while text and self._skips_fallback():
                text = text[1:]
            if any(byte > 127 for byte in text) or self._waiting:
                self._waiting += text
            else:
                self._emit(text.decode("ascii"))
        elif match["brace"]:
            self._flush()
            self._fallback = 0
            self._open() if match["brace"] == b"{" else self._close()
            return
        elif match["word"]:
            self._flush()
            self._word(match["word"].decode(), int(match["number"]) if match["number"] else None)
        elif match["sign"]:
            self._flush()
            self._sign(match["sign"])
        self._starts_group = self._starts_group and match["sign"] == b"*"

    def _open(self) -> None:
        if len(self._groups) < _MOST_GROUPS:
            self._groups.append(self._state)
        else:
            self._too_deep += 1
        self._starts_group = True

    def _close(self) -> None:
        if self._too_deep:
            self._too_deep -= 1
            return
        ended = self._state.destination
        self._state = self._groups.pop() if self._groups else _State()
        if ended == "footnote" and self._state.destination != "footnote":
            words = " ".join("".join(self._footnote).split())
            self._footnote = []
            if words:
                self._count += 1
                self._line.append(f"[^{self._count}]")
                self._footnotes.append(f"[^{self._count}]: {words}")
        elif ended == "stylesheet" and self._style_name:
            name = "".join(self._style_name).strip(" ;").lower()
            self._style_name = []
            if named := re.fullmatch(r"heading ([1-9])", name):
                self._heading_styles.setdefault(self._style_number, int(named[1]))
            elif name == "title":
                self._heading_styles.setdefault(self._style_number, 0)

    def _sign(self, sign: bytes) -> None:
        character = sign.decode("latin-1")
        if character == "*":
            if self._starts_group:
                self._state = replace(self._state, destination="optional")
        elif character in "\\{}":
            if not self._skips_fallback():
                self._emit(character)
        elif character in "\r\n":
            self._word("par", None)
        elif character in _SIGNS:
            self._emit(_SIGNS[character])

    def _word(self, word: str, number: int | None) -> None:
        state = self._state
        if state.destination == "optional":
            kept = word in _READ_ALTHOUGH_OPTIONAL
            self._state = state = replace(state, destination="text" if kept else "skip")
            if not kept:
                return
        if state.destination == "skip":
            return
        if word == "u" and number is not None:
            self._emit(_from_utf16(number))
            self._fallback = state.skipped
        elif word == "uc":
            self._state = replace(state, skipped=max(0, number if number is not None else 1))
        elif word == "f" and number is not None:
            self._state = replace(state, font=number)
        elif word == "fcharset" and state.destination == "fonttbl" and number in _CHARSETS:
            self._fonts[state.font] = _CHARSETS[number]
        elif word == "ansicpg" and number:
            self._encoding = _known(f"cp{number}") or self._encoding
        elif word in _BASES:
            self._encoding = _BASES[word]
        elif word in ("fonttbl", "stylesheet"):
            self._state = replace(state, destination=word)
        elif word == "info":
            self._state = replace(state, destination="information")
        elif word == "title" and state.destination == "information":
            self._state = replace(state, destination="title")
        elif word in ("footnote", "listtext", "pntext"):
            self._state = replace(state, destination="footnote" if word == "footnote" else "listtext")
        elif word in _UNSEEN:
            self._state = replace(state, destination="skip")
        elif word in ("v", "deleted"):
            self._state = replace(state, hidden=number != 0)
        elif word == "plain":
            self._state = replace(state, hidden=False)
        elif word in _SIGNS:
            self._emit(_SIGNS[word])
        elif state.destination == "stylesheet":
            if word == "s" and number is not None:
                self._style_number = number
            elif word == "outlinelevel" and number is not None and number < 9:
                self._heading_styles[self._style_number] = number + 1
        elif state.destination == "text":
            self._layout(word, number)
        elif state.destination == "footnote" and word in ("par", "sect", "page"):
            self._footnote.append(" ")

    def _layout(self, word: str, number: int | None) -> None:
        if word in ("par", "sect", "page"):
            if self._in_table:
                self._line.append("\n")
            else:
                self._end_paragraph()
        elif word == "pard":
            self._level = -1
            self._in_table = False
        elif word == "s" and number is not None:
            self._level = self._heading_styles.get(number, -1)
        elif word == "outlinelevel" and number is not None:
            self._level = number + 1 if number < 9 else -1
        elif word == "intbl":
            self._in_table = True
        elif word in ("cell", "nestcell"):
            self._cells.append("".join(self._line))
            self._line, self._listed = [], []
        elif word in ("row", "nestrow"):
            self._rows.append(self._cells)
            self._cells = []

    def _emit(self, text: str) -> None:
        state = self._state
        if state.hidden:
            return
        if state.destination == "text":
            self._line.append(text)
        elif state.destination == "listtext":
            self._listed.append(text)
        elif state.destination == "footnote":
            self._footnote.append(text)
        elif state.destination == "title":
            self._title.append(text)
        elif state.destination == "stylesheet":
            self._style_name.append(text)

    def _skips_fallback(self) -> bool:
        if self._fallback:
            self._fallback -= 1
            return True
        return False

    def _flush(self) -> None:
        if self._waiting:
            encoding = self._fonts.get(self._state.font, self._encoding)
            self._emit(bytes(self._waiting).decode(encoding, "replace"))
            self._waiting.clear()

    def _end_paragraph(self) -> None:
        self._flush()
        text = "".join(self._line)
        sign = "".join(self._listed).strip()
        self._line, self._listed = [], []
        if not self._in_table:
            self._end_table()
        if not text.strip():
            return
        if self._level >= 0:
            self._draft.heading(self._level, f"{sign} {text}" if any(map(str.isalnum, sign)) else text)
        elif sign:
            self._draft.item(text, 0, sign if any(map(str.isalnum, sign)) else "-")
        else:
            self._draft.paragraph(text)
        for note in self._footnotes:
            self._draft.paragraph(note)
        self._footnotes = []

    def _end_table(self) -> None:
        if self._cells:
            self._rows.append(self._cells)
        self._draft.table(self._rows)
        self._cells, self._rows = [], []


def _from_utf16(number: int) -> str:
    return chr(number & 0xFFFF)


def _known(encoding: str) -> str:
    try:
        b"".decode(encoding)
    except LookupError:
        return ""
    return encoding
