"""Papers: title, authors, year and abstract as they are printed on the first pages.

What is no paper must not become one: a report has a summary, too. So an abstract has to be called one, or other signs
have to agree (keywords, references, a DOI, addresses of universities).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from rag.sources.pdf.order import Paragraph, rows
from rag.sources.pdf.page import Block
from rag.types import Section, Span

_COLON = r"\s*[.:：—–\-]*\s*"
_ABSTRACT = re.compile(
    r"(?:abstract|a\s?b\s?s\s?t\s?r\s?a\s?c\s?t|résumé|kurzfassung|resumen|аннотация|abstrakt|öz(?:et)?|"
    r"摘\s*要|要\s*旨|抄\s*録|あらまし|초\s*록|ملخص|תקציר)" + _COLON,
    re.IGNORECASE,
)
_SUMMARY = re.compile(
    r"(?:summary|zusammenfassung|resumo|riassunto|sommario|samenvatting|streszczenie|реферат|要\s*約|概\s*要|요\s*약)"
    + _COLON,
    re.IGNORECASE,
)
_KEYWORDS = re.compile(
    r"(?:keywords?|key\s+words|index\s+terms|schlagw[öo]rter|schlüsselw[öo]rter|mots[- ]cl[ée]s?|palabras\s+clave|"
    r"palavras[- ]chave|parole\s+chiave|ключевые\s+слова|关键词|關鍵詞|キーワード|키워드)\b.{0,3}",
    re.IGNORECASE,
)
_INTRODUCTION = re.compile(
    r"(?:(?:\d{1,2}|[IVX]{1,4})\.?\s*)?(?:introduction|einleitung|einführung|introducción|introdução|introduzione|"
    r"введение|はじめに|まえがき|序論|緒言|引言|前言|서론)\s*",
    re.IGNORECASE,
)
_ENDS = re.compile(
    r"(?:ccs\s+concepts|general\s+terms|acm\s+reference|additional\s+key\s*words|jel\s+class|msc\s|"
    r"(?:1|I)\.?\s+\S.{0,80}$)",
    re.IGNORECASE,
)
_REFERENCES = re.compile(
    r"^(?:\d{1,2}\.?\s*)?(?:references|bibliography|literatur(?:verzeichnis)?|bibliographie|referencias|referências|"
    r"bibliografia|список\s+литературы|参考文献|參考文獻|文献|참고문헌)\s*$",
    re.IGNORECASE | re.MULTILINE,
)
_IDENTIFIER = re.compile(r"arXiv:\s?\d|\bdoi\b|10\.\d{4,9}/\S|\bISSN\b|\bISBN\b", re.IGNORECASE)
_STAMP = re.compile(r"arXiv:\s?(?P<year>\d{2})\d{2}\.\d{4,5}|arXiv:\s?[\w.-]+/(?P<old>\d{2})\d{5}", re.IGNORECASE)
_IMPRINT = re.compile(
    r"©|\(c\)|copyright|published|received|accepted|proceedings|conference|workshop|\bvol\b|\bdoi\b|\bpp\.",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?<!\d)(?:19[5-9]\d|20\d\d)(?!\d)")
_ADDRESS = re.compile(
    r"@|universi|institut|department|dept\b|faculty|fakult|laborator|\blabs?\b|school of|college|academy|\bresearch\b|"
    r"\bcent(?:er|re)\b|\binc\b|\bltd\b|gmbh|\bcorp|大学|大學|研究|学院|株式会社|대학|https?:|\.edu\b",
    re.IGNORECASE,
)
_MARKS = re.compile(r"[∗*†‡§¶¹²³⁰⁴-⁹ᵃ-ᶻ]+|(?<=[^\W\d_])[\d,]+(?=\s|$)|\([^)]*\)|\s\d+(?=\s|$)")
_BETWEEN = re.compile(r"\s*(?:,\s*(?:and|und|et|y|e)\s|[,;·•、，]|\s(?:and|und|et|y|&)\s|\s{2,}|\n)\s*")
_NAME_PART = r"(?:[^\W\d_a-zß-öø-ÿ][\w'’.\-]*|d[eaiou]|dos|della?|van|von|de[rn]|la|le|bin|al|el|ter|zu)"
_NAME = re.compile(_NAME_PART + r"(?:[ \-]+" + _NAME_PART + r"){1,5}")
_ASIAN_NAME = re.compile(
    r"[\u3005-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,6}(?:\s?[\u3005-\u30ff\u3400-\u9fff\uac00-\ud7af]{1,4})?"
)
_NO_NAME = re.compile(r"(?:by|von|par|draft|version|preprint|january|february|march|april|may|june|july|august|"
                      r"september|october|november|december)\b", re.IGNORECASE)  # fmt: skip

Placed = tuple[int, Block, str]
"""Where a block begins in the document's text, the block, and its text."""


