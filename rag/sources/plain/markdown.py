"""Markdown: front matter, headings, comments, callouts and wiki links; all else stays as it was written."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise

import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

from rag.errors import SourceError
from rag.sources.dates import plain_date
from rag.sources.encodings import decode
from rag.sources.plain.text import TAKEN_OUT, Heading, decoded_document, join_lines, line_starts, without_gaps
from rag.types import DEFAULT_READING, ReadOptions, SourceDocument

_FRONT_MATTER = re.compile(r"---[ \t]*\n(?P<yaml>.*?)(?<=\n)(?:---|\.\.\.)[ \t]*(?:\n|$)", re.DOTALL)
_LONGEST_FRONT_MATTER = 100_000  # characters; YAML is slow to read, and nobody writes as much by hand
_MARKUP = re.compile(
    r"(?P<ticks>`+)|(?P<comment><!--)"
    r"|!?\[\[(?P<target>[^\[\]|\n]+)(?:\|(?P<label>[^\[\]\n]+))?\]\](?![\[(])"
    r"|^(?P<quote>(?:[ \t]{0,3}>)+[ \t]*)\[!(?P<callout>[a-zA-Z][\w -]{0,40})\][+-]?(?P<words>[ \t]*\S)?",
    re.MULTILINE,
)
_NUMBER_FIELDS = ("section", "clause", "chapter", "appendix", "annex")
_DATE_FIELDS = ("date", "published", "updated", "lastmod", "modified", "created")
_HEADING_NUMBER = re.compile(r"(?:[A-Z]|\d{1,3})(?:\.\d{1,3})*")
_BLANK_LINE = re.compile(r"\n[ \t]*(?=\n)")
_LONGEST_TITLE = 1_000  # characters that are looked at

_BLOCKS = MarkdownIt("commonmark").disable("inline")
_INLINE = MarkdownIt("commonmark")


def read_markdown(data: bytes, title: str, options: ReadOptions = DEFAULT_READING) -> SourceDocument:
    """Reads a Markdown file.

    Front matter gives title, date and the number of the first heading, and is taken off the text; HTML comments are
    taken out of it, a wiki link becomes the words that it shows, and a callout's kind a word; code keeps all of them as
    they are. Front matter that is not YAML stays in the text and is reported.

    Args:
        data: The file's bytes.
        title: Taken when neither front matter nor a heading gives one.

    Raises:
        SourceError: It is not text, or there is nothing in it.
    """
    decoded = decode(data, options.encoding)
    source = decoded.text
    matter = _front_matter(source)
    kept = source[: matter.end] if matter.problem else ""
    lines = list(enumerate(clean_markdown(source[matter.end :]).split("\n"), 1 + source.count("\n", 0, matter.end)))
    front = list(enumerate(kept.split("\n")[:-1], 1))
    text, marks = join_lines([*front, *without_gaps(lines)])
    if not text.strip():
        raise SourceError("There is no text in the file, only front matter, comments or blanks.")
    headings = list(markdown_headings(text, len(kept)))
    title = matter.first("title") or next((heading.title for heading in headings), title)
    document = decoded_document(data, title, decoded, text, headings, marks, problem=matter.problem)
    number = matter.first(*_NUMBER_FIELDS)
    return replace(
        document,
        number=number if _HEADING_NUMBER.fullmatch(number) else "",
        date=next(filter(None, (plain_date(matter.first(name)) for name in _DATE_FIELDS)), ""),
    )


@dataclass(frozen=True, slots=True)
class _FrontMatter:
    """Where the body begins, why the front matter could not be read, and its fields of one line as they are written."""

    end: int = 0
    problem: str = ""
    fields: dict[str, str] = field(default_factory=dict)

    def first(self, *names: str) -> str:
        """The first of these fields that is there; empty when none is."""
        return next((self.fields[name] for name in names if self.fields.get(name)), "")


def _front_matter(source: str) -> _FrontMatter:
    match = _FRONT_MATTER.match(source)
    if match is None:
        return _FrontMatter()
    if match.end() > _LONGEST_FRONT_MATTER:
        return _FrontMatter(match.end(), "the front matter is too long to be one and was kept as text")
    try:
        fields = yaml.load(match["yaml"], Loader=yaml.BaseLoader)  # it makes strings only
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f" (line {mark.line + 2})" if mark else ""
        return _FrontMatter(match.end(), f"the front matter is not valid YAML{place} and was kept as text")
    if not fields:
        return _FrontMatter(match.end())
    if not isinstance(fields, dict):
        return _FrontMatter()  # text between two rulers
    words = {str(name).lower(): value for name, value in fields.items() if isinstance(value, str)}
    none = ("", "~", "null")
    return _FrontMatter(
        match.end(), fields={name: " ".join(value.split()) for name, value in words.items() if value not in none}
    )


def clean_markdown(body: str) -> str:
    """Takes comments out and makes links and callouts readable, outside of code.

    Lines stay where they are: ``TAKEN_OUT`` stands in those that a comment left.
    """
    if "<!--" not in body and "[[" not in body and "[!" not in body:
        return body
    starts = line_starts(body)
    cleaned: list[str] = []
    position = 0
    for first, last in _code_blocks(body):
        cleaned += (_clean_prose(body[position : starts[first]]), body[starts[first] : starts[last]])
        position = starts[last]
    return "".join((*cleaned, _clean_prose(body[position:])))


def _clean_prose(prose: str) -> str:
    code = _CodeSpans(prose)
    last_end = prose.rfind("-->")
    parts: list[str] = []
    position = 0
    while match := _MARKUP.search(prose, position):
        start, end = match.span()
        words = match.group()
        if match["ticks"]:
            end = code.end(start, end)
            words = prose[start:end]
        elif match["comment"]:
            if prose.startswith(("<!-->", "<!--->"), start):
                end = prose.index(">", start) + 1
            elif end <= last_end:
                end = prose.index("-->", end) + 3
            if end > start + 4:
                words = "\n".join(TAKEN_OUT for _ in range(prose.count("\n", start, end) + 1))
        elif match["callout"]:
            end = match.end("words") - 1 if match["words"] else end
            words = f"{match['quote']}{match['callout'].capitalize()}{': ' if match['words'] else ''}"
        else:
            words = (match["label"] or match["target"]).strip()
        parts += (prose[position:start], words)
        position = end
    return "".join((*parts, prose[position:]))


class _CodeSpans:
    """Where the code spans of a text end; made once, so that backticks without a partner cost nothing."""

    def __init__(self, prose: str) -> None:
        self._runs: defaultdict[int, list[int]] = defaultdict(list)
        for run in re.finditer("`+", prose):
            self._runs[run.end() - run.start()].append(run.start())
        self._breaks = [blank.start() for blank in _BLANK_LINE.finditer(prose)] if self._runs else []

    def end(self, start: int, end: int) -> int:
        """The end of the code span that the backticks from ``start`` to ``end`` open; of the backticks if none."""
        runs = self._runs[end - start]
        closing = bisect_left(runs, end)
        stop = bisect_right(self._breaks, start)
        if closing == len(runs) or (stop < len(self._breaks) and self._breaks[stop] < runs[closing]):
            return end
        return runs[closing] + end - start


def _code_blocks(body: str) -> Iterator[tuple[int, int]]:
    """First line and line after the last one of every fenced or indented code block, in order."""
    return (
        (token.map[0], token.map[1])
        for token in _BLOCKS.parse(body)
        if token.type in ("fence", "code_block") and token.map is not None
    )


def markdown_headings(text: str, skip: int = 0) -> Iterator[Heading]:
    """Finds the headings after the first ``skip`` characters; one inside a quote or a list is not a section."""
    body = text[skip:]
    starts = line_starts(body)
    tokens = _BLOCKS.parse(body)
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open" and opening.level == 0 and opening.map is not None:
            title = _plain(_INLINE.parseInline(_without_attributes(inline.content[:_LONGEST_TITLE])))
            if title:
                yield Heading(skip + starts[opening.map[0]], int(opening.tag[1]), title)


def _without_attributes(title: str) -> str:
    """A heading without the ``{#name .class}`` at its end."""
    words, brace, attributes = title.rstrip().rpartition("{")
    return words if brace and attributes.endswith("}") and attributes.startswith(("#", ".", ":")) else title


def _plain(inline: list[Token]) -> str:
    """The words of a heading without its markup."""
    parts = [
        " " if token.type in ("softbreak", "hardbreak") else token.content
        for parent in inline
        for token in parent.children or ()
        if token.type != "html_inline"
    ]
    return " ".join("".join(parts).split())
