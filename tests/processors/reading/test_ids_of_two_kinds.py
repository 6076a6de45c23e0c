"""Calls and their results where the ids of one don't occur among those of the other."""

from __future__ import annotations

from tests.processors.spans_of import Trace, asks, returns, says, together, user


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
