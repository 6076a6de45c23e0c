"""What the record of a run is made of: our own words, and texts of the run that are fenced and may have to be cut.

A record is a list of blocks: what was told beforehand, each tool, each turn, the end.  A block of a turn can be told
in one line instead (`evaluators.judge.showing.briefs`).  Nothing here decides what is cut; that is
`evaluators.judge.showing.fitting`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from evaluators.judge.steering import Kind
from evaluators.judge.tokens import weigh

WORTH_A_POINTER = 200
"""So long a text that comes again is only pointed at."""


@dataclass(frozen=True, slots=True)
class Quoted:
    """A text of the run.

    `label` says how it is pointed at where it comes again, `call` is the alias of the call that it belongs to,
    `weight` what it will be to a model, see `evaluators.judge.tokens`.
    """

    text: str
    kind: Kind = Kind.TEXT
    label: str = ""
    call: str | None = None
    weight: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "weight", weigh(self.text))


Piece: TypeAlias = "str | Quoted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """What came back from a call, without its text."""

    call: str
    chars: int
    failed: bool


@dataclass(slots=True, kw_only=True)
class Brief:
    """What a turn comes to in a line: its name, its place, what it saw, said and called (alias and tool)."""

    name: str
    place: str = ""
    said_chars: int = 0
    calls: list[tuple[str, str]] = field(default_factory=list)
    returned: list[Returned] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class Block:
    """A stretch of the record.

    `turn` is the index of the turn it tells of.  `tool` is the name of the tool whose definition it holds, `called`
    whether the run calls it.  `brief` is None where it can't be told in a line.
    """

    pieces: list[Piece] = field(default_factory=list)
    turn: int | None = None
    tool: str | None = None
    called: bool = False
    brief: Brief | None = None


def texts(pieces: Iterable[Piece]) -> Iterator[Quoted]:
    """The texts of the run among these pieces."""
    return (piece for piece in pieces if isinstance(piece, Quoted))
