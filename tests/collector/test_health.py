"""The health check as a load balancer or Kubernetes asks it."""

from __future__ import annotations

import asyncio
import socket

import httpx2
import pytest

from collector.health import HealthCheck, HealthCheckSettings
from collector.http_endpoint import AddressInUseError
from collector.receivers import http_protocol


async def status(health: HealthCheck, path: str = "/") -> int:
    async with httpx2.AsyncClient(trust_env=False) as client:
        return (await client.get(f"http://127.0.0.1:{health.port}{path}")).status_code


async def test_it_answers_200_only_while_telemetry_is_taken() -> None:
    health = HealthCheck(HealthCheckSettings(endpoint="127.0.0.1:0", path="/healthz"))
    await health.start()
    try:
        assert await status(health, "/healthz") == 503
        health.set_ready(True)
        assert await status(health, "/healthz") == 200
        assert await status(health, "/") == 404
        health.set_ready(False)
        assert await status(health, "/healthz") == 503
    finally:
        await health.stop()


async def test_it_is_alive_from_the_start_to_the_end_whatever_else_is() -> None:
    health = HealthCheck(HealthCheckSettings(endpoint="127.0.0.1:0", backlog_threshold=50), lambda _: True)
    await health.start()
    try:
        assert (await status(health, "/live"), await status(health, "/ready")) == (200, 503)
        health.set_ready(True)
        assert (await status(health, "/live"), await status(health, "/ready"), await status(health)) == (200, 503, 200)
    finally:
        await health.stop()


async def test_it_is_ready_again_only_when_the_backlog_is_ten_points_lower() -> None:
    backlog = 0.0
    health = HealthCheck(
        HealthCheckSettings(endpoint="127.0.0.1:0", backlog_threshold=80), lambda share: backlog >= share
    )
    await health.start()
    health.set_ready(True)
    try:
        seen = []
        for now in (0.79, 0.8, 0.75, 0.7, 0.69, 0.79):
            backlog = now
            seen.append(await status(health, "/ready"))
        assert seen == [200, 503, 503, 503, 200, 200]
    finally:
        await health.stop()


async def test_silent_connections_keep_nobody_out_and_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_protocol, "HEAD_DEADLINE_S", 0.5)
    health = HealthCheck(HealthCheckSettings(endpoint="127.0.0.1:0"))
    await health.start()
    health.set_ready(True)
    silent = [await asyncio.open_connection("127.0.0.1", health.port) for _ in range(200)]
    try:
        assert await status(health) == 200
        async with asyncio.timeout(20):
            assert [await reader.read() for reader, _ in silent] == [b""] * 200
    finally:
        for _, writer in silent:
            writer.close()
        await health.stop()


async def test_an_address_that_is_taken_is_named_with_a_remedy() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        health = HealthCheck(HealthCheckSettings(endpoint=f"127.0.0.1:{port}"))
        with pytest.raises(AddressInUseError) as caught:
            await health.start()
    assert str(caught.value) == (
        f"extensions::health_check: can't listen on 127.0.0.1:{port}: Address already in use; "
        "choose another address, or stop what uses this one"
    )
