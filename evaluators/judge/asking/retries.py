"""When a failed request is sent again: a pure function of what failed, how often, and how much time is left."""

from __future__ import annotations

from evaluators.judge.endpoint.errors import RequestError

_FIRST_WAIT_S = 0.5
_LONGEST_WAIT_S = 8.0


def wait_before_retry_s(
    failure: RequestError, *, retries_made: int, max_retries: int, left_s: float, jitter: float
) -> float | None:
    """Seconds to wait before the next attempt; None when there should be none.

    Args:
        failure: what the last attempt ended with.
        retries_made: how many attempts came after the first.
        max_retries: how many may.
        left_s: time until the deadline.
        jitter: 0..1, spreads those who failed together.
    """
    if not failure.retryable or retries_made >= max_retries:
        return None
    backoff = min(_FIRST_WAIT_S * 2.0**retries_made, _LONGEST_WAIT_S) * (1.0 + jitter) / 2
    asked = failure.retry_after_s
    wait_s = backoff if asked is None else asked + backoff * jitter / 2
    return wait_s if wait_s < left_s else None
