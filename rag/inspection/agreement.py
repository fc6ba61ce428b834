"""Two answers to one question, sentence by sentence: what comes from the notes, and where the answers disagree.

No model is asked; only words are compared. Two sentences disagree where both speak of what the question is about, and
then give different numbers of one kind, different names, different words in a short answer, or a yes against a no. What
one of them says beside that is left alone: a longer answer is no other answer.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Literal

from rag.answering.citations import marked_sentences, shown_to_model
from rag.answering.dates import dates
from rag.answering.facts import Held, Speech, read
from rag.answering.names import names
from rag.answering.numbers import Number, numbers
from rag.answering.taken import Taken
from rag.answering.units import can_be_compared
from rag.index.chunking.sentences import sentences
from rag.types import Answer, Chunk, Span


class Origin(StrEnum):
    """Where a sentence comes from, as far as its words tell."""

    NOTES = "notes"  # a passage holds it
    BOTH = "both"  # a passage holds it, and the model says the same without the notes
    MODEL = "model"  # no passage holds it
    DISAGREE = "disagree"  # the other answer says something else in its place
    UNSURE = "unsure"  # it only says that the model does not know


@dataclass(frozen=True, slots=True)
class Mark:
    """A sentence of an answer, and where it comes from.

    Attributes:
        span: The sentence, in the answer's text.
        origin: Where it comes from.
        own: Where the answers disagree, the words that the other sentence lacks, as spans of the answer's text.
        other: Where they disagree, the other sentence, as a span of the other answer's text.
        held: Whether a passage holds it, wherever it comes from.
    """

    span: Span
    origin: Origin
    own: tuple[Span, ...] = ()
    other: Span | None = None
    held: bool = False


def compare_answers(
    question: str, left: Answer, right: Answer, passages: Sequence[Chunk], *, alone: bool
) -> tuple[tuple[Mark, ...], tuple[Mark, ...]]:
    """Marks every sentence of two answers.

    Args:
        question: What both answer.
        left: The answer from the notes.
        right: The other answer.
        passages: The notes.
        alone: Whether the other answer was given without them.
    """
    about = _About(_words(question), _numbers(question), question)
    lefts, rights = _sentences(left, about), _sentences(right, about)
    held = [_passage(chunk) for chunk in passages]
    relations = {(one.span, other.span): _relation(one, other, about) for one in lefts for other in rights}

    def to_right(one: _Sentence, other: _Sentence) -> _Relation:
        return relations[one.span, other.span]

    def to_left(one: _Sentence, other: _Sentence) -> _Relation:
        return relations[other.span, one.span]

    marks = [_mark(one, rights, to_right, _is_held(one, left, held), said=alone) for one in lefts]
    known = [one for one, mark in zip(lefts, marks, strict=True) if mark.held]
    others = [
        _mark(
            one,
            lefts,
            to_left,
            _is_held(one, right, held) or any(to_left(one, other) == "same" for other in known),
            said=alone,
            known=alone,
        )
        for one in rights
    ]
    return tuple(marks), tuple(others)


def disagreements(question: str, answer: Answer, others: Sequence[str]) -> Iterator[tuple[int, Mark]]:
    """The sentences of an answer in whose place others say something else.

    Args:
        question: What is answered.
        answer: The answer.
        others: Sentences, each taken by itself.

    Yields:
        Which of the others, from 0, and the mark of the answer's sentence.
    """
    about = _About(_words(question), _numbers(question), question)
    own = _sentences(answer, about)
    for at, text in enumerate(others):
        others_said = _sentences(Answer(text, "answered"), about)
        for one in own:
            mark = _mark(one, others_said, lambda one, other: _relation(one, other, about), held=False, said=False)
            if mark.origin is Origin.DISAGREE:
                yield at, mark


_Relation = Literal["same", "differs", "apart"]


def _mark(
    one: _Sentence,
    others: Sequence[_Sentence],
    relation: Callable[[_Sentence, _Sentence], _Relation],
    held: bool,
    *,
    said: bool,
    known: bool = False,
) -> Mark:
    """One sentence's mark; ``said``: the other answer tells what the model says by itself; ``known``: this one does."""
    found = [relation(one, other) for other in others]
    if one.unsure:
        return Mark(one.span, Origin.UNSURE)
    if "differs" in found and "same" not in found:
        other = others[found.index("differs")]
        return Mark(one.span, Origin.DISAGREE, one.beside(other), other.span, held)
    if held:
        return Mark(one.span, Origin.BOTH if known or (said and "same" in found) else Origin.NOTES, held=True)
    return Mark(one.span, Origin.MODEL)


