"""OTLP over gRPC, asked by real clients over real sockets."""

import asyncio
import gc
import tracemalloc
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
import pytest
from google.rpc.error_details_pb2 import BadRequest, RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from collector.intake import Accepted, OverloadedError, UndeclaredSignalError
from collector.receivers.otlp_grpc import OtlpGrpcReceiver
from collector.receivers.otlp_settings import GrpcSettings
from collector.receivers.startup import ReceiverStartError
from collector.records import Signal
from tests.collector.otlp_samples import field, logs_request, metrics_request, request, span, spans_of
from tests.e2e.receiving import RememberingIntake, grpc_receiver

TLS = Path(__file__).parent.parent / "data" / "tls"
TRACES = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
LOGS = "/opentelemetry.proto.collector.logs.v1.LogsService/Export"
METRICS = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export"
ONE_SPAN = request(span())


@asynccontextmanager
async def channel_to(receiver: OtlpGrpcReceiver) -> AsyncIterator[grpc.aio.Channel]:
    async with grpc.aio.insecure_channel(f"127.0.0.1:{receiver.port}") as channel:
        yield channel


async def export(
    receiver: OtlpGrpcReceiver,
    body: bytes,
    method: str = TRACES,
    metadata: tuple[tuple[str, str], ...] = (),
    compression: grpc.Compression = grpc.Compression.NoCompression,
) -> bytes:
    async with channel_to(receiver) as channel:
        answer: bytes = await channel.unary_unary(method)(body, metadata=metadata, compression=compression, timeout=10)
        return answer


async def refusal(
    receiver: OtlpGrpcReceiver, body: bytes, metadata: tuple[tuple[str, str], ...] = ()
) -> tuple[grpc.StatusCode, str, Status | None]:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await export(receiver, body, metadata=metadata)
    details = dict(caught.value.trailing_metadata()).get("grpc-status-details-bin")
    return caught.value.code(), caught.value.details() or "", Status.FromString(details) if details else None


@pytest.mark.parametrize(
    ("method", "body", "signal"),
    [
        (TRACES, ONE_SPAN, Signal.TRACES),
        (LOGS, logs_request(), Signal.LOGS),
        (METRICS, metrics_request(), Signal.METRICS),
        (TRACES, b"", Signal.TRACES),
    ],
)
async def test_a_request_is_handed_on_as_it_came(method: str, body: bytes, signal: Signal) -> None:
    intake = RememberingIntake()
    async with grpc_receiver(intake) as receiver:
        assert await export(receiver, body, method) == b""
    assert intake.taken[0][:2] == (signal, body)


@pytest.mark.parametrize("compression", [grpc.Compression.Gzip, grpc.Compression.Deflate])
async def test_a_compressed_request_is_unpacked(compression: grpc.Compression) -> None:
    intake = RememberingIntake()
    async with grpc_receiver(intake) as receiver:
        await export(receiver, ONE_SPAN, compression=compression)
    assert intake.taken[0][1] == ONE_SPAN


async def test_rejected_spans_are_told_in_a_partial_success() -> None:
    async with grpc_receiver(RememberingIntake()) as receiver:
        answer = await export(receiver, request(span(), span(span_id=b"")))
    partial = ExportTraceServiceResponse.FromString(answer).partial_success
    assert partial.rejected_spans == 1
    assert "span_id has 0 bytes" in partial.error_message


async def test_bytes_that_are_no_request_are_an_invalid_argument_with_the_place() -> None:
    async with grpc_receiver(RememberingIntake()) as receiver:
        code, text, status = await refusal(receiver, b"\x0a\x05\x12")
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert "request: field 1 says 5 bytes" in text
    assert status is not None
    violation = BadRequest()
    assert status.details[0].Unpack(violation)


async def test_overload_is_retryable_after_the_time_that_is_told() -> None:
    async with grpc_receiver(RememberingIntake(failure=OverloadedError("full", 2.5))) as receiver:
        code, text, status = await refusal(receiver, ONE_SPAN)
    assert (code, text) == (grpc.StatusCode.UNAVAILABLE, "full")
    assert status is not None
    retry = RetryInfo()
    assert status.details[0].Unpack(retry)
    assert retry.retry_delay.ToMilliseconds() == 2500


async def test_a_refused_request_is_given_up_at_once() -> None:
    class FullIntake(RememberingIntake):
        async def take(self, signal: Signal, request: bytes, *, receiver: str, headers: Mapping[str, str]) -> Accepted:
            raise OverloadedError("full", 1.0)

    body = bytes(1 << 20)
    async with grpc_receiver(FullIntake()) as receiver:
        gc.disable()  # under overload its turn is far away
        tracemalloc.start()
        try:
            for _ in range(10):
                assert (await refusal(receiver, body))[0] is grpc.StatusCode.UNAVAILABLE
            kept_bytes, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
            gc.enable()
        assert kept_bytes < 5 << 20


async def test_a_signal_without_a_pipeline_is_unimplemented() -> None:
    async with grpc_receiver(RememberingIntake(failure=UndeclaredSignalError("no pipeline"))) as receiver:
        assert (await refusal(receiver, ONE_SPAN))[0] is grpc.StatusCode.UNIMPLEMENTED


