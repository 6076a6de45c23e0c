"""The queue before a destination, with real senders to real servers: whatever happens, sent is received in the end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from grpc import StatusCode
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from collector.exporters.settings import RetrySettings
from collector.records import Parcel, Signal
from tests.collector.backends import (
    GrpcBackend,
    GrpcFault,
    HttpAnswer,
    HttpBackend,
    partial_success,
    span_names,
    trace_request,
)
from tests.collector.exporters.harness import NAMES, Harness, grpc_sender, http_sender

Answer = bytes | GrpcFault


def unavailable_twice_out_of_three(number: int, request: bytes) -> Answer:
    return b"" if number % 3 == 0 else GrpcFault(StatusCode.UNAVAILABLE)


def throttled_first(number: int, request: bytes) -> Answer:
    return GrpcFault(StatusCode.RESOURCE_EXHAUSTED, retry_after_s=0.02) if number <= 3 else b""


def at_most_700_bytes(number: int, request: bytes) -> Answer:
    too_large = GrpcFault(StatusCode.RESOURCE_EXHAUSTED, "received message larger than max (9 vs. 7)")
    return too_large if len(request) > 700 else b""


def deaf_at_first(number: int, request: bytes) -> Answer:
    return GrpcFault(StatusCode.INTERNAL, "no disk") if number <= 2 else b""


@pytest.mark.parametrize("answer", [unavailable_twice_out_of_three, throttled_first, at_most_700_bytes, deaf_at_first])
async def test_over_grpc_every_span_arrives_once_whatever_the_backend_does(
    answer: Callable[[int, bytes], Answer], tmp_path: Path
) -> None:
    async with GrpcBackend(answer) as backend:
        harness = Harness(grpc_sender(backend), tmp_path)
        await harness.queue.start()
        for name in NAMES:
            harness.put(name, padding=100)
        assert await harness.finish() == []
    assert sorted(span_names(*backend.accepted)) == sorted(NAMES)
    assert harness.metric("exporter_sent_spans") == len(NAMES)
    assert len(harness.store) == 0
    assert harness.dead() == []


@pytest.mark.parametrize(
    "answer",
    [
        lambda number, request: HttpAnswer(503) if number % 3 else HttpAnswer(),
        lambda number, request: HttpAnswer(0) if number % 3 else HttpAnswer(),
        lambda number, request: HttpAnswer(429, headers=(("retry-after", "0"),)) if number <= 2 else HttpAnswer(),
        lambda number, request: HttpAnswer(413) if len(request) > 700 else HttpAnswer(),
        lambda number, request: HttpAnswer(500) if number <= 2 else HttpAnswer(),
    ],
    ids=["503", "closes the connection", "429", "413", "500"],
)
async def test_over_http_every_span_arrives_once_whatever_the_backend_does(
    answer: Callable[[int, bytes], HttpAnswer], tmp_path: Path
) -> None:
    async with HttpBackend(answer) as backend:
        harness = Harness(http_sender(backend), tmp_path)
        await harness.queue.start()
        for name in NAMES:
            harness.put(name, padding=100)
        assert await harness.finish() == []
    assert sorted(span_names(*backend.accepted)) == sorted(NAMES)
    assert len(harness.store) == 0


async def test_a_backend_that_comes_up_late_gets_everything(tmp_path: Path) -> None:
    async with GrpcBackend() as reserved:
        pass
    harness = Harness(grpc_sender(reserved), tmp_path)
    await harness.queue.start()
    for name in NAMES:
        harness.put(name)
    while not harness.metric("exporter_retried_requests"):
        await asyncio.sleep(0.01)
    async with GrpcBackend(port=reserved.port) as backend:
        assert await harness.finish() == []
    assert sorted(span_names(*backend.accepted)) == sorted(NAMES)


async def test_one_bad_span_goes_to_the_dead_letter_file_and_the_others_arrive(tmp_path: Path) -> None:
    def picky(number: int, request: bytes) -> HttpAnswer:
        return HttpAnswer(400) if "s13" in span_names(request) else HttpAnswer()

    async with HttpBackend(picky) as backend:
        harness = Harness(http_sender(backend), tmp_path)
        await harness.queue.start()
        harness.put(*NAMES, headers=(("x-project-name", "blue"),))
        assert await harness.finish() == []
    assert sorted(span_names(*backend.accepted)) == sorted(set(NAMES) - {"s13"})
    assert harness.dead() == ["s13"]
    assert harness.metric("exporter_dead_lettered_spans") == 1
    assert harness.metric("exporter_sent_spans") == len(NAMES) - 1
    (letter,) = [json.loads(line) for line in harness.dead_letters.read_text().splitlines()]
    assert (letter["destination"], letter["signal"], letter["items"]) == ("otlp/x", "traces", 1)
    assert letter["reason"].endswith("answered 400")
    assert letter["headers"] == {"x-project-name": "blue"}
    assert harness.dead_letters.stat().st_mode & 0o077 == 0


async def test_a_span_that_the_backend_chokes_on_without_saying_so_doesnt_keep_the_others(tmp_path: Path) -> None:
    def choking(number: int, request: bytes) -> HttpAnswer:
        return HttpAnswer(500 if "s13" in span_names(request) else 200)

    async with HttpBackend(choking) as backend:
        harness = Harness(http_sender(backend), tmp_path)
        await harness.queue.start()
        choked = harness.put(*NAMES)
        number = 0
        while len(set(NAMES) - set(span_names(*backend.accepted))) > 1:
            harness.put(f"later{number}")
            number += 1
            await asyncio.sleep(0.005)
        left = await harness.finish(0.1)
    assert set(NAMES) - set(span_names(*backend.accepted)) == {"s13"}
    assert choked in left
    assert harness.dead() == []


async def test_a_span_that_alone_is_too_large_goes_to_the_dead_letter_file(tmp_path: Path) -> None:
    async with GrpcBackend(at_most_700_bytes) as backend:
        harness = Harness(grpc_sender(backend), tmp_path)
        await harness.queue.start()
        harness.put("small")
        harness.put("giant", padding=5000)
        assert await harness.finish() == []
    assert span_names(*backend.accepted) == ["small"]
    assert harness.dead() == ["giant"]


async def test_requests_are_cut_to_max_size_before_they_are_sent(tmp_path: Path) -> None:
    async with GrpcBackend() as backend:
        harness = Harness(
            grpc_sender(backend), tmp_path, queue={"batch": {"min_size": 900, "max_size": 1000, "flush_timeout": "5ms"}}
        )
        await harness.queue.start()
        harness.put(*NAMES, padding=100)
        for name in NAMES:
            harness.put(name + "x", padding=100)
        assert await harness.finish() == []
    assert max(len(attempt.request) for attempt in backend.attempts) <= 1000
    assert len(backend.attempts) < len(NAMES)
    assert sorted(span_names(*backend.accepted)) == sorted(NAMES + [name + "x" for name in NAMES])


async def test_a_size_that_was_refused_is_not_tried_again_and_again(tmp_path: Path) -> None:
    def at_most_100_kb(number: int, request: bytes) -> HttpAnswer:
        return HttpAnswer(413 if len(request) > 100_000 else 200)

    async with HttpBackend(at_most_100_kb) as backend:
        harness = Harness(http_sender(backend), tmp_path)
        await harness.queue.start()
        harness.put(*NAMES, padding=10_000)
        while len(harness.queue):
            await asyncio.sleep(0.005)
        refused = len(backend.attempts) - len(backend.accepted)
        harness.put(*NAMES, padding=10_000)
        assert await harness.finish() == []
    assert refused > 0
    assert len(backend.attempts) - len(backend.accepted) == refused
    assert sorted(span_names(*backend.accepted)) == sorted(NAMES * 2)


def with_resource(size_bytes: int, *names: str) -> bytes:
    shared = ExportTraceServiceRequest()
    shared.resource_spans.add().resource.attributes.add(key="k").value.string_value = "r" * size_bytes
    spans = ExportTraceServiceRequest.FromString(trace_request(*names, padding=1000)).resource_spans[0].scope_spans
    shared.resource_spans[0].scope_spans.extend(spans)
    return shared.SerializeToString()


async def test_a_large_resource_is_not_sent_again_for_every_few_spans(tmp_path: Path) -> None:
    async with HttpBackend() as backend:
        harness = Harness(http_sender(backend), tmp_path, queue={"batch": {"min_size": 50_000, "max_size": 100_000}})
        await harness.queue.start()
        for size_bytes in (10_000, 1_000_000):
            request = with_resource(size_bytes, *NAMES, *NAMES, *NAMES, *NAMES, *NAMES)
            parcel = Parcel(Signal.TRACES, request, 5 * len(NAMES))
            harness.queue.put(harness.store.put(parcel, len(parcel.request), claims=1), parcel.waybill())
        assert await harness.finish() == []
    assert sorted(span_names(*backend.accepted)) == sorted(NAMES * 10)
    assert sum(map(len, backend.accepted)) < 1_500_000


async def test_something_small_that_is_refused_as_too_large_does_not_make_all_requests_small(tmp_path: Path) -> None:
    def hates_one(number: int, request: bytes) -> HttpAnswer:
        return HttpAnswer(413 if "hated" in span_names(request) else 200)

    async with HttpBackend(hates_one) as backend:
        harness = Harness(http_sender(backend), tmp_path)
        await harness.queue.start()
        harness.put("hated")
        while len(harness.queue):
            await asyncio.sleep(0.005)
        harness.put(*NAMES, padding=10_000)
        assert await harness.finish() == []
    assert harness.dead() == ["hated"]
    assert [span_names(request) for request in backend.accepted] == [NAMES]


async def test_small_parcels_share_a_request(tmp_path: Path) -> None:
    async with GrpcBackend() as backend:
        harness = Harness(grpc_sender(backend), tmp_path)
        await harness.queue.start()
        for name in NAMES:
            harness.put(name)
        assert await harness.finish() == []
    assert len(backend.accepted) == 1


async def test_spans_of_different_headers_never_share_a_request(tmp_path: Path) -> None:
    async with HttpBackend() as backend:
        harness = Harness(http_sender(backend), tmp_path)
        await harness.queue.start()
        for number, name in enumerate(NAMES):
            harness.put(name, headers=(("x-project-name", f"project{number % 2}"),))
        assert await harness.finish() == []
    by_project = {attempt.headers["x-project-name"]: span_names(attempt.request) for attempt in backend.attempts}
    assert by_project == {"project0": NAMES[0::2], "project1": NAMES[1::2]}


async def test_wrong_credentials_keep_everything_until_they_are_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("collector.exporters.delivery.MISCONFIGURED_WAIT_S", 0.01)
    async with HttpBackend(lambda number, request: HttpAnswer(401 if number < 4 else 200)) as backend:
        harness = Harness(http_sender(backend), tmp_path)
        await harness.queue.start()
        harness.put("a")
        while len(harness.queue):
            await asyncio.sleep(0.005)
        await harness.finish()
    assert span_names(*backend.accepted) == ["a"]
    assert "can't be used as configured; keeping everything" in caplog.text


async def test_a_signal_the_backend_doesnt_take_is_switched_off_and_the_others_go_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with HttpBackend() as backend:
        backend.answer = lambda number, request: HttpAnswer(404 if backend.attempts[-1].path == "/v1/logs" else 200)
        harness = Harness(http_sender(backend), tmp_path)
        await harness.queue.start()
        harness.put("log", signal=Signal.LOGS)
        while len(harness.queue):
            await asyncio.sleep(0.005)
        harness.put("log2", signal=Signal.LOGS)
        harness.put("span")
        assert await harness.finish() == []
    assert [attempt.path for attempt in backend.attempts] == ["/v1/logs", "/v1/traces"]
    assert harness.metric("exporter_unsupported_log_records") == 2
    assert len(harness.store) == 0
    assert "logs is switched off for this destination" in caplog.text


async def test_partial_success_is_counted_and_not_sent_again(tmp_path: Path) -> None:
    async with GrpcBackend(lambda number, request: partial_success(3)) as backend:
        harness = Harness(grpc_sender(backend), tmp_path)
        await harness.queue.start()
        harness.put(*NAMES)
        assert await harness.finish() == []
    assert len(backend.attempts) == 1
    assert harness.metric("exporter_rejected_spans") == 3
    assert harness.metric("exporter_sent_spans") == len(NAMES) - 3


@pytest.mark.parametrize(
    ("settings", "full_after"),
    [
        ({"queue_size": 3}, 3),
        ({"queue_size": 3, "sizer": "requests"}, 3),
        ({"queue_size": 6, "sizer": "items"}, 3),
        ({"queue_size": 150, "sizer": "bytes"}, 2),
    ],
)
async def test_a_full_queue_says_so_and_still_takes_what_was_accepted(
    settings: dict[str, object], full_after: int, tmp_path: Path
) -> None:
    async with GrpcBackend() as backend:
        harness = Harness(grpc_sender(backend), tmp_path, queue=settings)
        for _ in range(full_after):
            assert harness.queue.has_room()
            harness.put("a", "b")
        assert not harness.queue.has_room()
        assert harness.metric("exporter_queue_size") >= harness.metric("exporter_queue_capacity")
        harness.put("one more")
        await harness.queue.start()
        assert await harness.finish() == []
    assert harness.queue.has_room()
    assert harness.metric("exporter_queue_size") == 0
    assert span_names(*backend.accepted) == ["a", "b"] * full_after + ["one more"]


async def test_a_hanging_destination_delays_no_other(tmp_path: Path) -> None:
    async with GrpcBackend(delay_s=60) as hanging, GrpcBackend() as fine:
        stuck, flowing = Harness(grpc_sender(hanging), tmp_path), Harness(grpc_sender(fine), tmp_path)
        await stuck.queue.start()
        await flowing.queue.start()
        stuck.put("a")
        flowing.put("a")
        assert await flowing.finish() == []
        assert len(stuck.queue) == 1
        await stuck.finish(0.0)


async def test_drain_hands_back_what_didnt_get_through_by_the_deadline(tmp_path: Path) -> None:
    def only_small(number: int, request: bytes) -> Answer:
        return GrpcFault(StatusCode.UNAVAILABLE) if "stays" in span_names(request) else b""

    async with GrpcBackend(only_small) as backend:
        harness = Harness(grpc_sender(backend), tmp_path)
        await harness.queue.start()
        stays = harness.put("stays", headers=(("x-project-name", "a"),))
        harness.put("goes", headers=(("x-project-name", "b"),))
        assert await harness.finish(0.5) == [stays]
    assert span_names(*backend.accepted) == ["goes"]
    assert len(harness.store) == 1
    assert harness.store.read(stays).items == 1


async def test_another_queue_takes_over_what_one_has_not_delivered_and_nothing_is_sent_twice(tmp_path: Path) -> None:
    async with GrpcBackend(lambda number, request: GrpcFault(StatusCode.UNAVAILABLE)) as dead, GrpcBackend() as alive:
        first = Harness(grpc_sender(dead), tmp_path)
        await first.queue.start()
        under_way = first.put("tried in vain")
        while not dead.attempts:
            await asyncio.sleep(0.005)
        other_headers = (("x-project-name", "b"),)
        waiting = first.put("never tried", headers=other_headers)
        second = Harness(grpc_sender(alive), tmp_path, store=first.store)
        await second.queue.start()
        left = await first.queue.hand_over(0.05)
        assert {ref for ref, _ in left} == {under_way, waiting}
        for ref, waybill in left:
            assert waybill == first.store.read(ref).waybill()
            second.queue.put(ref, waybill)
        assert await second.finish() == []
    assert sorted(span_names(*alive.accepted)) == ["never tried", "tried in vain"]
    assert len(first.store) == 0


async def test_giving_up_after_max_elapsed_time_writes_to_the_dead_letter_file(tmp_path: Path) -> None:
    retry = RetrySettings(initial_interval=0.005, max_interval=0.01, max_elapsed_time=1.0)
    async with GrpcBackend(lambda number, request: GrpcFault(StatusCode.UNAVAILABLE)) as backend:
        harness = Harness(grpc_sender(backend), tmp_path, retry)
        await harness.queue.start()
        harness.put("a")
        assert await harness.finish() == []
    assert harness.dead() == ["a"]
    assert len(backend.attempts) > 1


async def test_what_cant_even_be_written_to_the_dead_letter_file_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("collector.exporters.delivery.DISK_WAIT_S", 0.01)
    (tmp_path / "dead.jsonl").mkdir()
    async with HttpBackend(lambda number, request: HttpAnswer(400)) as backend:
        harness = Harness(http_sender(backend), tmp_path)
        await harness.queue.start()
        ref = harness.put("a")
        assert await harness.finish(0.1) == [ref]
    assert len(harness.store) == 1


async def test_a_queue_that_may_not_refuse_writes_what_has_waited_longest_to_the_dead_letter_file(
    tmp_path: Path,
) -> None:
    names = [f"span{number}" for number in range(20)]
    async with GrpcBackend(lambda number, request: GrpcFault(StatusCode.UNAVAILABLE)) as backend:
        settings = {"queue_size": 10, "on_full": "dead_letter", "num_consumers": 1, "batch": {"min_size": 1}}
        harness = Harness(grpc_sender(backend), tmp_path, queue=settings)
        await harness.queue.start()
        for name in names:
            harness.put(name)
        async with asyncio.timeout(30):
            while harness.metric("exporter_queue_size") > 9:
                await asyncio.sleep(0.01)
        left = [span_names(harness.store.read(ref).request) for ref in await harness.finish(0.0)]
    dead = harness.dead()
    assert dead == [name for name in names if name in dead]
    assert sorted(dead + [name for (name,) in left]) == sorted(names)
    # The first may have been under way, and is left alone; none that came last had to go.
    assert set(names[1:11]) <= set(dead) and not set(names[-8:]) & set(dead)
