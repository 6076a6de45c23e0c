"""Which tool span executed which call, where neither ids nor arguments tell all of them apart."""

from __future__ import annotations

from tests.processors.spans_of import Trace, asks, returns, says, together, user

_ASKED = user("Any rooms in Denver?")
_ROOMS = {"city": "Denver"}


def _retried() -> Trace:
    trace = Trace()
    trace.agent()
    first, second = asks("c1", "get_weather", _ROOMS), asks("c2", "get_weather", _ROOMS)
    trace.llm("m1", [_ASKED], first)
    trace.add("t1", {"openinference.span.kind": "TOOL", "tool.name": "get_weather"}, under="agent", error="timed out")
    trace.llm("m2", [_ASKED, first, returns("c1", "Error: timed out")], second)
    trace.tool("t2", "get_weather", _ROOMS, "two")
    trace.llm("m3", [_ASKED, first, returns("c1", "Error: timed out"), second, returns("c2", "two")], says("Two."))
    return trace


def test_a_failed_execution_without_arguments_is_that_of_the_call_before_it() -> None:
    failed, succeeded = _retried().run().calls
    assert (failed.ref, failed.result and failed.result.error) == ("t1", "timed out")
    assert (succeeded.ref, succeeded.result and succeeded.result.failed) == ("t2", False)


def test_calls_of_one_turn_take_their_executions_in_order() -> None:
    trace = Trace()
    trace.agent()
    trace.llm("m1", [_ASKED], together(*(asks(call_id, "get_weather", _ROOMS) for call_id in ("c1", "c2", "c3"))))
    trace.tool("t1", "get_weather", _ROOMS, "one")
    trace.tool("t2", "get_weather", _ROOMS, "two")
    assert [call.ref for call in trace.run().calls] == ["t1", "t2", None]

