"""The plan adherence evaluator: what the record shows by rule, the rest by a judge, the score by arithmetic."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evaluators.cases import CaseKind, JsonValue, Plan, Run, RunCase
from evaluators.criteria import load_criteria
from evaluators.evaluator import Evaluator, Screening
from evaluators.issues import IssueCode, Severity
from evaluators.judge.question import JudgeAnswer, Question
from evaluators.plan_adherence.answer import AddedStep, JudgedStep, PlanAdherenceAnswer, StepOutcome, answer_for
from evaluators.plan_adherence.settings import PlanAdherenceSettings
from evaluators.plan_adherence.traces import Traced, findings, left_out, reordered, trace_plan
from evaluators.plans.holding import standing_plans
from evaluators.plans.kept import keeps_plan
from evaluators.plans.screening import FEWEST_STEPS, why_no_plan
from evaluators.plans.told import plans_told
from evaluators.rules.secrets import shown
from evaluators.rules.tool_names import is_plumbing
from evaluators.verdict import Issue, Level, Method, Status, Verdict, issue

_WORTH = {StepOutcome.FOLLOWED: 1.0, StepOutcome.PARTLY: 0.5, StepOutcome.REORDERED: 0.5, StepOutcome.SKIPPED: 0.0}
_CODES = {
    StepOutcome.SKIPPED: (IssueCode.STEP_SKIPPED, Severity.MAJOR),
    StepOutcome.PARTLY: (IssueCode.STEP_SKIPPED, Severity.MINOR),
    StepOutcome.REORDERED: (IssueCode.STEP_REORDERED, Severity.MINOR),
}
_BY_RULE, _BY_JUDGE, _LESS_WHEN_CUT, _LESS_PER_UNVERIFIED = 0.7, 0.8, 0.2, 0.3
_LONGEST_STEP = 80


class PlanAdherence(Evaluator[RunCase]):
    """DeepEval's PlanAdherence on visible plans only: a state for every step, and the score computed from them."""

    name = "plan_adherence"
    judges = CaseKind.RUN
    level = Level.TRACE
    facts = ("user_input", "tool_calls")
    good_label = "pass"
    bad_label = "fail"
    code_version = "2"

    def __init__(self, settings: PlanAdherenceSettings | None = None) -> None:
        super().__init__(settings or PlanAdherenceSettings())
        self._use_reasoning = (settings or PlanAdherenceSettings()).use_reasoning

    def criteria(self) -> str:
        """The prompt text."""
        return load_criteria(__package__ or "")

    def screen(self, case: RunCase) -> Screening:
        """What the record shows of each step; fails by rule only where so much was certainly left out."""
        plans = self._plans(case)
        if (nothing := why_no_plan(case, plans)) is not None:
            return nothing
        if case.run.partial:
            return Screening(status=Status.MISSING_INPUT, reason="Part of the trace never arrived.")
        steps = _traced(case.run, plans)
        skipped = [one for plan, own in zip(plans, steps, strict=True) for one in left_out(case.run, plan, own)]
        count = sum(map(len, steps))
        best = 1 - len(skipped) / count
        issues = [_suspected(one, certain=True) for one in skipped]
        issues += [
            _suspected(one, certain=False) for own in steps for one in own if one not in skipped and _seems_skipped(one)
        ]
        issues += [_suspected_order(one) for own in steps for one in reordered(own)]
        fails = self.settings.threshold is not None and best < self.settings.threshold
        return Screening(
            status=Status.OK if fails else Status.NEEDS_JUDGE,
            score=best if fails else None,
            confidence=_BY_RULE,
            issues=tuple(issues),
            evidence=tuple(dict.fromkeys(plan.ref for plan in plans if plan.ref is not None)),
            reason="Whether the plan was followed needs a judge.",
            details={"steps": [_told(one) for own in steps for one in own]},
        )

    def question(self, case: RunCase, screening: Screening) -> Question:
        """What became of every step?"""
        plans = self._plans(case)
        steps = _traced(case.run, plans)
        count = sum(map(len, steps))
        return Question(
            evaluator=self.name,
            criteria=self.criteria(),
            subject=plans_told(plans, through=True),
            answer_type=answer_for(count),
            findings=tuple(findings([one for own in steps for one in own])),
        )

    def conclude(self, case: RunCase, screening: Screening, answer: JudgeAnswer) -> Verdict:
        """Worth of the steps that were due, by these and by what was added; no score when none could be verified."""
        content = answer.content
        if not isinstance(content, PlanAdherenceAnswer):
            raise TypeError(f"{self.name}: the answer is a {type(content).__name__}")
        steps = [one for own in _traced(case.run, self._plans(case)) for one in own]
        added = _own_calls(case.run, content.added)
        told: dict[str, JsonValue] = {
            "steps": [_told(one, judged) for one, judged in zip(steps, content.steps, strict=True)],
            "added": [{"call_id": one.call_id, "why": one.why} for one in added],
        }
        evidence = tuple(dict.fromkeys((*(ref for one in content.steps for ref in one.evidence), *answer.evidence)))
        due = [one for one in content.steps if one.outcome in _WORTH]
        if not due:
            empty = Screening(status=Status.NOT_APPLICABLE, evidence=evidence, details=told)
            unknown = any(one.outcome is StepOutcome.UNVERIFIED for one in content.steps)
            status = Status.MISSING_INPUT if unknown else Status.NOT_APPLICABLE
            said = "No step could be verified" if unknown else "No step of the plan came to be due"
            return self.unscored(empty, status, f"{said}: {content.explanation}")
        judged = Screening(
            status=Status.OK,
            issues=(*_issues(steps, content.steps), *_added_issues(case.run, added)),
            evidence=evidence,
            details=told,
        )
        unverified = sum(one.outcome is StepOutcome.UNVERIFIED for one in content.steps) / len(content.steps)
        confidence = _BY_JUDGE - _LESS_PER_UNVERIFIED * unverified
        confidence -= _LESS_WHEN_CUT if answer.input_cut or case.run.truncated else 0.0
        score = adherence_score([one.outcome for one in due], added=len(added))
        return self.scored(judged, score, confidence, method=Method.JUDGE, explanation=content.explanation)

    def _plans(self, case: RunCase) -> list[Plan]:
        plans = standing_plans(case.run, use_reasoning=self._use_reasoning)
        return [plan for plan in plans if len(plan.steps) >= FEWEST_STEPS] or plans


