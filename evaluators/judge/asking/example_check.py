"""Whether a model can answer control statements at all: asked once, about a run of our own that can't steer it.

In: the wish to know, from requests whose control statements were answered wrongly.  Out: that the model answers them
in a request like all others about a harmless run, so that the run in question has steered it; that it doesn't, and is
too weak to be checked; or that it couldn't be found out.  However many want to know, one request is under way; what
came of it is remembered for an hour, since models change behind their names, and never beyond the life of the judge.
It goes the way of all requests: in the endpoint's manner, within every limit, counted.  It never shows anything of a
user's run.

Statements alone, without a run, tell less: small models that get them right there get them wrong beside a record.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace

from evaluators.judge.answering.answer import control_is_met
from evaluators.judge.asking.composing import empty_order
from evaluators.judge.asking.example_run import QUESTION, RUN
from evaluators.judge.asking.sender import Sender, Turn
from evaluators.judge.endpoint.errors import RequestError
from evaluators.judge.endpoint.request import Order, Tally
from evaluators.judge.limits.clock import Clock
from evaluators.judge.limits.not_asked import NotAskedError
from evaluators.judge.showing.control import Control, fresh_control
from evaluators.judge.showing.prompt import build_prompt, prepare
from evaluators.verdict import Usage

_log = logging.getLogger(__name__)

KNOWN_FOR_S = 3600.0
_ENOUGH_TOKENS = 10_000


class ExampleCheck:
    """What is known of one judge's model.

    Args:
        name: the judge's, for the log.
        model: its model's, for the log.
        sender: sends requests.
        turn: whose turn such a request is, and until when.
        clock: the time.
    """

    def __init__(self, name: str, model: str, sender: Sender, turn: Callable[[], Turn], clock: Clock) -> None:
        self._name = name
        self._model = model
        self._sender = sender
        self._turn = turn
        self._clock = clock
        self._passes = False
        self._known_until_s = float("-inf")
        self._asking: asyncio.Task[bool | None] | None = None
        self._unshared: list[Usage] = []
        self._warned = False

    @property
    def known(self) -> bool | None:
        """Whether the model answers control statements beside the example; None if that isn't known now."""
        return self._passes if self._clock.now_s() < self._known_until_s else None

    async def passes(self) -> bool | None:
        """The same, asked if it isn't known; None if that brought no answer that could be read."""
        if self.known is not None:
            return self.known
        if self._asking is None:
            self._asking = asyncio.create_task(self._ask(), name="judge asked about the example run")
        asking = self._asking
        # Others may wait for it as well, so it doesn't end with who waits here.
        await asyncio.wait((asking,))
        return None if asking.cancelled() else asking.result()

    def take_usages(self) -> list[Usage]:
        """What has been used since the last time, for the first to ask."""
        taken, self._unshared = self._unshared, []
        return taken

    async def close(self) -> None:
        """End what is under way."""
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.wait((self._asking,))

    async def _ask(self) -> bool | None:
        control = fresh_control()
        turn = self._turn()
        tally = Tally(usages=self._unshared)
        try:
            async with turn.deadline.timer:
                reply = await self._sender.send(order_of(control), tally, turn)
        except (RequestError, NotAskedError, TimeoutError):
            return None
        finally:
            self._asking = None
        if reply.refused or reply.finish_reason in ("length", "content_filter"):
            return None
        passes = control_is_met(reply.text, control)
        if passes is not None:
            self._passes = passes
            self._known_until_s = self._clock.now_s() + KNOWN_FOR_S
        if passes is False and not self._warned:
            self._warned = True
            _log.warning(
                "%s: %s gets control statements wrong even beside a harmless run, so from now on it is asked "
                "without them: its verdicts count less and say control: not_checked, and where a text of a run speaks "
                "to a judge, it gives none; use a larger model, or measure this one with spanjudge calibrate",
                self._name,
                self._model,
            )
        return passes


def order_of(control: Control) -> Order:
    """A request like all others, about the example run."""
    shown = replace(prepare(RUN), control=control)
    asked = [("q1", QUESTION)]
    order = empty_order(shown, asked)
    prompt = build_prompt(shown, asked, _ENOUGH_TOKENS)
    assert prompt is not None
    return replace(order, system=prompt.system, user=prompt.user, questions=0)
