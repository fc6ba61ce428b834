"""What the two ways of reading a PDF cost, and what each finds.

``python -m tests.bench.pdf [--ocr]``

For the collections ``pdf`` and ``pdf/ntsb`` of the public test material, for the fast way and with layout analysis:
milliseconds of processor time a page, known phrases that stand on their page, rows of tables that came out whole, and
whether two columns are read one after the other. With ``--ocr``, also the seconds a scanned page takes.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

from rag.errors import SourceError
from rag.sources import ocr
from rag.sources.pdf.reader import read_pdf
from rag.types import ReadOptions, SourceDocument

DATA = Path(__file__).parents[3] / "shared" / "data" / "pdf"

# Rows as a person would copy them from the page, cell by cell.
ROWS = {
    "tables/markitdown__SPARSE-2024-INV-1234_borderless_table.pdf": (
        ("SKU-8847", "A-12", "450", "", "", ""), ("SKU-9201", "", "780", "778", "", "OK"),
        ("SKU-7728", "A-08", "920", "", "", ""), ("", "B-07", "", "289", "-23", ""),
        ("SKU-5512", "Hardware", "$89.00", "$31,150.00", "", "Pending"),
        ("SKU-1123", "Hardware", "$55.00", "$27,500.00", "2024-10-30", "Verified"),
    ),
    "tables/markitdown__REPAIR-2022-INV-001_multipage.pdf": (
        ("Claim #", "SF-1008", "Make", "Jeep"), ("Phone", "(425) 111-1111", "Trim", "Limited"),
        ("Body Labor", "", "2", "150", "300"), ("Sales Tax", "", "", "10.20%", "278.46"),
        ("GRAND TOTAL", "", "", "", "5,738"),
    ),
    "two-column/pypdf__multicolumn.pdf": (
        ("Austria", "8.9", "83,879", "Vienna", "German"),
        ("Belgium", "11.5", "30,689", "Brussels", "Dutch, French, German"),
    ),
    "ntsb/20071229X02007.pdf": (
        ("Other Aircraft Rating(s):", "None", "Restraint Used:", "Seatbelt, Shoulder harness"),
        ("Operator:", "Willis O Forman", "Operating Certificate(s) Held:", "None"),
        ("Runway Used:", "12", "IFR Approach:", "None"),
        ("Total Injuries:", "1 Minor", "Latitude, Longitude:", "30.501111, -84.080278"),
    ),
}  # fmt: skip
# What follows each other where a page is read by columns.
ORDER = {
    "two-column/pypdf__multicolumn.pdf": (
        "Abstract", "Lorem ipsum dolor sit amet", "Donec nonummy pellentesque ante", "Quisque ullamcorper placerat",
        "Fusce mauris", "lacus vel est", "Morbi luctus, wisi", "Suspendisse vitae elit",
    ),
    "CJK-ja/pdfminer__jo.pdf": ("わたくしといふ現象は", "それらも畢竟", "けれどもこれら新世代", "第四次延長"),
    "tables/markitdown__REPAIR-2022-INV-001_multipage.pdf": ("ZAVA AUTO REPAIR", "Customer Information", "GRAND TOTAL"),
}  # fmt: skip


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ocr", action="store_true", help="measure text recognition, too")
    options = parser.parse_args()
    expected = {entry["file"]: entry for line in lines() if (entry := json.loads(line))}
    for name, reading in (("fast", ReadOptions()), ("layout", ReadOptions(layout=True))):
        list(documents(["two-column/pypdf__multicolumn.pdf"], reading, expected))  # the first start is not measured
        for title, files in (("pdf", list(expected)), ("pdf/ntsb", [f"ntsb/{path.name}" for path in ntsb()])):
            report(f"{name:6} {title:8}", list(documents(files, reading, expected)), expected)
    if options.ocr and ocr.available():
        for name in ("scanned/docling__ocr_test.pdf", "scanned/docling__ocr_test_rotated_90.pdf"):
            [(_, document, seconds)] = documents([name], ReadOptions(ocr=True), expected)
            print(f"{ocr.available()} {name}: {seconds:.1f} s, {' '.join(document.text.split())!r}")


def lines() -> list[str]:
    """What is known of each file."""
    return (DATA / "EXPECT.jsonl").read_text(encoding="utf-8").splitlines()


def ntsb() -> list[Path]:
    """The accident reports."""
    return sorted((DATA / "ntsb").glob("*.pdf"))


def documents(
    files: list[str], options: ReadOptions, expected: dict[str, dict[str, str]]
) -> Iterator[tuple[str, SourceDocument, float]]:
    """Reads files; those that cannot be opened are left out."""
    for file in files:
        password = expected.get(file, {}).get("password")
        reading = ReadOptions(ocr=options.ocr, layout=options.layout, passwords=(password,) if password else ())
        start = time.process_time()
        try:
            document = read_pdf((DATA / file).read_bytes(), file, reading)
        except SourceError:
            continue
        yield file, document, time.process_time() - start


def report(title: str, read: list[tuple[str, SourceDocument, float]], expected: dict[str, dict[str, object]]) -> None:
    """One line of figures."""
    pages = sum(len(document.pages) for _, document, _ in read)
    milliseconds = 1000 * sum(seconds for *_, seconds in read) / pages
    phrases = [hit for file, document, _ in read for hit in phrases_found(document, expected.get(file, {}))]
    rows = [line(row) in document.text for file, document, _ in read for row in ROWS.get(file, ())]
    ordered = [in_order(document.text, ORDER[file]) for file, document, _ in read if file in ORDER]
    print(
        f"{title} {pages:3} pages  {milliseconds:7.1f} ms/page  phrases {sum(phrases)}/{len(phrases)}"
        f"  table rows {sum(rows)}/{len(rows)}  in order {sum(ordered)}/{len(ordered)}"
    )


def phrases_found(document: SourceDocument, entry: dict[str, object]) -> Iterator[bool]:
    """For each known phrase, whether it is on its page."""
    phrases = entry.get("phrases", [])
    assert isinstance(phrases, list)
    for phrase in phrases:
        page, text = (phrase["page"], phrase["text"]) if isinstance(phrase, dict) else (1, phrase)
        span = document.pages[page - 1].span
        yield plain(text) in plain(document.text[span.start : span.end])


def plain(text: str) -> str:
    """Letters and digits."""
    return re.sub(r"\W+", "", text)


def line(row: tuple[str, ...]) -> str:
    """A row of a Markdown table."""
    return "| " + " | ".join(row) + " |"


def in_order(text: str, marks: tuple[str, ...]) -> bool:
    """Whether some words follow each other."""
    joined = " ".join(text.split())
    places = [joined.find(mark) for mark in marks]
    return -1 not in places and places == sorted(places)


if __name__ == "__main__":
    main()
