"""PowerPoint presentations (pptx): slide by slide, with tables, charts, speaker notes and comments."""

from __future__ import annotations

from collections.abc import Iterator

from rag.errors import SourceError
from rag.sources.archive import Archive
from rag.sources.draft import Draft, label, lowered, raised
from rag.sources.markup import Node
from rag.sources.office.formula import formula
from rag.sources.office.word import core_title
from rag.types import DEFAULT_READING, ReadOptions, SourceDocument

_FURNITURE = {"dt", "ftr", "sldNum", "hdr"}
_TITLES = {"title", "ctrTitle"}


def read_slides(data: bytes, title: str, options: ReadOptions = DEFAULT_READING) -> SourceDocument:
    """Reads a presentation; each slide is a section under its title, with its notes and comments below.

    Args:
        data: The file's bytes.
        title: Taken when neither the properties nor a slide gives one.

    Raises:
        SourceError: It is no presentation, damaged beyond repair, or without any text.
    """
    archive = Archive(data)
    main = archive.main_part("ppt/presentation.xml")
    presentation = archive.xml(main)
    relations = archive.relations(main)
    authors = _authors(archive, relations)
    draft = Draft()
    titled = ""
    silent: list[str] = []
    for number, entry in enumerate(presentation.all("p:sldId"), start=1):
        _, name = relations.get(entry.get("r:id"), ("", ""))
        try:
            slide = archive.xml(name)
        except SourceError as error:
            draft.problems.append(f"slide {number}: {error.message.rstrip('.')}")
            continue
        before = draft.length
        heading = _Slide(archive, name, draft, authors).write(slide, number)
        titled = titled or heading
        if draft.length == before:
            silent.append(str(number))
    draft.problems += archive.problems
    draft.notes += archive.notes
    if silent:
        draft.notes.append(f"slides without any text: {', '.join(silent)}")
    return draft.finish(data, core_title(archive) or titled or title)


class _Slide:
    """One slide on its way into the draft."""

    def __init__(self, archive: Archive, name: str, draft: Draft, authors: dict[str, str]) -> None:
        self._archive = archive
        self._relations = archive.relations(name)
        self._draft = draft
        self._authors = authors

    def write(self, slide: Node, number: int) -> str:
        """Writes the slide, and gives its title; empty when it has none."""
        shapes = list(_shapes(slide))
        titles = [shape for shape in shapes if _placeholder(shape) in _TITLES and _words(shape)]
        title = " ".join(_words(titles[0]).split()) if titles else ""
        speaks = any(shape.name == "p:graphicFrame" or _words(shape).strip() for shape in shapes)
        self._draft.mark("slide", number)
        if title or speaks:
            self._draft.heading(1, title or f"Slide {number}")
        if slide.get("show") == "0":
            self._draft.paragraph("(This slide is hidden.)")
        for shape in shapes:
            if shape not in titles[:1] and _placeholder(shape) not in _FURNITURE:
                self._shape(shape)
        self._notes()
        self._comments()
        return title

    def _shape(self, shape: Node) -> None:
        if shape.name == "p:graphicFrame":
            for table in shape.all("a:tbl"):
                self._draft.table(_grid(table))
            for chart in shape.all("c:chart"):
                self._chart(self._target(chart.get("r:id")))
            for diagram in shape.all("dgm:relIds"):
                for point in self._target(diagram.get("r:dm")).all("dgm:pt"):
                    self._draft.item(_words(point))
            return
        placeholder = _placeholder(shape)
        body = shape.first("p:txBody")
        if body is None:
            return
        for paragraph in body.elements("a:p"):
            text = _text(paragraph)
            properties = paragraph.first("a:pPr") or Node("", {})
            bullet = any(properties.first(sign) is not None for sign in ("a:buChar", "a:buAutoNum", "a:buBlip"))
            bare = properties.first("a:buNone") is not None
            if bullet or (placeholder in ("body", "obj", "") and placeholder is not None and not bare):
                level = properties.get("lvl")
                self._draft.item(text, int(level) if level.isdecimal() and len(level) == 1 else 0)
            else:
                self._draft.paragraph(text)

    def _chart(self, root: Node) -> None:
        """A chart as its title and the table of its values."""
        for heading in root.all("c:title"):
            self._draft.paragraph(_words(heading))
            break
        series = list(root.all("c:ser"))
        columns = [(_cached(one.first("c:tx")), one.first("c:val") or one.first("c:yVal")) for one in series]
        labels = _cached(series[0].first("c:cat") or series[0].first("c:xVal")) if series else {}
        values = [_cached(node) for _, node in columns]
        rows = sorted({*labels, *(index for column in values for index in column)})
        head = ["", *(" ".join(name.values()) for name, _ in columns)]
        body = [[labels.get(row, ""), *(column.get(row, "") for column in values)] for row in rows]
        self._draft.table([head, *body] if rows else [])

    def _target(self, relation: str) -> Node:
        _, name = self._relations.get(relation, ("", ""))
        return self._archive.xml_if_there(name)

    def _parts(self, kind: str) -> Iterator[Node]:
        return (self._archive.xml_if_there(name) for found, name in self._relations.values() if found == kind)

    def _notes(self) -> None:
        texts = [
            _words(shape)
            for notes in self._parts("notesSlide")
            for shape in _shapes(notes)
            if _placeholder(shape) not in (_FURNITURE | {"sldImg", None})
        ]
        if any(text.strip() for text in texts):
            self._draft.heading(2, "Notes")
            for text in texts:
                self._draft.paragraph(text)

    def _comments(self) -> None:
        lines = [
            f"{self._authors.get(comment.get('authorId')) or 'someone'}: {' '.join(text.split())}"
            for part in self._parts("comments")
            for comment in part.all("p:cm", "cm", "reply")
            if (text := _comment_text(comment)).strip()
        ]
        if lines:
            self._draft.heading(2, "Comments")
            for line in lines:
                self._draft.paragraph(line)


