"""Whether the expected steps were taken, 1 or 0, with precision, recall and F1 beside it.

Source: azure-ai-evaluation 1.18.10, `TaskNavigationEfficiency`.  Kept as published, known fault included: there is one
set of expected parameters for each tool name (that of its last expected call), so two different calls of one tool can't
be expected.  Values are compared as text, objects and lists as JSON with sorted keys; blanks around names don't count.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from pydantic import Field

from evaluators.cases import JsonValue
from evaluators.reference.calls import Call
from evaluators.reference.metric import Measured, ReferenceMetric, ReferenceSettings, Unmeasured, harmonic
from evaluators.verdict import Status

Step: TypeAlias = tuple[str, tuple[tuple[str, str], ...]]


class NavigationEfficiencySettings(ReferenceSettings):
    """How steps are matched."""

    matching_mode: Literal["exact_match", "in_order_match", "any_order_match"] = Field(
        default="exact_match",
        description="The same steps and no others; the expected ones in their order, with others between; or the "
        "expected ones in any order, with others.",
    )
    parameter_matching: bool = Field(default=False, description="Compare arguments as well as names.")


class NavigationEfficiency(ReferenceMetric):
    """1 or 0 by `matching_mode`; not defined where nothing is expected."""

    name = "navigation_efficiency"

    def __init__(self, settings: NavigationEfficiencySettings | None = None) -> None:
        super().__init__(settings or NavigationEfficiencySettings())
        self._matching = settings or NavigationEfficiencySettings()

    @property
    def compares_arguments(self) -> bool:
        """Unless names alone are compared."""
        return self._matching.parameter_matching

    def measure(self, made: Sequence[Call], expected: Sequence[Call]) -> Measured | Unmeasured:
        """The published score."""
        if not expected:
            return Unmeasured(
                reason="The metric is not defined where no step is expected.", status=Status.NOT_APPLICABLE
            )
        parameters = {call.name.strip(): call.arguments for call in expected}
        steps = [self._step(call.name, call.arguments) for call in made]
        wanted = [self._step(call.name, parameters[call.name.strip()]) for call in expected]
        match self._matching.matching_mode:
            case "exact_match":
                alike = steps == wanted
            case "in_order_match":
                rest = iter(steps)
                alike = all(step in rest for step in wanted)
            case _:
                alike = Counter(wanted) <= Counter(steps)
        common = (Counter(steps) & Counter(wanted)).total()
        precision, recall = common / len(steps) if steps else 0.0, common / len(wanted)
        return Measured(
            score=float(alike),
            reason=f"{common} of {len(wanted)} expected steps were taken, and {len(steps) - common} others.",
            details={
                "precision": round(precision, 4),
                "recall": round(recall, 4),
                "f1": round(harmonic(precision, recall), 4),
            },
        )

    def _step(self, name: str, arguments: Mapping[str, JsonValue] | None) -> Step:
        if not self._matching.parameter_matching:
            return name.strip(), ()
        return name.strip(), tuple(sorted((key, _as_text(value)) for key, value in (arguments or {}).items()))


def _as_text(value: JsonValue) -> str:
    return json.dumps(value, sort_keys=True) if isinstance(value, dict | list) else str(value)
