"""Small Office, OpenDocument and EPUB files, made by hand so that a test shows what is in them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_M = "http://schemas.openxmlformats.org/officeDocument/2006/math"
_S = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_P = "http://schemas.openxmlformats.org/presentationml/2006/main"
_A = "http://schemas.openxmlformats.org/drawingml/2006/main"
_R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_ODF = "urn:oasis:names:tc:opendocument:xmlns:"
_TYPES = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'

ENTITIES = '<!DOCTYPE x [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>'


def packed(parts: Mapping[str, str | bytes]) -> bytes:
    """A zip file of these parts."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            # The kind of an OpenDocument or EPUB file is told by its first part, which is stored as it is.
            archive.writestr(name, content, zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def paragraph(text: str, properties: str = "") -> str:
    """A paragraph of a Word document."""
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def word_table(*rows: str) -> str:
    """A table of a Word document, from its cells in XML."""
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in rows)}</w:tbl>"


def word_cell(text: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{paragraph(text)}</w:tc>"


def docx(body: str, parts: Mapping[str, str] | None = None, before: str = "") -> bytes:
    """A Word document; the other parts are named below ``word/`` and given by what is inside their root element."""
    roots = {
        "styles": "w:styles",
        "numbering": "w:numbering",
        "footnotes": "w:footnotes",
        "comments": "w:comments",
    }
    named = f'xmlns:w="{_W}" xmlns:m="{_M}" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    files = {
        "[Content_Types].xml": _TYPES,
        "word/document.xml": f"{before}<w:document {named}><w:body>{body}</w:body></w:document>",
    }
    for name, content in (parts or {}).items():
        files[f"word/{name}.xml"] = f"<{roots[name]} {named}>{content}</{roots[name]}>"
    return packed(files)


def pptx(*slides: str, notes: Mapping[int, str] | None = None) -> bytes:
    """A presentation of slides, each given by the shapes on it; notes by the slide's number."""
    named = f'xmlns:p="{_P}" xmlns:a="{_A}" xmlns:r="{_R}"'
    ids = "".join(f'<p:sldId id="{256 + at}" r:id="rId{at}"/>' for at in range(1, len(slides) + 1))
    files = {
        "[Content_Types].xml": _TYPES,
        "ppt/presentation.xml": f"<p:presentation {named}><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": _relations(
            {f"rId{at}": ("slide", f"slides/slide{at}.xml") for at in range(1, len(slides) + 1)}
        ),
    }
    for at, shapes in enumerate(slides, start=1):
        files[f"ppt/slides/slide{at}.xml"] = _slide("sld", named, shapes)
    for at, text in (notes or {}).items():
        files[f"ppt/notesSlides/notes{at}.xml"] = _slide("notes", named, shape(text, "body"))
        files[f"ppt/slides/_rels/slide{at}.xml.rels"] = _relations(
            {"rId1": ("notesSlide", f"../notesSlides/notes{at}.xml")}
        )
    return packed(files)


def shape(text: str, kind: str | None = None) -> str:
    """A shape with one paragraph for each line; ``kind`` is what it stands for in the layout."""
    holder = "" if kind is None else f'<p:ph type="{kind}"/>'
    lines = "".join(f"<a:p><a:r><a:t>{line}</a:t></a:r></a:p>" for line in text.split("\n"))
    return f"<p:sp><p:nvSpPr><p:nvPr>{holder}</p:nvPr></p:nvSpPr><p:txBody>{lines}</p:txBody></p:sp>"


def xlsx(sheets: Mapping[str, str], hidden: tuple[str, ...] = ()) -> bytes:
    """A workbook of sheets, each given by its XML."""
    numbered = list(enumerate(sheets.items(), start=1))
    entries = "".join(
        f'<sheet name="{name}" sheetId="{at}" r:id="rId{at}"{" state=" + chr(34) + "hidden" + chr(34) if name in hidden else ""}/>'
        for at, (name, _) in numbered
    )
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"
    types = _TYPES.replace("/>", f'><Override PartName="/xl/workbook.xml" ContentType="{kind}"/></Types>')
    files = {
        "[Content_Types].xml": types,
        "_rels/.rels": _relations({"rId1": ("officeDocument", "xl/workbook.xml")}),
        "xl/workbook.xml": f'<workbook xmlns="{_S}" xmlns:r="{_R}"><sheets>{entries}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": _relations(
            {f"rId{at}": ("worksheet", f"worksheets/sheet{at}.xml") for at, _ in numbered}
        ),
    }
    for at, (_, content) in numbered:
        files[f"xl/worksheets/sheet{at}.xml"] = f'<worksheet xmlns="{_S}">{content}</worksheet>'
    return packed(files)


def sheet_rows(rows: Mapping[int, Mapping[str, object]]) -> str:
    """The cells of a sheet, by row number and column letter."""

    def cell(place: str, value: object) -> str:
        if isinstance(value, str):
            return f'<c r="{place}" t="inlineStr"><is><t>{value}</t></is></c>'
        return f'<c r="{place}"><v>{value}</v></c>'

    lines = (
        f'<row r="{row}">{"".join(cell(f"{column}{row}", value) for column, value in cells.items())}</row>'
        for row, cells in rows.items()
    )
    return f"<sheetData>{''.join(lines)}</sheetData>"


def opendocument(kind: str, content: str, encrypted: bool = False, before: str = "") -> bytes:
    """An OpenDocument file; ``kind`` is ``text``, ``presentation`` or ``spreadsheet``."""
    prefixes = {"office": "office", "text": "text", "table": "table", "draw": "drawing", "presentation": "presentation"}
    named = " ".join(f'xmlns:{prefix}="{_ODF}{name}:1.0"' for prefix, name in prefixes.items())
    named += ' xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xlink="http://www.w3.org/1999/xlink"'
    lock = "<m:encryption-data/>" if encrypted else ""
    return packed(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "META-INF/manifest.xml": f'<m:manifest xmlns:m="{_ODF}manifest:1.0"><m:file-entry>{lock}</m:file-entry></m:manifest>',
            "content.xml": f"{before}<office:document-content {named}><office:body><office:{kind}>{content}"
            f"</office:{kind}></office:body></office:document-content>",
        }
    )


def epub(chapters: Mapping[str, str | bytes], toc: Mapping[str, str] | None = None, metadata: str = "") -> bytes:
    """A book; its chapters by file name in reading order, the table of contents as file name and label."""
    manifest = "".join(f'<item id="c{at}" href="{name}"/>' for at, name in enumerate(chapters))
    spine = "".join(f'<itemref idref="c{at}"/>' for at, _ in enumerate(chapters))
    points = "".join(
        f'<navPoint><navLabel><text>{label}</text></navLabel><content src="{name}"/></navPoint>'
        for name, label in (toc or {}).items()
    )
    return packed(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>',
            "OPS/book.opf": f'<package xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>{metadata}</metadata><manifest>'
            f'{manifest}<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/></manifest>'
            f"<spine>{spine}</spine></package>",
            "OPS/toc.ncx": f"<ncx><navMap>{points}</navMap></ncx>",
            **{f"OPS/{name}": content for name, content in chapters.items()},
        }
    )


def _slide(kind: str, named: str, shapes: str) -> str:
    return f"<p:{kind} {named}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:{kind}>"


def _relations(targets: Mapping[str, tuple[str, str]]) -> str:
    lines = "".join(
        f'<Relationship Id="{identity}" Type="{_R}/{kind}" Target="{target}"/>'
        for identity, (kind, target) in targets.items()
    )
    return f'<Relationships xmlns="{_RELATIONS}">{lines}</Relationships>'
