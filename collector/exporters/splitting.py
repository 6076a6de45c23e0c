"""Cuts a serialised OTLP request of any signal into two, so that what a destination refuses can be narrowed down.

Works on the skeleton of a request: resources, scopes and unknown fields go into both halves, the items into one.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

from google.protobuf.message import DecodeError

from collector.wire.skeleton import parse_request


def halve(request: bytes) -> tuple[bytes, bytes] | None:
    """Two requests with half of the items each, in order; None for one item, or for what is no request.

    An item is a span, a log record or a metric (a metric's data points stay together).
    """
    try:
        total = count_items(request)
    except DecodeError:
        return None
    if total < 2:
        return None
    middle = total // 2
    return _only(request, 0, middle), _only(request, middle, total)


def count_items(request: bytes) -> int:
    """How many spans, log records or metrics a request holds. Raises DecodeError when it isn't one."""
    return sum(
        len(scopes.items)
        for resources in parse_request(request).resources
        for scopes in chain(resources.scopes, resources.old_scopes)
    )


def _only(request: bytes, start: int, stop: int) -> bytes:
    # Deleting from a message is not part of what the skeleton declares of its classes.
    message: Any = parse_request(request)
    position = 0
    for resources in message.resources:
        for group in (resources.scopes, resources.old_scopes):
            for scopes in group:
                count = len(scopes.items)
                kept = scopes.items[max(start - position, 0) : max(stop - position, 0)]
                del scopes.items[:]
                scopes.items.extend(kept)
                position += count
            _drop_empty(group, lambda scopes: not scopes.items)
    _drop_empty(message.resources, lambda resources: not resources.scopes and not resources.old_scopes)
    serialised: bytes = message.SerializeToString()
    return serialised


def _drop_empty(group: Any, is_empty: Any) -> None:
    for index in reversed(range(len(group))):
        if is_empty(group[index]):
            del group[index]
