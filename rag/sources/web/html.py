"""HTML: what a reader of the page sees, without scripts, navigation and what is hidden."""

from __future__ import annotations

import contextlib
import re

from rag.errors import SourceError
from rag.sources.draft import Draft, label, lowered, raised
from rag.sources.encodings import Decoded, decode
from rag.sources.markup import Node, parse_html
from rag.sources.office.formula import formula
from rag.sources.web.looks import hidden_words, is_left_out, left_out_words
from rag.types import DEFAULT_READING, ReadOptions, SourceDocument

_UNSEEN = {
    *("script", "style", "template", "noscript", "head", "svg", "canvas", "iframe", "object", "embed", "audio"),
    *("video", "map", "button", "select", "input", "textarea", "datalist", "dialog", "rp", "rt", "link", "meta"),
}
_NAVIGATION = {"nav"}
_INLINE = {
    *("a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i", "ins"),
    *("kbd", "label", "mark", "output", "q", "rb", "rbc", "ruby", "s", "samp", "small", "span", "strike", "strong"),
    *("sub", "sup", "time", "tt", "u", "var", "wbr", "nobr", "img", "br", "math", "picture", "meter", "progress"),
}
_HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
_BREAK = "\x0b"  # stands for <br> while white space is joined
_META_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]{2,40})", re.IGNORECASE)
_XML_ENCODING = re.compile(rb"\s*<\?xml[^>]{0,100}?encoding\s*=\s*[\"']([A-Za-z0-9_.:-]{2,40})")
_PICTURE_NAME = re.compile(r"\S+\.(png|jpe?g|gif|svg|webp|bmp)|image\d*|img\d*|logo|icon|spacer|\W*", re.IGNORECASE)
_WIDEST = 300  # columns of a table in which cells may span others
_SHORT_CELL = 200  # characters beside a heading that make a cell a section of its own
_LONG_CELL = 1500  # characters; longer ones are columns of a layout, not cells of a table


def read_html(data: bytes, title: str, options: ReadOptions = DEFAULT_READING, declared: str = "") -> SourceDocument:
    """Reads a web page.

    Args:
        data: The file's bytes.
        title: Taken when neither the page's title nor a heading gives one.
        options: How it is to be read.
        declared: As for :func:`decode_html`.

    Raises:
        SourceError: It is not text, or the page shows no words.
    """
    decoded = decode_html(data, options.encoding, declared)
    root = parse_html(decoded.text)
    draft = Draft()
    draft.encoding = decoded.encoding
    draft.problems += decoded.problems
    draft.notes += decoded.notes
    draft.remedies += decoded.remedies
    write_html(root, draft)
    return draft.finish(data, html_title(root) or draft.first_heading or title)


def decode_html(data: bytes, encoding: str = "", declared: str = "") -> Decoded:
    """Turns the bytes of a page into text.

    Args:
        data: The bytes.
        encoding: What a person said it is in.
        declared: What it came with says it is in; empty: what the page says of itself.

    Raises:
        SourceError: It is not text, or not in the encoding that a person asked for.
    """
    if encoding:
        return decode(data, encoding)
    named = _XML_ENCODING.match(data) or _META_CHARSET.search(data[:4096])
    return decode_declared(data, declared or (named[1].decode("ascii") if named else ""))


def decode_declared(data: bytes, name: str) -> Decoded:
    """Turns bytes into text: byte order mark, UTF-8, then the encoding that they are said to be in, then a guess.

    Valid UTF-8 with letters beyond ASCII is believed before the name: by chance no other encoding looks like it, while
    pages and mails that name the wrong one are common.

    Raises:
        SourceError: It is not text.
    """
    name = name.lower()
    stateful = name.startswith(("iso-2022", "hz"))  # made of ASCII bytes only
    if name and (stateful or not _is_utf8(data)):
        with contextlib.suppress(SourceError):  # it names the wrong one
            return decode(data, _AS_BROWSERS_READ.get(name, name))
    return decode(data)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


