"""Which reader reads which file: one table by the file's ending, and the content where it says otherwise."""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from rag.errors import SourceError
from rag.sources.encodings import decode
from rag.sources.image import read_image
from rag.sources.office.lock import unlocked
from rag.sources.office.opendocument import read_presentation, read_text_document
from rag.sources.office.rtf import read_rtf
from rag.sources.office.sheets import read_sheets
from rag.sources.office.slides import read_slides
from rag.sources.office.word import read_word
from rag.sources.pdf.reader import read_pdf
from rag.sources.plain.data import read_json, read_json_lines
from rag.sources.plain.latex import read_latex
from rag.sources.plain.markdown import read_markdown
from rag.sources.plain.notebook import read_notebook
from rag.sources.plain.org import read_org
from rag.sources.plain.rst import read_rst
from rag.sources.plain.table import read_table
from rag.sources.plain.text import read_code, read_text
from rag.sources.signatures import ENCRYPTED, TOLD_BY_CONTENT, ending_by_content
from rag.sources.web.epub import read_epub
from rag.sources.web.html import read_html
from rag.sources.web.mail import read_eml, read_mhtml, read_msg
from rag.types import DEFAULT_READING, ReadOptions, SourceDocument, SourceFile

Reader = Callable[[bytes, str, ReadOptions], SourceDocument]
"""Takes the file's bytes, the title to use where the file names none, and how it is to be read."""


@dataclass(frozen=True, slots=True)
class Format:
    """A family of files that one reader reads.

    Attributes:
        name: For people, as in "a Word document".
        version: Counted up when the same bytes would give another document, so that files are read again.
        read: The reader.
        needs_ocr: It is a picture: there is nothing to read in it unless text is recognised.
    """

    name: str
    version: int
    read: Reader
    needs_ocr: bool = False


_TEXT = Format("plain text", 3, read_text)
_CODE = Format("source code", 1, read_code)
_MARKDOWN = Format("Markdown", 3, read_markdown)
_RST = Format("reStructuredText", 1, read_rst)
_ORG = Format("an Org file", 1, read_org)
_LATEX = Format("LaTeX", 1, read_latex)
_TABLE = Format("a table of values", 1, read_table)
_JSON = Format("JSON", 1, read_json)
_JSON_LINES = Format("JSON Lines", 1, read_json_lines)
_NOTEBOOK = Format("a notebook", 1, read_notebook)
_PDF = Format("a PDF", 4, read_pdf)
_HTML = Format("a web page", 2, read_html)
_WEB_ARCHIVE = Format("a saved web page", 2, read_mhtml)
_WORD = Format("a Word document", 2, read_word)
_SLIDES = Format("a PowerPoint presentation", 1, read_slides)
_SHEETS = Format("a spreadsheet", 1, read_sheets)
_OPEN_TEXT = Format("an OpenDocument text", 1, read_text_document)
_OPEN_SLIDES = Format("an OpenDocument presentation", 1, read_presentation)
_EPUB = Format("an EPUB book", 3, read_epub)
_RTF = Format("rich text", 1, read_rtf)
_MAIL = Format("a mail", 3, read_eml)
_OUTLOOK_MAIL = Format("an Outlook mail", 3, read_msg)
_IMAGE = Format("an image", 1, read_image, needs_ocr=True)

