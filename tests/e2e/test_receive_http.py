"""OTLP over HTTP, asked by real clients over real sockets."""

import asyncio
import contextlib
import gzip
import json
import ssl
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path

import cramjam
import pytest
from google.rpc.status_pb2 import Status
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from collector.intake import Accepted, MalformedRequestError, OverloadedError, UndeclaredSignalError
from collector.receivers import http_protocol, otlp_http
from collector.receivers.otlp_http import OtlpHttpReceiver
from collector.receivers.otlp_settings import HttpSettings
from collector.receivers.startup import ReceiverStartError
from collector.records import Signal
from tests.collector.otlp_samples import field, logs_request, metrics_request, request, span, spans_of
from tests.e2e.receiving import RememberingIntake, ask, connection, http_receiver, post

TLS = Path(__file__).parent.parent / "data" / "tls"
JSON = "application/json"
PROTOBUF = "application/x-protobuf"
ONE_SPAN = request(span())
JSON_SPAN = (
    b'{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"0102030405060708090a0b0c0d0e0f10",'
    b'"spanId":"1112131415161718","name":"op"}]}]}]}'
)


@pytest.mark.parametrize(
    ("path", "body", "signal"),
    [
        ("/v1/traces", ONE_SPAN, Signal.TRACES),
        ("/v1/logs", logs_request(), Signal.LOGS),
        ("/v1/metrics", metrics_request(), Signal.METRICS),
    ],
)
async def test_a_request_in_protobuf_is_handed_on_as_it_came(path: str, body: bytes, signal: Signal) -> None:
    intake = RememberingIntake()
    async with http_receiver(intake) as receiver:
        answer = await ask(receiver.port, post(body, path))
    assert (answer.status, answer.headers["content-type"], answer.body) == (200, PROTOBUF, b"")
    assert intake.taken[0][:2] == (signal, body)


@pytest.mark.parametrize("content_type", [JSON, "application/json; charset=utf-8", "APPLICATION/JSON"])
async def test_a_request_in_json_is_answered_in_json(content_type: str) -> None:
    intake = RememberingIntake()
    async with http_receiver(intake) as receiver:
        answer = await ask(receiver.port, post(JSON_SPAN, content_type=content_type))
    assert (answer.status, answer.headers["content-type"], answer.body) == (200, JSON, b"{}")
    assert spans_of(intake.taken[0][1])[0].name == "op"


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", gzip.compress(ONE_SPAN)),
        ("zstd", bytes(cramjam.zstd.compress(ONE_SPAN))),
        ("snappy", bytes(cramjam.snappy.compress_raw(ONE_SPAN))),
        ("identity", ONE_SPAN),
    ],
)
async def test_a_compressed_request_is_unpacked(encoding: str, body: bytes) -> None:
    intake = RememberingIntake()
    async with http_receiver(intake) as receiver:
        answer = await ask(receiver.port, post(body, content_encoding=encoding))
    assert answer.status == 200
    assert intake.taken[0][1] == ONE_SPAN


async def test_a_large_compressed_request_is_unpacked_off_the_loop_with_the_same_result() -> None:
    large = request(*[span(name=f"operation {number}" * 20) for number in range(10_000)])
    intake = RememberingIntake()
    async with http_receiver(intake) as receiver:
        answer = await ask(receiver.port, post(gzip.compress(large), content_encoding="gzip"))
    assert answer.status == 200
    assert intake.taken[0][1] == large


async def test_a_large_request_in_json_is_converted_off_the_loop_with_the_same_result() -> None:
    intake = RememberingIntake()
    ids = b'"traceId":"0102030405060708090a0b0c0d0e0f10","spanId":"1112131415161718"'
    spans = b",".join(b'{%s,"name":"operation %d"}' % (ids, number) for number in range(5_000))
    text = b'{"resourceSpans":[{"scopeSpans":[{"spans":[%s]}]}]}' % spans
    async with http_receiver(intake) as receiver:
        answer = await ask(receiver.port, post(text, content_type=JSON))
    assert answer.status == 200
    assert [found.name for found in spans_of(intake.taken[0][1])][-1] == "operation 4999"


