"""Which tool span executed which call, where neither ids nor arguments tell all of them apart."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from evaluators.cases import JsonValue
from processors.otlp import Event, SpanKind
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


def _tried_twice(*, told: bool) -> Trace:
    """Two calls, and what a server's own spans tell of them; `told`: so does the program that asked it."""
    trace = Trace()
    trace.agent()
    first, second = asks("c1", "get_weather", _ROOMS), asks("c2", "get_weather", _ROOMS)
    trace.llm("m1", [_ASKED], first)
    trace.llm("m2", [_ASKED, first, returns("c1", "none")], second)
    trace.llm("m3", [_ASKED, first, returns("c1", "none"), second, returns("c2", "two")], says("Two."))
    served = {"openinference.span.kind": "TOOL", "tool.name": "get_weather"}
    for number in (1, 2):
        if told:
            trace.tool(f"t{number}", "get_weather", _ROOMS, "two")
        trace.add(f"s{number}", served, under=f"client{number}")
        trace.spans[-1] = replace(trace.spans[-1], kind=SpanKind.SERVER)
    return trace


@pytest.mark.parametrize("told", [True, False])
def test_a_servers_account_adds_no_call_where_the_clients_span_was_lost(told: bool) -> None:
    run = _tried_twice(told=told).run()
    assert [call.ref for call in run.calls] == (["t1", "t2"] if told else ["s1", "s2"])


def test_servers_spans_are_calls_where_nothing_else_tells_of_them() -> None:
    trace = _tried_twice(told=False)
    trace.spans = [span for span in trace.spans if not span.span_id.startswith("m")]
    assert [call.ref for call in trace.run().calls] == ["s1", "s2"]


def test_that_a_call_was_asked_for_and_that_it_was_executed_is_one_call_where_the_answer_was_lost() -> None:
    trace = Trace()
    trace.agent()
    trace.llm("m1", [_ASKED], None)
    asked = {"openinference.span.kind": "TOOL", "tool.name": "get_weather", "input.value": json.dumps(_ROOMS)}
    trace.add("a1", {**asked, "tool_call.id": "c1"}, under="m1")
    trace.tool("t1", "get_weather", _ROOMS, "two")
    trace.add("a2", {**asked, "tool_call.id": "c2"}, under="m1")
    assert [(call.id, call.ref, call.result and call.result.content) for call in trace.run().calls] == [
        ("c1", "t1", "two"),
        ("c2", "a2", None),
    ]


def test_a_request_whose_model_call_was_lost_is_no_second_call() -> None:
    trace = Trace()
    trace.agent()
    asked = {"openinference.span.kind": "TOOL", "tool.name": "get_weather", "input.value": json.dumps(_ROOMS)}
    trace.add("a1", {**asked, "tool_call.id": "c1"}, under="lost")
    trace.tool("t1", "get_weather", _ROOMS, "two")
    trace.llm("m2", [_ASKED, asks("c1", "get_weather", _ROOMS), returns("c1", "two")], says("Two."))
    assert [(call.id, call.ref) for call in trace.run().calls] == [("c1", "t1")]


def _retold(arguments: dict[str, str], *, under: str, start_ns: int = 3_000_000) -> Trace:
    """An execution, and a span of the same tool within its time."""
    trace = Trace()
    trace.agent()
    trace.llm("m1", [_ASKED], None, tools=())
    trace.tool("t1", "get_weather", _ROOMS, "two", start_ns=2_000_000)
    trace.spans[-1] = replace(trace.spans[-1], end_ns=9_000_000)
    trace.tool("t2", "get_weather", arguments, "two", under=under, start_ns=start_ns)
    return trace


def test_a_wrapped_span_of_an_execution_is_no_second_one_where_what_joins_them_was_lost() -> None:
    assert [call.ref for call in _retold(_ROOMS, under="lost").run().calls] == ["t1"]


@pytest.mark.parametrize(
    "trace",
    [
        _retold(_ROOMS, under="agent"),
        _retold(_STAY, under="lost"),
        _retold(_ROOMS, under="lost", start_ns=8_900_000),
    ],
    ids=["in its place", "of other arguments", "not within the time"],
)
def test_equal_executions_at_one_time_are_two(trace: Trace) -> None:
    assert [call.ref for call in trace.run().calls] == ["t1", "t2"]


def test_an_execution_that_does_not_name_its_tool_is_that_of_the_call_with_its_arguments() -> None:
    trace = Trace()
    trace.agent()
    trace.llm("m1", [_ASKED], together(asks("c1", "get_weather", _ROOMS), asks("c2", "get_weather", _STAY)))
    trace.add("t2", _unnamed(_STAY), under="agent")
    assert [(call.name, call.ref) for call in trace.run().calls] == [("get_weather", None), ("get_weather", "t2")]


def test_a_tool_is_not_called_by_the_name_of_its_span() -> None:
    """What was called is then not known: that it wasn't captured is all there is to say."""
    trace = Trace()
    trace.agent()
    trace.llm("m1", [_ASKED], says("Two."))
    trace.add("t1", _unnamed(_ROOMS), under="agent", name="RunTool")
    run = trace.run()
    assert not run.calls
    assert "tool_calls" in run.missing


def _unnamed(arguments: dict[str, str]) -> dict[str, JsonValue]:
    """An execution as an instrumentation has it that tells the class of a tool for its name."""
    return {
        "traceloop.span.kind": "task",
        "gen_ai.operation.name": "execute_tool",
        "traceloop.entity.name": "DynamicStructuredTool",
        "traceloop.entity.input": json.dumps({"args": [json.dumps(arguments)]}),
    }
