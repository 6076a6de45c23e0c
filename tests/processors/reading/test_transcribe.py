"""From spans to runs: one behaviour a test, told as conversations."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace

import pytest

from evaluators.cases import JsonValue, Role, Run
from processors.otlp import Event, Log, StatusCode
from processors.reading.transcribe import transcribe
from tests.processors.spans_of import (
    WEATHER,
    Trace,
    asks,
    returns,
    says,
    system,
    together,
    user,
)

QUESTION = [system("You know the weather."), user("Weather in Rome?")]
CALL = asks("c1", "get_weather", {"city": "Rome"})
RESULT = returns("c1", "14 °C")


def simple() -> Trace:
    """A question, a call, an answer."""
    trace = Trace()
    trace.agent()
    trace.llm("l1", QUESTION, CALL)
    trace.tool("t1", "get_weather", {"city": "Rome"}, "14 °C")
    trace.llm("l2", [*QUESTION, CALL, RESULT], says("It is 14 °C."))
    return trace


def called(run: Run) -> list[tuple[str, object]]:
    return [(call.name, call.arguments) for call in run.calls]


def results(run: Run) -> list[str | None]:
    return [call.result.content if call.result is not None else None for call in run.calls]


# ---------------------------------------------------------------- the plain case


def test_a_run_is_told_in_turns_with_calls_and_results() -> None:
    run = simple().run()

    assert run.user_inputs == ("Weather in Rome?",)
    assert run.system_prompts == ("You know the weather.",)
    assert [(turn.ref, turn.text, turn.answers) for turn in run.turns] == [
        ("l1", "", ()),
        ("l2", "It is 14 °C.", ("c1",)),
    ]
    (call,) = run.calls
    assert (call.id, call.ref, call.from_model) == ("c1", "t1", True)
    assert call.result is not None and (call.result.content, call.result.error) == ("14 °C", None)
    assert (run.final_answer, run.answered, run.aborted) == ("It is 14 °C.", True, False)
    assert (run.ref, run.missing) == ("agent", ())
    assert run.turns[0].tools is not None and [tool.name for tool in run.turns[0].tools] == ["get_weather"]


def test_the_order_of_arrival_changes_nothing() -> None:
    trace = simple()
    assert transcribe("t", trace.spans[::-1]).runs == trace.runs()


def test_a_span_that_arrives_twice_is_one() -> None:
    trace = simple()
    assert transcribe("t", [*trace.spans, *trace.spans]).runs == trace.runs()


def test_repeated_history_is_one_object_in_every_context() -> None:
    first, second = simple().run().turns
    assert first.context is not None and second.context is not None
    assert all(one is other for one, other in zip(first.context, second.context, strict=False))


def test_wrong_clocks_do_not_change_the_order_of_a_growing_conversation() -> None:
    trace = Trace()
    trace.agent()
    trace.llm("l1", QUESTION, CALL, start_ns=9_000_000_000)
    trace.tool("t1", "get_weather", {"city": "Rome"}, "14 °C", start_ns=1)
    trace.llm("l2", [*QUESTION, CALL, RESULT], says("It is 14 °C."), start_ns=5_000_000_000)

    run = trace.run()

    assert [turn.ref for turn in run.turns] == ["l1", "l2"]
    assert (run.final_answer, run.calls[0].ref) == ("It is 14 °C.", "t1")


def test_a_span_that_ends_before_it_starts_has_no_duration() -> None:
    trace = simple()
    trace.spans[2] = replace(trace.spans[2], end_ns=trace.spans[2].start_ns - 1)
    result = trace.run().calls[0].result
    assert result is not None and result.duration_s is None


def test_spans_that_are_each_others_parents_are_read_all_the_same() -> None:
    trace = Trace()
    trace.agent("a", under="b")
    trace.agent("b", under="a")
    trace.llm("l1", QUESTION, says("Hello."), under="b")
    assert trace.run().final_answer == "Hello."


# ---------------------------------------------------------------- calls and executions


def test_parallel_calls_find_their_executions_by_arguments_when_there_are_no_ids() -> None:
    both = together(asks("c1", "get_weather", {"city": "Rome"}), asks("c2", "get_weather", {"city": "Oslo"}))
    trace = Trace()
    trace.agent()
    trace.llm("l1", QUESTION, both)
    trace.tool("t-oslo", "get_weather", {"city": "Oslo"}, "-2 °C")
    trace.tool("t-rome", "get_weather", {"city": "Rome"}, "14 °C")

    run = trace.run()

    assert [(call.id, call.ref) for call in run.calls] == [("c1", "t-rome"), ("c2", "t-oslo")]
    assert results(run) == ["14 °C", "-2 °C"]


def test_an_id_on_the_tool_span_decides_over_order() -> None:
    both = together(asks("c1", "get_weather", {"city": "Rome"}), asks("c2", "get_weather", {"city": "Rome"}))
    trace = Trace()
    trace.agent()
    trace.llm("l1", QUESTION, both)
    trace.tool("second", "get_weather", {"city": "Rome"}, "B", **{"tool_call.id": "c2"})
    trace.tool("first", "get_weather", {"city": "Rome"}, "A", **{"tool_call.id": "c1"})
    assert [(call.id, call.ref) for call in trace.run().calls] == [("c1", "first"), ("c2", "second")]


def test_arguments_that_a_framework_added_do_not_hide_whose_execution_it_was() -> None:
    trace = Trace()
    trace.agent()
    trace.llm("l1", QUESTION, CALL)
    trace.tool("t1", "get_weather", {"city": "Rome", "unit": "celsius", "runtime": None}, "14 °C")
    (call,) = trace.run().calls
    assert (call.ref, call.arguments) == ("t1", {"city": "Rome"})


def test_a_call_id_that_is_used_again_is_another_call() -> None:
    first, second = asks("call_0", "get_weather", {"city": "Rome"}), asks("call_0", "get_weather", {"city": "Oslo"})
    trace = Trace()
    trace.agent()
    trace.llm("l1", QUESTION, first)
    trace.tool("t1", "get_weather", {"city": "Rome"}, "14 °C")
    trace.llm("l2", [*QUESTION, first, returns("call_0", "14 °C")], second)
    trace.llm("l3", [*QUESTION, first, returns("call_0", "14 °C"), second], says("Oslo gave nothing."))
    assert results(trace.run()) == ["14 °C", None]


def test_ids_that_differ_between_output_and_history_still_join_by_name_and_order() -> None:
    asked, told = asks("fc_1", "get_weather", {"city": "Rome"}), asks("call_1", "get_weather", {"city": "Rome"})
    trace = Trace()
    trace.agent()
    trace.llm("l1", QUESTION, asked)
    trace.llm("l2", [*QUESTION, told, returns("call_1", "14 °C")], says("14 °C."))

    run = trace.run()

    assert called(run) == [("get_weather", {"city": "Rome"})]
    assert results(run) == ["14 °C"]


def test_emptier_arguments_in_the_history_never_replace_those_the_model_gave() -> None:
    trace = Trace()
    trace.agent()
    trace.llm("l1", QUESTION, CALL)
    trace.llm("l2", [*QUESTION, asks("c1", "get_weather", {}), RESULT], says("14 °C."))
    assert called(trace.run()) == [("get_weather", {"city": "Rome"})]


def test_an_execution_that_no_call_asked_for_is_a_loose_call() -> None:
    trace = Trace()
    trace.agent()
    trace.tool("t1", "get_weather", {"city": "Rome"}, "14 °C")
    run = trace.run()
    assert [(call.name, call.from_model, call.ref) for call in run.loose_calls] == [("get_weather", False, "t1")]


def test_client_and_server_spans_of_one_execution_are_one_call_with_the_error_of_either() -> None:
    trace = Trace()
    trace.agent()
    trace.llm("l1", QUESTION, CALL)
    trace.tool("t1", "get_weather", {"city": "Rome"})
    server: dict[str, JsonValue] = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "get_weather"}
    trace.add("mcp-client", {**server, "mcp.method.name": "tools/call"}, under="t1")
    trace.add("mcp-server", server, under="mcp-client", error="no such city")

    (call,) = trace.run().calls

    assert call.ref == "t1"
    assert call.result is not None and call.result.error == "no such city"


def test_a_failed_call_keeps_its_error_and_what_the_model_was_told_of_it() -> None:
    trace = Trace()
    trace.agent()
    trace.llm("l1", QUESTION, CALL)
    trace.tool("t1", "get_weather", {"city": "Rome"}, error="ValueError: unknown city Rome")
    trace.llm("l2", [*QUESTION, CALL, returns("c1", "Error: Function failed.")], says("Sorry."))
    result = trace.run().calls[0].result
    assert result is not None
    assert (result.content, result.error) == ("Error: Function failed.", "ValueError: unknown city Rome")


def test_an_error_is_told_by_structure_and_not_by_words() -> None:
    trace = Trace()
    trace.agent()
    trace.llm("l1", QUESTION, CALL)
    trace.tool("t1", "get_weather", {"city": "Rome"}, '{"errors": []}')
    result = trace.run().calls[0].result
    assert result is not None and result.error is None


def test_a_result_that_was_not_captured_is_not_an_empty_one() -> None:
    trace = Trace()
    trace.agent()
    trace.llm("l1", QUESTION, CALL)
    trace.tool("t1", "get_weather", {"city": "Rome"})
    trace.llm("l2", QUESTION, says("It is 14 °C."))

    run = trace.run()

    assert run.calls[0].result is not None and run.calls[0].result.content is None
    assert "tool_results" in run.missing
    assert run.turns[1].answers == ("c1",)


def test_a_call_that_waits_for_approval_has_no_result_and_is_no_failure() -> None:
    raised = Event(name="exception", attributes={"exception.type": "GraphInterrupt"})
    trace = Trace()
    trace.agent()
    trace.llm("l1", QUESTION, CALL)
    trace.tool("t1", "get_weather", {"city": "Rome"}, error="GraphInterrupt", events=[raised])

    run = trace.run()

    assert run.calls[0].awaiting_approval and run.calls[0].result is None
    assert (run.answered, run.aborted) == (None, False)
    assert "final_answer" not in run.missing


def test_arguments_left_out_are_none_given_where_the_tool_needs_none() -> None:
    alarms: JsonValue = {"name": "list_alarms", "parameters": {"type": "object", "properties": {}}}
    trace = Trace()
    trace.agent()
    trace.llm("l1", QUESTION, None, tools=[alarms, WEATHER], **_call_without_arguments("list_alarms"))  # type: ignore[list-item]
    trace.llm("l2", QUESTION, None, tools=[alarms, WEATHER], **_call_without_arguments("get_weather"))  # type: ignore[list-item]

    run = trace.run()

    assert called(run) == [("list_alarms", {}), ("get_weather", None)]
    assert "arguments" in run.missing


def _call_without_arguments(name: str) -> dict[str, JsonValue]:
    start = "llm.output_messages.0.message"
    return {f"{start}.role": "assistant", f"{start}.tool_calls.0.tool_call.function.name": name}


# ---------------------------------------------------------------- several spans of one model call


def test_an_sdk_span_below_or_beside_the_instrumentors_is_the_same_turn() -> None:
    sdk: dict[str, JsonValue] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.response.id": "r1",
        "gen_ai.response.finish_reasons": ["stop"],
    }
    for under in ("l1", "agent"):
        trace = Trace()
        trace.agent()
        trace.llm("l1", QUESTION, says("Hello."), **{"output.value": '{"id": "r1"}'})
        trace.add("sdk", sdk, under=under)
        assert [turn.ref for turn in trace.run().turns] == ["l1"]


def test_a_framework_span_round_a_providers_is_the_same_turn() -> None:
    trace = Trace()
    trace.agent()
    trace.llm("outer", QUESTION, None, tools=())
    trace.llm("inner", QUESTION, CALL, under="outer")
    run = trace.run()
    assert [turn.ref for turn in run.turns] == ["inner"]
    assert called(run) == [("get_weather", {"city": "Rome"})]


def test_a_span_round_a_loop_of_model_calls_is_no_turn() -> None:
    trace = Trace()
    trace.agent()
    trace.llm("loop", QUESTION, says("It is 14 °C."))
    trace.llm("l1", QUESTION, CALL, under="loop")
    trace.llm("l2", [*QUESTION, CALL, RESULT], says("It is 14 °C."), under="loop")
    assert [turn.ref for turn in trace.run().turns] == ["l1", "l2"]


def test_a_span_that_holds_a_whole_loop_is_several_turns() -> None:
    messages = [
        {"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "tank", "arguments": {"n": 6}}]},
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "pH 6.8"}]},
        {"role": "assistant", "parts": [{"type": "text", "content": "pH 6.8."}]},
    ]
    asked = [{"role": "user", "parts": [{"type": "text", "content": "pH of tank 6?"}]}]
    trace = Trace()
    trace.add(
        "chat",
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.input.messages": json.dumps(asked),
            "gen_ai.output.messages": json.dumps(messages),
        },
    )

    run = trace.run()

    assert [(turn.ref, turn.text, turn.answers) for turn in run.turns] == [
        ("chat", "", ()),
        ("chat", "pH 6.8.", ("c1",)),
    ]
    assert (results(run), run.final_answer) == (["pH 6.8"], "pH 6.8.")


def test_a_request_that_was_sent_again_is_one_decision() -> None:
    trace = Trace()
    trace.agent()
    trace.llm("first", QUESTION, None, error="429 Too Many Requests")
    trace.llm("second", QUESTION, says("Hello."))
    assert [(turn.ref, turn.error) for turn in trace.run().turns] == [("second", None)]


def test_a_marked_model_call_without_messages_or_a_reason_to_finish_is_no_turn() -> None:
    trace = Trace()
    trace.agent()
    trace.llm("l1", QUESTION, says("Hello."))
    trace.add("embedding", {"gen_ai.operation.name": "chat", "gen_ai.request.model": "titan-embed"}, under="agent")
    run = trace.run()
    assert [turn.ref for turn in run.turns] == ["l1"]
    assert run.final_answer == "Hello."


def test_a_span_that_hands_the_conversation_on_is_no_model_call() -> None:
    trace = Trace()
    trace.agent()
    trace.llm("prepare", QUESTION, user("Weather in Rome?"))
    trace.llm("l1", QUESTION, says("Hello."))
    assert [turn.ref for turn in trace.run().turns] == ["l1"]


def test_an_output_that_was_not_captured_is_found_in_the_next_turns_history() -> None:
    trace = Trace()
    trace.agent()
    trace.llm("l1", QUESTION, None)
    trace.llm("l2", [*QUESTION, CALL, RESULT], says("It is 14 °C."))
    run = trace.run()
    assert [len(turn.calls) for turn in run.turns] == [1, 0]
    assert results(run) == ["14 °C"]


def test_what_a_turn_asked_for_is_not_found_again_for_the_span_that_prepares_the_next_one() -> None:
    trace = Trace()
    trace.agent()
    trace.llm("l1", QUESTION, CALL)
    trace.llm("prepare", QUESTION, None)
    trace.llm("l2", [*QUESTION, CALL, RESULT], says("It is 14 °C."))
    assert [call.id for call in trace.run().calls] == ["c1"]


# ---------------------------------------------------------------- agents in agents


def delegated() -> Trace:
    """A manager whose tool asks another agent, which has a tool of its own."""
    task = "Find out about the weather in Rome."
    ask = asks("m1", "ask_expert", {"task": task})
    expert = [system("You are the expert."), user(task)]
    trace = Trace()
    trace.agent("manager", agent__name="manager")
    trace.llm("l1", QUESTION, ask, under="manager", tools=[{"name": "ask_expert"}])
    trace.tool("delegation", "ask_expert", {"task": task}, "14 °C", under="manager")
    trace.agent("expert", under="delegation", agent__name="expert")
    trace.llm("l2", expert, CALL, under="expert")
    trace.tool("t1", "get_weather", {"city": "Rome"}, "14 °C", under="expert")
    trace.llm("l3", [*expert, CALL, RESULT], says("14 °C in Rome."), under="expert")
    trace.llm("l4", [*QUESTION, ask, returns("m1", "14 °C")], says("It is 14 °C."), under="manager")
    return trace


def test_a_sub_agents_turns_belong_to_the_outer_run_and_its_task_is_not_the_users_word() -> None:
    run = delegated().run()
    assert run.user_inputs == ("Weather in Rome?",)
    assert run.final_answer == "It is 14 °C."
    assert [(turn.ref, turn.agent, turn.answers) for turn in run.turns] == [
        ("l1", "manager", ()),
        ("l2", "expert", ()),
        ("l3", "expert", ("c1",)),
        ("l4", "manager", ("m1",)),
    ]


def test_each_turn_has_the_tools_of_its_own_agent() -> None:
    offered = [[tool.name for tool in turn.tools or ()] for turn in delegated().run().turns]
    assert offered == [["ask_expert"], ["get_weather"], ["get_weather"], ["get_weather"]]


def test_agents_and_what_encloses_a_tool_are_told() -> None:
    transcript = transcribe("t", delegated().spans)
    assert [(agent.name, agent.span_id, agent.parent) for agent in transcript.agents] == [
        ("manager", "manager", None),
        ("expert", "expert", "manager"),
    ]
    assert transcript.enclosing == {"delegation": "manager", "t1": "expert"}


def test_a_sub_agents_span_at_the_wrong_level_is_known_by_its_conversation() -> None:
    trace = delegated()
    trace.spans = [replace(span, parent_id="manager") if span.span_id in ("l3", "t1") else span for span in trace.spans]
    run = trace.run()
    assert (run.user_inputs, run.final_answer) == (("Weather in Rome?",), "It is 14 °C.")


def test_a_hand_off_keeps_the_run_and_is_no_tool_use() -> None:
    transfer = asks("h1", "transfer_to_travel_agent", {})
    history = [*QUESTION, transfer, returns("h1", '{"assistant": "Travel"}')]
    trace = Trace()
    trace.add("workflow", {"openinference.span.kind": "CHAIN"})
    trace.agent("triage", under="workflow", agent__name="Triage")
    trace.llm("l1", QUESTION, transfer, under="triage", tools=[{"name": "transfer_to_travel_agent"}])
    trace.add("hand", {"openinference.span.kind": "TOOL"}, under="triage", name="handoff to Travel")
    trace.agent("travel", under="workflow", agent__name="Travel")
    trace.llm("l2", history, CALL, under="travel")
    trace.tool("t1", "get_weather", {"city": "Rome"}, "14 °C", under="travel")
    trace.llm("l3", [*history, CALL, RESULT], says("14 °C."), under="travel")

    run = trace.run()

    assert [(call.name, call.is_handoff) for call in run.calls] == [
        ("transfer_to_travel_agent", True),
        ("get_weather", False),
    ]
    assert (run.final_answer, run.user_inputs) == ("14 °C.", ("Weather in Rome?",))


def test_a_title_written_beside_the_conversation_is_no_turn_of_it() -> None:
    trace = simple()
    trace.llm("title", [user("Give this a title: Weather in Rome?")], says("Roman weather"), tools=())
    run = trace.run()
    assert (run.final_answer, run.user_inputs) == ("It is 14 °C.", ("Weather in Rome?",))
    assert [turn.ref for turn in run.turns] == ["l1", "l2"]


# ---------------------------------------------------------------- what the user said


def test_what_was_said_in_earlier_runs_is_context_and_no_input_of_this_one() -> None:
    history = [*QUESTION, CALL, RESULT, says("It is 14 °C.")]
    trace = Trace()
    trace.agent()
    trace.llm("l1", [*history, user("And in Oslo?")], says("It is -2 °C."))

    run = trace.run()

    assert run.user_inputs == ("And in Oslo?",)
    assert run.calls == ()
    assert run.turns[0].context is not None and len(run.turns[0].context) == 6


def test_a_second_message_within_a_run_is_a_second_input() -> None:
    history = [*QUESTION, says("It is 14 °C.")]
    trace = Trace()
    trace.agent()
    trace.llm("l1", QUESTION, says("It is 14 °C."))
    trace.llm("l2", [*history, user("And in Oslo?")], asks("c2", "get_weather", {"city": "Oslo"}))
    run = trace.run()
    assert run.user_inputs == ("Weather in Rome?", "And in Oslo?")
    assert [turn.user_turn for turn in run.turns] == [0, 1]


def test_what_a_framework_adds_between_calls_is_not_the_users_word() -> None:
    trace = Trace()
    trace.agent()
    trace.llm("l1", QUESTION, CALL)
    trace.llm("l2", [*QUESTION, CALL, user("Fix the errors and try again.")], says("Sorry."))
    assert trace.run().user_inputs == ("Weather in Rome?",)


def test_the_users_own_words_are_taken_out_of_what_a_framework_puts_round_them() -> None:
    trace = Trace()
    trace.agent(**{"input.value": "Weather in Rome?"})
    trace.llm("l1", [user("Current Task: Weather in Rome?\n\nBegin!")], says("14 °C."))
    assert trace.run().user_inputs == ("Weather in Rome?",)


# ---------------------------------------------------------------- runs


def test_a_server_span_above_two_agents_holds_two_runs() -> None:
    trace = Trace()
    trace.add("http", {"http.request.method": "POST"})
    for name in ("a", "b"):
        trace.agent(name, under="http")
        trace.llm(f"llm-{name}", [user(f"question {name}")], says(f"answer {name}"), under=name)
    assert [(run.ref, run.user_inputs, run.final_answer) for run in trace.runs()] == [
        ("a", ("question a",), "answer a"),
        ("b", ("question b",), "answer b"),
    ]


def test_calls_without_an_agent_are_a_run_per_message_of_the_user() -> None:
    answered = [user("one"), says("first")]
    trace = Trace()
    trace.add("http", {"http.request.method": "POST"})
    trace.llm("l1", [user("one")], says("first"), under="http")
    trace.llm("l2", [*answered, user("two")], CALL, under="http")
    trace.llm("l3", [*answered, user("two"), CALL, RESULT], says("second"), under="http")
    assert [(run.ref, run.user_inputs, run.final_answer) for run in trace.runs()] == [
        ("l1", ("one",), "first"),
        ("l3", ("two",), "second"),
    ]


def test_steps_whose_root_never_arrived_are_one_run() -> None:
    trace = Trace()
    for number, (given, answer) in enumerate([(QUESTION, CALL), ([*QUESTION, CALL, RESULT], says("14 °C."))]):
        trace.add(f"step{number}", {"openinference.span.kind": "CHAIN"}, under="lost")
        trace.llm(f"l{number}", given, answer, under=f"step{number}")
    run = trace.run()
    assert (len(run.turns), run.final_answer, run.ref) == (2, "14 °C.", "l1")


def test_agents_and_tools_of_a_run_whose_span_never_arrived_are_one_run() -> None:
    trace = Trace()
    trace.agent("node1", under="lost")
    trace.llm("l1", QUESTION, CALL, under="node1")
    trace.add("tools", {"openinference.span.kind": "CHAIN"}, under="lost")
    trace.tool("t1", "get_weather", {"city": "Rome"}, "14 °C", under="tools")
    trace.agent("node2", under="lost")
    trace.llm("l2", [*QUESTION, CALL, RESULT], says("14 °C."), under="node2")
    run = trace.run()
    assert ([turn.ref for turn in run.turns], run.final_answer, run.aborted) == (["l1", "l2"], "14 °C.", False)


def test_agents_below_a_server_span_that_is_not_sent_are_runs_of_their_own() -> None:
    trace = Trace()
    for number in (1, 2):
        trace.agent(f"agent{number}", under="server")
        trace.llm(f"l{number}", [user("weather?")], says("Sunny."), under=f"agent{number}")
    assert [run.ref for run in trace.runs()] == ["agent1", "agent2"]


def test_what_lost_its_parent_is_part_of_the_run_if_there_is_no_other() -> None:
    trace = Trace()
    trace.agent()
    trace.agent("inner", under="agent")
    trace.llm("l1", QUESTION, CALL, under="inner")
    trace.tool("t1", "get_weather", {"city": "Rome"}, "14 °C", under="lost")
    trace.llm("l2", [*QUESTION, CALL, RESULT], says("14 °C."), under="lost")
    run = trace.run()
    assert (run.ref, [turn.ref for turn in run.turns], run.final_answer) == ("agent", ["l1", "l2"], "14 °C.")
    assert [(call.ref, call.result is not None) for call in run.calls] == [("t1", True)]


def test_a_result_that_a_framework_passes_on_as_words_of_the_user_is_seen() -> None:
    trace = Trace()
    trace.agent()
    trace.llm("l1", QUESTION, CALL)
    trace.tool("t1", "get_weather", {"city": "Rome"}, "14 °C")
    trace.llm("l2", [*QUESTION, CALL, user("Observation: 14 °C")], asks("c2", "get_weather", {"city": "Oslo"}))
    trace.tool("t2", "get_weather", {"city": "Oslo"}, "2 °C")
    trace.llm("l3", [*QUESTION, CALL, user("And what do you think?")], says("It is 14 °C."))
    trace.llm("l4", [*QUESTION, CALL, user("You said 14 °C before.")], says("Yes."))
    run = trace.run()
    assert [turn.answers for turn in run.turns] == [(), ("c1",), (), ()]


def test_one_chain_below_a_span_that_never_arrived_is_the_run() -> None:
    trace = Trace()
    trace.add("graph", {"openinference.span.kind": "CHAIN", "input.value": "weather?"}, under="lost")
    trace.llm("l1", [user("weather?")], says("Sunny."), under="graph")
    assert trace.run().ref == "graph"


def test_chains_that_another_process_called_are_runs_of_their_own() -> None:
    trace = Trace()
    for number in (1, 2):
        trace.add(f"graph{number}", {"openinference.span.kind": "CHAIN"}, under="caller")
        trace.llm(f"l{number}", [user("weather?")], says("Sunny."), under=f"graph{number}")
    trace.spans = [replace(span, flags=0x301 if span.parent_id == "caller" else 0x101) for span in trace.spans]
    assert [run.ref for run in trace.runs()] == ["graph1", "graph2"]


def test_what_a_judge_does_within_a_trace_is_no_work_of_the_agent() -> None:
    trace = Trace()
    trace.agent()
    trace.llm("l1", [user("weather?")], says("Sunny."))
    trace.add("evaluator", {"openinference.span.kind": "EVALUATOR"}, under="agent")
    trace.agent("rater", under="evaluator")
    trace.llm("l2", [user("Rate the answer.")], asks("c1", "get_weather", {}), under="rater")
    trace.tool("t1", "get_weather", {}, "sunny", under="rater")
    run = trace.run()
    assert [turn.ref for turn in run.turns] == ["l1"]
    assert run.calls == ()


@pytest.mark.parametrize("turns", [10, 800])
def test_a_span_that_holds_a_whole_conversation_keeps_every_result(turns: int) -> None:
    """Hundreds of turns, each of which has all the others before it, are cut to what a turn can be about."""
    said: list[JsonValue] = []
    for number in range(turns):
        call = {"type": "tool_call", "id": f"c{number}", "name": "get_weather", "arguments": {"city": str(number)}}
        said.append({"role": "assistant", "parts": [call]})
        answer = {"type": "tool_call_response", "id": f"c{number}", "response": f"{number} degrees"}
        said.append({"role": "tool", "parts": [answer]})
    trace = Trace()
    trace.add(
        "loop",
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": "weather?"}]}],
            "gen_ai.output.messages": said,
        },
    )
    run = trace.run()
    assert [call.result.content for call in run.calls if call.result] == [
        f"{number} degrees" for number in range(turns)
    ]
    assert sum(len(turn.context or ()) for turn in run.turns) < 500_000
    assert all((turn.context or ())[0].text == "weather?" for turn in run.turns)


def test_a_tool_span_alone_is_told_but_has_no_run_to_judge() -> None:
    trace = Trace()
    trace.tool("t1", "unit_price", {"sku": "W"}, "18.50", under=None)
    run = trace.run()
    assert (called(run), run.ref) == ([("unit_price", {"sku": "W"})], None)


def test_a_bare_call_knows_the_results_new_to_it_from_its_history() -> None:
    second = asks("c2", "get_weather", {"city": "Oslo"})
    trace = Trace()
    trace.llm("l3", [*QUESTION, CALL, RESULT, second, returns("c2", "-2 °C")], says("14 and -2 °C."), under=None)

    run = trace.run()

    assert [(call.id, call.earlier, call.ref) for call in run.loose_calls] == [("c1", True, None), ("c2", True, None)]
    assert results(run) == ["14 °C", "-2 °C"]
    assert run.turns[0].answers == ("c2",), "the first result was seen by the call that asked for the second"


def test_spans_of_nobody_are_listed_as_unread() -> None:
    trace = simple()
    trace.add("sql", {"db.statement": "select 1"}, under="t1")
    transcript = transcribe("t", trace.spans)
    assert (transcript.unread, transcript.dialects) == (("sql",), ("openinference",))


def test_the_root_decides_which_session_a_trace_is_of() -> None:
    trace = Trace()
    trace.add("root", {"session.id": "ours"})
    trace.agent("agent", under="root", **{"session.id": "theirs"})
    trace.llm("l1", QUESTION, says("Hello."), **{"session.id": "theirs"})
    assert transcribe("t", trace.spans).session_id == "ours"


# ---------------------------------------------------------------- how it ended


def test_a_failed_last_request_aborts_the_run() -> None:
    trace = Trace()
    trace.agent()
    trace.llm("l1", QUESTION, CALL)
    trace.tool("t1", "get_weather", {"city": "Rome"}, "14 °C")
    trace.llm("l2", [*QUESTION, CALL, RESULT], None, error="400 context too long")
    run = trace.run()
    assert (run.answered, run.aborted, run.final_answer) == (False, True, None)
    assert run.abort_reason is not None and "400" in run.abort_reason


def test_a_run_that_broke_off_at_an_unknown_tool_is_aborted() -> None:
    trace = Trace()
    trace.agent()
    trace.add("turn", {"openinference.span.kind": "CHAIN"}, under="agent", error="Tool not found")
    trace.llm("l1", QUESTION, asks("c1", "get_tides", {}), under="turn")
    run = trace.run()
    assert (run.answered, run.aborted) == (False, True)


def test_a_call_of_an_unknown_tool_alone_is_no_end_the_next_turn_may_have_been_lost() -> None:
    trace = Trace()
    trace.agent()
    trace.llm("l1", QUESTION, asks("c1", "get_tides", {}))
    run = trace.run()
    assert (run.answered, run.aborted) == (None, False)


def test_what_the_runs_own_span_tells_beside_calls_is_the_answer() -> None:
    """One of two executions was lost; the answer came after both."""
    trace = Trace()
    trace.add(
        "agent",
        {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.input.messages": json.dumps([{"role": "user", "parts": [{"type": "text", "content": "Weather?"}]}]),
            "gen_ai.output.messages": json.dumps(
                [
                    {
                        "role": "assistant",
                        "parts": [
                            {"type": "tool_call", "id": "c1", "name": "get_weather", "arguments": {"city": "Rome"}},
                            {"type": "tool_call", "id": "c2", "name": "get_weather", "arguments": {"city": "Oslo"}},
                            {"type": "text", "content": "14 °C and 3 °C."},
                        ],
                    }
                ]
            ),
        },
    )
    trace.tool("t1", "get_weather", {"city": "Rome"}, "14 °C")
    run = trace.run()
    assert (run.answered, run.final_answer) == (True, "14 °C and 3 °C.")


def test_after_a_result_that_no_turn_saw_nobody_knows_whether_there_was_an_answer() -> None:
    trace = Trace()
    trace.agent()
    trace.llm("l1", QUESTION, CALL)
    trace.tool("t1", "get_weather", {"city": "Rome"}, "14 °C")
    run = trace.run()
    assert (run.answered, run.aborted) == (None, False)


def test_a_run_that_ends_with_a_call_that_nobody_executed_has_no_answer_but_did_not_crash() -> None:
    trace = Trace()
    trace.agent()
    trace.llm("l1", QUESTION, CALL)
    trace.tool("t1", "get_weather", {"city": "Rome"}, "14 °C")
    trace.llm("l2", [*QUESTION, CALL, RESULT], asks("c2", "get_weather", {"city": "Oslo"}))
    run = trace.run()
    assert (run.answered, run.aborted) == (False, False)


def _open_ended() -> Trace:
    trace = Trace()
    trace.agent()
    trace.llm("l1", QUESTION, CALL)
    trace.tool("t1", "get_weather", {"city": "Rome"}, "14 °C")
    trace.llm("l2", [*QUESTION, CALL, RESULT], asks("c2", "get_weather", {"city": "Oslo"}))
    return trace


def test_where_spans_were_lost_nobody_knows_how_a_run_ended_that_seems_to_end_with_a_call() -> None:
    trace = _open_ended()
    trace.add("part", {}, under="lost")
    run = trace.run()
    assert (run.answered, run.aborted) == (None, False)


def test_where_attributes_were_left_out_nobody_knows_how_a_run_ended_that_seems_to_end_with_a_call() -> None:
    trace = _open_ended()
    trace.spans[-1] = replace(trace.spans[-1], dropped_attributes=3)
    assert trace.run().answered is None


def test_a_run_whose_last_words_are_empty_has_no_answer() -> None:
    trace = Trace()
    trace.agent()
    trace.llm("l1", QUESTION, says(""))
    assert trace.run().answered is False


@pytest.mark.parametrize("reason", ["tool_calls", "FUNCTION_CALL", ""])
def test_a_turn_without_words_whose_calls_may_not_have_been_captured_ends_nothing(reason: str) -> None:
    trace = Trace()
    trace.agent()
    trace.llm("l1", QUESTION, says(""), **{"llm.finish_reason": reason})
    assert trace.run().answered is None


def test_a_call_whose_run_goes_on_elsewhere_leaves_the_end_open() -> None:
    trace = Trace()
    trace.llm("l1", QUESTION, CALL, under=None)
    run = trace.run()
    assert (run.answered, run.aborted, run.missing) == (None, False, ())


def test_without_content_nothing_is_claimed_and_everything_is_missing() -> None:
    trace = Trace()
    trace.agent()
    trace.llm("l1", None, None, tools=())
    trace.add("t1", {"openinference.span.kind": "TOOL", "tool.name": "f", "input.value": "__REDACTED__"}, under="agent")
    trace.llm("l2", None, None, tools=())

    transcript = transcribe("t", trace.spans)
    (run,) = transcript.runs

    assert (run.user_inputs, run.final_answer, run.answered, run.aborted) == (None, None, None, False)
    assert set(run.missing) == {
        "user_input",
        "system_prompt",
        "tools",
        "tool_calls",
        "arguments",
        "tool_results",
        "final_answer",
    }
    assert all("OPENINFERENCE_HIDE" in missing.remedy for missing in transcript.missing)


def test_an_output_tool_gives_the_answer() -> None:
    trace = Trace()
    trace.agent()
    trace.llm("l1", QUESTION, asks("c1", "final_answer", {"answer": "14 °C"}))
    run = trace.run()
    assert (run.final_answer, run.answered, run.calls[0].is_handoff) == ("14 °C", True, True)


def test_the_run_is_answered_by_its_own_output_where_models_say_nothing() -> None:
    trace = Trace()
    trace.agent(**{"input.value": "Weather in Rome?", "output.value": "It is 14 °C."})
    trace.tool("t1", "get_weather", {"city": "Rome"}, "14 °C")
    run = trace.run()
    assert (run.user_inputs, run.final_answer) == (("Weather in Rome?",), "It is 14 °C.")


def test_an_output_that_was_not_captured_is_no_empty_answer() -> None:
    trace = Trace()
    trace.agent()
    trace.llm("l1", QUESTION, {**CALL, "content": "I look."})
    trace.tool("t1", "get_weather", {"city": "Rome"}, "14 °C")
    trace.llm("l2", [*QUESTION, {**CALL, "content": "I look."}, RESULT], None)
    run = trace.run()
    assert (run.final_answer, run.answered, run.turns[1].text) == (None, None, None)


# ---------------------------------------------------------------- log records


def records(span_id: str, *events: tuple[str, JsonValue]) -> Iterable[Log]:
    for time_ns, (name, body) in enumerate(events):
        yield Log(trace_id="t", span_id=span_id, event_name=name, body=body, time_ns=time_ns)


def test_content_in_log_records_is_joined_by_span() -> None:
    trace = Trace()
    trace.add("chat", {"gen_ai.operation.name": "chat", "gen_ai.response.finish_reasons": ["stop"]})
    logs = list(
        records(
            "chat",
            ("gen_ai.user.message", {"content": "Weather in Rome?"}),
            ("gen_ai.choice", {"index": 0, "message": {"role": "assistant", "content": "It is 14 °C."}}),
        )
    )
    (run,) = transcribe("t", trace.spans, logs[::-1]).runs
    assert (run.user_inputs, run.final_answer) == (("Weather in Rome?",), "It is 14 °C.")


def test_a_record_that_names_no_known_span_is_hung_on_none() -> None:
    trace = Trace()
    trace.add("chat", {"gen_ai.operation.name": "chat", "gen_ai.response.finish_reasons": ["stop"]})
    logs = list(records("elsewhere", ("gen_ai.user.message", {"content": "Weather in Rome?"})))
    (run,) = transcribe("t", trace.spans, logs).runs
    assert run.user_inputs is None


def test_content_on_the_span_and_in_records_is_told_once() -> None:
    asked: JsonValue = [{"role": "user", "parts": [{"type": "text", "content": "Weather in Rome?"}]}]
    trace = Trace()
    trace.add("chat", {"gen_ai.operation.name": "chat", "gen_ai.input.messages": json.dumps(asked)})
    log = Log(
        trace_id="t",
        span_id="chat",
        event_name="gen_ai.client.inference.operation.details",
        attributes={"gen_ai.input.messages": asked},
    )
    (run,) = transcribe("t", trace.spans, [log]).runs
    assert run.user_inputs == ("Weather in Rome?",)


def test_a_status_of_error_on_a_cancelled_stream_makes_the_turn_partial() -> None:
    raised = Event(name="exception", attributes={"exception.type": "asyncio.exceptions.CancelledError"})
    trace = Trace()
    trace.agent()
    trace.llm("l1", QUESTION, says("It is"))
    trace.spans[-1] = replace(trace.spans[-1], status=StatusCode.ERROR, events=(raised,))
    assert trace.run().turns[0].partial


def test_the_forced_tool_is_told() -> None:
    trace = Trace()
    trace.agent()
    trace.llm("l1", QUESTION, CALL, **{"llm.invocation_parameters": '{"tool_choice": "required"}'})
    assert trace.run().turns[0].tool_choice == "required"


def test_results_stand_in_the_context_under_role_tool() -> None:
    context = simple().run().turns[1].context
    assert context is not None
    assert [message.role for message in context] == [Role.SYSTEM, Role.USER, Role.ASSISTANT, Role.TOOL]
    assert (context[3].call_id, context[3].text, context[2].calls[0].name) == ("c1", "14 °C", "get_weather")


# ---------------------------------------------------------------- attributes that an SDK cut


def cut(trace: Trace, limit: int) -> Trace:
    """What an SDK with a length limit for attribute values would have sent."""
    trace.spans = [
        replace(
            span,
            attributes={
                key: value[:limit] if isinstance(value, str) else value for key, value in span.attributes.items()
            },
        )
        for span in trace.spans
    ]
    return trace


def test_arguments_and_results_that_a_length_limit_cut_are_marked_and_others_are_not() -> None:
    long = asks("c1", "get_weather", {"city": "Rome", "note": "x" * 300})
    short = asks("c2", "get_weather", {"city": "Oslo"})
    trace = Trace()
    trace.agent()
    trace.llm("l1", QUESTION, together(long, short))
    trace.tool("t1", "get_weather", {"city": "Rome", "note": "x" * 300}, json.dumps({"t": 14, "log": "y" * 300}))
    trace.tool("t2", "get_weather", {"city": "Oslo"}, '{"t": -2}')

    run = cut(trace, 256).run()

    assert run.truncated
    assert [call.truncated for call in run.calls] == [True, False]
    assert [call.result.truncated for call in run.calls if call.result is not None] == [True, False]


def test_broken_arguments_of_a_model_are_not_taken_for_cut_ones() -> None:
    trace = Trace()
    trace.agent()
    trace.llm("l1", QUESTION, asks("c1", "get_weather", '{"city": "Ro'))
    (call,) = trace.run().calls
    assert (call.arguments, call.truncated) == ('{"city": "Ro', False)


def test_an_agent_that_alone_tells_of_its_answer_may_have_called_tools() -> None:
    """Instrumentations of frameworks may leave model calls and tools to those of the model's SDK."""
    agent = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.tool.definitions": json.dumps([{"type": "function", "name": "get_weather", "parameters": {}}]),
        "gen_ai.input.messages": json.dumps([{"role": "user", "parts": [{"type": "text", "content": "Weather?"}]}]),
        "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": "Sunny."}]}]),
    }
    trace = Trace()
    trace.add("agent", agent)
    run = trace.run()
    assert (run.final_answer, run.calls) == ("Sunny.", ())
    assert "tool_calls" in run.missing


def test_a_request_that_gave_calls_did_not_fail_whatever_became_of_them() -> None:
    """A processor may write a tool's error on to the model call round which it ran."""
    trace = Trace()
    trace.agent()
    trace.llm("l1", QUESTION, CALL, error="no such city")
    trace.tool("t1", "get_weather", {"city": "Rome"}, error="no such city")
    assert trace.run().aborted is False
