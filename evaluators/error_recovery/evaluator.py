"""The error recovery evaluator: fates by rule, a judge for what only reading can tell, the score by arithmetic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from evaluators.cases import CaseKind, JsonValue, Run, RunCase
from evaluators.criteria import load_criteria
from evaluators.error_recovery.answer import ErrorRecoveryAnswer
from evaluators.error_recovery.fates import MOST_ERRORS, fates, told_after
from evaluators.error_recovery.outcomes import FAULTS, Fate, Outcome
from evaluators.error_recovery.settings import ErrorRecoverySettings
from evaluators.evaluator import Evaluator, Screening
from evaluators.issues import IssueCode
from evaluators.judge.question import JudgeAnswer, Question, call_name
from evaluators.rules.repetition import Step
from evaluators.rules.run_index import Steps, index_of
from evaluators.verdict import CallVerdict, Issue, Level, Method, Status, Verdict, issue

_MOST_ASKED, _MOST_TOLD = 20, 3
_BY_RULE, _BY_JUDGE, _LESS_WHEN_CUT, _LESS_WHEN_LEFT_OUT = 0.9, 0.8, 0.2, 0.3


class ErrorRecovery(Evaluator[RunCase]):
    """Share of a run's tool errors that were recovered from, or given up on and told: each 1, every fault 0."""

    name = "error_recovery"
    judges = CaseKind.RUN
    level = Level.TRACE
    good_label = "pass"
    bad_label = "fail"
    code_version = "2"
    rules_decide = True
    facts = ("tool_calls", "tool_results", "final_answer")

    def __init__(self, settings: ErrorRecoverySettings | None = None) -> None:
        super().__init__(settings or ErrorRecoverySettings())
        self._tools = settings or ErrorRecoverySettings()

    def criteria(self) -> str:
        """The prompt text."""
        return load_criteria(__package__ or "")

    def screen(self, case: RunCase) -> Screening:
        """Decided where every error's fate is plain, or where what is plain fails whatever would come of the rest."""
        run = case.run
        found, reason = self._fates(run), ""
        if not found:
            return _without_errors(run)
        undecided = [fate for fate in found if fate.outcome is None]
        screening = _screening(run, found)
        if not undecided:
            return screening
        if run.final_answer is None and any(call.awaiting_approval for call in run.calls):
            reason, status = "The run waits for somebody's approval.", Status.NOT_APPLICABLE
        elif run.partial:
            reason, status = "Part of the trace never arrived.", Status.MISSING_INPUT
        elif not any(told_after(run, fate.step) for fate in undecided):
            reason, status = "The final answer was not captured.", Status.MISSING_INPUT
        else:
            reason, status = "Only reading can tell what became of some errors.", Status.NEEDS_JUDGE
        best = (len(undecided) + sum(fate.worth for fate in found if fate.outcome is not None)) / len(found)
        fails = self.settings.threshold is not None and best < self.settings.threshold
        return replace(
            screening,
            status=status,
            score=None,
            fallback_score=screening.score if fails else None,
            fallback_confidence=round(screening.confidence - _LESS_WHEN_LEFT_OUT, 2) if fails else None,
            reason=reason,
        )

    def question(self, case: RunCase, screening: Screening) -> Question:
        """What became of the errors that rules left open?"""
        asked = [fate for fate in self._fates(case.run) if fate.outcome is None][-_MOST_ASKED:]
        return Question(
            evaluator=self.name,
            criteria=self.criteria(),
            subject=f"The failed calls {', '.join(dict.fromkeys(call_name(fate.step.call.id) for fate in asked))}.",
            answer_type=ErrorRecoveryAnswer,
            findings=tuple(f"{call_name(fate.step.call.id)}: {_suspicion(fate).code}: {fate.why}" for fate in asked),
            call_ids=tuple(dict.fromkeys(fate.step.call.id for fate in asked)),
        )

    def conclude(self, case: RunCase, screening: Screening, answer: JudgeAnswer) -> Verdict:
        """The score over all errors; what was too much to ask about is left out of it."""
        content = answer.content
        if not isinstance(content, ErrorRecoveryAnswer):
            raise TypeError(f"{self.name}: the answer is a {type(content).__name__}")
        said = {one.call_id: one for one in content.calls}
        found = [
            replace(fate, outcome=Outcome(said[fate.step.call.id].outcome), why=said[fate.step.call.id].reasoning)
            if fate.outcome is None and fate.step.call.id in said
            else fate
            for fate in self._fates(case.run)
        ]
        judged = _screening(case.run, found)
        judged = replace(judged, evidence=tuple(dict.fromkeys((*judged.evidence, *answer.evidence))))
        confidence = judged.confidence - (_BY_RULE - _BY_JUDGE) - (_LESS_WHEN_CUT if answer.input_cut else 0.0)
        return self.scored(
            judged, judged.score or 0.0, max(confidence, 0.0), method=Method.JUDGE, explanation=content.explanation
        )

    def _fates(self, run: Run) -> list[Fate]:
        steps = index_of(run).steps(self._tools.read_tools, self._tools.write_tools)
        return fates(run, steps, _failed(run, steps)[-MOST_ERRORS:])