def adherence_score(outcomes: Sequence[StepOutcome], *, added: int) -> float:
    """Worth of the due steps (followed 1, partly and reordered 0.5, skipped 0) by their number and the additions'."""
    return sum(_WORTH[outcome] for outcome in outcomes) / (len(outcomes) + added)


def _traced(run: Run, plans: Sequence[Plan]) -> list[list[Traced]]:
    traced: list[list[Traced]] = []
    for plan in plans:
        traced.append(trace_plan(run, plan, sum(map(len, traced)) + 1))
    return traced


def _own_calls(run: Run, added: Iterable[AddedStep]) -> list[AddedStep]:
    """Additions that are calls of the run and no plumbing, each once."""
    steps = {call.id for call in run.calls if not (is_plumbing(call) or keeps_plan(call.name) or call.earlier)}
    return [one for one in {one.call_id: one for one in added}.values() if one.call_id in steps]


def _seems_skipped(one: Traced) -> bool:
    return (bool(one.tools) and not one.calls) or one.is_open


def _suspected(one: Traced, *, certain: bool) -> Issue:
    why = "names a tool that was never called" if one.tools and not one.calls else "was never marked as done"
    return issue(
        IssueCode.STEP_SKIPPED,
        f"Step {one.number} ({shown(one.step.text, _LONGEST_STEP)}) {why}.",
        conclusive=certain,
    )


def _suspected_order(one: Traced) -> Issue:
    first = one.calls[0]
    return issue(
        IssueCode.STEP_REORDERED,
        f"Step {one.number} ({shown(one.step.text, _LONGEST_STEP)}) was begun before an earlier one.",
        call_id=first.id,
        ref=first.ref,
        conclusive=False,
        severity=Severity.MINOR,
    )


def _issues(steps: Sequence[Traced], judged: Sequence[JudgedStep]) -> Iterable[Issue]:
    for one, said in zip(steps, judged, strict=True):
        if said.outcome in _CODES:
            code, severity = _CODES[said.outcome]
            ref = next(iter(said.evidence), None)
            yield issue(code, f"Step {one.number}: {said.why}", ref=ref, severity=severity)


def _added_issues(run: Run, added: Iterable[AddedStep]) -> Iterable[Issue]:
    refs = {call.id: call.ref for call in run.calls}
    for one in added:
        yield issue(IssueCode.STEP_ADDED, one.why, call_id=one.call_id, ref=refs[one.call_id], severity=Severity.MINOR)


def _told(one: Traced, judged: JudgedStep | None = None) -> JsonValue:
    return {
        "step": one.number,
        "text": shown(one.step.text, _LONGEST_STEP),
        "state": one.step.state.value if one.step.state is not None else None,
        "calls": [call.id for call in one.calls],
        "outcome": judged.outcome.value if judged is not None else None,
        "why": judged.why if judged is not None else None,
        "evidence": list(judged.evidence) if judged is not None else [],
    }
