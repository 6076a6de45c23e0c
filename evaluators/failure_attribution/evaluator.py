"""The failure attribution evaluator: reads the verdicts on a run, looks the fault up, says what to work on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from evaluators.cases import CaseKind, JsonValue, RunCase, SourceVerdict
from evaluators.computed import ComputedEvaluator
from evaluators.evaluator import Screening
from evaluators.failure_attribution.settings import FailureAttributionSettings
from evaluators.failure_attribution.table import ADVICE, Fault, Seen, attribute
from evaluators.issues import IssueCode
from evaluators.status import Status, foremost
from evaluators.verdict import Issue, Level, issue

_PLAN, _ADHERENCE, _TASK, _EFFICIENCY = "plan_quality", "plan_adherence", "task_completion", "step_efficiency"
_TOOLS = ("tool_selection", "tool_invocation", "tool_response_handling")
_UNSURE = 0.5


class FailureAttribution(ComputedEvaluator[RunCase]):
    """Planning or execution, from the verdicts on plan, adherence, outcome and tools; a label alone."""

    name = "failure_attribution"
    judges = CaseKind.RUN
    level = Level.TRACE
    good_label = Fault.NONE.value
    bad_label = Fault.EXECUTION.value
    code_version = "1"
    needs: ClassVar[Mapping[str, str]] = {
        _TASK: "nothing can be attributed",
        _PLAN: "faults of planning aren't seen",
        _ADHERENCE: "a plan that wasn't followed isn't seen",
        _EFFICIENCY: "inefficient execution isn't seen",
        **dict.fromkeys(_TOOLS, "what went wrong with tools isn't put down to execution where there is no plan"),
    }

    def __init__(self, settings: FailureAttributionSettings | None = None) -> None:
        super().__init__(settings or FailureAttributionSettings())

    def screen(self, case: RunCase) -> Screening:
        """The label, or why there is none."""
        if not any(source.evaluator == _TASK for source in case.sources):
            return Screening(status=Status.MISSING_INPUT, reason=f"There is no verdict of {_TASK} on this run.")
        plan, followed, done, efficient = (
            _seen(case.sources, name) for name in (_PLAN, _ADHERENCE, _TASK, _EFFICIENCY)
        )
        tools = _seen(case.sources, *_TOOLS)
        found = attribute(plan, followed, done, tools)
        details: dict[str, JsonValue] = {
            "sources": {
                name: seen.good if seen.good is not None else str(seen.status)
                for name, seen in (
                    (_PLAN, plan),
                    (_ADHERENCE, followed),
                    (_TASK, done),
                    (_EFFICIENCY, efficient),
                    ("tools", tools),
                )
            }
        }
        if found.fault is None:
            return Screening(status=found.status, reason=_why(found.status, found.lacks), details=details)
        issues: list[Issue] = []
        if found.fault is Fault.NONE and followed.good is False:
            detail = "The task was done, but not the way it was planned."
            issues.append(issue(IssueCode.EXECUTION_DEVIATED, detail, ref=case.run.ref))
        if found.fault is Fault.NONE and efficient.good is False:
            detail = "The task was done, but with wasted steps."
            issues.append(issue(IssueCode.INEFFICIENT_EXECUTION, detail, ref=case.run.ref))
        used = [source for source in case.sources if source.passed is not None]
        said = [one.detail for one in issues] if issues else [_SAID[found.fault]]
        told = [*said, ADVICE[found.fault]]
        return Screening(
            status=Status.OK,
            label=found.fault.value,
            confidence=min((source.confidence for source in used if source.confidence is not None), default=_UNSURE),
            issues=tuple(issues),
            evidence=tuple(dict.fromkeys(source.ref for source in used if source.ref is not None)),
            reason=" ".join(filter(None, told)),
            details={**details, "advice": ADVICE[found.fault] or None},
        )


def _seen(sources: Sequence[SourceVerdict], *names: str) -> Seen:
    """What these evaluators say together: bad as soon as one failed, good only if none is left open."""
    said = [source for source in sources if source.evaluator in names]
    if any(source.passed is False for source in said):
        return Seen(False)
    open_ones = [source.status for source in said if source.status not in (Status.OK, Status.NOT_APPLICABLE)]
    if open_ones:
        return Seen(None, foremost(open_ones))
    return Seen(True) if any(source.passed for source in said) else Seen(None, Status.NOT_APPLICABLE)


def _why(status: Status, lacks: str) -> str:
    if lacks == "tools" and status is Status.NOT_APPLICABLE:
        return "The task failed, but there is no visible plan, and no verdict on a tool failed."
    if status is not Status.NOT_APPLICABLE:
        return f"It depends on {'the verdicts on tools' if lacks == 'tools' else lacks}, which is {status}."
    return f"{lacks} says neither pass nor fail of this run."


_SAID = {
    Fault.NONE: "The task was done.",
    Fault.EXECUTION: "The task failed in its execution.",
    Fault.PLANNING: "The task failed by its plan.",
    Fault.BOTH: "The task failed by its plan and in its execution.",
    Fault.LUCKY: "The task was done although its plan was poor.",
}
