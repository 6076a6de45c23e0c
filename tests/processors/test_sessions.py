"""The runs of sessions, kept until a session is over."""

from __future__ import annotations

import random

import pytest

from evaluators.cases import Run, Turn
from processors.otlp import Span
from processors.sessions import Session, SessionRun, Sessions

IDLE_S = 60.0


def run(number: int, *, trace: int | None = None, text: str = "hello") -> SessionRun:
    span_id = f"{number:016x}"
    trace_id = bytes([number if trace is None else trace]) * 16
    return SessionRun(
        run=Run(turns=(Turn(index=0, text=text),), ref=span_id),
        trace_id=trace_id,
        span=Span(trace_id=trace_id.hex(), span_id=span_id, start_ns=number),
        resource=b"",
        route=(),
    )


def texts(session: Session) -> list[str | None]:
    return [one.run.turns[0].text for one in session.runs()]


def ids(sessions: list[Session]) -> list[str]:
    return [session.session_id for session in sessions]


def test_a_session_is_over_when_nothing_of_it_has_come_for_a_while() -> None:
    sessions = Sessions(IDLE_S)
    sessions.remember("a", [run(1)], 0.0)
    sessions.remember("b", [run(2)], 30.0)
    sessions.remember("a", [run(3)], 50.0)
    assert ids(sessions.over(89.9)) == []
    assert ids(sessions.over(90.0)) == ["b"]
    assert ids(sessions.over(110.0)) == ["a"]


def test_it_is_handed_out_once_and_again_with_all_its_runs_when_it_goes_on() -> None:
    sessions = Sessions(IDLE_S)
    sessions.remember("a", [run(1, text="one")], 0.0)
    [session] = sessions.over(60.0)
    sessions.done(session)
    assert ids(sessions.over(600.0)) == []
    sessions.remember("a", [run(2, text="two")], 700.0)
    [session] = sessions.over(760.0)
    assert texts(session) == ["one", "two"]


def test_runs_come_in_order_of_their_beginning_whatever_the_order_of_arrival() -> None:
    sessions = Sessions(IDLE_S)
    for number in (3, 1, 2):
        sessions.remember("a", [run(number, text=str(number))], 0.0)
    assert texts(sessions.all()[0]) == ["1", "2", "3"]


def test_a_run_that_is_judged_again_takes_its_own_place() -> None:
    sessions = Sessions(IDLE_S)
    sessions.remember("a", [run(1, text="half")], 0.0)
    sessions.remember("a", [run(1, text="whole")], 1.0)
    assert texts(sessions.all()[0]) == ["whole"]


def test_a_run_that_tells_other_traces_too_takes_their_place() -> None:
    sessions = Sessions(IDLE_S)
    sessions.remember("a", [run(1, text="first call")], 0.0)
    sessions.remember("a", [run(2, text="both calls")], 1.0, instead_of=[run(1).trace_id])
    assert texts(sessions.all()[0]) == ["both calls"]


def test_past_the_budget_what_was_judged_goes_first_and_then_what_has_been_silent_longest_is_over() -> None:
    one = Sessions(IDLE_S)
    one.remember("a", [run(1)], 0.0)
    size_bytes = one.size_bytes
    sessions = Sessions(IDLE_S, max_bytes=int(size_bytes * 3.1))
    sessions.remember("judged", [run(1)], 0.0)
    sessions.over(60.0)
    sessions.remember("oldest", [run(2)], 61.0)
    sessions.remember("middle", [run(3)], 62.0)
    sessions.remember("newest", [run(4)], 63.0)
    assert ids(sessions.over(63.0)) == []
    sessions.remember("more", [run(5)], 64.0)
    assert ids(sessions.over(64.0)) == ["oldest"]
    assert sessions.size_bytes <= size_bytes * 3.1
    assert ids(sessions.all()) == ["middle", "newest", "more"]


@pytest.mark.parametrize("seed", range(20))
def test_the_budget_holds_and_no_session_is_lost_unjudged(seed: int) -> None:
    chance = random.Random(seed)
    sessions = Sessions(IDLE_S, max_bytes=20_000)
    remembered, handed_out = set(), set()
    now_s = 0.0
    for number in range(1, 200):
        now_s += chance.random() * 20
        session_id = f"s{chance.randrange(40)}"
        sessions.remember(session_id, [run(number, text=chance.randbytes(200).hex())], now_s)
        remembered.add(session_id)
        assert sessions.size_bytes <= 20_000
        for session in sessions.over(now_s):
            handed_out.add(session.session_id)
            sessions.done(session, ["goal"] if chance.random() < 0.3 else (), now_s)
    handed_out |= set(ids(sessions.all()))
    assert handed_out == remembered


def test_one_that_no_judge_answered_about_is_over_once_more_after_the_same_silence() -> None:
    sessions = Sessions(IDLE_S)
    sessions.remember("a", [run(1)], 0.0)
    [session] = sessions.over(60.0)
    sessions.done(session, ["goal"], 61.0)
    assert ids(sessions.over(120.9)) == []
    [again] = sessions.over(121.0)
    assert again.unanswered == {"goal"}
    sessions.done(again, ["goal"], 122.0)
    assert ids(sessions.over(10_000.0)) == [], "an endpoint that is still down is left alone"


def test_one_that_went_on_meanwhile_is_judged_anew_and_not_put_off() -> None:
    sessions = Sessions(IDLE_S)
    sessions.remember("a", [run(1)], 0.0)
    [session] = sessions.over(60.0)
    sessions.remember("a", [run(2)], 65.0)
    sessions.done(session, ["goal"], 70.0)
    [again] = sessions.over(125.0)
    assert not again.unanswered


def test_while_it_is_being_judged_it_is_not_handed_out_once_more() -> None:
    sessions = Sessions(IDLE_S)
    sessions.remember("a", [run(1)], 0.0)
    [session] = sessions.over(60.0)
    sessions.remember("a", [run(2)], 65.0)
    assert ids(sessions.over(500.0)) == []
    sessions.done(session, now_s=500.0)
    assert ids(sessions.over(501.0)) == ["a"]


def test_one_that_is_cut_short_while_it_is_being_judged_waits_for_that() -> None:
    sessions = Sessions(IDLE_S, max_bytes=3_000)
    sessions.remember("a", [run(1)], 0.0)
    [session] = sessions.over(60.0)
    sessions.remember("a", [run(2)], 65.0)
    sessions.remember("b", [run(3)], 66.0)
    assert ids(sessions.over(70.0)) == []
    sessions.done(session, now_s=71.0)
    assert ids(sessions.over(72.0)) == ["a"]
