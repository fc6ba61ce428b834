"""PDF through PyMuPDF: text with its pages, outline and title, and pictures of pages with passages marked.

PyMuPDF is not thread-safe and can crash on hostile files: outside of tests, call these functions in the processes of
:class:`rag.sources.workers.ReaderPool` only.

Reading order: the order in which the page was written is kept. On the test collection it finds 31 of 32 known phrases;
sorting by position finds 26 (it mixes columns), and MuPDF's segmentation finds 31 but takes tables apart by columns.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Any

from rag.errors import SourceError
from rag.sources.text import Heading, sections
from rag.types import DEFAULT_READING, Page, ReadOptions, SourceDocument, Span

_PAGE_BREAK = "\n\n"
_HYPHEN_AT_LINE_END = re.compile(r"(?<=[^\W\d_])[-\u00ad\u2010]\n(?=[a-zß-öø-ÿ])")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_SPACES = re.compile(r"[^\S\n]")  # of any width: which one it is belongs to the typesetting
_DAMAGE = ("syntax error", "zlib error", "read error", "broken file")
_USELESS_TITLE = re.compile(
    r"untitled|\(?anonymous\)?|(microsoft )?(word|powerpoint|excel) - .*"
    r"|.*\.(docx?|tex|dvi|pdf|indd|txt|rtf|qxd|pptx?|xlsx?)|[\W\d_]*",
    re.IGNORECASE,
)
_MAX_PIXELS = 8_000_000
_HIGHLIGHT = (1.0, 0.87, 0.35)


def read_pdf(data: bytes, title: str, options: ReadOptions = DEFAULT_READING) -> SourceDocument:
    """Reads the text layer of a PDF.

    Lines of a paragraph stay lines, a word that is hyphenated at the end of a line is joined, cells that stand beside
    each other are put on one line, and paragraphs and pages are parted by a blank line.

    Args:
        data: The file's bytes.
        title: Taken when neither the metadata nor the largest text of the first page gives one.

    Raises:
        SourceError: It is no PDF, damaged beyond repair, wants a password, or has no text on any page.
    """
    with _opened(data) as document:
        texts: list[str] = []
        problems: list[str] = []
        for index in range(document.page_count):
            text, problem = _page_text(document, index)
            texts.append(text)
            problems.append(problem)
        if not any(texts):
            raise SourceError(*_why_no_text(problems))
        pages = _pages(texts, problems)
        whole = _PAGE_BREAK.join(texts)
        return SourceDocument(
            text=whole,
            title=_title(document) or title,
            sections=sections(whole, _outline(document, whole, pages)),
            sha256=hashlib.sha256(data).hexdigest(),
            pages=pages,
            problems=tuple(f"page {page.number}: {page.problem}" for page in pages if page.problem),
        )


def page_image(path: Path, page: int, passages: Sequence[str], zoom: float, passwords: tuple[str, ...] = ()) -> bytes:
    """Draws a page with passages marked where they stand.

    Args:
        path: The PDF.
        page: Its page, from 1.
        passages: Texts as :func:`read_pdf` gave them; white space, hyphens and punctuation need not agree. What is
            not on the page is not marked.
        zoom: 1 is 72 dots an inch; made smaller where the picture would have more than 8 million pixels.

    Returns:
        A PNG file.

    Raises:
        SourceError: The file is gone, cannot be opened as PDF, or has no such page.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SourceError(f"{path.name} cannot be opened: {error.strerror}.", "Sync the folder again.") from error
    with _opened(data) as document:
        import pymupdf

        if not 1 <= page <= document.page_count:
            raise SourceError(f"{path.name} has no page {page}.", "Sync the folder again.")
        drawn = document[page - 1]
        for place in _marked_lines(drawn, passages):
            annotation = drawn.add_rect_annot(place)
            annotation.set_border(width=0)
            annotation.set_colors(stroke=_HIGHLIGHT, fill=_HIGHLIGHT)
            annotation.update(blend_mode="Multiply")  # ink stays as dark as it was
        zoom = min(zoom, (_MAX_PIXELS / (drawn.rect.width * drawn.rect.height)) ** 0.5)
        picture: bytes = drawn.get_pixmap(matrix=pymupdf.Matrix(zoom, zoom), alpha=False).tobytes("png")
        return picture


