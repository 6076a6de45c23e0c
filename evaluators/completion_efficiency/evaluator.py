"""The completion and efficiency evaluator: two verdicts in, one of four labels out."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import ClassVar

from evaluators.cases import CaseKind, RunCase
from evaluators.completion_efficiency.settings import CompletionEfficiencySettings
from evaluators.computed import ComputedEvaluator
from evaluators.evaluator import Screening
from evaluators.status import Status, foremost
from evaluators.verdict import Level

_TASK, _STEPS = "task_completion", "step_efficiency"


class Quadrant(StrEnum):
    """What came of a run, and at what cost."""

    DONE_AND_LEAN = "done_and_lean"
    DONE_BUT_WASTEFUL = "done_but_wasteful"
    NOT_DONE_BUT_LEAN = "not_done_but_lean"
    NEITHER = "neither"


_SAID = {
    Quadrant.DONE_AND_LEAN: "The task was done, without waste.",
    Quadrant.DONE_BUT_WASTEFUL: "The task was done, but steps were wasted on the way.",
    Quadrant.NOT_DONE_BUT_LEAN: "No steps were wasted, but the task wasn't done.",
    Quadrant.NEITHER: "The task wasn't done, and steps were wasted.",
}


class CompletionEfficiency(ComputedEvaluator[RunCase]):
    """`task_completion` and `step_efficiency` of one run as one label."""

    name = "completion_efficiency"
    judges = CaseKind.RUN
    level = Level.TRACE
    good_label = Quadrant.DONE_AND_LEAN.value
    bad_label = Quadrant.NEITHER.value
    code_version = "1"
    needs: ClassVar[Mapping[str, str]] = {
        _TASK: "nobody knows whether the task was done",
        _STEPS: "nobody knows whether steps were wasted",
    }

    def __init__(self, settings: CompletionEfficiencySettings | None = None) -> None:
        super().__init__(settings or CompletionEfficiencySettings())

    def screen(self, case: RunCase) -> Screening:
        """The label, or the status of the verdict that there isn't."""
        said = {source.evaluator: source for source in case.sources if source.evaluator in self.needs}
        for name in self.needs:
            if name not in said:
                return Screening(status=Status.MISSING_INPUT, reason=f"There is no verdict of {name} on this run.")
        open_ones = [source for source in said.values() if source.passed is None]
        if open_ones:
            statuses = [source.status for source in open_ones if source.status is not Status.OK]
            names = " and ".join(source.evaluator for source in open_ones)
            return Screening(
                status=foremost(statuses) if statuses else Status.NOT_APPLICABLE,
                reason=f"{names} said neither pass nor fail of this run.",
            )
        done, lean = said[_TASK].passed, said[_STEPS].passed
        if done:
            quadrant = Quadrant.DONE_AND_LEAN if lean else Quadrant.DONE_BUT_WASTEFUL
        else:
            quadrant = Quadrant.NOT_DONE_BUT_LEAN if lean else Quadrant.NEITHER
        sure = [source.confidence for source in said.values() if source.confidence is not None]
        return Screening(
            status=Status.OK,
            label=quadrant.value,
            confidence=min(sure, default=0.5),
            evidence=tuple(dict.fromkeys(source.ref for source in said.values() if source.ref is not None)),
            reason=_SAID[quadrant],
        )
