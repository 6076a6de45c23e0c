"""Whatever has become of the files, the start succeeds, what is damaged is put aside and told, and the rest is kept."""

from __future__ import annotations

import errno
import logging
import os
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from collector.journal import DamagedRecordError, OwedArrival, place_of
from collector.journal.directory import Directory
from collector.journal.framing import Kind, Record, scan
from collector.start_error import StartError
from tests.collector.journal.entries_made import A, B, arrival, by_reference, whole
from tests.collector.journal.running import freeze, keep, make, opened, owed, segments, settled

ALL = [0, 1, 2]


def records_of(path: Path) -> dict[int, Record]:
    """The arrivals and parcels in the first segment."""
    file = segments(path)[0]
    found = [one for one in scan(file.path.read_bytes(), file.marker) if isinstance(one, Record)]
    return {one.number: one for one in found if one.kind in (Kind.ARRIVAL, Kind.PARCEL)}


def flip(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 0x40
    path.write_bytes(data)


async def three_requests(path: Path) -> list[int]:
    async with opened(path) as (journal, _):
        return [await keep(journal, arrival(b"request %d" % index)) for index in ALL]


@pytest.mark.parametrize("where", ["marker", "length", "number", "body"])
@pytest.mark.parametrize("which", ALL)
async def test_a_flipped_byte_costs_one_request_which_is_put_aside(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, which: int, where: str
) -> None:
    numbers = await three_requests(tmp_path)
    record = records_of(tmp_path)[numbers[which]]
    file = segments(tmp_path)[0]
    damaged = file.path.read_bytes()[record.offset : record.end]
    at = {"marker": 0, "length": 13, "number": 17, "body": 40}[where]
    flip(file.path, record.offset + at)
    async with opened(tmp_path) as (journal, recovered):
        others = [number for number in numbers if number != numbers[which]]
        assert owed(recovered) == {number: {A: ALL, B: ALL} for number in others}
        for number in others:
            assert journal.read_arrival(number) == arrival(b"request %d" % numbers.index(number))
        (found,) = recovered.damage
        assert (found.file, found.offset, found.size_bytes, found.torn) == (
            file.path.name,
            record.offset,
            len(damaged),
            False,
        )
        assert journal.stats().quarantined == 1
    copy = (tmp_path / "quarantine" / f"{file.path.stem}-at-{record.offset}.bytes").read_bytes()
    assert bytes(a ^ b for a, b in zip(copy, damaged, strict=True)).rstrip(b"\0") == bytes(at) + b"\x40"
    (told,) = [one for one in caplog.records if one.levelno >= logging.ERROR]
    assert told.getMessage() == (
        f"{tmp_path}: damaged; everything else is kept: {file.path.name} at {record.offset} ({len(damaged)} bytes); "
        "see its folder quarantine"
    )


async def test_what_was_being_written_when_the_process_ended_is_no_alarm(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    numbers = await three_requests(tmp_path)
    last = records_of(tmp_path)[numbers[-1]]
    file = segments(tmp_path)[0]
    os.truncate(file.path, last.end - 3)
    async with opened(tmp_path) as (_, recovered):
        assert set(owed(recovered)) == set(numbers[:-1])
        assert [(one.offset, one.torn) for one in recovered.damage] == [(last.offset, True)]
    assert not [one for one in caplog.records if one.levelno > logging.INFO]
    assert "was being written when the process ended, and was not acknowledged" in caplog.text


async def test_of_what_was_never_acknowledged_not_much_is_put_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    monkeypatch.setattr("collector.journal.opening._TORN_LIMIT_BYTES", 100)
    numbers = await three_requests(tmp_path)
    os.truncate(segments(tmp_path)[0].path, records_of(tmp_path)[numbers[-1]].end - 3)
    async with opened(tmp_path) as (_, recovered):
        assert len(recovered.damage) == 1
    assert "was being written when the process ended" in caplog.text
    assert not (tmp_path / "quarantine").exists()


async def test_damage_is_put_aside_and_told_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    numbers = await three_requests(tmp_path)
    flip(segments(tmp_path)[0].path, records_of(tmp_path)[numbers[0]].end - 1)
    for _ in range(3):
        async with opened(tmp_path) as (_, recovered):
            assert set(owed(recovered)) == set(numbers[1:])
    assert len([one for one in caplog.records if one.levelno >= logging.ERROR]) == 1
    assert len(list((tmp_path / "quarantine").iterdir())) == 1


async def test_items_of_a_damaged_parcel_are_owed_anew_from_their_requests(tmp_path: Path) -> None:
    async with opened(tmp_path) as (journal, _):
        number = await keep(journal, arrival())
        parcel = await freeze(journal, by_reference(number, [0, 1]))
        journal.done(A, parcel)
    flip(segments(tmp_path)[0].path, records_of(tmp_path)[parcel].end - 1)
    async with opened(tmp_path) as (_, recovered):
        assert owed(recovered) == {number: {A: ALL, B: ALL}}


async def test_damage_that_comes_while_it_runs_is_told_to_whoever_reads(tmp_path: Path) -> None:
    async with opened(tmp_path) as (journal, _):
        number = await keep(journal, arrival())
        parcel = await freeze(journal, whole(b"whole"))
        for one in records_of(tmp_path).values():
            flip(segments(tmp_path)[0].path, one.end - 1)
        with pytest.raises(
            DamagedRecordError, match=rf"segment-.*: record {number}, segment \d+ at \d+: its bytes are"
        ):
            journal.read_arrival(number)
        with pytest.raises(DamagedRecordError):
            journal.read_parcel(parcel)
        other = await keep(journal, arrival(b"another one's"))
        location = journal._ready.claims.location_of(other)
        assert location is not None
        with pytest.raises(DamagedRecordError):
            journal._ready.storage.read(number, location)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
async def test_damaged_progress_leads_to_repeats_and_never_to_losses(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("journal")
    async with opened(path) as (journal, _):
        numbers = [await keep(journal, arrival()) for _ in range(3)]
        parcel = await freeze(journal, by_reference(numbers[0], [0]))
        journal.done(A, numbers[1])
        journal.done(A, parcel)
        journal.dropped([place_of(numbers[2], 1)])
    (file,) = Directory(path).listing().progress
    damaged = bytearray(file.path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    file.path.write_bytes(damaged[: data.draw(st.integers(0, len(damaged)))])
    async with opened(path) as (_, recovered):
        found = owed(recovered)
        assert found[numbers[0]] == {A: [1, 2], B: [1, 2]}
        assert found[numbers[1]] in ({B}, {A: ALL, B: ALL})
        assert found[numbers[2]] in ({A: [0, 2], B: [0, 2]}, {A: ALL, B: ALL})
        assert found[parcel] in ({B}, {A, B})


async def test_what_the_disk_cannot_read_now_stays_until_it_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path) as (journal, _):
        first = await keep(journal, arrival(b"x" * 5000))
        second = await keep(journal, arrival(b"y" * 5000))
    hidden = segments(tmp_path)[0].path
    size_bytes = hidden.stat().st_size
    working = os.preadv

    def failing(handle: int, buffers: list[memoryview], offset: int) -> int:
        in_hidden = os.fstat(handle).st_ino == hidden.stat().st_ino
        if in_hidden and offset + len(buffers[0]) > 8192:
            raise OSError(errno.EIO, "Input/output error")
        return working(handle, buffers, offset)

    with monkeypatch.context() as patched:
        patched.setattr("os.preadv", failing)
        async with opened(tmp_path) as (journal, recovered):
            assert set(owed(recovered)) == {first}
            assert (hidden.name, 8192, size_bytes - 8192) in {
                (one.file, one.offset, one.size_bytes) for one in recovered.damage
            }
            for name in (A, B):
                journal.done(name, first)
            await settled(journal)
    assert hidden.stat().st_size == size_bytes
    async with opened(tmp_path) as (journal, recovered):
        assert set(owed(recovered)) == {second}
        assert journal.read_arrival(second) == arrival(b"y" * 5000)


async def test_files_without_a_byte_and_files_of_noise_are_no_obstacle(tmp_path: Path) -> None:
    numbers = await three_requests(tmp_path)
    (tmp_path / "segment-000000000077-00112233445566ff.log").touch()
    (tmp_path / "segment-000000000078-00112233445566ff.log").write_bytes(os.urandom(10_000))
    (tmp_path / "progress-000000000078-00112233445566ff.log").write_bytes(os.urandom(1000))
    (tmp_path / "progress-000000000079-00112233445566ff.log").touch()
    (tmp_path / "lock").write_bytes(b"\xff\xfe")
    (tmp_path / "taking").write_bytes(os.urandom(40))
    async with opened(tmp_path) as (journal, recovered):
        assert set(owed(recovered)) == set(numbers)
        assert len(recovered.damage) == 2
        await keep(journal, arrival())
    assert not (tmp_path / "segment-000000000077-00112233445566ff.log").exists()


async def test_the_version_may_be_missing_where_the_machine_went_down_at_the_first_start(tmp_path: Path) -> None:
    numbers = await three_requests(tmp_path)
    (tmp_path / "VERSION").write_text("")
    async with opened(tmp_path) as (_, recovered):
        assert set(owed(recovered)) == set(numbers)
    assert (tmp_path / "VERSION").read_text() == "spanjudge journal, format 1\n"


async def test_a_journal_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    await three_requests(tmp_path)
    (tmp_path / "VERSION").write_text("spanjudge journal, format 2\n")
    before = {one.name: one.read_bytes() for one in tmp_path.iterdir()}
    with pytest.raises(StartError) as refused:
        make(tmp_path).open()
    assert "is of another version of spanjudge ('spanjudge journal, format 2', this one writes format 1)" in str(
        refused.value
    )
    assert "set another directory (extensions::journal::directory)" in str(refused.value)
    assert {one.name: one.read_bytes() for one in tmp_path.iterdir()} == before


async def test_files_of_others_are_told_once_and_left_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "ledger.db").write_text("")
    (tmp_path / "folder").mkdir()
    async with opened(tmp_path):
        pass
    (told,) = [one.getMessage() for one in caplog.records]
    assert told == f"{tmp_path}: not files of the journal, left alone: folder, notes.txt"
    assert (tmp_path / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("path", ["file/journal", "file"])
async def test_a_place_that_can_hold_no_directory_ends_the_start_with_a_remedy(tmp_path: Path, path: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StartError) as refused:
        make(tmp_path / path).open()
    assert str(refused.value).startswith(f"{tmp_path / path}: can't keep a journal here (")
    assert "set extensions::journal::directory" in str(refused.value)


async def test_clocks_that_run_backwards_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for wall_ns in (2 * 10**18, 10**18, -5):
        monkeypatch.setattr("time.time_ns", lambda wall_ns=wall_ns: wall_ns)
        async with opened(tmp_path) as (journal, recovered):
            assert list(owed(recovered)) == found
            found.append(await keep(journal, arrival()))
            await freeze(journal, whole(b"evaluations"))
            found.append(found[-1] + 1)
    assert found == sorted(found)


# -- requests that end the process -----------------------------------------------------------------------------------


async def test_a_request_whose_taking_ends_the_process_is_passed_on_unread_then_put_aside(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    poison, other = (await three_requests(tmp_path))[:2]
    trusted: list[bool] = []
    ended: list[AbstractContextManager[None]] = []
    for _ in range(3):
        journal = make(tmp_path)
        for one in journal.open().owed:
            assert isinstance(one, OwedArrival)
            if one.number == poison:
                trusted.append(one.trusted)
                # As if the process ended in here: the mark stays.
                ended.append(journal.taking(poison))
                ended[-1].__enter__()
                break
            with journal.taking(one.number):
                assert one.trusted
        await journal.stop()
    assert trusted == [True, True, False]
    async with opened(tmp_path) as (_, recovered):
        assert poison not in owed(recovered)
        assert recovered.arrivals == 2
    assert f"taking request {poison} again ended the process 3 times: it is put aside, and its 3 items" in caplog.text
    assert any(b"request 0" in one.read_bytes() for one in (tmp_path / "quarantine").iterdir())
    async with opened(tmp_path) as (_, recovered):
        assert other in owed(recovered)
        assert poison not in owed(recovered)


async def test_a_request_that_was_taken_without_harm_stays_trusted(tmp_path: Path) -> None:
    await three_requests(tmp_path)
    for _ in range(4):
        async with opened(tmp_path) as (journal, recovered):
            for one in recovered.owed:
                assert isinstance(one, OwedArrival)
                assert one.trusted
                with journal.taking(one.number):
                    pass


async def test_an_end_in_the_middle_is_counted_once(tmp_path: Path) -> None:
    poison, *_ = await three_requests(tmp_path)
    journal = make(tmp_path)
    journal.open()
    ended = journal.taking(poison)
    ended.__enter__()
    await journal.stop()
    for _ in range(4):
        async with opened(tmp_path) as (_, recovered):
            first = next(recovered.owed)
            assert isinstance(first, OwedArrival)
            assert (first.number, first.trusted) == (poison, True)
    ended.__exit__(None, None, None)
