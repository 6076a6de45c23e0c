"""Quantities in text of any language: how much of what, and where it stands.

In goes text, out come quantities with their kind, value, unit and place; or, for text that is only searched for
support, every number that can be read in it.  Nothing is judged here.  Linear in the length of the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from evaluators.rules.numerals import (
    EXPONENT,
    HAN_DECIMAL,
    HAN_NUMERAL,
    NUMERAL,
    decimals,
    han_decimal_value,
    han_value,
    plain,
    power_of_ten,
    readings,
)
from evaluators.rules.spoken_numbers import spoken_numbers
from evaluators.rules.units import CURRENCY_SIGNS, MULTIPLIERS, UNIT_KINDS, Kind, is_weak


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number in a text.

    `values` are its readings without sign, each with its `step`: what one unit in the last place shown is worth.
    `sure` is False where the kind rests on a unit of one letter.
    """

    kind: Kind
    values: tuple[tuple[float, float], ...]
    unit: str | None
    start: int
    end: int
    text: str
    sure: bool = True


def quantities(text: str) -> list[Quantity]:
    """Every number of `text` in order, dates and times of day as such."""
    flat = plain(text)
    found: list[Quantity] = []
    taken = 0
    for match in _TOKEN.finditer(flat):
        if match.start() < taken:
            continue
        which = match.lastgroup
        if which == "date" or which == "time":
            kind = Kind.DATE if which == "date" else Kind.TIME
            found.append(Quantity(kind, (), None, match.start(), match.end(), text[match.start() : match.end()]))
            taken = match.end()
        elif which == "share":
            found.append(_share(text, match))
            taken = match.end()
        elif which in ("han", "decimal", "number"):
            quantity = _quantity(text, flat, match, which)
            if quantity is not None:
                found.append(quantity)
                taken = quantity.end
        else:
            taken = match.end()
    return found


def numbers(text: str) -> set[float]:
    """Every number that can be read in `text`, without sign: digits in dates and names too, and words."""
    flat = plain(text)
    found: set[float] = set()
    for numeral in set(_ANY_NUMBER.findall(flat)):
        found.update(_only_reading(numeral) or readings(numeral))
        if not numeral.isdecimal():
            found.update(map(float, _DIGITS.findall(numeral)))
    for match in _SCALED.finditer(flat) if _SCALE_AHEAD.search(flat) is not None else ():
        pairs = [(value, 1.0) for value in readings(match.group(1))]
        found.update(value for value, _ in _scaled(flat, match.end(1), pairs)[0])
    for match in _RAISED.finditer(flat) if _RAISED_AHEAD.search(flat) is not None else ():
        found.update(value * power_of_ten(match) for value in readings(match.group(1)))
    if not flat.isascii():
        read = [han_value(match.group()) for match in _HAN.finditer(flat)]
        read += [han_decimal_value(match.group()) for match in _HAN_WITH_POINT.finditer(flat)]
        found.update(value for value in read if value is not None)
    low = flat.lower()
    words = set(_LETTERS.findall(low))
    found.update(_NUMBER_WORDS[word] for word in _NUMBER_WORDS.keys() & words)
    found.update(spoken_numbers(low, words))
    return found


def _only_reading(numeral: str) -> tuple[float, ...] | None:
    """The number, where nothing else can be read in it: the most common forms, told quickly."""
    whole, _, part = numeral.partition(".")
    plain_digits = whole.isdecimal() and (not part or (part.isdecimal() and len(part) != _GROUP))
    return (float(numeral),) if plain_digits and len(numeral) <= _PLAIN_DIGITS else None


def _quantity(text: str, flat: str, match: re.Match[str], which: str) -> Quantity | None:
    start, end = match.span()
    numeral = match.group()
    pairs: list[tuple[float, float]]
    if which == "number":
        pairs = [(value, 10.0 ** -decimals(numeral, value)) for value in readings(numeral)]
    else:
        pairs = _han(numeral)
    exponent = _EXPONENT.match(flat, end)
    if exponent is not None:
        factor = power_of_ten(exponent)
        pairs = [(value * factor, step * factor) for value, step in pairs]
        end = exponent.end()
    pairs, end = _scaled(flat, end, pairs)
    if not pairs:
        return None
    kind, unit, end, start = _kind(flat, start, end)
    if which == "han" and kind is Kind.NUMBER and len(numeral) < 2:
        return None
    sure = unit is None or not is_weak(unit)
    return Quantity(kind, tuple(pairs), unit, start, end, text[start:end], sure)