async def test_an_empty_request_succeeds() -> None:
    async with http_receiver(RememberingIntake()) as receiver:
        assert (await ask(receiver.port, post(b""))).status == 200
        assert (await ask(receiver.port, post(b"{}", content_type=JSON))).status == 200


async def test_rejected_spans_are_told_in_a_partial_success() -> None:
    mixed = request(span(), span(trace_id=bytes(16)))
    async with http_receiver(RememberingIntake()) as receiver:
        in_protobuf = await ask(receiver.port, post(mixed))
        text = JSON_SPAN.replace(b"1112131415161718", b"")
        in_json = await ask(receiver.port, post(text, content_type=JSON))
    partial = ExportTraceServiceResponse.FromString(in_protobuf.body).partial_success
    assert (in_protobuf.status, partial.rejected_spans) == (200, 1)
    assert "trace_id is all zeros" in partial.error_message
    said = json.loads(in_json.body)["partialSuccess"]
    assert said["rejectedSpans"] == "1"
    assert "span_id has 0 bytes" in said["errorMessage"]


async def test_misspelt_names_in_json_are_warned_about_in_a_success() -> None:
    async with http_receiver(RememberingIntake()) as receiver:
        answer = await ask(receiver.port, post(b'{"resourceSpan": []}', content_type=JSON))
    said = json.loads(answer.body)["partialSuccess"]
    assert (answer.status, said["rejectedSpans"]) == (200, "0")
    assert "resourceSpan" in said["errorMessage"]


REFUSED = [
    ("protobuf that is none", post(b"\x0a\x05\x12"), 400, 3, "request: field 1 says 5 bytes"),
    ("JSON that is none", post(b"{", content_type=JSON), 400, 3, "not JSON"),
    ("a JSON array", post(b"[]", content_type=JSON), 400, 3, "an object is due"),
    ("no JSON at all", post(b"", content_type=JSON), 400, 3, "not JSON"),
    ("gzip that is none", post(b"plain", content_encoding="gzip"), 400, 3, "isn't gzip"),
    ("an unknown compression", post(b"x", content_encoding="br"), 415, 12, "gzip"),
    ("no content type", post(b"x", content_type=""), 415, 3, "application/x-protobuf or application/json"),
    ("another content type", post(b"x", content_type="text/plain"), 415, 3, "application/x-protobuf"),
    ("an unknown path", post(b"", "/v1/nothing"), 404, 5, "/v1/traces"),
    ("the root", post(b"", "/"), 404, 5, "/v1/traces"),
    ("another method", post(b"").replace(b"POST", b"PUT", 1), 405, 12, "only POST"),
]


