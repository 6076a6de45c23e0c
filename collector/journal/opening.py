"""Opens a journal's directory: what was left in it is read, what is damaged is put aside, what nobody needs goes.

In: a directory.  Out: its files, ready to be written to, and what is owed.  Blocks; the directory is this process's
from then on.
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass

from collector.journal.bits import indexes_of
from collector.journal.claims import Claims
from collector.journal.directory import TAKING, Directory, unusable
from collector.journal.entries import place_of
from collector.journal.numbers import Numbers
from collector.journal.progress import Progress
from collector.journal.reading import read_part
from collector.journal.recovered import Damage
from collector.journal.recovery import DamagedBytes, Found, read_directory
from collector.journal.storage import Storage
from collector.journal.taking import TakingFile
from collector.start_error import StartError

_log = logging.getLogger(__name__)

# How often taking an arrival again may end the process before it is put aside.
QUARANTINED_AFTER = 3
# Ends of what was being written when a process was killed were promised to nobody: not many are worth their room.
_TORN_LIMIT_BYTES = 16 << 20
_NAMED = 5


@dataclass(frozen=True, slots=True)
class Opened:
    """A journal that is ready. `crashed`: how often taking an arrival ended the process."""

    storage: Storage
    claims: Claims
    numbers: Numbers
    damage: tuple[Damage, ...]
    crashed: dict[int, int]
    taking: TakingFile


def open_directory(directory: Directory, segment_bytes: int, *, durable: bool) -> Opened:
    """See the module's text.

    Raises:
        StartError: the directory can't be used.
    """
    directory.acquire()
    try:
        return _open(directory, segment_bytes, durable=durable)
    except OSError as error:
        directory.give_free()
        raise StartError(f"{directory.path}: {unusable(error)}") from error
    except BaseException:
        directory.give_free()
        raise


def _open(directory: Directory, segment_bytes: int, *, durable: bool) -> Opened:
    listing = directory.listing()
    if listing.foreign:
        _log.warning("%s: not files of the journal, left alone: %s", directory.path, ", ".join(listing.foreign))
    found = read_directory(listing)
    claims = found.claims
    numbers = Numbers(found.next_number)
    storage = Storage(directory, segment_bytes, lambda: numbers.next_number, durable=durable)
    for file in listing.segments:
        storage.adopt(file, found.sizes[file.sequence])
        # What was allocated and not used when the process ended.
        with contextlib.suppress(OSError):
            os.truncate(file.path, found.sizes[file.sequence])
    _put_aside(directory, found)
    taking = TakingFile(directory.path / TAKING)
    news = _count_crash(directory, storage, found, taking)
    try:
        storage.progress.rewrite(news, *claims.numbers())
    except OSError as error:
        # The old files are still there; what is done from now on may be done again after the next crash.
        _log.warning("%s: progress can't be written (%s)", directory.path, error.strerror)
    else:
        taking.end()
    delete_free_segments(directory, storage, claims)
    storage.prepare()
    if not storage.is_ready and not claims.arrivals and not claims.parcels:
        raise StartError(
            f"{directory.path}: {storage.hindrance}; make room on its disk, or set extensions::journal::directory"
        )
    damage = tuple(
        Damage(one.file.path.name, one.gap.offset, one.gap.end - one.gap.offset, one.gap.torn) for one in found.damaged
    )
    return Opened(storage, claims, numbers, damage, {**found.progress.crashed, **news.crashed}, taking)


def _put_aside(directory: Directory, found: Found) -> None:
    new: list[DamagedBytes] = []
    room_bytes = _TORN_LIMIT_BYTES - directory.quarantined()[1]
    for damaged in found.damaged:
        gap = damaged.gap
        size_bytes = gap.end - gap.offset
        if gap.torn and size_bytes > room_bytes:
            new.append(damaged)
            continue
        data = bytes(read_part(damaged.file.path, gap.offset, size_bytes)[0])
        try:
            if directory.quarantine(damaged.file, gap.offset, data):
                room_bytes -= size_bytes
                new.append(damaged)
        except OSError as error:
            _log.error("%s: damaged bytes can't be put aside (%s)", damaged.file.path, error.strerror)
            segment = found.claims.segments.get(damaged.file.sequence)
            if segment is not None:
                segment.kept = True
    _say("a record was being written when the process ended, and was not acknowledged", directory, new, torn=True)
    _say("damaged; everything else is kept", directory, new, torn=False)


def _say(what: str, directory: Directory, damaged: Sequence[DamagedBytes], *, torn: bool) -> None:
    places = [
        f"{one.file.path.name} at {one.gap.offset} ({one.gap.end - one.gap.offset} bytes)"
        for one in damaged
        if one.gap.torn is torn
    ]
    if not places:
        return
    more = f" and {len(places) - _NAMED} more" if len(places) > _NAMED else ""
    say = _log.info if torn else _log.error
    say("%s: %s: %s%s; see its folder quarantine", directory.path, what, ", ".join(places[:_NAMED]), more)


def _count_crash(directory: Directory, storage: Storage, found: Found, taking: TakingFile) -> Progress:
    news = Progress()
    number = taking.left_over()
    arrival = None if number is None else found.claims.arrivals.get(number)
    if number is None or arrival is None:
        return news
    times = found.progress.crashed.get(number, 0) + 1
    news.add_crashed(number, times)
    if times < QUARANTINED_AFTER:
        _log.warning("%s: taking request %d again ended the process, %d times now", directory.path, number, times)
        return news
    location = arrival.location
    file = storage.file_of(location)
    data, _ = read_part(file.path, location.offset, location.size_bytes)
    directory.quarantine(file, location.offset, bytes(data))
    owed = 0
    for bits in arrival.remaining:
        owed |= bits
    places = [place_of(number, index) for index in indexes_of(owed)]
    news.add_settled((), places)
    found.claims.settle((), places)
    _log.error(
        "%s: taking request %d again ended the process %d times: it is put aside, and its %d items are not delivered; "
        "see %s at %d in its folder quarantine",
        directory.path,
        number,
        times,
        len(places),
        file.path.name,
        location.offset,
    )
    return news


def delete_free_segments(directory: Directory, storage: Storage, claims: Claims) -> None:
    """Delete segments that nobody needs, as far as that can be done."""
    for sequence in claims.free_segments():
        try:
            storage.delete(sequence, claims.segments[sequence].finished, claims.least_besides(sequence))
        except OSError as error:
            _log.warning("%s: segment %d can't be deleted (%s)", directory.path, sequence, error.strerror)
        else:
            claims.forget_segment(sequence)
