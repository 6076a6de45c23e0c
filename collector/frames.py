"""Messages between the service and its judging process: a length and a pickle, over a pipe.

Both ends are this program, so what is unpickled is what it pickled itself; nothing from outside ever comes this way
other than as bytes inside a message.
"""

from __future__ import annotations

import asyncio
import pickle
import struct

_LENGTH = struct.Struct(">Q")


def encode(message: object) -> bytes:
    """A message as it goes over the pipe."""
    body = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    return _LENGTH.pack(len(body)) + body


async def read(reader: asyncio.StreamReader) -> object | None:
    """The next message; None when the other end has closed."""
    try:
        head = await reader.readexactly(_LENGTH.size)
        body = await reader.readexactly(_LENGTH.unpack(head)[0])
    except asyncio.IncompleteReadError:
        return None
    message: object = pickle.loads(body)
    return message


async def write(writer: asyncio.StreamWriter, message: object) -> None:
    """Send a message, waiting while the pipe is full. Raises ConnectionError when the other end has closed."""
    writer.write(encode(message))
    await writer.drain()
