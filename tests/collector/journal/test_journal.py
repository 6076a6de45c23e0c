"""What is kept is owed until it is done, and then its room comes back; through restarts in order."""

from __future__ import annotations

import asyncio
import logging
import re
import threading
from pathlib import Path

import pytest

from collector.journal import DamagedRecordError, JournalFullError, JournalWriteError, OwedArrival, OwedParcel, place_of
from collector.journal.directory import Directory
from collector.records import Signal
from collector.start_error import StartError
from tests.collector.journal.entries_made import A, B, arrival, by_reference, whole
from tests.collector.journal.running import freeze, keep, make, opened, owed, running, segments, settled

pytestmark = pytest.mark.usefixtures("small_segments")
ALL = [0, 1, 2]
FILLER = b"x" * 1500


async def test_what_is_kept_is_owed_to_every_destination_of_its_signal(tmp_path: Path) -> None:
    async with opened(tmp_path) as (journal, _):
        spans = await keep(journal, arrival(b"spans", items=2, rejected=[1]))
        logs = await keep(journal, arrival(b"logs", signal=Signal.LOGS))
    async with opened(tmp_path) as (journal, recovered):
        first, second = recovered.owed
        assert isinstance(first, OwedArrival)
        assert isinstance(second, OwedArrival)
        assert (first.number, first.signal, first.receiver) == (spans, Signal.TRACES, "otlp")
        assert (first.arrived_wall_ns, first.headers) == (arrival().arrived_wall_ns, (("x-project-name", "shop"),))
        assert (first.size_bytes, first.trusted) == (5, True)
        assert {name: list(indexes) for name, indexes in first.remaining.items()} == {A: [0, 2], B: [0, 2]}
        assert {name: list(indexes) for name, indexes in second.remaining.items()} == {A: ALL}
        assert journal.read_arrival(logs) == arrival(b"logs", signal=Signal.LOGS)
        assert (recovered.arrivals, recovered.parcels) == (2, 0)


async def test_what_everybody_has_is_owed_to_nobody(tmp_path: Path) -> None:
    async with opened(tmp_path) as (journal, _):
        number = await keep(journal, arrival())
        for name in (A, B):
            journal.done(name, number)
    async with opened(tmp_path) as (_, recovered):
        assert owed(recovered) == {}


async def test_a_request_that_one_destination_has_as_it_came_goes_so_to_the_others(tmp_path: Path) -> None:
    async with opened(tmp_path) as (journal, _):
        number = await keep(journal, arrival(b"as it came", rejected=[2]))
        journal.done(A, number)
    async with opened(tmp_path) as (_, recovered):
        assert list(recovered.owed) == [
            OwedParcel(number, (B,), Signal.TRACES, (("x-project-name", "shop"),), 3, 10, untouched=True)
        ]


async def test_items_in_a_parcel_are_owed_with_it_and_the_others_by_themselves(tmp_path: Path) -> None:
    async with opened(tmp_path) as (journal, _):
        number = await keep(journal, arrival())
        parcel = await freeze(journal, by_reference(number, [0, 2]))
        for_b = await freeze(journal, by_reference(number, [1], [B]))
        journal.done(A, parcel)
    async with opened(tmp_path) as (journal, recovered):
        assert owed(recovered) == {number: {A: [1]}, parcel: {B}, for_b: {B}}
        assert journal.read_parcel(parcel) == by_reference(number, [0, 2])


async def test_repeats_are_owed_to_nobody(tmp_path: Path) -> None:
    async with opened(tmp_path) as (journal, _):
        number = await keep(journal, arrival())
        repeat = await keep(journal, arrival())
        journal.dropped([place_of(number, 1)])
        journal.dropped(place_of(repeat, index) for index in ALL)
    async with opened(tmp_path) as (_, recovered):
        assert owed(recovered) == {number: {A: [0, 2], B: [0, 2]}}


