"""Judges a model's choice of tools at one turn.

In: a decision.  Out: one verdict over its calls and the turn as a whole.  Rules can show that a choice was wrong (a
tool that was never offered); whether it was right only a judge can say.
"""

from __future__ import annotations

from dataclasses import replace

from pydantic import Field

from evaluators.cases import CaseKind, DecisionCase
from evaluators.criteria import load_criteria
from evaluators.evaluator import Evaluator, Screening
from evaluators.issues import IssueCode
from evaluators.judge.question import JudgeAnswer, Question, call_name, turn_name
from evaluators.rules.judged import judged_confidence, judged_issues
from evaluators.rules.schema import SchemaCache
from evaluators.step_settings import StepSettings
from evaluators.tool_selection.answer import (
    CallsSelectionAnswer,
    OneCallSelectionAnswer,
    TurnAnswer,
    calls_and_turn,
)
from evaluators.tool_selection.checks import (
    counted_calls,
    duplicates,
    guessed,
    missing_input,
    not_applicable,
    unknown_tools,
)
from evaluators.verdict import CallVerdict, Issue, Level, Method, Status, Verdict

_CORRECT, _INCORRECT = "correct", "incorrect"
_FAULTS_OF_A_CALL = "Faults of a call:"


class ToolSelectionSettings(StepSettings):
    """Settings of `tool_selection`."""

    threshold: float = Field(default=1.0, ge=0.0, le=1.0, description="Lowest share of right choices that passes.")


class ToolSelection(Evaluator[DecisionCase]):
    """Were the right tools chosen for this turn, or rightly none?"""

    name = "tool_selection"
    judges = CaseKind.DECISION
    level = Level.SPAN
    good_label = _CORRECT
    bad_label = _INCORRECT
    code_version = "2"

    def __init__(self, settings: ToolSelectionSettings | None = None) -> None:
        super().__init__(settings or ToolSelectionSettings())
        self._schemas = SchemaCache()

    def screen(self, case: DecisionCase) -> Screening:
        """Whether there is a choice to judge, and whether it names tools that were never offered."""
        reason = not_applicable(case)
        if reason is not None:
            return Screening(status=Status.NOT_APPLICABLE, reason=reason)
        reason = missing_input(case)
        if reason is not None:
            return Screening(status=Status.MISSING_INPUT, reason=reason)
        calls = counted_calls(case.turn)
        unknown = unknown_tools(case)
        issues = tuple(unknown + duplicates(calls) + guessed(case, self._schemas))
        wrong = {found.call_id for found in unknown if found.conclusive}
        verdicts = tuple(
            CallVerdict(
                call_id=call.id,
                label=_INCORRECT if call.id in wrong else None,
                issues=(IssueCode.UNKNOWN_TOOL,) if call.id in wrong else (),
            )
            for call in calls
        )
        evidence = (case.turn.ref,) if case.turn.ref is not None else ()
        if wrong:
            return Screening(status=Status.OK, score=0.0, issues=issues, calls=verdicts, evidence=evidence)
        return Screening(
            status=Status.NEEDS_JUDGE,
            issues=issues,
            calls=verdicts,
            evidence=evidence,
            reason="Whether the choice was right only a judge can say.",
        )

    def question(self, case: DecisionCase, screening: Screening) -> Question:
        """The calls and the turn, or the turn alone where nothing was called."""
        calls = tuple(dict.fromkeys(call.call_id for call in screening.calls))
        where = turn_name(case.turn.index)
        subject = where if calls else f"{where}, which makes no call"
        if case.turn.tool_choice in ("required", "any"):
            subject += ". The request demanded a call, so that unneeded_tool is no fault here"
        return Question(
            evaluator=self.name,
            criteria=self.criteria() if calls else _of_the_turn(self.criteria()),
            subject=subject,
            answer_type=CallsSelectionAnswer if calls[1:] else OneCallSelectionAnswer if calls else TurnAnswer,
            findings=tuple(
                f"{call_name(found.call_id) if found.call_id else where}: {found.code}: {found.detail}"
                for found in screening.issues
            ),
            call_ids=calls,
        )

    def conclude(self, case: DecisionCase, screening: Screening, answer: JudgeAnswer) -> Verdict:
        """Each call's label, and the turn's; a fault of the turn counts like a call that went wrong."""
        content = answer.content
        assert isinstance(content, CallsSelectionAnswer | OneCallSelectionAnswer | TurnAnswer)
        choices, of_turn = calls_and_turn(content)
        required = case.turn.tool_choice in ("required", "any")
        issues: list[Issue] = []
        calls: list[CallVerdict] = []
        explanations: list[str] = []
        refs = {call.id: call.ref or case.turn.ref for call in case.turn.calls}
        for choice in choices:
            codes = [IssueCode(code) for code in dict.fromkeys(choice.issues)]
            label: str = choice.label
            if required and IssueCode.UNNEEDED_TOOL in codes:
                codes.remove(IssueCode.UNNEEDED_TOOL)
                label = label if codes else _CORRECT
            if label == _INCORRECT:
                issues += judged_issues(
                    codes, choice.explanation, screening.issues, call_id=choice.call_id, ref=refs.get(choice.call_id)
                )
                explanations.append(choice.explanation)
            calls.append(
                CallVerdict(call_id=choice.call_id, label=label, issues=tuple(codes) if label == _INCORRECT else ())
            )
        right, judged = sum(call.label == _CORRECT for call in calls), len(calls)
        turn_failed = of_turn.label == _INCORRECT
        if turn_failed:
            codes = [IssueCode(code) for code in dict.fromkeys(of_turn.issues)]
            issues += judged_issues(codes, of_turn.explanation, screening.issues, ref=case.turn.ref)
            explanations.append(of_turn.explanation)
        if turn_failed or not calls:
            judged += 1
            right += not turn_failed
        decided = replace(
            screening,
            issues=tuple(issues),
            calls=tuple(calls),
            evidence=tuple(dict.fromkeys((*answer.evidence, *screening.evidence))),
        )
        return self.scored(
            decided,
            right / judged,
            judged_confidence(cut=answer.input_cut or case.run.truncated or case.run.partial or case.turn.partial),
            method=Method.JUDGE,
            explanation=" ".join(dict.fromkeys(explanations)) or of_turn.explanation,
        )

    def criteria(self) -> str:
        """The text of `criteria.md`."""
        return load_criteria("evaluators.tool_selection")


def _of_the_turn(criteria: str) -> str:
    """The criteria without the faults that only a call can have."""
    return "\n\n".join(part for part in criteria.split("\n\n") if not part.startswith(_FAULTS_OF_A_CALL))
