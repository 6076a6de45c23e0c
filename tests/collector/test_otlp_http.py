"""The OTLP/HTTP exporter against a real server: what is sent, and what each answer means."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest
from pydantic import ValidationError

from collector.exporters.otlp_http import OtlpHttpSender, OtlpHttpSettings
from collector.exporters.sender import MisconfiguredError, RetryableError, Taken, UnsupportedSignalError
from collector.records import Signal
from tests.collector.backends import HttpAnswer, HttpBackend, partial_success, trace_request

TLS = Path(__file__).parents[1] / "data" / "tls"
REQUEST = trace_request("a")
PROTOBUF = (("content-type", "application/x-protobuf"),)


async def send_once(settings: dict[str, object], signal: Signal = Signal.TRACES, times: int = 1) -> Taken:
    sender = OtlpHttpSender("otlphttp", OtlpHttpSettings.model_validate(settings))
    await sender.start()
    try:
        return [await sender.send(signal, REQUEST, {"x-project-name": "p"}) for _ in range(times)][-1]
    finally:
        await sender.stop()


@pytest.mark.parametrize("signal", list(Signal))
async def test_sends_the_very_bytes_to_the_path_of_the_signal(signal: Signal) -> None:
    async with HttpBackend() as backend:
        await send_once({"endpoint": backend.url + "/", "headers": {"Authorization": "Bearer s3cret"}}, signal)
    (attempt,) = backend.attempts
    assert attempt.path == f"/v1/{signal}"
    assert attempt.request == REQUEST
    assert attempt.headers["content-type"] == "application/x-protobuf"
    assert attempt.headers["authorization"] == "Bearer s3cret"
    assert attempt.headers["x-project-name"] == "p"
    assert attempt.headers["user-agent"].startswith("spanjudge/")


async def test_a_whole_url_for_a_signal_is_used_as_it_is() -> None:
    async with HttpBackend() as backend:
        await send_once({"traces_endpoint": f"{backend.url}/ingest?key=1"})
    assert backend.attempts[0].path == "/ingest?key=1"


async def test_a_signal_without_an_endpoint_is_not_sent() -> None:
    with pytest.raises(UnsupportedSignalError, match="logs_endpoint"):
        await send_once({"traces_endpoint": "http://127.0.0.1:9/x"}, Signal.LOGS)


@pytest.mark.parametrize("value", ["ü", "a\nb", "\x00", "x" * 20_000])
async def test_a_forwarded_header_that_cant_be_sent_doesnt_stop_the_request(value: str) -> None:
    async with HttpBackend() as backend:
        sender = OtlpHttpSender("otlphttp", OtlpHttpSettings(endpoint=backend.url))
        await sender.start()
        await sender.send(Signal.TRACES, REQUEST, {"x-project-name": value})
        await sender.stop()
    assert "x-project-name" not in backend.attempts[0].headers


@pytest.mark.parametrize("compression", ["gzip", "zstd"])
async def test_compressed_requests_arrive_as_they_were(compression: str) -> None:
    async with HttpBackend() as backend:
        await send_once({"endpoint": backend.url, "compression": compression})
    assert backend.accepted == [REQUEST]
    assert backend.attempts[0].headers["content-encoding"] == compression


async def test_one_connection_serves_many_requests() -> None:
    async with HttpBackend() as backend:
        await send_once({"endpoint": backend.url}, times=5)
    assert (backend.connections, len(backend.accepted)) == (1, 5)


async def test_a_configured_proxy_is_used() -> None:
    async with HttpBackend() as proxy:
        await send_once({"endpoint": "http://backend.invalid:4318", "proxy_url": proxy.url})
    assert proxy.attempts[0].path == "http://backend.invalid:4318/v1/traces"


async def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    async with HttpBackend() as backend:
        await send_once({"endpoint": backend.url})
    assert backend.accepted == [REQUEST]


async def test_partial_success_says_how_many_were_rejected() -> None:
    async with HttpBackend(lambda number, request: HttpAnswer(200, partial_success(2), PROTOBUF)) as backend:
        assert await send_once({"endpoint": backend.url}) == Taken(rejected=2)


@pytest.mark.parametrize("encoding", ["gzip", "br", "zstd"])
async def test_an_answer_that_cannot_be_unpacked_is_what_its_status_says(encoding: str) -> None:
    headers = (*PROTOBUF, ("content-encoding", encoding))
    async with HttpBackend(lambda number, request: HttpAnswer(200, b"broken", headers)) as backend:
        assert await send_once({"endpoint": backend.url}) == Taken()
    assert len(backend.attempts) == 1


async def test_a_backend_that_closes_hangs_or_isnt_there_may_work_later() -> None:
    async with HttpBackend(lambda number, request: HttpAnswer(0)) as backend:
        with pytest.raises(RetryableError, match="can't be reached"):
            await send_once({"endpoint": backend.url})
    with pytest.raises(RetryableError, match="can't be reached"):
        await send_once({"endpoint": backend.url})
    async with HttpBackend(delay_s=5) as backend:
        with pytest.raises(RetryableError, match="within the timeout"):
            await send_once({"endpoint": backend.url, "timeout": "50ms"})


async def test_certificates_are_verified_against_what_is_configured() -> None:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(TLS / "localhost.pem", TLS / "localhost-key.pem")
    async with HttpBackend(tls=context) as backend:
        with pytest.raises(MisconfiguredError, match="CERTIFICATE_VERIFY_FAILED"):
            await send_once({"endpoint": backend.url})
        await send_once({"endpoint": backend.url, "tls": {"ca_file": TLS / "localhost.pem"}})
        await send_once({"endpoint": backend.url, "tls": {"insecure_skip_verify": True}})
    assert backend.accepted == [REQUEST, REQUEST]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"endpoint": None}, "endpoint is missing"),
        ({"endpoint": "localhost:4318"}, "not a URL"),
        ({"endpoint": "ftp://h"}, "not a URL"),
        ({"endpoint": "http://u:p@h"}, "put them into an authorization header"),
        ({"compression": "snappy"}, "use gzip, zstd or none"),
        ({"encoding": "json"}, "byte for byte"),
        ({"proxy_url": "proxy:3128"}, "not the URL of a proxy"),
        ({"tls": {"ca_file": __file__}}, "holds no certificates in PEM form"),
        (
            {"tls": {"cert_file": TLS / "localhost.pem", "key_file": __file__}},
            "not a certificate and its unencrypted key",
        ),
        ({"headers": {"Content-Type": "x"}}, "is set by the exporter"),
        ({"headers": {"a b": "x"}}, "can't be the name of a header"),
    ],
)
def test_what_cant_work_is_refused_with_the_reason(more: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        OtlpHttpSettings.model_validate({"endpoint": "http://h", **more})
