"""OpenDocument text and presentations (odt, odp); their sheets (ods) go through :mod:`rag.sources.office.sheets`."""

from __future__ import annotations

from collections.abc import Iterator

from rag.errors import SourceError
from rag.sources.archive import Archive
from rag.sources.draft import Draft, label
from rag.sources.markup import Node
from rag.sources.office.formula import formula
from rag.types import DEFAULT_READING, ReadOptions, SourceDocument

_UNSEEN = {
    *("text:tracked-changes", "office:forms", "text:sequence-decls", "office:annotation-end", "text:variable-decls"),
    *("text:user-field-decls", "office:scripts", "svg:title", "svg:desc", "text:note-citation", "text:ruby-text"),
}
_GAPS = {"text:tab": "\t", "text:line-break": "\n", "text:soft-page-break": ""}
_MOST_REPEATS = 100  # of a blank or a cell; what comes more often is an empty margin
_LONG_CELL = 1500  # characters; longer ones are columns of a layout, not cells of a table


def read_text_document(data: bytes, title: str, options: ReadOptions = DEFAULT_READING) -> SourceDocument:
    """Reads an OpenDocument text; notes and comments follow the paragraph that refers to them.

    Args:
        data: The file's bytes.
        title: Taken when neither the metadata nor a heading gives one.

    Raises:
        SourceError: It is no OpenDocument file, damaged, encrypted, or without any text.
    """
    archive, body = _opened(data)
    draft = Draft()
    walk = _Text(archive, draft)
    walk.blocks(body)
    return _finished(archive, draft, data, walk.title or draft.first_heading or title)


def read_presentation(data: bytes, title: str, options: ReadOptions = DEFAULT_READING) -> SourceDocument:
    """Reads an OpenDocument presentation; each slide is a section under its title, with its notes below.

    Args:
        data: The file's bytes.
        title: Taken when neither the metadata nor a slide gives one.

    Raises:
        SourceError: As :func:`read_text_document`.
    """
    archive, body = _opened(data)
    draft = Draft()
    titled = ""
    for number, page in enumerate(body.all("draw:page"), start=1):
        titles = [frame for frame in page.all("draw:frame") if frame.get("presentation:class") == "title"]
        heading = " ".join(titles[0].text().split()) if titles else ""
        titled = titled or heading
        notes = page.first("presentation:notes")
        draft.mark("slide", number)
        if heading or page.text().strip():
            draft.heading(1, heading or f"Slide {number}")
        walk = _Text(archive, draft)
        for shape in page.elements():
            if shape not in titles[:1] and shape is not notes and shape.name != "office:annotation":
                walk.blocks(Node("", {}), shape)
        if notes is not None and any(frame.text().strip() for frame in _note_frames(notes)):
            draft.heading(2, "Notes")
            for frame in _note_frames(notes):
                walk.blocks(frame)
        comments = list(page.elements("office:annotation"))
        if comments:
            draft.heading(2, "Comments")
            for comment in comments:
                draft.paragraph(_comment(comment))
    return _finished(archive, draft, data, _title(archive) or titled or title)


def _opened(data: bytes) -> tuple[Archive, Node]:
    archive = Archive(data)
    manifest = archive.xml_if_there("META-INF/manifest.xml")
    if next(manifest.all("manifest:encryption-data"), None) is not None:
        raise SourceError("The document is encrypted, and cannot be read so.", "Save a copy without the password.")
    body = archive.xml("content.xml").first("office:body")
    if body is None:
        raise SourceError("The document is damaged: content.xml has no text in it.")
    return archive, body


def _title(archive: Archive) -> str:
    return next((" ".join(node.text().split()) for node in archive.xml_if_there("meta.xml").all("dc:title")), "")


def _finished(archive: Archive, draft: Draft, data: bytes, title: str) -> SourceDocument:
    draft.problems += archive.problems
    draft.notes += archive.notes
    return draft.finish(data, title)


def _note_frames(notes: Node) -> Iterator[Node]:
    return (frame for frame in notes.elements("draw:frame") if frame.get("presentation:class") == "notes")


def _comment(node: Node) -> str:
    author = next((child.text() for child in node.elements("dc:creator")), "") or "someone"
    words = " ".join(" ".join(paragraph.text().split()) for paragraph in node.all("text:p"))
    return f"[Comment by {author}: {words}]"