async def test_a_request_of_repeats_only_holds_no_room_after_a_restart(tmp_path: Path) -> None:
    async with opened(tmp_path) as (journal, _):
        number = await keep(journal, arrival())
        journal.dropped(place_of(number, index) for index in ALL)
    before = segments(tmp_path)
    async with opened(tmp_path):
        assert not set(before) & set(segments(tmp_path))


async def test_numbers_are_never_given_twice_even_if_everything_was_delivered(tmp_path: Path) -> None:
    seen: set[int] = set()
    for _ in range(3):
        async with opened(tmp_path) as (journal, _):
            for _ in range(8):
                number = await keep(journal, arrival(FILLER))
                assert number not in seen
                seen.add(number)
                for name in (A, B):
                    journal.done(name, number)
            await settled(journal)
    assert len(segments(tmp_path)) <= 2


async def test_a_segment_goes_when_nothing_in_it_is_owed(tmp_path: Path) -> None:
    async with opened(tmp_path) as (journal, _):
        numbers = [await keep(journal, arrival(FILLER)) for _ in range(6)]
        before = segments(tmp_path)
        for number in numbers[1:]:
            journal.done(A, number)
            journal.done(B, number)
        journal.done(A, numbers[0])
        await settled(journal)
        after = segments(tmp_path)
        assert before[0] in after
        assert len(after) < len(before) - 2
        journal.done(B, numbers[0])
        await settled(journal)
        assert before[0] not in segments(tmp_path)


async def test_what_only_a_deleted_segment_said_of_older_requests_is_still_known(tmp_path: Path) -> None:
    async with opened(tmp_path) as (journal, _):
        # Nothing more fits behind it.
        old = await keep(journal, arrival(b"x" * 1750))
        parcel = await freeze(journal, by_reference(old, [1]))
        holding = [one.path.name for one in segments(tmp_path)]
        for _ in range(3):
            number = await keep(journal, arrival(FILLER))
            for name in (A, B):
                journal.done(name, number)
        for name in (A, B):
            journal.done(name, parcel)
        await settled(journal)
        assert holding[1] not in [one.path.name for one in segments(tmp_path)]
    async with opened(tmp_path) as (_, recovered):
        assert owed(recovered) == {old: {A: [0, 2], B: [0, 2]}}


async def test_a_whole_parcel_needs_its_requests_no_more(tmp_path: Path) -> None:
    async with opened(tmp_path) as (journal, _):
        number = await keep(journal, arrival(FILLER, items=1))
        first = segments(tmp_path)[0]
        parcel = await freeze(journal, by_reference(number, [0]))
        await keep(journal, arrival(FILLER))
        await settled(journal)
        assert first in segments(tmp_path)
        entry = whole(b"judged", [place_of(number, 0)])
        await journal.freeze(parcel, entry)
        await settled(journal)
        assert first not in segments(tmp_path)
        assert journal.read_parcel(parcel) == entry
        with pytest.raises(DamagedRecordError, match="is not in the journal"):
            journal.read_arrival(number)
    async with opened(tmp_path) as (journal, recovered):
        assert owed(recovered)[parcel] == {A, B}
        assert journal.read_parcel(parcel) == entry


async def test_requests_that_hold_a_large_segment_are_written_once_more_behind(tmp_path: Path) -> None:
    async with opened(tmp_path) as (journal, _):
        await keep(journal, arrival(b"x" * 1300))
        stuck = await keep(journal, arrival(b"stuck", items=2))
        parcel = await freeze(journal, by_reference(stuck, [0]))
        first = segments(tmp_path)[0]
        for number in range(1, 40):
            if number not in (stuck, parcel):
                journal.done(A, number)
                journal.done(B, number)
        while len(segments(tmp_path)) < 9:
            await keep(journal, arrival(b"y" * 1200))
        await settled(journal)
        assert first not in segments(tmp_path)
        assert journal.read_arrival(stuck) == arrival(b"stuck", items=2)
        assert journal.read_parcel(parcel) == by_reference(stuck, [0])
    async with opened(tmp_path) as (journal, recovered):
        found = owed(recovered)
        assert (found[stuck], found[parcel]) == ({A: [1], B: [1]}, {A, B})
        assert journal.read_arrival(stuck) == arrival(b"stuck", items=2)


