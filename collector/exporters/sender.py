"""What a destination has to be able to do, and how it says that it couldn't.

A sender makes one attempt to deliver one request. Queueing, batching, retrying and splitting are done around it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from collector.records import Signal


class SendError(Exception):
    """An attempt failed. The message names the destination and what it answered, never any content."""


class RetryableError(SendError):
    """It may work later; not before `retry_after_s` seconds if the destination said so."""

    def __init__(self, message: str, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class TooLargeError(SendError):
    """The destination takes no request of this size; smaller ones may pass."""


class RejectedDataError(SendError):
    """The destination says that this data is bad; it would say so again."""


class MisconfiguredError(SendError):
    """The destination can't be used as it is configured (credentials, address, permission)."""


class UnsupportedSignalError(SendError):
    """The destination doesn't take this signal at all."""


class Sender(Protocol):
    """One destination."""

    async def start(self) -> None:
        """Open what has to be open. Doesn't fail because a destination is down.

        Raises:
            collector.start_error.StartError: what it needs on this machine can't be had.
        """

    async def send(self, signal: Signal, request: bytes, headers: Mapping[str, str]) -> int:
        """Deliver one serialised Export*ServiceRequest.

        Returns:
            How many items the destination accepted the request but rejected (partial success), 0 normally.

        Raises:
            SendError: one of its subclasses, by what the caller has to do about it.
        """

    async def stop(self) -> None:
        """Close. No `send` is under way any more."""
