"""Functions that were traced without saying that they are tools, and answers that lost their calls."""

from __future__ import annotations

import json

from evaluators.cases import JsonValue
from tests.processors.spans_of import Trace, asks, returns, says, user


def observed(name: str, given: JsonValue, result: str) -> dict[str, JsonValue]:
    return {
        "langfuse.observation.type": "span",
        "langfuse.observation.input": json.dumps({"args": [], "kwargs": given}),
        "langfuse.observation.output": result,
    }


def test_a_function_by_the_name_of_a_call_is_its_execution() -> None:
    trace = Trace()
    trace.agent()
    trace.llm("m1", [user("weather?")], asks("c1", "get_weather", {"city": "Oslo"}))
    trace.add("f1", observed("get_weather", {"city": "Oslo"}, "cold"), name="get_weather", under="agent")
    trace.add("f2", observed("log_usage", {"city": "Oslo"}, "ok"), name="log_usage", under="agent")

    run = trace.run()

    assert [(call.name, call.ref, call.result and call.result.content) for call in run.calls] == [
        ("get_weather", "f1", "cold")
    ]


def test_a_function_by_the_name_of_an_offered_tool_that_no_model_asked_for_is_a_call_of_the_programs() -> None:
    trace = Trace()
    trace.agent()
    trace.add("f1", observed("get_weather", {"city": "Oslo"}, "cold"), name="get_weather", under="agent")
    trace.llm("m1", [user("weather?")], says("It is cold."))

    run = trace.run()

    assert [(call.name, call.from_model) for call in run.calls] == [("get_weather", False)]


def test_calls_that_an_answers_span_lost_are_found_in_the_next_history() -> None:
    trace = Trace()
    trace.agent()
    call = asks("c1", "get_weather", {"city": "Oslo"})
    trace.llm("m1", [user("weather?")], says(""))
    trace.llm("m2", [user("weather?"), call, returns("c1", "cold")], says("It is cold."))

    run = trace.run()

    assert [(one.name, one.arguments) for one in run.turns[0].calls] == [("get_weather", {"city": "Oslo"})]
    assert run.loose_calls == ()


def test_a_history_that_goes_on_otherwise_changes_no_answer() -> None:
    trace = Trace()
    trace.agent()
    trace.llm("m1", [user("weather?")], says("I can't say."))
    trace.llm("m2", [user("weather?"), asks("c1", "get_weather", {}), returns("c1", "cold")], says("It is cold."))

    assert [turn.text for turn in trace.run().turns] == ["I can't say.", "It is cold."]
    assert trace.run().turns[0].calls == ()


def test_a_streamed_answer_on_a_span_of_its_own_is_the_same_turn() -> None:
    trace = Trace()
    trace.agent()
    trace.llm("m1", [user("weather?")], None)
    trace.llm("m1s", [user("weather?")], says("It is cold."))

    assert [turn.ref for turn in trace.run().turns] == ["m1s"]


def test_what_the_user_said_last_is_told_by_the_run_where_histories_are_only_openings() -> None:
    trace = Trace()
    trace.agent(input__value="And in Rome?")
    trace.llm("m1", [user("weather in Oslo?")], asks("c1", "get_weather", {"city": "Rome"}))
    trace.tool("t1", "get_weather", {"city": "Rome"}, "warm")
    trace.llm("m2", [user("weather in Oslo?")], says("It is warm."))

    assert trace.run().user_inputs == ("And in Rome?",)


def test_the_users_words_are_those_the_model_was_given_where_histories_are_whole() -> None:
    trace = Trace()
    trace.agent(input__value="ticket 4711")
    call = asks("c1", "get_weather", {"city": "Rome"})
    trace.llm("m1", [user("weather in Rome?")], call)
    trace.tool("t1", "get_weather", {"city": "Rome"}, "warm")
    trace.llm("m2", [user("weather in Rome?"), call, returns("c1", "warm")], says("It is warm."))

    assert trace.run().user_inputs == ("weather in Rome?",)
