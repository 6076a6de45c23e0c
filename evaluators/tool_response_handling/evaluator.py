"""The tool response handling evaluator: faults that rules can prove, suspicions for a judge, one verdict per turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from evaluators.cases import CaseKind, ResponseCase, Run, ToolCall, Turn
from evaluators.criteria import load_criteria
from evaluators.evaluator import Evaluator, Screening
from evaluators.issues import IssueCode, Severity, default_severity
from evaluators.judge.question import JudgeAnswer, Question, ToolsTold, call_name, turn_name
from evaluators.rules.errors import error_of
from evaluators.rules.findings import Finding
from evaluators.rules.grounding import ungrounded
from evaluators.rules.inputs import has_user_input
from evaluators.rules.material import answer_of, answers_only, material_of, user_texts
from evaluators.rules.repetition import argument_fingerprint
from evaluators.rules.run_index import index_of
from evaluators.rules.secrets import redact
from evaluators.rules.tool_names import is_plumbing
from evaluators.tool_response_handling.answer import HandledCall, ToolResponseHandlingAnswer
from evaluators.tool_response_handling.leaks import leaks
from evaluators.tool_response_handling.reporting import misreported_errors, not_retried
from evaluators.tool_response_handling.retries import futile_retries
from evaluators.tool_response_handling.settings import ToolResponseHandlingSettings
from evaluators.verdict import CallVerdict, Issue, Level, Method, Status, Verdict, issue

_BY_RULE, _BY_JUDGE, _LESS_WHEN_CUT = 0.95, 0.8, 0.2


class ToolResponseHandling(Evaluator[ResponseCase]):
    """Phoenix's tool response handling, per call: score = correct / judged, correct only if all are."""

    name = "tool_response_handling"
    judges = CaseKind.RESPONSE
    level = Level.SPAN
    good_label = "correct"
    bad_label = "incorrect"
    code_version = "2"

    def __init__(self, settings: ToolResponseHandlingSettings | None = None) -> None:
        super().__init__(settings or ToolResponseHandlingSettings())
        self._own = settings or ToolResponseHandlingSettings()

    def criteria(self) -> str:
        """The prompt text."""
        return load_criteria(__package__ or "")

    def screen(self, case: ResponseCase) -> Screening:
        """Incorrect where a rule is conclusive, else open; rules alone never say correct."""
        closed = _not_judged(case)
        if closed is not None:
            return closed
        findings = self._findings(case)
        issues = tuple(_issue(finding, case) for finding in findings)
        at_fault = tuple(dict.fromkeys(f.call_id for f in findings if f.conclusive and f.call_id is not None))
        if not any(finding.conclusive for finding in findings):
            return Screening(
                status=Status.NEEDS_JUDGE, issues=issues, reason="Whether it was told truly needs a judge."
            )
        return Screening(
            status=Status.OK,
            score=0.0,
            confidence=_BY_RULE,
            issues=issues,
            calls=tuple(_faulty(call_id, findings) for call_id in at_fault),
            evidence=_places(case, at_fault),
        )

    def question(self, case: ResponseCase, screening: Screening) -> Question:
        """How each new result was handled."""
        calls = _judged_calls(case)
        where = "the run's final answer" if case.turn is None else turn_name(case.turn.index)
        return Question(
            evaluator=self.name,
            criteria=self.criteria(),
            subject=where,
            answer_type=ToolResponseHandlingAnswer,
            findings=tuple(
                f"{call_name(found.call_id) + ': ' if found.call_id else ''}{found.code}: {found.detail}"
                for found in screening.issues
            ),
            call_ids=tuple(call.id for call in calls),
            tools=ToolsTold.PURPOSES,
        )

    def conclude(self, case: ResponseCase, screening: Screening, answer: JudgeAnswer) -> Verdict:
        """Per call what the judge says; an honest failure that nobody retried stays correct."""
        content = answer.content
        if not isinstance(content, ToolResponseHandlingAnswer):
            raise TypeError(f"{self.name}: the answer is a {type(content).__name__}")
        settled = [_settled(handled) for handled in content.calls]
        if not settled:
            return self.unscored(screening, Status.JUDGE_ERROR, "The judge answered for no call.")
        issues = [
            issue(code, handled.explanation, call_id=handled.call_id, ref=_ref(case, handled.call_id))
            for handled, (_, codes) in zip(content.calls, settled, strict=True)
            for code in codes
        ]
        wrong = [handled.call_id for handled, (good, _) in zip(content.calls, settled, strict=True) if not good]
        screened = replace(
            screening,
            status=Status.OK,
            issues=tuple(issues),
            calls=tuple(
                CallVerdict(
                    call_id=handled.call_id, label=self.good_label if good else self.bad_label, issues=tuple(codes)
                )
                for handled, (good, codes) in zip(content.calls, settled, strict=True)
            ),
            evidence=tuple(dict.fromkeys((*_places(case, wrong), *answer.evidence))),
        )
        faults = [handled.explanation for handled in content.calls if handled.call_id in wrong]
        told = " ".join(faults) or content.calls[0].explanation
        score = sum(good for good, _ in settled) / len(settled)
        confidence = _BY_JUDGE - (_LESS_WHEN_CUT if answer.input_cut or _is_cut(case) else 0.0)
        return self.scored(screened, score, confidence, method=Method.JUDGE, explanation=told)

    def _findings(self, case: ResponseCase) -> list[Finding]:
        calls = _judged_calls(case)
        findings: list[Finding] = []
        turn = case.turn
        if turn is not None and _repeats_a_failure(case.run, turn):
            steps = index_of(case.run).steps(self._own.read_tools, self._own.write_tools)
            findings += futile_retries(steps, turn)
        text = answer_of(case)
        if not text:
            return findings
        material = material_of(case)
        findings += leaks(
            text,
            material.calls,
            user_texts(case.run, turn),
            to_user=_is_read_by_user(case, text),
            tools=(turn.tools or ()) if turn is not None else (),
            shown_hosts=self._own.internal_hosts,
        )
        if material.complete and (turn is None or not turn.partial):
            findings += ungrounded(text, calls, material)
        if turn is None or answers_only(turn):
            findings += misreported_errors(text, _not_made_good(calls))
            findings += not_retried(_not_made_good(calls), turn, case.later, index_of(case.run).failed)
        return findings