@dataclass(frozen=True, slots=True)
class Paper:
    """What a paper says of itself; the abstract's place is in the document's text."""

    title: str
    authors: tuple[str, ...]
    year: int | None
    abstract: Span


def find_paper(blocks: Sequence[Placed], text: str, metadata: Mapping[str, str]) -> Paper | None:
    """Looks for a paper's head.

    Args:
        blocks: Of the first two pages, in reading order.
        text: The whole document's.
        metadata: The PDF's own: ``title``, ``author`` and ``creationDate`` are of use.

    Returns:
        None where the document does not look like a paper.
    """
    first_pages = "\n".join(words for _, _, words in blocks)
    signs = sum(
        map(
            bool,
            (
                _KEYWORDS.search(first_pages),
                _REFERENCES.search(text),
                _IDENTIFIER.search(first_pages),
                _ADDRESS.search(first_pages[:3000]),
            ),
        )
    )
    found = _abstract(blocks, signs)
    if found is None:
        return None
    index, abstract = found
    head = blocks[:index]
    title, after = _title(head, metadata.get("title", ""))
    if not title:
        return None
    authors = _authors(head[after:]) or _names(metadata.get("author", ""))
    if not authors and signs < 2:
        return None
    return Paper(title, authors, _year(head, blocks, metadata.get("creationDate", "")), abstract)


def with_abstract(sections: Sequence[Section], abstract: Span) -> tuple[Section, ...]:
    """Makes the abstract a section of its own, and what stands before it one without headings: title and authors."""
    found: list[Section] = []
    for section in sections:
        start, end = section.span.start, section.span.end
        if end <= abstract.start:
            continue
        if start <= abstract.start:
            found = [Section((), Span(0, abstract.start))] if abstract.start else []
            found.append(Section(("Abstract",), abstract, whole=True))
        if end > abstract.end:
            # Under the heading of the abstract stands the abstract alone.
            path = section.heading_path if start > abstract.start else ()
            found.append(Section(path, Span(max(start, abstract.end), end)))
    return tuple(found)


def _abstract(blocks: Sequence[Placed], signs: int) -> tuple[int, Span] | None:
    """The index of the block that the abstract begins with, and its place."""
    for index, (start, block, text) in enumerate(blocks):
        if not isinstance(block, Paragraph):
            continue
        plain = " ".join(text.split())
        for pattern, wanted in ((_ABSTRACT, 0), (_SUMMARY, 2)):
            match = pattern.match(plain)
            if match is None or signs < wanted:
                continue
            if match.end() == len(plain) or re.match(r"\S+\s*\n", text):  # a heading of its own
                end = _end(blocks, index + (match.end() == len(plain)))
            elif re.search(r"[.:：—–\-]\s*$", match.group()) and len(plain) > 100:
                end = _end(blocks, index)
            else:
                continue
            if end - start >= 60:
                return index, Span(start, end)
    return _without_heading(blocks) if signs >= 3 else None


def _end(blocks: Sequence[Placed], first: int) -> int:
    """Where the abstract ends whose text begins with a block: before keywords, the introduction, another heading.

    Where nothing tells, it is one paragraph.
    """
    if first >= len(blocks):
        return 0
    start, block, text = blocks[first]
    only = end = start + len(text)
    for start, following, text in blocks[first + 1 :]:
        plain = " ".join(text.split())
        if _KEYWORDS.match(plain) or _INTRODUCTION.match(plain) or _ENDS.match(plain):
            return end
        if not isinstance(following, Paragraph) or not isinstance(block, Paragraph) or not _like(block, following):
            return end if len(plain) < 100 else only
        end = start + len(text)
        if end - only > 4000:
            break
    return only


