"""Whether one call of a tool got the expected arguments: 1 or 0.

Source: pydantic-evals 2.62.0, `ArgumentCorrectness`.  The expected arguments are those of the first expected call of
the tool.  Kept as published: values have to be equal in full, a subset is one of top-level arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from evaluators.reference.calls import Call
from evaluators.reference.metric import Measured, ReferenceMetric, ReferenceSettings, Unmeasured


class ArgumentMatchSettings(ReferenceSettings):
    """Which call is looked at, and how its arguments are compared."""

    tool_name: str | None = Field(
        default=None, description="The tool whose call is looked at; without one, that of the first expected call."
    )
    match_mode: Literal["exact", "subset"] = Field(
        default="subset", description="Arguments are the expected ones, or hold them and perhaps more."
    )
    occurrence: Literal["first", "last"] | Annotated[int, Field(ge=0)] = Field(
        default="first", description="Which call of the tool: the first, the last, or a number from 0."
    )
    include_failed: bool = Field(default=False, description="Calls that failed count as well.")


class ArgumentMatch(ReferenceMetric):
    """1 if the call is there and has the expected arguments."""

    name = "argument_match"

    def __init__(self, settings: ArgumentMatchSettings | None = None) -> None:
        super().__init__(settings or ArgumentMatchSettings())
        self._matching = settings or ArgumentMatchSettings()

    def measure(self, made: Sequence[Call], expected: Sequence[Call]) -> Measured | Unmeasured:
        """The published score."""
        tool = self._matching.tool_name or (expected[0].name if expected else None)
        wanted = next((call.arguments for call in expected if call.name == tool), None)
        if wanted is None:
            return Unmeasured(reason="The reference expects no call of this tool with known arguments.")
        calls = [call for call in made if call.name == tool and (self._matching.include_failed or not call.failed)]
        call = self._chosen(calls)
        if call is None:
            return Measured(score=0.0, reason=f"The tool was called {len(calls)} times, so that call wasn't made.")
        if call.arguments is None:
            return Unmeasured(reason="The arguments of the call were not captured.")
        given = call.arguments
        if self._matching.match_mode == "exact":
            alike = given == wanted
        else:
            alike = all(key in given and given[key] == value for key, value in wanted.items())
        return Measured(score=float(alike), reason=f"The arguments are{'' if alike else ' not'} the expected ones.")

    def _chosen(self, calls: Sequence[Call]) -> Call | None:
        match self._matching.occurrence:
            case "first":
                at = 0
            case "last":
                at = len(calls) - 1
            case at:
                pass
        return calls[at] if 0 <= at < len(calls) else None
