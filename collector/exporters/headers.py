"""Which header values can be sent over either transport."""

from __future__ import annotations

from collections.abc import Mapping

# Servers refuse requests whose headers are large, and some say that the request is; eight kilobytes is a common limit.
_MAX_FORWARDED_CHARS = 2048


def is_sendable(value: str) -> bool:
    """Whether a value is printable ASCII, which is all that HTTP and gRPC take without objection."""
    return value.isascii() and value.isprintable()


def sendable(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers that came with the telemetry and can travel on with it.

    A value that can't is left out: it would make the destination, or the client library, refuse the request for good.
    """
    return {name: value for name, value in headers.items() if len(value) <= _MAX_FORWARDED_CHARS and is_sendable(value)}
