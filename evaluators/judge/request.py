"""What goes to an endpoint and what comes back from it, apart from how it travels."""

from __future__ import annotations

from dataclasses import dataclass

import orjson

from evaluators.judge.strict import Schema
from evaluators.verdict import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is to be sent: two messages, the schema of the answer, and how many questions that is."""

    system: str
    user: str
    schema: Schema
    questions: int

    @property
    def chars(self) -> int:
        """Length of what the model is given to read."""
        return len(self.system) + len(self.user) + len(orjson.dumps(self.schema).decode())


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What the model said. `finish_reason` is the endpoint's own word; `refused`: it declined to answer."""

    text: str | None
    finish_reason: str | None
    refused: bool


@dataclass(slots=True, kw_only=True)
class Tally:
    """What requests have cost so far, and the trace in which the last of them was recorded."""

    usages: list[Usage]
    trace_id: str | None = None
