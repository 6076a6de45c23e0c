"""How close the sequence of tool names is to the expected one.

Source: pydantic-evals 2.62.0, `TrajectoryMatch` (named apart from agentevals' metric of that name).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from evaluators.reference.calls import Call
from evaluators.reference.metric import Measured, ReferenceMetric, ReferenceSettings, harmonic


class NameTrajectorySettings(ReferenceSettings):
    """How order counts."""

    order: Literal["exact", "in_order", "any_order"] = Field(
        default="in_order",
        description="The same sequence (1 or 0), F1 of the longest common subsequence, or F1 of what is common in any "
        "order.",
    )
    include_failed: bool = Field(default=False, description="Calls that failed count as well.")


class NameTrajectory(ReferenceMetric):
    """By `order`; both empty 1, one empty 0."""

    name = "name_trajectory"

    def __init__(self, settings: NameTrajectorySettings | None = None) -> None:
        super().__init__(settings or NameTrajectorySettings())
        self._counting = settings or NameTrajectorySettings()

    @property
    def compares_arguments(self) -> bool:
        """Names alone are compared."""
        return False

    def measure(self, made: Sequence[Call], expected: Sequence[Call]) -> Measured:
        """The published score."""
        called = [call.name for call in made if self._counting.include_failed or not call.failed]
        wanted = [call.name for call in expected]
        if self._counting.order == "exact" or not called or not wanted:
            alike = called == wanted
            return Measured(
                score=float(alike), reason=f"The sequence of tools is{'' if alike else ' not'} as expected."
            )
        if self._counting.order == "in_order":
            common = longest_common(called, wanted)
        else:
            common = (Counter(called) & Counter(wanted)).total()
        precision, recall = common / len(called), common / len(wanted)
        return Measured(
            score=harmonic(precision, recall),
            reason=f"{common} of {len(called)} calls are among the {len(wanted)} expected ones.",
            details={"precision": round(precision, 4), "recall": round(recall, 4)},
        )


def longest_common(first: Sequence[str], second: Sequence[str]) -> int:
    """The length of the longest common subsequence, in time proportional to the product of both lengths."""
    before = [0] * (len(second) + 1)
    for one in first:
        row = [0]
        for at, other in enumerate(second, 1):
            row.append(before[at - 1] + 1 if one == other else max(before[at], row[-1]))
        before = row
    return before[-1]
