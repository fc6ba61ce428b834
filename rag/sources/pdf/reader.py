"""PDF through PyMuPDF: text with its pages, headings and tables, and pictures of pages with passages marked.

PyMuPDF is not thread-safe and can crash on hostile files: outside of tests, call these functions in the processes of
:class:`rag.sources.workers.ReaderPool` only.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby, pairwise, takewhile
from pathlib import Path
from typing import Any

from rag.errors import SourceError
from rag.sources import ocr
from rag.sources.dates import plain_date
from rag.sources.hidden import Noted, letters, note, placed
from rag.sources.pdf.furniture import furniture
from rag.sources.pdf.grids import Box
from rag.sources.pdf.headings import Candidate, body_size, outline_headings, stands_out, styled_headings
from rag.sources.pdf.order import Paragraph, Table, rows
from rag.sources.pdf.page import Block, arrange, blocks_text, pieces_of
from rag.sources.pdf.papers import find_paper, with_abstract
from rag.sources.pdf.tables import repeat_head
from rag.sources.pdf.text import PageText, leave_layout_out, page_text
from rag.sources.pdf.verdict import is_garbled
from rag.sources.plain.text import Heading, sections
from rag.types import DEFAULT_READING, Page, PageVerdict, ReadOptions, Remedy, SourceDocument, Span

_PAGE_BREAK = "\n\n"
_DAMAGE = ("syntax error", "zlib error", "read error", "broken file")
_USELESS_TITLE = re.compile(
    r"untitled|\(?anonymous\)?|(microsoft )?(word|powerpoint|excel) - .*"
    r"|.*\.(docx?|tex|dvi|pdf|indd|txt|rtf|qxd|pptx?|xlsx?)|[\W\d_]*",
    re.IGNORECASE,
)
_FEW = 200  # characters; what a stamp on a scanned page may have
_MOST_PAGES = 20_000
_MAX_PIXELS = 8_000_000
_OCR_PIXELS = 4_000_000  # an A4 page at about 200 dots an inch
_HIGHLIGHT = (1.0, 0.87, 0.35)
_SCAN = "an image without text, looks like a scan"
_GARBLED = "its characters are not those that are printed"


@dataclass(slots=True)
class _Sheet:
    """A page while it is read."""

    text: PageText = field(default_factory=lambda: PageText((0.0, 0.0), (0.0, 0.0), [], [], []))
    blocks: list[Block] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    verdict: PageVerdict = PageVerdict.TEXT
    problem: str = ""
    pictured: bool = False


def read_pdf(data: bytes, title: str, options: ReadOptions = DEFAULT_READING) -> SourceDocument:
    """Reads the text of a PDF in reading order.

    Lines of a paragraph stay lines, a word that is hyphenated at the end of a line is joined, tables become Markdown,
    and paragraphs and pages are parted by a blank line. Running headers, footers and page numbers are left out.

    Args:
        data: The file's bytes.
        title: Taken when neither the metadata nor the first page gives one.
        options: Passwords, text recognition and layout analysis are of use here.

    Raises:
        SourceError: It is no PDF, damaged beyond repair, or wants another password.
    """
    with _opened(data, options.passwords) as document:
        sheets = [_sheet(document, index, options.layout) for index in range(min(document.page_count, _MOST_PAGES))]
        notes = _arrange_all(sheets)
        for above, below in pairwise(sheets):
            if above.blocks and below.blocks:
                last, first = above.blocks[-1], below.blocks[0]
                if isinstance(last, Table) and isinstance(first, Table):
                    repeat_head(last, first)
        for index, sheet in enumerate(sheets):
            sheet.texts = blocks_text(sheet.blocks)
            _judge(sheet)
            if options.ocr and sheet.verdict in (PageVerdict.SCAN, PageVerdict.GARBLED) and ocr.available():
                _recognise(document, index, sheet)
        notes += _recognised_note(sheets)
        printed = _printed_title(sheets[0])
        named = _metadata_title(document) or printed or title
        entries = document.get_toc()
        metadata = {name: value or "" for name, value in (document.metadata or {}).items()}
        missing = document.page_count - len(sheets)
    pages = _pages(sheets)
    whole = _PAGE_BREAK.join("".join(sheet.texts) for sheet in sheets)
    headings = list(outline_headings(entries, whole, pages)) or _styled(sheets, pages, printed)
    problems = _problems(pages)
    if missing > 0:
        problems += (f"only the first {_MOST_PAGES:,} pages were read; {missing:,} more were not",)
    if not whole.strip() and not problems:
        problems = ("there is nothing on any page",)
    unread = any(page.verdict in (PageVerdict.SCAN, PageVerdict.GARBLED) and page.problem for page in pages)
    if unread and options.ocr and not ocr.available():
        problems += (f"text recognition is on, but no engine is installed: {ocr.INSTALL}",)
    hidden = placed(whole, _noted(sheets, pages))
    paper = find_paper(list(_placed(sheets[:2], pages)), whole, metadata)
    found = sections(whole, headings)
    return SourceDocument(
        text=whole,
        title=paper.title if paper and paper.title else named,
        sections=with_abstract(found, paper.abstract) if paper else found,
        sha256=hashlib.sha256(data).hexdigest(),
        pages=pages,
        problems=problems,
        remedies=(Remedy.OCR,) if unread else (),
        notes=(*notes, *note(whole, hidden)),
        authors=paper.authors if paper else (),
        year=paper.year if paper else None,
        date=str(paper.year) if paper and paper.year else _made(metadata.get("creationDate", "")),
        hidden=hidden,
    )


def _noted(sheets: Sequence[_Sheet], pages: Sequence[Page]) -> Iterator[Noted]:
    """What is not to be seen on the pages, each run noted at its page's place in the text."""
    for sheet, page in zip(sheets, pages, strict=True):
        for how, words in sheet.text.hidden:
            yield Noted(page.span.start, how, words)