_AS_BROWSERS_READ = {
    "shift_jis": "cp932", "shift-jis": "cp932", "x-sjis": "cp932", "sjis": "cp932", "iso-8859-1": "cp1252",
    "latin1": "cp1252", "us-ascii": "cp1252", "gb2312": "gb18030", "gbk": "gb18030", "ks_c_5601-1987": "cp949",
    "euc-kr": "cp949", "x-euc-jp": "euc_jp", "iso-8859-9": "cp1254", "big5": "big5hkscs",
}  # fmt: skip


def html_title(root: Node) -> str:
    """The page's title; empty when it has none."""
    return next((" ".join(node.text().split()) for node in root.all("title")), "")


def write_html(root: Node, draft: Draft) -> None:
    """Writes what a page shows into a draft.

    Navigation is left out, unless there is nothing else on the page; so is what stands around the part that the page
    itself calls its main one, where that holds most of the words.
    """
    before = draft.length
    for words in left_out_words(root):
        draft.leave_out(words)
    concealed = list(hidden_words(root))  # by styles that may stand outside of the main part
    mains = list(root.all("main"))
    if len(mains) == 1 and 2 * _words_in(mains[0]) > _words_in(root):
        root = mains[0]
    for how, words in concealed:
        draft.conceal(how, words)
    _Page(draft, _UNSEEN | _NAVIGATION).write(root)
    if draft.length == before:
        _Page(draft, _UNSEEN).write(root)


class _Page:
    """Walks down a page; text is collected until a block ends."""

    def __init__(self, draft: Draft, unseen: set[str]) -> None:
        self._draft = draft
        self._unseen = unseen
        self._line: list[str] = []
        self._lists = 0  # how many lists are open
        self._sign = ""  # of the list's item that has had no words yet

    def write(self, root: Node) -> None:
        self._walk(root)
        self._end_block()

    def _walk(self, node: Node) -> None:
        for child in node.children:
            if isinstance(child, str):
                self._line.append(child)
            elif self._is_seen(child):
                self._element(child)

    def _is_seen(self, node: Node) -> bool:
        attributes = node.attributes
        return not (
            node.name in self._unseen
            or is_left_out(node)
            or (attributes.get("aria-hidden") == "true" and node.name != "math")
            or (attributes.get("role") == "navigation" and "nav" in self._unseen)
        )

    def _element(self, node: Node) -> None:
        name = node.name
        if name in _INLINE:
            self._inline(node)
            return
        self._end_block()
        if name in _HEADINGS:
            self._draft.heading(_HEADINGS[name], self._words(node))
        elif name in ("pre", "listing", "xmp"):
            self._code(node)
        elif name in ("ul", "ol", "menu", "dir"):
            self._list(node)
        elif name == "li":
            self._item(node, "-")
        elif name == "dd":
            self._lists += 1
            self._item(node, "-")
            self._lists -= 1
        elif name == "table":
            self._table(node)
        else:
            self._walk(node)
            self._end_block()

    def _inline(self, node: Node) -> None:
        name = node.name
        if name == "br":
            self._line.append(_BREAK)
        elif name == "wbr":
            pass
        elif name == "img":
            words = node.get("alt").strip()
            if not _PICTURE_NAME.fullmatch(words):
                self._line.append(f" [Image: {words}] ")
        elif name == "math":
            self._line.append(f" {formula(node)} ")
        elif name in ("sup", "sub"):
            words = node.text().strip()
            self._line.append(raised(words) if name == "sup" else lowered(words))
        else:
            self._walk(node)  # a link may hold whole blocks, which end the line by themselves

    def _words(self, node: Node) -> str:
        """What an element shows, as one line."""
        inside = Draft()
        _Page(inside, self._unseen).write(node)
        self._draft.take_hidden(inside)
        return " ".join(inside.text.split())

    def _code(self, node: Node) -> None:
        text = "".join("\n" if part == _BREAK else part for part in _verbatim(node)).strip("\n")
        if text.strip():
            self._draft.paragraph(f"```\n{text}\n```")

    def _list(self, node: Node) -> None:
        self._lists += 1
        number = int(start) if (start := node.get("start")).removeprefix("-").isdecimal() and len(start) < 9 else 1
        for child in node.children:
            if isinstance(child, str):
                self._line.append(child)
            elif child.name == "li" and self._is_seen(child):
                self._end_block()
                value = child.get("value")
                number = int(value) if value.isdecimal() and len(value) < 9 else number
                self._item(child, f"{number}." if node.name == "ol" else "-")
                number += 1
            elif self._is_seen(child):
                self._element(child)
        self._end_block()
        self._lists -= 1

    def _item(self, node: Node, sign: str) -> None:
        self._sign = sign
        self._walk(node)
        self._end_block()
        self._sign = ""

    def _table(self, node: Node) -> None:
        rows = list(_rows(node))
        cells = [cell for row in rows for cell in row]
        layout = (
            max((len(row) for row in rows), default=0) < 2
            or any(_holds_blocks(cell) for cell in cells)
            or any(len(cell.text()) > _LONG_CELL for cell in cells)
        )
        for caption in node.elements("caption"):
            self._draft.paragraph(self._words(caption))
        if layout:
            for child in node.elements():
                if child.name != "caption" and self._is_seen(child):
                    self._element(child)
            return
        self._draft.table(self._grid(rows))

    def _grid(self, rows: list[list[Node]]) -> list[list[str]]:
        """The cells' words in their columns; one that spans several columns stands in the first of them."""
        grid: list[list[str]] = []
        above: dict[int, tuple[int, str]] = {}  # column → rows that a cell still covers, and what they say there
        for row in rows:
            line: list[str] = []
            waiting = list(reversed(row))
            widest = max(above, default=-1)
            while waiting or len(line) <= widest:
                if covered := above.pop(len(line), None):
                    left, words = covered
                    if left > 1:
                        above[len(line)] = left - 1, words
                    line.append(words)
                elif waiting:
                    cell = waiting.pop()
                    words = self._words(cell)
                    fits = len(line) < _WIDEST
                    high = _span(cell, "rowspan") if fits else 1
                    for offset in range(_span(cell, "colspan") if fits else 1):
                        if high > 1:
                            above[len(line)] = high - 1, label(words) if offset == 0 else ""
                        line.append(words if offset == 0 else "")
                else:
                    line.append("")
            grid.append(line)
        return grid

    def _end_block(self) -> None:
        text = _joined(self._line) if self._line else ""
        self._line = []
        if not text:
            return
        if self._lists and self._sign:
            self._draft.item(text, self._lists - 1, self._sign)
            self._sign = ""
        else:
            self._draft.paragraph(text)


