"""Markdown: front matter, headings, comments and wiki links; every other character stays as it was written."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from itertools import accumulate, pairwise

import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

from rag.errors import SourceError
from rag.sources.text import Heading, decode, sections
from rag.types import DEFAULT_READING, ReadOptions, SourceDocument

_FRONT_MATTER = re.compile(r"---[ \t]*\n(?P<yaml>.*?)(?<=\n)(?:---|\.\.\.)[ \t]*(?:\n|$)", re.DOTALL)
_MARKUP = re.compile(
    r"(?P<code>(?<!`)(?P<ticks>`+)(?!`)(?:(?!\n[ \t]*\n).)+?(?<!`)(?P=ticks)(?!`))"
    r"|(?P<comment><!--(?:-?>|.*?-->))"
    r"|!?\[\[(?P<target>[^\[\]|\n]+)(?:\|(?P<label>[^\[\]\n]+))?\]\](?![\[(])",
    re.DOTALL,
)
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n){2,}")
_ATTRIBUTES = re.compile(r"\s*\{[#.:][^{}]*\}\s*$")

_BLOCKS = MarkdownIt("commonmark").disable("inline")
_INLINE = MarkdownIt("commonmark")


def read_markdown(data: bytes, title: str, options: ReadOptions = DEFAULT_READING) -> SourceDocument:
    """Reads a Markdown file.

    Front matter is taken off the text, HTML comments are taken out of it, and a wiki link becomes the words that it
    shows; code keeps all three as they are. Front matter that is not YAML stays in the text and is reported.

    Args:
        data: The file's bytes.
        title: Taken when neither front matter nor a heading gives one.

    Raises:
        SourceError: It is not text, or there is nothing in it.
    """
    source, problems = decode(data)
    front_title, front_end, problem = _front_matter(source)
    if problem:
        problems = (*problems, problem)
    kept = source[:front_end] if problem else ""
    text = kept + _clean(source[front_end:])
    if not text.strip():
        raise SourceError("There is no text in the file, only front matter, comments or blanks.")
    headings = list(_headings(text, len(kept)))
    return SourceDocument(
        text=text,
        title=front_title or next((heading.title for heading in headings), title),
        sections=sections(text, headings),
        sha256=hashlib.sha256(data).hexdigest(),
        problems=problems,
    )


def _front_matter(source: str) -> tuple[str, int, str]:
    """The title in the front matter, where the body begins, and why the front matter could not be read."""
    match = _FRONT_MATTER.match(source)
    if match is None:
        return "", 0, ""
    try:
        fields = yaml.safe_load(match["yaml"])
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # ValueError: a date that does not exist
        mark = getattr(error, "problem_mark", None)
        place = f" (line {mark.line + 2})" if mark else ""
        return "", match.end(), f"the front matter is not valid YAML{place} and was kept as text"
    if fields is None:
        return "", match.end(), ""
    if not isinstance(fields, dict):
        return "", 0, ""  # text between two rulers
    titles = [value for key, value in fields.items() if str(key).lower() == "title" and value is not None]
    return " ".join(str(titles[0]).split()) if titles else "", match.end(), ""


def _clean(body: str) -> str:
    """Takes comments out and makes wiki links readable, outside of code blocks and code spans."""
    if "<!--" not in body and "[[" not in body:
        return body
    starts = _line_starts(body)
    cleaned: list[str] = []
    position = 0
    for first, last in _code_blocks(body):
        cleaned += (_clean_prose(body[position : starts[first]]), body[starts[first] : starts[last]])
        position = starts[last]
    return "".join((*cleaned, _clean_prose(body[position:]))).lstrip("\n")


def _clean_prose(prose: str) -> str:
    def readable(match: re.Match[str]) -> str:
        if match["comment"]:
            return ""
        return match["code"] or (match["label"] or match["target"]).strip()

    cleaned = _MARKUP.sub(readable, prose)
    # A comment leaves the blank lines around it behind.
    return _BLANK_LINES.sub("\n\n", cleaned) if "<!--" in prose else cleaned


def _code_blocks(body: str) -> Iterator[tuple[int, int]]:
    """First line and line after the last one of every fenced or indented code block, in order."""
    return (
        (token.map[0], token.map[1])
        for token in _BLOCKS.parse(body)
        if token.type in ("fence", "code_block") and token.map is not None
    )


def _headings(text: str, skip: int) -> Iterator[Heading]:
    """Finds the headings after the first ``skip`` characters; one inside a quote or a list is not a section."""
    body = text[skip:]
    starts = _line_starts(body)
    tokens = _BLOCKS.parse(body)
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open" and opening.level == 0 and opening.map is not None:
            title = _plain(_INLINE.parseInline(_ATTRIBUTES.sub("", inline.content)))
            if title:
                yield Heading(skip + starts[opening.map[0]], int(opening.tag[1]), title)


def _plain(inline: list[Token]) -> str:
    """The words of a heading without its markup."""
    parts = [
        " " if token.type in ("softbreak", "hardbreak") else token.content
        for parent in inline
        for token in parent.children or ()
        if token.type != "html_inline"
    ]
    return " ".join("".join(parts).split())


def _line_starts(text: str) -> list[int]:
    """Where each line starts, and the end of the text."""
    starts = list(accumulate((len(line) + 1 for line in text.split("\n")), initial=0))
    starts[-1] = len(text)
    return starts
