"""What a judge's client tells about its work, for whoever counts, traces or logs it.

Three things: every HTTP request (`RequestReport`), what came of questions (`QuestionsReport`), and what was spent
(`SpendingReport`); besides, at any time, how it stands with the limits (`Levels`).  Never holds anything of a run, an
answer or a key.
"""

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
    ADAPTED = "adapted"
    """Refused for the way in which it was asked; asked again in another way, which is remembered."""
    TOO_LARGE = "too_large"
    UNREADABLE = "unreadable"
    ABANDONED = "abandoned"
    """Given up on our side: the time-out or the deadline passed, or whoever asked was cancelled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestReport:
    """One HTTP request.

    `http_status` is None when no answer came.  `questions` says how many were asked.  `problem` tells an operator what
    was wrong and what to do, without anything of what was sent or answered; it is empty when a reply came.
    `mode` is how the form of the answer was asked for, `learnt` how the endpoint is asked from now on, if this request
    taught something new.  `finish_reason` and `response_model` are the endpoint's own words.
    """

    model: str
    outcome: Outcome
    duration_s: float
    usage: Usage
    questions: int
    http_status: int | None = None
    problem: str = ""
    mode: str = ""
    learnt: str = ""
    finish_reason: str | None = None
    response_model: str | None = None


OnRequest: TypeAlias = Callable[[RequestReport], str | None]
"""Called after every request, must not raise. May return the id of the trace in which it recorded the request."""


class Asked(StrEnum):
    """What came of a question."""

    ANSWERED = "answered"
    UNCHECKED = "unchecked"
    """Answered by a model that is too weak for control statements."""
    CACHED = "cached"
    """Answered before, at no cost."""
    JUNK = "junk"
    """Answered twice, never validly."""
    UNPROTECTED = "unprotected"
    """Not believed: a text of the run speaks to a judge, and the model is too weak for control statements."""
    REFUSED = "refused"
    CUT_OFF = "cut_off"
    """The answer was longer than the model may write, also for this question alone."""
    FAILED = "failed"
    """The request brought no reply; `RequestReport` says why."""
    TIMED_OUT = "timed_out"
    TOO_LARGE = "too_large"
    OVER_BUDGET = "over_budget"
    QUEUE_FULL = "queue_full"
    PAUSED = "paused"
    """The endpoint asked everybody to wait for longer than there was time."""
    BREAKER_OPEN = "breaker_open"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionsReport:
    """What came of questions that were asked together. `problem` is for an operator, and empty where all is well."""

    asked: Asked
    questions: int
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpendingReport:
    """What one request used. `estimated`: the endpoint didn't say all of it. `money` is None without prices."""

    tokens: int
    money: float | None
    estimated: bool


OnReport: TypeAlias = Callable[[QuestionsReport | SpendingReport], None]
"""Called with what a judge tells, must not raise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Levels:
    """How it stands: requests that wait and that are under way, how many may be, and whether the breaker is shut."""

    queued: int
    under_way: int
    limit: int
    breaker_open: bool
