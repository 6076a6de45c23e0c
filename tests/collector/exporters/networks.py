"""What lies between an exporter and its destination: names, proxies that lose connections, certificates."""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
import subprocess
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self


@dataclass
class NameServer:
    """A DNS server that gives every name the same address, which can be changed. IPv4 only."""

    address: str
    asked: int = 0
    port: int = 0

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._transport, _ = await loop.create_datagram_endpoint(lambda: _Answering(self), ("127.0.0.1", 0))
        self.port = self._transport.get_extra_info("sockname")[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._transport.close()

    def answer(self, query: bytes) -> bytes:
        self.asked += 1
        end = query.index(b"\0", 12) + 5
        question, (kind,) = query[12:end], struct.unpack(">H", query[end - 4 : end - 2])
        answers = b""
        if kind == 1:
            answers = b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 0, 4) + socket.inet_aton(self.address)
        return query[:2] + b"\x81\x80" + struct.pack(">HHHH", 1, bool(answers), 0, 0) + question + answers


class _Answering(asyncio.DatagramProtocol):
    def __init__(self, server: NameServer) -> None:
        self._server = server

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: Any = transport

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        self._transport.sendto(self._server.answer(data), addr)


@dataclass
class LossyProxy:
    """Passes bytes on, until it forgets the connections that there are; then they stay open and nothing passes."""

    target_port: int
    port: int = 0
    connections: int = 0
    _forgotten: int = 0
    _writers: list[asyncio.StreamWriter] = field(default_factory=list)
    _tasks: list[asyncio.Task[None]] = field(default_factory=list)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for writer in self._writers:
            writer.close()

    def forget(self) -> None:
        self._forgotten = self.connections

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        number = self.connections
        there, back = await asyncio.open_connection("127.0.0.1", self.target_port)
        self._writers += [writer, back]
        self._tasks += [
            asyncio.create_task(self._pass_on(number, reader, back)),
            asyncio.create_task(self._pass_on(number, there, writer)),
        ]

    async def _pass_on(self, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(65536):
                if number > self._forgotten:
                    writer.write(data)
            if number > self._forgotten:
                writer.close()


@dataclass(frozen=True)
class Certificate:
    """A certificate for 127.0.0.1 that has signed itself, and its key."""

    certificate: Path
    key: Path

    @classmethod
    def make(cls, folder: Path, name: str) -> Self:
        made = cls(folder / f"{name}.pem", folder / f"{name}-key.pem")
        subprocess.run(
            [
                *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
                *("-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"),
                *("-keyout", str(made.key), "-out", str(made.certificate)),
            ],
            check=True,
            capture_output=True,
        )
        return made

    def server_context(self) -> ssl.SSLContext:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(self.certificate, self.key)
        return context
