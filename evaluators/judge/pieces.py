"""What a prompt is made of: our own words, and texts of the run that are fenced and may have to be cut.

In: pieces and a budget of characters.  Out: the longest showing of them that fits, with every cut announced outside the
fence.  Never cuts our own words, and never cuts a text to less than `SHORTEST`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from evaluators.judge.fence import Fence

SHORTEST = 400
LONGEST_RESULT = 8_000
_NOTE_CHARS = 60


@dataclass(frozen=True, slots=True)
class Quoted:
    """A text of the run. Results of tools are `elastic`: they are cut first, all to the same length."""

    text: str
    elastic: bool = False


@dataclass(frozen=True, slots=True)
class Showing:
    """The pieces as one text; `cut` says that something was left out."""

    text: str
    cut: bool


def show(pieces: Sequence[str | Quoted], fence: Fence, budget_chars: int) -> Showing | None:
    """The pieces within the budget, long texts cut in the middle; None when they don't fit even so."""
    quoted = [piece for piece in pieces if isinstance(piece, Quoted)]
    elastic = [min(len(piece.text), LONGEST_RESULT) for piece in quoted if piece.elastic]
    rigid = [len(piece.text) for piece in quoted if not piece.elastic]
    marks = len(quoted) * len(fence.around("")) + _notes(quoted)
    left = budget_chars - marks - sum(len(piece) for piece in pieces if isinstance(piece, str))

    elastic_limit, rigid_limit = _level(elastic, left - sum(rigid)), max(rigid, default=0)
    if elastic_limit is None:
        elastic_limit = SHORTEST
        shortest = sum(min(length, SHORTEST) for length in elastic)
        possible = _level(rigid, left - shortest)
        if possible is None:
            return None
        rigid_limit = possible
    elastic_limit = min(elastic_limit, LONGEST_RESULT)

    cut = False
    shown: list[str] = []
    for piece in pieces:
        if isinstance(piece, str):
            shown.append(piece)
            continue
        limit = elastic_limit if piece.elastic else rigid_limit
        cut = cut or len(piece.text) > limit
        shown.append(_fenced(piece.text, limit, fence))
    return Showing("".join(shown), cut)


def _notes(quoted: Sequence[Quoted]) -> int:
    """Room for the notes on cuts and their further marks: of all texts that could be cut."""
    return sum(2 * _NOTE_CHARS for piece in quoted if len(piece.text) > SHORTEST)


def _level(lengths: Sequence[int], room: int) -> int | None:
    """The highest limit to which all lengths can be lowered so that they fit; None when it is below `SHORTEST`."""
    if sum(lengths) <= room:
        return max(lengths, default=0)
    ascending = sorted(lengths)
    below = [0, *accumulate(ascending)]
    for place in range(len(ascending) - 1, -1, -1):
        # Those before `place` stay whole, the others share what is left.
        limit = (room - below[place]) // (len(ascending) - place)
        if place == 0 or limit >= ascending[place - 1]:
            return limit if limit >= SHORTEST else None
    return None


def _fenced(text: str, limit: int, fence: Fence) -> str:
    if len(text) <= limit:
        return fence.around(text)
    head = limit * 2 // 3
    tail = limit - head
    left_out = len(text) - limit
    return f"{fence.around(text[:head])} (… {left_out} characters left out …) {fence.around(text[-tail:])}"
