"""What of a record matters for what is asked about it: how early each of its texts may be cut, and where it is telling.

In: the blocks of a record, and what is asked.  Out: a rank for each text, the places in it that are spoken of later,
and which turns have to be told in full.  Cuts nothing itself.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from enum import IntEnum

from evaluators.judge.showing.clues import AFTERWARDS, BEFORE, Clue, Clues
from evaluators.judge.showing.pieces import WORTH_A_POINTER, Block, Quoted, texts
from evaluators.judge.steering import Kind

_SAID = {Kind.TEXT, Kind.ARGUMENTS, Kind.ANSWER}
_TOLD_BEFORE = {Kind.TASK, Kind.SYSTEM}
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


class Sight:
    """What of a record matters for what is asked."""

    def __init__(self, blocks: Sequence[Block], interest: Interest) -> None:
        self._interest = interest
        self._clues = _clues_of(blocks, interest)
        self._block_of = {id(piece): block for block in blocks for piece in block.pieces}
        self._ranks: dict[int, Rank] = {}
        self._alike: dict[str, list[Quoted]] = {}
        for piece in texts(piece for block in blocks for piece in block.pieces):
            if len(piece.text) >= WORTH_A_POINTER:
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
        told = list(texts(block.pieces))
        return (
            block.turn in self._interest.turns
            or any(piece.call in self._interest.calls for piece in told if piece.call is not None)
            or any(piece.kind in _NEVER_BRIEF for piece in told)
        )

    def is_eventful(self, block: Block) -> bool:
        """Whether something failed in a turn, or something new in what it saw was taken up."""
        return any(
            piece.kind is Kind.ERROR or (piece.kind is Kind.RESULT and self._rank_alone(piece) > Rank.IDLE)
            for piece in texts(block.pieces)
        ) or (block.brief is not None and any(one.failed for one in block.brief.returned))

    def _rank_alone(self, piece: Quoted) -> Rank:
        block = self._block_of[id(piece)]
        turn = _seen_at(block)
        asked = turn in self._interest.turns or piece.call in self._interest.calls
        match piece.kind:
            case Kind.DESCRIPTION:
                return Rank.TAKEN_UP if block.called else Rank.IDLE
            case Kind.PARAMETERS:
                return Rank.TAKEN_UP if block.called else Rank.SPARE
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
        for piece in texts(block.pieces):
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
