"""Where a serialised message is broken, in words a sender can act on.

The parsers in C only say that something is wrong. This walk over the same bytes is slow and runs only when they have
said so: it names the field and the byte. It also tells broken messages from those that are merely nested deeper than
protobuf's parsers go (100 messages), which are valid and passed on. It has no recursion of its own, and a budget of
steps, so that a hostile request costs bounded time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from collector.intake import MalformedRequestError
from collector.wire.skeleton import SCHEMA

_VARINT, _FIXED64, _LENGTH, _GROUP_START, _GROUP_END, _FIXED32 = range(6)
_MAX_FIELD_NUMBER = (1 << 29) - 1

_NOTHING_KNOWN: Mapping[int, tuple[str, str, bool]] = {}


def _nested_fields() -> dict[str, dict[int, tuple[str, str, bool]]]:
    """Message → field number → (name, message it holds, repeated), for the fields that hold messages."""
    known: dict[str, dict[int, tuple[str, str, bool]]] = {}
    for message, declarations in SCHEMA.items():
        known[message] = {}
        for declaration in declarations:
            number, name, kind = declaration.split()
            if kind.removesuffix("*") in SCHEMA:
                known[message][int(number)] = (name, kind.removesuffix("*"), kind.endswith("*"))
    return known


_NESTED = _nested_fields()


@dataclass(slots=True)
class Budget:
    """How many fields may still be looked at, shared by all walks for one request."""

    steps: int = 50_000


class BudgetSpentError(Exception):
    """The walk was given up; nothing is known about the message."""


def malformed(due: str, request: bytes, message: str, signal: str = "") -> MalformedRequestError:
    """The error to raise for a request that the parser refused.

    `due` says what it should have been. `signal` (spans, logs or metrics) gives the skeleton's fields the names they
    have in OTLP.
    """
    try:
        fault = find_damage(request, message, "request", Budget()) or "its framing is broken"
    except BudgetSpentError:
        fault = "its framing is broken"
    if signal:
        fault = fault.replace(".resources[", f".resource_{signal}[").replace(".scopes[", f".scope_{signal}[")
    return MalformedRequestError(f"not {due} in protobuf: {fault}")


@dataclass(slots=True)
class _Frame:
    path: str
    end: int
    known: Mapping[int, tuple[str, str, bool]]
    group: int = 0  # the field number whose end-group tag closes this frame; 0 for a length-delimited message
    seen: dict[int, int] = field(default_factory=dict)


class _BrokenError(Exception):
    pass


def _varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= end:
            raise _BrokenError("a number is cut off")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
        if shift > 63:
            raise _BrokenError("a number is longer than 64 bits")


def find_damage(data: bytes, message: str, path: str, budget: Budget) -> str | None:
    """The first fault in the framing of a message, or None.

    Args:
        data: the serialised message.
        message: its name in `skeleton.SCHEMA`.
        path: how to call it in the answer, such as `resource_spans[0].scope_spans[0].spans[3]`.
        budget: is used up by the walk.

    Raises:
        BudgetSpentError: the message has too many fields to look at all of them.
    """
    frames = [_Frame(path, len(data), _NESTED[message])]
    at = 0
    try:
        while frames:
            frame = frames[-1]
            if at == frame.end and not frame.group:
                frames.pop()
                continue
            budget.steps -= 1
            if budget.steps < 0:
                raise BudgetSpentError
            at = _step(data, at, frames)
    except _BrokenError as broken:
        return f"{frames[-1].path}: {broken} (byte {at} of {len(data)})"
    return None


def _step(data: bytes, at: int, frames: list[_Frame]) -> int:
    """Pass one field; pushes and pops frames. Returns where the next field starts."""
    frame = frames[-1]
    tag, after = _varint(data, at, frame.end)
    number, wire_type = tag >> 3, tag & 7
    if not 0 < number <= _MAX_FIELD_NUMBER:
        raise _BrokenError(f"field number {number} is out of range")
    if wire_type == _VARINT:
        return _varint(data, after, frame.end)[1]
    if wire_type in (_FIXED64, _FIXED32):
        after += 8 if wire_type == _FIXED64 else 4
        if after > frame.end:
            raise _BrokenError(f"field {number} is cut off")
        return after
    if wire_type == _LENGTH:
        size, after = _varint(data, after, frame.end)
        if size > frame.end - after:
            raise _BrokenError(f"field {number} says {size} bytes and {frame.end - after} are left")
        if number not in frame.known:
            return after + size
        name, message, repeated = frame.known[number]
        index = frame.seen.get(number, 0)
        frame.seen[number] = index + 1
        label = f"{frame.path}.{name}[{index}]" if repeated else f"{frame.path}.{name}"
        frames.append(_Frame(label if len(label) < 300 else frame.path, after + size, _NESTED[message]))
        return after
    if wire_type == _GROUP_START:
        frames.append(_Frame(frame.path, frame.end, _NOTHING_KNOWN, group=number))
        return after
    if wire_type == _GROUP_END and frame.group == number:
        frames.pop()
        return after
    raise _BrokenError(f"field {number} has the wire type {wire_type}, which doesn't fit here")
