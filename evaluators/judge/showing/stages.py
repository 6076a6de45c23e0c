"""Ever shorter ways to tell a record: first texts are cut, then dull turns are told in a line, then most turns are.

In: the blocks of a record, and what of it matters.  Out: the ways in the order in which they are tried.  Whether one of
them fits is not decided here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from evaluators.judge.showing.briefs import told_in_a_line, told_together
from evaluators.judge.showing.mattering import Rank, Sight
from evaluators.judge.showing.pieces import Block, Brief, Piece

_LAST_TURNS = 3


@dataclass(frozen=True, slots=True)
class Stage:
    """A way to tell the record shorter: up to `most` of something are, and texts of rank `deepest` or less are cut."""

    deepest: Rank
    most: int
    told: Callable[[int], Iterable[Sequence[Piece]]]


def stages(blocks: Sequence[Block], sight: Sight) -> Iterator[Stage]:
    """The ways to tell this record, the fullest first."""
    turns = [block for block in blocks if block.brief is not None]
    plain = [block for block in turns[1 : -_LAST_TURNS or None] if not sight.is_needed(block)]
    dull = [block for block in plain if not sight.is_eventful(block)]
    eventful = [block for block in plain if sight.is_eventful(block)]
    yield Stage(Rank.ASIDE, 0, lambda count: _told(blocks, (), ()))
    yield Stage(Rank.ASIDE, len(dull), lambda count: _told(blocks, dull[:count], ()))
    yield Stage(Rank.TAKEN_UP, len(dull), lambda count: _told(blocks, dull, dull[:count]))
    yield Stage(Rank.ASKED, len(eventful), lambda count: _told(blocks, [*dull, *eventful[:count]], dull))
    yield Stage(Rank.TOLD, len(eventful), lambda count: _told(blocks, plain, [*dull, *eventful[:count]]))
    yield Stage(Rank.ESSENTIAL, 0, lambda count: _told(blocks, plain, plain))


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
