"""What of a record is shown when there is not room for everything: the unimportant shrinks first, nothing blindly.

In: the blocks of a record, what is asked, and room in tokens.  Out: one text within that room, every cut announced
outside the fence, and how much was left out.  Our own words are never cut.

What shrinks first is what is least likely to matter: parameters of tools that were never called, results nobody took
up, turns that are not asked about; then, in a long run, turns in which nothing special happened are told in one line;
only then what was taken up, what is asked about, and last the task, the instructions, the errors and the answer.  Of a
long text its beginning, its end and the places that are spoken of later stay (`evaluators.judge.showing.excerpt`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from enum import IntEnum
from itertools import accumulate

from evaluators.judge.showing.briefs import told_in_a_line, told_together
from evaluators.judge.showing.clues import AFTERWARDS, BEFORE, Clue, Clues
from evaluators.judge.showing.excerpt import excerpt
from evaluators.judge.showing.fence import Fence
from evaluators.judge.showing.pieces import Block, Brief, Piece, Quoted
from evaluators.judge.showing.repeats import without_repeats
from evaluators.judge.steering import Kind
from evaluators.judge.tokens import TOKEN, weigh

_WORTH_A_POINTER = 200
_LAST_TURNS = 3
_HEADLINE = 40 * TOKEN
_NOTE = 15 * TOKEN
_SAID = {Kind.TEXT, Kind.ARGUMENTS, Kind.ANSWER}
_TOLD_BEFORE = {Kind.TASK, Kind.SYSTEM}
_ESSENTIAL = {Kind.SYSTEM, Kind.TASK, Kind.ANSWER, Kind.ERROR}
_NEVER_BRIEF = {Kind.SYSTEM, Kind.TASK, Kind.ANSWER}


class Rank(IntEnum):
    """How early a text is cut, the lowest first."""

    SPARE = 0
    """Parameters of tools that were never called."""
    IDLE = 1
    """Results nobody took up, what was said before the run, descriptions of tools that were never called."""
    ASIDE = 2
    """Words and arguments of turns that are not asked about."""
    TAKEN_UP = 3
    """Results that were taken up later, and the tools that were called."""
    ASKED = 4
    """Results that are asked about."""
    TOLD = 5
    """Words and arguments of turns that are asked about, or of all when the whole run is."""
    ESSENTIAL = 6
    """The task, the instructions, errors, the answer."""


_SHORTEST = {
    Rank.SPARE: 25 * TOKEN,
    Rank.IDLE: 60 * TOKEN,
    Rank.ASIDE: 60 * TOKEN,
    Rank.TAKEN_UP: 100 * TOKEN,
    Rank.ASKED: 160 * TOKEN,
    Rank.TOLD: 100 * TOKEN,
    Rank.ESSENTIAL: 160 * TOKEN,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Interest:
    """What is asked about: turns by index, calls by alias (both empty: the whole run), and the words it is asked in."""

    turns: Set[int] = frozenset()
    calls: Set[str] = frozenset()
    words: tuple[str, ...] = ()

    @property
    def in_all(self) -> bool:
        """Whether nothing is asked about more than anything else."""
        return not self.turns and not self.calls


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
    if _weight(told, marks) <= room:
        return Showing("".join(piece if isinstance(piece, str) else fence.around(piece.text) for piece in told), 0.0)
    everything = sum(piece.weight for piece in whole if isinstance(piece, Quoted))
    sight = _Sight(blocks, interest)
    room -= _HEADLINE
    for stage in _stages(blocks, sight):
        fitted = _least_shortened(stage, room, marks, sight)
        if fitted is not None:
            return _showing(*fitted, sight, fence, marks, everything)
    return None


# -- what matters


class _Sight:
    """What of a record matters for what is asked."""

    def __init__(self, blocks: Sequence[Block], interest: Interest) -> None:
        self._interest = interest
        self._clues = _clues_of(blocks, interest)
        self._block_of = {id(piece): block for block in blocks for piece in block.pieces}
        self._called = {name for block in blocks if block.brief is not None for _, name in block.brief.calls}
        self._ranks: dict[int, Rank] = {}
        self._alike: dict[str, list[Quoted]] = {}
        for piece in _texts(piece for block in blocks for piece in block.pieces):
            if len(piece.text) >= _WORTH_A_POINTER:
                self._alike.setdefault(piece.text, []).append(piece)

    def clues(self, piece: Quoted) -> list[Clue]:
        """What of a text is spoken of."""
        return self._clues.in_text(piece.text, _seen_at(self._block_of[id(piece)]))

    def rank(self, piece: Quoted) -> Rank:
        """How early this text is cut; where others only point at it, as late as the latest of them."""
        if id(piece) not in self._ranks:
            alike = self._alike.get(piece.text, (piece,))
            highest = max(map(self._rank_alone, alike))
            self._ranks.update((id(one), highest) for one in alike)
        return self._ranks[id(piece)]

    def is_needed(self, block: Block) -> bool:
        """Whether a turn has to be told in full: it is asked about, or holds the user's words or the answer."""
        texts = list(_texts(block.pieces))
        return (
            block.turn in self._interest.turns
            or any(piece.call in self._interest.calls for piece in texts if piece.call is not None)
            or any(piece.kind in _NEVER_BRIEF for piece in texts)
        )

    def is_eventful(self, block: Block) -> bool:
        """Whether something failed in a turn, or something new in what it saw was taken up."""
        return any(
            piece.kind is Kind.ERROR or (piece.kind is Kind.RESULT and self._rank_alone(piece) > Rank.IDLE)
            for piece in _texts(block.pieces)
        ) or (block.brief is not None and any(one.failed for one in block.brief.returned))

    def _rank_alone(self, piece: Quoted) -> Rank:
        block = self._block_of[id(piece)]
        turn = _seen_at(block)
        asked = turn in self._interest.turns or piece.call in self._interest.calls
        match piece.kind:
            case Kind.DESCRIPTION:
                return Rank.TAKEN_UP if block.tool in self._called else Rank.IDLE
            case Kind.PARAMETERS:
                return Rank.TAKEN_UP if block.tool in self._called else Rank.SPARE
            case Kind.RESULT if asked:
                return Rank.ASKED
            case Kind.RESULT:
                return Rank.TAKEN_UP if self._clues.takes_up(piece.text, turn) else Rank.IDLE
            case Kind.EARLIER:
                return Rank.IDLE
            case Kind.TEXT | Kind.ARGUMENTS:
                return Rank.TOLD if asked or self._interest.in_all else Rank.ASIDE
        return Rank.ESSENTIAL


