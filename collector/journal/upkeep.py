"""What is done to a journal's files behind the records: progress is noted, and room is won back.

In: what is done, as it happens.  Out: tasks for the writer.  Belongs to the event loop.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path

from collector.journal.claimed import Location
from collector.journal.claims import Claims
from collector.journal.forwarding import segment_to_empty
from collector.journal.progress import Progress
from collector.journal.storage import RETRY_S, Storage
from collector.journal.writer import Task, Writer
from collector.logs import RateLimited

_often = RateLimited(logging.getLogger(__name__))

# How long it may take until it is written down that something is done: what is done and not written is repeated.
_NOTE_S = 0.2
# Looking through all segments isn't worth it for every few records.
_TIDY_S = 0.05
# How much is rewritten in one go, while records that wait for an answer have to wait.
_FORWARD_BYTES = 4 << 20


class Upkeep:
    """See the module's text.

    Args:
        path: of the journal, for the log.
        claims: what is owed.
        writer: does the work.
        unwritten: tells the numbers of records that may be written but weren't reported yet.
        room_is_short: tells whether it is worth some work to win room.
    """

    def __init__(
        self,
        path: Path,
        claims: Claims,
        writer: Writer,
        unwritten: Callable[[], Collection[int]],
        room_is_short: Callable[[], bool],
    ) -> None:
        self.news = Progress()
        self._path = path
        self._claims = claims
        self._writer = writer
        self._unwritten = unwritten
        self._room_is_short = room_is_short
        self._loop = asyncio.get_running_loop()
        self._noting: asyncio.TimerHandle | None = None
        self._tidying: asyncio.TimerHandle | None = None
        self._forwarding = False
        self._ended = False

    def end(self) -> None:
        """Submit nothing any more: the writer is about to stop."""
        self._ended = True
        for timer in (self._noting, self._tidying):
            if timer is not None:
                timer.cancel()

    def last_note(self) -> Task:
        """What is to be done when the writer has stopped."""
        return self._note_task()

    # -- progress ----------------------------------------------------------------------------------------------------

    def note_soon(self, after_s: float = _NOTE_S) -> None:
        """Have the news written down."""
        if self._noting is None and not self._ended:
            self._noting = self._loop.call_later(after_s, self.note)

    def note(self) -> None:
        """Have the news written down now."""
        self._noting = None
        if not self._ended:
            if self.news:
                self._writer.submit(self._note_task())
            self.tidy()

    def _note_task(self) -> Task:
        news, self.news = self.news, Progress()
        segments = [(one.numbers[:], one.gone[:]) for one in self._claims.segments.values()]
        unwritten = list(self._unwritten())

        def note(storage: Storage) -> Callable[[], None]:
            try:
                if storage.progress.is_full:
                    present = {number for numbers, _ in segments for number in numbers}
                    gone = {number for _, numbers in segments for number in numbers}
                    storage.progress.rewrite(news, present.union(unwritten), gone)
                else:
                    storage.progress.note(news)
            except OSError as error:
                return partial(self._not_noted, news, error)
            return _nothing

        return note

    def _not_noted(self, news: Progress, error: OSError) -> None:
        _often.warning("%s: progress can't be written (%s)", self._path, error.strerror)
        self.news.add(news)
        self.note_soon(RETRY_S)

    # -- room --------------------------------------------------------------------------------------------------------

    def tidy_soon(self) -> None:
        """The same, with what else comes in the meantime."""
        if self._tidying is None and not self._ended:
            self._tidying = self._loop.call_later(_TIDY_S, self.tidy)

    def tidy(self) -> None:
        """Have segments deleted that nobody needs, and emptied that hardly anybody does."""
        self._tidying = None
        if self._ended:
            return
        for sequence in self._claims.free_segments():
            segment = self._claims.segments[sequence]
            segment.kept = True
            if self.news:
                self._writer.submit(self._note_task())
            self._writer.submit(self._delete_task(sequence, segment.finished[:]))
        if not self._forwarding:
            emptied = segment_to_empty(self._claims.segments, is_pressed=self._room_is_short())
            if emptied is not None:
                self._forwarding = True
                self._writer.submit(self._forward_task(emptied))

    def _delete_task(self, sequence: int, finished: Sequence[int]) -> Task:
        oldest = self._claims.least_besides(sequence)

        def delete(storage: Storage) -> Callable[[], None]:
            try:
                storage.delete(sequence, finished, oldest)
            except OSError as error:
                return partial(self._not_deleted, sequence, error)
            return partial(self._claims.forget_segment, sequence)

        return delete

    def _not_deleted(self, sequence: int, error: OSError) -> None:
        _often.warning("%s: a segment can't be deleted (%s)", self._path, error.strerror)
        self._loop.call_later(RETRY_S, self._delete_again, sequence)

    def _delete_again(self, sequence: int) -> None:
        self._claims.segments[sequence].kept = False
        self.tidy()

    def _forward_task(self, sequence: int) -> Task:
        records: list[tuple[int, Location]] = []
        left_bytes = _FORWARD_BYTES
        for number, location in self._claims.records_in(sequence):
            records.append((number, location))
            left_bytes -= location.size_bytes
            if left_bytes < 0:
                break

        def forward(storage: Storage) -> Callable[[], None]:
            return partial(self._forwarded, len(records), storage.forward(records))

        return forward

    def _forwarded(self, wanted: int, copied: Sequence[tuple[int, Location, Location | None]]) -> None:
        if len(copied) == wanted:
            self._forwarding = False
        else:
            # It couldn't be written, which takes some time to pass.
            self._loop.call_later(RETRY_S, self._forward_again)
        for number, old, new in copied:
            if new is not None:
                self._claims.copied(number, old, new)
            else:
                self._claims.segments[old.segment].kept = True
        self.tidy()

    def _forward_again(self) -> None:
        self._forwarding = False
        self.tidy()


def _nothing() -> None:
    pass
