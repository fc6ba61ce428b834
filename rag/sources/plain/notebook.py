"""Jupyter notebooks: Markdown cells with their headings, code and text outputs in fences, in the order of the cells."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from rag.errors import SourceError
from rag.sources.encodings import decode
from rag.sources.plain.data import parse_json
from rag.sources.plain.markdown import clean_markdown, markdown_headings
from rag.sources.plain.text import Heading, decoded_document, without_gaps
from rag.types import DEFAULT_READING, Mark, ReadOptions, SourceDocument

_TERMINAL_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_BACKTICKS = re.compile("`+")
_TEXT_OUTPUTS = ("text/markdown", "text/latex", "text/plain")  # of one output in several forms, the first


def read_notebook(data: bytes, title: str, options: ReadOptions = DEFAULT_READING) -> SourceDocument:
    """Reads a notebook of format 3 or 4. Images are left out, and counted in a note.

    Args:
        data: The file's bytes.
        title: Taken when no cell has a heading.

    Raises:
        SourceError: It is no notebook, or there is nothing in it.
    """
    decoded = decode(data, options.encoding)
    try:
        notebook = parse_json(decoded.text)
    except ValueError as error:
        raise SourceError(f"The notebook is damaged: {error}.", "Open it in Jupyter and save it again.") from error
    cells = list(_cells(notebook))
    language = _language(notebook)
    parts: list[str] = []
    headings: list[Heading] = []
    marks: list[Mark] = []
    start = images = 0
    for number, cell in enumerate(cells, 1):
        images += sum(1 for output in _outputs(cell) if _is_image(output))
        text = _cell_text(cell, language)
        if not text:
            continue
        if parts:
            parts.append("\n\n")
            start += 2
        marks.append(Mark(start, "cell", number))
        if cell.get("cell_type") in ("markdown", "heading"):
            headings += [
                Heading(start + heading.start, heading.level, heading.title) for heading in markdown_headings(text)
            ]
        parts.append(text)
        start += len(text)
    if not parts:
        raise SourceError("There is no text in the notebook.")
    text = "".join(parts)
    notes = (f"images left out: {images}",) if images else ()
    return decoded_document(data, headings[0].title if headings else title, decoded, text, headings, marks, notes=notes)


def _cells(notebook: object) -> Iterator[Mapping[str, object]]:
    if not isinstance(notebook, dict):
        raise SourceError("The file is not a notebook.")
    sheets = notebook.get("worksheets")
    for sheet in sheets if isinstance(sheets, list) else [notebook]:
        cells = sheet.get("cells") if isinstance(sheet, dict) else None
        if not isinstance(cells, list):
            raise SourceError("The file is not a notebook: it has no cells.")
        yield from (cell for cell in cells if isinstance(cell, dict))


def _language(notebook: object) -> str:
    metadata = notebook.get("metadata") if isinstance(notebook, dict) else None
    for key, name in (("language_info", "name"), ("kernelspec", "language")):
        described = metadata.get(key) if isinstance(metadata, dict) else None
        if isinstance(described, dict) and isinstance(language := described.get(name), str):
            return language
    return ""


def _cell_text(cell: Mapping[str, object], language: str) -> str:
    kind = cell.get("cell_type")
    source = _joined(cell.get("source", cell.get("input")))
    if kind == "heading":  # of format 3
        level = str(cell.get("level"))
        return f"{'#' * (int(level) if re.fullmatch('[1-6]', level) else 1)} {' '.join(source.split())}"
    if kind == "markdown":
        lines = without_gaps(list(enumerate(clean_markdown(source).split("\n"))))
        return "\n".join(line for _, line in lines).rstrip()
    if kind != "code":
        return source.strip()
    blocks = [_fenced(source, language)] if source.strip() else []
    for output in _outputs(cell):
        words = _TERMINAL_COLOURS.sub("", _output_text(output)).strip("\n")
        if words.strip():
            blocks.append(_fenced(words, ""))
    return "\n\n".join(blocks)


def _outputs(cell: Mapping[str, object]) -> list[Mapping[str, object]]:
    outputs = cell.get("outputs")
    return [output for output in outputs if isinstance(output, dict)] if isinstance(outputs, list) else []


def _forms(output: Mapping[str, object]) -> Mapping[str, object]:
    """The forms of one output by media type; format 3 has them in the output itself, under short names."""
    forms = output.get("data")
    if isinstance(forms, dict):
        return forms
    short = {"text": "text/plain", "latex": "text/latex", "png": "image/png", "jpeg": "image/jpeg", "svg": "image/svg"}
    return {short[name]: value for name, value in output.items() if name in short}


def _is_image(output: Mapping[str, object]) -> bool:
    return any(form.startswith("image/") for form in _forms(output))


def _output_text(output: Mapping[str, object]) -> str:
    if output.get("output_type") in ("error", "pyerr"):
        return _joined(output.get("traceback"), "\n") or f"{output.get('ename')}: {output.get('evalue')}"
    forms = _forms(output)
    if any(form.startswith("image/") for form in forms):
        return ""  # what stands beside an image is the name of the object that drew it
    return next((_joined(forms[form]) for form in _TEXT_OUTPUTS if form in forms), "")


def _joined(value: object, separator: str = "") -> str:
    """Text that a notebook keeps in one piece or line by line."""
    if isinstance(value, list):
        value = separator.join(part for part in value if isinstance(part, str))
    text = value if isinstance(value, str) else ""
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\N{REPLACEMENT CHARACTER}")


def _fenced(text: str, language: str) -> str:
    fence = "`" * max(3, 1 + max((len(run) for run in _BACKTICKS.findall(text)), default=0))
    return f"{fence}{language}\n{text.strip(chr(10))}\n{fence}"
