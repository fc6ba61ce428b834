"""PDFs that tests print themselves: PyMuPDF sets the text, as a word processor or TeX would place it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pymupdf

WORDS = (
    "Dense retrieval has become the usual way of searching collections of text. We study how passages are found when "
    "a question is asked in another language than the text, and we report what goes wrong and why it does. "
)


def box(page: Any, place: tuple[float, float, float, float], text: str, size: float = 10, **style: Any) -> None:
    """Sets text into a box; what does not fit is an error of the test."""
    assert page.insert_textbox(place, text, fontsize=size, **{"fontname": "tiro", **style}) >= 0, text


def column(page: Any, left: float, top: float, mark: str, length: int, width: float = 224) -> None:
    """A column of justified prose whose first and last words name it."""
    text = (WORDS * 20)[:length].rsplit(" ", 1)[0]
    box(page, (left, top, left + width, 720), f"{mark} begins. {text} {mark} ends.", align=3)


def grid(page: Any, left: float, top: float, rows: Sequence[Sequence[str]], width: float = 120, ruled: bool = True,
         height: float = 22, bold_head: bool = True) -> None:  # fmt: skip
    """A table, with or without rules."""
    for number, row in enumerate(rows):
        for place, cell in enumerate(row):
            cell_box = pymupdf.Rect(
                left + place * width, top + number * height, left + (place + 1) * width, top + (number + 1) * height
            )
            if ruled:
                page.draw_rect(cell_box, width=0.5)
            font = "tibo" if bold_head and number == 0 else "tiro"
            box(page, tuple(cell_box + pymupdf.Rect(4, 3, -2, 4)), cell, 10, fontname=font)


def pdf(document: Any) -> bytes:
    """The file's bytes."""
    data: bytes = document.tobytes()
    return data


def paper() -> Any:
    """A paper of four pages in two columns, with arXiv's stamp, running headers and page numbers."""
    document = pymupdf.open()
    page = document.new_page()
    box(page, (72, 50, 540, 112), "Retrieval Across Languages\nWithout Translation", 17, fontname="tibo", align=1)
    box(page, (72, 112, 540, 132), "Maria Gómez-Santos¹, Kenji Watanabe² and Ola van der Berg¹", 11, align=1)
    box(page, (72, 132, 540, 150), "¹University of Somewhere, ²Institute of Things", 9, align=1)
    box(page, (72, 148, 540, 170), "{maria,ola}@somewhere.edu", 9, fontname="cour", align=1)
    page.insert_text((30, 500), "arXiv:2403.01234v2 [cs.IR] 5 Mar 2024", fontsize=16, rotate=90)
    box(page, (72, 176, 296, 200), "Abstract", 12, fontname="tibo", align=1)
    box(page, (86, 200, 282, 330), "We ask. " + WORDS + "We answer.", 9, align=3)
    box(page, (72, 340, 296, 362), "1 Introduction", 12, fontname="tibo")
    column(page, 72, 365, "Left one", 1000)
    column(page, 316, 180, "Right one", 1500)
    box(page, (72, 740, 540, 760), "1", 9, align=1)
    for number in (2, 3, 4):
        page = document.new_page()
        box(page, (72, 36, 540, 56), "Gómez-Santos et al.", 9, align=1)
        column(page, 72, 72, f"Left {number}", 1900)
        column(page, 316, 72, f"Right {number}", 800)
        box(page, (316, 400, 540, 422), f"{number} Results", 12, fontname="tibo")
        column(page, 316, 425, f"Later {number}", 700)
        box(page, (72, 740, 540, 760), str(number), 9, align=1)
    return document