@pytest.mark.parametrize(
    ("sent", "http_status", "code", "message"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
async def test_a_refusal_is_a_status_in_the_encoding_of_the_request(
    sent: bytes, http_status: int, code: int, message: str
) -> None:
    intake = RememberingIntake()
    async with http_receiver(intake) as receiver:
        answer = await ask(receiver.port, sent)
    assert answer.status == http_status
    if b"x-protobuf" in sent:
        assert answer.headers["content-type"] == PROTOBUF
        status = Status.FromString(answer.body)
        said = (status.code, status.message)
    else:
        assert answer.headers["content-type"] == JSON
        said = (json.loads(answer.body)["code"], json.loads(answer.body)["message"])
    assert said[0] == code
    assert message in said[1]


async def test_another_method_is_told_which_one_is_allowed() -> None:
    async with http_receiver(RememberingIntake()) as receiver:
        answer = await ask(receiver.port, post(b"").replace(b"POST", b"DELETE", 1))
    assert answer.headers["allow"] == "POST"


OUTCOMES = [
    (OverloadedError("full", 12.2), 503, 14, "13"),
    (OverloadedError("full", 0.1), 503, 14, "1"),
    (MalformedRequestError("bad"), 400, 3, None),
    (UndeclaredSignalError("no pipeline"), 404, 12, None),
    (ValueError("a fault of ours"), 503, 14, "5"),
]


@pytest.mark.parametrize(("failure", "http_status", "code", "retry_after"), OUTCOMES)
async def test_what_the_pipeline_says_decides_the_status_and_whether_to_retry(
    failure: Exception, http_status: int, code: int, retry_after: str | None
) -> None:
    async with http_receiver(RememberingIntake(failure=failure)) as receiver:
        answer = await ask(receiver.port, post(ONE_SPAN))
    assert (answer.status, answer.headers.get("retry-after")) == (http_status, retry_after)
    status = Status.FromString(answer.body)
    assert status.code == code
    assert "a fault of ours" not in status.message


async def test_a_signal_without_a_pipeline_is_not_found_before_its_body_is_read() -> None:
    intake = RememberingIntake(signals=frozenset({Signal.TRACES}))
    async with http_receiver(intake) as receiver, connection(receiver.port) as client:
        await client.send(post(b"", "/v1/logs").replace(b"content-length: 0", b"content-length: 1000"))
        answer = await client.answer()
    assert answer.status == 404
    assert "service::pipelines::logs" in Status.FromString(answer.body).message


LIMIT = 1 << 20


def filler(size: int) -> bytes:
    return field(99, bytes(size - 5))


async def test_a_body_of_exactly_the_limit_is_taken_and_one_byte_more_is_too_large() -> None:
    intake = RememberingIntake()
    async with http_receiver(intake, max_request_body_size_mib=1) as receiver:
        fits, exceeds = filler(LIMIT), filler(LIMIT + 1)
        assert (len(fits), len(exceeds)) == (LIMIT, LIMIT + 1)
        for encoding, pack in (("identity", bytes), ("gzip", gzip.compress)):
            assert (await ask(receiver.port, post(pack(fits), content_encoding=encoding))).status == 200
            answer = await ask(receiver.port, post(pack(exceeds), content_encoding=encoding))
            assert answer.status == 413
            assert "larger than 1 MiB" in Status.FromString(answer.body).message
    assert len(intake.taken) == 2


async def test_a_body_that_is_announced_too_large_is_refused_before_it_is_sent() -> None:
    async with http_receiver(RememberingIntake()) as receiver, connection(receiver.port) as client:
        await client.send(post(b"").replace(b"content-length: 0", b"content-length: 10000000000"))
        assert (await client.answer()).status == 413


async def test_a_body_in_chunks_is_refused_as_soon_as_it_is_too_large() -> None:
    intake = RememberingIntake()
    async with http_receiver(intake, max_request_body_size_mib=1) as receiver, connection(receiver.port) as client:
        await client.send(post(b"").replace(b"content-length: 0", b"transfer-encoding: chunked"))
        await client.send((b"80000\r\n" + bytes(0x80000) + b"\r\n") * 3)
        assert (await client.answer()).status == 413


async def test_many_large_bodies_at_once_are_answered_with_a_retryable_code() -> None:
    async with http_receiver(RememberingIntake(), max_request_body_size_mib=1) as receiver:
        begun = []
        statuses = []
        for _ in range(6):
            reader, writer = await asyncio.open_connection("127.0.0.1", receiver.port)
            begun.append(writer)
            writer.write(post(b"").replace(b"content-length: 0", b"content-length: 1000000") + bytes(999_999))
            await writer.drain()
            statuses.append(asyncio.create_task(reader.readline()))
        done, waiting = await asyncio.wait(statuses, timeout=5, return_when=asyncio.FIRST_COMPLETED)
        assert {task.result() for task in done} == {b"HTTP/1.1 503 Service Unavailable\r\n"}
        assert waiting
        for task in waiting:
            task.cancel()
        for writer in begun:
            writer.close()


async def test_bodies_that_are_large_once_unpacked_count_as_large() -> None:
    class StuckIntake(RememberingIntake):
        async def take(self, signal: Signal, request: bytes, *, receiver: str, headers: Mapping[str, str]) -> Accepted:
            if len(request) > len(ONE_SPAN):
                await asyncio.Event().wait()
            return Accepted()

    packed = gzip.compress(filler(3 << 20))
    assert len(packed) < 10_000
    async with http_receiver(StuckIntake(), max_request_body_size_mib=4) as receiver, AsyncExitStack() as opened:
        waiting = []
        for _ in range(6):
            client = await opened.enter_async_context(connection(receiver.port))
            await client.send(post(packed, content_encoding="gzip"))
            waiting.append(asyncio.create_task(client.answer()))
        done, held = await asyncio.wait(waiting, timeout=5, return_when=asyncio.FIRST_COMPLETED)
        assert {(task.result().status, task.result().headers["retry-after"]) for task in done} == {(503, "1")}
        assert held
        assert (await ask(receiver.port, post(ONE_SPAN))).status == 200, "small ones pass"
        for task in held:
            task.cancel()


async def test_a_length_with_countless_zeros_is_a_length() -> None:
    async with http_receiver(RememberingIntake()) as receiver:
        zeros = post(ONE_SPAN).replace(b"content-length: ", b"content-length: " + b"0" * 5000)
        assert (await ask(receiver.port, zeros)).status == 200


@pytest.mark.parametrize("more", [b"x: y\r\n", b"x"], ids=["trailers", "one endless trailer"])
async def test_headers_after_a_body_may_come_but_not_without_end(more: bytes) -> None:
    chunked = post(b"").replace(b"content-length: 0", b"transfer-encoding: chunked")
    body = b"%x\r\n%s\r\n0\r\n" % (len(ONE_SPAN), ONE_SPAN)
    async with http_receiver(RememberingIntake()) as receiver:
        assert (await ask(receiver.port, chunked + body + b"x: y\r\n\r\n")).status == 200
        async with connection(receiver.port) as client:
            await client.send(chunked + body)
            with contextlib.suppress(ConnectionError):
                for _ in range(100):
                    await client.send(more * 10_000)
            with contextlib.suppress(ConnectionError):
                assert await client.is_closed()


async def test_a_client_that_waits_for_permission_gets_it() -> None:
    async with http_receiver(RememberingIntake()) as receiver, connection(receiver.port) as client:
        head, _, body = post(ONE_SPAN, expect="100-continue").partition(b"\r\n\r\n")
        await client.send(head + b"\r\n\r\n")
        assert (await client.reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 100")
        await client.send(body)
        assert (await client.answer()).status == 200


async def test_a_connection_serves_many_requests_refused_ones_too() -> None:
    async with http_receiver(RememberingIntake()) as receiver, connection(receiver.port) as client:
        for body, status in ((ONE_SPAN, 200), (b"\x0a\x05", 400), (ONE_SPAN, 200)):
            await client.send(post(body))
            assert (await client.answer()).status == status


async def test_requests_sent_without_waiting_are_answered_in_order() -> None:
    async with http_receiver(RememberingIntake()) as receiver, connection(receiver.port) as client:
        await client.send(post(ONE_SPAN) + post(b"\x0a\x05") + post(ONE_SPAN))
        assert [(await client.answer()).status for _ in range(3)] == [200, 400, 200]


async def test_an_offer_of_http2_is_ignored_and_the_body_is_taken() -> None:
    intake = RememberingIntake()
    offer = {"connection": "Upgrade, HTTP2-Settings", "upgrade": "h2c", "HTTP2_Settings": "AAMAAABkAAQAAP__"}
    async with http_receiver(intake) as receiver, connection(receiver.port) as client:
        for _ in range(2):
            await client.send(post(ONE_SPAN, **offer))
            assert (await client.answer()).status == 200
    assert [taken[1] for taken in intake.taken] == [ONE_SPAN, ONE_SPAN]


async def test_an_offer_of_http2_that_arrives_in_pieces_loses_nothing_silently() -> None:
    intake = RememberingIntake()
    first, _, rest = post(ONE_SPAN, connection="Upgrade", upgrade="h2c").partition(b"grade: h2c")
    async with http_receiver(intake) as receiver, connection(receiver.port) as client:
        await client.send(first)
        await asyncio.sleep(0.05)
        await client.send(b"grade: h2c" + rest)
        answer = await client.answer()
    assert answer.status == (200 if intake.taken else 503)


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(50),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        post(b"").replace(b"content-length: 0", b"content-length: -1"),
        post(b"").replace(b"content-length: 0", b"content-length: 1\r\ntransfer-encoding: chunked"),
        post(b"").replace(b"content-length: 0", b"transfer-encoding: chunked") + b"zz\r\n",
        post(b"", "/\xff"),
    ],
    ids=["TLS", "HTTP/2", "a negative length", "two lengths", "a broken chunk", "a broken path"],
)
async def test_bytes_that_are_no_http_get_a_status_and_the_connection_is_closed(sent: bytes) -> None:
    async with http_receiver(RememberingIntake()) as receiver, connection(receiver.port) as client:
        await client.send(sent)
        answer = await client.answer()
        assert (answer.status, answer.headers["content-type"]) == (400, JSON)
        assert json.loads(answer.body)["message"]
        assert await client.is_closed()


async def test_a_head_that_is_too_large_is_refused() -> None:
    async with http_receiver(RememberingIntake()) as receiver, connection(receiver.port) as client:
        await client.send(post(b"", x_filler="x" * http_protocol.MAX_HEAD_BYTES)[:-4])
        assert (await client.answer()).status == 431


async def test_a_head_that_does_not_come_ends_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_protocol, "HEAD_DEADLINE_S", 0.1)
    async with http_receiver(RememberingIntake()) as receiver:
        async with connection(receiver.port) as silent:
            assert await silent.is_closed()
        async with connection(receiver.port) as slow:
            await slow.send(b"POST /v1/tr")
            assert await slow.is_closed()
        async with connection(receiver.port) as second_head:
            await second_head.send(post(ONE_SPAN))
            await second_head.answer()
            await second_head.send(b"POST ")
            assert await second_head.is_closed()