def _made(created: str) -> str:
    """The day of a date as PDF writes it: ``D:20240501120000Z``."""
    found = re.match(r"(?:D:)?(\d{4})(\d{2})(\d{2})", created)
    return plain_date("-".join(found.groups())) if found else ""


def page_image(path: Path, page: int, passages: Sequence[str], zoom: float, passwords: tuple[str, ...] = ()) -> bytes:
    """Draws a page with passages marked where they stand.

    Args:
        path: The PDF.
        page: Its page, from 1.
        passages: Texts as :func:`read_pdf` gave them; white space, hyphens and punctuation need not agree. What is
            not on the page is not marked.
        zoom: 1 is 72 dots an inch; made smaller where the picture would have more than 8 million pixels.
        passwords: Tried in turn where the file is encrypted.

    Returns:
        A PNG file.

    Raises:
        SourceError: The file is gone, cannot be opened as PDF, or has no such page.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SourceError(f"{path.name} cannot be opened: {error.strerror}.", "Sync the folder again.") from error
    with _opened(data, passwords) as document:
        if not 1 <= page <= document.page_count:
            raise SourceError(f"{path.name} has no page {page}.", "Sync the folder again.")
        drawn = document[page - 1]
        for place in _marked(drawn, passages) if passages else ():
            annotation = drawn.add_rect_annot(place)
            annotation.set_border(width=0)
            annotation.set_colors(stroke=_HIGHLIGHT, fill=_HIGHLIGHT)
            annotation.update(blend_mode="Multiply")  # ink stays as dark as it was
        return _png(drawn, zoom, _MAX_PIXELS)


@contextmanager
def _opened(data: bytes, passwords: tuple[str, ...]) -> Iterator[Any]:
    """Opens a PDF and turns what MuPDF raises into :class:`SourceError`."""
    leave_layout_out()
    import pymupdf

    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    try:
        with pymupdf.open(stream=data, filetype="pdf") as document:
            if not document.is_pdf:
                raise SourceError("The file is no PDF, though its name ends like one.")
            if document.needs_pass and not any(document.authenticate(password) for password in passwords):
                how = ", and none of the passwords given opens it" if passwords else " and wants a password"
                raise SourceError(f"The PDF is encrypted{how}.", "Type its password.", Remedy.PASSWORD)
            if document.page_count < 1:
                raise SourceError("The PDF is damaged: no page of it can be found.")
            yield document
    except (RuntimeError, ValueError, pymupdf.mupdf.FzErrorBase) as error:
        raise SourceError(f"The PDF is damaged: {_cause(error)}.") from error


def _cause(error: Exception) -> str:
    return re.sub(r"^code=\d+: ", "", str(error).strip().rstrip(".")) or type(error).__name__


def _png(page: Any, zoom: float, most: float) -> bytes:
    """A picture of a page with at most so many pixels."""
    import pymupdf

    area = max(page.rect.width * page.rect.height, 1.0)
    zoom = min(zoom, (most / area) ** 0.5)
    picture: bytes = page.get_pixmap(matrix=pymupdf.Matrix(zoom, zoom), alpha=False).tobytes("png")
    return picture


# --------------------------------------------------------------------------------------------------------------- pages


def _sheet(document: Any, index: int, layout: bool) -> _Sheet:
    """What is on a page, before the pages are compared."""
    import pymupdf

    pymupdf.TOOLS.reset_mupdf_warnings()
    sheet = _Sheet()
    try:
        page = document[index]
        sheet.text = page_text(page, layout=layout)
        if sum(len(piece.text) for piece in sheet.text.pieces) < _FEW:
            sheet.pictured = bool(page.get_image_info()) or any(
                item[0] == "c" for drawing in page.get_cdrawings() for item in drawing["items"]
            )
    except (RuntimeError, ValueError, pymupdf.mupdf.FzErrorBase) as error:
        sheet.verdict, sheet.problem = PageVerdict.DAMAGED, f"damaged: {_cause(error)}"
        return sheet
    warnings = pymupdf.TOOLS.mupdf_warnings()
    if any(sign in warnings for sign in _DAMAGE):
        sheet.verdict, sheet.problem = PageVerdict.DAMAGED, "damaged; text may be missing"
    return sheet


def _arrange_all(sheets: Sequence[_Sheet]) -> tuple[str, ...]:
    """Puts every page in reading order without what only runs along.

    Returns:
        A note on what was left out.
    """
    left_out: Counter[str] = Counter()
    for sheet, running in zip(sheets, furniture([sheet.text for sheet in sheets]), strict=True):
        sheet.blocks = arrange(sheet.text, running)
        words = [row.text for row in running if any(character.isalpha() for character in row.text)]
        if running and words and not sheet.blocks and not sheet.pictured:
            sheet.blocks = arrange(sheet.text)  # then it is all that the page says
        else:
            left_out.update(" ".join(re.sub(r"\d+", "…", text).split()) for text in words)
    if not left_out:
        return ()
    shown = "; ".join(f"“{text[:60]}”" for text, _ in left_out.most_common(3))
    return (f"running headers and footers were left out: {shown}",)


def _judge(sheet: _Sheet) -> None:
    if sheet.verdict is PageVerdict.DAMAGED:
        return
    text = "".join(sheet.texts)
    if not text.strip():
        sheet.verdict = PageVerdict.SCAN if sheet.pictured else PageVerdict.EMPTY
        sheet.problem = _SCAN if sheet.pictured else ""
    elif is_garbled(text):
        sheet.verdict, sheet.problem = PageVerdict.GARBLED, _GARBLED


def _recognise(document: Any, index: int, sheet: _Sheet) -> None:
    """Reads a page from its picture; what cannot be read so stays as it was."""
    page = document[index]
    recognised = ocr.recognised(_png(page, 4.0, _OCR_PIXELS))
    if not recognised.pieces:
        if sheet.verdict is PageVerdict.SCAN:
            sheet.problem = "an image in which no text was recognised"
        return
    sheet.blocks = arrange(recognised)
    sheet.texts = blocks_text(sheet.blocks)
    sheet.verdict, sheet.problem = PageVerdict.RECOGNISED, ""


def _recognised_note(sheets: Sequence[_Sheet]) -> tuple[str, ...]:
    count = sum(1 for sheet in sheets if sheet.verdict is PageVerdict.RECOGNISED)
    pages = "1 page was" if count == 1 else f"{count} pages were"
    return (f"{pages} read from the picture by {ocr.available()}; letters and figures may be wrong",) if count else ()


def _pages(sheets: Sequence[_Sheet]) -> tuple[Page, ...]:
    pages: list[Page] = []
    start = 0
    for number, sheet in enumerate(sheets, start=1):
        length = sum(map(len, sheet.texts))
        pages.append(Page(number, Span(start, start + length), sheet.problem, sheet.verdict))
        start += length + len(_PAGE_BREAK)
    return tuple(pages)


def _problems(pages: Sequence[Page]) -> tuple[str, ...]:
    """What is wrong with which pages; neighbours with the same problem are named together."""
    found: list[str] = []
    for problem, group in groupby(pages, key=lambda page: page.problem):
        numbers = [page.number for page in group]
        if problem:
            name = f"page {numbers[0]}" if len(numbers) == 1 else f"pages {numbers[0]} to {numbers[-1]}"
            found.append(f"{name}: {problem}")
    return tuple(found)


# ------------------------------------------------------------------------------------------------- title and headings


def _metadata_title(document: Any) -> str:
    title = " ".join(((document.metadata or {}).get("title") or "").replace("\0", "").split())
    return "" if _USELESS_TITLE.fullmatch(title) else title


def _printed_title(sheet: _Sheet) -> str:
    """What is printed largest on a page, if it stands out; else empty."""
    found = rows(sheet.text.pieces)
    sizes: Counter[float] = Counter()
    for row in found:
        sizes[row.size] += len(row.text)
    if not sizes or max(sizes) < 1.15 * sizes.most_common(1)[0][0]:
        return ""
    largest = max(sizes)
    first = next(index for index, row in enumerate(found) if row.size == largest)
    title = " ".join(row.text for row in takewhile(lambda row: row.size == largest, found[first:]))
    if "  " in title:
        return ""  # cells side by side
    return title if len(title) <= 200 and not _USELESS_TITLE.fullmatch(title) else ""


def _styled(sheets: Sequence[_Sheet], pages: Sequence[Page], title: str) -> list[Heading]:
    """Headings by their type, for a document without an outline."""
    body = body_size([sheet.blocks for sheet in sheets])
    first = pages[0].span.end
    candidates = [
        Candidate(start, " ".join(text.split()), block.rows[0].size, block.rows[0].bold, start < first)
        for start, block, text in _placed(sheets, pages)
        if isinstance(block, Paragraph) and stands_out(block, body)
    ]
    return styled_headings(candidates, title, pages[-1].span.end)


def _placed(sheets: Sequence[_Sheet], pages: Sequence[Page]) -> Iterator[tuple[int, Block, str]]:
    """Every block with its text, and where that begins in the document's."""
    for sheet, page in zip(sheets, pages, strict=False):
        start = page.span.start
        for block, text in zip(sheet.blocks, sheet.texts, strict=True):
            yield start, block, text
            start += len(text)