@dataclass(frozen=True, slots=True)
class _Passage:
    """A passage: what it confirms, its words, and those of each of its sentences with whether that says no."""

    held: Held
    words: tuple[_Word, ...]
    sentences: tuple[tuple[tuple[_Word, ...], bool], ...]


def _passage(chunk: Chunk) -> _Passage:
    text = shown_to_model(chunk)
    pieces = [chunk.text[span.start : span.end] for span in sentences(chunk.text)]
    return _Passage(Held([text]), _words(text), tuple((_words(piece), _is_negated(piece)) for piece in pieces))


def _is_held(sentence: _Sentence, answer: Answer, passages: Sequence[_Passage]) -> bool:
    """Whether a passage holds a sentence: all its numbers, dates and names, and most of what it adds to the question.

    A citation that lacks no fact does, too, where a number is what the sentence adds and the passage holds most of its
    words; and where the words are of another language, which cannot be compared.
    """
    for passage in passages:
        found = len(sentence.own) - len(_without(sentence.own, passage.words))
        if found < _MOST * len(sentence.own) or passage.held.lacking(sentence.text, sentence.speech):
            continue
        if sentence.own or sentence.numbers or sentence.dated or _repeats(sentence, passage):
            return True
    cited = [citation for citation in answer.citations if citation.answer_span.start == sentence.span.start]
    adds_number = bool(sentence.numbers or sentence.dated)
    return any(
        not citation.missing
        and ((adds_number and citation.overlap >= _MOST) or Speech.of(citation.chunk.text) != sentence.speech)
        for citation in cited
    )


def _repeats(sentence: _Sentence, passage: _Passage) -> bool:
    """Whether a sentence that only repeats the question's words says what a sentence of the passage says."""
    return any(
        bool(sentence.words) and not _without(sentence.words, words) and negated == sentence.negated
        for words, negated in passage.sentences
    )


# ------------------------------------------------------------------------------------------------------------ sentences

_WORD = re.compile(
    r"(?P<han>[々\u3400-\u4dbf\u4e00-\u9fff]+)|(?P<kana>[\u30a1-\u30ff]+)|(?P<hangul>[\uac00-\ud7af]+)"
    r"|(?:(?![々\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af])[^\W\d_])+"
)
"""Words; Hiragana is left out, since it mostly ties others together."""

_MID_SENTENCE = re.compile(r"[^\W_][,;]?\s\Z")
_COUNTED = re.compile(r"[\s\-]*([^\W\d_]{3,})")
_YEAR = range(1000, 2200)
_CLOSE = 1e-6
_SHORT_ANSWER = 3  # words beside those of the question
_HALF = 0.5
_MOST = 0.6

_SAYING_NOTHING = """
a about after all also am an and any are as at be because been before being below between both but by can could did do
does during each either etc every few first for from had has have he her here his how however i if in into is it its
itself just like made many may me more most must my no not of on once one only or other our out over own same she should
since so some such than that the their them then there these they this those through to too under until up upon us used
using usually was we were what when where which while who whom whose why will with within would you your according known
called located note notes answer question
aber alle als auch auf aus bei beim bis da damit dann das dass dem den der des die dies diese dieser dieses durch ein
eine einem einen einer eines er es etwa für hat haben ich ihr ihre im ist ja jede jeder kann man mehr mit nach
nur oder ohne seit sein seine sich sie sind um und unter vom von vor war waren wenn wer werden wie wird wo wurde zu zum
zur wann welche welcher welches wieviel viele lautet beträgt befindet über
à au aux avec ce ces cette chez comme dans de du elle en est et eux il ils je la le les leur leurs lui mais ne nous on
ou où par pas plus pour qu que quel quelle qui sa sans se ses son sont sur un une vous quand combien
al con cual cuál cuando cuándo cuánto cuántos del desde donde dónde el ella entre esta este está fue ha hay las lo los
más muy o para pero por qué quién ser sin sobre su sus una y
che chi ci come da dal dei della delle di dove e è gli ma nel non per più quale quando quanto sono sul uno
een het van voor bij door op te dat wat wie waar wanneer hoe niet zijn
do dos em na nas nos os com uma qual onde quem como foi são não
的 了 是 在 和 有 为 與 与 之 等 方 事 者 中 上 下 何 時 人
"""
_COMMON = frozenset(_SAYING_NOTHING.split())
"""Words that say nothing by themselves."""

