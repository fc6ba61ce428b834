"""How likely a person wrote a text: what tells the right decoding of some bytes from the wrong ones.

A model of characters, with numbers set by hand: natural logarithms of rough probabilities. Letters count by how common
they are in some language, ideographs by whether they are among the everyday ones; what nobody writes has a price.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import cache

# Letters of each language that ASCII lacks, the most common first.
_LATIN = {
    "German": "üäößéÜÄÖ",
    "French": "éèàêçâîôûùëïœÉÀÈÊÇÔÂŒæÿ",
    "Spanish": "óáíéñúüÁÉÍÓÚÑ",
    "Portuguese": "ãçáéíóõâêôúàÃÇÁÉÍÓÕÂÊÔÚÀ",
    "Italian": "èàùìòéÈÀÙÌÒÉ",
    "Scandinavian": "äöåøæéÄÖÅØÆ",
    "Icelandic": "íáðþóæúöéýÍÁÐÞÓÆÚÖÉÝ",
    "Dutch": "ëéïèöüóáÉË",
    "Polish": "łąężśćóńźŁĄĘŻŚĆÓŃŹ",
    "Czech": "íáéěšřčžýůúťďňóÍÁÉĚŠŘČŽÝŮÚŤĎŇÓ",
    "Slovak": "áíýčéžšľúťôďňäóĺŕÁÍÝČÉŽŠĽÚŤÔĎŇÓ",
    "Hungarian": "áéöóőüíúűÁÉÖÓŐÜÍÚŰ",
    "Romanian": "ăîâșțşţĂÎÂȘȚŞŢ",
    "Croatian": "čšžćđČŠŽĆĐ",
    "Turkish": "ıüşğçöİÜŞĞÇÖâî",
    "Lithuanian": "ėųįšūžąęčĖŲĮŠŪŽĄĘČ",
    "Latvian": "āēīūšģķļņžčĀĒĪŪŠĢĶĻŅŽČ",
    "Estonian": "äõüöšžÄÕÜÖŠŽ",
}
# Short words that tell a language where few of its own letters are.
_WORDS = {
    "German": "der die das und ist von mit den dem ein eine nicht im auf zu des am um bis",
    "French": "le la les des est et un une du que dans pour il en au",
    "Spanish": "el la los las de que y en un una por con es del no",
    "Portuguese": "o os as de que e em um uma do da com para no na",
    "Italian": "il la di che e un una del della per con non sono gli le",
    "Scandinavian": "och att det som en av er til og den ikke med har for ett",
    "Dutch": "de het een van en is niet met op te dat voor zijn",
    "Polish": "na nie do w z i to jest od po dla przez lub",
    "Czech": "na je se v a to do s pro ve od nebo jsou",
    "Hungarian": "a az nem hogy egy is meg ez vagy volt",
    "Turkish": "bir ve bu ile da de olarak daha en",
    "Romanian": "de la cu pe nu este care din un o sau",
}
# Alphabets of their own, the most common letter first.
_ALPHABETS = {
    "Russian": "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё",
    "Ukrainian": "оанивертсіклудмпязьгбчхцюїйжєфшщґ",
    "Bulgarian": "аеоитнрсвлдкмпзубчгъяжшщцхюйф",
    "Greek": "αοιετσνηυρπκλμςωάίόήγέδθχύφβώζξψϊϋΐΰ",
    "Hebrew": "יוהלאתרבשמנםחקדפעטגכןסצךזףץ",
    "Arabic": "اليمنورتبةعدسفهكقأحجشطصخىذثزءضغإظئؤآ،؛؟پچژگـ",
    "Thai": "านรอกเง่มยลวดทส้ตะปบคัหแจพชขใไโผถซธศษฟณภญฐฎฏฉฆฬๆำีิืูุ็์ึ",
}
_SCRIPTS_WITH_CASE = ("Russian", "Ukrainian", "Bulgarian", "Greek")
_HIRAGANA = "のにはをたがでとしてるいすなれまかりっこもらあきくさだそんどうけつよせじえわめおやばみべ"
_KATAKANA = "ーンスルトリアイクラドシタロジレフプカマムコテバデメサグキナウニィッブ"
_JAPANESE = (
    "日一国人年大十二本中長出三時行見月後前生五間上東四今金九入学高円子外八六下来気小七山話女北午百書先名川千水半男西電校語土木聞食車"
    "何南万毎白天母火右読友左休父雨会社者事自分部議政合同場立開手力問代明動京目通言理体田主題意不作用度強公持野以思家世多正安院心界教"
    "文元重近考画海売知道集別物使品計死特私始朝運終台広住無真有口少町料工建空急止送切転研足究楽起着店病質待試族銀早映親験英医仕去味写"
    "字答夜音注帰古歌買図週室歩風紙黒花春赤館屋色走秋夏習駅洋旅服夕法表現最対定化関成当数内回第次世能設置報告点検結果温原区都県市村府"
    "戦性産経済利機加発調変期権制保員統領連全引各部例値式型列関数構造所有照処管理変更値実際必要利用可能情報記録録装置部品一覧表示条件"
)
_CHINESE = (
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么去"
    "法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把机十民第公此已工使情明性知全三又关点"
    "正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给世位次度门任常先海通教儿"
    "原东声提立及比员解水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反受目太量再感建务做接必场件计管期市直德"
    "资命山金指克许统区保至队形社便空决治展马科司五基眼书非则听白却界达光放强即像难且权思王象完设式色路记南品住告类求据程北边死张该交"
    "规万取拉格望觉术领共确传师观清今切院让识候带导争运测试请附录表格附件温度设备检查正常寄报告谢您合作束结"
)
_TAIWANESE = (
    "這個們來為國說時會對發後過還進當現動學與實長機關點業將兩間問戰應頭見產話給門東聲員論處義幾認條氣題爾別變總電數報結讓務場計"
    "資許統區隊決達強難權設記類據邊張該規萬術領確傳師觀請帶導爭運測試檢備謝結單體電腦軟臺灣種經樣無開從軍麼沒兒樂應書寫車馬風飛"
)
_HANGUL = (
    "이다는을의에가고하은지사로기도한인시어자리정대아있해니습를서나라보수그전스부일과것제만들었여원주장상구조성공연"
)

_PUNCTUATION = "“”„‘’–—…«»•€°§©®²³µ×·±½№¿¡ºª†"
_INSIDE_WORDS = "’‘'‑·-–—…\u00ad"
_EAST_ASIAN_MARKS = "、。，「」・（）：《》；！？“”　『』"

_BLANK = {" ": -2.0, "\n": -4.0, "\r": -4.0, "\t": -4.5, "\f": -7.0, "\x1b": -8.0}
_WORD = 1.5  # for each short word of the language
_MOST_WORDS = 6
_RARE = -12.0
_CONTROL = -16.0


def likelihood(text: str) -> float:
    """Natural logarithm of the probability of a text under the language that fits it best.

    Only differences mean something: between two texts that the same bytes could be.
    """
    counts = Counter(text)
    plain = sum(times * _ascii(character) for character, times in counts.items() if character < "\x7f")
    special = {character: times for character, times in counts.items() if character >= "\x7f"}
    if not special:
        return plain
    words = Counter(re.findall(r"\b[a-z]{1,5}\b", text))
    best = max(
        sum(times * (letters.get(character) or _any(character)) for character, times in special.items())
        + min(_MOST_WORDS, sum(words[word] for word in known)) * _WORD
        for letters, known in _languages()
    )
    return plain + best + _context(text)


@cache
def _languages() -> tuple[tuple[dict[str, float], list[str]], ...]:
    """For each language, the logarithms of its letters' probabilities, and its short words."""
    found: list[dict[str, float]] = [
        {letter: -4.6 - 0.07 * rank - (2.0 if letter.isupper() else 0.0) for rank, letter in enumerate(letters)}
        for letters in _LATIN.values()
    ]
    for language, letters in _ALPHABETS.items():
        table = {letter: -2.3 - 0.11 * rank for rank, letter in enumerate(letters)}
        if language in _SCRIPTS_WITH_CASE:
            table |= {letter.upper(): value - 3.0 for letter, value in table.items() if len(letter.upper()) == 1}
        found.append(table)
    marks = _ranked(_EAST_ASIAN_MARKS, -3.8, 0.12)
    found.append(
        _ranked(_JAPANESE, -6.2, 0.003) | _ranked(_HIRAGANA, -3.3, 0.05) | _ranked(_KATAKANA, -4.3, 0.05) | marks
    )
    simplified = _ranked(_CHINESE, -4.2, 0.006)
    found.append(simplified | marks)
    found.append(
        {character: value - 0.5 for character, value in simplified.items()} | _ranked(_TAIWANESE, -5.2, 0.01) | marks
    )
    found.append(_ranked(_HANGUL, -3.6, 0.05) | marks)
    words = [_WORDS.get(language, "").split() for language in _LATIN]
    words += [[] for _ in range(len(found) - len(words))]
    return tuple(zip(found, words, strict=True))


