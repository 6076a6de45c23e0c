"""Bad input and bad luck, met by the whole sidecar: every sender is told the right thing, nothing good is lost."""

import asyncio
import base64
import gzip
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import cramjam
import grpc
import httpx2
import pytest
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from bench.traffic import requests
from collector import wire
from tests.collector.otlp_samples import field, request, span
from tests.e2e.own_account import scraped, uneven, with_metrics
from tests.e2e.receiving import ask
from tests.e2e.receiving import post as http_post
from tests.e2e.sidecar import TRACES, Backend, Sidecar, free_port, running_backend, running_sidecar
from tests.e2e.test_restart import journaled
from tests.e2e.test_run import CONFIG, config, post, scores, until

SECRET = "hunter2-in-a-prompt"
CHAT = [{"key": "gen_ai.operation.name", "value": {"string_value": "chat"}}]
LATEST = 2**64 - 1


def spans_in(bodies: list[bytes]) -> list[bytes]:
    return [record.span for body in bodies for record in wire.slice_spans(body, (), wire.Origins()).records]


def arrived(backend: Backend, sent: list[bytes]) -> bool:
    received = b"".join(backend.requests[TRACES])
    return all(one in received for one in sent)


def assert_calm(sidecar: Sidecar) -> None:
    """It lives, and its log tells neither content nor places in the code."""
    assert sidecar.process.returncode is None
    assert "Traceback" not in sidecar.stderr
    assert SECRET not in sidecar.stderr


def odd(number: int, **fields: object) -> bytes:
    known: dict[str, object] = {"trace_id": bytes([200] * 15 + [number]), "span_id": bytes([1] * 7 + [number])}
    return Span(**{**known, "name": SECRET, "attributes": CHAT, **fields}).SerializeToString()


def nested(levels: int) -> bytes:
    value = b"\x0a\x01x"
    for _ in range(levels):
        value = field(5, field(1, value))
    return field(9, field(1, b"gen_ai.input.messages") + field(2, value))


ODD = {
    "at the beginning of time": [odd(1, start_time_unix_nano=0, end_time_unix_nano=0)],
    "at the end of time": [odd(2, start_time_unix_nano=LATEST, end_time_unix_nano=LATEST)],
    "ended before it began": [odd(3, start_time_unix_nano=LATEST, end_time_unix_nano=1)],
    "its own parent": [odd(4, parent_span_id=bytes([1] * 7 + [4]))],
    "parents in a ring": [
        odd(5, span_id=b"ring-one", parent_span_id=b"ring-two"),
        odd(5, span_id=b"ring-two", parent_span_id=b"ring-one"),
    ],
    "one id for two spans": [odd(6, name="first"), odd(6, name="second")],
    "no UTF-8": [odd(7, name="broken").replace(b"broken", b"\xff\xfe\x80\x80\x80\x80")],
    "deeper than parsers go": [odd(8) + nested(200)],
    "a kind and a status nobody knows": [odd(9, kind=99, status={"code": 77})],
    "fields of a later OTLP": [odd(10) + field(500, b"unknown")],
    "four thousand attributes": [
        odd(11, attributes=CHAT + [{"key": f"k{number}", "value": {"int_value": number}} for number in range(4000)])
    ],
    "a megabyte of text": [
        odd(12, attributes=[*CHAT, {"key": "gen_ai.input.messages", "value": {"string_value": "[{" * (1 << 19)}}])
    ],
    "five thousand generations": [
        odd(
            13,
            span_id=number.to_bytes(8),
            parent_span_id=(number - 1).to_bytes(8) if number > 1 else b"",
            name="deep",
        )
        for number in range(1, 5001)
    ],
}


async def test_odd_spans_arrive_as_they_were_sent_and_their_neighbours_are_scored(tmp_path: Path) -> None:
    quick = CONFIG.replace("idle_timeout: 20s", "idle_timeout: 1s").replace("QUIET", "300ms")
    async with (
        running_backend() as backend,
        running_sidecar(tmp_path, quick.replace("BACKEND_PORT", str(backend.port))) as sidecar,
    ):
        (good,) = requests("agent", 1)
        everything = [one for spans in ODD.values() for one in spans]
        await post(sidecar, [request(*spans) for spans in ODD.values()] + [request(*everything[:10]) + good])
        await until(lambda: arrived(backend, [*everything, *spans_in([good])]))
        assert_calm(sidecar)
        received = spans_in(backend.requests[TRACES])
        assert any(b"eval.step_efficiency" in one and b"invoke_agent weather" in one for one in received)