_YES = re.compile(r"\W*(yes|ja|oui|sí|si|sì|sim|はい|ええ|是的|对)\b|\W*(?:はい|是的|对的)", re.IGNORECASE)
_NO = re.compile(r"\W*(no|nein|non|nee|não)\b[,.;:!]?|\W*(?:いいえ|不是|不对|否)", re.IGNORECASE)
_NEGATION = re.compile(
    r"\b(?:not|never|cannot|\w+n['’]t|nicht|nie|niemals|kein\w*|ne|pas|jamais|nunca|niet|geen|não|non)\b"
    r"|ません|ない|ず(?=[、。に])|不|没有|沒有",
    re.IGNORECASE,
)
_UNSURE = re.compile(
    r"\bI(?:['’]m| am)? (?:do not|don['’]t|cannot|can['’]t|could not|couldn['’]t|am not|not|unable|sorry|afraid)"
    r"|\bas an ai\b|\b(?:no|not enough|without) (?:more |further |any )?(?:information|context|details)\b|\bunable to\b"
    r"|\bich (?:weiß|kenne|kann|habe)\b.*\b(?:nicht|keine\w*)\b|\btut mir leid\b|\bleider\b.*\b(?:nicht|keine\w*)\b"
    r"|\bje ne (?:sais|peux|connais|dispose)|\bdésolé|\bno (?:lo )?(?:sé|tengo|puedo)\b|\blo siento\b"
    r"|\bnon (?:lo )?(?:so|posso|ho)\b|\bik weet\b.*\bniet\b|\bnão (?:sei|tenho|posso)\b"
    r"|わかりません|分かりません|存じません|申し訳|情報が(?:ありません|ない|不足)|(?:お答え|回答)できません"
    r"|我不(?:知道|清楚|确定|了解)|抱歉|无法(?:回答|确定|提供)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Word:
    """A word that says something: ``key`` is what its forms have in common, ``name``: it is part of one."""

    key: str
    span: Span
    name: bool

    def same(self, other: _Word) -> bool:
        shorter, longer = sorted((self.key, other.key), key=len)
        if _is_unspaced(shorter):
            return shorter in longer
        return longer == shorter or (len(shorter) >= 4 and longer.startswith(shorter))


@dataclass(frozen=True, slots=True)
class _Number:
    """A number, with the word after it where it has no unit: ``counted`` says what it counts then."""

    read: Number
    counted: str
    span: Span

    def same(self, other: _Number) -> bool:
        ours, theirs = self.read, other.read
        if ours.name or theirs.name:
            return ours.name == theirs.name
        if ours.unit and theirs.unit:
            return can_be_compared(ours.unit, theirs.unit) and _meet(
                map(ours.unit.base, ours.values), map(theirs.unit.base, theirs.values)
            )
        return _meet(ours.values, theirs.values)

    def rivals(self, other: _Number) -> bool:
        """Whether the two cannot both be right in one place: they count the same, and are not the same."""
        ours, theirs = self.read, other.read
        if self.same(other) or ours.loose or theirs.loose:
            return False
        if ours.unit and theirs.unit:
            return can_be_compared(ours.unit, theirs.unit)
        alike = (bool(ours.name), self.counted, self.is_year) == (bool(theirs.name), other.counted, other.is_year)
        return alike and ours.unit is theirs.unit

    @property
    def is_year(self) -> bool:
        return self.read.unit is None and not self.counted and any(value in _YEAR for value in self.read.values)


def _meet(ours: Iterable[float], theirs: Iterable[float]) -> bool:
    values = list(theirs)
    return any(math.isclose(one, other, rel_tol=_CLOSE) for one in ours for other in values)


@dataclass(frozen=True, slots=True)
class _About:
    """What is asked: the question's words and numbers, and its text."""

    words: tuple[_Word, ...]
    numbers: Sequence[_Number]
    text: str


@dataclass(frozen=True)
class _Sentence:
    """A sentence of an answer; its words and numbers count characters of the answer's text.

    Attributes:
        words: Its words; ``own`` those that the question does not have; ``numbers`` and ``dated`` (its
            dates) likewise.
        shared: The question's words that it repeats.
        speech: How it is written.
        opening: Whether it is the answer's first sentence, which speaks of what was asked in any case.
    """

    text: str
    span: Span
    words: tuple[_Word, ...]
    own: tuple[_Word, ...]
    shared: frozenset[str]
    numbers: tuple[_Number, ...]
    dated: tuple[Span, ...]
    speech: Speech
    opening: bool
    unsure: bool

    @cached_property
    def says(self) -> Held:
        """What it confirms."""
        return Held([self.text])

    @property
    def says_yes(self) -> bool | None:
        if _YES.match(self.text):
            return True
        return False if _NO.match(self.text) else None

    @property
    def negated(self) -> bool:
        return _is_negated(self.text)

    def beside(self, other: _Sentence) -> tuple[Span, ...]:
        """What it says that the other one does not."""
        spans = [number.span for number in self.numbers if not any(map(number.same, other.numbers))]
        spans += self.dates_beside(other)
        spans += [word.span for word in _without(self.own, other.own)]
        return _apart(spans)

    def dates_beside(self, other: _Sentence) -> list[Span]:
        """The dates that the other sentence does not have."""
        if not self.dated:
            return []
        lacking = {flag.span.start for flag in other.says.lacking(self.text, self.speech) if flag.kind == "date"}
        return [span for span in self.dated if span.start - self.span.start in lacking]


def _apart(spans: Iterable[Span]) -> tuple[Span, ...]:
    """The spans in order, without those that lie in others."""
    kept: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if not kept or span.start >= kept[-1].end:
            kept.append(span)
    return tuple(kept)


def _sentences(answer: Answer, about: _About) -> list[_Sentence]:
    """An answer's sentences; none of a refusal."""
    if answer.outcome in ("not_in_notes", "search_only"):
        return []
    known = Held([about.text])
    found: list[_Sentence] = []
    for span, _ in marked_sentences(answer.text):
        text = answer.text[span.start : span.end]
        words, speech = _words(text, span.start), Speech.of(text)
        told = [number for number in _numbers(text, span.start) if not any(map(number.same, about.numbers))]
        dated = [flag.span for flag in known.lacking(text, speech) if flag.kind == "date"]
        found.append(
            _Sentence(
                text=text,
                span=span,
                words=words,
                own=_without(words, about.words),
                shared=frozenset(word.key for word in about.words if any(map(word.same, words))),
                numbers=tuple(told),
                dated=tuple(Span(span.start + date.start, span.start + date.end) for date in dated),
                speech=speech,
                opening=not found,
                unsure=_UNSURE.search(text) is not None,
            )
        )
    return found


def _words(text: str, offset: int = 0) -> tuple[_Word, ...]:
    """The words that say something, with their places moved by an offset."""
    normal = read(text)
    named = Taken(len(text))
    for span in names(normal.text, german=Speech.of(text).language == "de"):
        named.add(normal.source(span))
    found = []
    for match in _WORD.finditer(text):
        word = match.group()
        plain = unicodedata.normalize("NFKC", word).casefold()
        # "Au" in mid-sentence means gold, and is no French word.
        meant = word[0].isupper() and _MID_SENTENCE.search(text, max(0, match.start() - 3), match.start()) is not None
        if not meant and (plain in _COMMON or (len(plain) < 3 and not match["han"])):
            continue
        name = named.meets(Span(*match.span()))
        found.append(_Word(_key(plain), Span(offset + match.start(), offset + match.end()), name))
    return tuple(found)


def _key(word: str) -> str:
    if _is_unspaced(word):
        return word
    letters = "".join(one for one in unicodedata.normalize("NFD", word) if not unicodedata.combining(one))
    return letters[: max(4, len(letters) - 2)]


def _is_negated(text: str) -> bool:
    return _NEGATION.search(text) is not None


def _is_unspaced(word: str) -> bool:
    return word[:1] >= "\u3005" and word[:1] <= "\uffff"


def _without(words: Iterable[_Word], others: Sequence[_Word]) -> tuple[_Word, ...]:
    return tuple(word for word in words if not any(word.same(other) for other in others))


def _numbers(text: str, offset: int = 0) -> list[_Number]:
    """The numbers of a text that belong to no date, with their places moved by an offset."""
    found = []
    normal = read(text)
    taken = Taken(len(normal.text))
    for date in dates(normal.text):
        taken.add(date.span)
    for number in numbers(normal.text):
        if taken.meets(number.span):
            continue
        after = _COUNTED.match(normal.text, number.span.end) if number.unit is None else None
        counted = after.group(1).casefold() if after else ""
        place = normal.source(number.span)
        span = Span(offset + place.start, offset + place.end)
        found.append(_Number(number, "" if counted in _COMMON else _key(counted), span))
    return found


# ------------------------------------------------------------------------------------------------------------ relations


def _relation(one: _Sentence, other: _Sentence, about: _About) -> _Relation:
    """Whether two sentences say the same of what was asked, something else, or speak of different things."""
    if one.unsure or other.unsure or not _same_subject(one, other, about):
        return "apart"
    if one.says_yes is not None and other.says_yes is not None:
        return "same" if one.says_yes == other.says_yes else "differs"
    for compare in (_compare_dates, _compare_numbers, _compare_words):
        found = compare(one, other)
        if found != "apart":
            return found
    return "apart"


def _same_subject(one: _Sentence, other: _Sentence, about: _About) -> bool:
    if one.opening and other.opening:
        return True
    return len(one.shared & other.shared) > _HALF * len(about.words)


def _compare_dates(one: _Sentence, other: _Sentence) -> _Relation:
    ours, theirs = one.dates_beside(other), other.dates_beside(one)
    if ours and theirs:
        return "differs"
    return "same" if len(ours) < len(one.dated) else "apart"


def _compare_numbers(one: _Sentence, other: _Sentence) -> _Relation:
    ours = [number for number in one.numbers if not any(map(number.same, other.numbers))]
    theirs = [number for number in other.numbers if not any(map(number.same, one.numbers))]
    if any(our.rivals(their) for our in ours for their in theirs):
        return "differs"
    return "same" if len(ours) < len(one.numbers) else "apart"


def _compare_words(one: _Sentence, other: _Sentence) -> _Relation:
    ours, theirs = _without(one.own, other.own), _without(other.own, one.own)
    named, their_named = ([word for word in own if word.name] for own in (one.own, other.own))
    agreed = [word for word in named if word not in ours]
    if one.negated != other.negated and len(ours) + len(theirs) <= 1 and one.shared & other.shared:
        return "differs"
    shared = len(one.own) - len(ours)
    if shared and (agreed or not (named and their_named)):
        counted = bool(one.numbers or one.dated), bool(other.numbers or other.dated)
        enough = counted[0] == counted[1] and shared > _HALF * min(len(one.own), len(other.own))
        return "same" if enough else "apart"
    if not ours and not theirs:
        return "same" if one.own or one.shared else "apart"
    if not ours or not theirs:
        return "apart"
    if named and their_named and not agreed:
        return "differs"
    short = all(
        len(own) <= _SHORT_ANSWER and not counted for own, counted in ((ours, one.numbers), (theirs, other.numbers))
    )
    return "differs" if short and len(ours) == len(one.own) else "apart"
