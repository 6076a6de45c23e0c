"""Reads the spans out of a request byte by byte, with none of the product's code, and tells each by its ids."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

_RESOURCE_SPANS, _SCOPE_SPANS, _SPANS = 1, 2, 2
_TRACE_ID, _SPAN_ID = 1, 2
_LENGTHS = {1: 8, 5: 4}


class SpanBytes(NamedTuple):
    """A span: whose it is, and its bytes."""

    trace_id: bytes
    span_id: bytes
    data: bytes


def spans_in(request: bytes) -> Iterator[SpanBytes]:
    """All spans of an ExportTraceServiceRequest, in their order. Raises ValueError."""
    for resource_spans in _inner(request, _RESOURCE_SPANS):
        for scope_spans in _inner(resource_spans, _SCOPE_SPANS):
            for span in _inner(scope_spans, _SPANS):
                yield SpanBytes(_first(span, _TRACE_ID), _first(span, _SPAN_ID), span)


def _first(message: bytes, number: int) -> bytes:
    return next(_inner(message, number), b"")


def _inner(message: bytes, wanted: int) -> Iterator[bytes]:
    """The length-delimited fields of a message that have this number."""
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        kind = tag & 7
        if kind == 2:
            length, at = _varint(message, at)
            if at + length > len(message):
                raise ValueError("a field is longer than what it is in")
            if tag >> 3 == wanted:
                yield message[at : at + length]
            at += length
        elif kind == 0:
            _, at = _varint(message, at)
        elif kind in _LENGTHS:
            at += _LENGTHS[kind]
        else:
            raise ValueError(f"wire type {kind}")


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            return value, at
        shift += 7
