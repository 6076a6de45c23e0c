"""Whether a turn repeated a call that could only fail again.

In go a run and a turn, out come findings, charged to the turn that repeated.  Conclusive only when the same agent had
made the same call with the same arguments, it had failed with a permanent error, and nothing came in between that could
have cured it: no change by another call, no word of the user.
"""

from __future__ import annotations

from collections.abc import Sequence

from evaluators.cases import Role, Turn
from evaluators.issues import IssueCode
from evaluators.rules.effects import Effect
from evaluators.rules.errors import ErrorClass
from evaluators.rules.grounding import Finding
from evaluators.rules.repetition import Step, same_call

_FREE_RETRIES = 2
_WAITED_S = 1.0


def futile_retries(steps: Sequence[Step], turn: Turn) -> list[Finding]:
    """Calls of `turn` that repeat a failed one of an earlier turn unchanged.

    Args:
        steps: the run's calls in order.
        turn: the turn whose calls are looked at.
    """
    findings: list[Finding] = []
    # Where every model call is a run of its own, what failed before is known from the history that this turn was given.
    user_spoke = turn.context is not None and turn.context[-1:] != () and turn.context[-1].role is Role.USER
    shown = [] if user_spoke else [step for step in steps if step.call.earlier and step.call.id in turn.answers]
    for step in steps:
        if step.turn is None or step.turn.index != turn.index or step.arguments is None or step.succeeded:
            continue
        failed = [
            earlier
            for earlier in steps[: step.index]
            if earlier.turn is not None
            and earlier.turn.index < turn.index
            and earlier.succeeded is False
            and earlier.agent == step.agent
            and earlier.user_turn == step.user_turn
            and same_call(earlier, step)
        ] or [earlier for earlier in shown if earlier.succeeded is False and same_call(earlier, step)]
        if failed and (finding := _of(step, failed, steps)) is not None:
            findings.append(finding)
    return findings


def _of(step: Step, failed: list[Step], steps: Sequence[Step]) -> Finding | None:
    last = failed[-1]
    error = last.error
    if error is None:
        return None
    times = "once" if len(failed) == 1 else f"{len(failed)} times"
    said = f"{step.call.name} was called again with unchanged arguments after it had failed {times}"
    if error.kind is ErrorClass.PERMANENT:
        after = steps[last.index + 1 :] if last.call.earlier else steps[last.index + 1 : step.index]
        cured = any(
            other.effect is not Effect.READ and other.succeeded is not False and not same_call(other, step)
            for other in after
        )
        return Finding(
            IssueCode.IDENTICAL_RETRY,
            f"{said}; the error says that repeating can't help.",
            step.call.id,
            conclusive=error.certain and not cured,
        )
    if len(failed) > _FREE_RETRIES and not _waited(last, step):
        return Finding(IssueCode.IDENTICAL_RETRY, f"{said}.", step.call.id)
    return None


def _waited(one: Step, other: Step) -> bool:
    first, second = one.call.result, other.call.result
    if first is None or second is None or first.started_s is None or second.started_s is None:
        return False
    return second.started_s - first.started_s - (first.duration_s or 0.0) >= _WAITED_S
