"""Serves a small ASGI application on an address of its own, on the running event loop."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any

import uvicorn

from collector.receivers.http_protocol import DeadlineProtocol
from collector.start_error import StartError

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]
STOP_WITHIN_S = 2.0
_BACKLOG = 128


class AddressInUseError(StartError):
    """The address can't be listened on. The message says which and why."""


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        # Signals belong to the service, not to one of its endpoints.
        yield


class HttpEndpoint:
    """One listening address.

    Args:
        name: what it is for, in messages.
        host, port: where to listen; port 0 takes a free one.
        application: what answers.
    """

    def __init__(self, name: str, host: str, port: int, application: Application) -> None:
        self._name = name
        self._host = host
        self._port = port
        self._application = application
        self._server: _Server | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def port(self) -> int:
        """The port that is listened on, once started."""
        return self._port

    async def start(self) -> None:
        """Begin to listen.

        Raises:
            AddressInUseError: the address can't be had.
        """
        listening = self._bind()
        self._port = listening.getsockname()[1]
        config = uvicorn.Config(
            self._application,
            # uvicorn takes bound methods for the older interface unless it is told.
            interface="asgi3",
            lifespan="off",
            log_config=None,
            access_log=False,
            # Closes connections that send no head, so that nobody can keep others out with silent ones.
            http=DeadlineProtocol,
            timeout_keep_alive=5,
            timeout_graceful_shutdown=int(STOP_WITHIN_S),
        )
        self._server = _Server(config)
        self._task = asyncio.create_task(self._server.serve(sockets=[listening]), name=self._name)

    async def stop(self) -> None:
        """Stop listening and close what is open."""
        if self._server is not None and self._task is not None:
            self._server.should_exit = True
            await self._task

    def _bind(self) -> socket.socket:
        where = f"{self._host or '*'}:{self._port}"
        try:
            family, kind, protocol, _, address = socket.getaddrinfo(
                self._host or None, self._port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )[0]
            listening = socket.socket(family, kind, protocol)
        except OSError as error:
            raise AddressInUseError(f"{self._name}: can't listen on {where}: {error.strerror}") from None
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
            listening.listen(_BACKLOG)  # whoever connects from now on is served
        except OSError as error:
            listening.close()
            reason = f"{error.strerror}; choose another address, or stop what uses this one"
            raise AddressInUseError(f"{self._name}: can't listen on {where}: {reason}") from None
        listening.setblocking(False)
        return listening
