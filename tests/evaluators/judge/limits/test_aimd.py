"""The number of places falls by half with a "too many" and rises by one with a clean window."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evaluators.judge.limits.aimd import Aimd


def test_it_begins_with_what_is_configured() -> None:
    assert Aimd(16).limit == 16


def test_all_that_were_under_way_when_it_was_too_many_halve_it_once() -> None:
    aimd = Aimd(16)
    sent = [aimd.sent() for _ in range(16)]
    for one in sent:
        aimd.refused(one)
    assert aimd.limit == 8


def test_what_was_sent_before_the_last_halving_does_not_raise_it() -> None:
    aimd = Aimd(4)
    before = [aimd.sent() for _ in range(4)]
    aimd.refused(before.pop())
    for one in before:
        aimd.accepted(one)
    assert aimd.limit == 2


def test_as_many_in_a_row_as_there_are_places_raise_it_by_one() -> None:
    aimd = Aimd(8)
    aimd.refused(aimd.sent())
    limits = []
    for _ in range(4 + 5 + 6 + 7 + 20):
        aimd.accepted(aimd.sent())
        limits.append(aimd.limit)
    assert [limits[3], limits[8], limits[14], limits[21]] == [5, 6, 7, 8]
    assert limits[-1] == 8


def test_one_place_is_left_however_often_it_is_too_many() -> None:
    aimd = Aimd(3)
    for _ in range(5):
        aimd.refused(aimd.sent())
    assert aimd.limit == 1


@given(st.integers(1, 64), st.lists(st.tuples(st.booleans(), st.integers(0, 5)), max_size=200))
def test_it_never_leaves_its_bounds(most: int, ends: list[tuple[bool, int]]) -> None:
    aimd = Aimd(most)
    sent = [aimd.sent()]
    for refused, ago in ends:
        sent_in = sent[max(0, len(sent) - 1 - ago)]
        (aimd.refused if refused else aimd.accepted)(sent_in)
        sent.append(aimd.sent())
        assert 1 <= aimd.limit <= most
