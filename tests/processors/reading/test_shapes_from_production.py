"""Shapes that broke readers in production, one a test, in the conventions they were seen in."""

from __future__ import annotations

import json
from dataclasses import replace

from evaluators.cases import JsonValue, Run
from processors.otlp import Event, Span
from processors.reading.transcribe import transcribe

ASKED: JsonValue = {"role": "user", "content": [{"type": "text", "text": "Do you have a map of the Orla valley?"}]}
TASK: JsonValue = {"role": "user", "content": [{"type": "text", "text": "Find maps of the Orla valley before 1900."}]}


def ai(span_id: str, parent: str | None, place: int, operation: str, attributes: dict[str, JsonValue]) -> Span:
    everything = {"ai.operationId": operation, **attributes}
    return Span(
        trace_id="t", span_id=span_id, parent_id=parent, start_ns=place, end_ns=place + 1, attributes=everything
    )


def turn(span_id: str, parent: str, place: int, given: list[JsonValue], *calls: JsonValue, text: str = "") -> Span:
    attributes: dict[str, JsonValue] = {
        "ai.prompt.messages": json.dumps(given),
        "ai.response.text": text,
        **({"ai.response.toolCalls": json.dumps(calls)} if calls else {}),
    }
    return ai(span_id, parent, place, "ai.streamText.doStream", attributes)


def asks(call_id: str, name: str, arguments: JsonValue) -> JsonValue:
    return {"toolCallId": call_id, "toolName": name, "input": arguments}


def called(call_id: str, name: str) -> JsonValue:
    return {"role": "assistant", "content": [{"type": "tool-call", "toolCallId": call_id, "toolName": name}]}


def returned(call_id: str, name: str, value: str) -> JsonValue:
    part: JsonValue = {
        "type": "tool-result",
        "toolCallId": call_id,
        "toolName": name,
        "output": {"type": "text", "value": value},
    }
    return {"role": "tool", "content": [part]}


def tool(span_id: str, parent: str, place: int, call_id: str, name: str, arguments: JsonValue, result: str) -> Span:
    return ai(
        span_id,
        parent,
        place,
        "ai.toolCall",
        {
            "ai.toolCall.name": name,
            "ai.toolCall.id": call_id,
            "ai.toolCall.args": json.dumps(arguments),
            "ai.toolCall.result": json.dumps(result),
        },
    )


def run_of(*spans: Span) -> Run:
    (run,) = transcribe("t", spans).runs
    return run


def test_a_sub_agents_later_steps_that_hang_on_the_outer_run_are_still_the_sub_agents() -> None:
    task: JsonValue = {"task": "Find maps of the Orla valley before 1900."}
    run = run_of(
        ai("top", None, 0, "ai.streamText", {"ai.prompt": json.dumps({"messages": [ASKED]})}),
        turn("m1", "top", 1, [ASKED], asks("c1", "delegate_search", task)),
        tool("t1", "top", 2, "c1", "delegate_search", task, "Two maps."),
        ai("sub", "t1", 3, "ai.streamText", {"ai.prompt": json.dumps({"messages": [TASK]})}),
        turn("s1", "sub", 4, [TASK], asks("c2", "search", {"q": "Orla"})),
        tool("t2", "top", 5, "c2", "search", {"q": "Orla"}, "1871, 1894"),
        turn("s2", "top", 6, [TASK, called("c2", "search"), returned("c2", "search", "1871, 1894")], text="Two maps."),
        turn(
            "m2",
            "top",
            9,
            [ASKED, called("c1", "delegate_search"), returned("c1", "delegate_search", "Two maps.")],
            text="Yes, two, of 1871 and 1894.",
        ),
    )
    assert run.user_inputs == ("Do you have a map of the Orla valley?",)
    assert [(call.name, call.ref) for call in run.calls] == [("delegate_search", "t1"), ("search", "t2")]
    assert run.final_answer == "Yes, two, of 1871 and 1894."


def test_a_second_span_of_an_execution_below_the_first_is_the_same_call() -> None:
    run = run_of(
        ai("top", None, 0, "ai.streamText", {}),
        turn("m1", "top", 1, [ASKED], asks("c1", "read", {"path": "a"})),
        tool("t1", "top", 2, "c1", "read", {"path": "a"}, "words"),
        Span(
            trace_id="t",
            span_id="inner",
            parent_id="t1",
            name="Tool.execute",
            start_ns=3,
            attributes={"tool.name": "read", "tool.call_id": "c1"},
        ),
    )
    assert [(call.name, call.ref) for call in run.calls] == [("read", "t1")]


