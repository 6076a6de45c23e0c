"""What was already said about a span, so that a trace that grows is not judged twice for nothing.

A trace is judged several times: its steps as they settle, its runs when it is complete, and again when spans come late.
A `Mark` remembers what a verdict was based on (`inputs`) and what it said (`outcome`); equal inputs are not judged
again, and an equal outcome is not told again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from evaluators.cases import CallsCase, Case, DecisionCase, ResponseCase, RunCase, Tool, ToolCall, Turn
from evaluators.rules.material import answer_of
from evaluators.verdict import Verdict


class Mark(NamedTuple):
    """The last verdict of an evaluator on a span.

    `sequence` counts the verdicts that were told before it; `told` says whether it was told itself.
    `score`, `passed` and `confidence` are None where it had none; `status` is a `Status` value.
    """

    sequence: int
    revision: str
    inputs: str
    outcome: str
    told: bool
    status: str
    score: float | None
    passed: bool | None
    confidence: float | None = None
    uncalibrated: bool = False


Marks: TypeAlias = Mapping[tuple[str, str], Mark]
"""(span id as lower-case hex, evaluator) → the last verdict."""


def mark(verdict: Verdict, inputs: str, sequence: int, told: bool) -> Mark:
    """The mark that a verdict leaves."""
    return Mark(
        sequence=sequence,
        revision=verdict.revision,
        inputs=inputs,
        outcome=outcome_of(verdict),
        told=told,
        status=str(verdict.status),
        score=verdict.score,
        passed=verdict.passed,
        confidence=verdict.confidence,
        uncalibrated=verdict.uncalibrated,
    )


def outcome_of(verdict: Verdict) -> str:
    """A fingerprint of what a verdict says to a reader, apart from its wording."""
    issues = sorted((str(issue.code), issue.call_id or "", issue.conclusive) for issue in verdict.issues)
    return _fingerprint((str(verdict.status), verdict.label, verdict.score, issues))


def inputs_of(case: Case) -> str:
    """A fingerprint of how much of a case was there.

    Spans are immutable, so a case can only change by more of it arriving; it is enough to count. That keeps this
    linear in the number of turns and calls, however much text they carry.
    """
    match case:
        case DecisionCase(run=run, turn=turn):
            parts: tuple[object, ...] = (run.user_inputs is None, _of_turn(turn))
        case CallsCase(run=run, calls=calls, turn=step, later=later):
            # The calls beside these may be many, and are judged by themselves.
            told = [_of_call(call) for call in (*calls, *later)]
            parts = (run.user_inputs is None, told, step and _of_words(step))
        case ResponseCase(run=run, calls=calls, turn=step):
            # Later turns are context: a step isn't judged again because the run went on.
            parts = (run.user_inputs is None, [_of_call(call) for call in calls], step and _of_turn(step))
            parts += (len(answer_of(case) or ""),)
        case _:
            run = case.run
            parts = ([_of_turn(turn) for turn in run.turns], [_of_call(call) for call in run.loose_calls])
            parts += (None if run.user_inputs is None else len(run.user_inputs), len(run.system_prompts))
            parts += ([(plan.turn, plan.ref, len(plan.steps)) for plan in run.plans], len(run.delegations))
            parts += (run.answered, len(run.final_answer or ""), run.aborted, run.truncated, run.partial)
            parts += (case.sources, case.reference) if isinstance(case, RunCase) else ()
    return _fingerprint(parts)


def _of_turn(turn: Turn) -> tuple[object, ...]:
    return (*_of_words(turn), turn.answers, [_of_call(call) for call in turn.calls])


def _of_words(turn: Turn) -> tuple[object, ...]:
    return (
        None if turn.context is None else len(turn.context),
        _of_tools(turn.tools),
        len(turn.text or ""),
        turn.error is not None,
        turn.partial,
    )


def _of_call(call: ToolCall) -> tuple[object, ...]:
    result = call.result
    seen = None if result is None else (len(result.content or ""), len(result.error or ""), result.failed)
    return (call.id, call.name, call.arguments is None, seen, _of_tools(call.offered))


def _of_tools(tools: Sequence[Tool] | None) -> tuple[int, int] | None:
    """How many tools, and how many of them with their schema: an agent's span may tell of names alone."""
    return None if tools is None else (len(tools), sum(tool.parameters is not None for tool in tools))


def _fingerprint(parts: tuple[object, ...]) -> str:
    return hashlib.blake2b(repr(parts).encode("utf-8", "backslashreplace"), digest_size=8).hexdigest()