class _Text:
    """Walks down the body of a document."""

    def __init__(self, archive: Archive, draft: Draft) -> None:
        self._archive = archive
        self._draft = draft
        self._notes: list[str] = []
        self._boxes: list[Node] = []
        self._note_count = 0
        self.title = _title(archive)
        styles = [archive.xml_if_there("styles.xml"), archive.xml_if_there("content.xml")]
        self._styles = {style.get("style:name"): style for root in styles for style in root.all("style:style")}
        self._numbered = {
            (style.get("style:name"), level.get("text:level"))
            for root in styles
            for style in root.all("text:list-style")
            for level in style.elements("text:list-level-style-number")
        }

    def blocks(self, node: Node, *more: Node, depth: int = 0) -> None:
        """Writes the paragraphs, lists and tables in an element, or these elements themselves."""
        for child in (*node.elements(), *more):
            name = child.name
            if name == "text:h":
                level = child.get("text:outline-level")
                self._heading(child, int(level) if level.isdecimal() and len(level) == 1 else 1)
            elif name == "text:p":
                self._paragraph(child)
            elif name == "text:list":
                self._list(child, depth)
            elif name == "table:table":
                self._table(child)
            elif name == "draw:object":
                self._draft.paragraph(self._embedded(child.get("xlink:href")))
            elif name not in _UNSEEN:
                self.blocks(child, depth=depth)

    def _heading(self, node: Node, level: int) -> None:
        text = self._words(node)
        self._draft.heading(level, text)
        self._hanging()

    def _paragraph(self, node: Node, depth: int = 0, sign: str = "") -> None:
        text = self._words(node)
        if sign:
            self._draft.item(text, depth, sign)
        elif text.strip() and self._is_title(node.get("text:style-name")):
            self.title = self.title or " ".join(text.split())
            self._draft.heading(0, text)
        else:
            self._draft.paragraph(text)
        self._hanging()

    def _is_title(self, name: str) -> bool:
        style = self._styles.get(name)
        return name == "Title" or (style is not None and style.get("style:parent-style-name") == "Title")

    def _hanging(self) -> None:
        """Writes the notes and text boxes of the paragraph before."""
        notes, self._notes = self._notes, []
        boxes, self._boxes = self._boxes, []
        for note in notes:
            self._draft.paragraph(note)
        for box in boxes:
            self.blocks(box)

    def _list(self, node: Node, depth: int, style: str = "") -> None:
        style = node.get("text:style-name") or style
        is_numbered = (style, str(depth + 1)) in self._numbered
        number = 0
        for item in node.elements():
            if item.name not in ("text:list-item", "text:list-header"):
                continue
            value = item.get("text:start-value")
            number = int(value) if value.isdecimal() and len(value) < 9 else number + 1
            sign = f"{number}." if is_numbered else "-"
            for child in item.elements():
                if child.name == "text:list":
                    self._list(child, depth + 1, style)
                elif child.name == "text:p":
                    self._paragraph(child, depth, sign if item.name == "text:list-item" else "")
                    sign = ""
                else:
                    self.blocks(Node("", {}), child, depth=depth)

    def _table(self, node: Node) -> None:
        rows = [list(_cells(row)) for row in _rows(node)]
        cells = [cell for row in rows for cell in row]
        widest = max((sum(bool(cell.children) for cell in row) for row in rows), default=0)
        if widest < 2 or any(next(cell.all("table:table"), None) or len(cell.text()) > _LONG_CELL for cell in cells):
            for cell in cells:
                self.blocks(cell)
            return
        self._draft.table(self._grid(rows))

    def _grid(self, rows: list[list[Node]]) -> Iterator[list[str]]:
        """The words of a table's cells; one that is merged over several columns stands in the first of them."""
        above: dict[int, tuple[int, str]] = {}  # column → rows that a cell still covers, and its words
        for row in rows:
            line = []
            for column, cell in enumerate(row):
                left, words = above.pop(column, (0, ""))
                if cell.name != "table:covered-table-cell":
                    words = self._cell(cell)
                    high = cell.get("table:number-rows-spanned")
                    left = int(high) if high.isdecimal() and len(high) < 5 else 1
                    line.append(words)
                else:
                    line.append(label(words))
                if left > 1:
                    above[column] = left - 1, words
            yield line

    def _cell(self, cell: Node) -> str:
        outside, self._draft = self._draft, Draft()
        self.blocks(cell)
        inside, self._draft = self._draft, outside
        return inside.text

    def _words(self, node: Node) -> str:
        """The text of a paragraph; notes, comments and text boxes are put aside."""
        parts: list[str] = []
        for child in node.children:
            if isinstance(child, str):
                parts.append(" ".join(child.split("\n")))
            elif not _is_aside(child):
                parts.append(_GAPS[child.name] if child.name in _GAPS else self._inside(child))
            else:
                parts.append(self._aside(child))
        return "".join(parts)

    def _inside(self, node: Node) -> str:
        if node.name in _UNSEEN:
            return ""
        if node.name == "text:s":
            count = node.get("text:c")
            return " " * (min(int(count), _MOST_REPEATS) if count.isdecimal() and len(count) < 9 else 1)
        return self._words(node)

    def _aside(self, node: Node) -> str:
        if node.name == "text:note":
            self._note_count += 1
            body = node.first("text:note-body") or Node("", {})
            words = " ".join(" ".join(part.text().split()) for part in body.all("text:p"))
            self._notes.append(f"[^{self._note_count}]: {words}")
            return f"[^{self._note_count}]"
        if node.name == "office:annotation":
            self._notes.append(_comment(node))
            return ""
        formulas = [self._embedded(child.get("xlink:href")) for child in node.elements("draw:object")]
        self._boxes.append(Node("", {}, [child for child in node.elements() if child.name != "draw:object"]))
        return "".join(f" {text} " for text in formulas if text)

    def _embedded(self, link: str) -> str:
        """A formula that is kept in a part of its own."""
        name = f"{link.removeprefix('./').rstrip('/')}/content.xml"
        root = self._archive.xml_if_there(name)
        return formula(root) if root.name == "math:math" else ""


def _is_aside(node: Node) -> bool:
    """Whether it is no part of the line that it is written in: a note, a comment, a shape with words of its own."""
    return node.name in ("text:note", "office:annotation") or (node.name.startswith("draw:") and node.name != "draw:a")


def _rows(node: Node) -> Iterator[Node]:
    for child in node.elements():
        if child.name == "table:table-row":
            yield child
        elif child.name in ("table:table-header-rows", "table:table-rows", "table:table-row-group"):
            yield from _rows(child)


def _cells(row: Node) -> Iterator[Node]:
    """The cells of a row; one that a merged cell covers is empty."""
    for cell in row.elements():
        if cell.name in ("table:table-cell", "table:covered-table-cell"):
            count = cell.get("table:number-columns-repeated")
            times = min(int(count), _MOST_REPEATS) if count.isdecimal() and len(count) < 9 else 1
            yield from [cell if cell.name == "table:table-cell" else Node(cell.name, {})] * times
