"""What a judge may answer about a choice of tools."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, model_validator

from evaluators.rules.judged import require_agreement

CallIssue = Literal[
    "unknown_tool", "wrong_tool", "suboptimal_tool", "unneeded_tool", "should_have_asked", "unsafe_tool"
]
TurnIssue = Literal["missing_tool_call", "should_have_asked", "wrong_number_of_tools", "unsafe_tool"]
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
    """A turn with calls: each of them, and the turn."""

    model_config = ConfigDict(extra="forbid")

    calls: list[ChoiceAnswer]
    turn: TurnAnswer


class NoCallsSelectionAnswer(BaseModel):
    """A turn without calls."""

    model_config = ConfigDict(extra="forbid")

    turn: TurnAnswer
