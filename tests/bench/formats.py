"""How much of a document each converter finds, against the expected Markdown of the public format collection.

``python -m tests.bench.formats [--files] [--kind docx]``

Footnote's readers are always scored; markitdown and langchain-community's loaders where they are installed. Formatting
marks count for nothing, since a search has no use for them. Four figures, each the mean over the files of a kind:

* words: share of the expected words that are found, in their order;
* extra: share of the converter's words that are not expected (merged cells that the expected file repeats, notes and
  comments that it leaves out, and real rubbish);
* headings: share of the expected headings that are found as headings; a converter without any scores 0;
* rows: share of the expected table rows whose cells are found on one line, in their order.

A file that a converter cannot read scores 0 and is counted as failed.
"""

from __future__ import annotations

import argparse
import html
import re
import time
import unicodedata
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from importlib.util import find_spec
from pathlib import Path

from rag.sources.readers import read_bytes
from rag.types import DEFAULT_READING

FOLDER = Path(__file__).parents[3] / "shared" / "data" / "formats" / "docling"
_RULER = re.compile(r"\|?[\s|:-]+\|?")


@dataclass(frozen=True)
class Converted:
    """A converter's text and the headings that it marks."""

    text: str
    headings: tuple[str, ...]


@dataclass(frozen=True)
class Score:
    """One file by one converter; ``rows`` and ``headings`` are None where none is expected."""

    words: float
    extra: float
    headings: float | None
    rows: float | None
    seconds: float
    failed: bool


Converter = Callable[[Path], Converted]


