"""The trajectory match of LangChain's agentevals: 1 if the trajectories match in the chosen sense, else 0.

Source: agentevals 0.0.9, `create_trajectory_match_evaluator`.  Only calls are compared here, since a reference has no
messages.  Kept as published, known faults included: calls are paired greedily, so that with other than exact arguments
the order of a list can decide; in `subset` the sides are swapped for arguments as well, so `superset` means subset
there, and `unordered` has to hold both ways round.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from pydantic import Field

from evaluators.cases import JsonValue
from evaluators.reference.calls import Call
from evaluators.reference.metric import Measured, ReferenceMetric, ReferenceSettings, counted


class TrajectoryMatchSettings(ReferenceSettings):
    """How trajectories and arguments are matched."""

    trajectory_match_mode: Literal["strict", "unordered", "subset", "superset"] = Field(
        default="strict",
        description="What was called is the same in order, the same in any order, part of what was expected, or all "
        "of it and perhaps more.",
    )
    tool_args_match_mode: Literal["exact", "ignore", "subset", "superset"] = Field(
        default="exact",
        description="Arguments are the same, don't count, are part of those expected, or all of them and perhaps more.",
    )
    calls_layout: Literal["one_message", "one_per_message"] = Field(
        default="one_per_message",
        description="Whether strict takes all calls as those of one message, in which order doesn't count, or each as "
        "a message of its own.",
    )


class TrajectoryMatch(ReferenceMetric):
    """1 or 0 by `trajectory_match_mode`."""

    name = "trajectory_match"

    def __init__(self, settings: TrajectoryMatchSettings | None = None) -> None:
        super().__init__(settings or TrajectoryMatchSettings())
        self._matching = settings or TrajectoryMatchSettings()

    @property
    def compares_arguments(self) -> bool:
        """Unless names alone are compared."""
        return self._matching.tool_args_match_mode != "ignore"

    def measure(self, made: Sequence[Call], expected: Sequence[Call]) -> Measured:
        """The published score."""
        match self._matching.trajectory_match_mode:
            case "strict":
                alike = len(made) == len(expected) and self._is_strictly_alike(made, expected)
            case "superset":
                alike = self._covers(made, expected)
            case "subset":
                alike = self._covers(expected, made)
            case _:
                alike = self._covers(made, expected) and self._covers(expected, made)
        mode = self._matching.trajectory_match_mode
        found = "The trajectory matches" if alike else "The trajectory doesn't match"
        return Measured(score=float(alike), reason=f"{found} by {mode} ({counted(len(made), len(expected))}).")

    def _is_strictly_alike(self, made: Sequence[Call], expected: Sequence[Call]) -> bool:
        if self._matching.calls_layout == "one_message":
            return _all_paired(made, expected, self._is_same)
        return all(self._is_same(one, other) for one, other in zip(made, expected, strict=True))

    def _covers(self, whole: Sequence[Call], part: Sequence[Call]) -> bool:
        return _all_paired(part, whole, lambda one, other: self._is_same(other, one))

    def _is_same(self, made: Call, expected: Call) -> bool:
        return made.name == expected.name and self._arguments_match(made.arguments or {}, expected.arguments or {})

    def _arguments_match(self, made: Mapping[str, JsonValue], expected: Mapping[str, JsonValue]) -> bool:
        match self._matching.tool_args_match_mode:
            case "exact":
                return made == expected
            case "ignore":
                return True
            case "subset":
                return _is_within(made, expected)
            case "superset":
                return _is_within(expected, made)


def _all_paired(these: Sequence[Call], others: Sequence[Call], same: Callable[[Call, Call], bool]) -> bool:
    """Whether each of these finds one of the others that none before it took."""
    taken: set[int] = set()
    for one in these:
        at = next((at for at, other in enumerate(others) if at not in taken and same(one, other)), None)
        if at is None:
            return False
        taken.add(at)
    return True


def _is_within(part: Mapping[str, JsonValue], whole: Mapping[str, JsonValue]) -> bool:
    return all(key in whole and whole[key] == value for key, value in part.items())
