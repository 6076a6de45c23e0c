"""Runs whose instrumentation tells the shape of messages and withholds their words."""

from __future__ import annotations

import json

from evaluators.cases import JsonValue
from processors.otlp import Span
from processors.reading.transcribe import transcribe

ASKED: JsonValue = {"role": "user", "parts": [{"type": "text"}]}
CALLED: JsonValue = {"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "find_book"}]}
RETURNED: JsonValue = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "name": "find_book"}]}
ANSWERED: JsonValue = {"role": "assistant", "parts": [{"type": "text"}], "finish_reason": "stop"}


def chat(span_id: str, place: int, given: list[JsonValue], answer: JsonValue) -> Span:
    return Span(
        trace_id="t",
        span_id=span_id,
        parent_id="agent",
        start_ns=place,
        end_ns=place + 1,
        attributes={
            "gen_ai.operation.name": "chat",
            "gen_ai.input.messages": json.dumps(given),
            "gen_ai.output.messages": json.dumps([answer]),
            "gen_ai.response.finish_reasons": ["stop"],
            "gen_ai.tool.definitions": '[{"name": "find_book", "parameters": {"type": "object", "properties": {}}}]',
        },
    )


def test_who_asked_what_for_is_known_and_no_word_is_taken_for_silence() -> None:
    agent = Span(
        trace_id="t",
        span_id="agent",
        end_ns=99,
        attributes={"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "desk"},
    )
    spans = [agent, chat("m1", 1, [ASKED], CALLED), chat("m2", 5, [ASKED, CALLED, RETURNED], ANSWERED)]
    (run,) = transcribe("t", spans).runs

    assert [call.name for call in run.calls] == ["find_book"]
    assert run.turns[1].text is None
    assert (run.user_inputs, run.final_answer, run.answered, run.aborted) == (None, None, None, False)
    assert {"user_input", "system_prompt", "tool_results", "final_answer"} <= set(run.missing)
    assert "tool_calls" not in run.missing
