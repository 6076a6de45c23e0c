"""Who listens where and who sends where, to find collisions before anything is started.

Works on settings models alone: in receivers and extensions a field `endpoint` is an address to listen on, in
exporters every field that ends in `endpoint` is one to send to. Beside a field `transport` of the value `unix`, and
after `unix:`, it is the path of a socket.
"""

from __future__ import annotations

import pathlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from urllib.parse import urlsplit

from pydantic import BaseModel

from collector.config.problems import Path, Problem, format_path
from collector.config.settings import split_host_port

_DEFAULT_PORTS = {"http": 80, "https": 443}
_ANY, _LOOPBACK = "any", "loopback"
_NO_PORT = -1


@dataclass(frozen=True, slots=True)
class Address:
    """A host and port somewhere in the configuration; host is also `any` or `loopback`, or the path of a socket."""

    path: Path
    host: str
    port: int

    @classmethod
    def of(cls, host: str, port: int, path: Path) -> Address:
        """An address with its host reduced to what matters for comparing."""
        return cls(path, _reduced(host), port)

    @property
    def kind(self) -> str:
        """What tells it from others on the same machine."""
        return "path" if self.port == _NO_PORT else "port"

    def reaches(self, listener: Address) -> bool:
        """Whether sending here surely ends at that listener."""
        hosts = {self.host, listener.host}
        return self.port == listener.port and (len(hosts) == 1 or hosts <= {_ANY, _LOOPBACK})

    def collides_with(self, listener: Address) -> bool:
        """Whether both can't listen at the same time."""
        hosts = {self.host, listener.host}
        return self.port == listener.port and self.port != 0 and (len(hosts) == 1 or _ANY in hosts)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach what listens on the host; an empty one is all interfaces."""
    return _reduced(host) == _LOOPBACK


def find_addresses(settings: BaseModel, path: Path) -> Iterator[Address]:
    """The addresses in the fields of a settings model and the models within it."""
    unix = getattr(settings, "transport", None) == "unix"
    for name in type(settings).model_fields:
        value = getattr(settings, name)
        if isinstance(value, BaseModel):
            yield from find_addresses(value, (*path, name))
        elif name.endswith("endpoint") and isinstance(value, str):
            address = _parse(f"unix:{value}" if unix else value, (*path, name))
            if address:
                yield address


def collisions(listening: Iterable[Address], sending: Iterable[Address]) -> Iterator[Problem]:
    """One problem for each address that is used twice, or that sends back into the sidecar."""
    seen: list[Address] = []
    for address in listening:
        for other in seen:
            if address.collides_with(other):
                what = f"the same address as {format_path(other.path)}"
                yield Problem(address.path, what, f"use another {address.kind} for one of them")
        seen.append(address)
    for target in sending:
        for other in seen:
            if target.reaches(other):
                what = f"sends to the sidecar itself: {format_path(other.path)} listens there"
                yield Problem(target.path, what, "give the address of the backend, or move one of the two")


def _reduced(host: str) -> str:
    host = host.lower()
    if host == "localhost":
        return _LOOPBACK
    try:
        address = ip_address(host or "::")
    except ValueError:
        return host
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    if address.is_unspecified:
        return _ANY
    return _LOOPBACK if address.is_loopback else str(address)


def _parse(text: str, path: Path) -> Address | None:
    if text.startswith("unix:"):
        return Address(path, str(pathlib.Path(text.removeprefix("unix:").removeprefix("//")).absolute()), _NO_PORT)
    try:
        if "://" in text:
            parts = urlsplit(text)
            host, port = parts.hostname or "", parts.port or _DEFAULT_PORTS.get(parts.scheme, 0)
        else:
            host, port = split_host_port(text)
    except ValueError:
        return None
    return Address.of(host, port, path) if port else None
