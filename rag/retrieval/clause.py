"""The look-up leg: a question that names a clause ("RFC 9110 section 8.8.3", "§ 7 BetrSichV") gets that clause.

Which document is meant, the other words decide: the names of the files that have such a clause, taken apart so that
"800-63A" meets ``sp800-63a`` and "RFC 9110" meets ``rfc9110.txt``, and then what the clause itself says.
"""

from __future__ import annotations

import math
import re
import time
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from rag.index.catalog import Catalog, Condition
from rag.index.chunking.clauses import canonical, is_within
from rag.index.library import Library
from rag.index.selection import Selection, all_of, among
from rag.retrieval.lexical import weigh_terms
from rag.types import Chunk, Hit, Stage

SURE, UNSURE = 10.0, 1.0
"""Weights of its vote: where one document is meant, its clause comes before what other legs find; else it is a leg as
others are."""

_COVERED = 0.5
"""Share of a question's informative words from which on a clause is what it is about, where it names no document."""

_FILES = 8
"""Files that are looked into where many have such a clause."""

_LONG = 6
"""Letters from which on a word may be a file's, however it is written."""

_NEARLY = 0.8
"""Share of the best match with a question's words from which on a file's name matches them as well."""

_BESIDE = 0.01
"""What each word of a name costs that the question does not have."""

_SHORT = 5
"""Words of a question up to which "RFC 9110 8.8" is a look-up; in longer ones, "8.8" is a quantity or a version."""

_MENTION = re.compile(
    r"(?P<sign>第\s*[\d〇一二三四五六七八九十百]{1,7}\s*[条條章節节部編编]"
    r"|§{1,2}\s*\d{1,4}(?:\.\d{1,4})*[a-z]?\b(?:\s*Abs(?:atz|\.)?\s*\d{1,2}[a-z]?\b)?"
    r"|(?:附属書|附录|附錄|付録|부록)\s*[A-Z]|\b(?i:annex|appendix|anhang|anlage)\s+[a-z]\b)"
    r"|(?P<label>\b[^\W\d_]{2,}\.?)\s+(?P<number>[A-Z](?:\.\d{1,3})*|[IVX]{2,5}|\d{1,3}(?:\.\d{1,3})*[a-z]?)(?![\w-]|\.\w)"
    r"|(?<![\w.-])(?P<bare>(?:[A-Z]|\d{1,3})(?:\.\d{1,3})+)(?![\w-]|\.\w)"
)
_NAME_PART = re.compile(r"[^\W\d_]+|\d+(?:[^\W\d_](?![^\W\d_]))?")
_FRAME = re.compile(
    r"\b(?:what|which|where|how|is|are|does|do|say|says|said|state|states|require|requires|about|of|in|to|the|a|an|and"
    r"|this|there|me|please|show|tell|explain|summari[sz]e|according"
    r"|was|wie|ist|sind|steht|sagt|regelt|besagt|von|zu|über|der|die|das|des|dem|den|und|bitte|zeige|laut|nach|gemäß"
    r"|que|dit|est|le|la|les|du|de|dans|et|dice|es|el|los|en|y)\b"
    r"|[ぁ-ゟ]+|何|定|規定|内容|规定|什么|的|了",
    re.IGNORECASE,
)
"""Words that ask for a clause and say nothing about what is in it."""

_WORDS_AS_WELL = ("A", "I")
"""Numbers that are words, unless the word before them is written as a heading's ("Part I", but "the part I like")."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A clause that a question names.

    Attributes:
        words: As the question has it.
        number: In canonical form.
        sure: It can be nothing else.
    """

    words: str
    number: str
    sure: bool


def mentions(text: str) -> Iterator[Mention]:
    """The clauses that a question names, in order."""
    text = unicodedata.normalize("NFKC", text)
    for found in _MENTION.finditer(text):
        words, number = found.group(), canonical(found.group())
        if found["label"] and number and found["number"] in _WORDS_AS_WELL and found["label"].islower():
            continue
        if number and not found["bare"]:
            yield Mention(words, number, sure=True)
            continue
        words = found["bare"] or found["number"] or ""
        dots = words.count(".")
        if canonical(words) and (dots > 1 or (dots == 1 and len(text.split()) <= _SHORT)):
            # Behind a word that is no section's, it may be the version or the address of something.
            alone = found["bare"] or _FRAME.fullmatch(found["label"])
            yield Mention(words, canonical(words), sure=dots > 1 and bool(alone))


