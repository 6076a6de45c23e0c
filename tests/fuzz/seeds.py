"""Bytes to begin with: recorded requests, and small examples of everything else."""

from __future__ import annotations

import gzip
import json
import zlib
from array import array
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import cramjam

from collector.exporters.json_encoding import to_json
from collector.journal import coding
from collector.journal.entries import ArrivalEntry
from collector.records import Signal
from tests.collector.otlp_samples import deep_span, field, logs_request, metrics_request, request, span

_RECORDED = Path(__file__).parents[1] / "recorded"
_LARGEST_BYTES = 12_000
_MOST = 150
_BY_HAND = 5


@cache
def requests() -> Sequence[bytes]:
    """Small recorded requests of traces, one of each instrumentation at most, and hand-made ones."""
    found = [b"", request(span()), request(span(), span(span_id=b"")), request(deep_span(60)), field(1, b"\x12\x00")]
    for folder in sorted(_RECORDED.iterdir()):
        sizes = sorted((path.stat().st_size, path) for path in folder.rglob("*traces.pb.gz"))
        if sizes and sizes[0][0] < _LARGEST_BYTES:
            content = gzip.decompress(sizes[0][1].read_bytes())
            if len(content) < 4 * _LARGEST_BYTES:
                found.append(content)
    return found[:_MOST]


def logs() -> Sequence[bytes]:
    """Requests of log records."""
    return [b"", logs_request(), logs_request(trace_id=b"", span_id=b""), logs_request(trace_id=b"abc")]


def metrics() -> Sequence[bytes]:
    """Requests of metrics."""
    return [b"", metrics_request(), metrics_request(0)]


@cache
def json_texts() -> Sequence[bytes]:
    """Requests in JSON."""
    recorded = [to_json(Signal.TRACES, body) for body in requests()[_BY_HAND : _BY_HAND + 20]]
    return [b"{}", *recorded, b'{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"\\ud800"}]}]}]}']


def json_requests() -> Sequence[bytes]:
    """The same after the byte that chooses the signal."""
    others = [b"\1" + to_json(Signal.LOGS, logs_request()), b"\2" + to_json(Signal.METRICS, metrics_request())]
    return [*(b"\0" + text for text in json_texts()), *others]


def packed() -> Sequence[bytes]:
    """Bodies in every encoding, after the byte that chooses it."""
    body = request(span()) * 3
    snappy = bytes(cramjam.snappy.compress(body))
    return [
        b"\0" + gzip.compress(body) * 2,
        b"\1" + bytes(cramjam.zstd.compress(body)),
        b"\2" + zlib.compress(body),
        b"\3" + zlib.compress(body)[2:-4],
        b"\4" + bytes(cramjam.snappy.compress_raw(body)),
        b"\5" + snappy,
        b"\6" + bytes(cramjam.lz4.compress(body)),
    ]


def encodings() -> Sequence[bytes]:
    """Values of Content-Encoding."""
    return [b"gzip", b"", b" Identity ", b"gzip, br", b"x-snappy-framed"]


def saved() -> Sequence[bytes]:
    """Files, after the byte that chooses their kind: OTLP, and other forms in which traces are kept."""
    jaeger = {"data": [{"traceID": "a", "spans": [{"traceID": "0a" * 16, "spanID": "0b" * 8, "operationName": "op"}]}]}
    zipkin = [{"traceId": "0a" * 16, "id": "0b" * 8, "name": "op", "timestamp": 1, "duration": 2, "tags": {"a": "b"}}]
    phoenix = {"data": [{"context": {"trace_id": "0a" * 16, "span_id": "0b" * 8}, "name": "op", "attributes": {}}]}
    others = [b"\0" + json.dumps(document).encode() for document in (jaeger, zipkin, phoenix)]
    lines = b"\1" + b"\n".join(json_texts()[:3])
    return [*(b"\0" + text for text in json_texts()), *others, lines, *(b"\2" + body for body in requests()[:30])]


def journals() -> Sequence[bytes]:
    """What `journal_files` makes a journal of."""
    return [b"", b"one|two|", b"one|MARK\3" + bytes(40), b"|torn", b"a|" + bytes(64) + b"x"]


def journal_records() -> Sequence[bytes]:
    """Bodies of records, after the byte that chooses what they are."""
    arrival = ArrivalEntry(Signal.TRACES, "otlp", 1, (("x-project-name", "p"),), request(span()), 1, (0,))
    encoded = b"".join(bytes(part) for part in coding.encode_arrival(arrival, ("otlp/a", "file")))
    numbers = b"".join(bytes(part) for part in coding.encode_named_numbers(("a", "b"), array("Q", [1, 2, 3])))
    return [b"\1" + encoded, b"\2" + encoded, b"\5" + numbers, b"\0" + bytes(20), b"\3" + encoded, b"\4" + encoded]


def posts() -> Sequence[bytes]:
    """A byte for content type and encoding, and a body."""
    bodies = [*requests()[:40], *json_texts()]
    return [bytes([number % 16]) + body for number, body in enumerate(bodies)] + [
        bytes([16 * (1 + body[0]) % 256]) + body[1:] for body in packed()
    ]


def connections() -> Sequence[bytes]:
    """What is sent on a connection over HTTP."""
    body = request(span())
    head = b"POST /v1/traces HTTP/1.1\r\nhost: h\r\ncontent-type: application/x-protobuf\r\n"
    whole = head + b"content-length: %d\r\n\r\n" % len(body) + body
    chunked = head + b"transfer-encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    return [
        whole,
        whole * 3,
        chunked,
        whole.replace(b"/v1/traces", b"http://h/v1/%74races?a=b#c"),
        whole.replace(b"POST", b"OPTIONS").replace(b"\r\n\r\n", b"\r\norigin: https://a.b\r\n\r\n"),
        head + b"expect: 100-continue\r\ncontent-length: 3\r\n\r\nabc",
        head + b"connection: upgrade, close\r\nupgrade: h2c\r\ncontent-length: 0\r\n\r\n",
        b"GET / HTTP/1.0\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ]
