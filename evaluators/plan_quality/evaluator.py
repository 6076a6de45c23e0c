"""The plan quality evaluator: what is a plan by rule, its faults by a judge, the score by arithmetic."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evaluators.cases import CaseKind, JsonValue, Plan, RunCase
from evaluators.criteria import load_criteria
from evaluators.evaluator import Evaluator, Screening
from evaluators.issues import IssueCode
from evaluators.judge.question import JudgeAnswer, Question
from evaluators.plan_quality.answer import PlanFault, PlanQualityAnswer
from evaluators.plan_quality.checks import Finding, check_plans
from evaluators.plan_quality.settings import PlanQualitySettings
from evaluators.plan_quality.worth import Fault, plan_score, severity_of
from evaluators.plans.holding import judged_plans
from evaluators.plans.screening import why_no_plan
from evaluators.plans.told import plans_told
from evaluators.verdict import Issue, Level, Method, Status, Verdict, issue

_BY_RULE, _BY_JUDGE, _LESS_WHEN_CUT = 0.8, 0.75, 0.2
_MAX_TASK_CHARS = 6_000


class PlanQuality(Evaluator[RunCase]):
    """DeepEval's PlanQuality on visible plans only, its score computed from faults instead of asked for."""

    name = "plan_quality"
    judges = CaseKind.RUN
    level = Level.TRACE
    facts = ("user_input", "tool_calls")
    good_label = "pass"
    bad_label = "fail"
    code_version = "2"

    def __init__(self, settings: PlanQualitySettings | None = None) -> None:
        super().__init__(settings or PlanQualitySettings())
        self._use_reasoning = (settings or PlanQualitySettings()).use_reasoning

    def criteria(self) -> str:
        """The prompt text."""
        return load_criteria(__package__ or "")

    def screen(self, case: RunCase) -> Screening:
        """Whether there is a plan to judge; fails by rule only one whose certain faults suffice for that."""
        plans = self._plans(case)
        if (nothing := why_no_plan(case, plans)) is not None:
            return nothing
        found = check_plans(case.run, plans)
        certain = plan_score(finding.fault for finding in found if finding.conclusive)
        screening = Screening(
            status=Status.NEEDS_JUDGE,
            issues=tuple(_suspected(finding, plans) for finding in found),
            evidence=_places(plans),
            reason="Whether the plan would do the task needs a judge.",
            details={"plans": _told(plans)},
        )
        if self.settings.threshold is None or certain >= self.settings.threshold:
            return screening
        return Screening(
            status=Status.OK,
            score=certain,
            confidence=_BY_RULE,
            issues=screening.issues,
            evidence=screening.evidence,
            details=screening.details,
        )

    def question(self, case: RunCase, screening: Screening) -> Question:
        """Which faults do the plans have?"""
        task = case.reference.task if case.reference is not None else None
        given = f"The task, as given from outside the run: {task[:_MAX_TASK_CHARS]}\n" if task else ""
        return Question(
            evaluator=self.name,
            criteria=self.criteria(),
            subject=given + plans_told(self._plans(case)),
            answer_type=PlanQualityAnswer,
            findings=tuple(found.detail for found in screening.issues),
        )

    def conclude(self, case: RunCase, screening: Screening, answer: JudgeAnswer) -> Verdict:
        """1 minus the deductions for the faults that there are; no score for a task of one step."""
        content = answer.content
        if not isinstance(content, PlanQualityAnswer):
            raise TypeError(f"{self.name}: the answer is a {type(content).__name__}")
        if content.task == "one_step":
            empty = Screening(status=Status.NOT_APPLICABLE, details=screening.details)
            return self.unscored(empty, Status.NOT_APPLICABLE, "The task takes a single step and needs no plan.")
        plans = self._plans(case)
        known = {
            Fault(IssueCode(one.fault), one.plan, one.step or 0): one for one in content.faults if _exists(one, plans)
        }
        certain = [
            (finding.fault, found)
            for finding, found in zip(check_plans(case.run, plans), screening.issues, strict=True)
            if finding.conclusive and finding.fault not in known
        ]
        issues = [found for _, found in certain] + [_judged(fault, one, plans) for fault, one in known.items()]
        judged = Screening(
            status=Status.OK,
            issues=tuple(issues),
            evidence=tuple(dict.fromkeys((*(ref for one in known.values() for ref in one.evidence), *answer.evidence)))
            or screening.evidence,
            reason="No fault of the plan was found.",
            details=screening.details,
        )
        score = plan_score([*known, *(fault for fault, _ in certain)])
        confidence = _BY_JUDGE - (_LESS_WHEN_CUT if answer.input_cut or case.run.truncated or case.run.partial else 0.0)
        return self.scored(judged, score, confidence, method=Method.JUDGE, explanation=content.explanation)

    def _plans(self, case: RunCase) -> list[Plan]:
        return judged_plans(case.run, use_reasoning=self._use_reasoning)


def _exists(one: PlanFault, plans: Sequence[Plan]) -> bool:
    """Whether the plan and step that a judge names are there."""
    return one.plan <= len(plans) and (one.step or 0) <= len(plans[one.plan - 1].steps)


def _suspected(finding: Finding, plans: Sequence[Plan]) -> Issue:
    fault = finding.fault
    return issue(
        fault.code,
        finding.detail,
        ref=plans[fault.plan - 1].ref,
        conclusive=finding.conclusive,
        severity=severity_of(fault.code),
    )


def _judged(fault: Fault, one: PlanFault, plans: Sequence[Plan]) -> Issue:
    where = f"Step {fault.step}" if fault.step else "The plan"
    return issue(
        fault.code,
        f"{where}: {one.why}",
        ref=plans[fault.plan - 1].ref or next(iter(one.evidence), None),
        severity=severity_of(fault.code),
    )


def _places(plans: Iterable[Plan]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(plan.ref for plan in plans if plan.ref is not None))


def _told(plans: Iterable[Plan]) -> list[JsonValue]:
    return [
        {"source": plan.source.value, "turn": plan.turn, "steps": len(plan.steps), "revises": plan.revises}
        for plan in plans
    ]
