"""Who goes first, and who is dropped."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evaluators.judge.limits.line import Line, Rank, Urgency


def test_failures_go_first_then_suspicions_then_what_was_asked_first() -> None:
    line = Line(None)
    asked = [
        Rank(Urgency.SAMPLE, 1),
        Rank(Urgency.SAMPLE, 2),
        Rank(Urgency.SUSPICION, 3),
        Rank(Urgency.FAILURE, 4),
        Rank(Urgency.FAILURE, 5),
    ]
    for rank in asked:
        line.join(rank)
    served = []
    while (first := line.first) is not None:
        served.append(first.number)
        line.leave(first)
    assert served == [4, 5, 3, 1, 2]


def test_a_full_line_drops_the_last_of_the_least_urgent() -> None:
    line = Line(2)
    assert line.join(Rank(Urgency.SAMPLE, 1)) is None
    assert line.join(Rank(Urgency.SAMPLE, 2)) is None
    assert line.join(Rank(Urgency.SAMPLE, 3)) == Rank(Urgency.SAMPLE, 3)
    assert line.join(Rank(Urgency.FAILURE, 4)) == Rank(Urgency.SAMPLE, 2)
    assert line.join(Rank(Urgency.FAILURE, 5)) == Rank(Urgency.SAMPLE, 1)
    assert line.join(Rank(Urgency.SUSPICION, 6)) == Rank(Urgency.SUSPICION, 6)


@given(st.integers(1, 5), st.lists(st.sampled_from(Urgency), max_size=40))
def test_those_who_are_left_go_before_all_who_were_dropped(most: int, urgencies: list[Urgency]) -> None:
    line = Line(most)
    dropped = [line.join(Rank(urgency, number)) for number, urgency in enumerate(urgencies)]
    left = []
    while (first := line.first) is not None:
        left.append(first)
        line.leave(first)
    assert left == sorted(Rank(urgency, number) for number, urgency in enumerate(urgencies))[:most]
    assert len(left) + sum(one is not None for one in dropped) == len(urgencies)