def _like(block: Paragraph, following: Paragraph) -> bool:
    """Whether a paragraph can be the second one of an abstract: set alike and not short."""
    first, second = block.rows[0], following.rows[0]
    narrow = abs(_left(block) - _left(following)) < 4
    return abs(first.size - second.size) < 0.3 and first.bold == second.bold and narrow and len(following.rows) > 1


def _left(paragraph: Paragraph) -> float:
    return min(row.box[0] for row in paragraph.rows)


def _without_heading(blocks: Sequence[Placed]) -> tuple[int, Span] | None:
    """The one long paragraph before the introduction."""
    for index, (_, _, text) in enumerate(blocks):
        if _INTRODUCTION.fullmatch(" ".join(text.split())):
            long = [
                each
                for each in range(index)
                if len(blocks[each][2]) > 300 and not _ADDRESS.search(blocks[each][2][:80])
            ]
            if len(long) == 1 and long[0] > 0:
                start, _, words = blocks[long[0]]
                return long[0], Span(start, start + len(words))
            return None
    return None


def _title(head: Sequence[Placed], named: str) -> tuple[str, int]:
    """The title among the blocks before the abstract, and the index of the block after it."""
    best, size = -1, 0.0
    for index, (_, block, text) in enumerate(head):
        if isinstance(block, Paragraph) and not block.aside and not _IDENTIFIER.match(text) and len(text) > 7:
            largest = max(row.size for row in block.rows)
            if largest > size + 0.5:
                best, size = index, largest
    if best < 0:
        return "", 0
    plain = _plain(named)
    for index, (_, _, text) in enumerate(head):
        if len(plain) > 12 and plain in _plain(text):
            return " ".join(named.split()), index + 1
    words = [" ".join(head[best][2].split())]
    after = best + 1
    while after < len(head):
        _, block, text = head[after]
        if not isinstance(block, Paragraph) or any(abs(row.size - size) > 0.5 for row in block.rows) or len(words) > 2:
            break
        words.append(" ".join(text.split()))
        after += 1
    title = _MARKS.sub("", " ".join(words)).strip() if words[0][-1:] in "*∗†‡" else " ".join(words)
    return (title, after) if len(title) <= 300 else ("", 0)


def _plain(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def _authors(head: Sequence[Placed]) -> tuple[str, ...]:
    found: list[str] = []
    for _, block, _ in head:
        if isinstance(block, Paragraph):
            lines = [[row.text] for row in block.rows]
        else:
            lines = [[row.text for row in rows(cell)] for cells in block.rows for cell in cells]
        for line in (text for texts in lines for text in texts):
            if len(line) < 300 and not _ADDRESS.search(line):
                found += _names(line)
            elif found and len(line) > 300:
                return tuple(dict.fromkeys(found))
    return tuple(dict.fromkeys(found))


def _names(line: str) -> tuple[str, ...]:
    """The names in a line of names; none where most of it is something else."""
    if _YEAR.search(line):
        return ()
    parts = [" ".join(part.split()).strip(" .,") for part in _BETWEEN.split(_MARKS.sub(" ", line).strip())]
    parts = [part for part in parts if part]
    names = [
        part for part in parts if (_NAME.fullmatch(part) or _ASIAN_NAME.fullmatch(part)) and not _NO_NAME.match(part)
    ]
    return tuple(names) if names and len(names) >= 0.7 * len(parts) else ()


def _year(head: Sequence[Placed], blocks: Sequence[Placed], created: str) -> int | None:
    """By arXiv's stamp, else the head, else an imprint, else when the file was made."""
    for _, _, text in blocks:
        if match := _STAMP.search(text):
            short = int(match["year"] or match["old"])
            return short + (1900 if short > 90 else 2000)
    imprints = [text for _, _, text in blocks if len(text) < 600 and _IMPRINT.search(text)]
    for text in (*(text for _, _, text in head), *imprints, created[:6].removeprefix("D:")):
        years = [int(year) for year in _YEAR.findall(text) if int(year) <= datetime.now(UTC).year + 1]
        if years:
            return max(years)
    return None
