"""Texts of a run that speak to whoever judges it, and what kind of text they are: told with every answer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What a text of the run is, as far as that matters for how long it may stay."""

    SYSTEM = "system"
    TASK = "task"
    ANSWER = "answer"
    ERROR = "error"
    TEXT = "text"
    ARGUMENTS = "arguments"
    RESULT = "result"
    EARLIER = "earlier"
    DESCRIPTION = "description"
    PARAMETERS = "parameters"


@dataclass(frozen=True, slots=True, kw_only=True)
class Steering:
    """A text of the run that speaks to a judge: what it is, how the record calls it, and where it was seen."""

    kind: Kind
    label: str
    ref: str | None
