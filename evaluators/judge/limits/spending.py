"""What a request uses: calls, tokens and money; estimated where an endpoint doesn't say.

In: texts, prices, and the usage that an endpoint reported.  Out: amounts.  An unknown is never taken for nothing: what
isn't reported is estimated from the characters, upwards.
"""

from __future__ import annotations

from dataclasses import dataclass

from evaluators.judge.limit_settings import PriceSettings
from evaluators.judge.report import Outcome
from evaluators.judge.tokens import estimate_tokens
from evaluators.verdict import Usage

ANSWER_TOKENS = 250
"""What an answer to one question takes, as long as nothing better is known."""
_UNBILLED = frozenset(
    (
        Outcome.RATE_LIMITED,
        Outcome.OUT_OF_QUOTA,
        Outcome.UNAUTHORIZED,
        Outcome.NOT_FOUND,
        Outcome.REJECTED,
        Outcome.TOO_LARGE,
    )
)
"""How requests end that no model has read."""
_NO_ANSWER = frozenset((Outcome.UNREACHABLE, Outcome.ADAPTED))
"""How requests end that a model has read only if an answer began."""


@dataclass(frozen=True, slots=True)
class Amount:
    """Requests, tokens, and money in millionths."""

    calls: int = 0
    tokens: int = 0
    micros: int = 0

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.calls + other.calls, self.tokens + other.tokens, self.micros + other.micros)

    def __sub__(self, other: Amount) -> Amount:
        return Amount(self.calls - other.calls, self.tokens - other.tokens, self.micros - other.micros)


@dataclass(frozen=True, slots=True)
class Expected:
    """Tokens that a request will use, as far as one can tell."""

    read: int
    written: int

    @property
    def tokens(self) -> int:
        """Both."""
        return self.read + self.written


def expected(prompt_tokens: int, questions: int) -> Expected:
    """What a request with a prompt of so many tokens (an estimate) and so many questions will use."""
    return Expected(prompt_tokens, ANSWER_TOKENS * questions)


def amount(read: int, written: int, prices: PriceSettings | None) -> Amount:
    """One call with so many tokens."""
    # A price per million tokens is one per token in millionths.
    micros = 0 if prices is None else round(read * prices.input + written * prices.output)
    return Amount(1, read + written, micros)


def used(
    before: Expected, usage: Usage, outcome: Outcome, answer: str | None, http_status: int | None
) -> tuple[Expected, bool]:
    """What a request used, and whether that is an estimate.

    Args:
        before: what was expected of it.
        usage: what the endpoint reported.
        outcome: how it ended.
        answer: what the model wrote; None when no reply came.
        http_status: of the answer; None when not even its head came.
    """
    if outcome in _UNBILLED or (outcome in _NO_ANSWER and http_status != 200):
        return Expected(0, 0), False
    written = estimate_tokens(answer) if answer is not None else 0
    read = before.read if usage.prompt_tokens is None else usage.prompt_tokens
    if usage.completion_tokens is not None:
        written = usage.completion_tokens
    return Expected(read, written), usage.prompt_tokens is None or usage.completion_tokens is None
