"""One conversation with a model about a run: asked, corrected once, shortened or halved where it is too much.

In: an exchange with its questions, and whose turn it is.  Out: the same exchange, in which every question is answered
or given up with a reason.  A model that gets control statements wrong is asked for them beside a harmless run: if it
can answer them there, the request has steered it and is put once more; if it can't, what it says counts unchecked,
unless a text of the run speaks to it.  Never decides what makes a reply valid (`evaluators.judge.answering.answer`) nor
when a request may be sent (`evaluators.judge.asking.sender`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from evaluators.judge.asking.batches import halves
from evaluators.judge.asking.composing import empty_order, prompt_beside
from evaluators.judge.asking.context_limit import ContextLimit
from evaluators.judge.asking.example_check import ExampleCheck
from evaluators.judge.asking.exchange import Exchange
from evaluators.judge.asking.sender import Sender, Turn
from evaluators.judge.endpoint.errors import RequestError
from evaluators.judge.endpoint.request import Order, Reply
from evaluators.judge.limits.not_asked import NotAskedError
from evaluators.judge.question import NamedQuestion
from evaluators.judge.report import Asked, Outcome
from evaluators.judge.settings import JudgeSettings
from evaluators.judge.showing.prompt import correction
from evaluators.verdict import Status

_MOST_HALVINGS = 3
"""Questions that are too many for one prompt or answer are asked again in halves: eight end as one each."""
_MOST_SHORTENINGS = 2


class Conversation:
    """Holds conversations with one judge's model.

    Args:
        settings: the judge's.
        sender: sends requests.
        example: what is known of the model where nobody can have steered it.
    """

    def __init__(self, settings: JudgeSettings, sender: Sender, example: ExampleCheck) -> None:
        self._settings = settings
        self._sender = sender
        self._example = example
        self._limit = ContextLimit(settings.max_prompt_tokens)

    async def hold(self, exchange: Exchange, turn: Turn) -> None:
        """Ask all that is open in the exchange, until nothing is."""
        await self._converse(exchange, turn, _MOST_HALVINGS)

    async def _converse(self, exchange: Exchange, turn: Turn, halvings: int) -> None:
        """Asks, once more for those whose answer was junk, and in halves where prompt or answer were too long.

        A prompt is too long as well where questions take the room that the run needs.
        """
        if self._example.known is False and exchange.shown.steering:
            exchange.fail_unprotected()
            return
        order = self._order(exchange, exchange.asked)
        crowded = exchange.prompt is not None and exchange.prompt.crowded
        if crowded and len(exchange.open) > 1 and halvings > 0:
            await self._converse_in_halves(exchange, turn, halvings - 1)
            return
        undecided = False
        for last in (False, True):
            reply = await self._reply(exchange, order, turn)
            can_be_halved = len(exchange.open) > 1 and halvings > 0
            if can_be_halved and (reply is None or reply.finish_reason == "length"):
                await self._converse_in_halves(exchange, turn, halvings - 1)
                return
            if reply is None:
                exchange.fail(Status.TOO_LARGE, self._limit.reason())
                return
            if (refusal := _refusal(reply, self._settings)) is not None:
                exchange.settle()
                exchange.fail(Status.JUDGE_ERROR, *refusal)
                return
            exchange.take(reply)
            if exchange.misread:
                passes_example = await self._passes_example(exchange, may_ask=not undecided)
                undecided = passes_example is None
                if passes_example is False and exchange.shown.steering:
                    exchange.fail_unprotected()
                    return
                if passes_example is False:
                    exchange.take_unchecked(reply)
            if last or not exchange.open:
                break
            order = self._order(exchange, exchange.open)
            if order is not None:
                words = correction(exchange.faults(), [name for name, _ in exchange.open])
                order = replace(order, user=order.user + words, below=reply.formless)
        exchange.fail_junk(self._example.known)

    async def _passes_example(self, exchange: Exchange, *, may_ask: bool) -> bool | None:
        """Whether the model answers control statements beside a harmless run, if that can be found out."""
        if not may_ask:
            return self._example.known
        passes = await self._example.passes()
        exchange.tally.usages += self._example.take_usages()
        exchange.settle()
        return passes

    async def _converse_in_halves(self, exchange: Exchange, turn: Turn, halvings: int) -> None:
        exchange.settle()
        for asked in halves(exchange.open):
            part = exchange.part(asked)
            try:
                await self._converse(part, turn, halvings)
            finally:
                exchange.join(part)

    async def _reply(self, exchange: Exchange, order: Order | None, turn: Turn) -> Reply | None:
        """What the model said; None if what is open doesn't fit into a prompt, or if nothing is open any more."""
        for shortenings_left in range(_MOST_SHORTENINGS, -1, -1):
            if order is None:
                return None
            try:
                return await self._sender.send(order, exchange.tally, turn)
            except NotAskedError as held_back:
                exchange.settle()
                exchange.fail(held_back.status, held_back.reason, held_back.asked)
                return None
            except RequestError as failure:
                exchange.settle()
                too_large = failure.outcome is Outcome.TOO_LARGE
                if not (
                    too_large
                    and shortenings_left
                    and self._limit.lower(order.tokens, failure.window_tokens, failure.prompt_tokens)
                ):
                    exchange.fail(failure.status, failure.reason)
                    return None
                exchange.prompt = None
                order = self._order(exchange, exchange.open)
        raise AssertionError("the last round returns")

    def _order(self, exchange: Exchange, asked: Sequence[NamedQuestion]) -> Order | None:
        """What to send so that `asked` are answered; the words are the same for all attempts."""
        checked = exchange.shown.control is not None and not exchange.shown.steering
        if checked and self._example.known is False:
            exchange.go_unchecked()
        order = empty_order(exchange.shown, asked)
        if exchange.prompt is None:
            exchange.prompt = prompt_beside(order, exchange.shown, exchange.asked, self._limit.tokens)
        if exchange.prompt is None:
            return None
        return replace(order, system=exchange.prompt.system, user=exchange.prompt.user)


def _refusal(reply: Reply, settings: JudgeSettings) -> tuple[str, Asked] | None:
    """Why this reply is no answer, where the endpoint itself says so."""
    if reply.refused or reply.finish_reason == "content_filter":
        return (
            f"{settings.model} refused to answer; the run's content may offend its rules, use another model for it",
            Asked.REFUSED,
        )
    if reply.finish_reason == "length":
        return (
            f"the answer of {settings.model} was cut off at its output limit; "
            f"lower steps_per_request, or use a model that may write more",
            Asked.CUT_OFF,
        )
    return None
