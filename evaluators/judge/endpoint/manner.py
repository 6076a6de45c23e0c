"""How an endpoint wants to be asked: what is known of it so far, as a value that only grows.

Five modes lead from the most certain answer to the least; the strongest that hasn't been refused is used.  Parameters
that were refused are left out.  What a refusal teaches is said in `evaluators.judge.endpoint.lessons`, who remembers
it in `evaluators.judge.endpoint.memory`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Mode(StrEnum):
    """How the form of the answer is asked for, the strongest first."""

    STRICT_SCHEMA = "strict_json_schema"
    SCHEMA = "json_schema"
    TOOL_CALL = "tool_call"
    JSON_OBJECT = "json_object"
    TEXT = "text"


class Parameter(StrEnum):
    """What a request can do without."""

    TEMPERATURE = "temperature"
    SEED = "seed"
    REASONING_EFFORT = "reasoning_effort"
    OUTPUT_LIMIT = "max_tokens"
    STREAM_OPTIONS = "stream_options"
    BOUNDS = "bounds in schemas"


class Role(StrEnum):
    """Under which role the instructions are sent; as the user's they stand before the question."""

    SYSTEM = "system"
    DEVELOPER = "developer"
    USER = "user"


SCHEMA_MODES = frozenset((Mode.STRICT_SCHEMA, Mode.SCHEMA))
WORDED_MODES = frozenset((Mode.JSON_OBJECT, Mode.TEXT))
"""Those in which nothing but words in the prompt tells the model the form of the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How to ask.

    `unusable`             modes that were refused or are ignored; never all of them.
    `left_out`             parameters that were refused.
    `role`                 that of the instructions.
    `completion_limit`     the output limit is called max_completion_tokens.
    `streams`              answers come only as streams.
    `plain_schemas`        schemas must do without references and further keywords.
    `bounded_schemas`      schemas say how long lists and texts may be, as answers ran into their limit.
    """

    unusable: frozenset[Mode] = frozenset()
    left_out: frozenset[Parameter] = frozenset()
    role: Role = Role.SYSTEM
    completion_limit: bool = False
    streams: bool = False
    plain_schemas: bool = False
    bounded_schemas: bool = False

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The modes that are left, the strongest first."""
        return tuple(mode for mode in Mode if mode not in self.unusable) or (Mode.TEXT,)

    def mode(self, below: Mode | None = None) -> Mode:
        """The strongest mode that is left; below a mode, of those that are weaker and ask by other means."""
        if below is None:
            return self.modes[0]
        ranks = list(Mode)
        least = ranks.index(Mode.SCHEMA if below in SCHEMA_MODES else below)
        return next((mode for mode in self.modes if ranks.index(mode) > least), Mode.TEXT)

    def described(self) -> str:
        """All that differs from a first attempt, in words for a log."""
        parts = [f"answers by {self.mode()}"]
        if self.plain_schemas:
            parts.append("plain schemas")
        if self.bounded_schemas:
            parts.append("bounded schemas")
        if self.role is not Role.SYSTEM:
            parts.append(f"instructions as {self.role}")
        if self.completion_limit:
            parts.append("max_completion_tokens")
        if self.streams:
            parts.append("streams")
        if self.left_out:
            parts.append(f"without {', '.join(sorted(self.left_out))}")
        return ", ".join(parts)
