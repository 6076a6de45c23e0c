"""The receivers that listen now, and how they become those of another configuration.

What is unchanged goes on listening.  What listens on an address of its own is there before what it replaces goes; on
the same address there is a moment without a listener, in which senders are refused and try again.  Should something not
be able to listen, everything is as it was before.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from collector.config import Component, Config
from collector.config.settings import split_host_port
from collector.fingerprints import fingerprint
from collector.intake import Intake, SignalsOf
from collector.receivers import otlp_settings
from collector.receivers.otlp_grpc import OtlpGrpcReceiver
from collector.receivers.otlp_http import OtlpHttpReceiver
from collector.records import Signal
from collector.start_error import StartError

_log = logging.getLogger(__name__)
GRACE_S = 1.0
Receiver = OtlpGrpcReceiver | OtlpHttpReceiver
Settings = otlp_settings.GrpcSettings | otlp_settings.HttpSettings


class Key(NamedTuple):
    """A receiver's id and one of its protocols, `grpc` or `http`."""

    receiver: str
    protocol: str


class Listener(NamedTuple):
    """How one protocol of a receiver is to be listened for.

    `signals` are those of the pipelines that name the receiver; `fingerprint` tells it from others, the content of its
    files included.
    """

    settings: Settings
    signals: frozenset[Signal]
    fingerprint: str


def listeners(config: Config) -> dict[Key, Listener]:
    """What a configuration wants to be listened for, receiver by receiver, gRPC first."""
    wanted: dict[Key, Listener] = {}
    for name, component in config.receivers.items():
        signals = frozenset(signal for signal, pipeline in config.pipelines.items() if name in pipeline.receivers)
        for protocol, settings in _protocols(component):
            digest = f"{fingerprint(settings)} {sorted(signals)}"
            wanted[Key(name, protocol)] = Listener(settings, signals, digest)
    return wanted


def _protocols(component: Component) -> Iterator[tuple[str, Settings]]:
    protocols = component.settings_as(otlp_settings.Settings).protocols
    if protocols.grpc is not None:
        yield "grpc", protocols.grpc
    if protocols.http is not None:
        yield "http", protocols.http


class Receiving:
    """See the module's text.

    Args:
        config: says what to listen for.
        intake: takes the requests.
    """

    def __init__(self, config: Config, intake: Intake) -> None:
        self._wanted = listeners(config)
        self._intake = intake
        self._running: dict[Key, Receiver] = {}

    @property
    def ports(self) -> list[int]:
        """Those that are listened on, in the order of the configuration."""
        return [self._running[key].port for key in self._wanted]

    async def start(self) -> None:
        """Listen. Raises StartError; what listens already has to be stopped then."""
        for key, listener in self._wanted.items():
            self._running[key] = await self._make(key, listener)

    async def stop(self) -> None:
        """Take no new requests, and wait a moment for those under way."""
        await _stop(self._running.values())

    async def switch(self, config: Config) -> list[str]:
        """Listen for what another configuration says, and say what has changed.

        Raises:
            StartError: something can't be listened for; then nothing is changed.
        """
        before, wanted = self._wanted, listeners(config)
        gone = [key for key in before if key not in wanted]
        new = [key for key in wanted if key not in before]
        changed = [key for key in wanted if key in before and wanted[key].fingerprint != before[key].fingerprint]
        taken = {_place(before[key].settings) for key in (*gone, *changed)}
        first = [key for key in (*new, *changed) if _place(wanted[key].settings) not in taken]
        then = [key for key in (*new, *changed) if key not in first]
        replaced = {key: self._running[key] for key in (*gone, *changed)}
        started: dict[Key, Receiver] = {}
        stopped = False
        try:
            for key in first:
                started[key] = await self._make(key, wanted[key])
            stopped = True
            await _stop(replaced.values())
            for key in then:
                started[key] = await self._make(key, wanted[key])
        except StartError:
            await _stop(started.values())
            if stopped:
                await self._listen_again({key: before[key] for key in replaced})
            raise
        for key in gone:
            del self._running[key]
        self._running |= started
        self._wanted = wanted
        said = {"is new": new, "was changed": changed, "is gone": gone}
        return [f"receivers::{key.receiver}::{key.protocol} {how}" for how, keys in said.items() for key in keys]

    async def _listen_again(self, before: Mapping[Key, Listener]) -> None:
        for key, listener in before.items():
            try:
                self._running[key] = await self._make(key, listener)
            except StartError as error:
                _log.error("receivers::%s::%s: %s", key.receiver, key.protocol, error)

    async def _make(self, key: Key, listener: Listener) -> Receiver:
        intake = SignalsOf(self._intake, listener.signals)
        settings = listener.settings
        receiver: Receiver
        if isinstance(settings, otlp_settings.GrpcSettings):
            receiver = OtlpGrpcReceiver(settings, intake, key.receiver)
        else:
            receiver = OtlpHttpReceiver(settings, intake, key.receiver)
        await receiver.start()
        return receiver


def _place(settings: Settings) -> object:
    """What two listeners can't both have: a port, whatever the interface, or a path."""
    if settings.transport == "unix":
        return settings.endpoint
    _, port = split_host_port(settings.endpoint)
    return port or object()


async def _stop(receivers: Iterable[Receiver]) -> None:
    await asyncio.gather(*(receiver.stop(GRACE_S) for receiver in receivers))