async def test_a_parcel_that_becomes_whole_while_it_is_written_once_more_stays_whole(tmp_path: Path) -> None:
    async with opened(tmp_path) as (journal, _):
        number = await keep(journal, arrival(FILLER, items=1))
        parcel = await freeze(journal, by_reference(number, [0]))
        storage = journal._ready.storage
        old = journal._ready.claims.parcels[parcel].location
        assert old is not None
        entry = whole(b"judged", [place_of(number, 0)])
        await journal.freeze(parcel, entry)
        # The copy was begun before that, and comes out after it.
        for copied in storage.forward([(parcel, old)]):
            _, _, new = copied
            assert new is not None
            journal._ready.claims.copied(parcel, old, new)
        assert journal.read_parcel(parcel) == entry
    async with opened(tmp_path) as (journal, recovered):
        assert owed(recovered) == {parcel: {A, B}}
        assert journal.read_parcel(parcel) == entry


async def test_records_that_cannot_be_written_once_more_now_are_not_tried_all_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[int] = []
    monkeypatch.setattr("collector.journal.storage.Storage.forward", lambda storage, records: tried.append(1) or [])
    async with opened(tmp_path) as (journal, _):
        gone = await keep(journal, arrival(b"x" * 1300))
        await keep(journal, arrival(b"stuck"))
        for name in (A, B):
            journal.done(name, gone)
        for _ in range(8):
            await keep(journal, arrival(b"y" * 1200))
        for _ in range(10):
            await settled(journal)
    assert len(tried) == 1


async def test_a_record_that_stands_in_two_segments_counts_once(tmp_path: Path) -> None:
    async with opened(tmp_path / "one") as (journal, _):
        number = await keep(journal, arrival())
        await freeze(journal, by_reference(number, [1]))
    for file in segments(tmp_path / "one"):
        twin = file.path.with_name(re.sub(r"-0000", "-0001", file.path.name, count=1))
        twin.write_bytes(file.path.read_bytes())
    async with opened(tmp_path / "one") as (journal, recovered):
        assert owed(recovered) == {number: {A: [0, 2], B: [0, 2]}, number + 1: {A, B}}
        assert (recovered.arrivals, recovered.parcels) == (1, 1)
        assert journal.stats().owed[A].items == 3
        for name in (A, B):
            journal.done(name, number + 1)
        journal.dropped([place_of(number, 0), place_of(number, 2)])
        await settled(journal)
        assert len(segments(tmp_path / "one")) == 1
    async with opened(tmp_path / "one") as (_, recovered):
        assert owed(recovered) == {}


async def test_a_request_larger_than_a_segment_gets_one_of_its_own(tmp_path: Path) -> None:
    async with opened(tmp_path) as (journal, _):
        before = await keep(journal, arrival(b"small"))
        large = await keep(journal, arrival(b"L" * 50_000))
        after = await keep(journal, arrival(b"small again"))
        assert journal.read_arrival(large) == arrival(b"L" * 50_000)
    async with opened(tmp_path) as (journal, recovered):
        assert set(owed(recovered)) == {before, large, after}
        assert journal.read_arrival(large).request == b"L" * 50_000


async def test_what_is_being_written_can_be_read(tmp_path: Path) -> None:
    async with opened(tmp_path) as (journal, _):
        number, parcel = journal.reserve(), journal.reserve()
        kept, frozen = journal.keep(number, arrival()), journal.freeze(parcel, by_reference(number, [0]))
        assert journal.read_arrival(number) == arrival()
        assert journal.read_parcel(parcel) == by_reference(number, [0])
        await asyncio.gather(kept, frozen)
        assert journal.read_arrival(number) == arrival()


