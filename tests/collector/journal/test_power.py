"""Loss of power with `durability: disk`: what was acknowledged is there, and what was deleted is missed by nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.collector.journal.entries_made import A, B, arrival, by_reference, whole
from tests.collector.journal.power import SyncedDisk
from tests.collector.journal.running import freeze, keep, opened, owed, segments, settled

pytestmark = pytest.mark.usefixtures("small_segments")


async def test_what_was_acknowledged_and_what_was_frozen_is_there(tmp_path: Path) -> None:
    disk = SyncedDisk()
    with disk.watching():
        async with opened(tmp_path / "lost", "disk") as (journal, _):
            number = await keep(journal, arrival())
            parcel = await freeze(journal, by_reference(number, [0]))
            other = await freeze(journal, whole(b"whole"))
            disk.lose_power(tmp_path / "lost", tmp_path / "left")
    async with opened(tmp_path / "left") as (journal, recovered):
        assert owed(recovered) == {number: {A: [1, 2], B: [1, 2]}, parcel: {A, B}, other: {A, B}}
        assert recovered.damage == ()
        assert journal.read_arrival(number) == arrival()


async def test_a_request_is_deleted_after_it_is_certain_that_its_parcel_was_delivered(tmp_path: Path) -> None:
    disk = SyncedDisk()
    with disk.watching():
        async with opened(tmp_path / "lost", "disk") as (journal, _):
            number = await keep(journal, arrival(b"x" * 1750))
            first = segments(tmp_path / "lost")[0]
            parcel = await freeze(journal, by_reference(number, [0, 1, 2]))
            still_owed = await freeze(journal, whole(b"w"))
            await keep(journal, arrival(b"y" * 1500))
            for name in (A, B):
                journal.done(name, parcel)
            await settled(journal)
            assert first not in segments(tmp_path / "lost")
            disk.lose_power(tmp_path / "lost", tmp_path / "left")
    async with opened(tmp_path / "left") as (_, recovered):
        assert set(owed(recovered)) == {still_owed, still_owed + 1}
