"""What the material before an answer mentions, as it stands there: digits, days, names.

In goes the material, out come answers to whether something is mentioned.  Texts are looked at one by one, the latest
results first, since most of what an answer says stands there.
"""

from __future__ import annotations

import re
from functools import cached_property

from evaluators.cases import ToolCall
from evaluators.rules.dates import Day, same_day
from evaluators.rules.material import Material
from evaluators.rules.numbers import Quantity
from evaluators.rules.reading import Reading, reading_of
from evaluators.rules.units import Kind

_MAX_LOOKS = 20


class Mentions:
    """The texts of the material, in one case."""

    def __init__(self, material: Material) -> None:
        self._material = material

    @cached_property
    def results(self) -> list[Reading]:
        """The material's results, the latest first."""
        return [reading_of(text) for call in reversed(self._material.calls) for text in said(call)]

    @cached_property
    def readings(self) -> list[Reading]:
        """The material's results, its texts and its arguments."""
        texts = [reading_of(text) for text in self._material.texts]
        return [*self.results, *texts, *(reading_of(str(arguments)) for arguments in self._material.arguments)]

    def hold(self, quantity: Quantity) -> bool:
        """Whether a quantity stands in the material as it is: a date whole, else its digits, and not inside others.

        "$1,299.50" is 1299.5 in JSON, which is where most amounts come from.
        """
        if quantity.kind is Kind.DATE:
            return self._say(quantity.text.casefold())
        match = _DIGITS.search(quantity.text)
        if match is None:
            return False
        digits = match.group()
        forms = dict.fromkeys((digits, _AS_IN_JSON.sub("", digits.replace(",", ""))))
        return any(_holds(read.folded, form) for read in self.readings for form in forms)

    def name_day(self, day: Day) -> bool:
        """Whether the material names this day, as far as both say."""
        return any(same_day(day, known) for read in self.readings for known in read.days)

    def know(self, name: str) -> bool:
        """Whether the name, or any longer word of it, stands in the material."""
        return self.share_known(name) > 0

    def share_known(self, name: str) -> float:
        """The share of the name's words that stand in the material; 1 when it stands there as a whole."""
        name = name.casefold()
        if self._say(name):
            return 1.0
        words = _LONGER_WORD.findall(name)
        return sum(map(self._say, words)) / len(words) if words else 1.0

    def _say(self, words: str) -> bool:
        return any(words in read.folded for read in self.readings)


def _holds(text: str, digits: str) -> bool:
    """Whether the digits stand in the text as a number of their own."""
    at = text.find(digits)
    for _ in range(_MAX_LOOKS):
        if at < 0:
            return False
        end = at + len(digits)
        if not text[max(0, at - 1) : at].strip(".,").isdigit() and not text[end : end + 1].isdigit():
            return at == 0 or text[at - 1] not in ".,"
        at = text.find(digits, end)
    return False


def said(call: ToolCall) -> list[str]:
    """The texts that a call brought back."""
    if call.result is None:
        return []
    return [text for text in (call.result.content, call.result.error) if text]


_DIGITS = re.compile(r"\d(?:[\d.,]*\d)?")
# zeros that only fill up the places after the point
_AS_IN_JSON = re.compile(r"(?<=\.\d)0+$|\.0+$")
_LONGER_WORD = re.compile(r"[^\W\d_]{3,}")
