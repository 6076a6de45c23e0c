"""What was asked of one judge, what it cost, and how its limits stand."""

from __future__ import annotations

from functools import partial

from collector.telemetry.instruments import Attributes, Instruments

REQUEST_DURATION = "judge_request_duration"
REQUEST_SECONDS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0)
_LEVELS = (
    ("queue_size", "Requests that wait."),
    ("requests_under_way", "Requests under way."),
    ("concurrency_limit", "Requests that may be under way."),
    ("breaker_open", "1 while it is."),
)


class JudgeMetrics:
    """Counts and gauges of one judge.

    Args:
        instruments: where it is counted.
        judge: its id.
    """

    def __init__(self, instruments: Instruments, judge: str) -> None:
        self._instruments = instruments
        self._judge = judge
        self._levels: tuple[float, ...] = ()
        counter = instruments.counter
        self._duration = instruments.histogram(REQUEST_DURATION, "Time of one judge request, by outcome.", "s")
        self._tokens = counter("judge_tokens", "Tokens used, by direction.", "{token}")
        self._questions = counter("judge_questions", "Questions to a judge, by what came of them.", "{question}")
        self._budget_tokens = counter("judge_budget_tokens", "Tokens that count against budgets.", "{token}")
        self._cost = counter("judge_cost", "What requests cost, in the currency of the prices.", "")

    def request(self, outcome: str, duration_s: float) -> None:
        """One request to the model: how it ended and how long it took."""
        self._duration.record(duration_s, {"judge": self._judge, "outcome": outcome})

    def tokens(self, read: int, written: int) -> None:
        """Tokens of prompts and of answers."""
        self._tokens.add(read, self._with(direction="input"))
        self._tokens.add(written, self._with(direction="output"))

    def asked(self, outcome: str, questions: int) -> None:
        """What came of questions."""
        self._questions.add(questions, self._with(outcome=outcome))

    def spent(self, tokens: int, money: float | None, *, estimated: bool) -> None:
        """What requests used, as endpoints told or as it was estimated; `money` is None without prices."""
        self._budget_tokens.add(tokens, self._with(estimated=estimated))
        if money is not None:
            self._cost.add(money, self._with(estimated=estimated))

    def _with(self, **attributes: str | bool) -> Attributes:
        return (("judge", self._judge), *attributes.items())

    def stands(self, queued: int, under_way: int, limit: int, breaker_open: bool) -> None:
        """How it stands with the limits; reported from the first time on."""
        first = not self._levels
        self._levels = (queued, under_way, limit, breaker_open)
        if first:
            for place, (name, description) in enumerate(_LEVELS):
                self._instruments.gauge(f"judge_{name}", description, partial(self._level, place), self._with())

    def _level(self, place: int) -> float:
        return self._levels[place]
