"""Sends dead letters again, one after the other, and writes down which have found their end.

A letter is marked when every item in it was taken, or was refused once more: what was refused is a new letter in the
same file before the old one is marked.  So an interruption can lead to a letter being sent twice, and never to one
being lost.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from opentelemetry.metrics import NoOpMeter

from collector.exporters.batch import Batch
from collector.exporters.dead_letters import DeadLetterFile
from collector.exporters.delivery import Delivery
from collector.exporters.letters import Letter, mark_sent
from collector.exporters.sender import MisconfiguredError, Sender, SendError, Taken, UnsupportedSignalError
from collector.exporters.settings import QueuedExporterSettings
from collector.records import Signal
from collector.telemetry import ExporterMetrics, Instruments

# So many letters in a row that can't be sent, and nothing more is tried.
GIVE_UP_AFTER = 2


class _CannotBeSentError(Exception):
    """Trying again wouldn't help; the letter stays."""


@dataclass
class Resent:
    """What came of sending letters.

    Attributes:
        letters: how many have found their end and were marked.
        taken: items the destination took.
        rejected: items it took the request of, and rejected.
        refused: items that it can't take, again, now in new letters.
        left: line of each letter that stays as it was → why.
    """

    letters: int = 0
    taken: int = 0
    rejected: int = 0
    refused: int = 0
    left: dict[int, str] = field(default_factory=dict)


class Resending:
    """Sends letters of one file to one destination. The sender is started and stopped by the caller.

    Args:
        path: the dead-letter file.
        destination: id of the exporter.
        sender: makes the attempts.
        settings: the exporter's.
        patience_s: how long one letter is tried.
        result: where it is noted what came of them.
    """

    def __init__(
        self,
        path: Path,
        destination: str,
        sender: Sender,
        settings: QueuedExporterSettings,
        patience_s: float,
        result: Resent,
    ) -> None:
        self.result = result
        self._path = path
        self._patience_s = patience_s
        self._watched = _Watched(sender)
        self._in_vain = 0
        self._delivery = Delivery(
            destination,
            self._watched,
            settings.retry_on_failure.model_copy(update={"enabled": True, "max_elapsed_time": 0.0}),
            settings.sending_queue.batch.max_size,
            DeadLetterFile(path, destination),
            _Tally(destination, self.result),
            random.random,
            time.monotonic,
        )

    def goes_on(self) -> bool:
        """Whether it makes sense to send more."""
        return self._in_vain < GIVE_UP_AFTER

    async def send(self, letter: Letter) -> None:
        """Send a letter and mark it, or note why it stays.

        Raises:
            OSError: what was refused can't be written, or the letter can't be marked.
            collector.exporters.letters.ChangedFileError: the file was changed meanwhile.
        """
        batch = Batch(letter.signal, letter.request, letter.items, letter.headers)
        try:
            async with asyncio.timeout(self._patience_s):
                await self._delivery.deliver(batch)
        except TimeoutError:
            self._leave(letter, f"not taken within {self._patience_s:g} s; last: {self._watched.last}")
        except _CannotBeSentError as error:
            self._leave(letter, str(error))
        else:
            await asyncio.to_thread(mark_sent, self._path, letter)
            self._in_vain = 0
            self.result.letters += 1

    def _leave(self, letter: Letter, why: str) -> None:
        self._in_vain += 1
        self.result.left[letter.line] = why


class _Tally(ExporterMetrics):
    """Counts for the report instead of for metrics."""

    def __init__(self, destination: str, result: Resent) -> None:
        super().__init__(Instruments(NoOpMeter("spanjudge")), destination)
        self._result = result

    def sent(self, signal: Signal, items: int) -> None:
        self._result.taken += items

    def rejected(self, signal: Signal, items: int) -> None:
        self._result.rejected += items

    def dead_lettered(self, signal: Signal, items: int) -> None:
        self._result.refused += items


class _Watched:
    """A sender that tells how each attempt went, and ends a delivery where waiting would be in vain."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender
        self.last = "no attempt came to an end"

    async def start(self) -> None:
        await self._sender.start()

    async def stop(self) -> None:
        await self._sender.stop()

    async def send(self, signal: Signal, request: bytes, headers: Mapping[str, str]) -> Taken:
        try:
            return await self._sender.send(signal, request, headers)
        except (MisconfiguredError, UnsupportedSignalError) as error:
            raise _CannotBeSentError(str(error)) from None
        except SendError as error:
            self.last = str(error)
            raise
