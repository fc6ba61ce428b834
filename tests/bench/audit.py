"""Does the citation audit find what is wrong in an answer, and leave alone what is right?

``python -m tests.bench.audit [--seed N] [--show] [--natural]``

``audited.jsonl`` holds 100 answers of our own with the passages that they are from, in English, German and Japanese. What
can be wrong in them is marked: ``{n:16| bar}`` a number with its unit, ``{d:…}`` a date or time, ``{p:…}`` a name. For each
answer and each kind one marked place is made wrong, by a seeded choice that the passage does not hold, and the answer
goes through the same check as in chat. Precision and recall are counted by kind; exits with 1 where numbers fall short
of a precision of 0.98 or a recall of 0.95.

``--natural`` adds what other people wrote: the questions of XQuAD and JSQuAD as sentences about their paragraphs. As
they are, nearly every mark is a false alarm; with the figures in them changed, every change has to be found. So have
names that are changed in the sentences of the paragraphs: those that answer a question for "who".
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rag.answering.citations import check_citations
from rag.answering.facts import Held, Speech
from rag.index.chunking.sentences import sentences
from rag.index.terms import terms
from rag.types import Chunk, FactKind, Flag, Span

ANSWERS = Path(__file__).with_name("audited.jsonl")
LANGUAGES = {"en": "English", "de": "German", "ja": "Japanese"}
KINDS: tuple[FactKind, ...] = ("number", "unit", "date", "name")
PRECISION, RECALL = 0.98, 0.95
"""What is asked of numbers."""

_PLACE = re.compile(r"\{(?P<kind>[ndp]):(?P<value>[^|}]*)(?:\|(?P<unit>[^}]*))?\}")
_WORDS = {
    "en": ("three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve", "twenty"),
    "de": ("drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn", "zwölf", "zwanzig"),
    "ja": (),
}
_UNITS = {
    "bar": "psi", "minutes": "hours", "weeks": "days", "hours": "minutes", "°C": "°F", "euros": "dollars", "days": "weeks",
    "cm": "mm", "kg": "g", "m": "km", "mg": "g", "km": "m", "months": "days", "t": "kg", "GB": "MB", "pH": "mg", "%": "‰",
    "kW": "W", "dollars": "euros", "g": "kg", "dB": "Hz", "pounds": "euros", "rpm": "Hz", "seconds": "minutes", "l": "ml",
    "Minuten": "Stunden", "Wochen": "Tage", "Stunden": "Minuten", "Euro": "Dollar", "Tage": "Wochen", "Monate": "Tage",
    "€": "$", "Sekunden": "Minuten", "分": "時間", "週間": "日間", "時間": "分", "℃": "°F", "円": "ドル", "日間": "週間",
    "か月": "年", "秒": "分",
}  # fmt: skip
_MONTHS = {
    "en": ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
           "December"),
    "de": ("Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November",
           "Dezember"),
}  # fmt: skip
_WEEKDAYS = {
    "en": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    "de": ("Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag"),
    "ja": ("月曜日", "火曜日", "水曜日", "木曜日", "金曜日", "土曜日", "日曜日"),
}
_PEOPLE = ("Marta Kowal", "Pieter Bos", "Ines Duarte", "Viktor Hahn", "Amara Okoye", "Tobias Keller", "Lucie Moreau")
_SINGLE = ("Keller", "Duarte", "Malmö", "Tomasz", "Basel", "Amara", "Okoye", "Narva", "Ines", "Cork")
_JAPANESE = {
    "市": ("松山市", "熊本市", "金沢市"),
    "学": ("大阪大学", "東北大学", "九州大学"),
    "ー": ("ベルナー", "ハドソン", "モロー"),
    "": ("田中", "三宅", "大久保", "安井", "川端", "滝沢"),
}


@dataclass(frozen=True, slots=True)
class Written:
    """An answer with its passage; ``places`` are what can be wrong in it."""

    language: str
    passage: str
    answer: str
    places: tuple[tuple[str, Span, Span], ...]


def main() -> int:
    """Prints the table; 1 where a bar falls short."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--show", action="store_true", help="what was missed, and false alarms")
    options.add_argument("--natural", action="store_true", help="questions of XQuAD and JSQuAD too")
    asked = options.parse_args()
    answers = written()
    alarms = [(one, flag) for one in answers for flag in flags(one, one.answer)]
    print(f"{len(answers)} right answers: {len(alarms)} marks, all of them false")
    if asked.show:
        for one, flag in alarms:
            print(f"  {flag.kind}: {one.answer[flag.span.start : flag.span.end]} | {one.answer}")
    counts = measure(answers, asked.seed, show=asked.show)
    print(f"\n{'':10}{'':10}{'wrong':>7}{'found':>7}{'false':>7}{'precision':>11}{'recall':>8}")
    for kind in KINDS:
        for language, name in (*LANGUAGES.items(), ("", "all")):
            count = sum((counts[kind, one] for one in LANGUAGES if language in ("", one)), Counter[str]())
            print(
                f"{kind:10}{name:10}{count['wrong']:7}{count['found']:7}{count['false']:7}"
                f"{precision(count):11.3f}{recall(count):8.3f}"
            )
    if asked.natural:
        natural(asked.seed, show=asked.show)
    numbers = sum((counts["number", one] for one in LANGUAGES), Counter[str]())
    return int(precision(numbers) < PRECISION or recall(numbers) < RECALL)


