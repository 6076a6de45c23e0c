"""Tool call accuracy as Ragas publishes it: the right tools in the right order, then the share of right arguments.

Source: Ragas 0.4.3, `ToolCallAccuracy`.  Kept as published, known faults included: any extra or missing call is 0;
without order both sides are sorted and paired in that order, which isn't the best pairing; values are compared as text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import Field

from evaluators.cases import JsonValue
from evaluators.reference.calls import Call
from evaluators.reference.metric import Measured, ReferenceMetric, ReferenceSettings, counted


class ToolCallAccuracySettings(ReferenceSettings):
    """Whether order counts."""

    strict_order: bool = Field(default=True, description="Tools have to be called in the order of the reference.")


class ToolCallAccuracy(ReferenceMetric):
    """Both empty 1; one empty, or other names, 0; else the mean share of expected arguments that are right."""

    name = "tool_call_accuracy"

    def __init__(self, settings: ToolCallAccuracySettings | None = None) -> None:
        super().__init__(settings or ToolCallAccuracySettings())
        self._strict = (settings or ToolCallAccuracySettings()).strict_order

    def measure(self, made: Sequence[Call], expected: Sequence[Call]) -> Measured:
        """The published score."""
        if not made or not expected:
            alike = not made and not expected
            return Measured(score=float(alike), reason=f"{counted(len(made), len(expected))}.")
        if not self._strict:
            made, expected = sorted(made, key=_place), sorted(expected, key=_place)
        if [call.name for call in made] != [call.name for call in expected]:
            order = "in this order" if self._strict else "in this number"
            return Measured(score=0.0, reason=f"Not the expected tools {order} ({counted(len(made), len(expected))}).")
        shares = [_share(one.arguments or {}, other.arguments or {}) for one, other in zip(made, expected, strict=True)]
        right = sum(share == 1.0 for share in shares)
        return Measured(
            score=sum(shares) / len(expected),
            reason=f"The expected tools; {right} of {len(expected)} calls with all expected arguments.",
        )


def _place(call: Call) -> tuple[str, list[tuple[str, str]]]:
    return call.name, sorted((key, str(value)) for key, value in (call.arguments or {}).items())


def _share(made: Mapping[str, JsonValue], expected: Mapping[str, JsonValue]) -> float:
    if not expected:
        return float(not made)
    return sum(key in made and str(made[key]) == str(value) for key, value in expected.items()) / len(expected)
