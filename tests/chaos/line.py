"""The line to a backend: a TCP relay at a port that stays, which can be cut, go deaf, or break off in an answer."""

from __future__ import annotations

import asyncio
import contextlib
from enum import Enum

from tests.e2e.sidecar import free_port

_CHUNK_BYTES = 1 << 16


class LineState(Enum):
    """How it is."""

    OPEN = "open"
    DOWN = "down"
    """Nobody listens, and connections are reset."""
    DEAF = "half-open"
    """Connections are taken, and nothing is ever read or said."""
    BREAKING = "closed in the middle of answers"
    """Of every answer one byte arrives, then the connection is reset."""


class Line:
    """See the module's text."""

    def __init__(self) -> None:
        self.port = free_port()
        self._target = 0
        self._state = LineState.DOWN
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._awake = asyncio.Event()

    async def start(self, target: int) -> None:
        """Lead to this port."""
        self._target = target
        await self.become(LineState.OPEN)

    async def become(self, state: LineState) -> None:
        """Change; connections stay unless it goes down or opens after having been deaf."""
        was, self._state = self._state, state
        if state is LineState.DOWN or was is LineState.DEAF:
            self._reset()
        if state is LineState.DOWN:
            if self._server is not None:
                self._server.close()
                self._server = None
        elif self._server is None:
            self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        if state is LineState.DEAF:
            self._awake.clear()
        else:
            self._awake.set()

    async def stop(self) -> None:
        """Close everything."""
        await self.become(LineState.DOWN)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _reset(self) -> None:
        for writer in self._writers:
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._writers.add(writer)
        with contextlib.suppress(OSError, asyncio.CancelledError):
            await self._awake.wait()
            from_backend, to_backend = await asyncio.open_connection("127.0.0.1", self._target)
            self._writers.add(to_backend)
            try:
                there = asyncio.create_task(self._pass(reader, to_backend, answers=False))
                await self._pass(from_backend, writer, answers=True)
                there.cancel()
            finally:
                self._writers.discard(to_backend)
                to_backend.close()
        self._writers.discard(writer)
        self._tasks.discard(task)
        writer.close()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, answers: bool) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(_CHUNK_BYTES):
                await self._awake.wait()
                if answers and self._state is LineState.BREAKING:
                    writer.write(data[:1])
                    await writer.drain()
                    writer.transport.abort()
                    return
                writer.write(data)
                await writer.drain()
            writer.close()
