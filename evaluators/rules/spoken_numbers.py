"""Numbers as they are said in English: twenty-five, one hundred and twenty, two thousand, four four seven one.

In goes text in lower case, out come the numbers that can be read in it.  What is dictated figure by figure, or in pairs
as years are, is read as the figures in a row.  Texts that are searched for what supports a value need it: speech is
written down like this.
"""

from __future__ import annotations

import re
from collections.abc import Collection

_SMALL = """zero one two three four five six seven eight nine
ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"""
_UNITS = {word: value for value, word in enumerate(_SMALL.split())}
_ROUND = """twenty thirty forty fifty sixty seventy eighty ninety"""
_TENS = {word: 10 * value for value, word in enumerate(_ROUND.split(), 2)}
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
# the longest first: ninety begins like nine
_COUNTS = "|".join(sorted((*_UNITS, *_TENS), key=len, reverse=True))
_ANY = f"{_COUNTS}|{'|'.join(_SCALES)}"
_SAID = re.compile(
    rf"\b(?:(?P<one>an? )(?=(?:{'|'.join(_SCALES)})\b)|(?=(?:{_COUNTS})\b))"
    rf"(?:{_ANY})(?:[ -](?:and )?(?:{_ANY})\b){{0,20}}(?!\w)"
)
_WORD = re.compile(_ANY)
_MOST_FIGURES = 15


def spoken_numbers(text: str, words: Collection[str]) -> set[float]:
    """The numbers said in `text`, which is in lower case; `words` are those that it is made of."""
    if not any(word in words for word in (*_UNITS, *_TENS, *_SCALES)):
        return set()
    said = (_WORD.findall(match.group()[len(match.group("one") or "") :]) for match in _SAID.finditer(text))
    return {value for one in said if (value := _value(one)) is not None}


def _value(said: list[str]) -> float | None:
    if not any(word in _SCALES for word in said):
        figures = "".join(map(str, _groups(said)))
        return float(figures) if len(figures) <= _MOST_FIGURES else None
    whole = part = 0
    for word in said:
        if word == "hundred":
            part = max(part, 1) * 100
        elif word in _SCALES:
            whole, part = whole + max(part, 1) * _SCALES[word], 0
        else:
            part += _UNITS.get(word) or _TENS.get(word, 0)
    return float(whole + part)


def _groups(said: list[str]) -> list[int]:
    """What belongs together: twenty and five are 25, four and four are 4 and 4."""
    groups: list[int] = []
    open_tens = False
    for word in said:
        unit = _UNITS.get(word)
        if open_tens and unit is not None and 0 < unit < 10:
            groups[-1] += unit
        else:
            groups.append(_TENS[word] if unit is None else unit)
        open_tens = unit is None
    return groups
