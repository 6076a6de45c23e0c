"""Parcels that are read again from a journal of which some is damaged: what can be read of them is delivered."""

from __future__ import annotations

from array import array
from pathlib import Path

import pytest

from collector import wire
from collector.journal import ArrivalEntry, DamagedRecordError, Journal, ParcelEntry, place_of
from collector.records import PLACE_BITS, Parcel, Signal, Waybill
from collector.rereading import Rereader
from tests.collector.backends import GrpcBackend, span_names
from tests.collector.exporters.harness import Harness, grpc_sender
from tests.collector.journal.entries_made import A, arrival
from tests.collector.journal.running import freeze, keep, opened, segments
from tests.collector.otlp_samples import request, span

ONE, TWO = span("one", span_id=b"1" * 8), span("two", span_id=b"2" * 8)
TAIL = b"\x2a\x04tail"


async def frozen(journal: Journal) -> int:
    """A parcel of spans of two requests."""
    kept = [await keep(journal, arrival(request(one), items=1)) for one in (ONE, TWO)]
    places = array("Q", [place_of(number, 0) for number in kept])
    return await freeze(journal, ParcelEntry(Signal.TRACES, (), (A,), 2, 100, places, (b"", TAIL)))


def damage(path: Path, *spans: bytes) -> None:
    for segment in segments(path):
        data = segment.path.read_bytes()
        for one in spans:
            data = data.replace(one, one.swapcase())
        segment.path.write_bytes(data)


async def test_a_parcel_comes_without_the_spans_whose_request_is_damaged(tmp_path: Path) -> None:
    async with opened(tmp_path) as (journal, _):
        number = await frozen(journal)
        damage(tmp_path, ONE)
        parcel = Rereader(journal, wire.Origins()).parcel(number)
    assert (parcel.items, parcel.number) == (1, number)
    assert [one.span for one in wire.slice_spans(parcel.request, (), wire.Origins()).records] == [TWO + TAIL]


async def test_a_parcel_of_which_nothing_can_be_read_raises(tmp_path: Path) -> None:
    async with opened(tmp_path) as (journal, _):
        number = await frozen(journal)
        damage(tmp_path, ONE, TWO)
        with pytest.raises(DamagedRecordError):
            Rereader(journal, wire.Origins()).parcel(number)


async def test_what_is_left_of_a_parcel_is_delivered_and_the_rest_counted(tmp_path: Path) -> None:
    async with GrpcBackend() as backend:
        harness = Harness(grpc_sender(backend), tmp_path)
        await harness.queue.start()
        left = Parcel(Signal.TRACES, request(TWO), 1)
        ref = harness.store.put(None, 0, claims=1, again=lambda: left)
        harness.queue.put(ref, Waybill(Signal.TRACES, 3, (), 300, 7))
        assert not await harness.finish()
    assert span_names(*backend.accepted) == ["two"]
    sent, damaged, queued = map(
        harness.metric, ("exporter_sent_spans", "exporter_damaged_spans", "exporter_queue_spans")
    )
    assert (sent, damaged, queued) == (1, 2, 0)


async def test_a_parcel_of_which_something_can_not_be_read_just_now_is_not_sent_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path) as (journal, _):
        number = await frozen(journal)
        read = journal.read_arrival
        first = journal.read_parcel(number).places[0] >> PLACE_BITS

        def fails_once(arrival_number: int) -> ArrivalEntry:
            if arrival_number == first:
                raise DamagedRecordError("can't be read (input/output error)", may_pass=True)
            return read(arrival_number)

        with monkeypatch.context() as patched:
            patched.setattr(journal, "read_arrival", fails_once)
            with pytest.raises(DamagedRecordError):
                Rereader(journal, wire.Origins()).parcel(number)
        assert Rereader(journal, wire.Origins()).parcel(number).items == 2


async def test_a_span_that_a_later_version_does_not_take_costs_no_other(tmp_path: Path) -> None:
    async with opened(tmp_path) as (journal, _):
        bad = span("bad", span_id=b"short")
        number = await keep(journal, arrival(request(bad, ONE), items=2))
        places = array("Q", [place_of(number, 0), place_of(number, 1)])
        parcel = await freeze(journal, ParcelEntry(Signal.TRACES, (), (A,), 2, 100, places, (b"", TAIL)))
        reread = Rereader(journal, wire.Origins())
        found = reread.parcel(parcel)
        with pytest.raises(DamagedRecordError):
            reread.records(places)
    assert found.items == 1
    assert [one.span for one in wire.slice_spans(found.request, (), wire.Origins()).records] == [ONE + TAIL]


async def test_what_can_not_be_cut_into_spans_any_more_is_as_good_as_damaged(tmp_path: Path) -> None:
    async with opened(tmp_path) as (journal, _):
        number = await keep(journal, arrival(b"no request at all", items=1))
        with pytest.raises(DamagedRecordError):
            Rereader(journal, wire.Origins()).records([place_of(number, 0)])
