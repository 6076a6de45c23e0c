"""What a model had seen before it wrote something, and whether a value stands in it.

In go texts, out come answers about all of them together: what they say as a whole word, and which numbers.  Very long
evidence is searched from its end; then nobody may claim that something is not in it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cached_property

from evaluators.rules.numbers import numbers

_MOST_EVIDENCE_CHARS = 200_000
_MOST_NUMBER_CHARS = 20_000
_MOST_PLACES = 2_000


class Evidence:
    """What the model had seen before it wrote the arguments."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = list(texts)

    @cached_property
    def text(self) -> str:
        """Everything, the latest first where it has to be cut, in one case and one form of Unicode."""
        kept: list[str] = []
        room = _MOST_EVIDENCE_CHARS
        for text in reversed(self._texts):
            if room <= 0:
                break
            kept.append(text[:room])
            room -= len(text)
        return plain("\n".join(reversed(kept)))

    @cached_property
    def numbers(self) -> frozenset[float]:
        """Every number said, in whatever numerals."""
        return frozenset(numbers(self.text[-_MOST_NUMBER_CHARS:]))

    @cached_property
    def digits(self) -> str:
        """All digits in a row, to recognise numbers that were written with other separators."""
        return re.sub(r"[\s().,/:_+-]", "", self.text)

    @cached_property
    def cut(self) -> bool:
        """Whether there was more than is searched."""
        return sum(map(len, self._texts)) > _MOST_EVIDENCE_CHARS

    def says(self, token: str) -> bool:
        """Whether the token stands there as a whole: `4471` doesn't in `u_4471`. What is everywhere is taken to be."""
        found = self.text.find(token)
        for _ in range(_MOST_PLACES):
            if found < 0:
                return False
            end = found + len(token)
            if not (_joins(self.text[found - 1 : found], token[0]) or _joins(self.text[end : end + 1], token[-1])):
                return True
            found = self.text.find(token, found + 1)
        return True


def plain(text: str) -> str:
    """NFKC, without accents, in one case."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFKD", text))).casefold()


_ACCENTS = re.compile(r"[\u0300-\u036f]+")


def _joins(neighbour: str, edge: str) -> bool:
    """Whether a neighbouring character makes a longer token of one that ends in `edge`."""
    if not neighbour or not (neighbour.isalnum() or neighbour == "_"):
        return False
    return not (CJK.match(neighbour) or CJK.match(edge)) and (edge.isalnum() or edge == "_")


CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
