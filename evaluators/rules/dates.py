"""Which days a text names, in whatever order and language they are written.

In goes a date as it stands in a text, out come the days it may mean: year (or None), month, day.  "03/04/2026" may mean
two days; a date that names a month alone, or a year alone, has no day and is left out.  Never raises.
"""

from __future__ import annotations

import re
from typing import TypeAlias

from evaluators.rules.numbers import quantities
from evaluators.rules.numerals import han_value, plain
from evaluators.rules.units import Kind

Day: TypeAlias = "tuple[int | None, int, int]"


def days_in(text: str) -> set[Day]:
    """Every day named anywhere in `text`."""
    found: set[Day] = set()
    for quantity in quantities(text):
        if quantity.kind is Kind.DATE:
            found |= days(quantity.text)
    return found


def days(date: str) -> set[Day]:
    """The days that one date may mean."""
    flat = plain(date).lower()
    numeric = _NUMERIC.match(flat)
    if numeric is not None:
        first, second, third = (int(part) for part in numeric.groups())
        if first > 31:
            return _valid((first, second, third))
        year = third if third > 99 else 2000 + third
        return _valid((year, first, second)) | _valid((year, second, first))
    han = _HAN.match(flat)
    if han is not None:
        year_of = _whole(han.group(1))
        month, day = _whole(han.group(2)), _whole(han.group(3))
        return _valid((year_of, month, day)) if month is not None and day is not None else set()
    named = _MONTH.search(flat)
    if named is None:
        return set()
    month = _MONTHS[named.group()]
    numbers = [int(n) for n in re.findall(r"\d{1,4}", flat)]
    years = [n for n in numbers if n > 31]
    return {found for n in numbers if n <= 31 for found in _valid((years[0] if years else None, month, n))}


def same_day(one: Day, other: Day) -> bool:
    """Whether two days are the same as far as both say; a missing year fits every year."""
    return one[1:] == other[1:] and (one[0] is None or other[0] is None or one[0] == other[0])


def _valid(day: Day) -> set[Day]:
    return {day} if 1 <= day[1] <= 12 and 1 <= day[2] <= 31 else set()


def _whole(numeral: str | None) -> int | None:
    if not numeral:
        return None
    value = float(numeral) if numeral.isdigit() else han_value(numeral)
    return None if value is None else int(value)


_NUMERIC = re.compile(r"(\d{1,4})[-/.](\d{1,2})[-/.](\d{1,4})")
_HAN_DIGIT = r"[\d零〇一二三四五六七八九十]"
_HAN = re.compile(rf"(?:({_HAN_DIGIT}{{2,4}}) ?年 ?)?({_HAN_DIGIT}{{1,3}}) ?月 ?({_HAN_DIGIT}{{1,3}})?")
_MONTH_NAMES = (
    "jan january januar janvier enero",
    "feb february februar février febrero",
    "mar march märz mars marzo",
    "apr april avril abril",
    "may mai mayo",
    "jun june juni juin junio",
    "jul july juli juillet julio",
    "aug august août agosto",
    "sep sept september septembre septiembre",
    "oct october okt oktober octobre octubre",
    "nov november novembre noviembre",
    "dec december dez dezember décembre diciembre",
)
_MONTHS = {name: number for number, names in enumerate(_MONTH_NAMES, 1) for name in names.split()}
_MONTH = re.compile("|".join(sorted(_MONTHS, key=len, reverse=True)))
