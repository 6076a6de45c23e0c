"""What settings models are made of: the base class of components' settings, and field types they share.

The base refuses unknown keys.  Keys of the Collector that can't hold here are listed in `refused_keys` with the
reason, so that the operator reads why instead of "unknown".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict

from evaluators.duration import Duration

__all__ = ["ComponentSettings", "Duration", "HostPort", "PositiveDuration", "split_host_port"]


class ComponentSettings(BaseModel):
    """Base of the settings of receivers, exporters, extensions and of their nested parts: frozen, no unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    refused_keys: ClassVar[Mapping[str, str]] = {}
    """Keys that the Collector knows and that can't hold here → the reason, as half a sentence."""


def _positive(seconds: float) -> float:
    if seconds <= 0:
        raise ValueError("has to be longer than 0s")
    return seconds


PositiveDuration = Annotated[Duration, AfterValidator(_positive)]
"""A duration that isn't zero."""


def split_host_port(address: str) -> tuple[str, int]:
    """Host and port of `host:port`, `[::1]:port` or `:port` (all interfaces, host is empty).

    Raises:
        ValueError: no port, or not a port number.
    """
    host, colon, port = address.rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        raise ValueError(f"{address!r} is not host:port; put an IPv6 address in brackets, as in [::1]:4317")
    if not colon:
        raise ValueError(f"{address!r} has no port; write host:port, such as 127.0.0.1:4317")
    if not port.isascii() or not port.isdigit() or len(port) > 5 or int(port) > 65535:
        raise ValueError(f"{address!r} has no valid port; ports are numbers up to 65535, as in 127.0.0.1:4317")
    return host, int(port)


def _host_port(value: object) -> object:
    if isinstance(value, str):
        split_host_port(value)
    return value


HostPort = Annotated[str, BeforeValidator(_host_port)]
"""An address to listen on, `host:port`."""
