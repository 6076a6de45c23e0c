"""Judges calls by their arguments.

In: the calls of a turn, or one call.  Out: one verdict over them, score = correct / judged.  A conclusive finding
decides the case without a judge; calls that couldn't be judged have no part in the score.
"""

from __future__ import annotations

from dataclasses import replace

from pydantic import Field

from evaluators.cases import CallsCase, CaseKind, Role
from evaluators.criteria import load_criteria
from evaluators.evaluator import Evaluator, Screening
from evaluators.issues import IssueCode
from evaluators.judge.question import JudgeAnswer, Question, ToolsTold, call_name, turn_name
from evaluators.rules.inputs import has_user_input
from evaluators.rules.judged import judged_confidence, judged_issues
from evaluators.rules.run_index import index_of
from evaluators.rules.schema import SchemaCache
from evaluators.step_settings import StepSettings
from evaluators.tool_invocation.answer import InvocationAnswer
from evaluators.tool_invocation.checks import CallCheck, CallState, Surroundings, check_call
from evaluators.verdict import CallVerdict, Issue, Level, Method, Status, Verdict

_CONFIDENCE_OF_SILENCE = 0.6
_MOST_USER_CHARS = 50_000
_CORRECT, _INCORRECT = "correct", "incorrect"
_SEEN = frozenset({CallState.CLEAN, CallState.SUSPECT, CallState.OPEN, CallState.WRONG})


class ToolInvocationSettings(StepSettings):
    """Settings of `tool_invocation`."""

    threshold: float = Field(default=1.0, ge=0.0, le=1.0, description="Lowest share of right calls that passes.")


class ToolInvocation(Evaluator[CallsCase]):
    """Was the tool called with the right arguments?"""

    name = "tool_invocation"
    judges = CaseKind.CALLS
    level = Level.SPAN
    good_label = _CORRECT
    bad_label = _INCORRECT
    code_version = "2"

    def __init__(self, settings: ToolInvocationSettings | None = None) -> None:
        super().__init__(settings or ToolInvocationSettings())
        self._schemas = SchemaCache()

    def screen(self, case: CallsCase) -> Screening:
        """Check every call of the case by rules."""
        if case.turn is not None and case.turn.error is not None:
            return Screening(
                status=Status.NOT_APPLICABLE, reason="The model request failed; there is no call to judge."
            )
        checks = self._checks(case)
        issues = tuple(found for check in checks for found in check.issues)
        evidence = tuple(dict.fromkeys(ref for check in checks if (ref := check.call.ref or _ref(case)) is not None))
        open_checks = [check for check in checks if check.state in _SEEN]
        if not open_checks:
            return _unjudged(checks, issues)
        if not has_user_input(case.run, case.turn):
            return Screening(status=Status.MISSING_INPUT, issues=issues, reason="The user's input was not captured.")
        calls = tuple(_by_rule(check) for check in checks if check.state is not CallState.SKIPPED)
        wrong = sum(check.state is CallState.WRONG for check in checks)
        if wrong:
            judged = wrong + sum(check.state is CallState.CLEAN for check in checks)
            return Screening(
                status=Status.OK,
                score=(judged - wrong) / judged,
                issues=issues,
                calls=calls,
                evidence=evidence,
            )
        silent = all(check.state is CallState.CLEAN for check in open_checks)
        return Screening(
            status=Status.NEEDS_JUDGE,
            fallback_score=1.0 if silent else None,
            fallback_confidence=_CONFIDENCE_OF_SILENCE if silent else None,
            issues=issues,
            calls=calls,
            evidence=evidence,
            reason="No rule found a fault." if silent else _open_reason(open_checks),
        )

    def _checks(self, case: CallsCase) -> list[CallCheck]:
        around = _surroundings(case)
        return [check_call(call, around, self._schemas) for call in case.calls]

    def question(self, case: CallsCase, screening: Screening) -> Question:
        """Every call that rules left open, with what they suspect."""
        asked = list(dict.fromkeys(check.call.id for check in self._checks(case) if check.state in _SEEN))
        where = turn_name(case.turn.index) if case.turn is not None else "this run"
        findings = tuple(
            f"{call_name(found.call_id or asked[0])}: {found.code}: {found.detail}" for found in screening.issues
        )
        return Question(
            evaluator=self.name,
            criteria=self.criteria(),
            subject=where,
            answer_type=InvocationAnswer,
            findings=findings,
            call_ids=tuple(asked),
            tools=ToolsTold.CALLED,
        )

    def conclude(self, case: CallsCase, screening: Screening, answer: JudgeAnswer) -> Verdict:
        """The judge's label of every call; what it did not confirm of the suspicions is dropped."""
        content = answer.content
        assert isinstance(content, InvocationAnswer)
        issues: list[Issue] = []
        calls: list[CallVerdict] = []
        refs = {call.id: call.ref or _ref(case) for call in case.calls}
        for call in content.calls:
            codes: list[IssueCode] = []
            if call.label == _INCORRECT:
                codes = [IssueCode(code) for code in dict.fromkeys(call.issues)]
                issues += judged_issues(
                    codes, call.explanation, screening.issues, call_id=call.call_id, ref=refs.get(call.call_id)
                )
            calls.append(CallVerdict(call_id=call.call_id, label=call.label, issues=tuple(codes)))
        unasked = {call.id for call in case.calls} - {call.call_id for call in calls}
        calls += [call for call in screening.calls if call.call_id in unasked]
        right = sum(call.label == _CORRECT for call in content.calls)
        cut = answer.input_cut or case.run.truncated or case.run.partial or any(call.truncated for call in case.calls)
        explanations = [call.explanation for call in content.calls if call.label == _INCORRECT]
        decided = replace(
            screening,
            issues=tuple(issues),
            calls=tuple(calls),
            evidence=tuple(dict.fromkeys((*answer.evidence, *screening.evidence))),
        )
        return self.scored(
            decided,
            right / len(content.calls),
            judged_confidence(cut=cut),
            method=Method.JUDGE,
            explanation=" ".join(explanations) or content.calls[0].explanation,
        )

    def criteria(self) -> str:
        """The text of `criteria.md`."""
        return load_criteria("evaluators.tool_invocation")


