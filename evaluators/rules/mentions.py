"""What the material before an answer mentions, as it stands there: digits, days, names.

In goes the material, out come answers to whether something is mentioned.  Built only when somebody asks.
"""

from __future__ import annotations

import re

from evaluators.cases import ToolCall
from evaluators.rules.dates import Day, days_in
from evaluators.rules.material import Material
from evaluators.rules.numbers import Quantity
from evaluators.rules.units import Kind

_MAX_LOOKS = 20


class Mentions:
    """The words of the material in one text, case folded."""

    def __init__(self, material: Material) -> None:
        self._material = material
        self._text: str | None = None
        self._days: set[Day] | None = None

    @property
    def text(self) -> str:
        """Everything that was written."""
        if self._text is None:
            parts = [*self._material.texts, *(str(a) for a in self._material.arguments)]
            parts += [text for call in self._material.calls for text in said(call)]
            self._text = " ".join(parts).casefold()
        return self._text

    def hold(self, quantity: Quantity) -> bool:
        """Whether a quantity stands in the material as it is: a date whole, else its digits, and not inside others."""
        if quantity.kind is Kind.DATE:
            return quantity.text.casefold() in self.text
        match = _DIGITS.search(quantity.text)
        if match is None:
            return False
        digits = match.group()
        at = self.text.find(digits)
        for _ in range(_MAX_LOOKS):
            if at < 0:
                return False
            end = at + len(digits)
            if not self.text[max(0, at - 1) : at].strip(".,").isdigit() and not self.text[end : end + 1].isdigit():
                return at == 0 or self.text[at - 1] not in ".,"
            at = self.text.find(digits, end)
        return False

    @property
    def days(self) -> set[Day]:
        """The days that the material names."""
        if self._days is None:
            self._days = days_in(self.text)
        return self._days

    def know(self, name: str) -> bool:
        """Whether the name, or any longer word of it, stands in the material."""
        return self.share_known(name) > 0

    def share_known(self, name: str) -> float:
        """The share of the name's words that stand in the material; 1 when it stands there as a whole."""
        name = name.casefold()
        if name in self.text:
            return 1.0
        words = _LONGER_WORD.findall(name)
        return sum(word in self.text for word in words) / len(words) if words else 1.0


def said(call: ToolCall) -> list[str]:
    """The texts that a call brought back."""
    if call.result is None:
        return []
    return [text for text in (call.result.content, call.result.error) if text]


_DIGITS = re.compile(r"\d(?:[\d.,]*\d)?")
_LONGER_WORD = re.compile(r"[^\W\d_]{3,}")
