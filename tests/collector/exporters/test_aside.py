"""What fails for ever while others get through: it holds nobody up, it is narrowed down to one item, and it is kept."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from grpc import StatusCode

from collector.exporters import aside
from collector.exporters.settings import RetrySettings
from collector.records import Signal
from tests.collector.backends import GrpcBackend, GrpcFault, HttpAnswer, HttpBackend, span_names
from tests.collector.exporters.harness import NAMES, Harness, grpc_sender, http_sender

# So that the others don't join its request, and have ends of their own.
APART = (("x-project-name", "apart"),)
ONE_CONSUMER: dict[str, object] = {"num_consumers": 1}


def chokes_on(*names: str, status: int = 500) -> HttpBackend:
    """A server that fails on requests with one of these spans; 0: it closes the connection, as if it had died."""
    return HttpBackend(lambda number, request: HttpAnswer(status if set(names) & set(span_names(request)) else 200))


async def until_all_but(names: set[str], backend: HttpBackend | GrpcBackend, harness: Harness, among: list[str]) -> int:
    """Keep others coming until all but the named spans have arrived; how many others came."""
    others = 0
    while set(among) - set(span_names(*backend.accepted)) != names:
        harness.put(f"other{others}")
        others += 1
        await asyncio.sleep(0.002)
    return others


@pytest.mark.parametrize("status", [500, 503, 0, 403], ids=["500", "503", "dies", "403"])
async def test_one_span_that_is_never_taken_keeps_no_consumer_from_the_others(
    status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("collector.exporters.delivery.MISCONFIGURED_WAIT_S", 0.01)
    async with chokes_on("s13", status=status) as backend:
        # Two, as nothing shows that others pass where nothing can.
        harness = Harness(http_sender(backend), tmp_path, queue={"num_consumers": 2})
        await harness.queue.start()
        stubborn = harness.put(*NAMES, headers=APART)
        others = await until_all_but({"s13"}, backend, harness, NAMES)
        while harness.queue.refs() != [stubborn]:
            await asyncio.sleep(0.002)
        before = len(backend.accepted)
        # All consumers are free now.
        for number in range(20):
            harness.put(f"after{number}", headers=(("x-project-name", str(number)),))
        while harness.queue.refs() != [stubborn]:
            await asyncio.sleep(0.002)
        assert len(backend.accepted) - before == 20
        assert harness.metric("exporter_requests_aside") == 1
        assert await harness.finish(0.0) == [stubborn]
    arrived = span_names(*backend.accepted)
    assert sorted(arrived) == sorted(
        [*(set(NAMES) - {"s13"}), *(f"other{n}" for n in range(others)), *(f"after{n}" for n in range(20))]
    )
    assert harness.dead() == []


async def test_what_was_aside_arrives_when_the_destination_has_been_repaired(tmp_path: Path) -> None:
    async with chokes_on("s13") as backend:
        harness = Harness(http_sender(backend), tmp_path, queue={"num_consumers": 2})
        await harness.queue.start()
        harness.put(*NAMES, headers=APART)
        await until_all_but({"s13"}, backend, harness, NAMES)
        backend.answer = lambda number, request: HttpAnswer()
        assert await harness.finish() == []
    assert set(NAMES) <= set(span_names(*backend.accepted))
    assert harness.metric("exporter_requests_aside") == 0
    assert len(harness.store) == 0


async def test_over_grpc_it_is_the_same(tmp_path: Path) -> None:
    def chokes(number: int, request: bytes) -> bytes | GrpcFault:
        return GrpcFault(StatusCode.INTERNAL, "panic") if "s13" in span_names(request) else b""

    async with GrpcBackend(chokes) as backend:
        harness = Harness(grpc_sender(backend), tmp_path, queue={"num_consumers": 2})
        await harness.queue.start()
        stubborn = harness.put(*NAMES, headers=APART)
        await until_all_but({"s13"}, backend, harness, NAMES)
        assert stubborn in await harness.finish(0.0)
    assert harness.dead() == []


async def test_several_of_them_are_found_and_at_most_one_attempt_with_them_is_under_way(tmp_path: Path) -> None:
    bad = {"s3", "s4", "s31"}
    under_way = most = 0
    backend = HttpBackend()

    async with backend:
        harness = Harness(http_sender(backend), tmp_path, queue={"num_consumers": 4})
        send = harness.queue._sender.send

        async def watched(signal: Signal, request: bytes, headers: dict[str, str]) -> object:
            nonlocal under_way, most
            stubborn = bool(bad & set(span_names(request))) and harness.metric("exporter_requests_aside") > 0
            under_way += stubborn
            most = max(most, under_way)
            try:
                return await send(signal, request, headers)
            finally:
                under_way -= stubborn

        backend.answer = lambda number, request: HttpAnswer(500 if bad & set(span_names(request)) else 200)
        harness.queue._sender.send = watched  # type: ignore[method-assign,assignment]
        await harness.queue.start()
        harness.put(*NAMES, headers=APART)
        await until_all_but(bad, backend, harness, NAMES)
        await harness.finish(0.0)
    assert most == 1


async def test_alone_a_span_the_service_fails_on_is_parted_from_the_others_all_the_same(tmp_path: Path) -> None:
    async with chokes_on("s13") as backend:
        harness = Harness(http_sender(backend), tmp_path, queue=ONE_CONSUMER)
        await harness.queue.start()
        ref = harness.put(*NAMES, headers=APART)
        while set(NAMES) - set(span_names(*backend.accepted)) != {"s13"}:
            await asyncio.sleep(0.002)
        assert await harness.finish(0.0) == [ref]
    assert sorted(span_names(*backend.accepted)) == sorted(set(NAMES) - {"s13"})


async def test_a_destination_that_is_down_has_nothing_cut(tmp_path: Path) -> None:
    async with HttpBackend(lambda number, request: HttpAnswer(503 if number < 30 else 200)) as backend:
        harness = Harness(http_sender(backend), tmp_path)
        await harness.queue.start()
        harness.put(*NAMES, headers=APART)
        while len(harness.queue):
            await asyncio.sleep(0.002)
        await harness.finish()
    assert {len(span_names(attempt.request)) for attempt in backend.attempts} == {len(NAMES)}


async def test_a_bad_span_found_aside_goes_to_the_dead_letter_file(tmp_path: Path) -> None:
    def answer(number: int, request: bytes) -> HttpAnswer:
        names = span_names(request)
        return HttpAnswer(200 if "s13" not in names else 400 if len(names) == 1 else 500)

    async with HttpBackend(answer) as backend:
        harness = Harness(http_sender(backend), tmp_path, queue={"num_consumers": 2})
        await harness.queue.start()
        harness.put(*NAMES, headers=APART)
        await until_all_but({"s13"}, backend, harness, NAMES)
        assert await harness.finish() == []
    assert harness.dead() == ["s13"]


async def test_max_elapsed_time_counts_aside_too(tmp_path: Path) -> None:
    retry = RetrySettings(initial_interval=0.005, max_interval=0.02, max_elapsed_time=1.0)
    async with chokes_on("s13") as backend:
        harness = Harness(http_sender(backend), tmp_path, retry, queue={"num_consumers": 2})
        await harness.queue.start()
        harness.put(*NAMES, headers=APART)
        await until_all_but({"s13"}, backend, harness, NAMES)
        assert await harness.finish() == []
    assert "s13" in harness.dead()


async def test_where_there_is_no_room_aside_a_consumer_is_held_and_nothing_is_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(aside, "REQUESTS_ASIDE", 1)
    async with chokes_on("bad1", "bad2", "bad3") as backend:
        harness = Harness(http_sender(backend), tmp_path, queue={"num_consumers": 3, "batch": {"min_size": 1}})
        await harness.queue.start()
        bad = {harness.put(name, headers=(("x-project-name", name),)) for name in ("bad1", "bad2", "bad3")}
        number = 0
        while harness.metric("exporter_requests_aside") < 1 or number < 200:
            harness.put(f"other{number}")
            number += 1
            await asyncio.sleep(0.001)
        while set(harness.queue.refs()) != bad:
            await asyncio.sleep(0.002)
        assert harness.metric("exporter_requests_aside") == 1
        assert set(await harness.finish(0.0)) == bad
