"""What number a numeral stands for, in the ways people write it: 1,234.5 · 1.234,5 · 1 234 · １２３ · 三百二十 · 3万.

A numeral can be read in more than one way ("1.234" is 1.234 or 1234); all readings are given, and whoever claims that a
number is nowhere must have tried each.
"""

from __future__ import annotations

import re

# one character for one, so that places in the text stay what they are
_PLAIN = str.maketrans(
    "０１２３４５６７８９．，：％＄￥￡－–−﹣　\u00a0\u202f\u2009’٠١٢٣٤٥٦٧٨٩٪٫٬",
    "0123456789.,:%$¥£----    '0123456789%.,",
)


def plain(text: str) -> str:
    """`text` with full-width and other digits, signs and spaces as their plain forms, every character in its place."""
    return text if text.isascii() else text.translate(_PLAIN)


NUMERAL = (
    r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?:[ ']\d{3})+(?:[.,]\d+)?(?!\d)|\d{1,3}(?:\.\d{3})+(?:,\d+)?(?!\d)"
    r"|\d+(?:[.,]\d+)*"
)
_GROUPED = re.compile(r"\d{1,3}(?:[,.' ]\d{2,3})*[,.' ]\d{3}(?:[.,]\d+)?")
_MAX_DIGITS = 30


def readings(numeral: str) -> tuple[float, ...]:
    """Every number that `numeral` (digits with separators, as `NUMERAL` matches) may stand for, the likeliest first."""
    if len(numeral) > _MAX_DIGITS:
        return ()
    marks = [c for c in numeral if not c.isdigit()]
    if not marks:
        return (float(numeral),)
    last = marks[-1]
    joined = re.sub(r"[^\d]", "", numeral)
    grouped = _GROUPED.fullmatch(numeral) is not None
    if len(marks) == 1 and last in ".,":
        decimal = float(numeral.replace(",", "."))
        thousands = float(joined)
        if not grouped:
            return (decimal,)
        return (thousands, decimal) if last == "," else (decimal, thousands)
    if last in ".," and last not in marks[:-1]:
        head, _, tail = numeral.rpartition(last)
        return (float(re.sub(r"[^\d]", "", head) + "." + tail),)
    return (float(joined),) if grouped else ()


def decimals(numeral: str, reading: float) -> int:
    """How many places after the point `numeral` shows when it is read as `reading`."""
    mark = max(numeral.rfind("."), numeral.rfind(","))
    if mark < 0 or reading == float(re.sub(r"[^\d]", "", numeral)):
        return 0
    return len(numeral) - mark - 1


# powers of ten: 1.5e3, 1.5 × 10^3, 1.5×10³; behind the point at most two digits, which no double overflows
EXPONENT = (
    r"[eE](?P<e>[+-]?\d{1,2})(?!\w)"
    r"| ?(?:[×·⋅*x]|\\times) ?10(?:(?:\^|\*\*)[({]?(?P<power>[+\-−]?\d{1,2})[)}]?|(?P<raised>⁻?[⁰¹²³⁴-⁹]{1,2}))"
)
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻−", "0123456789--")


def power_of_ten(exponent: re.Match[str]) -> float:
    """What a number is multiplied by that this match of `EXPONENT` follows."""
    digits = next(group for group in exponent.group("e", "power", "raised") if group is not None)
    return float(10.0 ** int(digits.translate(_RAISED)))


_DIGITS = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "兩": 2}
_STEPS = {"十": 10, "百": 100, "千": 1000}
_BLOCKS = {"万": 10_000, "萬": 10_000, "亿": 100_000_000, "億": 100_000_000}
_HAN_DECIMALS = "[点點][零〇一二三四五六七八九]{1,6}"
HAN_NUMERAL = "[零〇一二两兩三四五六七八九十百千万萬亿億]{1,15}"


HAN_DECIMAL = HAN_NUMERAL + _HAN_DECIMALS


def han_decimal_value(numeral: str) -> float | None:
    """The number that a Chinese numeral with a point stands for (二十五点五 → 25.5), or None."""
    whole, _, part = numeral.replace("點", "点").partition("点")
    value = han_value(whole)
    return None if value is None else float(f"{value:.0f}." + "".join(str(_DIGITS[c]) for c in part))


def han_value(numeral: str) -> float | None:
    """The number a Chinese numeral stands for (三百二十 → 320, 二〇二六 → 2026, 两万五 → 25000), or None."""
    if all(c in _DIGITS for c in numeral):
        return float("".join(str(_DIGITS[c]) for c in numeral))
    total = block = digit = 0
    last_step = 1
    for c in numeral:
        if c in _DIGITS:
            digit = _DIGITS[c]
            if digit == 0:
                last_step = 1
        elif c in _STEPS:
            last_step = _STEPS[c]
            block += (digit or 1) * last_step
            digit = 0
        elif c in _BLOCKS:
            if not block and not digit and not total:
                return None
            last_step = _BLOCKS[c]
            total = (total + block + digit) * last_step if total < last_step else total + (block + digit) * last_step
            block = digit = 0
    # 两万五 means 25,000: a digit left over counts in the step below the last one
    return float(total + block + (digit * last_step // 10 if last_step > 10 else digit))
