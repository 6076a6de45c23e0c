"""Several destinations at once, outages, signals that aren't taken, figures that add up: with real servers."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from grpc import StatusCode
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from collector.exporters import attempts
from collector.exporters.settings import RetrySettings
from collector.records import Signal
from tests.collector.backends import (
    GrpcBackend,
    GrpcFault,
    HttpAnswer,
    HttpBackend,
    partial_success,
    span_names,
)
from tests.collector.exporters.harness import NAMES, QUICK, Harness, grpc_sender, http_sender

ONE_A_REQUEST: dict[str, object] = {"batch": {"min_size": 1, "flush_timeout": "5ms"}}


def folder(path: Path, name: str) -> Path:
    (path / name).mkdir()
    return path / name


# -- a slow destination never delays another ---------------------------------------------------------------------------


async def test_a_fast_destination_has_everything_before_a_slow_one_has_a_tenth_and_whatever_a_dead_one_does(
    tmp_path: Path,
) -> None:
    arrivals: list[str] = []

    def notes(name: str) -> Callable[[int, bytes], bytes]:
        return lambda number, request: arrivals.append(name) or b""  # type: ignore[func-returns-value]

    async with GrpcBackend() as reserved:
        pass
    fast, slow = GrpcBackend(notes("fast")), GrpcBackend(notes("slow"), delay_s=0.2)
    async with fast, slow:
        harnesses = {
            name: Harness(grpc_sender(backend), folder(tmp_path, name), queue=ONE_A_REQUEST)
            for name, backend in (("fast", fast), ("slow", slow), ("dead", reserved))
        }
        for harness in harnesses.values():
            await harness.queue.start()
        for number in range(200):
            for harness in harnesses.values():
                harness.put(f"s{number}")
        while len(harnesses["fast"].queue):
            await asyncio.sleep(0.005)
        while len(harnesses["slow"].queue):
            await asyncio.sleep(0.005)
        last_of_fast = max(place for place, name in enumerate(arrivals) if name == "fast")
        assert arrivals[:last_of_fast].count("slow") < 20
        assert len(harnesses["dead"].queue) == 200
        for name in ("fast", "slow"):
            assert await harnesses[name].finish() == []
        assert len(await harnesses["dead"].finish(0.0)) == 200
    assert sorted(span_names(*fast.accepted)) == sorted(span_names(*slow.accepted)) == sorted(
        f"s{number}" for number in range(200)
    )  # fmt: skip


# -- outages -----------------------------------------------------------------------------------------------------------


async def test_after_an_outage_no_more_come_at_once_than_there_are_consumers(tmp_path: Path) -> None:
    down, under_way, most = True, 0, 0

    async with GrpcBackend() as backend:
        answer = backend.export

        async def export(request: bytes, context: object, path: str) -> bytes:
            nonlocal under_way, most
            under_way += 1
            most = max(most, under_way)
            await asyncio.sleep(0)
            try:
                return await answer(request, context, path)  # type: ignore[arg-type]
            finally:
                under_way -= 1

        backend.export = export  # type: ignore[method-assign,assignment]
        backend.answer = lambda number, request: GrpcFault(StatusCode.UNAVAILABLE) if down else b""
        harness = Harness(grpc_sender(backend), tmp_path, queue={**ONE_A_REQUEST, "num_consumers": 4})
        await harness.queue.start()
        for number in range(300):
            harness.put(f"s{number}")
        while len(backend.attempts) < 40:
            await asyncio.sleep(0.005)
        tried = {name for attempt in backend.attempts for name in span_names(attempt.request)}
        # Four, and one that is let in because all of them fail.
        assert len(tried) <= 5
        down = False
        assert await harness.finish() == []
    assert most <= 5
    assert len(span_names(*backend.accepted)) == 300


async def test_a_delay_that_is_asked_for_is_waited_for_even_if_others_get_through(tmp_path: Path) -> None:
    order: list[str] = []

    def answer(number: int, request: bytes) -> GrpcFault | bytes:
        (name,) = span_names(request)
        order.append(name)
        if name == "throttled" and order.count(name) == 1:
            return GrpcFault(StatusCode.UNAVAILABLE, retry_after_s=0.5)
        return b""

    async with GrpcBackend(answer) as backend:
        harness = Harness(grpc_sender(backend), tmp_path, queue=ONE_A_REQUEST)
        await harness.queue.start()
        harness.put("throttled")
        while "throttled" not in order:
            await asyncio.sleep(0.002)
        for number in range(20):
            harness.put(f"s{number}")
        assert await harness.finish() == []
    assert order[-1] == "throttled"
    assert sorted(span_names(*backend.accepted)) == sorted(["throttled", *(f"s{number}" for number in range(20))])


@pytest.mark.parametrize("asked_s", [1e9, 9e15])
async def test_an_absurd_delay_is_bounded(asked_s: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("collector.exporters.delivery.MAX_RETRY_AFTER_S", 0.05)

    def answer(number: int, request: bytes) -> HttpAnswer:
        return HttpAnswer(429, headers=(("retry-after", f"{asked_s:.0f}"),)) if number == 1 else HttpAnswer()

    async with HttpBackend(answer) as backend:
        harness = Harness(http_sender(backend), tmp_path)
        await harness.queue.start()
        harness.put("a")
        assert await harness.finish() == []
    assert span_names(*backend.accepted) == ["a"]


async def test_retries_dont_end_by_default(tmp_path: Path) -> None:
    assert RetrySettings().max_elapsed_time == 0
    async with HttpBackend(lambda number, request: HttpAnswer(503 if number <= 300 else 200)) as backend:
        harness = Harness(http_sender(backend), tmp_path, RetrySettings(initial_interval=0.0001, max_interval=0.0002))
        await harness.queue.start()
        harness.put("a")
        while len(harness.queue):
            await asyncio.sleep(0.005)
        await harness.finish()
    assert len(backend.attempts) == 301
    assert harness.dead() == []


# -- signals -----------------------------------------------------------------------------------------------------------


async def test_a_signal_that_is_switched_off_is_asked_for_again_and_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "ASK_AGAIN_S", 0.05)
    async with HttpBackend(lambda number, request: HttpAnswer(404 if number <= 2 else 200)) as backend:
        harness = Harness(http_sender(backend), tmp_path)
        await harness.queue.start()
        number = 0
        seen_off = False
        while not backend.accepted:
            harness.put(f"log{number}", signal=Signal.LOGS)
            number += 1
            await asyncio.sleep(0.01)
            seen_off = seen_off or harness.metric("exporter_switched_off_log_records") == 1
        assert await harness.finish() == []
    assert seen_off
    assert harness.metric("exporter_switched_off_log_records") == 0
    assert len(backend.attempts) - len(backend.accepted) == 2
    assert harness.metric("exporter_unsupported_log_records") + harness.metric("exporter_sent_log_records") == number


async def test_a_signal_that_was_taken_before_is_kept_when_the_destination_loses_its_route(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("collector.exporters.delivery.MISCONFIGURED_WAIT_S", 0.01)
    async with HttpBackend(lambda number, request: HttpAnswer(404 if 1 < number < 6 else 200)) as backend:
        harness = Harness(http_sender(backend), tmp_path)
        await harness.queue.start()
        harness.put("before", signal=Signal.LOGS)
        while len(harness.queue):
            await asyncio.sleep(0.002)
        harness.put("meanwhile", signal=Signal.LOGS)
        while len(backend.attempts) < 4:
            await asyncio.sleep(0.001)
        assert await harness.finish() == []
    assert span_names(*backend.accepted) == ["before", "meanwhile"]
    assert harness.metric("exporter_unsupported_log_records") == 0


async def test_a_destination_that_cannot_be_used_as_configured_is_a_gauge_until_it_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("collector.exporters.delivery.MISCONFIGURED_WAIT_S", 0.02)
    refuses = True
    async with GrpcBackend() as backend:
        backend.answer = lambda number, request: GrpcFault(StatusCode.UNAUTHENTICATED) if refuses else b""
        harness = Harness(grpc_sender(backend), tmp_path)
        await harness.queue.start()
        harness.put("a")
        while not harness.metric("exporter_misconfigured"):
            await asyncio.sleep(0.005)
        refuses = False
        assert await harness.finish() == []
    assert harness.metric("exporter_misconfigured") == 0


# -- figures that add up -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rejected", [-5, 0, 3, 40, 10**6])
async def test_rejected_items_never_count_more_than_were_sent(rejected: int, tmp_path: Path) -> None:
    async with GrpcBackend(lambda number, request: partial_success(rejected)) as backend:
        harness = Harness(grpc_sender(backend), tmp_path)
        await harness.queue.start()
        harness.put(*NAMES)
        assert await harness.finish() == []
    counted = max(min(rejected, len(NAMES)), 0)
    assert harness.metric("exporter_rejected_spans") == counted
    assert harness.metric("exporter_sent_spans") == len(NAMES) - counted
    assert harness.metric("exporter_warned_requests") == (counted == 0)


OUTCOMES = [
    lambda request: HttpAnswer(),
    lambda request: HttpAnswer(200, partial_success(1), (("content-type", "application/x-protobuf"),)),
    lambda request: HttpAnswer(503),
    lambda request: HttpAnswer(500),
    lambda request: HttpAnswer(0),
    lambda request: HttpAnswer(429, headers=(("retry-after", "0"),)),
    lambda request: HttpAnswer(413) if len(request) > 300 else HttpAnswer(),
    lambda request: HttpAnswer(400) if any(name.endswith("7") for name in span_names(request)) else HttpAnswer(),
]


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32), sizes=st.lists(st.integers(1, 12), min_size=1, max_size=25))
async def test_at_every_moment_all_that_was_handed_over_is_somewhere(
    seed: int, sizes: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    chance = random.Random(seed)
    directory = tmp_path_factory.mktemp("letters")

    async with HttpBackend(lambda number, request: chance.choice(OUTCOMES)(request)) as backend:
        harness = Harness(http_sender(backend), directory, QUICK, ONE_A_REQUEST)

        def account() -> float:
            kinds = ("queue", "sent", "rejected", "dead_lettered", "unsupported")
            return sum(harness.metric(f"exporter_{kind}_spans") for kind in kinds)

        await harness.queue.start()
        handed_over = 0
        for place, size in enumerate(sizes):
            harness.put(*(f"s{place}-{number}" for number in range(size)))
            handed_over += size
            await asyncio.sleep(0)
        while len(harness.queue):
            assert account() == handed_over
            await asyncio.sleep(0.005)
        assert await harness.finish() == []
        assert account() == handed_over
        assert harness.metric("exporter_in_flight_requests") == 0
    assert len(harness.dead()) == harness.metric("exporter_dead_lettered_spans")