@contextmanager
def _opened(data: bytes) -> Iterator[Any]:
    """Opens a PDF and turns what MuPDF raises into :class:`SourceError`."""
    import pymupdf

    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    try:
        with pymupdf.open(stream=data, filetype="pdf") as document:
            if not document.is_pdf:
                raise SourceError("The file is no PDF, though its name ends like one.")
            if document.needs_pass:
                raise SourceError("The PDF is encrypted and wants a password.", "Save a copy without the password.")
            if not document.page_count:
                raise SourceError("The PDF is damaged: no page of it can be found.")
            yield document
    except (RuntimeError, ValueError, pymupdf.mupdf.FzErrorBase) as error:
        raise SourceError(f"The PDF is damaged: {_cause(error)}.") from error


def _cause(error: Exception) -> str:
    return re.sub(r"^code=\d+: ", "", str(error).strip().rstrip(".")) or type(error).__name__


def _page_text(document: Any, index: int) -> tuple[str, str]:
    """A page's text, and what is wrong with it."""
    import pymupdf

    pymupdf.TOOLS.reset_mupdf_warnings()
    try:
        page = document[index]
        text = _clean("\n\n".join(_block_text(block) for block in _blocks(page)))
    except (RuntimeError, ValueError, pymupdf.mupdf.FzErrorBase) as error:
        return "", f"damaged: {_cause(error)}"
    warnings = pymupdf.TOOLS.mupdf_warnings()
    if any(sign in warnings for sign in _DAMAGE):
        return text, "damaged; text may be missing"
    if not text:
        return "", "an image without text, looks like a scan" if page.get_images() else "no text"
    if text.count("\N{REPLACEMENT CHARACTER}") > len(text) / 10:
        return text, "its font does not tell which characters it shows"
    return text, ""


def _blocks(page: Any, characters: bool = False) -> list[Any]:
    """The text blocks of a page in the order they were written; with boxes of single characters if wanted."""
    import pymupdf

    # Ligatures are taken apart: nobody searches for the one character "ﬁ".
    flags = pymupdf.TEXTFLAGS_TEXT & ~pymupdf.TEXT_PRESERVE_LIGATURES
    found = page.get_text("rawdict" if characters else "dict", flags=flags)["blocks"]
    return [block for block in found if block["type"] == 0]


def _block_text(block: Any) -> str:
    parts: list[str] = []
    above = None
    for line in block["lines"]:
        text = "".join(span["text"] for span in line["spans"]).strip()
        if not text:
            continue
        if above is not None:
            parts.append(_between(above, line))
        parts.append(text)
        above = line
    return "".join(parts)


def _between(before: Any, line: Any) -> str:
    """What parts a line from the one before: spaces in a row of cells, nothing in a column of vertical writing."""
    left, top, right, bottom = before["bbox"]
    next_left, next_top, next_right, next_bottom = line["bbox"]
    if before["wmode"] == line["wmode"] == 1:
        # MuPDF makes a line of every character of vertical writing.
        shared = min(right, next_right) - max(left, next_left)
        return "" if shared > 0.5 * (right - left) and 0 <= next_top - top < 2 * (bottom - top) else "\n"
    shared = min(bottom, next_bottom) - max(top, next_top)
    in_row = next_left >= right - 1 and shared > 0.5 * min(bottom - top, next_bottom - next_top)
    return "  " if in_row and before["dir"] == line["dir"] == (1.0, 0.0) else "\n"


def _clean(text: str) -> str:
    text = _HYPHEN_AT_LINE_END.sub("", _CONTROLS.sub("", text)).replace("\N{SOFT HYPHEN}", "")
    return re.sub(r"\n{3,}", "\n\n", _SPACES.sub(" ", text)).strip()


def _pages(texts: Sequence[str], problems: Sequence[str]) -> tuple[Page, ...]:
    pages: list[Page] = []
    start = 0
    for number, (text, problem) in enumerate(zip(texts, problems, strict=True), start=1):
        pages.append(Page(number, Span(start, start + len(text)), problem))
        start += len(text) + len(_PAGE_BREAK)
    return tuple(pages)


