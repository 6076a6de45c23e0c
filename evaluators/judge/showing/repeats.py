"""Stretches of lines that stand in several texts of a run, as pages read again and again have them, told once.

In: the pieces of a record.  Out: the same pieces, where a later text points at the earlier one that has the same lines.
Only where nothing is cut: what is pointed at has to be there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from evaluators.judge.showing.pieces import Piece, Quoted

_WORTH_POINTING = 400
_TELLING_LINE = 20
"""So long a line doesn't stand in two texts by chance."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a line stands first: the lines of that text, its number among them, and how the text is pointed at."""

    lines: list[str]
    number: int
    label: str


def without_repeats(pieces: Iterable[Piece]) -> list[Piece]:
    """The pieces with long repeated stretches of lines replaced by words of ours that say where they stand."""
    known: dict[str, _Place] = {}
    told: list[Piece] = []
    for piece in pieces:
        if isinstance(piece, str) or len(piece.text) < _WORTH_POINTING or "\n" not in piece.text:
            told.append(piece)
            continue
        lines = piece.text.split("\n")
        told += _told(piece, lines, known)
        for number, line in enumerate(lines):
            if len(line) >= _TELLING_LINE:
                known.setdefault(line, _Place(lines, number, piece.label))
    return told


def _told(piece: Quoted, lines: list[str], known: dict[str, _Place]) -> Iterator[Piece]:
    if not (repeats := list(_repeats(lines, known))):
        yield piece
        return
    at = 0
    for start, end, label in repeats:
        if start > at:
            yield _part(piece, lines[at:start])
        yield f" (here {end - start} lines that also stand in {label}) "
        at = end
    if at < len(lines):
        yield _part(piece, lines[at:])


def _repeats(lines: list[str], known: dict[str, _Place]) -> Iterator[tuple[int, int, str]]:
    """The stretches of lines worth pointing at: the first line, the line after the last, where they stand."""
    at = 0
    while at < len(lines):
        place = known.get(lines[at])
        length = 0 if place is None else _same(lines, at, place)
        if place is not None and sum(map(len, lines[at : at + length])) >= _WORTH_POINTING:
            yield at, at + length, place.label
        # A stretch too short to point at is passed as a whole, so that no line is compared again and again.
        at += max(1, length)


def _same(lines: list[str], at: int, place: _Place) -> int:
    """How many lines from `at` on are those from the place on."""
    length = 0
    while (
        at + length < len(lines)
        and place.number + length < len(place.lines)
        and lines[at + length] == place.lines[place.number + length]
    ):
        length += 1
    return length


def _part(piece: Quoted, lines: list[str]) -> Quoted:
    return Quoted("\n".join(lines), piece.kind, piece.label, piece.call)