def written() -> list[Written]:
    """The answers without the signs of what can be wrong in them."""
    answers = []
    for line in ANSWERS.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        text, at, places = "", 0, []
        for match in _PLACE.finditer(entry["answer"]):
            text += entry["answer"][at : match.start()]
            value = Span(len(text), len(text) + len(match["value"]))
            text += match["value"] + (match["unit"] or "")
            places.append((match["kind"], value, Span(value.end, len(text))))
            at = match.end()
        answers.append(Written(entry["language"], entry["passage"], text + entry["answer"][at:], tuple(places)))
    return answers


def measure(answers: Sequence[Written], seed: int, *, show: bool = False) -> dict[tuple[str, str], Counter[str]]:
    """By kind and language: how many places were made wrong, how many of them were found, and how many false marks of
    that kind there were."""
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for number, one in enumerate(answers):
        for kind in KINDS:
            spoiled = spoil(one, kind, random.Random(f"{seed} {number} {kind}"))
            if spoiled is None:
                continue
            text, wrong = spoiled
            marks = flags(one, text)
            found = any(overlap(flag.span, wrong) for flag in marks)
            false = [flag for flag in marks if not overlap(flag.span, wrong)]
            counts[kind, one.language] += Counter(wrong=1, found=found, false=sum(f.kind == kind for f in false))
            if show and not found:
                print(f"  missed {kind}: {text[wrong.start : wrong.end]} | {text} | {one.passage}")
    return counts


def flags(one: Written, answer: str) -> list[Flag]:
    """The marks on an answer, by the check that chat uses; spans are of the answer without its citations."""
    chunk = Chunk("1.1.0", 1, "notes.md", "Notes", one.passage, Span(0, len(one.passage)), (), None, None, 0)
    cited = "".join(f"{answer[span.start : span.end]} [1]\n" for span in sentences(answer))
    checked = check_citations(cited, [chunk], lambda text: dict.fromkeys(terms(text), 1.0))
    marks, after = [], 0
    for flag in checked.flags:
        said = checked.text[flag.span.start : flag.span.end]
        start = answer.index(said, after)
        after = start + len(said)
        marks.append(Flag(Span(start, after), flag.kind))
    return marks


def overlap(one: Span, other: Span) -> bool:
    """Whether two ranges share a character."""
    return one.start < other.end and other.start < one.end


def precision(count: Counter[str]) -> float:
    """Share of the marks that are right; 1 where there are none."""
    marks = count["found"] + count["false"]
    return count["found"] / marks if marks else 1.0


