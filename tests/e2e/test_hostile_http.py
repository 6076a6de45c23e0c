"""What hostile, broken and odd senders post. Each gets an answer that OTLP knows, everything offered is accepted,
rejected or refused, and others are served meanwhile.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import zlib
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import cramjam
import pytest
import pytest_asyncio
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue

from collector.intake import MalformedRequestError, OverloadedError
from collector.receivers import http_protocol, otlp_http
from tests.collector.otlp_samples import deep_span, field, request, span, spans_of
from tests.e2e.receiving import Connection, RememberingIntake, ask, connection, http_receiver, post

TLS = Path(__file__).parents[1] / "data" / "tls"
PROTOBUF, JSON = "application/x-protobuf", "application/json"
ONE_SPAN = request(span())
MIB = 1 << 20
BOMB = bytes(64 * MIB)
IDS = '"traceId":"0102030405060708090a0b0c0d0e0f10","spanId":"1112131415161718"'


def in_json(*members: str) -> bytes:
    """A request of one span with these members besides its ids."""
    spans = "{" + ",".join([IDS, *members]) + "}"
    return ('{"resourceSpans":[{"scopeSpans":[{"spans":[' + spans + "]}]}]}").encode()


def posted(body: bytes, content_type: str = PROTOBUF, **headers: str) -> bytes:
    return post(body, content_type=content_type, **headers)


def text(body: bytes, **headers: str) -> bytes:
    return post(body, content_type=JSON, **headers)


GZIPPED = gzip.compress(ONE_SPAN)
SAME_KEYS = [KeyValue(key="k", value=AnyValue(int_value=1))] * 10_000
NESTED = '"attributes":[{"key":"k","value":' + '{"arrayValue":{"values":[' * 60 + "]}}" * 60 + "}]"
CHUNKED = posted(b"").replace(b"content-length: 0", b"transfer-encoding: chunked")


def with_header(name: bytes, value: bytes) -> bytes:
    """A request with one more header before the one of the same name."""
    return posted(GZIPPED, content_encoding="gzip").replace(name, name + b": " + value + b"\r\n" + name, 1)


def with_raw(name: str) -> bytes:
    """A span whose name is these bytes."""
    return span(name="") + field(5, name.encode("latin-1"))


# What is sent, the status, and how many spans of it are taken and rejected.
CASES: list[tuple[str, bytes, int, int, int]] = [
    # Spans.
    ("an id of 15 bytes in one span of three", posted(request(span(), span(trace_id=b"x" * 15), span())), 200, 2, 1),
    ("a span id of zeros", posted(request(span(), span(span_id=bytes(8)))), 200, 1, 1),
    ("a parent id of 3 bytes", posted(request(span() + field(4, b"abc"), span())), 200, 1, 1),
    ("a link id of 3 bytes", posted(request(span() + field(13, field(1, b"abc")), span())), 200, 1, 1),
    ("a span that is cut off", posted(request(span()[:-3], span())), 200, 1, 1),
    ("only spans that can't be taken", posted(request(*[span(trace_id=b"")] * 5)), 200, 0, 5),
    ("text that isn't UTF-8 in one span", posted(request(with_raw("\xff\xfe"), span())), 200, 2, 0),
    ("NUL in a name", posted(request(span(name="a\0b"))), 200, 1, 0),
    ("a surrogate as three bytes", posted(request(with_raw("\xed\xa0\x80"))), 200, 1, 0),
    ("values 1,000 deep", posted(request(deep_span(1000), span())), 200, 2, 0),
    ("an unknown field in every message", posted(request(span() + field(999, b"x")) + field(999, b"y")), 200, 1, 0),
    ("a field that is repeated though it shouldn't be", posted(request(span() + field(5, b"other"))), 200, 1, 0),
    ("a kind that there isn't", posted(request(span() + b"\x30\x7b")), 200, 1, 0),
    ("times that go backwards", posted(request(span(start_time_unix_nano=9, end_time_unix_nano=1))), 200, 1, 0),
    ("the greatest time", posted(request(span(end_time_unix_nano=(1 << 64) - 1))), 200, 1, 0),
    ("ten thousand attributes of one name", posted(request(span(attributes=SAME_KEYS))), 200, 1, 0),
    ("250,001 items", posted(field(1, field(2, b"\x12\x00" * 250_001))), 400, 0, 0),
    ("50,001 scopes", posted(b"\x0a\x02\x12\x00" * 50_001), 400, 0, 0),
    ("a group that never ends", posted(b"\x0b" * 1000), 400, 0, 0),
    ("a number longer than 64 bits", posted(b"\x0a" + b"\xff" * 11), 400, 0, 0),
    ("field 0", posted(b"\x00\x01"), 400, 0, 0),
    ("JSON that is called protobuf", posted(in_json()), 400, 0, 0),
    # JSON.
    ("protobuf that is called JSON", text(ONE_SPAN), 400, 0, 0),
    ("one wrong id", text(in_json().replace(b"1112131415161718", b"11121314")), 400, 0, 0),
    ("an id in base64", text(in_json().replace(b"1112131415161718", b"ERITFBUWFxg=")), 400, 0, 0),
    ("an id in capitals", text(in_json().replace(b"0a0b0c", b"0A0B0C")), 200, 1, 0),
    ("equal keys: the last counts", text(in_json('"name":"a"', '"name":"b"')), 200, 1, 0),
    ("a lone surrogate", text(in_json(r'"name":"\ud800x"')), 200, 1, 0),
    ("surrogates in the wrong order", text(in_json(r'"name":"\udc00\ud800"')), 200, 1, 0),
    ("an escaped NUL", text(in_json(r'"name":"a\u0000b"')), 200, 1, 0),
    ("text that isn't UTF-8", text(in_json('"name":"?"').replace(b"?", b"\xff")), 200, 1, 0),
    ("an integer of 64 bits", text(in_json('"startTimeUnixNano":18446744073709551615')), 200, 1, 0),
    ("an integer of 65 bits", text(in_json('"startTimeUnixNano":18446744073709551616')), 400, 0, 0),
    ("an integer of 5,000 digits", text(in_json(f'"startTimeUnixNano":{"9" * 5000}')), 400, 0, 0),
    ("an integer of 5,000 digits in text", text(in_json(f'"startTimeUnixNano":"{"9" * 5000}"')), 400, 0, 0),
    ("a negative time", text(in_json('"startTimeUnixNano":-1')), 400, 0, 0),
    ("a number that is none", text(in_json('"kind":NaN')), 400, 0, 0),
    ("2,000 arrays in each other", text(b"[" * 2000), 400, 0, 0),
    ("values 60 deep", text(in_json(NESTED)), 400, 0, 0),
    ("a byte order mark", text(b"\xef\xbb\xbf" + in_json()), 200, 1, 0),
    ("UTF-16", text(in_json().decode().encode("utf-16")), 400, 0, 0),
    ("UTF-32", text(in_json().decode().encode("utf-32-le")), 400, 0, 0),
    ("something after the request", text(in_json() + b"{}"), 400, 0, 0),
    ("one request a line", text(in_json() + b"\n" + in_json()), 400, 0, 0),
    ("a comment", text(b"/* hello */" + in_json()), 400, 0, 0),
    ("an array", text(b"[" + in_json() + b"]"), 400, 0, 0),
    ("null", text(b"null"), 400, 0, 0),
    ("spans that are no array", text(b'{"resourceSpans":{"scopeSpans":1}}'), 400, 0, 0),
    ("nothing but null", text(b'{"resourceSpans":[null,{"scopeSpans":[null]}]}'), 200, 0, 0),
    # Encodings.
    ("gzip", posted(GZIPPED, content_encoding="gzip"), 200, 1, 0),
    ("gzip of two members", posted(GZIPPED + GZIPPED, content_encoding="gzip"), 200, 2, 0),
    ("gzip with garbage after it", posted(GZIPPED + b"garbage", content_encoding="gzip"), 400, 0, 0),
    ("gzip with zeros after it", posted(GZIPPED + bytes(9), content_encoding="gzip"), 400, 0, 0),
    ("gzip with a wrong checksum", posted(GZIPPED[:-8] + bytes(8), content_encoding="gzip"), 400, 0, 0),
    ("gzip twice, said once", posted(gzip.compress(GZIPPED), content_encoding="gzip"), 400, 0, 0),
    ("gzip twice, said so", posted(gzip.compress(GZIPPED), content_encoding="gzip, gzip"), 415, 0, 0),
    ("gzip that isn't said", posted(GZIPPED), 400, 0, 0),
    ("zlib called gzip", posted(zlib.compress(ONE_SPAN), content_encoding="gzip"), 400, 0, 0),
    ("nothing, compressed", posted(gzip.compress(b""), content_encoding="gzip"), 200, 0, 0),
    ("nothing, said to be compressed", posted(b"", content_encoding="gzip"), 200, 0, 0),
    ("a gzip bomb", posted(gzip.compress(BOMB), content_encoding="gzip"), 413, 0, 0),
    ("a deflate bomb", posted(zlib.compress(BOMB), content_encoding="deflate"), 413, 0, 0),
    ("a zstd bomb", posted(bytes(cramjam.zstd.compress(BOMB)), content_encoding="zstd"), 413, 0, 0),
    ("a snappy bomb", posted(bytes(cramjam.snappy.compress(BOMB))[: MIB // 2], content_encoding="snappy"), 413, 0, 0),
    ("an lz4 bomb", posted(bytes(cramjam.lz4.compress(BOMB)), content_encoding="lz4"), 413, 0, 0),
    ("brotli", posted(b"x", content_encoding="br"), 415, 0, 0),
    # Heads.
    ("two encodings in two headers", with_header(b"content-encoding", b"br"), 415, 0, 0),
    ("two content types", with_header(b"content-type", b"text/plain"), 415, 0, 0),
    ("two lengths", with_header(b"content-length", b"3"), 400, 0, 0),
    ("a negative length", posted(b"").replace(b"length: 0", b"length: -1"), 400, 0, 0),
    ("a length in hexadecimal", posted(b"").replace(b"length: 0", b"length: 0x10"), 400, 0, 0),
    ("a length and chunks at once", posted(ONE_SPAN, transfer_encoding="chunked"), 400, 0, 0),
    ("a header without a name", posted(ONE_SPAN).replace(b"content-type", b": x\r\ncontent-type", 1), 400, 0, 0),
    ("a header with NUL in it", posted(ONE_SPAN, x_odd="a\0b"), 400, 0, 0),
    ("a path of 80 kB", posted(ONE_SPAN).replace(b"/v1/traces", b"/v1/" + b"t" * 80_000), 400, 0, 0),
    ("a path with escapes", posted(ONE_SPAN).replace(b"/v1/traces", b"/v1/%74races"), 200, 1, 0),
    ("a path with a query", posted(ONE_SPAN).replace(b"/v1/traces", b"/v1/traces?a=b"), 200, 1, 0),
    ("a path that climbs", posted(ONE_SPAN).replace(b"/v1/traces", b"/../v1/traces"), 404, 0, 0),
    ("a path that ends with a slash", posted(ONE_SPAN).replace(b"/v1/traces", b"/v1/traces/"), 404, 0, 0),
    ("a method of its own", posted(ONE_SPAN).replace(b"POST", b"SPAN", 1), 400, 0, 0),
    ("GET with a body", posted(ONE_SPAN).replace(b"POST", b"GET", 1), 405, 0, 0),
    ("HTTP/2 without asking", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, 0, 0),
    ("TLS where none is spoken", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(100), 400, 0, 0),
    ("another host", posted(ONE_SPAN).replace(b"host: localhost", b"host: evil.example"), 200, 1, 0),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def served() -> AsyncIterator[tuple[RememberingIntake, int]]:
    """One receiver for all cases, which each leave it as it was."""
    intake = RememberingIntake()
    async with http_receiver(intake, max_request_body_size_mib=1) as receiver:
        yield intake, receiver.port


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    ("sent", "status", "taken", "rejected"), [row[1:] for row in CASES], ids=[row[0] for row in CASES]
)
async def test_each_oddity_gets_its_answer_and_harms_no_other_request(
    served: tuple[RememberingIntake, int], sent: bytes, status: int, taken: int, rejected: int
) -> None:
    intake, port = served
    intake.taken.clear()
    answer = await ask(port, sent)
    offered = [found for _, body, _ in intake.taken if answer.status == 200 for found in leaves(body)]
    assert (await ask(port, post(ONE_SPAN))).status == 200
    assert answer.status == status
    assert len(offered) == taken + rejected
    in_protobuf = answer.headers["content-type"] == PROTOBUF
    if status == 200:
        assert rejected_spans(answer.body, in_protobuf) == rejected
    else:
        code, message = refusal(answer.body, in_protobuf)
        assert code
        assert message


def leaves(body: bytes) -> list[bytes]:
    """The spans of a request as they are, broken ones too."""
    found: list[bytes] = []

    def walk(data: bytes, depth: int) -> None:
        at = 0
        while at < len(data):
            tag, at = number(data, at)
            size, at = number(data, at)
            part = data[at : at + size]
            at += size
            if tag >> 3 == (1 if depth == 0 else 2):
                found.append(part) if depth == 2 else walk(part, depth + 1)

    def number(data: bytes, at: int) -> tuple[int, int]:
        value = shift = 0
        while True:
            byte = data[at]
            value |= (byte & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if byte < 0x80:
                return value, at

    walk(body, 0)
    return found


def rejected_spans(body: bytes, in_protobuf: bool) -> int:
    if in_protobuf:
        return int(ExportTraceServiceResponse.FromString(body).partial_success.rejected_spans)
    return int(json.loads(body).get("partialSuccess", {}).get("rejectedSpans", 0))


def refusal(body: bytes, in_protobuf: bool) -> tuple[int, str]:
    if in_protobuf:
        status = Status.FromString(body)
        return status.code, status.message
    told = json.loads(body)
    return told["code"], told["message"]


async def test_what_is_odd_in_one_span_leaves_as_it_came() -> None:
    intake = RememberingIntake()
    odd = [with_raw("\xff\xfe"), span(name="a\0b"), deep_span(300), span() + field(999, b"unknown")]
    async with http_receiver(intake) as receiver:
        await ask(receiver.port, post(request(*odd)))
    assert leaves(intake.taken[0][1]) == odd


async def test_flawed_text_in_json_becomes_the_replacement_character() -> None:
    intake = RememberingIntake()
    flawed = [in_json(r'"name":"a\ud800b"'), in_json('"name":"a?b"').replace(b"?", b"\xff")]
    async with http_receiver(intake) as receiver:
        for body in flawed:
            await ask(receiver.port, text(body))
    assert [spans_of(body)[0].name for _, body, _ in intake.taken] == ["a\ufffdb", "a\ufffdb"]


@pytest.mark.parametrize(
    ("failure", "status", "code", "retry_after"),
    [
        (OverloadedError("full", 13.0), 503, 14, "13"),
        (OverloadedError("full", 0.2), 503, 14, "1"),
        (MalformedRequestError("no"), 400, 3, None),
        (RuntimeError("secret"), 503, 14, "5"),
        (TimeoutError("a deadline of ours"), 503, 14, "5"),
        (OSError(28, "No space left on device"), 503, 14, "5"),
        (MemoryError(), 503, 14, "5"),
    ],
)
@pytest.mark.parametrize("content_type", [PROTOBUF, JSON])
async def test_whatever_fails_behind_the_receiver_is_told_as_final_only_when_it_is(
    failure: Exception, status: int, code: int, retry_after: str | None, content_type: str
) -> None:
    body = ONE_SPAN if content_type == PROTOBUF else in_json()
    async with http_receiver(RememberingIntake(failure=failure)) as receiver:
        answer = await ask(receiver.port, post(body, content_type=content_type))
    told = refusal(answer.body, content_type == PROTOBUF)
    assert (answer.status, answer.headers["content-type"]) == (status, content_type)
    assert told[0] == code
    assert "secret" not in told[1]
    assert answer.headers.get("retry-after") == retry_after


async def test_a_limit_of_the_very_size_lets_through_and_one_byte_less_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    body = ONE_SPAN + b"".join(field(1, b"") for _ in range(20))
    for limit, status in ((len(body), 200), (len(body) - 1, 413)):
        async with http_receiver(RememberingIntake()) as receiver:
            monkeypatch.setattr(receiver, "_limit_bytes", limit)
            assert (await ask(receiver.port, post(body))).status == status
            packed = post(gzip.compress(body), content_encoding="gzip")
            assert (await ask(receiver.port, packed)).status == status


# -- connections ------------------------------------------------------------------------------------------------------


async def test_a_body_that_is_shorter_than_its_length_is_nobodys_request() -> None:
    intake = RememberingIntake()
    async with http_receiver(intake) as receiver:
        async with connection(receiver.port) as client:
            await client.send(post(ONE_SPAN)[:-1])
        assert (await ask(receiver.port, post(b""))).status == 200
    assert [body for _, body, _ in intake.taken] == [b""]


async def test_what_follows_a_body_and_is_no_request_ends_the_connection_after_the_answers_that_are_due() -> None:
    intake = RememberingIntake()
    async with http_receiver(intake) as receiver, connection(receiver.port) as client:
        await client.send(post(ONE_SPAN) * 3 + b"and more\r\n\r\n")
        assert [(await client.answer()).status for _ in range(3)] == [200, 200, 200]
        assert await client.is_closed()
    assert len(intake.taken) == 3


@pytest.mark.parametrize(
    "chunks",
    [b"zz\r\n", b"-5\r\n", b"fffffffffffffffff\r\n", b"5\r\nabc\r\n0\r\n\r\n", b"5;" + b"e" * 70_000 + b"\r\n"],
)
async def test_chunks_that_lie_are_no_http(chunks: bytes) -> None:
    intake = RememberingIntake()
    async with http_receiver(intake) as receiver, connection(receiver.port) as client:
        await client.send(CHUNKED + chunks)
        rest = await client.reader.read(65536)
        assert rest == b"" or b" 400 " in rest
    assert intake.taken == []


async def test_one_byte_at_a_time_is_a_request_like_any_other() -> None:
    intake = RememberingIntake()
    async with http_receiver(intake) as receiver, connection(receiver.port) as client:
        for byte in post(ONE_SPAN):
            await client.send(bytes([byte]))
        assert (await client.answer()).status == 200
    assert intake.taken[0][1] == ONE_SPAN


async def test_a_hundred_requests_at_once_on_one_connection_are_all_answered() -> None:
    intake = RememberingIntake()
    async with http_receiver(intake) as receiver, connection(receiver.port) as client:
        await client.send(post(ONE_SPAN) * 100)
        assert {(await client.answer()).status for _ in range(100)} == {200}
    assert len(intake.taken) == 100


async def test_a_sender_that_never_reads_its_answers_is_cut_off(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(http_protocol, "UNREAD_S", 0.2)
    bad = post(b"x" * 10, "/v1/nothing") * 200
    path = tmp_path / "otlp.sock"  # has small buffers
    async with http_receiver(RememberingIntake(), transport="unix", endpoint=str(path)):
        _, writer = await asyncio.open_unix_connection(path, limit=1)
        writer.transport.pause_reading()
        sent = 0
        async with asyncio.timeout(60):
            with pytest.raises(ConnectionError):
                while True:
                    writer.write(bad)
                    await writer.drain()
                    sent += 200
        assert sent < 20_000  # more isn't read, and so not kept, while answers are due
        writer.close()
        reader, writer = await asyncio.open_unix_connection(path)
        client = Connection(reader, writer)
        await client.send(post(ONE_SPAN))
        assert (await client.answer()).status == 200
        writer.close()


async def test_idle_connections_make_room_for_new_ones_and_those_at_work_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(otlp_http, "allowed_connections", lambda: 20)
    async with http_receiver(RememberingIntake()) as receiver, AsyncExitStack() as stack:
        at_work = await stack.enter_async_context(connection(receiver.port))
        await at_work.send(post(ONE_SPAN)[:-1])
        known = await stack.enter_async_context(connection(receiver.port))
        await known.send(post(ONE_SPAN))
        assert (await known.answer()).status == 200
        silent = [await stack.enter_async_context(connection(receiver.port)) for _ in range(60)]
        assert await silent[0].is_closed()
        for client in (known, silent[-1]):
            await client.send(post(ONE_SPAN))
            assert (await client.answer()).status == 200
        await at_work.send(post(ONE_SPAN)[-1:])
        assert (await at_work.answer()).status == 200


async def test_a_thousand_idle_connections_keep_nobody_out() -> None:
    async with http_receiver(RememberingIntake()) as receiver, AsyncExitStack() as stack:
        for _ in range(1000):
            await stack.enter_async_context(connection(receiver.port))
        assert (await ask(receiver.port, post(ONE_SPAN))).status == 200


async def test_a_sender_that_begins_no_tls_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(otlp_http, "_HANDSHAKE_S", 0.2)
    tls = {"cert_file": TLS / "server.pem", "key_file": TLS / "server.key"}
    async with http_receiver(RememberingIntake(), tls=tls) as receiver, connection(receiver.port) as client:
        assert await client.is_closed()


# -- browsers ---------------------------------------------------------------------------------------------------------

APP = "https://app.example.com"


async def test_a_page_of_an_allowed_origin_asks_first_sends_then_and_reads_refusals() -> None:
    cors = {"allowed_origins": [APP], "allowed_headers": ["Authorization"], "max_age": 60}
    auth = {"bearer_token": "s3cret"}
    ask_first = (
        b"OPTIONS /v1/traces HTTP/1.1\r\nhost: h\r\norigin: " + APP.encode() + b"\r\n"
        b"access-control-request-method: POST\r\naccess-control-request-headers: authorization,content-type\r\n\r\n"
    )
    async with http_receiver(RememberingIntake(), cors=cors, auth=auth) as receiver, connection(receiver.port) as page:
        await page.send(ask_first)
        allowed = await page.answer()
        await page.send(post(ONE_SPAN, origin=APP, authorization="Bearer s3cret"))
        taken = await page.answer()
        await page.send(post(ONE_SPAN, origin=APP))
        refused = await page.answer()
    assert (allowed.status, allowed.body) == (204, b"")
    assert allowed.headers["access-control-allow-headers"] == "authorization, content-type"
    assert (taken.status, refused.status) == (200, 401)
    for answer in (allowed, taken, refused):
        assert answer.headers["access-control-allow-origin"] == APP
        assert "Origin" in answer.headers["vary"]


async def test_without_cors_a_preflight_is_a_method_that_isnt_allowed_and_no_answer_speaks_of_it() -> None:
    ask_first = posted(b"", origin=APP, access_control_request_method="POST").replace(b"POST /", b"OPTIONS /", 1)
    async with http_receiver(RememberingIntake()) as receiver:
        refused = await ask(receiver.port, ask_first)
        taken = await ask(receiver.port, post(ONE_SPAN, origin=APP))
    assert (refused.status, taken.status) == (405, 200)
    names = {*refused.headers, *taken.headers}
    assert not [name for name in names if name.startswith("access-control") or name == "vary"]
