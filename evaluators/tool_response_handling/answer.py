"""What a judge answers about the handling of results, one answer per call."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import BaseModel, model_validator

from evaluators.issues import IssueCode
from evaluators.rules.judged import require_agreement

Fault = Literal[
    IssueCode.MISREAD_VALUE,
    IssueCode.FABRICATED,
    IssueCode.WRONG_CONVERSION,
    IssueCode.ERROR_IGNORED,
    IssueCode.ERROR_MISREPORTED,
    IssueCode.NOT_RETRIED,
    IssueCode.ARGUMENT_NOT_CORRECTED,
    IssueCode.IDENTICAL_RETRY,
    IssueCode.LEAK,
    IssueCode.RESULT_IGNORED,
    IssueCode.MEANING_REVERSED,
    IssueCode.PARTIAL_RESULT_HIDDEN,
]


class HandledCall(BaseModel):
    """How the result of one call was handled. The explanation comes first, so that the label follows from it."""

    call_id: str
    explanation: str
    label: Literal["correct", "incorrect"]
    issues: list[Fault]

    @model_validator(mode="after")
    def _label_and_issues_agree(self) -> Self:
        require_agreement(self.label, self.issues, harmless={IssueCode.NOT_RETRIED})
        return self


class ToolResponseHandlingAnswer(BaseModel):
    """One entry per call whose result was new to the turn."""

    calls: list[HandledCall]