def chat(span_id: str, place: int, attributes: dict[str, JsonValue]) -> Span:
    everything: dict[str, JsonValue] = {"gen_ai.operation.name": "chat", **attributes}
    return Span(trace_id="t", span_id=span_id, parent_id="top", start_ns=place, end_ns=place + 1, attributes=everything)


def said(role: str, *parts: JsonValue) -> str:
    return json.dumps([{"role": role, "parts": list(parts)}])


QUESTION = said("user", {"type": "text", "content": "Is Emma in?"})
TOP = Span(
    trace_id="t",
    span_id="top",
    end_ns=99,
    attributes={"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "desk"},
)


def test_an_embedding_that_is_marked_as_a_chat_is_no_turn() -> None:
    run = run_of(
        TOP,
        chat("e", 1, {"gen_ai.request.model": "embed-v4"}),
        chat(
            "m",
            2,
            {
                "gen_ai.input.messages": QUESTION,
                "gen_ai.output.messages": said("assistant", {"type": "text", "content": "Yes."}),
            },
        ),
    )
    assert [turn.ref for turn in run.turns] == ["m"]
    assert run.final_answer == "Yes."


def test_half_a_character_in_a_nested_text_costs_that_character_alone() -> None:
    broken = QUESTION.replace("Emma", "Emma \\ud83d")
    run = run_of(TOP, chat("m", 1, {"gen_ai.input.messages": broken}))
    assert run.user_inputs == ("Is Emma \ufffd in?",)


def test_a_stream_that_gave_nothing_ends_the_run_with_nothing_known() -> None:
    call: JsonValue = {"type": "tool_call", "id": "c1", "name": "find_book", "arguments": {}}
    words: JsonValue = {"type": "text", "content": "Let me look."}
    result: JsonValue = {"type": "tool_call_response", "id": "c1", "response": "two copies"}
    history = json.loads(QUESTION) + json.loads(said("assistant", words, call)) + json.loads(said("user", result))
    run = run_of(
        TOP,
        chat("m1", 1, {"gen_ai.input.messages": QUESTION, "gen_ai.output.messages": said("assistant", words, call)}),
        chat("m2", 5, {"gen_ai.input.messages": json.dumps(history), "gen_ai.response.id": "r"}),
    )
    assert (run.final_answer, run.answered) == (None, None)
    assert "final_answer" in run.missing


def test_a_result_that_the_instrumentation_could_not_write_is_unknown_and_not_empty() -> None:
    call: JsonValue = {"type": "tool_call", "id": "c1", "name": "find_book", "arguments": {}}
    run = run_of(
        TOP,
        chat("m1", 1, {"gen_ai.input.messages": QUESTION, "gen_ai.output.messages": said("assistant", call)}),
        Span(
            trace_id="t",
            span_id="x",
            parent_id="top",
            start_ns=3,
            attributes={
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "find_book",
                "gen_ai.tool.call.id": "c1",
            },
        ),
        chat("m2", 5, {"gen_ai.output.messages": said("assistant", {"type": "text", "content": "Two copies."})}),
    )
    (found,) = run.calls
    assert found.result is not None and (found.result.content, found.result.error) == (None, None)
    assert "tool_results" in run.missing


def test_of_two_session_ids_in_a_trace_that_of_most_spans_counts() -> None:
    def of_session(span_id: str, place: int, session: str) -> Span:
        return chat(span_id, place, {"gen_ai.input.messages": QUESTION, "gen_ai.conversation.id": session})

    spans = [of_session("a", 1, "internal"), of_session("b", 2, "desk-1"), of_session("c", 3, "desk-1")]
    assert transcribe("t", [TOP, *spans]).session_id == "desk-1"


def test_the_users_words_are_told_without_what_a_team_puts_round_them() -> None:
    wrapped = "Context:\nUser Request: Is Emma in today?\n\nOther agents available:\n" + "Agent name: editor.\n" * 20
    team = Span(
        trace_id="t",
        span_id="team",
        end_ns=99,
        attributes={"gen_ai.operation.name": "invoke_swarm"},
        events=(Event(name="gen_ai.user.message", attributes={"content": "Is Emma in today?"}),),
    )
    member = replace(TOP, parent_id="team", start_ns=1)
    answer = said("assistant", {"type": "text", "content": "Yes."})
    given = said("user", {"type": "text", "content": wrapped})
    run = run_of(team, member, chat("m", 2, {"gen_ai.input.messages": given, "gen_ai.output.messages": answer}))
    assert (run.ref, run.user_inputs, run.final_answer) == ("team", ("Is Emma in today?",), "Yes.")
