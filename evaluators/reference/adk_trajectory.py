"""The trajectory score of Google's ADK: 1 if the calls are those of the reference, else 0.

Source: google-adk 2.13.0, `tool_trajectory_avg_score`, of one invocation.  Kept as published, known fault included:
where nothing was expected, IN_ORDER and ANY_ORDER give 1 whatever was called.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from evaluators.reference.calls import Call
from evaluators.reference.metric import Measured, ReferenceMetric, ReferenceSettings, counted


class AdkTrajectorySettings(ReferenceSettings):
    """How calls are matched."""

    match_type: Literal["EXACT", "IN_ORDER", "ANY_ORDER"] = Field(
        default="EXACT",
        description="The same calls and no others; the expected ones in their order, with others between; or the "
        "expected ones in any order, with others.",
    )
    ignore_args: bool = Field(default=False, description="Compare names alone.")


class AdkTrajectory(ReferenceMetric):
    """1 or 0 by `match_type`."""

    name = "adk_trajectory"

    def __init__(self, settings: AdkTrajectorySettings | None = None) -> None:
        super().__init__(settings or AdkTrajectorySettings())
        self._matching = settings or AdkTrajectorySettings()

    @property
    def compares_arguments(self) -> bool:
        """Unless names alone are compared."""
        return not self._matching.ignore_args

    def measure(self, made: Sequence[Call], expected: Sequence[Call]) -> Measured:
        """The published score."""
        match self._matching.match_type:
            case "EXACT":
                pairs = zip(made, expected, strict=False)
                alike = len(made) == len(expected) and all(self._is_same(one, other) for one, other in pairs)
            case "IN_ORDER":
                rest = iter(made)
                alike = all(any(self._is_same(one, wanted) for one in rest) for wanted in expected)
            case _:
                alike = self._all_found(made, expected)
        found = "The trajectory is" if alike else "The trajectory isn't"
        return Measured(
            score=float(alike),
            reason=f"{found} the expected one by {self._matching.match_type} ({counted(len(made), len(expected))}).",
        )

    def _all_found(self, made: Sequence[Call], expected: Sequence[Call]) -> bool:
        left = list(made)
        for wanted in expected:
            at = next((at for at, one in enumerate(left) if self._is_same(one, wanted)), None)
            if at is None:
                return False
            del left[at]
        return True

    def _is_same(self, made: Call, expected: Call) -> bool:
        if made.name != expected.name:
            return False
        return self._matching.ignore_args or (made.arguments or {}) == (expected.arguments or {})
