"""The OTLP/gRPC exporter against a real server: what is sent, and what each answer means."""

from __future__ import annotations

from pathlib import Path

import grpc
import pytest
from pydantic import ValidationError

from collector.exporters.otlp_grpc import METHODS, OtlpGrpcSender, OtlpGrpcSettings
from collector.exporters.sender import MisconfiguredError, RetryableError, Taken
from collector.records import Signal
from tests.collector.backends import GrpcBackend, partial_success, trace_request

TLS = Path(__file__).parents[1] / "data" / "tls"
REQUEST = trace_request("a")


def settings(port: int, **more: object) -> OtlpGrpcSettings:
    return OtlpGrpcSettings.model_validate({"endpoint": f"127.0.0.1:{port}", "tls": {"insecure": True}, **more})


async def send_once(backend: GrpcBackend, signal: Signal = Signal.TRACES, **more: object) -> Taken:
    sender = OtlpGrpcSender("otlp", settings(backend.port, **more))
    await sender.start()
    try:
        return await sender.send(signal, REQUEST, {"x-project-name": "p"})
    finally:
        await sender.stop()


@pytest.mark.parametrize("signal", list(Signal))
async def test_sends_the_very_bytes_to_the_method_of_the_signal(signal: Signal) -> None:
    async with GrpcBackend() as backend:
        assert await send_once(backend, signal, headers={"Authorization": "Bearer s3cret"}) == Taken()
    (attempt,) = backend.attempts
    assert attempt.path == METHODS[signal]
    assert attempt.request == REQUEST
    assert attempt.headers["authorization"] == "Bearer s3cret"
    assert attempt.headers["x-project-name"] == "p"
    assert attempt.headers["user-agent"].startswith("spanjudge/")


@pytest.mark.parametrize("value", ["ü", "a\nb", "\x00", "x" * 20_000])
async def test_a_forwarded_header_that_cant_be_sent_doesnt_stop_the_request(value: str) -> None:
    async with GrpcBackend() as backend:
        sender = OtlpGrpcSender("otlp", settings(backend.port))
        await sender.start()
        await sender.send(Signal.TRACES, REQUEST, {"x-project-name": value})
        await sender.stop()
    assert "x-project-name" not in backend.attempts[0].headers


async def test_compressed_requests_arrive_as_they_were() -> None:
    async with GrpcBackend() as backend:
        await send_once(backend, compression="gzip")
    assert backend.accepted == [REQUEST]


async def test_partial_success_says_how_many_were_rejected() -> None:
    async with GrpcBackend(lambda number, request: partial_success(3)) as backend:
        assert await send_once(backend) == Taken(rejected=3)


async def test_an_answer_that_is_no_response_rejects_nothing() -> None:
    async with GrpcBackend(lambda number, request: b"\xff\xff") as backend:
        assert await send_once(backend) == Taken()


async def test_a_backend_that_is_too_slow_or_not_there_may_work_later() -> None:
    async with GrpcBackend(delay_s=5) as backend:
        with pytest.raises(RetryableError):
            await send_once(backend, timeout="50ms")
    with pytest.raises(RetryableError):
        await send_once(backend, timeout="2s")


async def test_the_connection_comes_back_after_the_backend_was_down() -> None:
    async with GrpcBackend() as backend:
        sender = OtlpGrpcSender("otlp", settings(backend.port, timeout="2s"))
        await sender.start()
        await sender.send(Signal.TRACES, REQUEST, {})
    with pytest.raises(RetryableError):
        await sender.send(Signal.TRACES, REQUEST, {})
    async with GrpcBackend(port=backend.port) as again:
        while not again.accepted:
            try:
                await sender.send(Signal.TRACES, REQUEST, {})
            except RetryableError:
                continue
    await sender.stop()
    assert again.accepted == [REQUEST]


async def test_certificates_are_verified_against_what_is_configured() -> None:
    pair = ((TLS / "localhost-key.pem").read_bytes(), (TLS / "localhost.pem").read_bytes())
    async with GrpcBackend(credentials=grpc.ssl_server_credentials([pair])) as backend:
        with pytest.raises(MisconfiguredError, match="CERTIFICATE_VERIFY_FAILED"):
            await send_once(backend, tls={"insecure": False})
        await send_once(backend, tls={"ca_file": TLS / "localhost.pem"})
    assert backend.accepted == [REQUEST]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"endpoint": "localhost"}, "has no port"),
        ({"endpoint": ":4317"}, "names no host"),
        ({"endpoint": "http://user:pw@h:1"}, "put credentials under headers"),
        ({"compression": "zstd"}, "use gzip or none, or the otlp_http exporter"),
        ({"tls": {"insecure_skip_verify": True}}, "beyond the gRPC library"),
        ({"tls": {"cert_file": "/nowhere"}}, "belong together"),
        ({"tls": {"ca_file": "/nowhere"}}, "there is no file /nowhere"),
        ({"headers": {"a b": "c"}}, "can't be the name of gRPC metadata"),
        ({"headers": {"a": "line\nbreak"}}, "not printable ASCII"),
    ],
)
def test_what_cant_work_is_refused_with_the_reason(more: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        OtlpGrpcSettings.model_validate({"endpoint": "h:1", **more})


@pytest.mark.parametrize(
    ("endpoint", "insecure", "target", "plain_text"),
    [
        ("h:4317", False, "h:4317", False),
        ("h:4317", True, "h:4317", True),
        ("http://h:4317", False, "h:4317", True),
        ("https://h:4317/", True, "h:4317", False),
        ("[::1]:4317", True, "[::1]:4317", True),
        ("unix:///run/otlp.sock", True, "unix:///run/otlp.sock", True),
    ],
)
def test_the_scheme_of_the_endpoint_decides_about_tls(
    endpoint: str, insecure: bool, target: str, plain_text: bool
) -> None:
    found = OtlpGrpcSettings.model_validate({"endpoint": endpoint, "tls": {"insecure": insecure}})
    assert (found.target, found.plain_text) == (target, plain_text)
