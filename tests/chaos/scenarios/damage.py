"""The journal's files are damaged between a kill and the next start: only what was in the damaged place is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

from collector.journal.coding import decode_arrival_head
from collector.journal.directory import Directory, JournalFile
from collector.journal.framing import Kind, Record, scan
from tests.chaos.ledger import Key
from tests.chaos.line import LineState
from tests.chaos.otlp_bytes import spans_in
from tests.chaos.scenarios.scenario import Run, Scenario
from tests.chaos.stage import Scale, Stage, stage

Damage = Callable[[list[JournalFile]], set[Key]]
"""Damages files; says which spans can't be delivered any more."""


def _records(file: JournalFile) -> Iterator[Record]:
    return (one for one in scan(file.path.read_bytes(), file.marker) if isinstance(one, Record))


def _spans(record: Record) -> set[Key]:
    if record.kind != Kind.ARRIVAL:
        return set()
    head = decode_arrival_head(record.body)
    body = bytes(record.body[len(record.body) - head.request_bytes :])
    return {(span.trace_id, span.span_id) for span in spans_in(body)}


def _last(segments: list[JournalFile]) -> tuple[JournalFile, list[Record]]:
    """The last segment in which there are arrivals, and these."""
    for file in reversed(segments):
        found = [one for one in _records(file) if one.kind == Kind.ARRIVAL]
        if found:
            return file, found
    raise AssertionError("there are no arrivals in the journal")


def tear(segments: list[JournalFile]) -> set[Key]:
    """The last record is half written, as when power goes before the sync, so that nobody was told that it is kept."""
    file, arrivals = _last(segments)
    end = max(record.end for record in _records(file))
    whole = file.path.read_bytes()[arrivals[-1].offset : arrivals[-1].end]
    with file.path.open("r+b") as handle:
        handle.seek(end)
        handle.write(whole[: len(whole) // 2])
    return set()


def flip(segments: list[JournalFile]) -> set[Key]:
    """One bit in the middle of a record, in the middle of the file."""
    file, arrivals = _last(segments)
    record = arrivals[len(arrivals) // 2]
    with file.path.open("r+b") as handle:
        at = (record.offset + record.end) // 2
        handle.seek(at)
        (byte,) = handle.read(1)
        handle.seek(at)
        handle.write(bytes([byte ^ 1]))
    return _spans(record)


def delete(segments: list[JournalFile]) -> set[Key]:
    """Somebody has deleted a file."""
    file, arrivals = _last(segments)
    lost = set[Key]().union(*map(_spans, arrivals))
    file.path.unlink()
    return lost


def _damaged(damage: Damage) -> Run:
    async def run(folder: Path, scale: Scale, seed: int) -> Stage:
        async with stage(folder, scale, seed, journal={"max_size_mib": 64}) as on:
            lost: set[Key] = set()
            async with on.backend.misbehaving(line=LineState.DOWN):
                for _ in range(int(scale.of(1, 5))):
                    async with on.load():
                        await asyncio.sleep(scale.of(2.0, 6.0))
                    await on.kill()
                    lost |= damage(list(Directory(on.process.journal).listing().segments))
                    await on.process.start()
            acknowledged = {key for key, entry in on.ledger.entries.items() if entry.acknowledged_s is not None}
            on.ledger.given_up |= lost
            on.figure("in damaged places", f"{len(lost)} of {len(acknowledged)} spans")
            await on.conclude()
            arrived = {key for key in lost if on.backend.name in on.ledger.entries[key].arrivals}
            on.figure("of these arrived all the same", len(arrived))
            return on

    return run


SCENARIOS = (
    Scenario("torn", "a torn last record loses nothing that was acknowledged", _damaged(tear)),
    Scenario("flipped", "a flipped bit loses the record that it is in", _damaged(flip)),
    Scenario("deleted", "a deleted segment loses what was in it", _damaged(delete)),
)