def search_clause(library: Library, text: str, limit: int, within: Selection | None = None) -> Stage | None:
    """Looks up the clauses that a question names; None where it names none.

    Args:
        library: The library.
        text: The question.
        limit: Hits at most.
        within: The chunks that the search is held to; None: all.
    """
    started = time.perf_counter()
    named = list(mentions(text))
    if not named:
        return None
    rest = unicodedata.normalize("NFKC", text)
    for mention in named:
        rest = rest.replace(mention.words, " ", 1)
    names = _Names(library.catalog, rest, within)
    clauses = [clause for mention in named for clause in _clauses(library.catalog, mention.number, names, within)]
    words = ", ".join(mention.words for mention in named)
    if not clauses:
        note = f"The question names {words}, which no document here has."
        return Stage("clause", "match", (), time.perf_counter() - started, 0.0, note)
    query_terms = weigh_terms([library.catalog], _FRAME.sub(" ", rest))
    coverage = {id(clause): max(map(query_terms.coverage, clause)) for clause in clauses}
    scores = {id(clause): names.score(clause[0].file_id) + coverage[id(clause)] for clause in clauses}
    meant = [clause for clause in clauses if names.is_named(clause[0].file_id)] or clauses
    # Of several clauses each one's beginning first, since any may be meant.
    ranked = sorted(
        ((chunk, at, scores[id(clause)]) for clause in meant for at, chunk in enumerate(clause)),
        key=lambda place: (place[1], -place[2]),
    )
    best = ranked[0][0]
    about = not query_terms.weights or max(coverage[id(clause)] for clause in meant) >= _COVERED
    sure = (
        any(mention.sure for mention in named)
        and len({chunk.file_id for chunk, _, _ in ranked}) == 1
        and names.has_numbers(best.file_id)
        and (names.is_named(best.file_id) if names.any_named else about)
    )
    weight = SURE if sure else UNSURE
    # Of several libraries, the one that is sure comes first.
    hits = tuple(Hit(chunk, weight + score, rank) for rank, (chunk, _, score) in enumerate(ranked[:limit], start=1))
    where = f" of “{best.title}”." if sure else "; of which document, is unsure."
    note = f"The question names {words}{where}"
    return Stage("clause", "match", hits, time.perf_counter() - started, weight, note)


def _clauses(catalog: Catalog, number: str, names: _Names, within: Selection | None) -> list[list[Chunk]]:
    """The chunks of a clause in each document that has it, those of the best named documents."""
    permitted = within.condition if within else None
    if not (files := catalog.files_with_section(number, permitted)):
        number = number.partition(" Abs.")[0]  # a part of § 5 is seldom a section by itself
        files = catalog.files_with_section(number, permitted)
    if not any(map(names.is_named, files)):
        # People write "§ 4" of a standard, and "section 4" of a law.
        counted = number.rpartition(" ")[2]
        for other in (counted, f"§ {counted}", f"Article {counted}"):
            if meant := list(filter(names.is_named, catalog.files_with_section(other, permitted))):
                number, files = other, meant
    likely = sorted(files, key=names.place)[:_FILES]
    inside = [known for known in catalog.section_numbers() if is_within(known, number)]
    condition = all_of([Condition("section != ''"), among("section", inside), among("file_id", likely)])
    if permitted:
        condition = all_of([condition, permitted])
    by_file = groupby(catalog.chunks_where(condition), key=lambda chunk: chunk.file_id)
    return list(filter(None, (_clause(list(chunks), number) for _, chunks in by_file)))


def _clause(chunks: Sequence[Chunk], number: str) -> list[Chunk]:
    """Of the chunks in a clause, those of its own text; where it is a heading only, that and what stands below it."""
    own = [chunk for chunk in chunks if chunk.section == number]
    said = [chunk for chunk in own if not chunk.contents]
    return said or [*own[:1], *(chunk for chunk in chunks if not chunk.contents)]


class _Names:
    """How well the words of a question name each file that may be searched, by its path and title.

    A file that a sync adds meanwhile is not named.

    Attributes:
        any_named: Whether a file is named at all.
    """

    def __init__(self, catalog: Catalog, words: str, within: Selection | None) -> None:
        facts = catalog.file_facts(within.condition if within else None)
        asked, long = _asked(words)
        self._numbers = {part for part in asked if not part.isalpha()}
        self._named = named = {
            id_: (asked & set(_parts(f"{path} {title}"))) | (long & set(_parts(path)))
            for id_, path, title, _, _ in facts
        }
        count = Counter(part for parts in named.values() for part in parts)
        self._matched = {
            id_: sum(math.log((len(facts) + 1) / count[part]) for part in parts) for id_, parts in named.items()
        }
        self._best = max(self._matched.values(), default=0.0)
        self.any_named = self._best > 0
        self._scores = {id_: len(named[id_]) - _BESIDE * len(set(_parts(path)) - named[id_]) for id_, path, *_ in facts}

    def score(self, file_id: int) -> float:
        """How many parts of its name the question has, which can be compared between libraries.

        Of two files, the one with less beside them wins.
        """
        return self._scores.get(file_id, 0.0)

    def place(self, file_id: int) -> tuple[float, float]:
        """To sort by, the best named first: by how informative what is in common is."""
        return -self._matched.get(file_id, 0.0), -self.score(file_id)

    def has_numbers(self, file_id: int) -> bool:
        """Whether its name has every number of the question: without 9110, it is another RFC."""
        return self._numbers <= self._named.get(file_id, set())

    def is_named(self, file_id: int) -> bool:
        """Whether no other file is named better."""
        return self.any_named and self._matched.get(file_id, 0.0) >= _NEARLY * self._best


def _asked(words: str) -> tuple[set[str], set[str]]:
    """The parts of a question's words that may be of a name: those with a digit or a capital, and other long ones."""
    asked, long = set(), set()
    for found in _NAME_PART.finditer(words):
        part = found.group()
        # The first word of a question has a capital whatever it is.
        if any(character.isupper() for character in (part if found.start() else part[1:])) or not part.isalpha():
            asked.add(part.casefold())
        elif len(part) >= _LONG or not part.isascii():
            long.add(part.casefold())
    return asked, long


def _parts(name: str) -> list[str]:
    """A name's words and numbers: "sp800-63a" is sp, 800, 63a."""
    return _NAME_PART.findall(unicodedata.normalize("NFKC", name).casefold())
