"""What goes to an endpoint and what comes back from it, apart from how it travels."""

from __future__ import annotations

from dataclasses import dataclass

import orjson

from evaluators.judge.endpoint.manner import Mode
from evaluators.judge.strict_schema import Schema
from evaluators.judge.tokens import estimate_tokens
from evaluators.verdict import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is to be sent: two messages, the schema of the answer, and how many questions that is.

    `below`: a mode in which the answer wasn't of the form asked for, so a weaker one is to be tried.
    """

    system: str
    user: str
    schema: Schema
    questions: int
    below: Mode | None = None

    @property
    def chars(self) -> int:
        """Length of what the model is given to read."""
        return len(self.system) + len(self.user) + len(orjson.dumps(self.schema).decode())

    @property
    def tokens(self) -> int:
        """How many tokens that will be to a model, as far as it can be told without its tokenizer."""
        return estimate_tokens(self.system + self.user + orjson.dumps(self.schema).decode())


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What the model said. `finish_reason` is the endpoint's own word; `refused`: it declined to answer.

    `text` is the JSON object alone if there is one.  `formless`: the mode in which it was asked for, if it isn't of the
    form asked for; the endpoint may know nothing of this mode.
    """

    text: str | None
    finish_reason: str | None
    refused: bool
    formless: Mode | None = None


@dataclass(slots=True, kw_only=True)
class Tally:
    """What requests have cost so far, and the trace in which the last of them was recorded."""

    usages: list[Usage]
    trace_id: str | None = None