def _clues_of(blocks: Sequence[Block], interest: Interest) -> Clues:
    clues = Clues()
    for block in blocks:
        for piece in _texts(block.pieces):
            if piece.kind in _SAID:
                clues.hear(piece.text, _seen_at(block))
            elif piece.kind in _TOLD_BEFORE:
                clues.hear(piece.text, BEFORE)
            if piece.kind in (Kind.ANSWER, Kind.TASK):
                clues.hear(piece.text, AFTERWARDS)
    for words in interest.words:
        clues.hear(words, AFTERWARDS)
    return clues


def _seen_at(block: Block) -> int:
    return BEFORE if block.turn is None else block.turn


# -- ever shorter ways to tell it


@dataclass(frozen=True, slots=True)
class _Stage:
    """A way to tell the record shorter: up to `most` of something are, and texts of rank `deepest` or less are cut."""

    deepest: Rank
    most: int
    told: Callable[[int], Iterable[Sequence[Piece]]]


def _stages(blocks: Sequence[Block], sight: _Sight) -> Iterator[_Stage]:
    turns = [block for block in blocks if block.brief is not None]
    plain = [block for block in turns[1 : -_LAST_TURNS or None] if not sight.is_needed(block)]
    dull = [block for block in plain if not sight.is_eventful(block)]
    eventful = [block for block in plain if sight.is_eventful(block)]
    yield _Stage(Rank.ASIDE, 0, lambda count: _told(blocks, (), ()))
    yield _Stage(Rank.ASIDE, len(dull), lambda count: _told(blocks, dull[:count], ()))
    yield _Stage(Rank.TAKEN_UP, len(dull), lambda count: _told(blocks, dull, dull[:count]))
    yield _Stage(Rank.ASKED, len(eventful), lambda count: _told(blocks, [*dull, *eventful[:count]], dull))
    yield _Stage(Rank.TOLD, len(eventful), lambda count: _told(blocks, plain, [*dull, *eventful[:count]]))
    yield _Stage(Rank.ESSENTIAL, 0, lambda count: _told(blocks, plain, plain))


