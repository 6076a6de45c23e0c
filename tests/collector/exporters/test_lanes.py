"""What waits for a destination: batches are due by size or time, lanes take turns, nothing is lost or doubled."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from collector.exporters.lanes import Lanes
from collector.exporters.settings import BatchSettings
from collector.records import Ref, Signal, Waybill

LIMITS = BatchSettings(min_size=100, max_size=150, flush_timeout=1.0)
BLUE, RED = (("x-project-name", "blue"),), (("x-project-name", "red"),)


def waybill(size_bytes: int, headers: tuple[tuple[str, str], ...] = ()) -> Waybill:
    return Waybill(Signal.TRACES, 1, headers, size_bytes)


def refs(batch: object) -> list[int]:
    assert isinstance(batch, tuple)
    return [waiting.ref for waiting in batch[1]]


def test_a_batch_is_due_when_it_is_large_enough_or_has_waited_long_enough() -> None:
    lanes = Lanes(LIMITS)
    assert lanes.take_due(0.0, hurry=False) is None
    assert lanes.put(Ref(1), waybill(60), 0.0)
    assert lanes.take_due(0.5, hurry=False) == 1.0
    assert lanes.put(Ref(2), waybill(60), 0.5)
    assert refs(lanes.take_due(0.5, hurry=False)) == [1, 2]
    lanes.put(Ref(3), waybill(10), 2.0)
    assert refs(lanes.take_due(3.0, hurry=False)) == [3]
    lanes.put(Ref(4), waybill(10), 4.0)
    assert refs(lanes.take_due(4.0, hurry=True)) == [4]
    assert not lanes


def test_the_oldest_batch_is_that_of_the_parcel_that_came_first_in_any_lane() -> None:
    lanes = Lanes(LIMITS)
    for number, headers in enumerate((BLUE, RED, BLUE, BLUE)):
        lanes.put(Ref(number), waybill(60, headers), 0.0)
    key, taken = lanes.take_oldest()
    assert key.headers == BLUE and [one.ref for one in taken] == [0, 2]
    for waiting in reversed(taken):
        lanes.put_back(waiting)
    assert [one.ref for one in lanes.take_oldest()[1]] == [0, 2]
    assert [one.ref for one in lanes.take_oldest()[1]] == [1]
    assert [one.ref for one in lanes] == [3]


@given(st.lists(st.tuples(st.integers(1, 400), st.sampled_from([(), BLUE, RED])), max_size=30))
def test_every_parcel_comes_out_once_in_the_order_of_its_lane(parcels: list[tuple[int, tuple[()]]]) -> None:
    lanes = Lanes(LIMITS)
    for number, (size_bytes, headers) in enumerate(parcels):
        lanes.put(Ref(number), waybill(size_bytes, headers), float(number))
    came_out = []
    while isinstance(batch := lanes.take_due(0.0, hurry=True), tuple):
        assert len({one.parcel.headers for one in batch[1]}) == 1
        assert sum(one.parcel.size_bytes for one in batch[1]) <= max(LIMITS.max_size, batch[1][0].parcel.size_bytes)
        came_out += batch[1]
    assert sorted(one.ref for one in came_out) == list(range(len(parcels)))
    for headers in ((), BLUE, RED):
        lane = [one.ref for one in came_out if one.parcel.headers == headers]
        assert all(first < second for first, second in pairwise(lane))
