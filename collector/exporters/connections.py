"""Connections that are opened anew now and then, without a request noticing.

Who keeps one connection for ever goes on talking to the address that a name once had, shows certificates that have
been replaced, and waits on a connection whose other end is gone.  So what holds connections (an HTTP client, a gRPC
channel) is made anew after some time, or when it looks dead; the old one is closed when its last request has ended.
"""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Generic, TypeVar

from collector.logs import RateLimited

CONNECTION_AGE_S = 300.0
RETRY_S = 10.0

ClientT = TypeVar("ClientT")

_log = RateLimited(logging.getLogger(__name__))


@dataclass(slots=True)
class _Generation(Generic[ClientT]):
    client: ClientT
    renew_at_s: float
    users: int = 0


class Connections(Generic[ClientT]):
    """What one destination's requests are sent through.

    Args:
        name: id of the exporter, for messages.
        make: opens a client, reading certificates anew.  An OSError or ValueError of it means that files have become
            unusable: the old client stays.
        close: closes one.
        max_age_s: when it is replaced.
        clock: seconds of a monotonic clock.
    """

    def __init__(
        self,
        name: str,
        make: Callable[[], Awaitable[ClientT]],
        close: Callable[[ClientT], Awaitable[None]],
        max_age_s: float = CONNECTION_AGE_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._name = name
        self._make = make
        self._close = close
        self._max_age_s = max_age_s
        self._clock = clock
        self._current: _Generation[ClientT] | None = None
        self._making = False

    async def start(self) -> None:
        """Make the first client. Errors of making it are raised."""
        self._current = _Generation(await self._make(), self._clock() + self._max_age_s)

    async def stop(self) -> None:
        """Close the client, if there is one."""
        current, self._current = self._current, None
        if current is not None:
            await self._close(current.client)

    @asynccontextmanager
    async def use(self) -> AsyncIterator[ClientT]:
        """The client for one request. Raises RuntimeError before `start` and after `stop`."""
        generation = await self._latest()
        generation.users += 1
        try:
            yield generation.client
        finally:
            generation.users -= 1
            if generation is not self._current and not generation.users:
                await self._close(generation.client)

    def renew(self, client: ClientT) -> None:
        """Let the next request open new connections, unless they are newer than this client already."""
        if self._current is not None and self._current.client is client:
            self._current.renew_at_s = self._clock()

    async def _latest(self) -> _Generation[ClientT]:
        current = self._current
        if current is None:
            raise RuntimeError(f"{self._name} isn't started")
        if self._clock() < current.renew_at_s or self._making:
            return current
        self._making = True
        try:
            client = await self._make()
        except (OSError, ValueError) as error:
            current.renew_at_s = self._clock() + RETRY_S
            _log.error("%s: connections can't be renewed, the old ones stay in use: %s", self._name, error)
            return current
        finally:
            self._making = False
        self._current = _Generation(client, self._clock() + self._max_age_s)
        if not current.users:
            await self._close(current.client)
        return self._current
