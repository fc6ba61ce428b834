"""Word documents (docx): headings with their printed numbers, lists, tables, formulas, notes and comments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from rag.errors import SourceError
from rag.sources.archive import Archive
from rag.sources.draft import Draft, label, lowered, raised
from rag.sources.markup import Node
from rag.sources.office.formula import formula
from rag.sources.office.numbering import Numbering
from rag.types import DEFAULT_READING, ReadOptions, SourceDocument

_HEADING_STYLE = re.compile(r"heading ([1-9])", re.IGNORECASE)
_LISTING_STYLE = re.compile(r"(source )?code( block)?|html preformatted|plain text|macro text|listing", re.IGNORECASE)
_TYPEWRITER = re.compile(r"courier|consolas|menlo|monaco|lucida console|dejavu sans mono|source code", re.IGNORECASE)
_TRANSPARENT = {"w:sdt", "w:sdtContent", "w:ins", "w:moveTo", "w:smartTag", "w:customXml", "w:hyperlink"} | {
    "w:fldSimple", "w:bdo", "w:dir", "mc:Choice", "mc:Fallback",
}  # fmt: skip
_UNSEEN = {"w:del", "w:moveFrom", "w:pPr", "w:rPr", "w:instrText", "w:delText", "w:sdtPr", "w:tblPr", "w:sectPr"}
_SIGNS = {
    "w:tab": "\t", "w:ptab": "\t", "w:br": "\n", "w:cr": "\n", "w:noBreakHyphen": "-",
}  # fmt: skip
_LONG_CELL = 1500  # characters; longer ones are columns of a layout, not cells of a table


@dataclass(frozen=True, slots=True)
class _Style:
    name: str
    based_on: str
    outline: int | None  # 0 is the outermost heading, 9 is body text
    list_id: str
    list_depth: int | None


@dataclass(slots=True)
class _Paragraph:
    """A paragraph's text, and what hangs on it."""

    text: list[str] = field(default_factory=list)
    boxes: list[Node] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def read_word(data: bytes, title: str, options: ReadOptions = DEFAULT_READING) -> SourceDocument:
    """Reads a Word document.

    Footnotes, endnotes and comments follow the paragraph that refers to them. Page headers and footers, deleted text of
    tracked changes and hidden text are left out; hidden text is noted.

    Args:
        data: The file's bytes.
        title: Taken when neither the document's title nor a heading gives one.

    Raises:
        SourceError: It is no Word document, damaged beyond repair, or without any text.
    """
    archive = Archive(data)
    draft = Draft()
    main = archive.main_part("word/document.xml")
    root = archive.xml(main)
    body = root.first("w:body")
    if body is None:
        raise SourceError(f"The Word document is damaged: {main} has no text in it.")
    walk = _Body(archive, main, draft, options)
    walk.blocks(body)
    draft.problems += archive.problems
    draft.notes += archive.notes
    return draft.finish(data, walk.title or draft.first_heading or title)


def core_title(archive: Archive) -> str:
    """The title in an Office file's properties; empty where it is missing or a mere default."""
    node = archive.xml_if_there("docProps/core.xml").first("dc:title")
    words = " ".join(node.text().split()) if node else ""
    useless = re.fullmatch(
        r"(Microsoft )?(Word|PowerPoint|Excel)\b.*|(Power ?Point )?(presentation|document|title|untitled)\W*\d*"
        r"|.*\.(docx?|pptx?|xlsx?)|\W*",
        words,
        re.IGNORECASE,
    )
    return "" if useless else words