async def test_a_sender_that_goes_while_its_request_is_written_doesn_t_take_it_back(tmp_path: Path) -> None:
    async with opened(tmp_path) as (journal, _):
        number = journal.reserve()
        journal.keep(number, arrival()).cancel()
        await settled(journal)
        assert journal.stats().owed[A].items == 3
    async with opened(tmp_path) as (_, recovered):
        assert set(owed(recovered)) == {number}


async def test_a_parcel_can_be_done_before_it_is_written(tmp_path: Path) -> None:
    async with opened(tmp_path) as (journal, _):
        number = await keep(journal, arrival(items=1))
        parcel = journal.reserve()
        written = journal.freeze(parcel, by_reference(number, [0]))
        for name in (A, B):
            journal.done(name, parcel)
        await written
        assert journal.stats().owed == {}
    async with opened(tmp_path) as (_, recovered):
        assert owed(recovered) == {}


async def test_stopping_answers_everything_that_waits(tmp_path: Path) -> None:
    journal = make(tmp_path)
    journal.open()
    await journal.start()
    waiting = [journal.keep(journal.reserve(), arrival(FILLER)) for _ in range(20)]
    await journal.stop()
    assert all(one.done() and one.exception() is None for one in waiting)
    with pytest.raises(JournalWriteError, match="closed"):
        await journal.keep(1000, arrival())
    async with opened(tmp_path) as (_, recovered):
        assert len(owed(recovered)) == 20


async def test_what_is_to_be_noted_while_it_stops_is_noted(tmp_path: Path) -> None:
    journal = make(tmp_path)
    journal.open()
    await journal.start()
    number = await keep(journal, arrival())
    upkeep = running(journal).upkeep
    goes_on = threading.Event()
    running(journal).writer.submit(lambda storage: goes_on.wait() and (lambda: None))
    stopping = asyncio.create_task(journal.stop())
    journal.done(A, number)
    await asyncio.sleep(0)
    # The moment at which it would have been noted comes while the last records are being written.
    upkeep.note()
    goes_on.set()
    await stopping
    async with opened(tmp_path) as (_, recovered):
        assert owed(recovered) == {number: {B}}