def _scaled(flat: str, end: int, pairs: list[tuple[float, float]]) -> tuple[list[tuple[float, float]], int]:
    """The readings of a number times what follows it (3万, 1.5 million), and where that ends.

    In Chinese, Japanese and Korean a smaller number may go on from there: 3万2千, 1億2345万, 3만 5천. A digit alone
    counts in the place below as well: 3万5 is mostly 35,000.
    """
    scale = _MULTIPLIER.match(flat, end)
    if scale is None:
        return pairs, end
    word, factor = scale.group(1), MULTIPLIERS[scale.group(1).lower()]
    pairs, end = [(value * factor, step * factor) for value, step in pairs], scale.end()
    while word in _GOING_ON and (more := _MORE.match(flat, end)) is not None:
        inner = MULTIPLIERS[more.group(2)] if more.group(2) else 1.0
        added = next(iter(readings(more.group(1))), factor) * inner
        if added >= factor:
            break
        step = inner * 10.0 ** -decimals(more.group(1), added / inner)
        colloquial = len(more.group(1)) == 1 and not more.group(2)
        pairs = [
            *((value + added * factor / 10, factor / 10) for value, _ in pairs if colloquial),
            *((value + added, step) for value, _ in pairs),
        ]
        word, factor, end = more.group(2) or "", inner, more.end()
    return pairs, end


def _han(numeral: str) -> list[tuple[float, float]]:
    """The reading of a Chinese numeral, with or without a point; none for digits."""
    whole, _, part = numeral.replace("點", "点").partition("点")
    value = han_decimal_value(numeral) if part else han_value(whole) if not whole[0].isdecimal() else None
    return [] if value is None else [(value, 10.0 ** -len(part))]


def _share(text: str, match: re.Match[str]) -> Quantity:
    """A share as 百分之二十五."""
    numeral = match.group("of")
    pairs = _han(numeral) or [(value, 10.0 ** -decimals(numeral, value)) for value in readings(numeral)]
    start, end = match.span()
    return Quantity(Kind.PERCENT, tuple(pairs), "%", start, end, text[start:end])


def _kind(flat: str, start: int, end: int) -> tuple[Kind, str | None, int, int]:
    """Kind and unit of the number at `start:end`, and the span with its unit."""
    rating = _RATING_AFTER.match(flat, end)
    if rating is not None and _may_be_rating(flat, start, end, rating.group()):
        return Kind.RATING, "rating", rating.end(), start
    before = _CURRENCY_BEFORE.search(flat, max(0, start - 6), start)
    if before is not None:
        return Kind.CURRENCY, before.group(1).lower(), end, before.start()
    after = _UNIT_AFTER.match(flat, end)
    if after is not None:
        unit = after.group(1).lower()
        kind = UNIT_KINDS[unit]
        compound = kind is not Kind.CURRENCY and flat[after.end() : after.end() + 1] in _MORE_OF_A_UNIT
        if compound or kind is Kind.RATING:
            # km², MB/s; and a "5-star hotel" is a class of hotel, no rating that somebody gave
            return Kind.NUMBER, None, after.end(), start
        return kind, unit, after.end(), start
    named = _RATING_BEFORE.search(flat, max(0, start - 24), start)
    if named is not None and _is_small(flat[start:end]):
        return Kind.RATING, "rating", end, start
    return Kind.NUMBER, None, end, start


def _may_be_rating(flat: str, start: int, end: int, after: str) -> bool:
    """Whether "3/5" is a rating and not a day or a share: it has decimals, or a word for ratings stands before it."""
    if not _is_small(flat[start:end]):
        return False
    if "/" not in after:
        return True
    return "." in flat[start:end] or _RATING_BEFORE.search(flat, max(0, start - 24), start) is not None


def _is_small(numeral: str) -> bool:
    return any(value <= _HIGHEST_RATING for value in readings(numeral))


_HIGHEST_RATING = 10
_MORE_OF_A_UNIT = ("/", "²", "³", "^")
_MONTH = (
    r"(?:jan(?:uary|uar)?|feb(?:ruary|ruar)?|mar(?:ch)?|märz|apr(?:il)?|may|mai|june?|juni|july?|juli|aug(?:ust)?|"
    r"sep(?:t(?:ember)?)?|oct(?:ober)?|okt(?:ober)?|nov(?:ember)?|dec(?:ember)?|dez(?:ember)?|janvier|février|mars|avril|"
    r"juin|juillet|août|septembre|octobre|novembre|décembre|enero|febrero|marzo|abril|mayo|junio|julio|agosto|"
    r"septiembre|octubre|noviembre|diciembre)"
)
_HAN_DIGITS = "[零〇一二三四五六七八九十\\d]"
_DATE = (
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?|"
    r"\d{1,2}[-/.]\d{1,2}[-/.](?:19|20)?\d{2}(?!\d)|"
    rf"\b{_MONTH}\.? ?\d{{1,2}}(?:st|nd|rd|th)?(?!\d)(?:,? ?(?:19|20)\d{{2}})?|"
    rf"\d{{1,2}}(?:st|nd|rd|th|\.)? ?(?:of |de |- )?{_MONTH}\b\.?(?:,?(?: de)? ?(?:19|20)\d{{2}})?|"
    rf"\b{_MONTH},? (?:19|20)\d{{2}}|"
    rf"(?:{_HAN_DIGITS}{{2,4}} ?年 ?)?{_HAN_DIGITS}{{1,3}} ?月(?: ?{_HAN_DIGITS}{{1,3}} ?[日号])?|"
    rf"{_HAN_DIGITS}{{4}} ?年"
)
_TIME = (
    r"\d{1,2}:\d{2}(?::\d{2})?(?: ?[ap]\.?m\b\.?)?|\d{1,2} ?[ap]\.?m\b\.?|\b\d{1,2}h\d{2}\b|\d{1,2}(?::\d{2})? ?Uhr\b|"
    rf"{_HAN_DIGITS}{{1,3}} ?[点點时時](?: ?(?:{_HAN_DIGITS}{{1,3}} ?分|半|整))?(?!间|間)"
)
# what looks like a number inside a name, an address or a code isn't one: HAT097, u_4471, 10.0.0.1, v2.1
_OTHER = (
    r"https?://[^\s)>\]]+|[\w.+-]{1,64}@[\w.-]+|\b[A-Za-z_]+[-_]?\d[\w-]*|#\w+|\d+(?:\.\d+){3,}|"
    r"\d+(?=[A-Za-z_]\w*\d)(?!e\d{1,2}(?!\w))"
)