DEEP_JSON = b'{"a":' * 100_000 + b"1" + b"}" * 100_000
VALUES_JSON = b'{"a":[' + b"{}," * 10_000_000 + b"{}]}"
BAD: dict[str, tuple[int, bytes, dict[str, str]]] = {
    "cut off": (400, request(span("x"))[:-3], {}),
    "noise": (400, bytes(range(256)) * 50, {}),
    "text in protobuf's name": (400, SECRET.encode(), {}),
    "JSON that breaks off": (400, b'{"resourceSpans":[', {"content_type": "application/json"}),
    "JSON of another shape": (400, json.dumps([SECRET]).encode(), {"content_type": "application/json"}),
    "JSON nested without end": (400, DEEP_JSON, {"content_type": "application/json"}),
    "JSON of countless values": (
        400,
        gzip.compress(VALUES_JSON, 1),
        {"content_type": "application/json", "content_encoding": "gzip"},
    ),
    "another type": (415, SECRET.encode(), {"content_type": "text/plain"}),
    "another encoding": (415, request(span("x")), {"content_encoding": "br"}),
    "a bomb in gzip": (413, gzip.compress(bytes(100 << 20), 1), {"content_encoding": "gzip"}),
    "a bomb in zstd": (413, bytes(cramjam.zstd.compress(bytes(100 << 20))), {"content_encoding": "zstd"}),
    "gzip that isn't": (400, request(span("x")), {"content_encoding": "gzip"}),
    "countless items": (400, field(1, field(2, b"\x12\x00" * 300_000)), {}),
    "ids of wrong lengths": (200, request(odd(1, trace_id=b"short"), odd(2, span_id=b"longer than it")), {}),
    "ids of zeros": (200, request(odd(1, trace_id=bytes(16)), odd(2, span_id=bytes(8))), {}),
}


async def test_bad_requests_are_refused_rightly_and_harm_nobody(tmp_path: Path) -> None:
    async with running_backend() as backend, running_sidecar(tmp_path, config(backend.port)) as sidecar:
        good = list(requests("tiny", len(BAD)))
        async with grpc.aio.insecure_channel(f"127.0.0.1:{sidecar.grpc_port}") as channel:
            export = channel.unary_unary(TRACES)
            for (name, (status, body, headers)), neighbour in zip(BAD.items(), good, strict=True):
                answered, _ = await asyncio.gather(
                    ask(sidecar.http_port, http_post(body, **headers)), export(neighbour)
                )
                assert answered.status == status, name
                assert SECRET.encode() not in answered.body, name
        await until(lambda: arrived(backend, spans_in(good)))
        assert len(backend.spans) == len(spans_in(good)), "and nothing else"
        assert_calm(sidecar)


@asynccontextmanager
async def small_sidecar(folder: Path, backend_port: int, limit_mib: int) -> AsyncIterator[tuple[Sidecar, int]]:
    """A sidecar that may hold little, and the port of its metrics."""
    metrics_port = free_port()
    text = journaled(config(backend_port), "memory").replace("{quiet_period", f"{{limit_mib: {limit_mib}, quiet_period")
    text = text.replace("initial_interval: 200ms", "initial_interval: 200ms, max_interval: 500ms")
    async with running_sidecar(folder, with_metrics(text, metrics_port)) as sidecar:
        yield sidecar, metrics_port