def recall(count: Counter[str]) -> float:
    """Share of what is wrong that was found; 1 where nothing is."""
    return count["found"] / count["wrong"] if count["wrong"] else 1.0


# ------------------------------------------------------------------------------------------------------ making wrong


def spoil(one: Written, kind: FactKind, chance: random.Random) -> tuple[str, Span] | None:
    """The answer with one thing of that kind wrong, and where; None where it has nothing of the kind."""
    sort = {"number": "n", "unit": "n", "date": "d", "name": "p"}[kind]
    places = [
        place for place in one.places if place[0] == sort and (kind != "unit" or one.answer[_range(place[2])].strip())
    ]
    if not places:
        return None
    _, value, unit = chance.choice(places)
    span = unit if kind == "unit" else value
    right = one.answer[_range(span)]
    if kind == "unit":
        wrong = right.replace(right.strip(), _UNITS[right.strip()])
    else:
        change = {"number": wrong_number, "date": wrong_date, "name": wrong_name}[kind]
        wrong = change(right, one, chance)
    text = one.answer[: span.start] + wrong + one.answer[span.end :]
    return text, Span(span.start, span.start + len(wrong))


def _range(span: Span) -> slice:
    return slice(span.start, span.end)


def wrong_number(right: str, one: Written, chance: random.Random) -> str:
    """Another number word, or one figure changed, so that the passage does not hold the number."""
    if right in _WORDS[one.language]:
        return chance.choice([word for word in _WORDS[one.language] if word != right and word not in one.passage])
    return changed_figures(right, one.passage, chance)


def changed_figures(right: str, passage: str, chance: random.Random) -> str:
    """A number with one figure changed, so that the passage does not hold its figures in a row."""
    held = {figures(part) for part in re.findall(r"\d[\d.,'’]*", unicodedata.normalize("NFKC", passage))}
    at = [position for position, sign in enumerate(right) if sign.isdecimal()]
    while True:
        position = chance.choice(at)
        new = chance.choice("123456789" if position == at[0] else "0123456789")
        wrong = right[:position] + new + right[position + 1 :]
        if figures(wrong) not in held | {figures(right)}:
            return wrong


def figures(number: str) -> str:
    """The figures of a number without zeros at its ends, whatever stands between them."""
    return re.sub(r"\D", "", unicodedata.normalize("NFKC", number)).strip("0")


def wrong_date(right: str, one: Written, chance: random.Random) -> str:
    """Another weekday, another month, or another number in the date, that the passage does not hold."""
    for names in (_WEEKDAYS.get(one.language, ()), _MONTHS.get(one.language, ())):
        known = [name for name in names if name in right]
        if known and (chance.random() < 0.5 or not any(map(str.isdecimal, right))):
            return right.replace(known[0], chance.choice([name for name in names if name not in one.passage + right]))
    held = {int(number) for number in re.findall(r"\d+", unicodedata.normalize("NFKC", one.passage + right))}
    parts = list(re.finditer(r"\d+", right))
    part = chance.choice([match for match in parts if match.group() != "00"])
    hour = ":" in right or "時" in right or "Uhr" in right or right.endswith(("am", "pm"))
    ends = (1850, 2030) if len(part.group()) == 4 else (1, 12) if hour and part is parts[0] else (1, 28)
    if "月" in right[part.end() : part.end() + 1] or (right.count(".") == 2 and part is parts[1]):
        ends = (1, 12)
    if right.count("/") == 2 and part is parts[1]:
        ends = (1, 12)
    new = chance.choice([number for number in range(*ends) if number not in held])
    return (
        f"{right[: part.start()]}{new:0{len(part.group()) if part.group().startswith('0') else 1}}{right[part.end() :]}"
    )