def _failed(run: Run, steps: Steps) -> list[Step]:
    """The run's own errors; of a run that only answers what its history had found out, those of the history."""
    closes_history = bool(run.loose_calls) and all(call.earlier for call in run.calls)
    return [step for step in steps.every if step.error is not None and (closes_history or not step.call.earlier)]


def _without_errors(run: Run) -> Screening:
    if "tool_calls" in run.missing:
        return Screening(status=Status.MISSING_INPUT, reason="Tool calls were not captured.")
    results = [call.result for call in run.calls if not call.is_handoff and not call.awaiting_approval]
    if results and all(one is None or (one.content is None and one.error is None) for one in results):
        return Screening(status=Status.MISSING_INPUT, reason="The results of the tool calls were not captured.")
    return Screening(status=Status.NOT_APPLICABLE, reason="No tool call failed.")


def _screening(run: Run, found: Sequence[Fate]) -> Screening:
    known = [fate for fate in found if fate.outcome is not None]
    counted = Counter(fate.outcome for fate in known)
    confidence = _BY_RULE
    if (
        run.truncated
        or run.partial
        or any(fate.step.error is not None and not fate.step.error.certain for fate in found)
    ):
        confidence -= _LESS_WHEN_CUT
    if len(known) < len(found):
        confidence -= _LESS_WHEN_LEFT_OUT
    told = ", ".join(f"{count} {outcome.value.replace('_', ' ')}" for outcome, count in counted.items() if outcome)
    places = [step.call.ref for fate in found for step in (fate.step, fate.by) if step is not None]
    counts: dict[str, JsonValue] = {outcome.value: counted[outcome] for outcome in Outcome}
    return Screening(
        status=Status.OK,
        score=sum(fate.worth for fate in known) / len(known) if known else None,
        confidence=round(confidence, 2),
        issues=tuple(one for fate in found for one in _issues(fate)),
        calls=tuple(_call_verdict(fate) for fate in found),
        evidence=tuple(dict.fromkeys(ref for ref in places if ref is not None)),
        reason=f"{len(found)} tool error{'s' if len(found) > 1 else ''}: {told}. {_shortly(known)}" if known else "",
        details={"errors": [_told(fate) for fate in found], "counts": {**counts, "open": len(found) - len(known)}},
    )


def _shortly(fates: Sequence[Fate]) -> str:
    return " ".join(dict.fromkeys(fate.why for fate in fates[:_MOST_TOLD]))


def _issues(fate: Fate) -> list[Issue]:
    ref = fate.step.call.ref or (fate.step.turn.ref if fate.step.turn is not None else None)
    if fate.outcome is None:
        return [_suspicion(fate)]
    if fate.outcome in FAULTS:
        return [issue(FAULTS[fate.outcome], fate.why, call_id=fate.step.call.id, ref=ref)]
    if not fate.retried:
        said = f"{fate.step.call.name} failed with an error that may pass, and was not tried again."
        return [issue(IssueCode.NOT_RETRIED, said, call_id=fate.step.call.id, ref=ref)]
    return []


def _suspicion(fate: Fate) -> Issue:
    code = FAULTS[fate.suspected or Outcome.HIDDEN]
    return issue(code, fate.why, call_id=fate.step.call.id, ref=fate.step.call.ref, conclusive=False)


def _call_verdict(fate: Fate) -> CallVerdict:
    if fate.outcome is None:
        return CallVerdict(call_id=fate.step.call.id, label=None)
    code = FAULTS.get(fate.outcome)
    return CallVerdict(
        call_id=fate.step.call.id, label="fail" if code else "pass", issues=(code,) if code is not None else ()
    )


def _told(fate: Fate) -> JsonValue:
    error = fate.step.error
    return {
        "call_id": fate.step.call.id,
        "tool": fate.step.call.name,
        "error": None if error is None else error.kind.value,
        "outcome": None if fate.outcome is None else fate.outcome.value,
        "suspected": None if fate.suspected is None else fate.suspected.value,
        "by": None if fate.by is None else fate.by.call.id,
        "why": fate.why,
    }
