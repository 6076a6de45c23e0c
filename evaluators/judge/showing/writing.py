"""How the pieces of a record become one text, and how heavy that is.

In: pieces, of which our words stand as they are and texts of the run in the fence.  Texts that follow each other
without a word of ours between them stand in the same fence: marks are read as often as they are written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from evaluators.judge.showing.fence import Fence
from evaluators.judge.showing.pieces import Piece, Quoted
from evaluators.judge.tokens import weigh

_BETWEEN = " "


def written(pieces: Iterable[Piece], fence: Fence) -> str:
    """The pieces as one text."""
    told: list[str] = []
    for are_quoted, run in groupby(pieces, key=_is_quoted):
        texts = [piece.text if isinstance(piece, Quoted) else piece for piece in run]
        told += [fence.around(_BETWEEN.join(texts))] if are_quoted else texts
    return "".join(told)


def weight_of(pieces: Sequence[Piece], marks: int) -> int:
    """What `written` will weigh, where an empty fence weighs `marks`; see `evaluators.judge.tokens`."""
    total, after_quoted = 0, False
    for piece in pieces:
        if isinstance(piece, Quoted):
            total += piece.weight + (weigh(_BETWEEN) if after_quoted else marks)
        else:
            total += weigh(piece)
        after_quoted = isinstance(piece, Quoted)
    return total


def _is_quoted(piece: Piece) -> bool:
    return isinstance(piece, Quoted)
