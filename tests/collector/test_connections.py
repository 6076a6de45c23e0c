"""Which connection has to go when one too many comes."""

from __future__ import annotations

import resource

import pytest

from collector.receivers.connections import Connections, allowed_connections


class Open:
    def __init__(self) -> None:
        self.is_open = True

    def make_room(self) -> None:
        self.is_open = False


def opened(connections: Connections, number: int) -> list[Open]:
    made = [Open() for _ in range(number)]
    for connection in made:
        connections.opened(connection)
    return made


def which_are_open(made: list[Open]) -> list[bool]:
    return [connection.is_open for connection in made]


def test_the_one_that_has_been_silent_for_longest_goes() -> None:
    connections = Connections(3)
    made = opened(connections, 5)
    assert which_are_open(made) == [False, False, True, True, True]


def test_those_that_have_sent_something_stay_longer_than_those_that_never_did() -> None:
    connections = Connections(3)
    known, stranger, other = opened(connections, 3)
    connections.at_work(known)
    connections.waits(known)
    opened(connections, 2)
    assert which_are_open([known, stranger, other]) == [True, False, False]


def test_among_idle_ones_the_one_goes_whose_last_request_is_longest_ago() -> None:
    connections = Connections(2)
    first, second = opened(connections, 2)
    for connection in (first, second, first):
        connections.at_work(connection)
        connections.waits(connection)
    (third,) = opened(connections, 1)
    assert which_are_open([first, second, third]) == [True, False, True]


def test_nothing_at_work_is_closed_so_that_the_new_one_goes_if_all_are() -> None:
    connections = Connections(2)
    busy = opened(connections, 2)
    for connection in busy:
        connections.at_work(connection)
    (new,) = opened(connections, 1)
    assert which_are_open([*busy, new]) == [True, True, False]
    connections.closed(busy[0])
    assert which_are_open(opened(connections, 1)) == [True]


def test_one_that_is_closed_before_its_answer_is_not_waited_for() -> None:
    connections = Connections(1)
    (gone,) = opened(connections, 1)
    connections.at_work(gone)
    connections.closed(gone)
    connections.waits(gone)
    assert which_are_open([gone, *opened(connections, 1)]) == [True, True]


def test_one_address_gets_a_part_of_the_files_that_may_be_open(monkeypatch: pytest.MonkeyPatch) -> None:
    for soft, allowed in ((1024, 256), (10, 16), (resource.RLIM_INFINITY, 16384)):
        monkeypatch.setattr(resource, "getrlimit", lambda which, soft=soft: (soft, soft))
        assert allowed_connections() == allowed
