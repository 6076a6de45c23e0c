"""What a destination has to be able to do, and how it says that it couldn't.

A sender makes one attempt to deliver one request. Queueing, batching, retrying and splitting are done around it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from collector.records import Signal


@dataclass(frozen=True, slots=True)
class Taken:
    """A request was taken.

    Attributes:
        rejected: how many of its items the destination rejected all the same (partial success), as it says.
        warned: whether it had something to say although it rejected nothing.
    """

    rejected: int = 0
    warned: bool = False


class SendError(Exception):
    """An attempt failed. The message names the destination and what it answered, never any content.

    `answer` is what the destination said in its own words, short. It may quote content: it is for the dead-letter
    file, and never for a log.
    """

    def __init__(self, message: str, answer: str = "") -> None:
        super().__init__(message)
        self.answer = answer


class RetryableError(SendError):
    """It may work later; not before `retry_after_s` seconds if the destination said so."""

    def __init__(self, message: str, retry_after_s: float | None = None, answer: str = "") -> None:
        super().__init__(message, answer)
        self.retry_after_s = retry_after_s


class FaultyError(RetryableError):
    """The destination failed, be it for a while, be it for ever because of something in this very request."""


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

    async def send(self, signal: Signal, request: bytes, headers: Mapping[str, str]) -> Taken:
        """Deliver one serialised Export*ServiceRequest.

        Raises:
            SendError: one of its subclasses, by what the caller has to do about it.
        """

    async def stop(self) -> None:
        """Close. No `send` is under way any more."""
