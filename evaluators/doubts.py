"""What makes a judge's verdict less sure: texts it wasn't shown, texts that speak to it, and that nothing checked it.

In: a verdict and the answer it rests on.  Out: the same verdict with less confidence, and with the reason in `details`
and in its explanation.  Never changes a score or a label.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from evaluators.cases import JsonValue
from evaluators.judge.question import JudgeAnswer
from evaluators.judge.steering import Kind, Steering
from evaluators.verdict import Verdict

_LESS_WHEN_NOTHING_WAS_SHOWN = 0.4
_WHEN_SPOKEN_TO = 0.6
_WHEN_UNCHECKED = 0.8
_CONTROL, _NOT_CHECKED = "control", "not_checked"
NOT_CHECKED: Mapping[str, JsonValue] = {_CONTROL: _NOT_CHECKED}
"""What `details` say of a verdict whose judge is too weak for control statements."""
_UNCHECKED = "(The model is too weak for control statements: nothing checked whether it answers by what it reads.)"
_MOST_NAMED = 8
_WORDS = {
    Kind.TASK: "what the user says",
    Kind.EARLIER: "what was said before",
    Kind.RESULT: "a tool's result",
    Kind.ERROR: "an error",
    Kind.DESCRIPTION: "a tool's description",
    Kind.PARAMETERS: "a tool's parameters",
    Kind.ARGUMENTS: "a call's arguments",
    Kind.TEXT: "what the agent says",
    Kind.ANSWER: "what the agent says",
    Kind.SYSTEM: "the instructions",
}


def doubted(verdict: Verdict, answer: JudgeAnswer) -> Verdict:
    """The verdict, less sure by as much as its judge wasn't shown, if a text of the run speaks to it, if unchecked."""
    confidence, explanation = verdict.confidence, verdict.explanation
    details: dict[str, JsonValue] = dict(verdict.details)
    if answer.left_out > 0:
        details["left_out"] = round(answer.left_out, 4)
        if confidence is not None:
            confidence *= 1 - _LESS_WHEN_NOTHING_WAS_SHOWN * answer.left_out
    if answer.steering:
        details["steering"] = [_told(one) for one in answer.steering[:_MOST_NAMED]]
        where = " and ".join(dict.fromkeys(_WORDS[one.kind] for one in answer.steering))
        explanation = f"{explanation} (In this run {where} may address whoever judges it.)".strip()
        if confidence is not None:
            confidence *= _WHEN_SPOKEN_TO
    if answer.unchecked:
        details |= NOT_CHECKED
        explanation = f"{explanation} {_UNCHECKED}".strip()
        if confidence is not None:
            confidence *= _WHEN_UNCHECKED
    rounded = None if confidence is None else round(confidence, 4)
    return replace(verdict, confidence=rounded, explanation=explanation, details=details)


def is_unchecked(verdict: Verdict) -> bool:
    """Whether the verdict is one of a judge that is too weak for control statements."""
    return verdict.details.get(_CONTROL) == _NOT_CHECKED


def _told(steering: Steering) -> dict[str, JsonValue]:
    return {"in": steering.kind.value, "ref": steering.ref}
