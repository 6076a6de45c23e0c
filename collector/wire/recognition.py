"""Which signal a serialised request carries. Nothing in a request says so: traces, logs and metrics share their outer
shape, and only the first leaf tells them apart.
"""

from __future__ import annotations

import re
from itertools import chain

from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet

from collector.records import Signal
from collector.wire.damage import malformed
from collector.wire.skeleton import parse_anything, parse_request

_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
_METRIC_NAME = re.compile(rb"[A-Za-z][A-Za-z0-9_./-]*")


def recognise_signal(request: bytes) -> Signal:
    """The signal of a serialised Export*ServiceRequest; TRACES for one without leaves.

    Raises:
        MalformedRequestError: it isn't one.
    """
    try:
        parsed = parse_request(request)
    except DecodeError:
        raise malformed("an OTLP request", request, "Request") from None
    for resources in parsed.resources:
        for scopes in chain(resources.scopes, resources.old_scopes):
            for item in scopes.items:
                signal = _signal_of_leaf(item)
                if signal is not None:
                    return signal
    return Signal.TRACES


def _signal_of_leaf(item: bytes) -> Signal | None:
    """Spans have times in fields 7 and 8 and a kind in 6, log records in 1 and 11 and a severity in 2; metrics have no
    number at this level. What is left has at most ids or a name.
    """
    try:
        unknown = UnknownFieldSet(parse_anything(item))
    except DecodeError:
        return None
    found = [unknown[index] for index in range(len(unknown))]
    fields = {(field.field_number, field.wire_type): field.data for field in found}
    if not fields.keys().isdisjoint({(1, _FIXED64), (11, _FIXED64), (2, _VARINT), (8, _FIXED32)}):
        return Signal.LOGS
    if not fields.keys().isdisjoint({(7, _FIXED64), (8, _FIXED64), (6, _VARINT), (16, _FIXED32)}):
        return Signal.TRACES
    first = fields.get((1, _LENGTH))
    if isinstance(first, bytes) and len(first) == 16 and not _METRIC_NAME.fullmatch(first):
        return Signal.TRACES
    if first is None and (9, _LENGTH) in fields:
        return Signal.LOGS  # its trace id; what else has this field has a name or an id in the first
    return Signal.METRICS
