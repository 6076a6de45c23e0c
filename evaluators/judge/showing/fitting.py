"""What of a record is shown when there is not room for everything: the unimportant shrinks first, nothing blindly.

In: the blocks of a record, what is asked, and room in tokens.  Out: one text within that room, every cut announced
outside the fence, and how much was left out.  Our own words are never cut.

What shrinks first is what is least likely to matter: parameters of tools that were never called, results nobody took
up, turns that are not asked about; then, in a long run, turns in which nothing special happened are told in one line;
only then what was taken up, what is asked about, and last the task, the instructions, the errors and the answer.  Of a
long text its beginning, its end and the places that are spoken of later stay (`evaluators.judge.showing.excerpt`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from evaluators.judge.showing.excerpt import Stretch, excerpt
from evaluators.judge.showing.fence import Fence
from evaluators.judge.showing.mattering import Interest, Rank, Sight
from evaluators.judge.showing.pieces import WORTH_A_POINTER, Block, Piece, Quoted, texts
from evaluators.judge.showing.repeats import without_repeats
from evaluators.judge.showing.stages import Stage, stages
from evaluators.judge.showing.writing import weight_of, written
from evaluators.judge.tokens import TOKEN, weigh

_HEADLINE = 40 * TOKEN
_NOTE = 15 * TOKEN
_SHORTEST = {
    Rank.SPARE: 25 * TOKEN,
    Rank.IDLE: 60 * TOKEN,
    Rank.ASIDE: 60 * TOKEN,
    Rank.TAKEN_UP: 100 * TOKEN,
    Rank.ASKED: 160 * TOKEN,
    Rank.TOLD: 100 * TOKEN,
    Rank.ESSENTIAL: 160 * TOKEN,
}


@dataclass(frozen=True, slots=True)
class Showing:
    """The record as one text. `left_out` is the share of the run's texts that isn't in it, by weight."""

    text: str
    left_out: float

    @property
    def cut(self) -> bool:
        """Whether anything was left out."""
        return self.left_out > 0


def show(blocks: Sequence[Block], fence: Fence, room_tokens: int, interest: Interest) -> Showing | None:
    """The record within the room; None when it doesn't fit, however much of it is cut."""
    marks = weigh(fence.around(""))
    room = room_tokens * TOKEN
    whole = _once(block.pieces for block in blocks)
    told = without_repeats(whole)
    if weight_of(told, marks) <= room:
        return Showing(written(told, fence), 0.0)
    everything = sum(piece.weight for piece in whole if isinstance(piece, Quoted))
    sight = Sight(blocks, interest)
    room -= _HEADLINE
    for stage in stages(blocks, sight):
        fitted = _least_shortened(stage, room, marks, sight)
        if fitted is not None:
            return _showing(*fitted, sight, fence, marks, everything)
    return None


def _least_shortened(stage: Stage, room: int, marks: int, sight: Sight) -> tuple[list[Piece], dict[int, int]] | None:
    """The record in the way of a stage, no more shortened than it has to be; None when it doesn't fit even so."""
    found: tuple[list[Piece], dict[int, int]] | None = None
    low, high = 0, stage.most
    count = high
    while low <= high:
        pieces = _once(stage.told(count))
        limits = _fit(pieces, room, marks, sight, stage.deepest)
        if limits is None:
            if found is None:
                return None
            low = count + 1
        else:
            found = pieces, limits
            high = count - 1
        count = (low + high) // 2
    return found


def _once(blocks: Iterable[Sequence[Piece]]) -> list[Piece]:
    """The pieces of these blocks, a long text that comes again being only pointed at."""
    first: dict[str, str] = {}
    pieces: list[Piece] = []
    for piece in (piece for block in blocks for piece in block):
        if isinstance(piece, Quoted) and len(piece.text) >= WORTH_A_POINTER:
            if (earlier := first.get(piece.text)) is not None:
                pieces.append(f"(the same text as {earlier})")
                continue
            first[piece.text] = piece.label
        pieces.append(piece)
    return pieces


# -- how it is made to fit


def _fit(pieces: Sequence[Piece], room: int, marks: int, sight: Sight, deepest: Rank) -> dict[int, int] | None:
    """What each text may weigh; None when they don't fit without cutting deeper."""
    limits = {id(piece): piece.weight for piece in texts(pieces)}
    too_much = weight_of(pieces, marks) - room
    by_rank: dict[Rank, list[Quoted]] = {}
    for piece in texts(pieces):
        by_rank.setdefault(sight.rank(piece), []).append(piece)
    for rank in sorted(by_rank):
        if too_much <= 0 or rank > deepest:
            break
        weights = [piece.weight for piece in by_rank[rank]]
        level = _level(weights, sum(weights) - too_much, _SHORTEST[rank])
        limits.update((id(piece), min(piece.weight, level)) for piece in by_rank[rank])
        too_much -= sum(max(0, weight - level) for weight in weights)
    return None if too_much > 0 else limits


def _level(weights: Sequence[int], room: int, lowest: int) -> int:
    """The highest limit to which all can be lowered so that they fit, but at least `lowest`."""
    ascending = sorted(weights)
    below = [0, *accumulate(ascending)]
    for place in range(len(ascending) - 1, -1, -1):
        # Those before `place` stay whole, the others share what is left.
        limit = (room - below[place]) // (len(ascending) - place)
        if place == 0 or limit >= ascending[place - 1]:
            return max(limit, lowest)
    return lowest


def _showing(
    pieces: Sequence[Piece], limits: dict[int, int], sight: Sight, fence: Fence, marks: int, everything: int
) -> Showing:
    shown: list[Piece] = []
    kept = 0
    for piece in pieces:
        if isinstance(piece, str):
            shown.append(piece)
        elif piece.weight <= limits[id(piece)]:
            kept += piece.weight
            shown.append(piece)
        else:
            stretches = excerpt(piece.text, limits[id(piece)], sight.clues(piece), _NOTE + marks)
            kept += sum(weigh(piece.text[start:end]) for start, end in stretches)
            shown += _in_stretches(piece, stretches)
    left_out = max(0.0001, round(1 - kept / everything, 4))
    headline = (
        f"{min(99, max(1, round(left_out * 100)))} % of the run's texts are left out to fit; each place says so.\n"
    )
    return Showing(headline + written(shown, fence), left_out)


def _in_stretches(piece: Quoted, stretches: Sequence[Stretch]) -> list[Piece]:
    """What is shown of a text, with what is left out between."""
    parts: list[Piece] = []
    at = 0
    for start, end in [*stretches, (len(piece.text), len(piece.text))]:
        if start > at:
            parts.append(f"{' ' if parts else ''}(… {start - at} characters left out …){' ' if end > start else ''}")
        if end > start:
            parts.append(replace(piece, text=piece.text[start:end]))
        at = end
    return parts