def _alternatives(words: list[str]) -> str:
    # a word of letters must end there; a sign or a Chinese unit needs no end
    return "|".join(
        re.escape(word) + (r"(?![A-Za-zÀ-ÿ])" if word[-1].isascii() and word[-1].isalpha() else "")
        for word in sorted(words, key=len, reverse=True)
    )


_UNITS = _alternatives(list(UNIT_KINDS))
# 三点五公里 is a distance, 三点五分 a time
_TOKEN = re.compile(
    rf"(?P<other>{_OTHER})|(?P<share>百分之(?P<of>{HAN_DECIMAL}|{HAN_NUMERAL}|{NUMERAL}))"
    rf"|(?P<decimal>{HAN_DECIMAL}(?= ?(?!分)(?:{_UNITS})))|(?P<date>{_DATE})|(?P<time>{_TIME})|(?P<number>{NUMERAL})"
    rf"|(?P<han>{HAN_NUMERAL})",
    re.IGNORECASE,
)
_ANY_NUMBER = re.compile(NUMERAL)
_HAN = re.compile(HAN_NUMERAL)
_HAN_WITH_POINT = re.compile(HAN_DECIMAL)
_EXPONENT = re.compile(EXPONENT)
_RAISED = re.compile(rf"(?<!\d)(?<!\d[.,])({NUMERAL})(?:{EXPONENT})")
_RAISED_AHEAD = re.compile(r"\d[eE][+-]?\d|10(?:\^|\*\*|[⁻⁰¹²³⁴-⁹])")
_GOING_ON = frozenset(("百", "千", "万", "萬", "亿", "億", "百万", "千万", "천", "만", "억"))
_MORE = re.compile(rf"(?:(?<=[천만억]) )?({NUMERAL})({_alternatives(sorted(_GOING_ON))})?")
_MULTIPLIER = re.compile(rf" ?({_alternatives(list(MULTIPLIERS))})", re.IGNORECASE)
# Only from where a number begins: a search from each of its digits would take as long as it has digits, squared.
_SCALED = re.compile(rf"(?<!\d)(?<!\d[.,])({NUMERAL}) ?({_alternatives(list(MULTIPLIERS))})", re.IGNORECASE)
_SCALE_AHEAD = re.compile(rf"\d ?(?:{_alternatives(list(MULTIPLIERS))})", re.IGNORECASE)
_UNIT_AFTER = re.compile(rf"[ -]?({_UNITS})", re.IGNORECASE)
_CURRENCY_CODES = "USD|EUR|GBP|JPY|CNY|RMB|INR|KRW|CAD|AUD|CHF|SGD|HKD|TWD|BRL|MXN|SEK|NOK|DKK|PLN"
_CURRENCY_BEFORE = re.compile(rf"([{CURRENCY_SIGNS}]|\b(?:{_CURRENCY_CODES})|Rs\.?)[ -]{{0,2}}$")
_RATING_AFTER = re.compile(
    r" ?/ ?(?:5|10)(?![\d/])| out of (?:5|10)\b| von (?:5|10)\b| sur (?:5|10)\b| ?[★⭐]| stars?\b(?! hotel)|"
    r" ?星(?!级|期|座)| ?分(?=.{0,3}[))])"
)
_RATING_BEFORE = re.compile(
    r"(?:\brat(?:ed|ing)|评分|評分|评级|bewertung|bewertet|calificación|★|⭐)"
    r"(?: is| of| at| mit| de|为|是|達|达)?[ :：(]{0,3}$",
    re.IGNORECASE,
)
_NUMBER_WORDS = {
    word: float(value)
    for value, words in {
        0.5: "half",
        1: "one single",
        2: "two both twice double pair couple second zwei deux dos",
        3: "three triple third drei trois tres",
        4: "four quarter vier quatre cuatro",
        5: "five fünf cinq cinco",
        6: "six sechs seis",
        7: "seven sieben sept siete",
        8: "eight acht huit ocho",
        9: "nine neun neuf nueve",
        10: "ten zehn dix diez",
        11: "eleven elf",
        12: "twelve dozen zwölf",
    }.items()
    for word in words.split()
}
_LETTERS = re.compile(r"\w+")
_DIGITS = re.compile(r"\d{1,30}")
_PLAIN_DIGITS = 15
_GROUP = 3
