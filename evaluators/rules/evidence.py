"""What a model had seen before it wrote something, and whether a value stands in it.

In go texts, out come answers about all of them together: what they say as a whole word, and which numbers.  Very long
evidence is searched from its end; then nobody may claim that something is not in it.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import cached_property

from evaluators.rules.reading import reading_of

_MOST_EVIDENCE_CHARS = 200_000
_MOST_NUMBER_CHARS = 20_000
_MOST_PLACES = 2_000


class Told:
    """The texts of a run in order, each once, in the form in which they are searched.

    Every turn has seen the first so many of them; so they are put together once for the run, and not once per turn.
    """

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._places: dict[str, int] = {}
        self._ends: list[int] = []
        self._plain: list[str] = []
        self._numbers: dict[int, frozenset[float]] = {}

    def add(self, text: str) -> None:
        """Adds a text that comes after all others; one that was told before has its place already."""
        if text not in self._places:
            self._places[text] = len(self.texts)
            self.texts.append(text)
            self._plain.append(plain(text))
            self._ends.append((self._ends[-1] + 1 if self._ends else 0) + len(self._plain[-1]))

    def is_among(self, text: str, count: int) -> bool:
        """Whether a text is one of the first `count`."""
        return self._places.get(text, count) < count

    def numbers(self, place: int) -> frozenset[float]:
        """Every number in one of the texts."""
        found = self._numbers.get(place)
        if found is None:
            found = self._numbers[place] = reading_of(self.texts[place][-_MOST_NUMBER_CHARS:]).numbers
        return found

    def latest(self, count: int, room: int) -> str:
        """The last characters of the first `count` texts, at most `room` of them."""
        end = self._ends[count - 1] if count else 0
        return self._joined[max(end - room, 0) : end]

    def chars(self, count: int) -> int:
        """The length of the first `count` texts."""
        return self._ends[count - 1] if count else 0

    @cached_property
    def _joined(self) -> str:
        return "\n".join(self._plain)


class Evidence:
    """What the model had seen before it wrote the arguments.

    Args:
        texts: what was before it alone, the latest last.
        told: what was said and returned in the run, of which it had seen the first `count`.
    """

    def __init__(self, texts: Iterable[str], told: Told | None = None, count: int = 0) -> None:
        self._told, self._count = told or Told(), count
        own = dict.fromkeys(text for text in texts if not self._told.is_among(text, count))
        self._latest_first = tuple(reversed(own))
        self.cut = sum(map(len, own)) + self._told.chars(count) > _MOST_EVIDENCE_CHARS
        """Whether there was more than is searched."""

    @cached_property
    def text(self) -> str:
        """Everything, in one case and one form of Unicode."""
        kept: list[str] = []
        room = _MOST_EVIDENCE_CHARS
        for text in self._latest_first:
            if room <= 0:
                break
            kept.append(plain(text[-room:]))
            room -= len(text)
        return "\n".join((*reversed(kept), self._told.latest(self._count, max(room, 0))))

    @cached_property
    def numbers(self) -> Sequence[float]:
        """Every number said, in whatever numerals, in order of size."""
        found: set[float] = set()
        room = _MOST_NUMBER_CHARS
        for place in range(self._count - 1, -1, -1):
            if room <= 0:
                break
            found.update(self._told.numbers(place))
            room -= len(self._told.texts[place])
        for text in self._latest_first:
            if room <= 0:
                break
            found.update(reading_of(text[-room:]).numbers)
            room -= len(text)
        return sorted(found)

    def has_number(self, low: float, high: float) -> bool:
        """Whether a number in this range was said, its ends included."""
        place = bisect_left(self.numbers, low)
        return place < len(self.numbers) and self.numbers[place] <= high

    @cached_property
    def digits(self) -> str:
        """All digits in a row, to recognise numbers that were written with other separators."""
        return re.sub(r"[\s().,/:_+-]", "", self.text)

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
