"""What a judge is asked, and what it may answer: the contract between evaluators and the model client.

An evaluator turns an open case into a `Question`; whoever implements `Judge` shows the run to a model and returns one
`Answer` per question, in order.  An answer is validated against the question's `answer_type` before the evaluator sees
it; anything that isn't valid is a `JudgeFailure`, never a guess.

What evaluators can rely on when they write questions and answer types:

- Turns are called `turn_name(turn.index)` in the run as it is shown ("turn 1" is the first), calls by short aliases.
  Write a call's id as `call_name(call.id)` in `subject` and `findings`; it is replaced by its alias.  Both are shown as
  data: say what is meant, put no instructions there (those belong into `criteria`).
- A field named `call_id` anywhere in an answer holds the id of a call of the run, never an alias.  When the question
  has `call_ids`, the answer type needs a field `calls`, a list of a model that has `call_id`; an answer holds exactly
  one item for each of the calls, in the order of the question.
- A field named `evidence` anywhere in an answer is a list of refs that exist in the run.  The schema shown to the model
  gets one at the top of every answer; an answer type needs its own only for finer places (one sub-goal).
- Fixed words are `Literal` or enum fields: anything else the model says there is junk.  Ranges (`ge`, `le`) and
  validators hold as well.  Every field is required in the model's answer; use `X | None` for what may be absent.
- Text in an answer is redacted and cut to a few sentences.  Order of fields is the order in which the model writes:
  put the reasoning before the label.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol, TypeAlias

from pydantic import BaseModel

from evaluators.cases import Run
from evaluators.judge.steering import Steering
from evaluators.verdict import NO_USAGE, Status, Usage


class ToolsTold(IntEnum):
    """How much of the tools on offer a question needs; a request tells what that question needs which needs most."""

    PURPOSES = 0
    """What those are for that were called."""
    CALLED = 1
    """Also what these take."""
    ALL = 2
    """Every tool, what it is for and what it takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One thing to be judged.

    `criteria`     what to look for, the same text for all questions of an evaluator (sent once per request).
    `subject`      which turn and calls are meant, in the words of the run as it is shown.
    `findings`     what rules suspect, to be confirmed or rejected.
    `answer_type`  the pydantic model of the answer; its JSON Schema is what the endpoint is asked to honour.
    `call_ids`     the calls that must each be answered once; empty when the answer isn't per call.
    `tools`        how much of the tools on offer has to be known for the answer.
    """

    evaluator: str
    criteria: str
    subject: str
    answer_type: type[BaseModel]
    findings: tuple[str, ...] = ()
    call_ids: tuple[str, ...] = ()
    tools: ToolsTold = ToolsTold.ALL


NamedQuestion: TypeAlias = tuple[str, Question]
"""A question under the name by which a request and its answer know it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeAnswer:
    """A valid answer: `content` is an instance of the question's `answer_type`.

    `evidence` are refs of the run that exist; those that the model made up have been dropped, `made_up_evidence` counts
    them.
    `input_cut` says that the model was shown less than everything, `left_out` which share of the run's texts it wasn't
    shown.  `steering` are texts of the run that speak to a judge.  `usage` is this question's share of the request;
    nothing if it is `cached`, an answer given before to the very same question.  `manner` names the way of asking
    (instructions, settings, and whether it is checked), as `model` names the model.  `unchecked`: the model is too weak
    for control statements, so nothing shows whether it answers by what it reads.
    """

    content: BaseModel
    evidence: tuple[str, ...] = ()
    made_up_evidence: int = 0
    input_cut: bool = False
    left_out: float = 0.0
    steering: tuple[Steering, ...] = ()
    unchecked: bool = False
    model: str = ""
    manner: str = ""
    usage: Usage = NO_USAGE
    trace_id: str | None = None
    cached: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeFailure:
    """No valid answer: `status` is judge_error, timed_out, too_large or over_budget, `reason` a short sentence.

    `junk`: what this model says of the case can't be used, so that another one may be asked.
    """

    status: Status
    reason: str
    junk: bool = False
    model: str = ""
    usage: Usage = NO_USAGE


Answer: TypeAlias = JudgeAnswer | JudgeFailure


def turn_name(index: int) -> str:
    """How the turn at this place of `Run.turns` is called in the run as it is shown to a judge."""
    return f"turn {index + 1}"


def call_name(call_id: str) -> str:
    """How a call is called in `subject` and `findings`; whoever shows them puts the call's alias in its place."""
    return f"call ‹{call_id}›"


class Judge(Protocol):
    """Whoever can answer questions about a run."""

    @property
    def model(self) -> str:
        """The model's name, as part of every revision."""

    async def ask(self, run: Run, questions: Sequence[Question]) -> list[Answer]:
        """One answer per question, in order.  Never raises for what the model or the network does."""