class _Body:
    """Walks down the body of a document."""

    def __init__(self, archive: Archive, main: str, draft: Draft, options: ReadOptions) -> None:
        self._archive = archive
        self._draft = draft
        self._options = options
        self._relations = archive.relations(main)
        parts = dict(self._relations.values())

        def part(kind: str) -> Node:
            return archive.xml_if_there(parts.get(kind, f"word/{kind}.xml"))

        self._styles = {node.get("w:styleId"): _style(node) for node in part("styles").elements("w:style")}
        self._numbering = Numbering(part("numbering"))
        self._notes = {
            ("w:footnoteReference", note.get("w:id")): note for note in part("footnotes").elements("w:footnote")
        } | {("w:endnoteReference", note.get("w:id")): note for note in part("endnotes").elements("w:endnote")}
        self._comments = {note.get("w:id"): note for note in part("comments").elements("w:comment")}
        self._note_count = 0
        self.title = core_title(archive)

    def blocks(self, node: Node) -> None:
        """Writes the paragraphs and tables in an element."""
        for child in node.elements():
            if child.name == "w:p":
                self._paragraph(child)
            elif child.name == "w:tbl":
                self._table(child)
            elif child.name == "mc:AlternateContent":
                self.blocks(_alternative(child))
            elif child.name == "m:oMathPara":
                self._draft.paragraph(formula(child))
            elif child.name == "w:altChunk":
                self._inserted(child.get("r:id"))
            elif child.name in ("w:r", "w:hyperlink"):  # out of place, in what nests too deeply
                self._paragraph(Node("w:p", {}, [child]))
            elif child.name not in _UNSEEN:
                self.blocks(child)

    def _inserted(self, relation: str) -> None:
        """Writes a whole document, of whatever format, that was inserted into this one and not merged with it yet."""
        from rag.sources import readers  # which knows this module in turn

        _, name = self._relations.get(relation, ("", ""))
        if name not in self._archive:
            self._archive.problems.append(f"inserted document {name or relation}: it is not in the file")
            return
        try:
            document = readers.read_bytes(self._archive.read(name), name, self._options)
        except SourceError as error:
            self._archive.problems.append(f"inserted document {name}: {error.message.rstrip('.')}")
            return
        self._archive.problems += [f"inserted document {name}: {problem}" for problem in document.problems]
        self._archive.notes += [f"inserted document {name}: {note}" for note in document.notes]
        self._draft.append(document, "", 0)

    def _paragraph(self, node: Node) -> None:
        found = _Paragraph()
        self._runs(node, found)
        text = "".join(found.text).strip()
        properties = node.first("w:pPr") or Node("", {})
        style_id = _value(properties, "w:pStyle")
        sign, depth = self._number(properties, style_id) if text else ("", 0)
        level = self._level(properties, style_id)
        if not text:
            pass
        elif level is not None:
            if level == 0 and not self._draft.first_heading:
                self.title = text
            self._draft.heading(level, f"{sign} {text}" if sign not in ("", "-") else text)
        elif sign:
            self._draft.item(text, depth, sign)
        elif self._is_listing(node, style_id):
            self._draft.line("".join(found.text))
        else:
            self._draft.paragraph(text)
        for note in found.notes:
            self._draft.paragraph(note)
        for box in found.boxes:
            self.blocks(box)

    def _runs(self, node: Node, found: _Paragraph) -> None:
        """Collects the text of a paragraph or of a part of it."""
        for child in node.elements():
            name = child.name
            if name == "w:t":
                found.text.append(child.text())
            elif name == "w:r":
                self._run(child, found)
            elif name in _UNSEEN:
                continue
            elif name in _SIGNS:
                if name != "w:br" or child.get("w:type") in ("", "textWrapping"):
                    found.text.append(_SIGNS[name])
            elif name == "w:sym":
                found.text.append(_symbol(child.get("w:char")))
            elif name in ("m:oMath", "m:oMathPara"):
                for equation in child.all("m:oMath"):
                    found.text.append(f" {formula(equation)} ")
            elif name in ("w:footnoteReference", "w:endnoteReference"):
                self._note(child, found)
            elif name == "w:commentReference":
                self._comment(child, found)
            elif name == "w:ruby":
                if base := child.first("w:rubyBase"):
                    self._runs(base, found)
            elif name == "mc:AlternateContent":
                self._runs(_alternative(child), found)
            elif name in ("w:drawing", "w:pict", "w:object"):
                found.boxes += _text_boxes(child)
            else:
                self._runs(child, found)

    def _run(self, run: Node, found: _Paragraph) -> None:
        properties = run.first("w:rPr")
        if properties is None:
            self._runs(run, found)
            return
        if _is_on(properties.first("w:vanish")):
            self._draft.leave_out(run.text())
            return
        place = _value(properties, "w:vertAlign")
        if place not in ("superscript", "subscript"):
            self._runs(run, found)
            return
        inside = _Paragraph(boxes=found.boxes, notes=found.notes)
        self._runs(run, inside)
        change = raised if place == "superscript" else lowered
        found.text.append(change("".join(inside.text)))

    def _note(self, reference: Node, found: _Paragraph) -> None:
        note = self._notes.get((reference.name, reference.get("w:id")))
        if note is not None and note.get("w:type") in ("", "normal"):
            self._note_count += 1
            found.text.append(f"[^{self._note_count}]")
            found.notes.append(f"[^{self._note_count}]: {self._plain(note)}")

    def _comment(self, reference: Node, found: _Paragraph) -> None:
        comment = self._comments.get(reference.get("w:id"))
        if comment is not None and (text := self._plain(comment)):
            found.notes.append(f"[Comment by {comment.get('w:author') or 'someone'}: {text}]")

    def _plain(self, node: Node) -> str:
        """The words of a note as one line."""
        inside = _Paragraph()
        for paragraph in node.all("w:p"):
            self._runs(paragraph, inside)
            inside.text.append(" ")
        return " ".join("".join(inside.text).split())

    def _table(self, node: Node) -> None:
        rows = list(_rows(node))
        widest = max((len(row) for row in rows), default=0)
        cells = [cell for row in rows for cell in row]
        layout = widest < 2 or any(self._is_layout(cell) for cell in cells)
        if layout:
            for cell in cells:
                self.blocks(cell)
            return
        above: dict[int, str] = {}  # the words of the cells that are merged downwards, by their column
        self._draft.table([list(self._cells(row, above)) for row in rows])

    def _is_layout(self, cell: Node) -> bool:
        return next(cell.all("w:tbl"), None) is not None or len(cell.text()) > _LONG_CELL

    def _cells(self, row: list[Node], above: dict[int, str]) -> Iterator[str]:
        """The words of a row's cells in their columns; a merged cell stands in the first column that it covers."""
        column = 0
        for cell in row:
            properties = cell.first("w:tcPr") or Node("", {})
            merged = properties.first("w:vMerge")
            if merged is not None and merged.get("w:val") != "restart":
                yield label(above.get(column, ""))
            else:
                inside = Draft()
                outside, self._draft = self._draft, inside
                self.blocks(cell)
                self._draft = outside
                self._draft.take_hidden(inside)
                yield inside.text
                above[column] = inside.text
            span = _value(properties, "w:gridSpan")
            width = min(max(int(span), 1), 100) if span.isdecimal() and len(span) < 5 else 1
            yield from [""] * (width - 1)
            column += width

    def _number(self, properties: Node, style_id: str) -> tuple[str, int]:
        """What is printed before a paragraph, and how deep its list is."""
        numbered = properties.first("w:numPr")
        identity = _value(numbered, "w:numId") if numbered else ""
        depth_text = _value(numbered, "w:ilvl") if numbered else ""
        if not identity:
            for own_id, style in self._chain(style_id):
                if style.list_id:
                    identity = style.list_id
                    styled = style.list_depth
                    if styled is None:
                        styled = self._numbering.depth_of_style(identity, own_id)
                    depth_text = depth_text or str(styled)
                    break
        depth = int(depth_text) if depth_text.isdecimal() and len(depth_text) < 3 else 0
        return (self._numbering.next(identity, depth), depth) if identity not in ("", "0") else ("", 0)

    def _level(self, properties: Node, style_id: str) -> int | None:
        """How deep a paragraph stands as a heading, 0 for the title; None when it is none."""
        own = _value(properties, "w:outlineLvl")
        if own.isdecimal():
            return int(own) + 1 if int(own) < 9 else None
        for _, style in self._chain(style_id):
            if named := _HEADING_STYLE.fullmatch(style.name):
                return int(named[1])
            if style.outline is not None:
                return style.outline + 1 if style.outline < 9 else None
            if style.name.lower() == "title":
                return 0
        return None

    def _is_listing(self, node: Node, style_id: str) -> bool:
        """Whether a paragraph is a line of code, by its style or because all of it is typewritten."""
        if any(_LISTING_STYLE.fullmatch(style.name) for _, style in self._chain(style_id)):
            return True
        runs = [run for run in node.elements("w:r") if run.first("w:t") is not None]
        fonts = [run.first("w:rPr", "w:rFonts") for run in runs]
        return bool(fonts) and all(font is not None and _TYPEWRITER.match(font.get("w:ascii")) for font in fonts)

    def _chain(self, style_id: str) -> Iterator[tuple[str, _Style]]:
        """A style and those that it is based on."""
        seen: set[str] = set()
        while style_id in self._styles and style_id not in seen:
            seen.add(style_id)
            yield style_id, self._styles[style_id]
            style_id = self._styles[style_id].based_on