async def test_overload_is_told_with_a_delay_and_what_was_accepted_arrives_once(tmp_path: Path) -> None:
    async with running_backend() as backend, small_sidecar(tmp_path, backend.port, 4) as (sidecar, metrics_port):
        backend.unavailable = True
        accepted: list[bytes] = []
        refused = 0
        async with grpc.aio.insecure_channel(f"127.0.0.1:{sidecar.grpc_port}") as channel:
            export = channel.unary_unary(TRACES)
            for number, body in enumerate(requests("agent", 40)):
                if number % 2:
                    answer = await ask(sidecar.http_port, http_post(body))
                    assert answer.status in (200, 503)
                    taken = answer.status == 200
                    assert taken or int(answer.headers["retry-after"]) > 0
                else:
                    try:
                        await export(body)
                        taken = True
                    except grpc.aio.AioRpcError as error:
                        taken = False
                        assert error.code() is grpc.StatusCode.UNAVAILABLE
                        assert delay_s(error) > 0
                accepted += [body] if taken else []
                refused += not taken
        assert accepted and refused
        async with httpx2.AsyncClient(trust_env=False) as client:
            assert (await client.get(f"http://127.0.0.1:{sidecar.health_port}/")).status_code == 200
        assert uneven(await scraped(metrics_port)) == {}
        backend.unavailable = False
        await until(lambda: len(backend.spans) >= len(spans_in(accepted)))
        ids = [(one.trace_id, one.span_id) for one in backend.spans]
        assert len(ids) == len(set(ids)) == len(spans_in(accepted))
        assert uneven(await scraped(metrics_port)) == {}
        await post(sidecar, list(requests("tiny", 1)))
        assert_calm(sidecar)


def delay_s(error: grpc.aio.AioRpcError) -> float:
    (details,) = [value for key, value in error.trailing_metadata() or () if key == "grpc-status-details-bin"]
    (detail,) = Status.FromString(bytes(details)).details
    info = RetryInfo()
    assert detail.Unpack(info)
    return info.retry_delay.seconds + info.retry_delay.nanos / 1e9


async def test_a_backend_that_goes_and_comes_back_at_its_address_gets_everything(tmp_path: Path) -> None:
    port = free_port()
    sent = list(requests("agent", 3))
    async with running_sidecar(tmp_path, config(port)) as sidecar:
        async with running_backend(port) as first:
            await post(sidecar, sent[:1])
            await until(lambda: arrived(first, spans_in(sent[:1])))
        await post(sidecar, sent[1:2])
        await until(lambda: "can't" in sidecar.stderr or "trying again" in sidecar.stderr)
        async with running_backend(port) as second:
            await post(sidecar, sent[2:])
            await until(lambda: arrived(second, spans_in(sent[1:])))
        assert_calm(sidecar)


async def test_what_is_in_the_dead_letters_can_be_sent_again_and_nothing_is_missing(tmp_path: Path) -> None:
    sent = list(requests("agent", 2)) + list(requests("tiny", 1))
    async with running_backend() as backend:
        backend.unavailable = True
        impatient = config(backend.port).replace("initial_interval: 200ms", "max_elapsed_time: 100ms")
        async with running_sidecar(tmp_path, impatient) as sidecar:
            await post(sidecar, sent)
            letters = tmp_path / "spanjudge-dead-letters-otlp-backend.jsonl"
            await until(letters.exists)
            assert await sidecar.stop() == 0
        assert not backend.spans and items_of(letters) == len(spans_in(sent))
        backend.unavailable = False
        async with grpc.aio.insecure_channel(f"127.0.0.1:{backend.port}") as channel:
            for line in letters.read_text().splitlines():
                await channel.unary_unary(TRACES)(base64.b64decode(json.loads(line)["request"]))
        assert arrived(backend, spans_in(sent))
        assert len(backend.spans) == len(spans_in(sent))
        assert any(scores(one) for one in backend.spans)


def items_of(letters: Path) -> int:
    return sum(int(json.loads(line)["items"]) for line in letters.read_text().splitlines())


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda text: text.replace("quiet_period", "quite_period"), "did you mean quiet_period?"),
        (lambda text: text.replace("QUIET", "soon"), "processors::assemble::quiet_period"),
        (lambda text: text.replace("exporters: [otlp/backend]", "exporters: [otlp/other]"), "otlp/other"),
    ],
    ids=["an unknown key", "a broken value", "a component that isn't there"],
)
async def test_a_wrong_configuration_is_told_by_its_place_and_nothing_is_started(
    tmp_path: Path, change: Callable[[str], str], complaint: str
) -> None:
    sidecar = Sidecar(tmp_path, change(config(free_port(), "QUIET")).replace("QUIET", "300ms"))
    with pytest.raises(AssertionError, match=r"ended with [1-9]"):
        await sidecar.start()
    assert complaint in sidecar.stderr
    assert "Traceback" not in sidecar.stderr
    assert "listens" not in sidecar.stderr