def _surroundings(case: CallsCase) -> Surroundings:
    turn = case.turn
    index = index_of(case.run)
    context = turn.context if turn is not None and turn.context is not None else ()
    user = [message.text for message in context if message.role is Role.USER and message.text]
    return Surroundings(
        offered=turn.tools if turn is not None else None,
        known=index.tools if turn is None or turn.tools is None else (),
        evidence=index.evidence(turn),
        said_by_user="\n".join(user or case.run.user_inputs or ())[-_MOST_USER_CHARS:],
        earlier=index.earlier,
        partial=turn.partial if turn is not None else False,
        heard=has_user_input(case.run, turn),
        saw_all=index.saw_all(turn),
        later={call.name: call for call in reversed(case.later)},
    )


def _unjudged(checks: list[CallCheck], issues: tuple[Issue, ...]) -> Screening:
    missing = [check.reason for check in checks if check.state is CallState.MISSING]
    if missing:
        return Screening(status=Status.MISSING_INPUT, issues=issues, reason=" ".join(dict.fromkeys(missing)))
    reason = " ".join(dict.fromkeys(check.reason for check in checks)) or "There is no call to judge."
    return Screening(status=Status.NOT_APPLICABLE, reason=reason)


def _by_rule(check: CallCheck) -> CallVerdict:
    label = {CallState.WRONG: _INCORRECT, CallState.CLEAN: _CORRECT}.get(check.state)
    codes = tuple(dict.fromkeys(found.code for found in check.issues if found.conclusive))
    return CallVerdict(call_id=check.call.id, label=label, issues=codes)


def _open_reason(checks: list[CallCheck]) -> str:
    if any(check.state is CallState.SUSPECT for check in checks):
        return "Rules suspect a fault, which a judge has to confirm."
    reasons = dict.fromkeys(check.reason for check in checks if check.state is CallState.OPEN and check.reason)
    return " ".join((*reasons, "Only a judge can tell."))


def _ref(case: CallsCase) -> str | None:
    return case.turn.ref if case.turn is not None else None
