"""The judge behind an OpenAI-compatible endpoint: questions about a run in, validated answers or honest failures out.

All questions of one call share a request while they fit.  What the endpoint does wrong becomes a `JudgeFailure` with a
reason for the operator: nothing is guessed, nothing raised, nothing kept for the next call.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from evaluators.cases import Run
from evaluators.judge.batches import batches
from evaluators.judge.errors import RequestError, too_slow
from evaluators.judge.exchange import Exchange
from evaluators.judge.prompt import CORRECTION_CHARS, ShownRun, build_prompt, correction, prepare
from evaluators.judge.question import Answer, NamedQuestion, Question
from evaluators.judge.report import OnRequest
from evaluators.judge.request import Order, Reply, Tally
from evaluators.judge.retries import wait_before_retry_s
from evaluators.judge.schema import answer_schema
from evaluators.judge.settings import JudgeSettings
from evaluators.rules.secrets import redact
from evaluators.verdict import Status


class OpenAIJudge:
    """Implements `evaluators.judge.question.Judge`.

    Args:
        settings: endpoint, model and limits.
        on_request: told about every request, see `OnRequest`.
        sleep: waits between attempts; another one than `asyncio.sleep` is for tests.
    """

    def __init__(
        self,
        settings: JudgeSettings,
        on_request: OnRequest | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        # The library behind it is heavy: whoever only reads settings or judges by rules shall not carry it.
        from evaluators.judge.endpoint import Endpoint

        self._settings = settings
        self._sleep = sleep
        self._endpoint = Endpoint(settings, on_request)
        self._slots = asyncio.Semaphore(settings.max_concurrent_requests)
        self._deadlines: set[asyncio.Timeout] = set()
        self._closing = asyncio.Event()

    @property
    def model(self) -> str:
        """The model's name, as it is configured."""
        return self._settings.model

    async def close(self) -> None:
        """Ends what is under way and closes the connections; whoever waits or asks from now on is told so."""
        if self._closing.is_set():
            return
        self._closing.set()
        for deadline in self._deadlines:
            deadline.reschedule(asyncio.get_running_loop().time())
        for _ in range(self._settings.max_concurrent_requests):
            await self._slots.acquire()
        await self._endpoint.close()

    async def ask(self, run: Run, questions: Sequence[Question]) -> list[Answer]:
        """One answer per question, in order.

        Raises:
            TypeError: an answer type can't be said in a strict JSON Schema, a mistake of its evaluator.
        """
        shown = prepare(run, _without_secrets if self._settings.redact else None)
        answers: dict[int, Answer] = {}

        async def ask_batch(places: list[int]) -> None:
            asked = [(f"q{number}", questions[place]) for number, place in enumerate(places, 1)]
            answered = await self._ask(shown, asked)
            answers.update(zip(places, answered, strict=True))

        await asyncio.gather(*map(ask_batch, batches(questions, self._settings.steps_per_request)))
        return [answers[place] for place in range(len(questions))]

    async def _ask(self, shown: ShownRun, asked: Sequence[NamedQuestion]) -> list[Answer]:
        exchange = Exchange(shown=shown, asked=asked, model=self.model)
        order = self._order(exchange, asked)
        if order is None:
            limit = self._settings.max_prompt_chars
            exchange.fail(Status.TOO_LARGE, f"the run doesn't fit into {limit} characters even when cut")
            return exchange.answers()
        if self._closing.is_set():
            return exchange.stopped()
        async with self._slots:
            if self._closing.is_set():
                return exchange.stopped()
            deadline = asyncio.timeout(self._settings.timeout)
            self._deadlines.add(deadline)
            try:
                async with deadline:
                    await self._converse(exchange, order)
            except TimeoutError:
                exchange.settle()
                if self._closing.is_set():
                    return exchange.stopped()
                exchange.fail(Status.TIMED_OUT, too_slow(self._settings).reason)
            finally:
                self._deadlines.discard(deadline)
        return exchange.answers()

    async def _converse(self, exchange: Exchange, order: Order) -> None:
        """Asks, and once more for those whose answer was junk."""
        deadline_s = asyncio.get_running_loop().time() + self._settings.timeout
        for last in (False, True):
            try:
                reply = await self._request(order, exchange.tally, deadline_s)
            except RequestError as failure:
                exchange.settle()
                exchange.fail(failure.status, failure.reason)
                return
            refusal = _refusal(reply, self._settings)
            if refusal is not None:
                exchange.settle()
                exchange.fail(Status.JUDGE_ERROR, refusal)
                return
            exchange.take(reply)
            if last or not exchange.open:
                break
            again = self._order(exchange, exchange.open)
            assert again is not None, "fewer questions fit where more did"
            order = replace(again, user=again.user + correction(exchange.faults(), [name for name, _ in exchange.open]))
        exchange.fail_junk()

    def _order(self, exchange: Exchange, asked: Sequence[NamedQuestion]) -> Order | None:
        """What to send so that `asked` are answered; the words are the same for all attempts."""
        schema = answer_schema(asked, exchange.shown.aliases)
        order = Order(system="", user="", schema=schema, questions=len(asked))
        if exchange.prompt is None:
            room = self._settings.max_prompt_chars - order.chars - CORRECTION_CHARS
            exchange.prompt = build_prompt(exchange.shown, exchange.asked, room)
        if exchange.prompt is None:
            return None
        return replace(order, system=exchange.prompt.system, user=exchange.prompt.user)

    async def _request(self, order: Order, tally: Tally, deadline_s: float) -> Reply:
        """One reply, after as many attempts as are allowed."""
        retries_made = 0
        while True:
            try:
                return await self._endpoint.request(order, tally)
            except RequestError as failure:
                wait_s = wait_before_retry_s(
                    failure,
                    retries_made=retries_made,
                    max_retries=self._settings.max_retries,
                    left_s=deadline_s - asyncio.get_running_loop().time(),
                    jitter=random.random(),
                )
                if wait_s is None:
                    raise
            await self._sleep(wait_s)
            retries_made += 1


def _refusal(reply: Reply, settings: JudgeSettings) -> str | None:
    """Why this reply is no answer, where the endpoint itself says so."""
    if reply.refused or reply.finish_reason == "content_filter":
        return f"{settings.model} refused to answer; the run's content may offend its rules, use another model for it"
    if reply.finish_reason == "length":
        return (
            f"the answer of {settings.model} was cut off at its output limit; "
            f"lower steps_per_request, or use a model that may write more"
        )
    return None


def _without_secrets(text: str) -> str:
    # Personal data stays: whether an address or a number was passed on rightly can't be judged without it.
    return redact(text, personal=False)
