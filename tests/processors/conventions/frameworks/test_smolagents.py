"""smolagents: memory as text, other agents as tools, arguments in a wrapper."""

from __future__ import annotations

import json

from evaluators.cases import JsonValue
from processors.conventions.facts import Kind
from tests.processors.conventions.told import told
from tests.processors.spans_of import WEATHER, Message, Trace, asks, system, together, user


def remembered(*calls: tuple[str, str, object]) -> Message:
    listed = [{"id": i, "type": "function", "function": {"name": name, "arguments": given}} for i, name, given in calls]
    return {"role": "tool-call", "content": f"Calling tools:\n{listed!r}"}


def observed(text: str) -> Message:
    return {"role": "tool-response", "content": f"Observation:\n{text}"}


def managing(*agents: str) -> dict[str, JsonValue]:
    attributes: dict[str, JsonValue] = {"openinference.span.kind": "AGENT", "smolagents.tools_names": ["final_answer"]}
    for number, name in enumerate(agents):
        attributes[f"smolagents.managed_agents.{number}.name"] = name
    return attributes


def test_one_message_holds_the_results_of_all_calls_before_it() -> None:
    first = together(asks("c1", "get_weather", {"city": "Rome"}), asks("c2", "get_weather", {"city": "Oslo"}))
    memory = remembered(("c1", "get_weather", {"city": "Rome"}), ("c2", "get_weather", {"city": "Oslo"}))
    trace = Trace()
    trace.agent(input__value='{"task": "Compare Rome and Oslo"}')
    opening = [system("rules"), user("New task:\nCompare Rome and Oslo")]
    trace.llm("first", opening, first)
    trace.tool("rome", "get_weather", {"city": "Rome"}, "12 degrees")
    trace.tool("oslo", "get_weather", {"city": "Oslo"}, "-2 degrees")
    results = observed("12 degrees\n-2 degrees")
    trace.llm("second", [*opening, memory, results], asks("c3", "final_answer", {"answer": "Rome."}))
    run = trace.run()
    assert [call.result.content for call in run.calls[:2] if call.result is not None] == ["12 degrees", "-2 degrees"]
    assert run.turns[1].answers == ("c1", "c2")
    assert run.user_inputs == ("Compare Rome and Oslo",)
    assert run.final_answer == "Rome."


def test_code_that_the_model_wrote_is_no_call_of_a_tool() -> None:
    trace = Trace()
    trace.agent()
    given = [user("weather?"), remembered(("c1", "python_interpreter", "print(1)")), observed("1")]
    trace.llm("llm", given, {"role": "assistant", "content": "1"}, tools=())
    assert trace.run().calls == ()


def test_what_the_models_code_called_is_known_by_executions_alone() -> None:
    for executes in (False, True):
        trace = Trace()
        trace.agent()
        given = [
            user("weather?"),
            remembered(("c1", "python_interpreter", "print(get_weather('Rome'))")),
            observed("1"),
        ]
        trace.llm("llm", given, {"role": "assistant", "content": "1"}, tools=(WEATHER,))
        if executes:
            trace.tool("rome", "get_weather", {"city": "Rome"}, "1")
        assert ("tool_calls" in trace.run().missing) is not executes


def test_an_agent_that_another_one_may_call_was_offered() -> None:
    trace = Trace()
    trace.add("voyager", managing("weather_agent"), name="voyager.run")
    call = asks("c1", "weather_agent", {"task": "weather in Rome"})
    trace.llm("llm", [user("weather in Rome?")], call, under="voyager", tools=(WEATHER,))
    run = trace.run()
    assert [tool.name for tool in run.turns[0].tools or ()] == ["get_weather", "weather_agent"]
    assert run.turns[0].agent == "voyager"


def test_a_call_of_what_nobody_has_stays_unknown() -> None:
    trace = Trace()
    trace.add("voyager", managing("weather_agent"), name="voyager.run")
    trace.llm("llm", [user("trains?")], asks("c1", "get_trains", {}), under="voyager")
    assert [tool.name for tool in trace.run().turns[0].tools or ()] == ["get_weather"]


def test_arguments_by_place_get_the_names_of_the_tools_inputs() -> None:
    attributes: dict[str, JsonValue] = {
        "openinference.span.kind": "TOOL",
        "tool.name": "lend",
        "tool.parameters": json.dumps({"title": {"type": "string"}, "days": {"type": "integer"}}),
        "input.value": json.dumps({"args": ["Dune"], "sanitize_inputs_outputs": True, "kwargs": {"days": 3}}),
    }
    facts = told(attributes)
    assert facts.kind is Kind.TOOL and facts.tool is not None
    assert facts.tool.arguments == {"title": "Dune", "days": 3}
