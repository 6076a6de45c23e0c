"""Which traces go on from which, by what their messages show: the shapes that instrumentations give to a history."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evaluators.cases import JsonValue
from processors.pieces import Pieces
from processors.reading.rejoining import Rejoin, piece_of
from processors.reading.transcribe import transcribe
from tests.processors.spans_of import Message, Trace, asks, returns, says, system, together, user

LIMA = {"city": "Lima"}
OSLO = {"city": "Oslo"}
LONG = "call_Vf3kQp9sTz81LmXw"
OTHER = "call_b7Yc2Rj0WnEuHd5G"
QUESTION = user("Weather in Lima?")


class Conversations:
    """Traces as they come, each with one model call in it."""

    def __init__(self, by: Rejoin = Rejoin.HISTORY) -> None:
        self._pieces = Pieces(by)
        self._count = 0

    def add(self, trace: Trace) -> str | None:
        """The number of the trace that this one goes on from, as text."""
        self._count += 1
        trace_id = str(self._count)
        spans = [
            replace(span, trace_id=trace_id, span_id=f"{self._count}-{span.span_id}", parent_id=span.parent_id)
            for span in trace.spans
        ]
        piece = piece_of(transcribe(trace_id, spans), spans)
        if piece is None:
            return None
        self._pieces.remember(piece, (), (), 0.0)
        before = self._pieces.around(piece).before
        return before[-1].piece.trace_id if before else None

    def call(self, given: list[Message], answer: Message | None, **more: JsonValue) -> str | None:
        trace = Trace()
        trace.llm("llm", given, answer, under=None, **more)
        return self.add(trace)


def test_results_of_the_calls_that_a_trace_asked_for_continue_it() -> None:
    traces = Conversations()
    assert traces.call([system("Be brief."), QUESTION], asks(LONG, "get_weather", LIMA)) is None
    given = [system("Be brief."), QUESTION, asks(LONG, "get_weather", LIMA), returns(LONG, "17")]
    assert traces.call(given, says("17 degrees.")) == "1"


def test_a_history_that_lost_the_calls_still_shows_their_results() -> None:
    traces = Conversations()
    traces.call([QUESTION], asks(LONG, "get_weather", LIMA))
    assert traces.call([QUESTION, returns(LONG, "17")], asks(OTHER, "get_weather", OSLO)) == "1"
    assert traces.call([QUESTION, returns(LONG, "17"), returns(OTHER, "3")], says("17 and 3.")) == "2"


def test_results_alone_are_enough_where_the_provider_keeps_the_conversation() -> None:
    traces = Conversations()
    traces.call([QUESTION], asks(LONG, "get_weather", LIMA))
    assert traces.call([returns(LONG, "17")], says("17 degrees.")) == "1"


def test_short_ids_need_the_words_of_the_conversation() -> None:
    traces = Conversations()
    traces.call([QUESTION], asks("call_1", "get_weather", LIMA))
    assert traces.call([returns("call_1", "17")], says("17 degrees.")) is None
    assert traces.call([user("And in Oslo?"), returns("call_1", "3")], says("3 degrees.")) is None
    assert traces.call([QUESTION, asks("call_1", "get_weather", LIMA), returns("call_1", "17")], says("17.")) == "1"


@pytest.mark.parametrize("given_id", ["fc_1", None])
def test_ids_of_two_kinds_or_none_are_told_by_the_calls_themselves(given_id: str | None) -> None:
    traces = Conversations()
    traces.call([QUESTION], asks(given_id, "get_weather", LIMA))
    history = [QUESTION, asks(given_id, "get_weather", LIMA), returns("call_1" if given_id else None, "17")]
    assert traces.call([*history], says("17 degrees.")) == "1"
    assert traces.call([user("Weather in Rome?"), *history[1:]], says("17 degrees.")) is None


@pytest.mark.parametrize(("call_id", "changes"), [(None, False), (None, True), ("get_weather_0", True)])
def test_repeated_calls_without_ids_of_their_own_are_counted(call_id: str | None, changes: bool) -> None:
    traces = Conversations()
    history: list[Message] = [QUESTION]
    found = []
    for attempt in range(4):
        call = asks(call_id, "get_weather", {**LIMA, "attempt": attempt * changes})
        found.append(traces.call(list(history), call))
        history += [call, returns(call_id, "Error: busy")]
    assert found == [None, "1", "2", "3"]


def test_all_parallel_calls_have_to_be_answered() -> None:
    both = together(asks(LONG, "get_weather", LIMA), asks(OTHER, "get_weather", OSLO))
    traces = Conversations()
    traces.call([QUESTION], both)
    assert traces.call([QUESTION, both, returns(LONG, "17")], says("17.")) is None
    assert traces.call([QUESTION, both, returns(LONG, "17"), returns(OTHER, "3")], says("17, 3.")) == "1"


def test_the_next_question_of_the_user_is_another_run() -> None:
    traces = Conversations()
    traces.call([QUESTION], says("17 degrees."))
    assert traces.call([QUESTION, says("17 degrees."), user("And Oslo?")], asks(LONG, "get_weather", OSLO)) is None


def test_the_user_may_say_more_with_the_results() -> None:
    traces = Conversations()
    traces.call([QUESTION], asks("call_1", "get_weather", LIMA))
    given = [QUESTION, asks("call_1", "get_weather", LIMA), returns("call_1", "17"), user("Answer now.")]
    assert traces.call(given, says("17 degrees.")) == "1"


def test_a_step_of_a_chain_may_stand_round_the_call() -> None:
    def chained(given: list[Message], answer: Message) -> Trace:
        trace = Trace()
        trace.add("chain", {"openinference.span.kind": "CHAIN"})
        trace.llm("llm", given, answer, under="chain")
        return trace

    traces = Conversations()
    traces.add(chained([QUESTION], asks(LONG, "get_weather", LIMA)))
    history = [QUESTION, asks(LONG, "get_weather", LIMA), returns(LONG, "17")]
    assert traces.add(chained(history, says("17 degrees."))) == "1"


def test_a_trace_with_a_span_round_its_run_is_a_whole() -> None:
    traces = Conversations()
    traces.call([QUESTION], asks(LONG, "get_weather", LIMA))
    trace = Trace()
    trace.agent()
    trace.llm("llm", [QUESTION, asks(LONG, "get_weather", LIMA), returns(LONG, "17")], says("17 degrees."))
    assert traces.add(trace) is None


def test_without_any_history_a_session_joins_what_follows_directly() -> None:
    traces = Conversations()
    session: dict[str, JsonValue] = {"session.id": "s-1"}
    traces.call([QUESTION], asks(LONG, "get_weather", LIMA), **session)
    assert traces.call([QUESTION], says("17 degrees.")) is None
    assert traces.call([QUESTION], says("17 degrees."), **session) == "1"


def test_another_run_of_the_session_in_between_parts_what_has_no_history() -> None:
    traces = Conversations()
    session: dict[str, JsonValue] = {"session.id": "s-1"}
    traces.call([QUESTION], asks(LONG, "get_weather", LIMA), **session)
    traces.call([user("Who are you?")], says("A weather desk."), **session)
    assert traces.call([QUESTION], says("17 degrees."), **session) is None


def test_a_trace_of_several_runs_is_no_piece() -> None:
    trace = Trace()
    trace.llm("one", [QUESTION], says("17 degrees."), under=None)
    trace.llm("two", [user("And Oslo?")], says("3 degrees."), under=None)
    assert piece_of(transcribe("t", trace.spans), trace.spans) is None