async def test_a_body_that_does_not_come_is_answered_with_a_retryable_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(otlp_http, "_BODY_START_S", 0.1)
    monkeypatch.setattr(http_protocol, "LINGER_S", 0.1)
    async with http_receiver(RememberingIntake()) as receiver, connection(receiver.port) as client:
        await client.send(post(ONE_SPAN)[:-5])
        assert (await client.answer()).status == 503
        assert await client.is_closed()


async def test_a_client_that_leaves_during_its_body_is_forgotten() -> None:
    intake = RememberingIntake()
    async with http_receiver(intake) as receiver:
        async with connection(receiver.port) as client:
            await client.send(post(ONE_SPAN)[:-5])
        assert (await ask(receiver.port, post(ONE_SPAN))).status == 200
    assert len(intake.taken) == 1


async def test_a_request_that_is_under_way_at_the_end_is_answered_as_retryable() -> None:
    class StuckIntake(RememberingIntake):
        async def take(self, signal: Signal, request: bytes, *, receiver: str, headers: Mapping[str, str]) -> Accepted:
            await asyncio.Event().wait()
            raise AssertionError

    receiver = OtlpHttpReceiver(HttpSettings(endpoint="127.0.0.1:0"), StuckIntake(), "otlp")
    await receiver.start()
    async with connection(receiver.port) as client:
        await client.send(post(ONE_SPAN))
        stopping = asyncio.create_task(receiver.stop(0))
        answer = await client.answer()
        await stopping
    assert (answer.status, answer.headers["retry-after"]) == (503, "1")


