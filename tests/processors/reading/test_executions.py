"""Which tool span executed which call, where neither ids nor arguments tell all of them apart."""

from __future__ import annotations

import json

from processors.otlp import Event
from tests.processors.spans_of import Trace, asks, returns, says, together, user

_ASKED = user("Any rooms in Denver?")
_ROOMS = {"city": "Denver"}
_STAY = {"city": "Denver", "wishes": "a quiet room with a view of the mountains, no carpet, two beds, and a desk " * 2}


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


def _cut(length: int) -> Trace:
    """One call whose arguments were cut, as they are where an SDK's limit cuts them."""
    trace = Trace()
    trace.agent()
    trace.llm("m1", [user("Any rooms in Denver?" + "." * 200)], asks("c1", "get_weather", json.dumps(_STAY)[:length]))
    for span in trace.spans:
        span.attributes.update({key: str(value)[:length] for key, value in span.attributes.items()})  # type: ignore[attr-defined]
    return trace


def test_arguments_that_a_limit_cut_are_whole_where_the_tools_own_span_has_them() -> None:
    trace = _cut(128)
    assert [(call.truncated, isinstance(call.arguments, str)) for call in trace.run().calls] == [(True, True)]
    trace.tool("t1", "get_weather", _STAY, "one")
    trace.spans[-1].attributes["input.value"] = _STAY  # type: ignore[index]
    assert [(call.truncated, call.arguments) for call in trace.run().calls] == [(False, _STAY)]


def test_cut_arguments_of_which_the_executions_are_no_continuation_stay_as_they_are() -> None:
    trace = _cut(128)
    trace.tool("t1", "get_weather", {"city": "Oslo"}, "one")
    assert [(call.truncated, isinstance(call.arguments, str)) for call in trace.run().calls] == [(True, True)]


def test_a_call_that_lost_its_name_has_that_of_its_execution() -> None:
    trace = Trace()
    trace.agent()
    trace.llm("m1", [_ASKED], asks("c1", "", _ROOMS))
    trace.tool("t1", "get_weather", _ROOMS, "one", **{"tool.id": "c1"})
    assert [(call.name, call.ref) for call in trace.run().calls] == [("get_weather", "t1")]


def test_a_model_call_without_an_answer_did_not_fail_with_the_error_of_an_earlier_tool() -> None:
    trace = Trace()
    trace.agent()
    trace.llm("m1", [_ASKED], asks("c1", "get_weather", _ROOMS))
    raised = [Event(name="exception")]
    trace.tool("t1", "get_weather", _ROOMS, error="No such town.", events=raised, **{"tool.id": "c1"})
    trace.llm("m2", [_ASKED, asks("c1", "get_weather", _ROOMS), returns("c1", "No.")], None, error="No such town.")
    assert (trace.run().aborted, trace.run().answered) == (False, None)