async def test_past_its_size_requests_are_refused_with_who_is_to_blame_and_parcels_are_not(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    async with opened(tmp_path) as (journal, _):
        numbers = []
        with pytest.raises(JournalFullError) as refused:
            while True:
                numbers.append(await keep(journal, arrival(b"x" * (1 << 20))))
                journal.done(A, numbers[-1])
        assert str(refused.value) == (
            f"the journal in {tmp_path} has 15 MiB of at most 16 MiB (extensions::journal::max_size_mib), "
            f"most of it for {B}; try again later"
        )
        assert refused.value.retry_after_s > 0
        assert refused.value.destination == B
        assert journal.pressed_by() == B
        assert journal.stats().alarm_percent == 80
        parcel = await freeze(journal, whole(b"p" * (2 << 20)))
        assert journal.stats().alarm_percent == 100
        for number in (*numbers, parcel):
            journal.done(B, number)
        journal.done(A, parcel)
        await settled(journal)
        assert journal.pressed_by() is None
        await keep(journal, arrival())
    told = [record.getMessage() for record in caplog.records if "% full" in record.getMessage()]
    assert [line.partition(" ")[0] for line in told] == ["50", "80", "100"]


async def test_a_request_of_the_journal_s_whole_size_can_be_kept_when_there_is_room(tmp_path: Path) -> None:
    async with opened(tmp_path) as (journal, _):
        number = await keep(journal, arrival(b"x" * (17 << 20)))
    async with opened(tmp_path) as (_, recovered):
        assert list(owed(recovered)) == [number]


async def test_a_destination_that_is_not_configured_any_more_is_told_and_what_it_is_owed_stays(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened(tmp_path) as (journal, _):
        journal.destinations_changed({Signal.TRACES: [A, "otlp/old"]})
        both = await keep(journal, arrival())
        parcel = await freeze(journal, by_reference(both, [0], ["otlp/old"]))
        journal.destinations_changed({Signal.TRACES: ["otlp/old"]})
        only = await keep(journal, arrival(b"for nobody"))
    async with opened(tmp_path) as (journal, recovered):
        assert owed(recovered) == {both: {A: ALL}}
        (told,) = recovered.unconfigured
        assert (told.destination, told.items) == ("otlp/old", 6)
        assert "6 items" in caplog.text
        assert "since 2023-11-14T22:13:20Z are for otlp/old, which is not configured" in caplog.text
        assert "spanjudge journal forget otlp/old" in caplog.text
        for index in ALL:
            journal.dropped([place_of(both, index)])
    async with opened(tmp_path) as (journal, _):
        journal.destinations_changed({Signal.TRACES: [A, "otlp/old"]})
    journal = make(tmp_path)
    journal.destinations_changed({Signal.TRACES: ["otlp/old"]})
    recovered = journal.open()
    assert owed(recovered) == {parcel: {"otlp/old"}, only: {"otlp/old": ALL}}
    await journal.stop()


async def test_how_it_stands_is_told(tmp_path: Path) -> None:
    async with opened(tmp_path, durability="disk") as (journal, _):
        number = await keep(journal, arrival(b"12345"))
        parcel = await freeze(journal, by_reference(number, [0, 1], [B]))
        stats = journal.stats()
        assert {name: one.items for name, one in stats.owed.items()} == {A: 3, B: 3}
        assert stats.owed[A].oldest_wall_ns == stats.owed[B].oldest_wall_ns == arrival().arrived_wall_ns
        assert (stats.segments, stats.syncs, stats.write_errors, stats.quarantined) == (1, 2, 0, 0)
        assert 0 < stats.size_bytes < 1000
        assert stats.limit_bytes == 16 << 20
        journal.done(B, parcel)
        assert journal.stats().owed[B].items == 1


async def test_requests_that_come_while_others_are_written_share_their_sync(tmp_path: Path) -> None:
    async with opened(tmp_path, durability="disk") as (journal, _):
        before = journal.stats().syncs
        await asyncio.gather(*(keep(journal, arrival()) for _ in range(15)))
        assert journal.stats().syncs - before <= 3


async def test_a_second_process_is_told_who_has_it(tmp_path: Path) -> None:
    async with opened(tmp_path):
        with pytest.raises(StartError, match=r"process \d+ is using this journal; stop it, or give each sidecar"):
            make(tmp_path).open()
    async with opened(tmp_path) as (_, recovered):
        assert owed(recovered) == {}


async def test_a_journal_that_could_not_be_opened_can_be_stopped(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    journal = make(tmp_path / "file")
    with pytest.raises(StartError):
        journal.open()
    await journal.stop()


async def test_done_after_the_stop_comes_too_late_and_leads_to_a_repeat(tmp_path: Path) -> None:
    async with opened(tmp_path) as (journal, _):
        number = await keep(journal, arrival())
    journal.done(A, number)
    journal.dropped([place_of(number, 1)])
    async with opened(tmp_path) as (_, recovered):
        assert owed(recovered) == {number: {A: ALL, B: ALL}}


async def test_progress_that_fills_its_file_is_written_anew_and_means_the_same(tmp_path: Path) -> None:
    async with opened(tmp_path) as (journal, _):
        number = await keep(journal, arrival(items=4))
        journal.dropped([place_of(number, 1)])
        before = [one.path for one in Directory(tmp_path).listing().progress]
        # Places of requests that are long gone.
        running(journal).upkeep.news.add_settled((), range(100_000))
        await settled(journal)
        journal.dropped([place_of(number, 2)])
        await settled(journal)
        assert [one.path for one in Directory(tmp_path).listing().progress] != before
        assert sum(len(one.path.read_bytes().rstrip(b"\0")) for one in Directory(tmp_path).listing().progress) < 1000
    async with opened(tmp_path) as (_, recovered):
        assert owed(recovered) == {number: {A: [0, 3], B: [0, 3]}}
