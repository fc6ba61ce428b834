"""Units as they are written in English, German and Japanese, and what they measure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Unit:
    """What a number counts.

    Attributes:
        measures: The dimension: units of one dimension can be compared (``length``, ``length/time``, ``EUR``).
        factor: How many of the dimension's base unit it is.
        shift: Added after the factor; only temperatures need it.
    """

    measures: str
    factor: float
    shift: float = 0.0

    def base(self, value: float) -> float:
        """The value in the dimension's base unit."""
        return value * self.factor + self.shift


DEGREES = Unit("degrees", 1.0)
"""A degree that does not say of what: of an angle, or of a temperature."""

_PREFIXES = {
    "": 1.0, "n": 1e-9, "µ": 1e-6, "μ": 1e-6, "m": 1e-3, "c": 1e-2, "d": 1e-1, "h": 1e2, "k": 1e3,
    "M": 1e6, "G": 1e9, "T": 1e12,
}  # fmt: skip
_SYMBOLS: dict[str, Unit] = {}
for _bases, _measures, _scale, _allowed in (
    ("m", "length", 1.0, " n µ μ m c d k"),
    ("g", "mass", 1.0, " n µ μ m k"),
    ("s", "time", 1.0, " n µ μ m"),
    ("l L", "length^3", 1e-3, " µ μ m c d h"),
    ("A", "current", 1.0, " n µ μ m k"),
    ("V", "voltage", 1.0, " µ μ m k"),
    ("W", "power", 1.0, " n µ μ m k M G T"),
    ("J", "energy", 1.0, " m k M G"),
    ("Wh", "energy", 3600.0, " m k M G T"),
    ("N", "force", 1.0, " m k M"),
    ("Pa", "pressure", 1.0, " m h k M G"),
    ("bar", "pressure", 1e5, " m"),
    ("Hz", "frequency", 1.0, " m k M G T"),
    ("Ω", "resistance", 1.0, " m k M"),
    ("mol", "amount", 1.0, " n µ μ m k"),
    ("eV", "electron energy", 1.0, " m k M G T"),
    ("B Byte", "data", 8.0, " k M G T"),
    ("bit", "data", 1.0, " k M G T"),
):
    for _base in _bases.split():
        for _prefix in _allowed.split(" "):
            _SYMBOLS[_prefix + _base] = Unit(_measures, _PREFIXES[_prefix] * _scale)
for _symbols, _measures, _factor in (
    ("KB", "data", 8e3), ("KiB", "data", 8.0 * 2**10), ("MiB", "data", 8.0 * 2**20), ("GiB", "data", 8.0 * 2**30),
    ("TiB", "data", 8.0 * 2**40), ("min mins", "time", 60.0), ("h hr hrs Std", "time", 3600.0),
    ("sec secs", "time", 1.0), ("d", "time", 86400.0), ("t", "mass", 1e6), ("ha", "length^2", 1e4),
    ("ft", "length", 0.3048), ("mi", "length", 1609.344), ("lb lbs", "mass", 453.59237), ("oz", "mass", 28.349523125),
    ("psi", "pressure", 6894.757), ("atm", "pressure", 101325.0), ("rpm", "turns/time", 1.0), ("dB", "level", 1.0),
    ("ppm", "parts", 1e-6),
    ("ppb", "parts", 1e-9), ("% ％", "parts of a hundred", 1.0), ("‰", "parts of a hundred", 0.1),
    ("px", "pixels", 1.0), ("dpi", "dots", 1.0), ("PS", "power", 735.49875), ("mph", "length/time", 0.44704),
    ("kph", "length/time", 1 / 3.6), ("Mbps", "data/time", 1e6), ("Gbps", "data/time", 1e9), ("kbps", "data/time", 1e3),
    ("€ EUR", "EUR", 1.0), ("$ USD US$", "USD", 1.0), ("£ GBP", "GBP", 1.0), ("¥ JPY", "JPY", 1.0), ("CHF", "CHF", 1.0),
    ("pH", "pH", 1.0),
):  # fmt: skip
    for _symbol in _symbols.split():
        _SYMBOLS[_symbol] = Unit(_measures, _factor)
_SYMBOLS |= {
    "°": DEGREES,
    "°C": Unit("temperature", 1.0, 273.15),
    "°F": Unit("temperature", 5 / 9, 459.67 * 5 / 9),
    "K": Unit("temperature", 1.0),
}

