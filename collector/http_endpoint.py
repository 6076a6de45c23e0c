"""Serves a small ASGI application on an address of its own, on the running event loop."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from contextlib import contextmanager
from functools import partial
from typing import Any

import uvicorn

from collector.receivers.connections import Connections
from collector.receivers.http_protocol import DeadlineProtocol
from collector.start_error import StartError

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]
STOP_WITHIN_S = 2.0
_BACKLOG = 128
_CONNECTIONS = 100


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
        listen: opens the listening socket; raises StartError.
        application: what answers.
    """

    def __init__(self, name: str, listen: Callable[[], socket.socket], application: Application) -> None:
        self._name = name
        self._listen = listen
        self._port = 0
        self._application = application
        self._server: _Server | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def port(self) -> int:
        """The port that is listened on, once started; 0 if it is no network address."""
        return self._port

    async def start(self) -> None:
        """Begin to listen.

        Raises:
            StartError: the address can't be had.
        """
        listening = self._listen()
        if listening.family != socket.AF_UNIX:
            self._port = listening.getsockname()[1]
        config = uvicorn.Config(
            self._application,
            # uvicorn takes bound methods for the older interface unless it is told.
            interface="asgi3",
            lifespan="off",
            log_config=None,
            access_log=False,
            # Closes connections that send no head, so that nobody can keep others out with silent ones.
            http=partial(DeadlineProtocol, connections=Connections(_CONNECTIONS)),  # type: ignore[arg-type]
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


def on_address(name: str, host: str, port: int) -> Callable[[], socket.socket]:
    """Listens on a network address when it is called.

    Args:
        name: what it is for, in messages.
        host, port: where; port 0 takes a free one.

    Raises (when called):
        AddressInUseError: the address can't be had.
    """
    where = f"{host or '*'}:{port}"

    def listen() -> socket.socket:
        try:
            family, kind, protocol, _, address = socket.getaddrinfo(
                host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )[0]
            listening = socket.socket(family, kind, protocol)
        except OSError as error:
            raise AddressInUseError(f"{name}: can't listen on {where}: {error.strerror}") from None
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
            listening.listen(_BACKLOG)  # whoever connects from now on is served
        except OSError as error:
            listening.close()
            reason = f"{error.strerror}; choose another address, or stop what uses this one"
            raise AddressInUseError(f"{name}: can't listen on {where}: {reason}") from None
        listening.setblocking(False)
        return listening

    return listen
