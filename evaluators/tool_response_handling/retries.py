"""Whether a turn repeated a call that could only fail again.

In go a run and a turn, out come findings, charged to the turn that repeated.  Conclusive only when the same agent had
made the same call with the same arguments, it had failed with a permanent error, and nothing came in between that could
have cured it: no change by another call, no word of the user.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from evaluators.cases import Turn
from evaluators.issues import IssueCode
from evaluators.rules.effects import Effect
from evaluators.rules.errors import ErrorClass
from evaluators.rules.findings import Finding
from evaluators.rules.repetition import Step, pause_s, same_call, user_spoke_between
from evaluators.rules.run_index import Steps

_FREE_RETRIES = 2
_WAITED_S = 1.0
_MOST_LOOKED_AT = 50


def futile_retries(steps: Steps, turn: Turn) -> list[Finding]:
    """Calls of `turn` that repeat a failed one of an earlier turn unchanged.

    Args:
        steps: the run's calls.
        turn: the turn whose calls are looked at.
    """
    findings: list[Finding] = []
    for step in steps.of_turn.get(turn.index, ()):
        if step.arguments is None or step.succeeded:
            continue
        alike = steps.alike[step.call.name, step.arguments]
        before = alike[: bisect_left(alike, step.index, key=lambda one: one.index)][-_MOST_LOOKED_AT:]
        failed = [earlier for earlier in before if earlier.succeeded is False and _is_before(earlier, step)]
        if failed and (finding := _of(step, failed, steps.every)) is not None:
            findings.append(finding)
    return findings


def _is_before(earlier: Step, step: Step) -> bool:
    """Whether the agent that made `step` had seen `earlier` fail and the user had said nothing since.

    Where every model call is a run of its own, what failed before is known from the history alone.
    """
    if user_spoke_between(earlier, step):
        return False
    if earlier.call.earlier:
        return True
    return (
        earlier.turn is not None
        and step.turn is not None
        and earlier.turn.index < step.turn.index
        and earlier.agent == step.agent
    )


def _of(step: Step, failed: list[Step], steps: Sequence[Step]) -> Finding | None:
    last = failed[-1]
    error = last.error
    if error is None:
        return None
    times = "once" if len(failed) == 1 else f"{len(failed)} times"
    said = f"{step.call.name} was called again with unchanged arguments after it had failed {times}"
    if error.kind is ErrorClass.PERMANENT:
        cured = any(
            other.effect is not Effect.READ and other.succeeded is not False and not same_call(other, step)
            for other in steps[last.index + 1 : step.index]
        )
        return Finding(
            IssueCode.IDENTICAL_RETRY,
            f"{said}; the error says that repeating can't help.",
            step.call.id,
            conclusive=error.certain and not cured,
        )
    waited_s = pause_s(last, step)
    if len(failed) > _FREE_RETRIES and (waited_s is None or waited_s < _WAITED_S):
        return Finding(IssueCode.IDENTICAL_RETRY, f"{said}.", step.call.id)
    return None
