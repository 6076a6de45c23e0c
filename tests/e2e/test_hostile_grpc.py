"""What no gRPC library sends: frames that lie, calls that stall, connections that do nothing. Each gets the answer it
deserves, and others are served meanwhile.
"""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack

import cramjam
import grpc
import pytest
from google.rpc.error_details_pb2 import RetryInfo
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from collector.intake import Accepted, MalformedRequestError, OverloadedError, UndeclaredSignalError
from collector.receivers import otlp_grpc
from collector.records import Signal
from tests.collector.otlp_samples import field, request, span
from tests.e2e.raw_http2 import TRACES, framed, raw_client
from tests.e2e.receiving import RememberingIntake, grpc_receiver

ONE_SPAN = request(span())
ZSTD = framed(bytes(cramjam.zstd.compress(ONE_SPAN)), compressed=True)
OK, CANCELLED, UNKNOWN, INVALID_ARGUMENT, RESOURCE_EXHAUSTED = 0, 1, 2, 3, 8
UNIMPLEMENTED, INTERNAL, UNAVAILABLE, UNAUTHENTICATED = 12, 13, 14, 16
MIB = 1 << 20
GZIP = [("grpc-encoding", "gzip")]

CASES: list[tuple[str, bytes, Sequence[tuple[str, str]], set[int]]] = [
    ("a message like any other", framed(ONE_SPAN), [], {OK}),
    ("gzip", framed(gzip.compress(ONE_SPAN), compressed=True), GZIP, {OK}),
    ("deflate", framed(zlib.compress(ONE_SPAN), compressed=True), [("grpc-encoding", "deflate")], {OK}),
    ("an encoding that isn't used for this message", framed(ONE_SPAN), GZIP, {OK}),
    ("an empty message", framed(b""), [], {OK}),
    # By the specification of gRPC it would be UNIMPLEMENTED; either is final.
    (
        "zstd",
        framed(bytes(cramjam.zstd.compress(ONE_SPAN)), compressed=True),
        [("grpc-encoding", "zstd")],
        {UNIMPLEMENTED, INTERNAL},
    ),
    ("snappy", framed(b"x", compressed=True), [("grpc-encoding", "snappy")], {UNIMPLEMENTED, INTERNAL}),
    ("a compressed flag without an encoding", framed(ONE_SPAN, compressed=True), [], {INTERNAL}),
    ("gzip that is none", framed(ONE_SPAN, compressed=True), GZIP, {INTERNAL}),
    ("gzip that is cut off", framed(gzip.compress(ONE_SPAN)[:-12], compressed=True), GZIP, {INTERNAL}),
    ("a gzip bomb", framed(gzip.compress(bytes(64 * MIB)), compressed=True), GZIP, {RESOURCE_EXHAUSTED}),
    ("gzip twice", framed(gzip.compress(gzip.compress(ONE_SPAN)), compressed=True), GZIP, {INVALID_ARGUMENT}),
    ("a size over the limit that isn't even sent", framed(b"", size_bytes=2 * MIB), [], {RESOURCE_EXHAUSTED}),
    ("the largest size there is", framed(b"", size_bytes=0xFFFF_FFFF), [], {RESOURCE_EXHAUSTED}),
    ("a message that is cut off", framed(ONE_SPAN, size_bytes=len(ONE_SPAN) + 100), [], {INTERNAL, INVALID_ARGUMENT}),
    ("a frame that is cut off", b"\x00\x00", [], {INTERNAL, INVALID_ARGUMENT}),
    ("a flag that means nothing", b"\x07" + framed(ONE_SPAN)[1:], [], {OK, INTERNAL}),
    ("no message at all", b"", [], {INVALID_ARGUMENT}),
    ("JSON", framed(b'{"resourceSpans":[]}'), [], {INVALID_ARGUMENT}),
    ("random bytes", framed(bytes(range(256))), [], {INVALID_ARGUMENT}),
    ("the last byte is missing", framed(ONE_SPAN[:-1]), [], {INVALID_ARGUMENT}),
    ("250,001 spans", framed(field(1, field(2, b"\x12\x00" * 250_001))), [], {INVALID_ARGUMENT}),
    ("50,001 scopes", framed(b"\x0a\x02\x12\x00" * 50_001), [], {INVALID_ARGUMENT}),
    ("metadata of 60 kB", framed(ONE_SPAN), [("x-long", "m" * 60_000)], {OK}),
    (
        "metadata of 5,000 names",
        framed(ONE_SPAN),
        [(f"x{n}", "m" * 50) for n in range(5000)],
        {OK, RESOURCE_EXHAUSTED},
    ),
    ("binary metadata that is none", framed(ONE_SPAN), [("x-bin", "!!!")], {OK, INTERNAL, UNKNOWN}),
    ("a deadline that has passed", framed(ONE_SPAN), [("grpc-timeout", "1n")], {4, OK}),
]


