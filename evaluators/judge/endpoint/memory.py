"""What has been learnt of an endpoint, shared by all requests to it.

In: refusals and answers as they come.  Out: the manner in which the next request is sent.  As long as nothing is known
to work, one request goes ahead and the others wait for it a moment, so that a refusal is met once and not by all that
are under way.  Kept for the life of the client; when what used to work is refused, it is found out anew.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from evaluators.judge.endpoint.lessons import Sent, lesson
from evaluators.judge.endpoint.manner import SCHEMA_MODES, Manner, Mode, Parameter
from evaluators.judge.endpoint.refusal import Refusal

# Endpoints refuse before they begin to compute. Whoever hasn't been refused so far is being answered.
REFUSED_WITHIN_S = 2.0
_MOST_STRIKES = 2
_MOST_STRIKES_IN_WORDS = 6


class Memory:
    """The manner of one model at one endpoint."""

    def __init__(self) -> None:
        self.manner = Manner()
        self._works = False
        self._gave_form = False
        self._strikes = 0
        self._ahead: asyncio.Event | None = None

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[Manner]:
        """Waits until the manner is likely to be known, and says which it is."""
        while not self._works and self._ahead is not None:
            try:
                async with asyncio.timeout(REFUSED_WITHIN_S):
                    await self._ahead.wait()
            except TimeoutError:
                break
        mine = None
        if not self._works and self._ahead is None:
            mine = self._ahead = asyncio.Event()
        try:
            yield self.manner
        finally:
            if mine is not None:
                mine.set()
                self._ahead = None

    def refused(self, sent: Sent, refusal: Refusal) -> str | None:
        """What this refusal teaches, in words for a log; None if nothing, empty if it was known meanwhile."""
        if sent.manner != self.manner:
            return ""
        learnt = lesson(sent, refusal)
        if learnt is None:
            return None
        strongest = sent.mode is self.manner.mode()
        if self._works and strongest and self.manner.unusable and learnt.unusable != self.manner.unusable:
            # What used to work is refused: there is another server or model behind the address.
            learnt = _anew(self.manner)
        return self._learn(learnt)

    def answered(self, sent: Sent, *, has_form: bool | None) -> str:
        """Notes an answer; what it teaches, in words for a log, mostly nothing.

        Args:
            sent: how it was asked for.
            has_form: whether it was of the form asked for; None if that can't be told, as it was cut off.
        """
        if sent.manner != self.manner:
            return ""
        self._works = True
        strongest = sent.mode is self.manner.mode()
        if has_form is None or not strongest:
            return ""
        if has_form:
            self._gave_form, self._strikes = True, 0
            return ""
        self._strikes += 1
        most = _MOST_STRIKES_IN_WORDS if sent.mode is Mode.TEXT else _MOST_STRIKES
        return self._ignored(sent.mode) if self._strikes >= most else ""

    def leave_out(self, sent: Sent, parameter: Parameter) -> str:
        """Notes that answers suffer from a parameter; as a refusal of it would be."""
        if sent.manner != self.manner:
            return ""
        return self._learn(replace(self.manner, left_out=self.manner.left_out | {parameter}))

    def bound(self, sent: Sent) -> str | None:
        """Notes that an answer ran into its limit; None where bounds are refused, don't help or aren't read."""
        if sent.manner != self.manner:
            return ""
        if sent.mode is Mode.TEXT or sent.mode is Mode.JSON_OBJECT:
            return None
        if self.manner.bounded_schemas or Parameter.BOUNDS in self.manner.left_out:
            return None
        return self._learn(replace(self.manner, bounded_schemas=True))

    def _ignored(self, mode: Mode) -> str:
        """The form is asked for and not given: the next weaker mode, or all anew where there is none."""
        self._strikes = 0
        if mode is not Mode.TEXT:
            ignored = SCHEMA_MODES if mode in SCHEMA_MODES else {mode}
            return self._learn(replace(self.manner, unusable=self.manner.unusable | ignored))
        return self._learn(_anew(self.manner)) if self._gave_form else ""

    def _learn(self, manner: Manner) -> str:
        if manner.mode() is not self.manner.mode():
            self._works = self._gave_form = False
            self._strikes = 0
        self.manner = manner
        return manner.described()


def _anew(manner: Manner) -> Manner:
    return replace(manner, unusable=frozenset(), plain_schemas=False)
