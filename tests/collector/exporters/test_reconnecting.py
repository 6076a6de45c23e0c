"""Destinations that move, vanish without a word, change their certificates or close what is idle."""

from __future__ import annotations

import asyncio
import shutil
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import grpc
import pytest

from collector.exporters import connections
from collector.exporters.connections import Connections
from collector.exporters.otlp_grpc import OtlpGrpcSender, OtlpGrpcSettings
from collector.exporters.otlp_http import OtlpHttpSender, OtlpHttpSettings
from collector.exporters.sender import MisconfiguredError, RetryableError, Sender, SendError, Taken
from collector.records import Signal
from tests.collector.backends import GrpcBackend, HttpAnswer, HttpBackend, trace_request
from tests.collector.exporters.networks import Certificate, LossyProxy, NameServer

REQUEST = trace_request("a")


def over_grpc(endpoint: str, **more: object) -> Sender:
    settings = {"endpoint": endpoint, "tls": {"insecure": True}, "timeout": "2s", **more}
    return OtlpGrpcSender("otlp", OtlpGrpcSettings.model_validate(settings))


def over_http(endpoint: str, **more: object) -> Sender:
    return OtlpHttpSender("otlphttp", OtlpHttpSettings.model_validate({"endpoint": endpoint, "timeout": "2s", **more}))


async def send(sender: Sender) -> Taken:
    return await sender.send(Signal.TRACES, REQUEST, {})


async def until_taken(sender: Sender) -> int:
    """Send until it is taken; how often it wasn't."""
    failures = 0
    while True:
        try:
            await send(sender)
        except RetryableError:
            failures += 1
            await asyncio.sleep(0.01)
        else:
            return failures


# -- names -------------------------------------------------------------------------------------------------------------


async def test_over_grpc_a_name_whose_address_changed_is_found_at_the_new_one() -> None:
    async with NameServer("127.0.0.1") as names, GrpcBackend() as old:
        sender = over_grpc(f"dns://127.0.0.1:{names.port}/backend.test:{old.port}")
        await sender.start()
        await send(sender)
        async with GrpcBackend(host="127.0.0.2", port=old.port) as new:
            names.address = "127.0.0.2"
            await old.__aexit__()
            await until_taken(sender)
            await sender.stop()
        assert (len(old.accepted), len(new.accepted)) == (1, 1)


async def test_over_http_a_name_whose_address_changed_is_found_at_the_new_one(monkeypatch: pytest.MonkeyPatch) -> None:
    address = "127.0.0.1"
    ask = socket.getaddrinfo

    def answer(host: Any, *arguments: Any, **more: Any) -> Any:
        return ask(address if host in ("backend.test", b"backend.test") else host, *arguments, **more)

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    async with HttpBackend() as old, HttpBackend(host="127.0.0.2", port=old.port) as new:
        sender = over_http(f"http://backend.test:{old.port}")
        await sender.start()
        await send(sender)
        address = "127.0.0.2"
        await old.__aexit__()
        await until_taken(sender)
        await sender.stop()
    assert (len(old.accepted), len(new.accepted)) == (1, 1)


# -- renewal -----------------------------------------------------------------------------------------------------------


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


class Client:
    def __init__(self) -> None:
        self.open = True

    async def close(self) -> None:
        self.open = False


def renewing(
    clock: Clock, make: Callable[[], Awaitable[Client]] | None = None
) -> tuple[Connections[Client], list[Client]]:
    made: list[Client] = []

    async def one() -> Client:
        made.append(Client())
        return made[-1]

    return Connections("otlp", make or one, Client.close, 300.0, clock), made


async def test_connections_are_opened_anew_after_some_time_and_old_ones_end_with_their_last_request() -> None:
    clock = Clock()
    pool, made = renewing(clock)
    await pool.start()
    async with pool.use() as first:
        clock.now_s = 299.0
        async with pool.use() as same:
            assert same is first
        clock.now_s = 300.0
        async with pool.use() as second:
            assert second is not first
            assert first.open
    assert (first.open, second.open) == (False, True)
    await pool.stop()
    assert [client.open for client in made] == [False, False]


async def test_idle_connections_are_closed_when_they_are_replaced() -> None:
    clock = Clock()
    pool, made = renewing(clock)
    await pool.start()
    clock.now_s = 300.0
    async with pool.use():
        assert [client.open for client in made] == [False, True]


async def test_only_who_used_the_present_connections_can_have_them_renewed() -> None:
    clock = Clock()
    pool, made = renewing(clock)
    await pool.start()
    async with pool.use() as first, pool.use():
        pool.renew(first)
        async with pool.use() as second:
            pool.renew(first)
            async with pool.use() as third:
                assert third is second
    assert len(made) == 2