# Words, without regard to case. A bar stands before endings that may be missing.
_WORDS: dict[str, Unit] = {}
for _words, _symbol_or_unit in (
    ("nanomet|re|res|er|ers|ern ナノメートル", "nm"),
    ("micromet|re|res|er|ers micron|s mikromet|er|ern マイクロメートル", "µm"),
    ("millimet|re|res|er|ers|ern ミリメートル ミリ", "mm"),
    ("centimet|re|res|er|ers zentimet|er|ern センチメートル センチ", "cm"),
    ("met|re|res|er|ers|ern メートル", "m"),
    ("kilomet|re|res|er|ers|ern キロメートル キロ", "km"),
    ("inch|es zoll インチ", Unit("length", 0.0254)),
    ("foot feet fuß フィート", "ft"),
    ("mile|s meile|n マイル", "mi"),
    ("milligram|s|me|mes milligramm ミリグラム", "mg"),
    ("gram|s|me|mes gramm グラム", "g"),
    ("kilogram|s|me|mes kilo|s kilogramm キログラム", "kg"),
    ("tonne|s|n ton|s トン", "t"),
    ("pound|s", Unit("pounds", 1.0)),
    ("millilit|re|res|er|ers|ern ミリリットル", "ml"),
    ("lit|re|res|er|ers|ern リットル", "l"),
    ("nanosecond|s nanosekunde|n ナノ秒", "ns"),
    ("microsecond|s mikrosekunde|n マイクロ秒", "µs"),
    ("millisecond|s millisekunde|n ミリ秒", "ms"),
    ("second|s sekunde|n 秒間 秒", "s"),
    ("minute|s|n 分間 分", "min"),
    ("hour|s stunde|n 時間", "h"),
    ("day|s tag|e|en|es 日間", "d"),
    ("week|s woche|n 週間", Unit("time", 604800.0)),
    ("month|s monat|e|en|s か月 ヶ月 ヵ月 カ月 ヶ月間 か月間 カ月間", Unit("months", 1.0)),
    ("year|s jahr|e|en|es 年間 年", Unit("months", 12.0)),
    ("byte|s バイト", "B"),
    ("kilobyte|s キロバイト", "kB"),
    ("megabyte|s メガバイト", "MB"),
    ("gigabyte|s ギガバイト", "GB"),
    ("terabyte|s テラバイト", "TB"),
    ("bits ビット", "bit"),
    ("pascal|s パスカル", "Pa"),
    ("bars バール", "bar"),
    ("watt|s ワット", "W"),
    ("kilowatt|s キロワット", "kW"),
    ("megawatt|s メガワット", "MW"),
    ("kilowatt-hour|s kilowattstunde|n キロワット時", "kWh"),
    ("volt|s ボルト", "V"),
    ("amp|s ampere|s アンペア", "A"),
    ("ohm|s オーム", "Ω"),
    ("joule|s ジュール", "J"),
    ("newton|s ニュートン", "N"),
    ("hertz ヘルツ", "Hz"),
    ("kilohertz キロヘルツ", "kHz"),
    ("megahertz メガヘルツ", "MHz"),
    ("gigahertz ギガヘルツ", "GHz"),
    ("decibel|s|n デシベル", "dB"),
    ("percent|age prozent パーセント", "%"),
    ("euro|s ユーロ", "€"),
    ("dollar|s ドル", "$"),
    ("yen 円", "¥"),
    ("cent|s", Unit("cents", 1.0)),
    ("degree|s grad 度", DEGREES),
    ("kelvin ケルビン", "K"),
    ("hektar hectare|s ヘクタール", "ha"),
    ("pixel|s|n ピクセル", "px"),
):  # fmt: skip
    for _word in _words.split():
        _stem, *_endings = _word.split("|")
        # "met|re|er" is never written without an ending; "watt|s" is.
        _forms = [_stem, *(_stem + ending for ending in _endings)]
        if _endings and _stem.endswith(("met", "lit")):
            _forms = _forms[1:]
        for _form in _forms:
            _WORDS[_form] = _SYMBOLS[_symbol_or_unit] if isinstance(_symbol_or_unit, str) else _symbol_or_unit


def _alternatives(words: list[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


_LATIN = [word for word in _WORDS if word.isascii() or word == "fuß"]
_JAPANESE = [word for word in _WORDS if word not in _LATIN]
_TEMPERATURE = r"(?i:degrees?|grad)\s(?i:celsius|centigrade)|(?i:degrees?|grad)\s(?i:fahrenheit)"
_SIMPLE = (
    rf"(?:{_TEMPERATURE}|(?:{_alternatives(list(_SYMBOLS))})(?:\^?[23])?(?![A-Za-zÀ-ɏµμΩ^])"
    rf"|(?:(?i:square|cubic)[ -])?(?i:{_alternatives(_LATIN)})(?![A-Za-zÀ-ɏ])"
    rf"|(?i:quadrat|kubik)(?i:(?:kilo|zenti|milli)?meter)n?(?![A-Za-zÀ-ɏ])|(?:平方|立方)?(?:{_alternatives(_JAPANESE)})(?![のを目]))"
)
UNIT = rf"{_SIMPLE}(?:\s?/\s?{_SIMPLE}|\s(?i:per|pro)\s{_SIMPLE})?"
"""Pattern of a unit in text that was normalised to NFKC, superscripts written as ``^2``."""

_QUOTIENT = re.compile(r"\s?/\s?|\s(?i:per|pro)\s")
_POWERS = {"square": 2, "quadrat": 2, "平方": 2, "cubic": 3, "kubik": 3, "立方": 3}


@lru_cache(4096)
def unit_of(written: str) -> Unit:
    """The unit that was written; the text must be what :data:`UNIT` matched."""
    above, *below = _QUOTIENT.split(written.strip(), maxsplit=1)
    unit = _simple(above)
    if not below:
        return unit
    other = _simple(below[0])
    return Unit(f"{unit.measures}/{other.measures}", unit.factor / other.factor)


def _simple(written: str) -> Unit:
    lowered = written.casefold()
    if "celsius" in lowered or "centigrade" in lowered:
        return _SYMBOLS["°C"]
    if "fahrenheit" in lowered:
        return _SYMBOLS["°F"]
    if written in _SYMBOLS:
        return _SYMBOLS[written]
    for word, power in _POWERS.items():
        if lowered.startswith(word):
            return _raised(_WORDS[lowered[len(word) :].strip(" -")], power)
    folded = lowered if lowered in _WORDS else lowered.replace("ss", "ß")
    if folded in _WORDS:
        return _WORDS[folded]
    return _raised(_SYMBOLS[written[:-1].rstrip("^")], int(written[-1]))


def _raised(unit: Unit, power: int) -> Unit:
    return Unit(f"{unit.measures}^{power}", unit.factor**power)


def can_be_compared(one: Unit, other: Unit) -> bool:
    """Whether two units measure the same."""
    if DEGREES in (one, other):
        return {one.measures, other.measures} <= {"degrees", "temperature"}
    return one.measures == other.measures
