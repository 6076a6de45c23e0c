"""F1 of tool calls as Ragas publishes it: calls with equal names and arguments, as sets.

Source: Ragas 0.4.3, `ToolCallF1`.  Kept as published, known faults included: a call made ten times counts once, one
wrong argument is both a false and a missed call, and nothing called where nothing was expected is 0.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from evaluators.reference.calls import Call
from evaluators.reference.metric import Measured, ReferenceMetric, ReferenceSettings


class ToolCallF1Settings(ReferenceSettings):
    """A threshold, if any."""


class ToolCallF1(ReferenceMetric):
    """2·TP / (2·TP + FP + FN) over distinct calls, rounded to four places; 0 when there are none on either side."""

    name = "tool_call_f1"

    def __init__(self, settings: ToolCallF1Settings | None = None) -> None:
        super().__init__(settings or ToolCallF1Settings())

    def measure(self, made: Sequence[Call], expected: Sequence[Call]) -> Measured:
        """The published score."""
        ours = {(call.name, _frozen(call.arguments or {})) for call in made}
        theirs = {(call.name, _frozen(call.arguments or {})) for call in expected}
        both = len(ours & theirs)
        all_of_both = len(ours) + len(theirs)
        return Measured(
            score=round(2 * both / all_of_both, 4) if all_of_both else 0.0,
            reason=f"{both} of {len(theirs)} distinct expected calls were made, and {len(ours) - both} others.",
            details={"matched": both, "missed": len(theirs) - both, "others": len(ours) - both},
        )


def _frozen(value: object) -> Hashable:
    if isinstance(value, Mapping):
        return frozenset((key, _frozen(inner)) for key, inner in value.items())
    if isinstance(value, list):
        return tuple(_frozen(inner) for inner in value)
    assert isinstance(value, Hashable)
    return value