def _told(blocks: Sequence[Block], short: Sequence[Block], together: Sequence[Block]) -> Iterator[Sequence[Piece]]:
    """The record with some turns in a line each, and those of them in one line that follow each other in `together`."""
    in_short, in_row = {id(block) for block in short}, {id(block) for block in together}
    row: list[Brief] = []
    for block in blocks:
        if block.brief is not None and id(block) in in_short and id(block) in in_row:
            row.append(block.brief)
            continue
        if row:
            yield ["\n" + told_together(row)]
            row = []
        if block.brief is not None and id(block) in in_short:
            yield ["\n" + told_in_a_line(block.brief)]
        else:
            yield block.pieces
    if row:
        yield ["\n" + told_together(row)]


def _least_shortened(stage: _Stage, room: int, marks: int, sight: _Sight) -> tuple[list[Piece], dict[int, int]] | None:
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
        if isinstance(piece, Quoted) and len(piece.text) >= _WORTH_A_POINTER:
            if (earlier := first.get(piece.text)) is not None:
                pieces.append(f"(the same text as {earlier})")
                continue
            first[piece.text] = piece.label
        pieces.append(piece)
    return pieces


# -- how it is made to fit


def _fit(pieces: Sequence[Piece], room: int, marks: int, sight: _Sight, deepest: Rank) -> dict[int, int] | None:
    """What each text may weigh; None when they don't fit without cutting deeper."""
    limits = {id(piece): piece.weight for piece in _texts(pieces)}
    too_much = _weight(pieces, marks) - room
    by_rank: dict[Rank, list[Quoted]] = {}
    for piece in _texts(pieces):
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
    pieces: Sequence[Piece], limits: dict[int, int], sight: _Sight, fence: Fence, marks: int, everything: int
) -> Showing:
    shown: list[str] = []
    kept = 0
    for piece in pieces:
        if isinstance(piece, str):
            shown.append(piece)
        elif piece.weight <= limits[id(piece)]:
            kept += piece.weight
            shown.append(fence.around(piece.text))
        else:
            stretches = excerpt(piece.text, limits[id(piece)], sight.clues(piece), _NOTE + marks)
            kept += sum(weigh(piece.text[start:end]) for start, end in stretches)
            shown.append(_in_stretches(piece.text, stretches, fence))
    left_out = max(0.0001, round(1 - kept / everything, 4))
    headline = (
        f"{min(99, max(1, round(left_out * 100)))} % of the run's texts are left out to fit; each place says so.\n"
    )
    return Showing(headline + "".join(shown), left_out)


def _in_stretches(text: str, stretches: Sequence[tuple[int, int]], fence: Fence) -> str:
    parts: list[str] = []
    at = 0
    for start, end in [*stretches, (len(text), len(text))]:
        if start > at:
            parts.append(f"(… {start - at} characters left out …)")
        if end > start:
            parts.append(fence.around(text[start:end]))
        at = end
    return " ".join(parts)


def _texts(pieces: Iterable[Piece]) -> Iterator[Quoted]:
    return (piece for piece in pieces if isinstance(piece, Quoted))


def _weight(pieces: Sequence[Piece], marks: int) -> int:
    return sum(weigh(piece) if isinstance(piece, str) else piece.weight + marks for piece in pieces)
