"""Whether the expected tools were called, each as often as expected: 1 or 0, by names alone.

Source: pydantic-evals 2.62.0, `ToolCorrectness` (named apart from DeepEval's metric of that name).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pydantic import Field

from evaluators.reference.calls import Call
from evaluators.reference.metric import Measured, ReferenceMetric, ReferenceSettings


class ExpectedToolsSettings(ReferenceSettings):
    """What counts besides the expected tools."""

    allow_extra: bool = Field(default=False, description="Other calls than the expected ones may be made as well.")
    include_failed: bool = Field(default=False, description="Calls that failed count as well.")


class ExpectedTools(ReferenceMetric):
    """1 if the multiset of names is the expected one, or with `allow_extra` holds it."""

    name = "expected_tools"

    def __init__(self, settings: ExpectedToolsSettings | None = None) -> None:
        super().__init__(settings or ExpectedToolsSettings())
        self._counting = settings or ExpectedToolsSettings()

    @property
    def compares_arguments(self) -> bool:
        """Names alone are compared."""
        return False

    def measure(self, made: Sequence[Call], expected: Sequence[Call]) -> Measured:
        """The published score."""
        called = Counter(call.name for call in made if self._counting.include_failed or not call.failed)
        wanted = Counter(call.name for call in expected)
        missed, others = (wanted - called).total(), (called - wanted).total()
        alike = not missed and (self._counting.allow_extra or not others)
        return Measured(
            score=float(alike),
            reason=f"{missed} of {len(expected)} expected calls are missing, {others} others were made.",
            details={"missed": missed, "others": others},
        )