def _not_judged(case: ResponseCase) -> Screening | None:
    turn = case.turn
    calls = [call for call in case.calls if not is_plumbing(call)]
    if not calls:
        return Screening(status=Status.NOT_APPLICABLE, reason="No tool results, only hand-offs or output tools.")
    if all(call.awaiting_approval for call in calls):
        return Screening(status=Status.NOT_APPLICABLE, reason="The calls wait for somebody's approval.")
    if turn is not None and turn.error is not None:
        return Screening(status=Status.NOT_APPLICABLE, reason="The model request failed, so there is no answer.")
    if not _judged_calls(case):
        return Screening(status=Status.MISSING_INPUT, reason="The results of the calls were not captured.")
    text = answer_of(case)
    if text is None and not (turn is not None and turn.calls):
        return Screening(status=Status.MISSING_INPUT, reason="No later text of the model was captured.")
    if not has_user_input(case.run, turn):
        return Screening(status=Status.MISSING_INPUT, reason="What the user asked for was not captured.")
    return None


def _judged_calls(case: ResponseCase) -> tuple[ToolCall, ...]:
    return tuple(
        call
        for call in case.calls
        if not is_plumbing(call)
        and not call.awaiting_approval
        and call.result is not None
        and (call.result.content is not None or call.result.error is not None)
    )


def _not_made_good(calls: Sequence[ToolCall]) -> list[ToolCall]:
    """The calls without those that failed and succeeded when they were made again.

    Where no turns were captured, the results of a whole run are judged together.
    """
    left: list[ToolCall] = []
    succeeded: set[tuple[str, str]] = set()
    for call in reversed(calls):
        arguments = argument_fingerprint(call)
        if arguments is not None and error_of(call.result) is None:
            succeeded.add((call.name, arguments))
        elif arguments is not None and (call.name, arguments) in succeeded:
            continue
        left.append(call)
    return left[::-1]


def _repeats_a_failure(run: Run, turn: Turn) -> bool:
    """Whether the turn calls a tool that had failed: only then is there anything to compare."""
    failed, own = index_of(run).failed, {call.id for call in turn.calls}
    return any(failed.get(name, own) - own for name in {call.name for call in turn.calls})


def _is_read_by_user(case: ResponseCase, text: str) -> bool:
    """Whether the text is the last of its turn and isn't what a sub-agent gave back to another agent."""
    if case.turn is None:
        return True
    if not answers_only(case.turn):
        return False
    return text.strip() not in index_of(case.run).results


def _is_cut(case: ResponseCase) -> bool:
    return any(call.result is not None and call.result.truncated for call in case.calls)


def _issue(finding: Finding, case: ResponseCase) -> Issue:
    return issue(
        finding.code,
        redact(finding.detail),
        call_id=finding.call_id,
        ref=_ref(case, finding.call_id),
        conclusive=finding.conclusive,
        # a leak that is only suspected must not read as a critical one
        severity=None if finding.conclusive or finding.code is not IssueCode.LEAK else Severity.MAJOR,
    )


def _ref(case: ResponseCase, call_id: str | None) -> str | None:
    own = case.turn.calls if case.turn is not None else ()
    call = next((c for c in (*case.calls, *own) if c.id == call_id), None)
    if call is not None and (call.ref is not None or (call.result is not None and call.result.ref is not None)):
        return call.ref or (call.result.ref if call.result is not None else None)
    return case.turn.ref if case.turn is not None else case.run.ref


def _places(case: ResponseCase, call_ids: Sequence[str]) -> tuple[str, ...]:
    places = [_ref(case, call_id) for call_id in call_ids]
    if case.turn is not None:
        places.append(case.turn.ref)
    return tuple(dict.fromkeys(place for place in places if place is not None))


def _faulty(call_id: str, findings: Sequence[Finding]) -> CallVerdict:
    codes = dict.fromkeys(f.code for f in findings if f.conclusive and f.call_id == call_id)
    return CallVerdict(call_id=call_id, label=ToolResponseHandling.bad_label, issues=tuple(codes))


def _settled(handled: HandledCall) -> tuple[bool, list[IssueCode]]:
    """Whether a call counts as handled correctly, and the codes that go with it."""
    codes = [IssueCode(code) for code in dict.fromkeys(handled.issues)]
    only_minor = bool(codes) and all(default_severity(code) is Severity.MINOR for code in codes)
    return handled.label == "correct" or only_minor, codes