def _grid(table: Node) -> Iterator[list[str]]:
    """The words of a table's cells; one that is merged over several columns stands in the first of them."""
    above: list[str] = []
    for row in table.elements("a:tr"):
        line = []
        for column, cell in enumerate(row.elements("a:tc")):
            if cell.get("vMerge") in ("1", "true"):
                line.append(label(above[column]) if column < len(above) else "")
            else:
                line.append(_words(cell))
        yield line
        above = line


def _comment_text(comment: Node) -> str:
    """The words of a comment, without those of the replies to it."""
    old = comment.first("p:text")
    return old.text() if old else " ".join(_words(body) for body in comment.elements() if body.name == "txBody")


def _authors(archive: Archive, relations: dict[str, tuple[str, str]]) -> dict[str, str]:
    return {
        author.get("id"): author.get("name")
        for kind, name in relations.values()
        if kind in ("commentAuthors", "authors")
        for author in archive.xml_if_there(name).all("p:cmAuthor", "author")
    }


def _shapes(root: Node) -> Iterator[Node]:
    """The shapes of a slide that can hold text, groups taken apart, in the order of the file."""
    for child in root.elements():
        if child.name in ("p:sp", "p:graphicFrame", "p:cxnSp"):
            yield child
        elif child.name == "mc:AlternateContent":
            yield from _shapes(child.first("mc:Choice") or child.first("mc:Fallback") or Node("", {}))
        else:
            yield from _shapes(child)


def _placeholder(shape: Node) -> str | None:
    """What a shape stands for in the layout ("title", "body", "" for content); None for a free one."""
    for name in ("p:nvSpPr", "p:nvGraphicFramePr"):
        holder = shape.first(name, "p:nvPr", "p:ph")
        if holder is not None:
            return holder.get("type")
    return None


def _words(node: Node) -> str:
    """The paragraphs in an element, one a line."""
    return "\n".join(_text(paragraph) for paragraph in node.all("a:p"))


def _text(paragraph: Node) -> str:
    parts: list[str] = []
    for run in paragraph.elements():
        if run.name in ("a:r", "a:fld"):
            text = "".join(part.text() for part in run.elements("a:t"))
            shift = (run.first("a:rPr") or Node("", {})).get("baseline")
            change = str if shift in ("", "0", "0%") else lowered if shift.startswith("-") else raised
            parts.append(change(text))
        elif run.name == "a:br":
            parts.append("\n")
        else:
            parts += [f" {formula(equation)} " for equation in run.all("m:oMath")]
    return "".join(parts)


def _cached(node: Node | None) -> dict[int, str]:
    """The values that a chart keeps of its sheet, by their index."""
    found: dict[int, str] = {}
    for point in node.all("c:pt") if node is not None else ():
        index, value = point.get("idx"), point.first("c:v")
        if index.isdecimal() and len(index) < 7 and value is not None:
            found[int(index)] = value.text()
    return found or ({0: value.text()} if node is not None and (value := node.first("c:v")) else {})
