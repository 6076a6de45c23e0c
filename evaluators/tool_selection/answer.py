"""What a judge may answer about a choice of tools."""

from __future__ import annotations

from typing import Literal, Self, TypeAlias, get_args

from pydantic import BaseModel, ConfigDict, model_validator

from evaluators.rules.judged import require_agreement

CallIssue = Literal[
    "unknown_tool", "wrong_tool", "suboptimal_tool", "unneeded_tool", "should_have_asked", "unsafe_tool"
]
TurnIssue = Literal["missing_tool_call", "should_have_asked", "wrong_number_of_tools", "unsafe_tool"]
OnlyTurnIssue = Literal["missing_tool_call", "wrong_number_of_tools"]
"""Those of a turn that no call can have."""
AnyIssue = Literal[CallIssue, OnlyTurnIssue]
Label = Literal["correct", "incorrect"]


class ChoiceAnswer(BaseModel):
    """The choice of one call. The explanation comes first, so that the label follows from it."""

    model_config = ConfigDict(extra="forbid")

    call_id: str
    explanation: str
    label: Label
    issues: list[CallIssue]

    @model_validator(mode="after")
    def _label_and_issues_agree(self) -> Self:
        require_agreement(self.label, self.issues)
        return self


class TurnAnswer(BaseModel):
    """The turn as a whole: what is missing or too much in it."""

    model_config = ConfigDict(extra="forbid")

    explanation: str
    label: Label
    issues: list[TurnIssue]

    @model_validator(mode="after")
    def _label_and_issues_agree(self) -> Self:
        require_agreement(self.label, self.issues)
        return self


class CallsSelectionAnswer(BaseModel):
    """A turn with several calls: each of them, and the turn."""

    model_config = ConfigDict(extra="forbid")

    calls: list[ChoiceAnswer]
    turn: TurnAnswer


class OnlyChoiceAnswer(BaseModel):
    """A turn with one call, which is judged together with it: the codes tell what is at fault."""

    model_config = ConfigDict(extra="forbid")

    call_id: str
    explanation: str
    label: Label
    issues: list[AnyIssue]

    @model_validator(mode="after")
    def _label_and_issues_agree(self) -> Self:
        require_agreement(self.label, self.issues)
        return self


class OneCallSelectionAnswer(BaseModel):
    """A turn with one call."""

    model_config = ConfigDict(extra="forbid")

    calls: list[OnlyChoiceAnswer]


SelectionAnswer: TypeAlias = CallsSelectionAnswer | OneCallSelectionAnswer | TurnAnswer
"""What is answered about a turn with several calls, with one, with none."""


def calls_and_turn(answer: SelectionAnswer) -> tuple[list[ChoiceAnswer], TurnAnswer]:
    """What an answer says of each call, and of the turn."""
    if isinstance(answer, TurnAnswer):
        return [], answer
    if isinstance(answer, CallsSelectionAnswer):
        return answer.calls, answer.turn
    (only,) = answer.calls
    of_turn = [code for code in only.issues if code in get_args(OnlyTurnIssue)]
    of_call = [code for code in only.issues if code not in of_turn]
    # A fault without a code is the call's.
    call_label = only.label if of_call or not of_turn else "correct"
    turn_label = "incorrect" if of_turn else "correct"
    told = {"explanation": only.explanation}
    call = {"call_id": only.call_id, **told, "label": call_label, "issues": of_call}
    turn = {**told, "label": turn_label, "issues": of_turn}
    return [ChoiceAnswer.model_validate(call)], TurnAnswer.model_validate(turn)