@pytest.mark.parametrize(("sent", "headers", "codes"), [row[1:] for row in CASES], ids=[row[0] for row in CASES])
async def test_each_oddity_gets_its_code_and_harms_no_other_call(
    sent: bytes, headers: Sequence[tuple[str, str]], codes: set[int]
) -> None:
    intake = RememberingIntake()
    async with grpc_receiver(intake, max_recv_msg_size_mib=1) as receiver, raw_client(receiver.port) as client:
        call = await client.call(sent, headers=headers)
        taken = len(intake.taken)
        async with raw_client(receiver.port) as other:
            assert (await other.call(framed(ONE_SPAN))).code == OK
    assert call.code in codes
    # Whatever was refused as it came in wasn't taken, and what was taken was taken once.
    assert taken == (1 if call.code in (OK, INVALID_ARGUMENT) and taken else 0)


async def test_every_answer_tells_which_compressions_are_known() -> None:
    async with grpc_receiver(RememberingIntake()) as receiver, raw_client(receiver.port) as client:
        call = await client.call(framed(ONE_SPAN))
    assert set(call.headers["grpc-accept-encoding"].replace(" ", "").split(",")) == {"identity", "deflate", "gzip"}


@pytest.mark.parametrize(
    "path", ["/", "/x/y", TRACES.replace("Export", "Import"), TRACES.replace("v1", "v2"), TRACES.lower()]
)
async def test_an_unknown_method_is_unimplemented(path: str) -> None:
    async with grpc_receiver(RememberingIntake()) as receiver, raw_client(receiver.port) as client:
        assert (await client.call(framed(ONE_SPAN), path)).code == UNIMPLEMENTED


async def test_of_two_messages_in_one_call_the_first_counts() -> None:
    intake = RememberingIntake()
    async with grpc_receiver(intake) as receiver, raw_client(receiver.port) as client:
        call = await client.call(framed(ONE_SPAN) + framed(ONE_SPAN))
    assert call.code == OK
    assert len(intake.taken) == 1


async def test_one_odd_span_costs_only_itself_and_the_sender_is_told_which_it_was() -> None:
    odd = {
        "spans[1]: trace_id has 15 bytes": span(trace_id=b"x" * 15),
        "spans[1]: span_id has 9 bytes": span(span_id=b"x" * 9),
        "spans[1]: parent_span_id has 4 bytes": span() + field(4, b"abcd"),
        "spans[1]: field 9 says": span() + b"\x4a\x7f\x01",
    }
    async with grpc_receiver(RememberingIntake()) as receiver, raw_client(receiver.port) as client:
        for reason, bytes_of_it in odd.items():
            call = await client.call(framed(request(span(), bytes_of_it, span())))
            partial = ExportTraceServiceResponse.FromString(call.data[5:]).partial_success
            assert (call.code, partial.rejected_spans) == (OK, 1)
            assert reason in partial.error_message


