"""What can happen to a trace, as it is kept for the record. `at_s` are seconds of a monotonic clock."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias


class Arrived(NamedTuple):
    """Spans came in one request: new ones, of these late ones, and byte-equal repeats."""

    at_s: float
    receiver: str
    spans: int
    late: int
    repeated: int


class Submitted(NamedTuple):
    """The trace was handed in to be judged: whole runs or steps alone, by rules alone or not."""

    at_s: float
    complete: bool
    partial: bool
    rules_only: bool


class Answered(NamedTuple):
    """A result came: what was told, sealed (see `collector.accounts.told`), and of which spans it came too late.

    `failure` says why there is none; `final` is False for what rules said while a judge is being asked.
    """

    at_s: float
    told: bytes
    too_late: frozenset[bytes]
    failure: str | None
    final: bool


class Left(NamedTuple):
    """Spans were sent on, so many of them with scores; `early` if their run wasn't judged yet."""

    at_s: float
    spans: int
    scored: int
    early: bool


class Forgotten(NamedTuple):
    """The content was dropped; what is known from now on is that the trace was here."""

    at_s: float


class Refused(NamedTuple):
    """A destination couldn't take a request with spans of it: `end` is `rejected` or `dead_lettered`."""

    at_s: float
    destination: str
    end: str


Event: TypeAlias = Arrived | Submitted | Answered | Left | Forgotten | Refused