async def test_a_fault_of_ours_is_retryable_and_tells_nothing() -> None:
    async with grpc_receiver(RememberingIntake(failure=ValueError("content of a span"))) as receiver:
        code, text, _ = await refusal(receiver, ONE_SPAN)
    assert code is grpc.StatusCode.UNAVAILABLE
    assert "content" not in text


async def test_an_unknown_method_is_unimplemented() -> None:
    async with grpc_receiver(RememberingIntake()) as receiver:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await export(receiver, b"", "/opentelemetry.proto.collector.nothing.v1.NothingService/Export")
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED


@pytest.mark.parametrize("compression", [grpc.Compression.NoCompression, grpc.Compression.Gzip])
async def test_a_request_over_the_limit_is_refused_for_good_also_after_decompression(
    compression: grpc.Compression,
) -> None:
    intake = RememberingIntake()
    async with grpc_receiver(intake, max_recv_msg_size_mib=1) as receiver:
        await export(receiver, field(99, bytes((1 << 20) - 5)), compression=compression)
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await export(receiver, field(99, bytes((1 << 20) - 4)), compression=compression)
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "grpc-status-details-bin" not in dict(caught.value.trailing_metadata())
    assert len(intake.taken) == 1


async def test_the_token_is_asked_for_and_accepted() -> None:
    async with grpc_receiver(RememberingIntake(), auth={"bearer_token": "s3cret"}) as receiver:
        for wrong in ((), (("authorization", "Bearer other"),), (("authorization", "s3cret"),)):
            code, text, _ = await refusal(receiver, ONE_SPAN, wrong)
            assert code is grpc.StatusCode.UNAUTHENTICATED
            assert "s3cret" not in text
        assert await export(receiver, ONE_SPAN, metadata=(("authorization", "bearer s3cret"),)) == b""


async def test_metadata_reaches_the_pipeline() -> None:
    intake = RememberingIntake()
    async with grpc_receiver(intake) as receiver:
        await export(receiver, ONE_SPAN, metadata=(("x-project-name", "agents"),))
    assert intake.taken[0][2]["x-project-name"] == "agents"


def send_with_sdk(endpoint: str) -> None:
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint, insecure=True)))
    tracer = provider.get_tracer("test")
    with tracer.start_as_current_span("outer"), tracer.start_as_current_span("inner"):
        pass
    provider.shutdown()


async def test_the_sdk_exporter_delivers_over_grpc() -> None:
    intake = RememberingIntake()
    async with grpc_receiver(intake) as receiver:
        await asyncio.to_thread(send_with_sdk, f"http://127.0.0.1:{receiver.port}")
    assert [found.name for found in spans_of(intake.taken[0][1])] == ["inner", "outer"]


async def test_tls_with_client_certificates() -> None:
    tls = {"cert_file": TLS / "server.pem", "key_file": TLS / "server.key", "client_ca_file": TLS / "ca.pem"}
    authority = (TLS / "ca.pem").read_bytes()
    known = grpc.ssl_channel_credentials(
        authority, (TLS / "client.key").read_bytes(), (TLS / "client.pem").read_bytes()
    )
    unknown = grpc.ssl_channel_credentials(authority)
    intake = RememberingIntake()
    async with grpc_receiver(intake, tls=tls) as receiver:
        async with grpc.aio.secure_channel(f"localhost:{receiver.port}", known) as channel:
            await channel.unary_unary(TRACES)(ONE_SPAN, timeout=10)
        async with grpc.aio.secure_channel(f"localhost:{receiver.port}", unknown) as channel:
            with pytest.raises(grpc.aio.AioRpcError):
                await channel.unary_unary(TRACES)(ONE_SPAN, timeout=10)
    assert len(intake.taken) == 1


async def test_an_occupied_port_is_an_error_that_says_what_to_do() -> None:
    async with grpc_receiver(RememberingIntake()) as first:
        second = OtlpGrpcReceiver(GrpcSettings(endpoint=f"127.0.0.1:{first.port}"), RememberingIntake(), "otlp/b")
        with pytest.raises(ReceiverStartError) as caught:
            await second.start()
    text = str(caught.value)
    assert f"127.0.0.1:{first.port}" in text
    assert "another program listens there" in text
    assert "receivers::otlp/b::protocols::grpc::endpoint" in text


async def test_an_address_of_another_machine_is_an_error_that_says_what_to_do() -> None:
    receiver = OtlpGrpcReceiver(GrpcSettings(endpoint="192.0.2.1:4317"), RememberingIntake(), "otlp")
    with pytest.raises(ReceiverStartError, match="an address of this machine"):
        await receiver.start()


async def test_a_receiver_that_was_stopped_can_be_started_again_at_its_address() -> None:
    async with grpc_receiver(RememberingIntake()) as first:
        port = first.port
    async with grpc_receiver(RememberingIntake(), endpoint=f"127.0.0.1:{port}") as second:
        assert await export(second, ONE_SPAN) == b""


async def test_a_certificate_that_is_none_is_an_error_that_names_it(tmp_path: Path) -> None:
    broken = tmp_path / "cert.pem"
    broken.write_text("no certificate")
    tls = {"cert_file": broken, "key_file": TLS / "server.key"}
    settings = GrpcSettings.model_validate({"endpoint": "127.0.0.1:0", "tls": tls})
    with pytest.raises(ReceiverStartError, match="that the certificate is in order"):
        await OtlpGrpcReceiver(settings, RememberingIntake(), "otlp").start()
