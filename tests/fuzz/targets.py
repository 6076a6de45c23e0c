"""What must hold for any bytes at all: one function per reader of bytes that strangers may choose.

Each takes bytes and returns, or fails: by an error that the reader doesn't promise, or by an assertion.  `test_targets`
tries a few inputs in every run of the tests; `python -m tests.fuzz` searches for more, guided by the code they reach.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from collector.intake import MalformedRequestError
from collector.journal import coding
from collector.journal.framing import Gap, Kind, Record, header_of, scan
from collector.judging.setup import transcript_of
from collector.otlp_json import convert
from collector.receivers.decompress import BodyTooLargeError, UnknownEncodingError, decompress, read_encoding
from collector.receivers.files import Payload, Problem, read_paths
from collector.records import Outbound, Signal
from collector.wire import (
    Origins,
    build_logs_request,
    build_request,
    count_data_points,
    recognise_signal,
    slice_logs,
    slice_spans,
)
from collector.wire.skeleton import parse_request
from processors.transcript_json import transcript_json
from tests.fuzz import seeds
from tests.fuzz.receivers import post_anything, send_anything, talk_anything

_REQUESTS = {
    Signal.TRACES: ExportTraceServiceRequest,
    Signal.LOGS: ExportLogsServiceRequest,
    Signal.METRICS: ExportMetricsServiceRequest,
}
_SIGNALS = list(Signal)
_ENCODINGS = ("gzip", "zstd", "zlib", "deflate", "snappy", "x-snappy-framed", "lz4")
_LIMIT_BYTES = 64 << 10
_TAIL = b"\x4a\x05\x0a\x03abc"  # an attribute without a value
_MARKER = bytes.fromhex("9f8e7d6c5b4a3f2e")


def traces(data: bytes) -> None:
    """A request is cut into spans whose bytes are those that came, or refused; nothing of it is lost without a word."""
    try:
        sliced = slice_spans(data, (), Origins())
    except MalformedRequestError:
        return
    offered = [
        item
        for resources in parse_request(data).resources
        for scopes in (*resources.scopes, *resources.old_scopes)
        for item in scopes.items
    ]
    rejected = {rejection.index for rejection in sliced.rejected}
    assert [record.span for record in sliced.records] == [
        item for index, item in enumerate(offered) if index not in rejected
    ]
    built = build_request(Outbound(record.origin, record.span) for record in sliced.records)
    again = slice_spans(built, (), Origins())
    assert not again.rejected
    assert sorted(record.span for record in again.records) == sorted(record.span for record in sliced.records)
    tagged = build_request(Outbound(record.origin, record.span, _TAIL) for record in sliced.records)
    assert len(slice_spans(tagged, (), Origins()).records) == len(sliced.records)


def logs(data: bytes) -> None:
    """The same for log records."""
    try:
        sliced = slice_logs(data, (), Origins())
    except MalformedRequestError:
        return
    again = slice_logs(build_logs_request(sliced.records), (), Origins())
    assert not again.rejected
    assert sorted(record.record for record in again.records) == sorted(record.record for record in sliced.records)


def metrics(data: bytes) -> None:
    """Data points are counted, or the request is refused."""
    try:
        assert count_data_points(data) >= 0
    except MalformedRequestError:
        return


def signals(data: bytes) -> None:
    """Every request is of one of the three signals."""
    try:
        assert recognise_signal(data) in Signal
    except MalformedRequestError:
        return


def json_requests(data: bytes) -> None:
    """What is converted from JSON is a request to every reader of protobuf; the first byte chooses the signal."""
    signal = _SIGNALS[data[0] % 3] if data else Signal.TRACES
    try:
        converted = convert(signal, data[1:])
    except MalformedRequestError as error:
        assert str(error)
        return
    _REQUESTS[signal].FromString(converted.request)


def unpacking(data: bytes) -> None:
    """A body is unpacked within the limit, or refused; the first byte chooses the encoding."""
    encoding = _ENCODINGS[data[0] % len(_ENCODINGS)] if data else "gzip"
    try:
        assert len(decompress(encoding, data[1:], _LIMIT_BYTES)) <= _LIMIT_BYTES
    except (MalformedRequestError, BodyTooLargeError):
        return


def encoding_names(data: bytes) -> None:
    """A header names an encoding that is known, or is refused."""
    try:
        assert read_encoding(data.decode("latin-1")) in ("", *_ENCODINGS)
    except UnknownEncodingError:
        return


def dialects(data: bytes) -> None:
    """Whatever spans hold, they are read without an error, and the same way twice."""
    try:
        records = slice_spans(data, (), Origins()).records
    except MalformedRequestError:
        return
    spans = [(record.origin.resource, record.origin.scope, record.span) for record in records]
    first = orjson.dumps(transcript_json(transcript_of(spans, [])))
    assert first == orjson.dumps(transcript_json(transcript_of(spans, [])))


def saved_files(data: bytes) -> None:
    """A file is read as requests, or it is told what is wrong; the first byte chooses the kind of file."""
    suffix = (".json", ".jsonl", ".pb")[data[0] % 3] if data else ".json"
    with tempfile.TemporaryDirectory(dir=_fastest()) as folder:
        path = Path(folder, f"saved{suffix}")
        path.write_bytes(data[1:])
        for found in read_paths([path]):
            if isinstance(found, Problem):
                assert found.message
            else:
                assert isinstance(found, Payload)
                _slice_any(found)


def journal_files(data: bytes) -> None:
    """A journal's file is told apart without rest into whole records and damage; written records are all found.

    Every piece before a `|` becomes a record, what is after the last one is what else is in the file.
    """
    *bodies, rest = data.split(b"|")
    file = b"".join(header_of(_MARKER, Kind.ARRIVAL, 7, [body]) + body for body in bodies)
    found = list(scan(file + rest.replace(b"MARK", _MARKER), _MARKER))
    assert [bytes(one.body) for one in found[: len(bodies)] if isinstance(one, Record)] == bodies
    for one in found:
        assert isinstance(one, Record | Gap)
        assert one.offset < one.end <= len(file) + len(rest) + rest.count(b"MARK") * 4


def journal_records(data: bytes) -> None:
    """A record's body is understood, or said to be unreadable; the first byte chooses what it should be."""
    read = (
        coding.decode_file_head,
        coding.decode_arrival_head,
        coding.decode_arrival,
        coding.decode_parcel_head,
        coding.decode_parcel,
        coding.decode_named_numbers,
    )[data[0] % 6 if data else 0]
    try:
        read(memoryview(data)[1:])
    except coding.UnreadableBodyError:
        return