_CODE_ENDINGS = (
    *(".py", ".pyi", ".pyx", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx", ".vue", ".svelte", ".java", ".kt", ".kts"),
    *(".scala", ".groovy", ".gradle", ".c", ".h", ".cc", ".hh", ".cpp", ".hpp", ".cxx", ".hxx", ".cu", ".cuh", ".ino"),
    *(".cs", ".fs", ".vb", ".go", ".rs", ".zig", ".nim", ".swift", ".m", ".mm", ".dart", ".rb", ".php", ".pl", ".pm"),
    *(".lua", ".tcl", ".r", ".jl", ".hs", ".ml", ".mli", ".clj", ".ex", ".exs", ".erl", ".el", ".lisp", ".scm", ".rkt"),
    *(".f", ".for", ".f90", ".f95", ".pas", ".ada", ".adb", ".ads", ".asm", ".v", ".sv", ".vhd", ".vhdl", ".sol"),
    *(".sh", ".bash", ".zsh", ".fish", ".ps1", ".psm1", ".bat", ".cmd", ".awk", ".sed", ".vim", ".sql", ".proto"),
    *(".graphql", ".cmake", ".mk", ".tf", ".css", ".scss", ".sass", ".less", ".xml", ".xsd", ".xsl", ".xslt", ".dtd"),
    *(".toml", ".yaml", ".yml", ".ini", ".cfg", ".conf", ".properties", ".desktop", ".service", ".bib", ".sty", ".cls"),
    *(".log", ".diff", ".patch", ".po", ".pot", ".srt", ".vtt"),
)

READERS: dict[str, Format] = {
    **dict.fromkeys(_CODE_ENDINGS, _CODE),
    ".txt": _TEXT,
    ".text": _TEXT,
    ".adoc": _TEXT,
    ".asciidoc": _TEXT,
    ".md": _MARKDOWN,
    ".markdown": _MARKDOWN,
    ".mdx": _MARKDOWN,
    ".qmd": _MARKDOWN,
    ".rmd": _MARKDOWN,
    ".rst": _RST,
    ".rest": _RST,
    ".org": _ORG,
    ".tex": _LATEX,
    ".ltx": _LATEX,
    ".csv": _TABLE,
    ".tsv": _TABLE,
    ".tab": _TABLE,
    ".json": _JSON,
    ".geojson": _JSON,
    ".jsonl": _JSON_LINES,
    ".ndjson": _JSON_LINES,
    ".ipynb": _NOTEBOOK,
    ".pdf": _PDF,
    ".html": _HTML,
    ".htm": _HTML,
    ".xhtml": _HTML,
    ".mhtml": _WEB_ARCHIVE,
    ".mht": _WEB_ARCHIVE,
    ".docx": _WORD,
    ".docm": _WORD,
    ".dotx": _WORD,
    ".doc": _WORD,  # its reader takes what hides behind that name: RTF, a web page, a newer document
    ".dot": _WORD,
    ".pptx": _SLIDES,
    ".pptm": _SLIDES,
    ".ppsx": _SLIDES,
    ".potx": _SLIDES,
    ".ppt": _SLIDES,
    ".pps": _SLIDES,
    ".xlsx": _SHEETS,
    ".xlsm": _SHEETS,
    ".xltx": _SHEETS,
    ".xlsb": _SHEETS,
    ".xls": _SHEETS,
    ".ods": _SHEETS,
    ".odt": _OPEN_TEXT,
    ".ott": _OPEN_TEXT,
    ".odp": _OPEN_SLIDES,
    ".epub": _EPUB,
    ".rtf": _RTF,
    ".eml": _MAIL,
    ".msg": _OUTLOOK_MAIL,
    ".png": _IMAGE,
    ".jpg": _IMAGE,
    ".jpeg": _IMAGE,
    ".tif": _IMAGE,
    ".tiff": _IMAGE,
    ".webp": _IMAGE,
    ".bmp": _IMAGE,
}
"""Format by the file's ending, in lower case."""

_TEXT_NAMES = re.compile(
    r"(?:readme|license|licence|copying|copyright|unlicense|notice|authors|contributors|contributing|maintainers|credits"
    r"|thanks|acknowledge?ments|changelog|changes|history|news|releases?|todo|bugs|faq|hacking|install(?:ation)?"
    r"|about|version|roadmap)"
    r"(?:[-._](?:debian|source|first|1st|old|lesser|lib|gpl|lgpl|agpl|mit|bsd|apache|en|de|fr|ja|zh)|[-._]?[\d.]+)*"
)
_CODE_NAMES = re.compile(
    r"(?:gnu)?makefile|dockerfile|containerfile|jenkinsfile|vagrantfile|gemfile|rakefile|justfile|procfile"
)

_ARCHIVE = "an archive; unpack it to have its files read"
_UNREADABLE = {
    ".doc": "an old Word document; save it as .docx",
    ".ppt": "an old PowerPoint presentation; save it as .pptx",
    ".pages": "an Apple Pages document; export it as Word or PDF",
    ".numbers": "an Apple Numbers spreadsheet; export it as Excel",
    ".key": "an Apple Keynote presentation; export it as PowerPoint or PDF",
    ".one": "a OneNote section; export it as PDF or Word",
    ".mobi": "a Kindle book; convert it to EPUB",
    ".azw3": "a Kindle book; convert it to EPUB",
    ".djvu": "a DjVu document; convert it to PDF",
    ".ps": "PostScript; convert it to PDF",
    ".pst": "an Outlook store; export its mails as .eml or .msg",
    **dict.fromkeys((".zip", ".7z", ".rar", ".tar", ".tgz", ".bz2", ".xz", ".zst"), _ARCHIVE),
    **dict.fromkeys((".gif", ".heic", ".svg", ".psd", ".ico"), "an image of a kind that no text is read from"),
}
"""Why files are not read that a person may well expect to be read, by their ending or by that of their content."""

_MOST_UNPACKED = 200_000_000  # bytes that a .gz may grow to
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")
_DEEPEST = 8  # files within files: a mail in a mail in an archive
_depth: ContextVar[int] = ContextVar("depth", default=0)


def format_of(path: str) -> Format | None:
    """The format of a file by its name, of a ``.gz`` by the name within; None when it has no reader.

    A name that people know as that of a text (README, COPYING) needs no ending.
    """
    name = PurePosixPath(path.lower())
    if name.suffix == ".gz":
        name = PurePosixPath(name.stem)
    if name.suffix in READERS:
        return READERS[name.suffix]
    if _TEXT_NAMES.fullmatch(name.name):
        return _TEXT
    return _CODE if _CODE_NAMES.fullmatch(name.name) else None


def why_not_read(path: str, ocr: bool = False) -> str:
    """Why a file is left out by its name; empty when it is read.

    Args:
        path: The file's path or name.
        ocr: Whether text is recognised in images.
    """
    kind = format_of(path)
    if kind is not None:
        return "an image; it is read when text recognition (OCR) is on" if kind.needs_ocr and not ocr else ""
    name = PurePosixPath(path.lower())
    ending = PurePosixPath(name.stem).suffix if name.suffix == ".gz" else name.suffix
    return _UNREADABLE.get(ending) or f"no reader for {ending or 'files without an ending'}"


def read(file: SourceFile, options: ReadOptions = DEFAULT_READING) -> SourceDocument:
    """Reads one file; the bytes are read once, so text and hash always belong together.

    Raises:
        SourceError: The file has no reader, cannot be opened, is damaged, locked or without any text.
    """
    try:
        data = file.absolute.read_bytes()
    except OSError as error:
        raise SourceError(f"The file cannot be opened: {error.strerror}.") from error
    return read_bytes(data, file.path, options)


def read_bytes(data: bytes, path: str, options: ReadOptions) -> SourceDocument:
    """Reads a file's bytes, as they come from disk or out of another file (a mail's attachment).

    Where name and content disagree the content decides, and a note says so.

    Raises:
        SourceError: As :func:`read`.
    """
    if _depth.get() >= _DEEPEST:
        raise SourceError(f"It lies {_DEEPEST} files deep inside of others, and was not read.")
    outside = _depth.set(_depth.get() + 1)
    try:
        return _read_by_content(data, path, options)
    except RecursionError as error:
        raise SourceError("The file is nested too deeply to be read.") from error
    finally:
        _depth.reset(outside)


def _read_by_content(data: bytes, path: str, options: ReadOptions) -> SourceDocument:
    named = format_of(path)
    title = PurePosixPath(path).stem
    if not data:
        raise SourceError("The file is empty.")
    found = ending_by_content(data)
    if found == ".gz":
        inner = read_bytes(_unzipped(data), str(PurePosixPath(path).with_suffix("")), options)
        return replace(inner, sha256=hashlib.sha256(data).hexdigest())
    if found == ENCRYPTED:
        document = read_bytes(unlocked(data, options.passwords), path, options)
        return replace(document, sha256=hashlib.sha256(data).hexdigest())
    if found in _UNREADABLE and (named is None or _told_by_content(named)):
        what, _, remedy = _UNREADABLE[found].partition("; ")
        raise SourceError(f"It is {what}.", f"{remedy[:1].upper()}{remedy[1:]}." if remedy else "")
    kind = _kind(data, named, found)
    if kind is None:
        raise SourceError(f"It was not read: {why_not_read(path)}.")
    document = _storable(kind.read(data, title, options))
    if kind is named:
        return document
    ending = PurePosixPath(path).suffix
    name = f"named {ending}" if ending else "named without an ending"
    return replace(document, notes=(*document.notes, f"{name}, but it is {kind.name} and was read as one"))


def _storable(document: SourceDocument) -> SourceDocument:
    """Replaces halves of surrogate pairs, which formats with escapes let into text and no UTF-8 can hold."""

    def mended(words: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(_HALF_CHARACTER.sub("\N{REPLACEMENT CHARACTER}", each) for each in words)

    text, title = mended((document.text, document.title))
    halves = len(_HALF_CHARACTER.findall(document.text))
    problem = (f"halves of characters, replaced: {halves}",) if halves else ()
    return replace(
        document,
        text=text,
        title=title,
        sections=tuple(replace(section, heading_path=mended(section.heading_path)) for section in document.sections),
        problems=(*mended(document.problems), *problem),
        notes=mended(document.notes),
        authors=mended(document.authors),
    )


def _kind(data: bytes, named: Format | None, found: str) -> Format | None:
    """The format to read a file in: that of its content where that can be told for sure, else that of its name."""
    if found in TOLD_BY_CONTENT and found in READERS:
        plain = named is not None and not _told_by_content(named)
        # Source code and notes may speak of PDF in their first lines.
        return named if plain and found == ".pdf" and not data.startswith(b"%PDF-") else READERS[found]
    if named is not None and not _told_by_content(named):
        return named
    if found in READERS:
        return READERS[found]
    if data.startswith(b"PK") or (named is not None and named.needs_ocr):
        return named
    try:
        decoded = decode(data)
    except SourceError:
        return named
    return named if decoded.problems else _TEXT


def _told_by_content(kind: Format) -> bool:
    return any(READERS.get(ending) is kind for ending in TOLD_BY_CONTENT)


def _unzipped(data: bytes) -> bytes:
    """The file in a ``.gz``, whose parts are joined where there are several."""
    content = b""
    while data.startswith(b"\x1f\x8b"):
        unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
        try:
            content += unpacker.decompress(data, _MOST_UNPACKED - len(content) + 1)
        except zlib.error as error:
            raise SourceError(f"The compressed file is damaged: {error}.") from error
        if len(content) > _MOST_UNPACKED:
            raise SourceError(f"The file unpacks to more than {_MOST_UNPACKED:,} bytes; it was not read.")
        if not unpacker.eof:
            raise SourceError("The compressed file is cut short.")
        data = unpacker.unused_data
    return content
