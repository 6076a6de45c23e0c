"""Calls and their results where the ids of one don't occur among those of the other."""

from __future__ import annotations

from evaluators.cases import JsonValue
from tests.processors.spans_of import Message, Trace, asks, returns, says, together, user


def test_results_go_to_the_calls_whose_executions_gave_them_whatever_their_order() -> None:
    trace = Trace()
    trace.agent()
    both = together(asks("fc_1", "get_weather", {"city": "Oslo"}), asks("fc_2", "get_weather", {"city": "Rome"}))
    trace.llm("m1", [user("Compare Oslo and Rome.")], both)
    trace.tool("t2", "get_weather", {"city": "Rome"}, "warm")
    trace.tool("t1", "get_weather", {"city": "Oslo"}, "cold")
    results = [returns("call_2", "warm"), returns("call_1", "cold")]
    trace.llm("m2", [user("Compare Oslo and Rome."), both, *results], says("Rome is warmer."))

    run = trace.run()

    assert [(call.ref, call.result and call.result.content) for call in run.calls] == [("t1", "cold"), ("t2", "warm")]


def test_a_result_that_no_execution_gave_goes_to_the_call_that_is_left() -> None:
    trace = Trace()
    trace.agent()
    both = together(asks("fc_1", "get_weather", {"city": "Oslo"}), asks("fc_2", "get_weather", {"city": "Rome"}))
    trace.llm("m1", [user("Compare Oslo and Rome.")], both)
    trace.tool("t1", "get_weather", {"city": "Oslo"}, "cold as the sensor had it")
    trace.tool("t2", "get_weather", {"city": "Rome"}, "warm")
    results = [returns("call_2", "warm"), returns("call_1", "cold")]
    trace.llm("m2", [user("Compare Oslo and Rome."), both, *results], says("Rome is warmer."))

    run = trace.run()

    assert [(call.ref, call.result and call.result.content) for call in run.calls] == [("t1", "cold"), ("t2", "warm")]


def test_calls_of_a_history_without_ids_are_told_apart_from_each_other_and_from_the_turns_own() -> None:
    def asked(city: str) -> Message:
        return {"role": "assistant", "tool_calls": [_without_id(asks("x", "get_weather", {"city": city}))]}

    trace = Trace()
    trace.agent()
    history = [user("Oslo, Rome and Bern?"), asked("Oslo"), returns("", "cold"), asked("Rome"), returns("", "warm")]
    trace.llm("m1", history, asked("Bern"))
    run = trace.run()
    told = [call.id for message in run.turns[0].context or () for call in message.calls]
    assert len({*told, *(call.id for call in run.turns[0].calls)}) == 3


def _without_id(call: Message) -> JsonValue:
    calls = call["tool_calls"]
    assert isinstance(calls, list)
    (only,) = calls
    assert isinstance(only, dict)
    return {key: only[key] for key in only if key != "id"}
