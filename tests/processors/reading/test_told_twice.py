"""Results that an instrumentation tells twice in one request."""

from __future__ import annotations

from evaluators.cases import JsonValue
from processors.otlp import Event, Span
from processors.reading.transcribe import transcribe

USE: JsonValue = {"toolUse": {"toolUseId": "c1", "name": "find_book", "input": {"isbn": "97"}}}
CALL: JsonValue = {"id": "c1", "type": "function", "function": {"name": "find_book", "arguments": {"isbn": "97"}}}


def test_a_result_told_as_a_tools_and_again_within_the_users_message_is_one_and_keeps_that_it_failed() -> None:
    blocks: JsonValue = [{"text": "no such ISBN"}]
    result: JsonValue = {"toolResult": {"toolUseId": "c1", "status": "error", "content": blocks}}
    asked = Event(name="gen_ai.user.message", body={"content": [{"text": "Is Emma in?"}]})
    first = Span(
        trace_id="t",
        span_id="m1",
        parent_id="agent",
        start_ns=1,
        attributes={"gen_ai.operation.name": "chat"},
        events=(asked, Event(name="gen_ai.choice", body={"message": {"role": "assistant", "tool_calls": [CALL]}})),
    )
    second = Span(
        trace_id="t",
        span_id="m2",
        parent_id="agent",
        start_ns=5,
        attributes={"gen_ai.operation.name": "chat"},
        events=(
            asked,
            Event(name="gen_ai.assistant.message", body={"content": [USE], "tool_calls": [CALL]}),
            Event(name="gen_ai.tool.message", body={"id": "c1", "content": blocks}),
            Event(name="gen_ai.user.message", body={"content": [result]}),
            Event(name="gen_ai.choice", body={"message": {"role": "assistant", "content": [{"text": "No."}]}}),
        ),
    )
    agent = Span(trace_id="t", span_id="agent", attributes={"gen_ai.operation.name": "invoke_agent"})
    (run,) = transcribe("t", [agent, first, second]).runs

    (call,) = run.calls
    assert call.result is not None
    assert (call.result.content, call.result.error) == ("no such ISBN", "no such ISBN")
    assert (run.user_inputs, run.final_answer) == (("Is Emma in?",), "No.")
