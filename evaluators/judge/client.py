"""The judge behind an OpenAI-compatible endpoint: questions about a run in, validated answers or honest failures out.

All questions of one call share a request while they fit.  What the endpoint does wrong, and what a limit on our side
holds back, becomes a `JudgeFailure` with a reason for the operator: nothing is guessed, nothing raised, and nothing of
one call reaches another but valid answers to the very same question, if a cache is configured.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from evaluators.cases import Run
from evaluators.judge.answering.answer import Read, read_answer
from evaluators.judge.asking.batches import batches
from evaluators.judge.asking.composing import named
from evaluators.judge.asking.conversation import Conversation
from evaluators.judge.asking.example_check import ExampleCheck
from evaluators.judge.asking.exchange import Exchange, answer_of
from evaluators.judge.asking.sender import Sender, Turn
from evaluators.judge.cache.answer_cache import AnswerCache, Kept
from evaluators.judge.cache.case_key import case_keys, manner_of
from evaluators.judge.cache.remembering import Remembering
from evaluators.judge.limits.clock import Clock, SystemClock
from evaluators.judge.limits.deadline import Deadline
from evaluators.judge.limits.gate import Gates
from evaluators.judge.limits.line import Urgency
from evaluators.judge.limits.urgency import most_urgent
from evaluators.judge.question import Answer, JudgeAnswer, Question
from evaluators.judge.report import Asked, Levels, OnReport, OnRequest, QuestionsReport
from evaluators.judge.settings import JudgeSettings
from evaluators.judge.showing.prompt import ShownRun, prepare
from evaluators.judge.showing.redactor import Redactor
from evaluators.rules.secrets import redact
from evaluators.verdict import Status


class OpenAIJudge:
    """Implements `evaluators.judge.question.Judge`.

    Args:
        settings: endpoint, model and limits.
        on_request: told about every request, see `OnRequest`.
        on_report: told what came of questions and what was spent.
        name: the judge's, under which its budgets are kept.
        gates: those of all judges of the process; without them the judge has one of its own.
        clock: the time; another one than the system's is for tests.
        patient: nobody waits for the answers, as with files: any number of requests may wait for a place, however long.
    """

    def __init__(
        self,
        settings: JudgeSettings,
        on_request: OnRequest | None = None,
        *,
        on_report: OnReport = lambda _: None,
        name: str = "judge",
        gates: Gates | None = None,
        clock: Clock | None = None,
        patient: bool = False,
    ) -> None:
        # The library behind it is heavy: whoever only reads settings or judges by rules shall not carry it.
        from evaluators.judge.endpoint.endpoint import Endpoint

        self.name = name
        self._settings = settings
        self._manner = manner_of(settings)
        self._on_report = on_report
        self._clock = clock or SystemClock()
        self._patient = patient
        gates = gates or Gates((settings,), self._clock, unbounded=patient)
        self._gate = gates.gate_of(settings)
        self._sender = Sender(settings, Endpoint(settings, on_request), self._gate, name, self._clock, on_report)
        self._memory = Remembering(AnswerCache(settings.cache), self._clock) if settings.cache is not None else None
        self._example = ExampleCheck(name, settings.model, self._sender, self._turn_of_example, self._clock)
        self._conversation = Conversation(settings, self._sender, self._example)
        self._under_way: set[Deadline] = set()
        self._closing = asyncio.Event()
        self._idle = asyncio.Event()

    @property
    def model(self) -> str:
        """The model's name, as it is configured."""
        return self._settings.model

    def levels(self) -> Levels:
        """How it stands with the limits."""
        return self._sender.levels()

    def ask_no_more(self) -> None:
        """Begin no other request, neither for this judge nor for those with the same address and key.

        What is under way may still be answered.
        """
        self._gate.close()

    async def close(self) -> None:
        """Ends what is under way and closes the connections; whoever waits or asks from now on is told so."""
        if self._closing.is_set():
            return
        self._closing.set()
        for deadline in self._under_way:
            deadline.end_now()
        if self._under_way:
            await self._idle.wait()
        await self._example.close()
        await self._sender.close()
        if self._memory is not None:
            self._memory.close()

    async def ask(self, run: Run, questions: Sequence[Question]) -> list[Answer]:
        """One answer per question, in order.

        Raises:
            TypeError: an answer type can't be said in a strict JSON Schema, a mistake of its evaluator.
        """
        shown = prepare(run, Redactor(self._settings.redact), with_control=self._settings.control_statements)
        asked_s = self._asked_now_s()

        async def ask(places: list[int]) -> list[tuple[Answer, Kept | None]]:
            return await self._ask_model(run, shown, [questions[place] for place in places], asked_s)

        def known(place: int, kept: Kept) -> Answer | None:
            return self._known(shown, questions[place], kept)

        if self._memory is None or self._closing.is_set():
            answers = [answer for answer, _ in await ask(list(range(len(questions))))]
        else:
            answers = await self._memory.answers(case_keys(shown, questions, self._settings), known, ask)
        return [self._with_manner(one) if isinstance(one, JudgeAnswer) else one for one in answers]

    def _with_manner(self, answer: JudgeAnswer) -> JudgeAnswer:
        """Whoever measures a judge has to know whether it was checked: it is asked in another way, and another risk."""
        return replace(answer, manner=f"{self._manner} unchecked" if answer.unchecked else self._manner)

    def _asked_now_s(self) -> float | None:
        """From when deadlines count for what is asked now."""
        return None if self._patient else self._clock.now_s()

    def _turn_of_example(self) -> Turn:
        """The turn of the request about the example run: others wait for what comes of it."""
        return self._turn(Urgency.FAILURE, self._asked_now_s())

    def _turn(self, urgency: Urgency, asked_s: float | None) -> Turn:
        deadline = Deadline(self._settings.limits.deadline, self._clock, asked_s)
        return Turn(urgency=urgency, number=self._gate.number(), deadline=deadline)

    def _known(self, shown: ShownRun, question: Question, kept: Kept) -> Answer | None:
        """An answer that was kept, read like a new one."""
        if kept.unchecked and shown.steering:
            # Not known to be so when it was kept.
            return None
        read = read_answer("answer", dict(kept.written), question, shown.aliases, redact)
        if not isinstance(read, Read):
            return None
        self._on_report(QuestionsReport(asked=Asked.CACHED, questions=1))
        answer = answer_of(read, shown, left_out=kept.left_out, unchecked=kept.unchecked, model=self.model)
        return replace(answer, cached=True)

    async def _ask_model(
        self, run: Run, shown: ShownRun, questions: Sequence[Question], asked_s: float | None
    ) -> list[tuple[Answer, Kept | None]]:
        answered: dict[int, tuple[Answer, Kept | None]] = {}

        async def ask_batch(places: list[int]) -> None:
            asked = named(questions, places)
            exchange = Exchange(shown=shown, asked=asked, model=self.model)
            turn = self._turn(most_urgent(run, [question for _, question in asked]), asked_s)
            await self._within_deadline(exchange, turn)
            answered.update(zip(places, zip(exchange.answers(), exchange.kept(), strict=True), strict=True))
            for report in exchange.reports():
                self._on_report(report)

        await asyncio.gather(*map(ask_batch, batches(questions, self._settings.steps_per_request)))
        return [answered[place] for place in range(len(questions))]

    async def _within_deadline(self, exchange: Exchange, turn: Turn) -> None:
        if self._closing.is_set():
            exchange.stop()
            return
        deadline = turn.deadline
        self._under_way.add(deadline)
        try:
            async with deadline.timer:
                await self._conversation.hold(exchange, turn)
        except TimeoutError:
            exchange.settle()
            if self._closing.is_set():
                exchange.stop()
            else:
                exchange.fail(Status.TIMED_OUT, self._too_late(exchange))
        finally:
            self._under_way.discard(deadline)
            if not self._under_way:
                self._idle.set()

    def _too_late(self, exchange: Exchange) -> str:
        within = f"within {self._settings.limits.deadline:g} s (limits::deadline)"
        if exchange.was_sent:
            return f"{self._settings.endpoint} gave no valid answer {within}, repetitions and waiting included"
        return (
            f"no place for the request {within}: {self._sender.waits_for}; raise the deadline or "
            f"max_concurrent_requests, or judge less"
        )
