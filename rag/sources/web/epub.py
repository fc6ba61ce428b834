"""EPUB books: the chapters in reading order, titled by the table of contents where they have no heading."""

from __future__ import annotations

from dataclasses import replace

from rag.errors import SourceError
from rag.sources.archive import Archive, resolve
from rag.sources.dates import plain_date
from rag.sources.draft import Draft
from rag.sources.markup import Node, parse_html
from rag.sources.web.html import decode_html, write_html
from rag.types import DEFAULT_READING, ReadOptions, SourceDocument

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")


def read_epub(data: bytes, title: str, options: ReadOptions = DEFAULT_READING) -> SourceDocument:
    """Reads a book in the order of its spine.

    Args:
        data: The file's bytes.
        title: Taken when the book names none.

    Raises:
        SourceError: It is no EPUB, damaged beyond repair, locked by its publisher, or without any text.
    """
    archive = Archive(data)
    container = archive.xml("META-INF/container.xml")
    main = next((resolve("", file.get("full-path")) for file in container.all("rootfile")), "")
    package = archive.xml(main)
    folder = main.rpartition("/")[0]
    items = {item.get("id"): item for item in package.all("item")}
    spine = [items[entry.get("idref")] for entry in package.all("itemref") if entry.get("idref") in items]
    chapters = [resolve(folder, item.get("href")) for item in spine if "nav" not in item.get("properties").split()]
    locked = _encrypted(archive)
    if chapters and all(name in locked for name in chapters):
        raise SourceError("The book is locked by its publisher (DRM) and cannot be read.")
    labels = _labels(archive, folder, items)
    draft = Draft()
    for name in chapters:
        try:
            decoded = decode_html(archive.read(name))
            page = parse_html(decoded.text)
        except SourceError as error:
            draft.problems.append(error.message.rstrip("."))
            continue
        draft.problems += [f"{name}: {problem}" for problem in decoded.problems]
        if name in labels and next(page.all(*_HEADINGS), None) is None and page.text().strip():
            draft.heading(1, labels[name])
        write_html(page, draft)
    draft.problems += archive.problems
    draft.notes += archive.notes
    titles = [" ".join(node.text().split()) for node in package.all("dc:title")]
    authors = tuple(" ".join(node.text().split()) for node in package.all("dc:creator"))
    dates = [written for node in package.all("dc:date") if (written := plain_date(node.text()))]
    document = draft.finish(data, next(filter(None, titles), "") or draft.first_heading or title)
    return replace(document, authors=authors, year=int(dates[0][:4]) if dates else None, date="".join(dates[:1]))


def _encrypted(archive: Archive) -> set[str]:
    """The parts that are encrypted; in most books only fonts are."""
    root = archive.xml_if_there("META-INF/encryption.xml")
    return {resolve("", reference.get("URI")) for reference in root.all("CipherReference")}


def _labels(archive: Archive, folder: str, items: dict[str, Node]) -> dict[str, str]:
    """What the table of contents calls each chapter, by the name of its part."""
    labels: dict[str, str] = {}
    for item in items.values():
        name = resolve(folder, item.get("href"))
        here = name.rpartition("/")[0]
        if name not in archive:
            continue
        if item.get("media-type") == "application/x-dtbncx+xml":
            for point in archive.xml_if_there(name).all("navPoint"):
                content, label = point.first("content"), point.first("navLabel")
                if content and label:
                    labels.setdefault(resolve(here, content.get("src")), " ".join(label.text().split()))
        elif "nav" in item.get("properties").split():
            for link in archive.xml_if_there(name).all("a"):
                labels.setdefault(resolve(here, link.get("href")), " ".join(link.text().split()))
    return labels
