"""Whether there is a score, and if not, why not."""

from __future__ import annotations

from collections.abc import Iterable
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


OPEN = (
    Status.JUDGE_ERROR,
    Status.TIMED_OUT,
    Status.OVER_BUDGET,
    Status.TOO_LARGE,
    Status.NEEDS_JUDGE,
    Status.SAMPLED_OUT,
)
"""There was something to judge, and a judge would have been needed that didn't; what is worst for an operator first."""

UNANSWERED = frozenset({Status.JUDGE_ERROR, Status.TIMED_OUT, Status.OVER_BUDGET})
"""A judge failed or had no budget left, which says nothing about what was to be judged: it may be asked again."""


def foremost(statuses: Iterable[Status]) -> Status:
    """Why several verdicts that all lack a score lack it: what went wrong before what was missing."""
    found = set(statuses)
    return next((one for one in (*OPEN, Status.MISSING_INPUT) if one in found), Status.NOT_APPLICABLE)