def wrong_name(right: str, one: Written, chance: random.Random) -> str:
    """Another name of the same shape."""
    if any(map(str.isdecimal, right)):
        return changed_figures(right, one.passage, chance)
    if one.language == "ja":
        ending = next((ending for ending in _JAPANESE if right.endswith(ending)), "")
        return chance.choice([name for name in _JAPANESE[ending] if name not in one.passage])
    return chance.choice([name for name in (_PEOPLE if " " in right else _SINGLE) if name not in one.passage])


# --------------------------------------------------------------------------------------------- what other people wrote


@dataclass(frozen=True, slots=True)
class Asked:
    """A question about a paragraph, with its answer."""

    paragraph: str
    question: str
    answer: str


def natural(seed: int, *, show: bool) -> None:
    """Prints how often questions of other people are marked, and how much of what is changed in them is found."""
    print(
        f"\n{'':10}{'sentences':>10}" + "".join(f"{kind:>8}" for kind in (*KINDS, "quote")) + "  changed figures  names"
    )
    for language in LANGUAGES:
        chance = random.Random(f"{seed} {language}")
        asked = list(_asked(language))
        held: dict[str, Held] = {}
        alarms: Counter[str] = Counter()
        changed = found = names = named = 0
        people = sorted({one.answer for one in asked if _asks_for_a_person(one)})
        for one in asked:
            passage = held.setdefault(one.paragraph, Held([one.paragraph]))
            marks = passage.lacking(one.question, Speech(language))
            alarms.update(flag.kind for flag in marks)
            if show:
                for flag in marks:
                    print(f"  {flag.kind}: {one.question[_range(flag.span)]} | {one.question}")
            for part in re.finditer(r"(?<![\w.,])\d[\d.,]*(?<![.,])(?![\w.,]*\d)", one.question):
                if figures(part.group()) and part.group() in one.paragraph:
                    wrong = changed_figures(part.group(), one.paragraph, chance)
                    text = one.question[: part.start()] + wrong + one.question[part.end() :]
                    marks = passage.lacking(text, Speech(language))
                    changed += 1
                    found += any(overlap(flag.span, Span(part.start(), part.start() + len(wrong))) for flag in marks)
            if _asks_for_a_person(one) and (said := _sentence_with(one)):
                other = chance.choice([name for name in people if name not in one.paragraph])
                text = said.replace(one.answer, other, 1)
                marks = passage.lacking(text, Speech(language))
                place = Span(said.index(one.answer), said.index(one.answer) + len(other))
                names += 1
                hit = any(overlap(flag.span, place) for flag in marks)
                named += hit
                if show and not hit:
                    print(f"  missed name: {other} | {text[:150]}")
        print(
            f"{LANGUAGES[language]:10}{len(asked):10}"
            + "".join(f"{alarms[kind]:8}" for kind in (*KINDS, "quote"))
            + f"  {found:6} of {changed:5}  {named} of {names}"
        )


def _asked(language: str) -> Iterator[Asked]:
    from tests.bench.sets import DATA

    path = DATA / "qa" / ("jsquad.json" if language == "ja" else f"xquad/xquad.{language}.json")
    for article in json.loads(path.read_text(encoding="utf-8"))["data"]:
        for paragraph in article["paragraphs"]:
            for entry in paragraph["qas"]:
                text = f"{article['title'].replace('_', ' ')}\n{paragraph['context']}"
                yield Asked(text, entry["question"], entry["answers"][0]["text"])


def _asks_for_a_person(one: Asked) -> bool:
    named = re.fullmatch(r"[A-ZÀ-Þ]\w+(?: [A-ZÀ-Þ]\w+)+|[ァ-ヺー・]{5,}|[一-鿿]{2,5}", one.answer) is not None
    return named and re.match(r"(?:Who|Wer|Wen|Wem)\b|.*誰", one.question) is not None


def _sentence_with(one: Asked) -> str:
    found = (one.paragraph[span.start : span.end] for span in sentences(one.paragraph))
    return next((sentence for sentence in found if one.answer in sentence), "")


if __name__ == "__main__":
    sys.exit(main())