def _words_in(root: Node) -> int:
    """Roughly how much an element has to say, navigation left out."""
    count = 0
    waiting: list[Node | str] = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            count += len(node.split())
        elif node.name not in _UNSEEN and node.name not in _NAVIGATION:
            waiting.extend(node.children)
    return count


def _joined(parts: list[str]) -> str:
    """Text with its white space joined as a browser does, and line breaks where the page has them."""
    lines = "".join(parts).split(_BREAK)
    return "\n".join(" ".join(line.split()) for line in lines).strip()


def _verbatim(node: Node) -> list[str]:
    parts: list[str] = []
    waiting: list[Node | str] = [node]
    while waiting:
        child = waiting.pop()
        if isinstance(child, str):
            parts.append(child)
        elif child.name == "br":
            parts.append(_BREAK)
        elif child.name not in _UNSEEN:
            waiting.extend(reversed(child.children))
    return parts


def _rows(table: Node) -> list[list[Node]]:
    """The rows of a table, not those of tables in its cells."""
    found = []
    for child in table.elements():
        if child.name in ("thead", "tbody", "tfoot"):
            found += _rows(child)
        elif child.name == "tr":
            found.append([cell for cell in child.elements() if cell.name in ("td", "th")])
    return found


def _holds_blocks(cell: Node) -> bool:
    """Whether a cell is a part of the page rather than of a table."""
    if next(cell.all("table"), None) is not None:
        return True
    heading = next(cell.all("h1", "h2", "h3"), None)
    return heading is not None and len(cell.text()) > len(heading.text()) + _SHORT_CELL


def _span(cell: Node, name: str) -> int:
    value = cell.get(name).strip()
    return min(max(int(value), 1), 100) if value.isdecimal() and len(value) < 5 else 1
