"""What a form of saved traces is: how it is recognised, and what reading it gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from collector.records import Signal

Fields: TypeAlias = dict[str, object]
"""An object as JSON has it."""

MOST_FLAWS = 20
_KEY_CHARS = 40
_PLACE_CHARS = 200


class WrongPieceError(Exception):
    """A piece of a document can't be converted; it costs itself alone. The message tells nothing of its content."""


class Request(NamedTuple):
    """A serialised Export*ServiceRequest."""

    signal: Signal
    request: bytes


@dataclass(slots=True)
class Findings:
    """What is to be told about a document beside what was read from it.

    `flaws`  pieces that couldn't be read, as (place, message); after the first ones only their number counts.
    `notes`  what couldn't be converted exactly, each once.
    """

    flaws: list[tuple[str, str]] = field(default_factory=list)
    more_flaws: int = 0
    notes: dict[str, None] = field(default_factory=dict)

    def flaw(self, place: str, message: str) -> None:
        """Tell of a piece that was left out."""
        if len(self.flaws) < MOST_FLAWS:
            self.flaws.append((place, message))
        else:
            self.more_flaws += 1

    def note(self, message: str) -> None:
        """Tell of something that isn't quite as it was."""
        self.notes[message] = None


def named(key: str) -> str:
    """A key as it is told to people: its beginning, and nothing that acts on a terminal."""
    return "".join(char if char.isprintable() else "\ufffd" for char in key[:_KEY_CHARS])


def inside(place: str, step: str) -> str:
    """The place of something inside what is at a place. Of a long way there some steps are left out."""
    return f"{place[: _PLACE_CHARS // 2]}…{step}" if len(place) > _PLACE_CHARS else f"{place}{step}"


def used_up(items: list[object]) -> Iterator[tuple[int, object]]:
    """The items with their places; each leaves the list when it has its turn."""
    for place in range(len(items)):
        item, items[place] = items[place], None
        yield place, item


@dataclass(frozen=True, slots=True)
class Form:
    """One form of saved traces.

    Args:
        name: for people, as in "Jaeger".
        recognises: whether an object is of this form, by its structure.
        read: gives the requests in an object of this form; takes the object, its place and where to tell of the rest.
    """

    name: str
    recognises: Callable[[Fields], bool]
    read: Callable[[Fields, str, Findings], Iterator[Request]]
