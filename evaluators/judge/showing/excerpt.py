"""Which stretches of a text to show when all of it is too long.

In: a text, how heavy what is shown of it may be, and the places in it that something refers to.  Out: stretches in
order: its beginning, its end, and what stands around those places, the most telling first, each cut where a line, a
clause or a word ends if one does nearby.  Without such places, beginning and end alone.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Sequence

from evaluators.judge.showing.clues import Clue
from evaluators.judge.tokens import weigh

_HEAD, _TAIL = 0.30, 0.15
_HEAD_ALONE = 0.65
_PARTS = (1.0, 0.7, 0.4, 0.2)
_MOST_PLACES = 200
_LEAST_AROUND, _MOST_AROUND = 60, 240
_SNAP = 40
_GAP_WORTH_A_CUT = 120
_BREAK = re.compile(r"[\n。！？；]|[,;{}\[\]]|\s")

Stretch = tuple[int, int]


def excerpt(text: str, limit: int, clues: Sequence[Clue], of_cut: int) -> list[Stretch]:
    """The stretches to show.

    Args:
        text: all of it.
        limit: the most that the stretches and the cuts between them may weigh, see `evaluators.judge.tokens`.
        clues: places that matter.
        of_cut: what each cut weighs: the note that is put there, and further marks.

    Returns:
        Stretches in order, not touching each other; at least one, which may be empty.
    """
    whole = weigh(text)
    if whole <= limit:
        return [(0, len(text))]
    density = whole / len(text)
    room = max(0, limit - of_cut)
    head, tail = (_HEAD, _TAIL) if clues else (_HEAD_ALONE, 1 - _HEAD_ALONE)
    chosen = _Chosen(text, limit, of_cut)
    # Where it is denser than elsewhere, beginning or end have to be shorter than that.
    for part in _PARTS:
        if chosen.take((0, _end_of(text, int(room * head * part / density)))):
            break
    for part in _PARTS:
        if chosen.take((_start_of(text, len(text) - int(room * tail * part / density)), len(text))):
            break
    around = min(_MOST_AROUND, max(_LEAST_AROUND, int(limit / density / 16)))
    for clue in heapq.nlargest(_MOST_PLACES, clues, key=lambda one: (one.worth, -one.start)):
        chosen.take((_start_of(text, clue.start - around), _end_of(text, clue.end + around)))
    return chosen.stretches()


class _Chosen:
    """Stretches that fit together; those that come near each other become one."""

    def __init__(self, text: str, limit: int, of_cut: int) -> None:
        self._text, self._limit, self._of_cut = text, limit, of_cut
        self._taken: dict[Stretch, int] = {}

    def take(self, stretch: Stretch) -> bool:
        """Takes a stretch if there is room for it."""
        if stretch[1] <= stretch[0]:
            return False
        start, end = stretch
        apart: dict[Stretch, int] = {}
        for one, weight in self._taken.items():
            if one[1] + _GAP_WORTH_A_CUT >= start and one[0] - _GAP_WORTH_A_CUT <= end:
                start, end = min(start, one[0]), max(end, one[1])
            else:
                apart[one] = weight
        together = apart | {(start, end): weigh(self._text[start:end])}
        cuts = len(together) - 1 + (min(together)[0] > 0) + (max(together)[1] < len(self._text))
        fits = sum(together.values()) + cuts * self._of_cut <= self._limit
        if fits:
            self._taken = together
        return fits

    def stretches(self) -> list[Stretch]:
        return sorted(self._taken) or [(0, 0)]


def _start_of(text: str, at: int) -> int:
    """A good place to begin near `at`."""
    if at <= 0:
        return 0
    found = _BREAK.search(text, at, at + _SNAP)
    return found.end() if found else at


def _end_of(text: str, at: int) -> int:
    """A good place to end at `at` or a little before it."""
    if at >= len(text):
        return len(text)
    last = max((found.end() for found in _BREAK.finditer(text, max(0, at - _SNAP), max(0, at))), default=0)
    return last or max(0, at)
