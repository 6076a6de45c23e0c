"""The door between receivers and the pipeline: what a receiver may hand in, and what it must answer.

A receiver knows its protocol and nothing else; it hands over the decompressed protobuf bytes of a request and turns
the outcome, or the exception, into its protocol's answer.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from collector.records import Signal


@dataclass(frozen=True, slots=True)
class Accepted:
    """A request was taken. `rejected` items of it were not, and `message` tells the sender why.

    `rejected` 0 with a message is a warning.
    """

    rejected: int = 0
    message: str = ""


class MalformedRequestError(Exception):
    """The bytes are no OTLP request; sending them again is pointless. The message says what is wrong and where."""


class OverloadedError(Exception):
    """Nothing of the request was taken, and it may be sent again after `retry_after_s` seconds.

    `destination` is the id of the exporter whose queue was full, where that was the reason.
    """

    def __init__(self, message: str, retry_after_s: float, destination: str = "") -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        self.destination = destination


class UndeclaredSignalError(Exception):
    """No pipeline is declared for this signal."""


class Intake(Protocol):
    """What receivers see of the pipeline."""

    def accepts(self, signal: Signal) -> bool:
        """Whether a pipeline is declared for the signal (else: UNIMPLEMENTED, 404)."""

    async def take(self, signal: Signal, request: bytes, *, receiver: str, headers: Mapping[str, str]) -> Accepted:
        """Take a serialised Export*ServiceRequest.

        Args:
            signal: which of the three requests it is.
            request: protobuf bytes, decompressed.
            receiver: id of the receiver, for metrics.
            headers: the request's headers or metadata, names in lower case.

        Raises:
            MalformedRequestError: nothing in it can be taken, now or later.
            OverloadedError: it can't be taken now.
            UndeclaredSignalError: it isn't wanted.
        """


class SignalsOf:
    """An intake as one receiver sees it, that only pipelines of certain signals name.

    Args:
        intake: where what is wanted goes.
        signals: those of the pipelines that name the receiver.
    """

    def __init__(self, intake: Intake, signals: Collection[Signal]) -> None:
        self._intake = intake
        self._signals = frozenset(signals)

    def accepts(self, signal: Signal) -> bool:
        """See `Intake`."""
        return signal in self._signals and self._intake.accepts(signal)

    async def take(self, signal: Signal, request: bytes, *, receiver: str, headers: Mapping[str, str]) -> Accepted:
        """See `Intake`."""
        if signal not in self._signals:
            raise UndeclaredSignalError(f"no {signal} pipeline names {receiver} (service::pipelines::{signal})")
        return await self._intake.take(signal, request, receiver=receiver, headers=headers)