# -------------------------------------------------------------------------------------------------------------- marking


def _marked(page: Any, passages: Sequence[str]) -> list[Any]:
    """A rectangle for each line, or part of a line, that belongs to a passage."""
    import pymupdf

    found: list[str] = []
    places: list[tuple[int, Box]] = []
    number = 0
    for block in arrange(page_text(page, characters=True)):
        for pieces in pieces_of(block):
            for piece in pieces:
                number += 1
                for character in piece.characters:
                    for letter in letters(character.text):
                        found.append(letter)
                        places.append((number, character.box))
    marked: dict[int, Any] = {}
    for start, end in _found("".join(found), passages):
        for piece_number, box in places[start:end]:
            marked[piece_number] = marked.get(piece_number, pymupdf.EMPTY_RECT()) | pymupdf.Rect(box)
    return list(marked.values())


def _found(page: str, passages: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where the passages stand in a page's letters: whole if it can be, else piece by piece, in order.

    A piece is a row of a table, a line, or a sentence; where a row is not found so, its cells are.
    """
    for passage in passages:
        whole = letters(passage)
        if whole and (start := page.find(whole)) >= 0:
            yield start, start + len(whole)
            continue
        position = 0
        for piece in map(letters, re.split(r"\n+|(?<=[.!?])\s+|(?<=[。！？])", passage)):
            start = page.find(piece, position) if piece else -1
            # A word or two would be found anywhere; they count only where the passage goes on.
            if start < 0 or (len(piece) < 12 and start != position):
                continue
            yield start, start + len(piece)
            position = start + len(piece)
