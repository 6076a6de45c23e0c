"""Records are found again in whatever has become of a file, and nothing else is."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collector.journal.framing import HEADER_BYTES, Gap, Kind, Record, header_of, scan

MARKER = bytes.fromhex("9f8e7d6c5b4a3f2e")
Body = tuple[int, bytes]

# (Without the marker's first byte: else two records can share it once the byte before was cut out, which no disk does.)
BYTES = st.binary(max_size=60).map(lambda found: found.replace(MARKER[:1], b"?"))
BODIES = st.lists(st.tuples(st.integers(0, 2**40), BYTES), max_size=12, unique_by=lambda one: one[0])


def record(number: int, body: bytes, marker: bytes = MARKER) -> bytes:
    return header_of(marker, Kind.ARRIVAL, number, [body]) + body


def file_of(bodies: Sequence[Body]) -> bytes:
    return b"".join(record(*one) for one in bodies)


def found_in(data: bytes) -> list[Body]:
    return [(one.number, bytes(one.body)) for one in scan(data, MARKER) if isinstance(one, Record)]


def gaps_in(data: bytes) -> list[tuple[int, int, bool]]:
    return [(one.offset, one.end, one.torn) for one in scan(data, MARKER) if isinstance(one, Gap)]


@given(BODIES, st.integers(0, 5000))
def test_what_was_written_is_found_and_the_empty_room_behind_it_is_no_damage(bodies: list[Body], room: int) -> None:
    data = file_of(bodies) + bytes(room)
    assert found_in(data) == bodies
    assert gaps_in(data) == []


@given(BODIES, st.data())
def test_a_file_that_was_cut_has_all_records_before_the_cut(bodies: list[Body], data: st.DataObject) -> None:
    whole = file_of(bodies)
    cut = data.draw(st.integers(0, len(whole)))
    for room in (b"", bytes(100)):
        left = whole[:cut] + room
        # (Zeros that were cut off are put back by the room.)
        kept = max(count for count in range(len(bodies) + 1) if left.startswith(file_of(bodies[:count])))
        assert found_in(left) == bodies[:kept]
        start = len(file_of(bodies[:kept]))
        end = len(left.rstrip(b"\0"))
        assert gaps_in(left) == ([(start, end, True)] if end > start else [])


@given(BODIES.filter(bool), st.data())
def test_a_flipped_byte_costs_the_record_it_is_in_and_no_other(bodies: list[Body], data: st.DataObject) -> None:
    whole = bytearray(file_of(bodies))
    at = data.draw(st.integers(0, len(whole) - 1))
    whole[at] ^= data.draw(st.integers(1, 255))
    hit = next(index for index in range(len(bodies)) if at < len(file_of(bodies[: index + 1])))
    assert found_in(bytes(whole)) == bodies[:hit] + bodies[hit + 1 :]
    gaps = gaps_in(bytes(whole))
    assert len(gaps) == 1
    start, end, torn = gaps[0]
    assert start == len(file_of(bodies[:hit]))
    # Zeros at the very end look like room that was never used.
    assert end == len(file_of(bodies[: hit + 1])) or (torn and not any(whole[end:]))
    assert torn == (hit == len(bodies) - 1)


@st.composite
def mangled(draw: st.DrawFn) -> tuple[list[Body], bytes]:
    """A file, and the same file with blocks cut out, swapped, repeated, zeroed and filled with noise."""
    bodies = draw(BODIES)
    data = file_of(bodies)
    for _ in range(draw(st.integers(1, 4))):
        at, end = sorted(draw(st.tuples(*[st.integers(0, len(data))] * 2)))
        block = data[at:end]
        match draw(st.sampled_from(["cut", "swap", "repeat", "zero", "noise", "insert"])):
            case "cut":
                data = data[:at] + data[end:]
            case "swap":
                data = data[end:] + block + data[:at]
            case "repeat":
                data = data[:end] + block + data[end:]
            case "zero":
                data = data[:at] + bytes(len(block)) + data[end:]
            case "noise":
                data = data[:at] + draw(st.binary(min_size=len(block), max_size=len(block))) + data[end:]
            case _:
                data = data[:at] + draw(st.binary(max_size=40)) + data[at:]
    return bodies, data


@settings(max_examples=400)
@given(mangled())
def test_every_record_that_is_still_whole_is_found_and_none_is_invented(case: tuple[list[Body], bytes]) -> None:
    bodies, data = case
    found = found_in(data)
    assert set(found) == {body for body in bodies if record(*body) in data}


@given(mangled())
def test_records_and_gaps_and_empty_room_are_all_there_is(case: tuple[list[Body], bytes]) -> None:
    _, data = case
    at = 0
    for one in scan(data, MARKER):
        assert one.offset == at
        assert one.end > one.offset
        at = one.end
    assert not any(data[at:])


@given(st.binary(max_size=300))
def test_noise_holds_no_record(data: bytes) -> None:
    assert found_in(data) == []


def test_a_record_inside_the_body_of_a_damaged_one_is_found_only_if_it_bears_the_files_own_marker() -> None:
    inner = record(7, b"forged", marker=b"guessed!")
    outer = bytearray(record(1, inner))
    outer[-1] ^= 1
    assert found_in(bytes(outer) + record(2, b"next")) == [(2, b"next")]


@pytest.mark.parametrize("length", [1, 10_000, 2**32 - 1])
def test_a_wrong_length_costs_one_record(length: int) -> None:
    damaged = bytearray(record(1, b"first"))
    damaged[12:16] = length.to_bytes(4, "little")
    data = bytes(damaged) + record(2, b"second")
    assert found_in(data) == [(2, b"second")]
    assert gaps_in(data) == [(0, len(damaged), False)]


def test_a_body_in_parts_is_the_same_record() -> None:
    header = header_of(MARKER, Kind.ARRIVAL, 5, [b"ab", b"", memoryview(b"cd")])
    assert header == record(5, b"abcd")[:HEADER_BYTES]
