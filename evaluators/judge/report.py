"""What is told about every request to a judge endpoint, for whoever counts or traces them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from evaluators.verdict import Usage


class Outcome(StrEnum):
    """How one request ended."""

    OK = "ok"
    RATE_LIMITED = "rate_limited"
    OUT_OF_QUOTA = "out_of_quota"
    SERVER_ERROR = "server_error"
    UNREACHABLE = "unreachable"
    TIMED_OUT = "timed_out"
    UNAUTHORIZED = "unauthorized"
    NOT_FOUND = "not_found"
    REJECTED = "rejected"
    TOO_LARGE = "too_large"
    UNREADABLE = "unreadable"
    ABANDONED = "abandoned"
    """Given up on our side: the deadline passed, or whoever asked was cancelled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestReport:
    """One HTTP request.

    `http_status` is None when no answer came.  `questions` says how many were asked.  `problem` tells an operator what
    was wrong and what to do, without anything of what was sent or answered; it is empty when a reply came.
    """

    model: str
    outcome: Outcome
    duration_s: float
    usage: Usage
    questions: int
    http_status: int | None = None
    problem: str = ""


OnRequest: TypeAlias = Callable[[RequestReport], str | None]
"""Called after every request, must not raise. May return the id of the trace in which it recorded the request."""