def _why_no_text(problems: Sequence[str]) -> tuple[str, str]:
    count = f"All {len(problems)} pages are" if len(problems) > 1 else "The only page is"
    if any("scan" in problem for problem in problems):
        return f"{count} without text but with images; it looks like a scan.", "Run it through OCR first."
    if any(problem.startswith("damaged") for problem in problems):
        return f"The PDF is damaged: {problems[0].removeprefix('damaged').lstrip(':; ')}.", ""
    return f"{count} without any text.", ""


def _title(document: Any) -> str:
    """The title by the metadata, else what is printed largest on the first page; empty when neither is of use."""
    title = " ".join(((document.metadata or {}).get("title") or "").replace("\0", "").split())
    return title if title and not _USELESS_TITLE.fullmatch(title) else _largest_text(document[0])


def _largest_text(page: Any) -> str:
    sizes: Counter[float] = Counter()
    lines: list[tuple[float, str]] = []
    for line in (line for block in _blocks(page) for line in block["lines"]):
        text = " ".join("".join(span["text"] for span in line["spans"]).split())
        if text:
            size = round(max(span["size"] for span in line["spans"]), 1)
            sizes[size] += len(text)
            lines.append((size, text))
    if not lines:
        return ""
    largest = max(sizes)
    if largest < 1.15 * sizes.most_common(1)[0][0]:
        return ""
    first = next(index for index, (size, _) in enumerate(lines) if size == largest)
    title = " ".join(text for _, text in takewhile(lambda line: line[0] == largest, lines[first:]))
    return title if len(title) <= 200 and not _USELESS_TITLE.fullmatch(title) else ""


def _outline(document: Any, text: str, pages: Sequence[Page]) -> Iterator[Heading]:
    """The outline's entries where their words stand on the page they lead to.

    One whose words are not there starts with its page, unless an entry before it has that page already.
    """
    start, searched = -1, 0
    for level, title, page, *_ in document.get_toc():
        words = title.replace("\0", "").split()
        if not words or not 1 <= page <= len(pages):
            continue
        span = pages[page - 1].span
        pattern = r"^(?:[\dA-Z][\dA-Z.]*\s+)??" + r"\s+".join(map(re.escape, words))
        heading = re.compile(pattern, re.IGNORECASE | re.MULTILINE)
        match = heading.search(text, max(searched, span.start), span.end)
        if match:
            start, searched = match.span()
        elif span.start > start:
            start = span.start
        else:
            continue
        yield Heading(start, level, " ".join(words))


def _marked_lines(page: Any, passages: Sequence[str]) -> list[Any]:
    """A rectangle for each line, or part of a line, that belongs to a passage."""
    import pymupdf

    letters: list[str] = []
    places: list[tuple[int, Any]] = []
    lines = [line for block in _blocks(page, characters=True) for line in block["lines"]]
    number = 0
    for above, line in pairwise([None, *lines]):
        number += above is None or _between(above, line) != ""
        for character in (character for span in line["spans"] for character in span["chars"]):
            for letter in _letters(character["c"]):
                letters.append(letter)
                places.append((number, character["bbox"]))
    marked: dict[int, Any] = {}
    for start, end in _found("".join(letters), passages):
        for number, box in places[start:end]:
            marked[number] = marked.get(number, pymupdf.EMPTY_RECT()) | pymupdf.Rect(box)
    return list(marked.values())


def _found(page: str, passages: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where the passages stand in a page's letters: whole if it can be, else sentence by sentence, in order."""
    for passage in passages:
        whole = _letters(passage)
        if whole and (start := page.find(whole)) >= 0:
            yield start, start + len(whole)
            continue
        position = 0
        for piece in map(_letters, re.split(r"\n+|(?<=[.!?])\s+|(?<=[。！？])", passage)):
            start = page.find(piece, position) if piece else -1
            # A word or two would be found anywhere; they count only where the passage goes on.
            if start < 0 or (len(piece) < 12 and start != position):
                continue
            yield start, start + len(piece)
            position = start + len(piece)


def _letters(text: str) -> str:
    """Letters and digits only, without case: what is left when spacing, hyphens and ligatures differ."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))
