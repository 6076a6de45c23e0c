"""Answers over HTTP that are unusual, broken or hostile, byte by byte from a real socket."""

from __future__ import annotations

import asyncio
import gzip
import json
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from collector.exporters import otlp_http
from collector.exporters.otlp_grpc import OtlpGrpcSender, OtlpGrpcSettings
from collector.exporters.otlp_http import OtlpHttpSender, OtlpHttpSettings
from collector.exporters.sender import MisconfiguredError, RetryableError, Taken
from collector.records import Signal
from tests.collector.backends import GrpcBackend, HttpBackend, partial_success, trace_request

PROTOBUF = b"content-type: application/x-protobuf\r\n"
JSON = b"content-type: application/json; charset=utf-8\r\n"


@asynccontextmanager
async def speaking(*parts: bytes, keep_open: bool = False, flood: bytes = b"") -> AsyncIterator[str]:
    """A server that answers every request with the same bytes, then closes, or says `flood` for ever."""
    stopping = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length"))
            await reader.readexactly(int(length.split(b":")[1]))
            for part in parts:
                writer.write(part)
                await writer.drain()
            while flood:
                writer.write(flood)
                await writer.drain()
            if keep_open:
                await stopping.wait()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        stopping.set()
        server.close()
        await server.wait_closed()


async def send(url: str, patience: str = "5s") -> Taken:
    sender = OtlpHttpSender("otlphttp", OtlpHttpSettings.model_validate({"endpoint": url, "timeout": patience}))
    await sender.start()
    try:
        return await sender.send(Signal.TRACES, trace_request("a"), {})
    finally:
        await sender.stop()


def ok(headers: bytes, body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\n%scontent-length: %d\r\n\r\n%s" % (headers, len(body), body)


@pytest.mark.parametrize(
    "answer",
    [
        ok(PROTOBUF, partial_success(2)),
        b"HTTP/1.0 200 OK\r\n" + PROTOBUF + b"\r\n" + partial_success(2),
        b"HTTP/1.1 200 OK\r\nconnection: close\r\n" + PROTOBUF + b"\r\n" + partial_success(2),
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n" + ok(PROTOBUF, partial_success(2)),
        ok(PROTOBUF + b"content-encoding: gzip\r\n", gzip.compress(partial_success(2))),
        ok(PROTOBUF + b"content-encoding: deflate\r\n", zlib.compress(partial_success(2))),
        ok(JSON, b'{"partialSuccess": {"rejectedSpans": "2", "errorMessage": "old"}}'),
        ok(JSON, b'{"partialSuccess": {"rejectedSpans": 2}}'),
    ],
    ids=["1.1", "1.0", "close", "interim", "gzip", "deflate", "JSON", "JSON number"],
)
async def test_a_partial_success_is_understood_in_every_form(answer: bytes) -> None:
    async with speaking(answer) as url:
        assert await send(url) == Taken(rejected=2)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b"null",
        b"[1]",
        b"{broken",
        b'{"partialSuccess": null}',
        b'{"partialSuccess": []}',
        b'{"partialSuccess": {"rejectedSpans": "many"}}',
        b'{"partialSuccess": {"rejectedSpans": 1e999}}',
        b'{"partialSuccess": {"rejectedSpans": -3}}',
        b"[" * 100_000,
    ],
)
async def test_an_answer_in_json_that_says_nothing_of_rejected_items_rejects_none(body: bytes) -> None:
    async with speaking(ok(JSON, body)) as url:
        assert await send(url) == Taken()


async def test_a_warning_without_rejections_is_one() -> None:
    body = json.dumps({"partialSuccess": {"errorMessage": "attribute names are deprecated"}}).encode()
    async with speaking(ok(JSON, body)) as url:
        assert await send(url) == Taken(warned=True)


@pytest.mark.parametrize("rejected", [-1, -(2**63), 2**63 - 1])
async def test_numbers_of_rejected_items_are_never_negative(rejected: int) -> None:
    async with speaking(ok(PROTOBUF, partial_success(rejected))) as url:
        found = await send(url)
    assert found.rejected == max(rejected, 0)