async def test_while_files_cannot_be_read_the_old_connections_stay(caplog: pytest.LogCaptureFixture) -> None:
    clock, readable = Clock(), True

    async def make() -> Client:
        if not readable:
            raise ValueError("ca_file: holds no certificates")
        return Client()

    pool, _ = renewing(clock, make)
    await pool.start()
    readable, clock.now_s = False, 300.0
    async with pool.use() as old:
        assert old.open
    assert "the old ones stay in use: ca_file: holds no certificates" in caplog.text
    readable, clock.now_s = True, 300.0 + connections.RETRY_S
    async with pool.use() as new:
        assert new is not old
    await pool.stop()


async def test_many_requests_at_once_open_one_set_of_connections() -> None:
    clock = Clock()
    go_on = asyncio.Event()
    made = 0

    async def make() -> Client:
        nonlocal made
        made += 1
        if made > 1:
            await go_on.wait()
        return Client()

    pool, _ = renewing(clock, make)
    await pool.start()
    clock.now_s = 300.0

    async def request() -> None:
        async with pool.use():
            go_on.set()

    await asyncio.gather(*(request() for _ in range(10)))
    assert made == 2


# -- connections that are gone -----------------------------------------------------------------------------------------


async def test_over_grpc_a_connection_that_is_gone_without_a_word_is_given_up_after_two_requests() -> None:
    async with GrpcBackend() as backend, LossyProxy(backend.port) as proxy:
        sender = over_grpc(f"127.0.0.1:{proxy.port}", timeout="200ms")
        await sender.start()
        await until_taken(sender)
        taken = len(backend.accepted)
        proxy.forget()
        assert await until_taken(sender) == 2
        await sender.stop()
    assert len(backend.accepted) == taken + 1


async def test_over_http_a_connection_that_is_gone_without_a_word_costs_one_request() -> None:
    async with HttpBackend() as backend, LossyProxy(backend.port) as proxy:
        sender = over_http(f"http://127.0.0.1:{proxy.port}", timeout="200ms")
        await sender.start()
        await send(sender)
        proxy.forget()
        assert await until_taken(sender) == 1
        await sender.stop()


async def test_a_request_on_a_kept_connection_that_the_server_just_closed_is_sent_again_at_once() -> None:
    async with HttpBackend(lambda number, request: HttpAnswer(0 if number == 2 else 200)) as backend:
        sender = over_http(backend.url)
        await sender.start()
        await send(sender)
        await send(sender)
        await sender.stop()
    assert (backend.connections, len(backend.attempts), len(backend.accepted)) == (2, 3, 2)


async def test_a_server_that_closes_new_connections_is_not_asked_twice_in_one_attempt() -> None:
    async with HttpBackend(lambda number, request: HttpAnswer(0)) as backend:
        sender = over_http(backend.url)
        await sender.start()
        with pytest.raises(RetryableError, match="can't be reached"):
            await send(sender)
        await sender.stop()
    assert len(backend.attempts) == 1


@pytest.mark.parametrize("over", ["grpc", "http"])
async def test_a_destination_that_was_down_is_reached_again(over: str) -> None:
    first: GrpcBackend | HttpBackend = GrpcBackend() if over == "grpc" else HttpBackend()
    async with first:
        sender = over_grpc(f"127.0.0.1:{first.port}") if over == "grpc" else over_http(f"http://127.0.0.1:{first.port}")
        await sender.start()
        await send(sender)
    with pytest.raises(RetryableError):
        await send(sender)
    again = GrpcBackend(port=first.port) if over == "grpc" else HttpBackend(port=first.port)
    async with again:
        await until_taken(sender)
    await sender.stop()
    assert len(again.accepted) == 1


# -- certificates ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("over", ["grpc", "http"])
async def test_a_certificate_that_was_replaced_on_both_sides_is_trusted_without_a_restart(
    over: str, tmp_path: Path
) -> None:
    old, new = Certificate.make(tmp_path, "old"), Certificate.make(tmp_path, "new")
    trusted = tmp_path / "trusted.pem"
    shutil.copy(old.certificate, trusted)
    tls = {"ca_file": str(trusted)}

    def backend(shown: Certificate, port: int = 0) -> GrpcBackend | HttpBackend:
        if over == "http":
            return HttpBackend(tls=shown.server_context(), port=port)
        pair = (shown.key.read_bytes(), shown.certificate.read_bytes())
        return GrpcBackend(credentials=grpc.ssl_server_credentials([pair]), port=port)

    async with backend(old) as first:
        sender = (
            over_grpc(f"127.0.0.1:{first.port}", tls=tls)
            if over == "grpc"
            else over_http(f"https://127.0.0.1:{first.port}", tls=tls)
        )
        await sender.start()
        await send(sender)
    async with backend(new, first.port) as second:
        with pytest.raises(MisconfiguredError, match="CERTIFICATE_VERIFY_FAILED"):
            while True:
                try:
                    await send(sender)
                except RetryableError:
                    await asyncio.sleep(0.01)
        shutil.copy(new.certificate, trusted)
        while not second.accepted:
            try:
                await send(sender)
            except SendError:
                await asyncio.sleep(0.01)
        await sender.stop()
