"""A request is sent again only where that may help, after a bounded wait, within the time-out."""

from __future__ import annotations

import pytest

from evaluators.judge.asking.retries import wait_before_retry_s
from evaluators.judge.endpoint.errors import RequestError
from evaluators.judge.report import Outcome


def _wait(
    *, retryable: bool = True, asked_s: float | None = None, made: int = 0, left_s: float = 60, jitter: float = 1
) -> float | None:
    failure = RequestError("failed", Outcome.SERVER_ERROR, retryable=retryable, retry_after_s=asked_s)
    return wait_before_retry_s(failure, retries_made=made, max_retries=2, left_s=left_s, jitter=jitter)


def test_what_can_not_get_better_is_not_repeated() -> None:
    assert _wait(retryable=False) is None


def test_after_so_many_retries_it_gives_up() -> None:
    assert _wait(made=1) is not None
    assert _wait(made=2) is None


@pytest.mark.parametrize(("made", "jitter", "wait_s"), [(0, 1, 0.5), (0, 0, 0.25), (1, 1, 1.0)])
def test_waits_grow_and_are_spread(made: int, jitter: float, wait_s: float) -> None:
    assert _wait(made=made, jitter=jitter) == wait_s


def test_it_waits_at_least_as_long_as_the_endpoint_asks() -> None:
    assert _wait(asked_s=7, jitter=0) == 7


def test_it_does_not_wait_for_a_retry_that_would_come_too_late() -> None:
    assert _wait(asked_s=120, left_s=60) is None