async def test_a_status_counts_even_if_the_body_never_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(otlp_http, "BODY_WAIT_S", 0.1)
    head = b"HTTP/1.1 200 OK\r\n" + PROTOBUF + b"content-length: 1000\r\n\r\n"
    async with speaking(head, keep_open=True) as url:
        assert await send(url) == Taken()


async def test_a_status_counts_even_if_the_body_breaks_off() -> None:
    head = b"HTTP/1.1 503 x\r\nretry-after: 9\r\ncontent-length: 1000\r\n\r\nhalf"
    async with speaking(head) as url:
        with pytest.raises(RetryableError, match="503") as caught:
            await send(url)
    assert caught.value.retry_after_s == 9.0


async def test_a_body_without_end_is_not_read_to_its_end() -> None:
    head = b"HTTP/1.1 200 OK\r\n" + PROTOBUF + b"\r\n"
    async with speaking(head, flood=b"x" * 65536) as url:
        assert await send(url) == Taken()


async def test_a_compressed_body_is_unpacked_no_further_than_an_answer_may_be_large() -> None:
    bomb = gzip.compress(b"\0" * (64 << 20))
    async with speaking(ok(PROTOBUF + b"content-encoding: gzip\r\n", bomb)) as url:
        assert await send(url) == Taken()


async def test_interim_answers_without_end_are_no_answer() -> None:
    async with speaking(flood=b"HTTP/1.1 103 Early Hints\r\n\r\n") as url:
        with pytest.raises(RetryableError, match="within the timeout"):
            await send(url, "300ms")


async def test_heads_without_end_are_no_answer() -> None:
    async with speaking(b"HTTP/1.1 200 OK\r\n", flood=b"x-more: " + b"y" * 4000 + b"\r\n") as url:
        with pytest.raises(RetryableError, match="can't be reached"):
            await send(url)


async def test_a_web_page_is_no_otlp_endpoint_whatever_its_status() -> None:
    page = ok(b"content-type: text/html; charset=utf-8\r\n", b"<html>Please log in</html>")
    async with speaking(page) as url:
        with pytest.raises(MisconfiguredError, match="web page; give the URL of an OTLP endpoint"):
            await send(url)


async def test_a_port_for_grpc_is_told_from_a_destination_that_is_down() -> None:
    async with GrpcBackend() as backend:
        with pytest.raises(MisconfiguredError, match="the port for gRPC"):
            await send(f"http://127.0.0.1:{backend.port}")


async def test_a_port_for_http_is_told_from_a_destination_that_is_down() -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(refuse, "127.0.0.1", 0)
    settings = {"endpoint": f"127.0.0.1:{server.sockets[0].getsockname()[1]}", "tls": {"insecure": True}}
    sender = OtlpGrpcSender("otlp", OtlpGrpcSettings.model_validate(settings))
    await sender.start()
    with pytest.raises(MisconfiguredError, match="use otlp_http"):
        await sender.send(Signal.TRACES, trace_request("a"), {})
    await sender.stop()
    server.close()


async def test_redirects_are_not_followed() -> None:
    async with HttpBackend() as elsewhere:
        redirect = b"HTTP/1.1 307 x\r\nlocation: %s/v1/traces\r\ncontent-length: 0\r\n\r\n" % elsewhere.url.encode()
        async with speaking(redirect) as url:
            with pytest.raises(MisconfiguredError, match=f"{elsewhere.url}/v1/traces"):
                await send(url)
    assert elsewhere.attempts == []


async def test_over_grpc_an_answer_that_is_too_large_doesnt_have_the_request_cut_and_sent_again() -> None:
    async with GrpcBackend(lambda number, request: b"x" * (5 << 20)) as backend:
        settings = {"endpoint": f"127.0.0.1:{backend.port}", "tls": {"insecure": True}}
        sender = OtlpGrpcSender("otlp", OtlpGrpcSettings.model_validate(settings))
        await sender.start()
        assert await sender.send(Signal.TRACES, trace_request("a"), {}) == Taken()
        await sender.stop()