def main() -> None:
    """Scores every converter that is installed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", action="store_true", help="print every file")
    parser.add_argument("--kind", help="docx, pptx, xlsx, html, csv or md")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    converters = dict(_converters())
    kinds = [options.kind] if options.kind else ["docx", "pptx", "xlsx", "html", "csv", "md"]
    print(
        f"{'kind':<6}{'files':>6}  {'converter':<22}{'words':>7}{'extra':>7}{'headings':>10}{'rows':>7}{'failed':>8}{'s':>7}"
    )
    for kind in kinds:
        expected = _expected(kind)
        for name, converter in converters.items():
            scores = {source.name: _score(converter, source, goal) for source, goal in expected}
            _print(kind, name, list(scores.values()))
            if options.files:
                for file, score in scores.items():
                    print(
                        f"        {file:<48}{score.words:6.3f}{score.extra:7.3f}  {_shown(score.headings)} {_shown(score.rows)}"
                    )


def _converters() -> Iterator[tuple[str, Converter]]:
    yield "Footnote", _footnote
    if find_spec("markitdown"):
        yield "markitdown", _markitdown()
    if find_spec("langchain_community"):
        yield "langchain-community", _langchain_community


def _footnote(path: Path) -> Converted:
    document = read_bytes(path.read_bytes(), path.name, DEFAULT_READING)
    headings = [section.heading_path[-1] for section in document.sections if section.heading_path]
    return Converted(document.text, tuple(headings))


def _markitdown() -> Converter:
    from markitdown import MarkItDown

    converter = MarkItDown()

    def convert(path: Path) -> Converted:
        text = converter.convert(path).text_content
        return Converted(text, _markdown_headings(text))

    return convert


def _langchain_community(path: Path) -> Converted:
    from langchain_community import document_loaders

    loaders = {
        ".docx": lambda: document_loaders.Docx2txtLoader(str(path)),
        ".html": lambda: document_loaders.BSHTMLLoader(str(path)),
        ".csv": lambda: document_loaders.CSVLoader(str(path)),
        ".pptx": lambda: document_loaders.UnstructuredPowerPointLoader(str(path)),
        ".xlsx": lambda: document_loaders.UnstructuredExcelLoader(str(path)),
        ".xlsm": lambda: document_loaders.UnstructuredExcelLoader(str(path)),
        ".md": lambda: document_loaders.TextLoader(str(path)),
    }
    text = "\n\n".join(document.page_content for document in loaders[path.suffix]().load())
    return Converted(text, _markdown_headings(text))


def _expected(kind: str) -> list[tuple[Path, str]]:
    return [
        (source, (FOLDER / kind / "groundtruth" / f"{source.name}.md").read_text(encoding="utf-8"))
        for source in sorted((FOLDER / kind / "sources").iterdir())
    ]


def _score(converter: Converter, source: Path, goal: str) -> Score:
    started = time.perf_counter()
    try:
        converted = converter(source)
    except Exception:  # noqa: BLE001 - whatever a converter raises, it has not read the file
        converted = None
    seconds = time.perf_counter() - started
    headings, rows = _markdown_headings(goal), _rows(goal)
    if converted is None:
        return Score(0.0, 0.0, 0.0 if headings else None, 0.0 if rows else None, seconds, True)
    wanted, found = _words(goal), _words(converted.text)
    common = sum(block.size for block in SequenceMatcher(None, wanted, found, autojunk=False).get_matching_blocks())
    marked = {_plain(heading) for heading in converted.headings}
    lines = [_bare(line) for line in converted.text.split("\n")]
    return Score(
        words=common / max(1, len(wanted)),
        extra=1 - common / max(1, len(found)),
        headings=sum(_plain(heading) in marked for heading in headings) / len(headings) if headings else None,
        rows=sum(any(_in_order(row, line) for line in lines) for row in rows) / len(rows) if rows else None,
        seconds=seconds,
        failed=False,
    )


def _markdown_headings(text: str) -> tuple[str, ...]:
    return tuple(match[1] for match in re.finditer(r"^#{1,6} +(.+?)[ #]*$", text, re.MULTILINE))


def _rows(markdown: str) -> list[list[str]]:
    """The cells of each table row, blank ones left out, and of equal neighbours one: a merged cell counts once."""
    rows = []
    for line in markdown.split("\n"):
        if line.startswith("|") and not _RULER.fullmatch(line):
            cells = [_bare(cell) for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            merged = [cell for at, cell in enumerate(cells) if cell and (at == 0 or cell != cells[at - 1])]
            if merged:
                rows.append(merged)
    return rows


def _in_order(cells: list[str], line: str) -> bool:
    position = 0
    for cell in cells:
        position = line.find(cell, position)
        if position < 0:
            return False
        position += len(cell)
    return True


def _bare(text: str) -> str:
    return " ".join(_words(text))


def _plain(heading: str) -> str:
    """A heading without the signs around its number: "1. Scope" and "1 Scope" are the same."""
    return " ".join(re.findall(r"\w+", _bare(heading)))


def _words(text: str) -> list[str]:
    """Words and signs without Markdown's marks, in NFKC."""
    text = re.sub(r"<!--.*?-->|&nbsp;", " ", html.unescape(text), flags=re.DOTALL)
    text = re.sub(r"!?\[([^\]\n]*)\]\([^)\n]*\)", r"\1", text)
    text = re.sub(r"\\([_*#|\[\]<>`~\\-])", r"\1", text)
    text = re.sub(r"\[[ x]\](?=\s)|[☐☑☒]", " ", text)  # boxes to tick
    text = re.sub(r"^\s*(```\w*|#{1,6}(?= ))", " ", text, flags=re.MULTILINE)
    return re.findall(r"\w+|[^\w\s*_~`|#$-]", unicodedata.normalize("NFKC", text))


def _print(kind: str, name: str, scores: list[Score]) -> None:
    def mean(values: list[float | None]) -> str:
        kept = [value for value in values if value is not None]
        return f"{sum(kept) / len(kept):.3f}" if kept else "-"

    print(
        f"{kind:<6}{len(scores):>6}  {name:<22}{mean([score.words for score in scores]):>7}"
        f"{mean([score.extra for score in scores]):>7}{mean([score.headings for score in scores]):>10}"
        f"{mean([score.rows for score in scores]):>7}{sum(score.failed for score in scores):>8}"
        f"{sum(score.seconds for score in scores):>7.2f}"
    )


def _shown(value: float | None) -> str:
    return "   -  " if value is None else f"{value:6.3f}"


if __name__ == "__main__":
    main()
