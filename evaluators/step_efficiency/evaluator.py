"""The step efficiency evaluator: labels by rule, a judge for what only meaning can tell, the score by arithmetic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from evaluators.cases import CaseKind, JsonValue, Run, RunCase
from evaluators.criteria import load_criteria
from evaluators.evaluator import Evaluator, Screening
from evaluators.issues import default_severity
from evaluators.judge.question import JudgeAnswer, Question, call_name
from evaluators.rules.inputs import has_places, has_user_input
from evaluators.rules.repetition import Step
from evaluators.rules.run_index import index_of
from evaluators.rules.secrets import shown
from evaluators.step_efficiency.answer import StepEfficiencyAnswer
from evaluators.step_efficiency.features import features, used_results
from evaluators.step_efficiency.labels import label_steps
from evaluators.step_efficiency.settings import StepEfficiencySettings
from evaluators.step_efficiency.worth import WASTE, Label, StepType
from evaluators.verdict import CallVerdict, Issue, Level, Method, Status, Verdict, issue

_MAX_ISSUES = 50
_MAX_LISTED = 200
_LONGEST_NAME = 60
_BY_RULE, _BY_RULE_ALONE, _BY_JUDGE = 0.9, 0.7, 0.8
_LESS_WHEN_CUT, _LESS_WHEN_UNKNOWN = 0.2, 0.1


class StepEfficiency(Evaluator[RunCase]):
    """DeepEval's StepEfficiency, decided by code: share of the run's tool calls that were not wasted."""

    name = "step_efficiency"
    judges = CaseKind.RUN
    level = Level.TRACE
    good_label = "pass"
    bad_label = "fail"
    code_version = "3"
    rules_decide = True

    def __init__(self, settings: StepEfficiencySettings | None = None) -> None:
        super().__init__(settings or StepEfficiencySettings())
        self._tools = settings or StepEfficiencySettings()

    def criteria(self) -> str:
        """The prompt text."""
        return load_criteria(__package__ or "")

    def screen(self, case: RunCase) -> Screening:
        """Labels for every step; open only where a model could find a detour that no rule sees."""
        run = case.run
        steps, labels, used = self._judged(run)
        if not steps:
            if "tool_calls" in run.missing:
                return Screening(status=Status.MISSING_INPUT, reason="Tool calls were not captured.")
            return Screening(status=Status.NOT_APPLICABLE, reason="The run made no tool calls.")
        if not has_user_input(run, run.turns[0] if run.turns else None):
            return Screening(status=Status.MISSING_INPUT, reason="What the user asked for was not captured.")
        if all(step.arguments is None for step in steps):
            return Screening(status=Status.MISSING_INPUT, reason="The arguments of the tool calls were not captured.")
        screening = _screening(run, steps, labels, features(run, steps, used))
        score = 1 - sum(label.wasted for label in labels) / len(labels)
        worst = score - sum(label.doubtful for label in labels) / len(labels)
        if worst < self._tools.threshold <= score:
            return Screening(
                status=Status.MISSING_INPUT,
                reason="A look-up was repeated, and whether it gave the same answer was not captured.",
                details=screening.details,
            )
        if len(steps) == 1 or all(label.certain for label in labels) or score < self._tools.threshold:
            return screening
        return replace(
            screening,
            status=Status.NEEDS_JUDGE,
            score=None,
            fallback_score=screening.score,
            fallback_confidence=round(screening.confidence - (_BY_RULE - _BY_RULE_ALONE), 2),
        )

    def question(self, case: RunCase, screening: Screening) -> Question:
        """Which of the open labels should change?"""
        steps, labels, _ = self._judged(case.run)
        return Question(
            evaluator=self.name,
            criteria=self.criteria(),
            subject=f"The whole run and its {len(steps)} tool calls.",
            answer_type=StepEfficiencyAnswer,
            findings=tuple(
                f"{call_name(step.call.id)}: {label.type}{' (settled)' if label.certain else ''}"
                for step, label in list(zip(steps, labels, strict=True))[:_MAX_LISTED]
            ),
        )

    def conclude(self, case: RunCase, screening: Screening, answer: JudgeAnswer) -> Verdict:
        """The score after the judge's changes.

        A label becomes waste only on evidence, where the run has places to name; settled labels stay, and so does one
        that the judge changed in two ways.
        """
        content = answer.content
        if not isinstance(content, StepEfficiencyAnswer):
            raise TypeError(f"{self.name}: the answer is a {type(content).__name__}")
        steps, labels, _ = self._judged(case.run)
        at = {step.call.id: step.index for step in steps}
        evidence: list[str] = []
        provable = has_places(case.run)
        meant = Counter(call_id for call_id, _ in {(change.call_id, change.type) for change in content.relabelled})
        for change in content.relabelled:
            place = at.get(change.call_id)
            new = StepType(change.type)
            if place is None or labels[place].certain or meant[change.call_id] > 1:
                continue
            if new in WASTE and provable and not change.evidence:
                continue
            labels[place] = Label(new, change.why)
            evidence += change.evidence
        judged = _screening(case.run, steps, labels, screening.details.get("features"))
        judged = replace(judged, evidence=tuple(dict.fromkeys((*judged.evidence, *evidence, *answer.evidence))))
        confidence = judged.confidence - (_BY_RULE - _BY_JUDGE) - (_LESS_WHEN_CUT if answer.input_cut else 0.0)
        score = 1 - sum(label.wasted for label in labels) / len(labels)
        return self.scored(judged, score, confidence, method=Method.JUDGE, explanation=content.explanation)

    def _judged(self, run: Run) -> tuple[list[Step], list[Label], list[bool | None]]:
        """The run's own steps, their labels, and whether their results were used.

        What earlier runs of the conversation did is only compared with.
        """
        steps = list(index_of(run).steps(self._tools.read_tools, self._tools.write_tools).every)
        used = used_results(run, steps)
        labels = label_steps(steps, run.user_inputs or (), used)
        if _closes_history(run):
            return steps, labels, used
        own = [at for at, step in enumerate(steps) if not step.call.earlier]
        placed = [replace(steps[at], index=index) for index, at in enumerate(own)]
        return placed, [labels[at] for at in own], [used[at] for at in own]


def _closes_history(run: Run) -> bool:
    """Whether the run only answers what its history had found out.

    Where every model call is a run of its own, that is the last one, and the calls of its history are the run's.
    """
    return bool(run.loose_calls) and all(call.earlier for call in run.calls)


def _screening(run: Run, steps: Sequence[Step], labels: Sequence[Label], counted: JsonValue) -> Screening:
    wasted = [(step, label) for step, label in zip(steps, labels, strict=True) if label.wasted]
    confidence = _BY_RULE
    if run.partial or run.truncated:
        confidence -= _LESS_WHEN_CUT
    if any(step.arguments is None or step.outcome is None for step in steps):
        confidence -= _LESS_WHEN_UNKNOWN
    said = f"{len(wasted)} of {len(steps)} tool calls were wasted."
    return Screening(
        status=Status.OK,
        score=1 - len(wasted) / len(steps),
        confidence=round(confidence, 2),
        issues=tuple(_issue(step, label) for step, label in wasted[:_MAX_ISSUES]),
        calls=tuple(_call_verdict(step, label) for step, label in zip(steps, labels, strict=True)),
        evidence=tuple(step.call.ref for step, _ in wasted[:_MAX_ISSUES] if step.call.ref is not None),
        reason=said if wasted else "No tool call was wasted.",
        details={
            "steps": [_told(step, label) for step, label in zip(steps, labels, strict=True)],
            "redundant_steps": _places(labels, StepType.REDUNDANT, StepType.HARMFUL),
            "unjustified_retries": _places(labels, StepType.UNJUSTIFIED_RETRY),
            "detours": _places(labels, StepType.DETOUR),
            "dead_loops": _places(labels, StepType.DEAD_LOOP),
            "repeated_calls": _repeated(steps),
            "features": counted,
        },
    )


def _issue(step: Step, label: Label) -> Issue:
    ref = step.call.ref or (step.turn.ref if step.turn is not None else None)
    return issue(
        WASTE[label.type], f"{shown(step.call.name, _LONGEST_NAME)}: {label.why}", call_id=step.call.id, ref=ref
    )


def _call_verdict(step: Step, label: Label) -> CallVerdict:
    code = WASTE.get(label.type)
    return CallVerdict(
        call_id=step.call.id, label="fail" if code else "pass", issues=(code,) if code is not None else ()
    )


def _told(step: Step, label: Label) -> JsonValue:
    code = WASTE.get(label.type)
    return {
        "index": step.index,
        "call_id": step.call.id,
        "tool": step.call.name,
        "arguments": step.arguments,
        "type": label.type.value,
        "why": label.why,
        "severity": None if code is None else default_severity(code).value,
    }


def _places(labels: Sequence[Label], *types: StepType) -> list[JsonValue]:
    return [at for at, label in enumerate(labels) if label.type in types]


def _repeated(steps: Sequence[Step]) -> list[JsonValue]:
    """Groups of steps that made the same call, wasted or not."""
    groups: dict[tuple[str, str], list[JsonValue]] = {}
    for step in steps:
        if step.arguments is not None:
            groups.setdefault((step.call.name, step.arguments), []).append(step.index)
    return [list(places) for places in groups.values() if len(places) > 1]