async def test_the_token_is_asked_for_and_accepted() -> None:
    async with http_receiver(RememberingIntake(), auth={"bearer_token": "s3cret"}) as receiver:
        for wrong in ({}, {"authorization": "Bearer other"}, {"authorization": "Basic s3cret"}):
            answer = await ask(receiver.port, post(ONE_SPAN, **wrong))
            assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer")
            assert Status.FromString(answer.body).code == 16
        assert (await ask(receiver.port, post(ONE_SPAN, authorization="Bearer s3cret"))).status == 200


async def test_headers_reach_the_pipeline_in_lower_case() -> None:
    intake = RememberingIntake()
    async with http_receiver(intake) as receiver:
        await ask(receiver.port, post(ONE_SPAN, X_Project_Name="agents"))
    assert intake.taken[0][2]["x-project-name"] == "agents"


async def test_the_sdk_exporter_delivers_over_http() -> None:
    intake = RememberingIntake()
    async with http_receiver(intake) as receiver:
        exporter = OTLPSpanExporter(f"http://127.0.0.1:{receiver.port}/v1/traces")
        await asyncio.to_thread(send_with_sdk, exporter)
    assert [found.name for found in spans_of(intake.taken[0][1])] == ["inner", "outer"]


def send_with_sdk(exporter: OTLPSpanExporter) -> None:
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(exporter))
    tracer = provider.get_tracer("test")
    with tracer.start_as_current_span("outer"), tracer.start_as_current_span("inner"):
        pass
    provider.shutdown()