def _slice_any(payload: Payload) -> None:
    try:
        if payload.signal is Signal.TRACES:
            slice_spans(payload.request, (), Origins(), limits=None)
        elif payload.signal is Signal.LOGS:
            slice_logs(payload.request, (), Origins(), limits=None)
    except MalformedRequestError:
        return


def _fastest() -> str | None:
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


@dataclass(frozen=True, slots=True)
class Target:
    """A function to try bytes on, and bytes to begin with."""

    check: Callable[[bytes], None]
    seeds: Callable[[], Sequence[bytes]]


TARGETS: Mapping[str, Target] = {
    "traces": Target(traces, seeds.requests),
    "logs": Target(logs, seeds.logs),
    "metrics": Target(metrics, seeds.metrics),
    "signals": Target(signals, seeds.requests),
    "json_requests": Target(json_requests, seeds.json_requests),
    "unpacking": Target(unpacking, seeds.packed),
    "encoding_names": Target(encoding_names, seeds.encodings),
    "dialects": Target(dialects, seeds.requests),
    "saved_files": Target(saved_files, seeds.saved),
    "journal_files": Target(journal_files, seeds.journals),
    "journal_records": Target(journal_records, seeds.journal_records),
    "http_posts": Target(post_anything, seeds.posts),
    "http_connections": Target(talk_anything, seeds.connections),
    "grpc_calls": Target(send_anything, seeds.requests),
}