def _ranked(characters: Iterable[str], first: float, step: float) -> dict[str, float]:
    return {character: first - step * rank for rank, character in enumerate(dict.fromkeys(characters))}


@cache
def _ascii(character: str) -> float:
    if character.islower():
        return -3.2
    if character.isupper():
        return -5.2
    if character.isdigit():
        return -4.6
    return _BLANK.get(character, -5.5 if character in ".,-()'\"/:;_*#`|=" else -6.5 if character > " " else _CONTROL)


@cache
def _any(character: str) -> float:
    """The logarithm of the probability of a character that the language has no letter for."""
    code = ord(character)
    if character in _PUNCTUATION:
        return -6.5
    if 0x3041 <= code <= 0x3096:
        return -6.5
    if 0x30A1 <= code <= 0x30FC:
        return -7.0
    if 0x4E00 <= code <= 0x9FFF:
        return _ideograph(character)
    if 0xAC00 <= code <= 0xD7A3:
        return -7.5 if _encodes(character, "euc_kr") else -11.0
    if 0xFF01 <= code <= 0xFF5E or 0x3001 <= code <= 0x301F:
        return -7.0
    if 0xFF61 <= code <= 0xFF9F:
        return -8.0
    if 0x2460 <= code <= 0x2473 or 0x2190 <= code <= 0x2193 or code in (0x00A0, 0x3000):
        return -8.0
    category = unicodedata.category(character)
    if category in ("Cc", "Co", "Cn", "Cs"):
        return _CONTROL
    if category in ("Ll", "Lu", "Lo"):
        return -9.5
    return _RARE