async def test_tls_with_client_certificates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REQUESTS_CA_BUNDLE", raising=False)  # would win over what the exporter is given
    monkeypatch.delenv("CURL_CA_BUNDLE", raising=False)
    tls = {"cert_file": TLS / "server.pem", "key_file": TLS / "server.key", "client_ca_file": TLS / "ca.pem"}
    intake = RememberingIntake()
    async with http_receiver(intake, tls=tls) as receiver:
        exporter = OTLPSpanExporter(
            f"https://localhost:{receiver.port}/v1/traces",
            certificate_file=str(TLS / "ca.pem"),
            client_certificate_file=str(TLS / "client.pem"),
            client_key_file=str(TLS / "client.key"),
        )
        await asyncio.to_thread(send_with_sdk, exporter)
        context = ssl.create_default_context(cafile=TLS / "ca.pem")
        with pytest.raises((ssl.SSLError, ConnectionError, asyncio.IncompleteReadError)):
            reader, writer = await asyncio.open_connection("localhost", receiver.port, ssl=context)
            writer.write(post(ONE_SPAN))
            await reader.readuntil(b"\r\n")
    assert len(intake.taken) == 1


async def test_an_occupied_port_is_an_error_that_says_what_to_do() -> None:
    async with http_receiver(RememberingIntake()) as first:
        second = OtlpHttpReceiver(HttpSettings(endpoint=f"127.0.0.1:{first.port}"), RememberingIntake(), "otlp/b")
        with pytest.raises(ReceiverStartError) as caught:
            await second.start()
    text = str(caught.value)
    assert f"127.0.0.1:{first.port}" in text
    assert "another program listens there" in text
    assert "receivers::otlp/b::protocols::http::endpoint" in text


async def test_a_certificate_that_is_none_is_an_error_that_names_the_setting(tmp_path: Path) -> None:
    broken = tmp_path / "cert.pem"
    broken.write_text("no certificate")
    settings = HttpSettings.model_validate({"tls": {"cert_file": broken, "key_file": TLS / "server.key"}})
    with pytest.raises(ReceiverStartError, match="receivers::otlp::protocols::http::tls"):
        await OtlpHttpReceiver(settings, RememberingIntake(), "otlp").start()
