"""Names in an answer, and whether a passage holds them.

What marks a word as a name: its capital where the language keeps capitals for names, a digit or more than one capital
inside it (``HS-014``, ``BGE-M3``), a title beside it, a place in the list of known ones, or in Japanese katakana with a
middle point, an honorific, the kind of a place, or a frequent surname before a particle. German writes all nouns with a
capital, so there a word needs one of the other marks, a capital beside it, or the look of no German noun where a noun
would have an article. Many names are missed so, rather than many nouns marked.

Source for the matching of acronyms with what they stand for: the initials of consecutive capitalised words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache

from rag.answering.known_names import KNOWN_NAMES
from rag.answering.taken import Taken
from rag.types import Span

_LETTER = "A-Za-zÀ-ɏ"
_WORD = re.compile(rf"[{_LETTER}\d](?:[{_LETTER}\d]|[-'’&./+#_](?=[{_LETTER}\d]))*")
_HAS_CODE = re.compile(rf"[{_LETTER}].*\d|\d.*[{_LETTER}]|[A-ZÀ-Þ].*[A-ZÀ-Þ]")
_ONE_CAPITAL_EACH = re.compile(r"(?:[A-ZÀ-Þ][a-zß-ÿ'’]+[-/&.]?)+")
_SHORTENED = re.compile(r"['’](?:s|ve|re|ll|d|m)$")
_COMPOUND = re.compile(r"(.+?)-[A-ZÄÖÜ]?[a-zäöüß]{3,}")
"""A German compound: what stands before its last hyphen may be a name, what stands after is a noun."""

_OPENS = re.compile(r"(?:^|[:;“”„\"«»‚‘—–\n|]|[.!?]\s)[\s(\[\-*+#>]*(?:\d{1,3}[.)]\s+)?$")

_LOOK_BACK = 24  # characters
_LONGEST = 80  # characters of a name; longer ones are addresses and the like

_LITTLE_WORDS = """
a an the this that these those it its he she they we you i his her their our your my one each every all both some  any
no not and or but if when while where who what which why how as at by for from in into of on to with without  after
before during since until under over about above below between through per via also however therefore  thus then there
here yes so such than too very only more most other another both either neither because although  though unless
whereas additionally furthermore moreover finally first second third next last note please see  according based given
instead overall yes is are was were be been has have had do does did can could may might  must shall should will would
let ok  der die das den dem des ein eine einen einem einer eines kein keine keinen und oder aber wenn weil dass ob als
wie  wo wer was welche welcher welches warum wann nach vor seit bis unter über zwischen durch für gegen ohne um mit
von vom zu zum zur bei beim in im an am auf aus es er sie wir ihr ich man sich nicht nur auch sehr mehr so dann  dort
hier ja nein laut jede jeder jedes alle alles dies diese dieser dieses diesem diesen jener sein seine seinen  ihre
ihren ihrem unser beide einige mehrere viele wenige zudem außerdem jedoch daher deshalb somit damit dabei  danach
zuerst schließlich insgesamt zusätzlich gemäß während sowie ist sind war waren wird werden hat haben kann  können muss
müssen soll sollen darf dürfen wurde wurden
"""
_FUNCTION_WORDS = frozenset(_LITTLE_WORDS.split())
_BEFORE_A_NAME = """
mr mrs ms dr prof professor sir lady lord king queen president herr herrn frau doktor professorin familie firma
kollege kollegin kollegen chef chefin könig königin präsident präsidentin kaiser papst bischof kanzler  kanzlerin
minister ministerin
"""
_TITLES = frozenset(_BEFORE_A_NAME.split())

_VERBS = """
is was has had will can says said wrote found took gave made led began asks asked noted reports holds runs works lives
leads keeps wants needs says thinks told put went came became won lost saw
"""
_FINITE = frozenset(_VERBS.split())
_COMMON_ENDING = re.compile(
    r"(?:s|ing|ion|ment|ness|ity|ure|ance|ence|ly|ism|age|ship|ware|work|hood|dom|al|ive|able)$"
)

# ------------------------------------------------------------------------------------------------------------- German

_GERMAN_VERBS = """
hat ist war wird wurde kann muss soll darf will hatte schrieb baute kam ging nahm gab machte fand maß sagt leitet führt
prüft misst
"""
_GERMAN_FINITE = frozenset(_GERMAN_VERBS.split())
_GERMAN_BEFORE = ("von", "mit", "bei", "durch", "nach", "aus", "in")
_MEASURES = """
Ende Anfang Mitte Liter Gramm Kilogramm Meter Prozent Stück Teil Art Rang Kapitel Typ Version Tonnen Euro Dollar Grad
Millionen Milliarden Hälfte Menge Anzahl Reihe Paar Tasse Glas Stunden Minuten Tage Wochen
"""
_BEFORE_NOUNS = frozenset(_MEASURES.split())
_GERMAN_NOUN = re.compile(
    r"(?:ung|heit|keit|schaft|tion|sion|tät|nis|tum|ment|ismus|chen|ling|anz|enz|ik|ie|ur|age|ei|tz|stoff|zeit|teil|zahl|"
    r"werk|wert|art|raum|haus|stelle|stück|gerät|satz|zeug|wesen|weise|kraft|stand|zug|rat|plan|recht|schluss|ende|druck|"
    r"tag|jahr|welt|land|leute|mann|frau|kind|isch|ische|ischen|ischer|isches)(?:s|en|er|e|n)?$"
)
_UNLIKE_A_NOUN = re.compile(r"(?:[aiyx]|[^a]o|ae|sz|th|ij)$")
"""How few German nouns end, and many names from elsewhere."""

# ----------------------------------------------------------------------------------------------------------- Japanese

_KATAKANA = "ァ-ヺー"
_KANJI = "々〆一-鿿"
_HONORIFICS = (
    "さん|さま|様|氏|先生|博士|教授|部長|課長|係長|社長|室長|所長|館長|主任|君|くん|ちゃん|選手|監督|"
    "大統領|研究員|技師|医師"
)
_JAPANESE_NAMES = (
    re.compile(rf"(?<![{_KATAKANA}])[{_KATAKANA}]{{2,}}(?:[・=][{_KATAKANA}]{{2,}})+"),
    re.compile(rf"[{_KATAKANA}]{{6,}}"),  # of 3,384 questions of JSQuAD, a handful have such a word that the text lacks
    re.compile(rf"(?:[{_KATAKANA}]{{2,20}}|[{_KANJI}]{{1,6}}?)(?={_HONORIFICS})"),
)
# The most frequent surnames; a fact of the language, like its particles.
_SURNAMES = """
佐藤 鈴木 高橋 田中 伊藤 渡辺 渡邊 山本 中村 小林 加藤 吉田 山田 佐々木 山口 松本 井上 木村 斎藤 斉藤 清水 山崎 阿部
池田 橋本 山下 石川 中島 前田 藤田 後藤 小川 岡田 村上 長谷川 近藤 石井 遠藤 青木 坂本 西村 福田 太田 三浦 藤井 岡本
松田 中川 中野 原田 小野 田村 竹内 金子 和田 中山 石田 上田 森田 柴田 酒井 工藤 横山 宮崎 宮本 内田 高木 安藤 谷口
大野 丸山 今井 高田 藤原 武田 村田 上野 杉山 増田 平野 大塚 久保 松井 小島 岩崎 野口 桜井 菊地 菊池 木下 野村 佐野
渡部 松尾 新井 川口 水野 古川 小山 高野 西田 北村 小沢 小澤 大西 浜田 秋山 飯田 吉川 平田 中田 服部 本田 大島 松下
樋口 五十嵐 永井 川崎 福島 土屋 岩田 浅野 大久保 黒田 須藤 安田 石原 大橋 津田 篠原 片山 小松 松村 大谷 荒木 三宅
石橋 横田 奥村 川村 大川 白石 根本 荒井 吉村 杉本
"""
_SURNAME = re.compile(
    rf"(?<![{_KANJI}])(?:{'|'.join(_SURNAMES.split())})[{_KANJI}]{{0,3}}(?=[がはのをにともへ、。\s]|から|より|による|によ|$)"
)
_PLACE = re.compile(rf"[{_KANJI}{_KATAKANA}]{{2,12}}(?:大学|高校|病院|空港|神社|[県市区町村駅])(?![{_KANJI}])")
_NO_PLACE = re.compile(r"^[何各同両全他当]|(?:都市|市町村|都道府県|市区町村|地区|選挙区)$")


def names(text: str, *, german: bool) -> list[Span]:
    """What looks like a name in a normalised sentence, word by word, in order.

    Args:
        text: One sentence.
        german: Whether the language writes all nouns with a capital.
    """
    found: list[Span] = []
    taken = Taken(len(text))
    for span in (*_latin(text, german), *_japanese(text)):
        if not taken.meets(span):
            found.append(span)
            taken.add(span)
    return sorted(found, key=lambda span: span.start)


def _latin(text: str, german: bool) -> Iterator[Span]:
    words = list(_WORD.finditer(text))
    # A heading, or a line in capitals, capitalises words that are no names.
    capitals = [word for word in words if word.group()[0].isupper()]
    headline = len(words) > 2 and len(capitals) == len(words) and not german
    for at, word in enumerate(words):
        written = word.group()
        if len(written) > _LONGEST:
            continue
        inside = _SHORTENED.sub("", written)
        if german and (compound := _COMPOUND.fullmatch(inside)):
            inside = compound.group(1)
        if not any(map(str.isalpha, inside)) or inside.casefold() in _FUNCTION_WORDS:
            continue
        if is_code(inside):
            yield Span(word.start(), word.start() + len(inside))
            continue
        if not written[0].isupper() or len(inside) < 2 or headline:
            continue
        before, after = (words[at - 1] if at else None), (words[at + 1] if at + 1 < len(words) else None)
        begins = bool(_OPENS.search(text[max(0, word.start() - _LOOK_BACK) : word.start()]))
        if (
            _german_name(text, word, before, after, begins)
            if german
            else _other_name(text, word, before, after, begins)
        ):
            yield Span(word.start(), word.start() + len(inside))


def is_code(word: str) -> bool:
    """Whether a word is an identifier or acronym, with a digit or several capitals in it: the same in all languages."""
    return bool(_HAS_CODE.search(word)) and not _ONE_CAPITAL_EACH.fullmatch(word)


def _other_name(
    text: str, word: re.Match[str], before: re.Match[str] | None, after: re.Match[str] | None, begins: bool
) -> bool:
    written = word.group()
    if not begins or written in KNOWN_NAMES or written.endswith(("'s", "’s")):
        return True
    if after is None or not _adjacent(text, word, after):
        return False
    does = after.group() in _FINITE or after.group().endswith("ed")
    return _is_capitalised(after) or (does and not _COMMON_ENDING.search(written))


def _german_name(
    text: str, word: re.Match[str], before: re.Match[str] | None, after: re.Match[str] | None, begins: bool
) -> bool:
    written = word.group()
    if written in KNOWN_NAMES or written.removesuffix("s") in KNOWN_NAMES:
        return True
    if before is not None and before.group().casefold().rstrip(".") in _TITLES:
        return True
    if _GERMAN_NOUN.search(written):
        return False
    if before is not None and not begins and _adjacent(text, before, word) and _leads_to_a_name(before):
        return True
    if after is not None and _adjacent(text, word, after) and _leads_to_a_name(word) and _is_capitalised(after):
        return not begins and not _GERMAN_NOUN.search(after.group())
    bare = begins or (before is not None and before.group() in _GERMAN_BEFORE)
    follows = after is None or not begins or after.group() in _GERMAN_FINITE or after.group().endswith("te")
    return bare and follows and _UNLIKE_A_NOUN.search(written) is not None


def _leads_to_a_name(word: re.Match[str]) -> bool:
    """Whether a German word may be the first of a name: no measure, no genitive, no adjective."""
    written = word.group()
    return _is_capitalised(word) and written not in _BEFORE_NOUNS and not written.endswith("s")


def _adjacent(text: str, first: re.Match[str], second: re.Match[str]) -> bool:
    return text[first.end() : second.start()] in (" ", ". ", "\u00a0")


def _is_capitalised(word: re.Match[str]) -> bool:
    written = word.group()
    return written[0].isupper() and written.casefold() not in _FUNCTION_WORDS and not is_code(written)


def _japanese(text: str) -> Iterator[Span]:
    for pattern in (*_JAPANESE_NAMES, _PLACE, _SURNAME):
        for match in pattern.finditer(text):
            if pattern is not _PLACE or not _NO_PLACE.search(match.group()):
                yield Span(*match.span())


# ----------------------------------------------------------------------------------------------------------- comparing

_ENDINGS = frozenset(
    ("", "s", "es", "n", "en", "er", "ern", "ers", "i", "a", "y", "e", "ia", "ian", "ians", "ean", "an", "ans", "ese",
     "ish", "ic", "isch", "ische", "ischen", "ischer", "isches", "in", "innen", "land", "ien", "o", "us", "um", "al")
)  # fmt: skip
_STEM = 4


class Words:
    """The words of a text, to look names up in."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._squeezed = re.sub(r"[\s・=]", "", text)
        self._initials = "".join(
            word.group()[0].casefold() if word.group()[0].isupper() else " "
            for word in _WORD.finditer(text)
            if word.group().casefold()
            not in ("of", "and", "the", "for", "und", "für", "der", "des", "de", "la", "on", "in")
        )
        self._words = {folded(part) for word in _WORD.finditer(text) for part in _parts(word.group())}
        self._by_stem: dict[str, list[str]] = {}
        for word in self._words:
            self._by_stem.setdefault(word[:_STEM], []).append(word)
        self.has_latin = any(len(word) > 2 and not word[0].isdigit() for word in self._words)
        self.has_kana = re.search(r"[ぁ-ヺ]", text) is not None

    def hold(self, name: str) -> bool:
        """Whether the text holds a name, in another form too (``Germany`` for ``German``).

        A name in a writing that the text does not use cannot be compared, and counts as held.
        """
        if not _WORD.search(name):
            return not self.has_kana or re.sub(r"[\s・=]", "", name) in self._squeezed or self._hold_japanese(name)
        if not self.has_latin and not any(map(str.isdigit, name)):
            return True
        plain = folded(name)
        return (
            plain in self._words
            or any(_related(plain, word) for word in self._by_stem.get(plain[:_STEM], ()))
            or (name.isupper() and len(plain) > 1 and plain in self._initials)
            or (len(parts := _parts(name)) > 2 and all(len(part) < 2 or self.hold(part) for part in parts[1:-1]))
        )

    def _hold_japanese(self, name: str) -> bool:
        """Whether all parts of the name stand in the text, or all of it but the kind of place that it ends in."""
        parts = re.split(r"[・=]", name)
        if len(parts) > 1:
            return all(part in self._text for part in parts)
        bare = re.sub(r"(?:大学|高校|病院|空港|神社|[県市区町村駅])$", "", name)
        return len(bare) > 1 and bare != name and bare in self._text


def _parts(word: str) -> Sequence[str]:
    """A word as it is, the pieces that its signs divide it into, and it without them."""
    pieces = re.split(r"[-'’&./+#_]", word)
    return (word, *pieces, "".join(pieces)) if len(pieces) > 1 else (word,)


@lru_cache(2**14)
def folded(word: str) -> str:
    """Without case and accents; ``ä`` and ``ae`` alike."""
    letters = unicodedata.normalize("NFD", word.casefold().removesuffix("'s").removesuffix("’s"))
    bare = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return re.sub("([aou])e", r"\1", bare)


def _related(one: str, other: str) -> bool:
    """Whether two words are forms of one: what they do not share are endings."""
    shared = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return shared >= _STEM and one[shared:] in _ENDINGS and other[shared:] in _ENDINGS
