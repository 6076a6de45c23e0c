"""Whether there is a score, and if not, why not."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """Whether there is a score, and if not, why not."""

    OK = "ok"
    NOT_APPLICABLE = "not_applicable"
    MISSING_INPUT = "missing_input"
    NEEDS_JUDGE = "needs_judge"
    TOO_LARGE = "too_large"
    JUDGE_ERROR = "judge_error"
    OVER_BUDGET = "over_budget"
    SAMPLED_OUT = "sampled_out"
    TIMED_OUT = "timed_out"
