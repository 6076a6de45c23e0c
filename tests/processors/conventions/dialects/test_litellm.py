"""LiteLLM's raw requests."""

from __future__ import annotations

from evaluators.cases import JsonValue, Role
from processors.conventions.decoding.messages import Messages
from processors.conventions.dialects.litellm import LiteLLM
from processors.conventions.facts import Kind, SpanFacts
from processors.otlp import Span
from processors.reading.transcribe import transcribe

TOOLS: list[JsonValue] = [{"type": "function", "function": {"name": "find_book", "parameters": {"type": "object"}}}]
ASKED: list[JsonValue] = [
    {"role": "system", "content": "You run a library desk."},
    {"role": "user", "content": "Is 'Emma' in?"},
]


def call(call_id: str, isbn: str) -> JsonValue:
    function: JsonValue = {"name": "find_book", "arguments": f'{{"isbn": "{isbn}"}}'}
    return {"role": "assistant", "content": None, "tool_calls": [{"id": call_id, "function": function}]}


def raw(span_id: str, place: int, given: list[JsonValue], answer: JsonValue, response_id: str) -> Span:
    return Span(
        trace_id="t",
        span_id=span_id,
        parent_id="desk",
        name="raw_gen_ai_request",
        start_ns=place,
        end_ns=place + 1,
        attributes={
            "llm.openai.messages": repr(given),
            "llm.openai.tools": repr(TOOLS),
            "llm.openai.choices": repr([{"finish_reason": "tool_calls", "message": answer, "logprobs": None}]),
            "llm.openai.id": response_id,
        },
    )


def read(span: Span) -> SpanFacts:
    reader = LiteLLM(Messages())
    assert reader.reads(span)
    return reader.read(span)


def test_request_and_response_are_reprs_of_python_data() -> None:
    facts = read(raw("m1", 1, ASKED, call("c1", "978"), "r-1"))
    assert (facts.kind, facts.response_id) == (Kind.LLM, "r-1")
    assert facts.input is not None and [(one.role, one.text) for one in facts.input] == [
        (Role.SYSTEM, "You run a library desk."),
        (Role.USER, "Is 'Emma' in?"),
    ]
    assert facts.output is not None and facts.output[0].calls[0].arguments == {"isbn": "978"}
    assert facts.tools is not None and facts.tools[0].name == "find_book"


def test_what_the_application_itself_calls_its_fields_is_not_read() -> None:
    facts = read(Span(trace_id="t", span_id="s", name="raw_gen_ai_request", attributes={"llm.openai.created": 1}))
    assert (facts.input, facts.output, facts.tools) == (None, None, None)


def test_calls_written_over_each_other_on_the_applications_span_are_told_by_their_raw_requests() -> None:
    returned: JsonValue = {"role": "tool", "tool_call_id": "c1", "content": "no such ISBN"}
    history = [*ASKED, call("c1", "97"), returned]
    over = Span(
        trace_id="t",
        span_id="desk",
        end_ns=9,
        attributes={
            "gen_ai.operation.name": "chat",
            "gen_ai.response.id": "r-2",
            "gen_ai.output.messages": '[{"role": "assistant", "parts": [], "finish_reason": "tool_calls"}]',
            "gen_ai.completion.0.function_call.name": "find_book",
            "gen_ai.completion.0.function_call.arguments": '{"isbn": "978"}',
        },
    )
    first = raw("m1", 1, ASKED, call("c1", "97"), "r-1")
    second = raw("m2", 4, history, call("c2", "978"), "r-2")

    (run,) = transcribe("t", [over, first, second]).runs

    assert [(one.name, one.arguments) for one in run.calls] == [
        ("find_book", {"isbn": "97"}),
        ("find_book", {"isbn": "978"}),
    ]
    assert run.calls[0].result is not None and run.calls[0].result.content == "no such ISBN"


def test_a_call_may_stand_in_the_completion_where_the_messages_lost_it() -> None:
    alone = Span(
        trace_id="t",
        span_id="desk",
        attributes={
            "gen_ai.operation.name": "chat",
            "gen_ai.output.messages": '[{"role": "assistant", "parts": [], "finish_reason": "tool_calls"}]',
            "gen_ai.completion.0.function_call.name": "find_book",
            "gen_ai.completion.0.function_call.arguments": '{"isbn": "978"}',
        },
    )
    (run,) = transcribe("t", [alone]).runs
    assert [(one.name, one.arguments) for one in run.calls] == [("find_book", {"isbn": "978"})]
