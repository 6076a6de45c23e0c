"""OTLP over unix sockets, both protocols, and what is left in the file system."""

from __future__ import annotations

import asyncio
import socket
import stat
from pathlib import Path

import grpc
import pytest

from collector.receivers.unix_socket import UnixSocketError
from tests.collector.otlp_samples import request, span
from tests.e2e.receiving import Connection, RememberingIntake, grpc_receiver, http_receiver, post

TRACES = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
ONE_SPAN = request(span())


async def test_http_is_served_on_a_unix_socket_that_goes_with_the_receiver(tmp_path: Path) -> None:
    path = tmp_path / "http.sock"
    intake = RememberingIntake()
    async with http_receiver(intake, transport="unix", endpoint=str(path)) as receiver:
        assert receiver.port == 0
        assert stat.S_IMODE(path.stat().st_mode) == 0o660
        reader, writer = await asyncio.open_unix_connection(path)
        client = Connection(reader, writer)
        for _ in range(2):
            await client.send(post(ONE_SPAN))
            assert (await client.answer()).status == 200
        writer.close()
    assert [taken[1] for taken in intake.taken] == [ONE_SPAN, ONE_SPAN]
    assert not path.exists()


async def test_grpc_is_served_on_a_unix_socket_that_goes_with_the_receiver(tmp_path: Path) -> None:
    path = tmp_path / "grpc.sock"
    intake = RememberingIntake()
    async with grpc_receiver(intake, transport="unix", endpoint=str(path), socket_mode="0600"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        async with grpc.aio.insecure_channel(f"unix:{path}") as channel:
            await channel.unary_unary(TRACES)(ONE_SPAN, timeout=10)
    assert intake.taken[0][1] == ONE_SPAN
    assert not path.exists()


@pytest.mark.parametrize("serve", [http_receiver, grpc_receiver])
async def test_what_a_killed_process_left_is_replaced_and_what_is_alive_is_not(tmp_path: Path, serve: object) -> None:
    assert callable(serve)
    path = tmp_path / "otlp.sock"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
    async with serve(RememberingIntake(), transport="unix", endpoint=str(path)):
        for other in (http_receiver, grpc_receiver):
            with pytest.raises(UnixSocketError, match="another program listens there"):
                async with other(RememberingIntake(), transport="unix", endpoint=str(path)):
                    pass
        _, writer = await asyncio.open_unix_connection(path)
        writer.close()
