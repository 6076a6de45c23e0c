"""What can be said of a run's outcome before anybody has read it: that it broke off, or that it can't be judged.

In goes a run, out comes a screening, or None where there is a task and an answer to judge.
"""

from __future__ import annotations

from evaluators.cases import Run
from evaluators.evaluator import Screening
from evaluators.issues import IssueCode
from evaluators.rules.inputs import has_user_input
from evaluators.status import Status
from evaluators.verdict import issue

_CONFIDENCE = 0.95


def without_outcome(run: Run, *, task_known: bool) -> Screening | None:
    """Fails a run that is known to have ended without an answer; says what is missing of one that isn't all there.

    Args:
        run: the run.
        task_known: whether the task is given from outside the run.
    """
    if run.partial:
        return Screening(status=Status.MISSING_INPUT, reason="Part of the trace never arrived.")
    if not task_known and not has_user_input(run, run.turns[0] if run.turns else None):
        return Screening(status=Status.MISSING_INPUT, reason="What the user asked for was not captured.")
    last = run.turns[-1] if run.turns else None
    if run.final_answer is None:
        if any(call.awaiting_approval for call in run.calls):
            return Screening(status=Status.NOT_APPLICABLE, reason="The run waits for somebody's approval.")
        if run.aborted or (run.answered is False and not (last is not None and last.partial)):
            return _aborted(run)
        return Screening(status=Status.MISSING_INPUT, reason="The final answer was not captured.")
    if run.aborted and not run.final_answer.strip():
        return _aborted(run)
    return None


def _aborted(run: Run) -> Screening:
    # the reason comes from spans, and its words are for the trace, not for a verdict
    kind = "The run crashed" if run.abort_reason else "The run ended"
    found = issue(IssueCode.RUN_ABORTED, f"{kind} before there was an answer to the user.", ref=run.ref)
    return Screening(
        status=Status.OK,
        score=0.0,
        confidence=_CONFIDENCE,
        issues=(found,),
        evidence=(run.ref,) if run.ref is not None else (),
    )