def _ideograph(character: str) -> float:
    """Common ideographs fill the first level of each national standard, about 3,000 to 5,400 of them."""
    for encoding, first, last in (("shift_jis", 0x88, 0x97), ("gb2312", 0xB0, 0xD7), ("big5", 0xA4, 0xC6)):
        try:
            lead = character.encode(encoding)[0]
        except UnicodeEncodeError:
            continue
        if first <= lead <= last:
            return -9.0
    return -11.5 if any(_encodes(character, encoding) for encoding in ("shift_jis", "gb2312", "big5")) else -14.0


def _encodes(character: str, encoding: str) -> bool:
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _context(text: str) -> float:
    """The price of what nobody writes: capitals inside words, mixed scripts, signs between letters."""
    price = 0.0
    padded = f" {text} "
    for index, character in enumerate(text, 1):
        if character < "\x80":
            continue
        before, after = padded[index - 1], padded[index + 1]
        kind = _kind(character)
        kinds = _kind(before), _kind(after)
        if kind == "East Asian":
            if kinds == ("Latin", "Latin"):
                price -= 8.0
            elif "Latin" in kinds:
                price -= 1.0 if "East Asian" in kinds else 4.0
            continue
        if kind == "other":
            continue
        if kind == "sign":
            if character not in _INSIDE_WORDS and "Latin" in kinds and kinds[0] == kinds[1]:
                price -= 7.0
        elif kind == "kana":
            price -= 6.0 * kinds.count("Latin") + (3.0 if "kana" not in kinds else 0.0)
        else:
            if character.isupper() and before.islower():
                price -= 5.0
            if character.islower() and before.isupper() and after.isupper():
                price -= 4.0
            for neighbour, other in zip((before, after), kinds, strict=True):
                if neighbour.isdecimal():
                    price -= 2.5
                elif other not in (kind, "sign", "other"):
                    price -= 4.0
    return price


@cache
def _kind(character: str) -> str:
    """The alphabet of a letter, "kana" for those of half width, "sign" for what is no letter, "other" for the rest."""
    code = ord(character)
    if character in "µºª":
        return "sign"
    if not character.isalpha():
        if code >= 0x3000:
            return "East Asian"
        return "other" if character.isspace() or character.isdecimal() else "sign"
    if code < 0x250:
        return "Latin"
    if 0x370 <= code < 0x400:
        return "Greek"
    if 0x400 <= code < 0x530:
        return "Cyrillic"
    if 0x590 <= code < 0x600:
        return "Hebrew"
    if 0x600 <= code < 0x700:
        return "Arabic"
    if 0xFF61 <= code <= 0xFF9F:
        return "kana"
    return "East Asian" if code >= 0x3000 else "other"
