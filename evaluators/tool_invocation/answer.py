"""What a judge may answer about calls."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, model_validator

from evaluators.rules.judged import require_agreement

CallIssue = Literal[
    "invalid_json",
    "missing_argument",
    "unexpected_argument",
    "wrong_type",
    "not_in_enum",
    "pattern",
    "bad_format",
    "wrong_value",
    "ungrounded_value",
    "sensitive_value",
]


class CallAnswer(BaseModel):
    """One call. The explanation comes first, so that the label follows from it."""

    model_config = ConfigDict(extra="forbid")

    call_id: str
    explanation: str
    label: Literal["correct", "incorrect"]
    issues: list[CallIssue]

    @model_validator(mode="after")
    def _label_and_issues_agree(self) -> Self:
        require_agreement(self.label, self.issues)
        return self


class InvocationAnswer(BaseModel):
    """Every call that was asked about, once."""

    model_config = ConfigDict(extra="forbid")

    calls: list[CallAnswer]
