"""Messages between the service and its judging process: pickles with their length, over a pair of sockets.

What a message hands out as `pickle.PickleBuffer` follows its pickle as it is, so that it is copied by nobody but the
kernel; at the other end it is bytes.

Both ends are this program, so what is unpickled is what it pickled itself; nothing from outside ever comes this way
other than as bytes inside a message.  Both directions are buffered and never block; whoever sends a lot waits for
`room`.
"""

from __future__ import annotations

import asyncio
import pickle
import socket
import struct
from collections.abc import Callable
from typing import cast

# Of a frame, of the pickle in it, and how many buffers follow; then the buffers' lengths, the pickle, the buffers.
_HEAD = struct.Struct(">QQQ")
_SOCKET_BUFFER_BYTES = 1 << 20


def channel_sockets() -> tuple[socket.socket, socket.socket]:
    """The two ends of a channel."""
    ends = socket.socketpair()
    for end in ends:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SOCKET_BUFFER_BYTES)
    return ends


class Channel(asyncio.Protocol):
    """One end, on an event loop.

    Args:
        on_message: called with each message that comes.
        on_closed: called once, when the other end is gone.
    """

    def __init__(self, on_message: Callable[[object], None], on_closed: Callable[[], None]) -> None:
        self._on_message = on_message
        self._on_closed = on_closed
        self._received = bytearray()
        self._transport: asyncio.Transport | None = None
        self._room = asyncio.Event()
        self._room.set()

    @classmethod
    async def open(
        cls, end: socket.socket, on_message: Callable[[object], None], on_closed: Callable[[], None]
    ) -> Channel:
        """A channel over one of the sockets, which it owns from now on."""
        loop = asyncio.get_running_loop()
        end.setblocking(False)
        _, channel = await loop.create_connection(lambda: cls(on_message, on_closed), sock=end)
        return channel

    def send(self, message: object) -> None:
        """Send a message; if the other end is gone, to nobody."""
        if self._transport is not None and not self._transport.is_closing():
            handed_out: list[pickle.PickleBuffer] = []
            body = pickle.dumps(message, protocol=5, buffer_callback=handed_out.append)
            buffers = list(map(pickle.PickleBuffer.raw, handed_out))
            lengths = struct.pack(f">{len(buffers)}Q", *map(len, buffers))
            size_bytes = len(lengths) + len(body) + sum(map(len, buffers))
            self._transport.writelines([_HEAD.pack(size_bytes, len(body), len(buffers)), lengths, body, *buffers])

    async def room(self) -> None:
        """Wait while a lot of what was sent hasn't been taken by the other end."""
        await self._room.wait()

    def close(self) -> None:
        """Close this end, and with it the other."""
        if self._transport is not None:
            self._transport.close()

    # -- asyncio.Protocol --------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way to send."""
        # uvloop's transports are no subclasses of asyncio's.
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """Pass on every message that is complete."""
        received = self._received
        received += data
        at = 0
        while len(received) - at >= _HEAD.size:
            size_bytes, pickled, count = _HEAD.unpack_from(received, at)
            start, end = at + _HEAD.size, at + _HEAD.size + size_bytes
            if len(received) < end:
                break
            at = end
            self._on_message(_open(memoryview(received)[start:end], pickled, count))
        if at:
            del received[:at]

    def pause_writing(self) -> None:
        """Note that the other end doesn't keep up."""
        self._room.clear()

    def resume_writing(self) -> None:
        """Note that it does again."""
        self._room.set()

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell that nothing more will come."""
        self._room.set()
        self._on_closed()


def _open(frame: memoryview, pickled: int, count: int) -> object:
    with frame:
        lengths = struct.unpack_from(f">{count}Q", frame)
        start = 8 * count
        end = start + pickled
        body = bytes(frame[start:end])
        buffers = []
        for length in lengths:
            start, end = end, end + length
            buffers.append(bytes(frame[start:end]))
    return pickle.loads(body, buffers=buffers)