async def test_a_sender_without_a_token_is_refused_before_its_message_is_received() -> None:
    auth = {"bearer_token": "s3cret"}
    async with grpc_receiver(RememberingIntake(), auth=auth) as receiver, raw_client(receiver.port) as client:
        number = await client.open()
        call = await client.ended(number)  # not one byte of the message was sent
    assert call.code == UNAUTHENTICATED


async def test_of_two_tokens_neither_counts() -> None:
    headers = [("authorization", "Bearer s3cret"), ("authorization", "Bearer other")]
    auth = {"bearer_token": "s3cret"}
    async with grpc_receiver(RememberingIntake(), auth=auth) as receiver, raw_client(receiver.port) as client:
        assert (await client.call(framed(ONE_SPAN), headers=headers)).code == UNAUTHENTICATED


async def test_a_message_that_stalls_is_asked_to_come_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(otlp_grpc, "_MESSAGE_S", 0.3)
    async with grpc_receiver(RememberingIntake()) as receiver, raw_client(receiver.port) as client:
        number = await client.open()
        await client.send(number, framed(ONE_SPAN)[:-3], end=False)
        assert (await client.call(framed(ONE_SPAN))).code == OK  # on the same connection, meanwhile
        call = await client.ended(number)
    retry = RetryInfo()
    assert call.code == UNAVAILABLE
    assert call.status.details[0].Unpack(retry)


async def test_stalled_messages_keep_others_waiting_only_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(otlp_grpc, "_MESSAGE_WHILE_OTHERS_WAIT_S", 0.05)
    monkeypatch.setattr(otlp_grpc, "_READING_AT_ONCE", 2)
    async with grpc_receiver(RememberingIntake()) as receiver, raw_client(receiver.port) as client:
        stalled = [await client.open() for _ in range(10)]
        for number in stalled:
            await client.send(number, framed(ONE_SPAN)[:-3], end=False)
        assert [(await client.call(framed(ONE_SPAN))).code for _ in range(3)] == [OK, OK, OK]
        assert (await client.ended(stalled[0])).code == UNAVAILABLE


async def test_a_message_that_is_given_up_midway_is_forgotten() -> None:
    intake = RememberingIntake()
    async with grpc_receiver(intake) as receiver:
        async with raw_client(receiver.port) as client:
            await client.send(await client.open(), framed(ONE_SPAN)[:-3], end=False)
        async with raw_client(receiver.port) as client:
            assert (await client.call(framed(ONE_SPAN))).code == OK
    assert len(intake.taken) == 1


async def test_pings_without_any_call_are_answered_and_never_punished() -> None:
    async with grpc_receiver(RememberingIntake()) as receiver, raw_client(receiver.port) as client:
        for number in range(1, 51):
            await client.ping()
            while client.pongs < number:
                await asyncio.sleep(0)
        assert client.went_away == []
        assert (await client.call(framed(ONE_SPAN))).code == OK


async def test_a_connection_that_says_nothing_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(otlp_grpc, "_HANDSHAKE_S", 0.2)
    async with grpc_receiver(RememberingIntake()) as receiver:
        reader, writer = await asyncio.open_connection("127.0.0.1", receiver.port)
        async with asyncio.timeout(20):
            while await reader.read(65536):
                pass
        writer.close()