def _style(node: Node) -> _Style:
    properties = node.first("w:pPr") or Node("", {})
    outline = _value(properties, "w:outlineLvl")
    numbered = properties.first("w:numPr") or Node("", {})
    depth = _value(numbered, "w:ilvl")
    return _Style(
        name=_value(node, "w:name"),
        based_on=_value(node, "w:basedOn"),
        outline=int(outline) if outline.isdecimal() else None,
        list_id=_value(numbered, "w:numId"),
        list_depth=int(depth) if depth.isdecimal() else None,
    )


def _value(node: Node, name: str) -> str:
    found = node.first(name)
    return found.get("w:val") if found is not None else ""


def _is_on(node: Node | None) -> bool:
    return node is not None and node.get("w:val") not in ("0", "false", "off")


def _alternative(node: Node) -> Node:
    """The newest form of content that the file holds in several."""
    return node.first("mc:Choice") or node.first("mc:Fallback") or Node("", {})


def _text_boxes(node: Node) -> list[Node]:
    """The outermost text boxes in a drawing, each in one of its forms only."""
    found: list[Node] = []
    for child in node.elements():
        if child.name == "w:txbxContent":
            found.append(child)
        else:
            found += _text_boxes(_alternative(child) if child.name == "mc:AlternateContent" else child)
    return found


def _symbol(code: str) -> str:
    """A character of a symbol font; its place in the font where that is no letter of Unicode."""
    try:
        character = chr(int(code, 16))
    except (ValueError, OverflowError):
        return ""
    return "" if "\ue000" <= character <= "\uf8ff" else character


def _rows(node: Node) -> Iterator[list[Node]]:
    for child in node.elements():
        if child.name == "w:tr":
            before = _value(child.first("w:trPr") or Node("", {}), "w:gridBefore")
            missing = min(int(before), 100) if before.isdecimal() and len(before) < 5 else 0
            yield [*[Node("w:tc", {})] * missing, *_inside(child, "w:tc")]
        elif child.name in _TRANSPARENT:
            yield from _rows(child)


def _inside(node: Node, name: str) -> Iterator[Node]:
    for child in node.elements():
        if child.name == name:
            yield child
        elif child.name in _TRANSPARENT:
            yield from _inside(child, name)
