"""Load: several senders that take what comes next and send it, at a pace, until they are told to stop."""

from __future__ import annotations

import asyncio
import inspect
import random
import time
from collections import Counter
from typing import Self

from tests.chaos.ledger import Ledger
from tests.chaos.senders import RefusedForGoodError, Sender, over_grpc, over_http
from tests.chaos.traffic import Sent, Traffic


class Load:
    """See the module's text; `async with` begins and ends it, and ends only when everything is acknowledged.

    Args:
        ledger: where it is written down.
        traffic: what is sent.
        grpc_port, http_port: the receivers.
        spans_per_s: of all senders together; as fast as they are answered if that is slower.
        seed: for the waits of senders.
    """

    def __init__(
        self, ledger: Ledger, traffic: Traffic, grpc_port: int, http_port: int, *, spans_per_s: float, seed: int
    ) -> None:
        self._ledger = ledger
        self._traffic = traffic
        rngs = [random.Random(seed + number) for number in range(4)]
        self._senders = [
            over_grpc(grpc_port, rngs[0], compressed=False),
            over_http(http_port, rngs[1], compressed=False),
            over_grpc(grpc_port, rngs[2], compressed=True),
            over_http(http_port, rngs[3], compressed=True),
        ]
        self._pause_s_per_span = len(self._senders) / spans_per_s
        self._stopping = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self.requests = 0
        self.refused_for_good: list[str] = []

    async def __aenter__(self) -> Self:
        self._tasks = [asyncio.create_task(self._go_on(sender)) for sender in self._senders]
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                await self.stop()
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            for sender in self._senders:
                closing = sender.close()
                if inspect.isawaitable(closing):
                    await closing

    async def stop(self) -> None:
        """Begin nothing new, and return when everything that was begun is acknowledged."""
        self._stopping.set()
        await asyncio.gather(*self._tasks)
        rest = self._traffic.rest()
        if rest is not None:
            await self.send(self._senders[0], rest)

    async def send(self, sender: Sender, sent: Sent) -> None:
        """Send one request until it is acknowledged."""
        self._ledger.offer(sent.spans)
        self.requests += 1
        try:
            await sender.send(sent.body, lambda: self._ledger.attempt(sent.spans))
        except RefusedForGoodError as error:
            self.refused_for_good.append(str(error))
        else:
            self._ledger.acknowledge(sent.spans)

    async def send_aside(self, sent: Sent) -> None:
        """Send a request that isn't of the traffic."""
        await self.send(self._senders[0], sent)

    @property
    def refusals(self) -> Counter[str]:
        """What senders were told when they were to send again."""
        return sum((sender.refusals for sender in self._senders), Counter())

    @property
    def undated(self) -> int:
        """How often they were to send again over HTTP and weren't told when."""
        return sum(sender.undated for sender in self._senders)

    async def _go_on(self, sender: Sender) -> None:
        due_s = time.monotonic()
        while not self._stopping.is_set():
            sent = self._traffic.next()
            await self.send(sender, sent)
            due_s = max(due_s + len(sent.spans) * self._pause_s_per_span, time.monotonic() - 1.0)
            await asyncio.sleep(max(due_s - time.monotonic(), 0.0))