async def test_a_sender_that_vanished_is_noticed() -> None:
    keepalive = {"server_parameters": {"time": "1s", "timeout": "1s"}}
    async with grpc_receiver(RememberingIntake(), keepalive=keepalive) as receiver:
        reader, writer = await asyncio.open_connection("127.0.0.1", receiver.port)
        writer.write(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\x00\x00\x00\x04\x00\x00\x00\x00\x00")
        async with asyncio.timeout(20):
            while await reader.read(65536):  # pings come and none is answered
                pass
        writer.close()


async def test_connections_that_end_by_age_lose_no_call() -> None:
    intake = RememberingIntake()
    keepalive = {"server_parameters": {"max_connection_age": "300ms"}}
    async with (
        grpc_receiver(intake, keepalive=keepalive) as receiver,
        grpc.aio.insecure_channel(f"127.0.0.1:{receiver.port}") as channel,
    ):
        for _ in range(40):
            await channel.unary_unary(TRACES)(ONE_SPAN, timeout=10)
            await asyncio.sleep(0.03)
    assert len(intake.taken) == 40


async def test_beyond_the_connections_that_are_allowed_others_wait_and_files_are_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(otlp_grpc, "allowed_connections", lambda: 4)
    async with grpc_receiver(RememberingIntake()) as receiver:
        async with AsyncExitStack() as stack:
            clients = [await stack.enter_async_context(raw_client(receiver.port)) for _ in range(6)]
            for client in clients[:4]:
                assert (await client.call(framed(ONE_SPAN))).code == OK
            await asyncio.wait_for(clients[5].closed.wait(), 10)
        async with grpc.aio.insecure_channel(f"127.0.0.1:{receiver.port}") as channel:
            await channel.unary_unary(TRACES)(ONE_SPAN, timeout=10, wait_for_ready=True)


@pytest.mark.parametrize(
    ("failure", "code", "delay_ms"),
    [
        (OverloadedError("full", 5.0), UNAVAILABLE, 5000),
        (MalformedRequestError("no"), INVALID_ARGUMENT, None),
        (UndeclaredSignalError("unwanted"), UNIMPLEMENTED, None),
        (RuntimeError("secret"), UNAVAILABLE, 5000),
        (TimeoutError("a deadline of ours"), UNAVAILABLE, 5000),
        (OSError(28, "No space left on device"), UNAVAILABLE, 5000),
        (MemoryError(), UNAVAILABLE, 5000),
    ],
)
async def test_whatever_fails_behind_the_receiver_is_told_as_final_only_when_it_is(
    failure: Exception, code: int, delay_ms: int | None
) -> None:
    async with grpc_receiver(RememberingIntake(failure=failure)) as receiver, raw_client(receiver.port) as client:
        call = await client.call(framed(ONE_SPAN))
    retry = RetryInfo()
    told = [detail for detail in call.status.details if detail.Unpack(retry)]
    assert (call.code, call.status.code) == (code, code)
    assert "secret" not in call.headers["grpc-message"]
    assert (retry.retry_delay.ToMilliseconds() if told else None) == delay_ms


async def test_many_large_messages_at_once_are_told_to_come_again_and_small_ones_pass() -> None:
    intake = WaitingIntake()
    large, small = bytes(900_000), ONE_SPAN
    async with grpc_receiver(intake, max_recv_msg_size_mib=1) as receiver, raw_client(receiver.port) as client:
        calls = []
        for _ in range(8):
            calls.append(await client.open())
            await client.send(calls[-1], framed(large))
            await intake.waiting_or(client.ended(calls[-1]), len(calls))
        number = await client.open()
        await client.send(number, framed(small))
        intake.go_on.set()
        codes = [(await client.ended(call)).code for call in calls]
        assert (await client.ended(number)).code == OK
    assert codes == [OK] * 4 + [UNAVAILABLE] * 4


class WaitingIntake(RememberingIntake):
    """Takes its time, as a disk would."""

    def __init__(self) -> None:
        super().__init__()
        self.go_on = asyncio.Event()
        self._waiting = 0
        self._more = asyncio.Event()

    async def take(self, signal: Signal, request: bytes, *, receiver: str, headers: Mapping[str, str]) -> Accepted:
        self._waiting += 1
        self._more.set()
        await self.go_on.wait()
        return Accepted()

    async def waiting_or(self, refused: Coroutine[object, object, object], count: int) -> None:
        """Return when so many wait here, or the last one was refused."""
        answered = asyncio.ensure_future(refused)
        while self._waiting < count and not answered.done():
            self._more.clear()
            more = asyncio.ensure_future(self._more.wait())
            await asyncio.wait({answered, more}, return_when=asyncio.FIRST_COMPLETED)
            more.cancel()
        answered.cancel()
