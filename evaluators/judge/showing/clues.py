"""What the later course of a run, and what is asked about it, refer to: the words by which to tell what of a long text
matters.

In: what was said at which turn.  Out: for a text that was seen at a turn, the places in it that were taken up later
(numbers, names, identifiers, whole words; in Chinese, Japanese and Korean pairs of characters), and whether anything
new in it was.  One pass over each text; equal numbers count as equal however they are grouped.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

BEFORE = -1
"""The turn at which was said what was said before the first."""
AFTERWARDS = 1 << 30
"""The turn at which is said what is said of the whole run: its final answer, and the questions about it."""

_IDEOGRAPHS = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
_TOKENS = re.compile(rf"\d+(?:[.,:/-]\d+)*(?![^\W{_IDEOGRAPHS}])|[^\W{_IDEOGRAPHS}]+|[{_IDEOGRAPHS}]+")
_NUMBER = re.compile(r"[\d.,]+")
_SHORTEST_WORD = 4
_TELLING_WORDS = 3
_STRONG = 3.0
_MOST_TOKENS = 200_000


@dataclass(frozen=True, slots=True)
class Clue:
    """A place in a text that is referred to; the higher `worth`, the more it tells."""

    start: int
    end: int
    worth: float


class Clues:
    """The words that were said, with the first and the last turn at which they were."""

    def __init__(self) -> None:
        self._said: dict[str, tuple[int, int]] = {}

    def hear(self, text: str, turn: int) -> None:
        """Note what was said at a turn, `BEFORE` or `AFTERWARDS`."""
        for token, _, _ in _tokens_of(text):
            first, last = self._said.get(token, (turn, turn))
            self._said[token] = (min(first, turn), max(last, turn))

    def in_text(self, text: str, seen_at: int) -> list[Clue]:
        """The places of a text that are spoken of at the turn that saw it or later, in order."""
        found = [
            (token, start, end)
            for token, start, end in _tokens_of(text)
            if (said := self._said.get(token)) is not None and said[1] >= seen_at
        ]
        often = Counter(token for token, _, _ in found)
        return [Clue(start, end, _worth(token) / often[token]) for token, start, end in found]

    def takes_up(self, text: str, seen_at: int) -> bool:
        """Whether something that nobody had said before was taken up from a text after it was seen."""
        words: set[str] = set()
        for token, _, _ in _tokens_of(text):
            said = self._said.get(token)
            if said is None or said[0] < seen_at:
                continue
            if _worth(token) >= _STRONG:
                return True
            words.add(token)
            if len(words) >= _TELLING_WORDS:
                return True
        return False


def _worth(token: str) -> float:
    digits = sum(map(str.isdigit, token))
    return _STRONG if digits > 1 or (digits and len(token) > 1) or "_" in token else 1.0


def _tokens_of(text: str) -> Iterator[tuple[str, int, int]]:
    """Each telling token in a comparable form, with where it stands."""
    for number, match in enumerate(_TOKENS.finditer(text)):
        if number > _MOST_TOKENS:
            return
        token, start = match.group(), match.start()
        if not token.isascii():
            token = unicodedata.normalize("NFKC", token)
        first = token[0]
        if first.isdigit() and _NUMBER.fullmatch(token):
            yield _plain_number(token), start, match.end()
        elif first.isascii() or len(token) == 1 or not re.match(f"[{_IDEOGRAPHS}]", first):
            if len(token) >= _SHORTEST_WORD or any(map(str.isdigit, token)):
                yield token.casefold(), start, match.end()
        else:
            for at in range(len(token) - 1):
                yield token[at : at + 2], start + at, start + at + 2


def _plain_number(token: str) -> str:
    """``1,234.50`` as ``1234.5``: without groups of thousands and without zeros at the end of a fraction."""
    plain = re.sub(r",(?=\d{3}(?:\D|$))", "", token)
    return plain.rstrip("0").rstrip(".") if "." in plain else plain
