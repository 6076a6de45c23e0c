"""The AI SDK's own vocabulary."""

from __future__ import annotations

import json

import pytest

from evaluators.cases import JsonValue, Role, Run
from processors.conventions.decoding.messages import Messages
from processors.conventions.dialects.vercel import Vercel
from processors.conventions.facts import Kind, SpanFacts
from processors.otlp import Event, Span, StatusCode
from processors.reading.transcribe import transcribe

SCHEMA: JsonValue = {"type": "object", "properties": {"isbn": {"type": "string"}}, "required": ["isbn"]}
QUESTION: JsonValue = [
    {"role": "system", "content": "You run a library desk."},
    {"role": "user", "content": [{"type": "text", "text": "Is Emma in?"}]},
]


def span(operation: str, attributes: dict[str, JsonValue], **rest: object) -> Span:
    everything = {"operation.name": f"{operation} desk", "ai.operationId": operation, **attributes}
    return Span(trace_id="t", span_id="s", attributes=everything, **rest)  # type: ignore[arg-type]


def read(operation: str, attributes: dict[str, JsonValue], **rest: object) -> SpanFacts:
    one = span(operation, attributes, **rest)
    reader = Vercel(Messages())
    assert reader.reads(one)
    return reader.read(one)


@pytest.mark.parametrize(
    ("operation", "kind"),
    [
        ("ai.generateText", Kind.AGENT),
        ("ai.streamText", Kind.AGENT),
        ("ai.streamObject", Kind.AGENT),
        ("ai.generateText.doGenerate", Kind.LLM),
        ("ai.streamText.doStream", Kind.LLM),
        ("ai.generateObject.doGenerate", Kind.LLM),
        ("ai.toolCall", Kind.TOOL),
        ("ai.embed", Kind.OTHER),
        ("ai.embedMany.doEmbed", Kind.OTHER),
    ],
)
def test_the_operation_says_what_a_span_is(operation: str, kind: Kind) -> None:
    assert read(operation, {}).kind is kind


@pytest.mark.parametrize(
    "call",
    [
        {"toolCallId": "c1", "toolName": "find_book", "input": '{"isbn": "978"}'},
        {"toolCallId": "c1", "toolName": "find_book", "input": {"isbn": "978"}},
        {"toolCallType": "function", "toolCallId": "c1", "toolName": "find_book", "args": '{"isbn": "978"}'},
    ],
    ids=["generated", "streamed", "of earlier versions"],
)
def test_a_model_call_that_asks_for_a_tool(call: JsonValue) -> None:
    facts = read(
        "ai.generateText.doGenerate",
        {
            "ai.prompt.messages": json.dumps(QUESTION),
            "ai.prompt.tools": [json.dumps({"type": "function", "name": "find_book", "inputSchema": SCHEMA})],
            "ai.prompt.toolChoice": '{"type": "tool", "toolName": "find_book"}',
            "ai.response.toolCalls": json.dumps([call]),
            "ai.response.finishReason": "tool-calls",
            "ai.response.id": "r-1",
            "ai.response.model": "gpt-4o-mini-2024-07-18",
        },
    )
    assert facts.input is not None
    assert [(one.role, one.text) for one in facts.input] == [
        (Role.SYSTEM, "You run a library desk."),
        (Role.USER, "Is Emma in?"),
    ]
    assert facts.tools is not None and [(one.name, one.parameters) for one in facts.tools] == [("find_book", SCHEMA)]
    assert facts.output is not None
    (asked,) = facts.output[0].calls
    assert (asked.id, asked.name, asked.arguments) == ("c1", "find_book", {"isbn": "978"})
    assert (facts.output[0].text, facts.tool_choice) == ("", "find_book")
    assert (facts.response_id, facts.finish_reasons) == ("r-1", ("tool-calls",))


def test_arguments_that_are_no_json_stay_as_they_were() -> None:
    calls: JsonValue = [{"toolCallId": "c1", "toolName": "find_book", "input": '{"isbn": "97'}]
    facts = read("ai.streamText.doStream", {"ai.response.toolCalls": json.dumps(calls)})
    assert facts.output is not None and facts.output[0].calls[0].arguments == '{"isbn": "97'


def test_a_structured_answer_is_the_answer() -> None:
    facts = read("ai.generateObject.doGenerate", {"ai.response.object": '{"in": true}'})
    assert facts.output is not None and facts.output[0].text == '{"in": true}'
    assert read("ai.generateObject", {"ai.response.object": '{"in": true}'}).output_text == '{"in": true}'


def test_content_that_was_not_recorded_is_not_captured() -> None:
    facts = read("ai.generateText.doGenerate", {"ai.response.finishReason": "stop"})
    assert (facts.input, facts.output, facts.tools) == (None, None, None)
    assert read("ai.generateText", {}).input_text is None


@pytest.mark.parametrize(
    "prompt",
    [
        {"system": "You run a library desk.", "prompt": "Is Emma in?"},
        {"system": "You run a library desk.", "messages": [{"role": "user", "content": "Is Emma in?"}]},
        {"system": "You run a library desk.", "prompt": [{"role": "user", "content": "Is Emma in?"}]},
        {"instructions": "You run a library desk.", "prompt": "Is Emma in?"},
    ],
    ids=["text", "messages", "messages as the prompt", "an agent's instructions"],
)
def test_a_run_is_asked_in_one_text_or_in_messages(prompt: JsonValue) -> None:
    facts = read("ai.generateText", {"ai.prompt": json.dumps(prompt), "ai.response.text": "Yes."})
    assert facts.input is not None
    assert [(one.role, one.text) for one in facts.input] == [
        (Role.SYSTEM, "You run a library desk."),
        (Role.USER, "Is Emma in?"),
    ]
    assert facts.output_text == "Yes."


def test_an_execution() -> None:
    facts = read(
        "ai.toolCall",
        {
            "ai.toolCall.name": "find_book",
            "ai.toolCall.id": "c1",
            "ai.toolCall.args": '{"isbn": "978"}',
            "ai.toolCall.result": '{"copies": 2}',
        },
    )
    assert facts.tool is not None
    assert (facts.tool.name, facts.tool.call_id, facts.tool.arguments) == ("find_book", "c1", {"isbn": "978"})
    assert (facts.tool.result, facts.tool.error) == ('{"copies": 2}', None)


def test_a_text_that_a_tool_returned_is_quoted_json_and_told_without_quotes() -> None:
    facts = read("ai.toolCall", {"ai.toolCall.name": "f", "ai.toolCall.result": '"two \\"good\\" copies"'})
    assert facts.tool is not None and facts.tool.result == 'two "good" copies'


def test_a_failed_execution_has_no_result_and_the_exceptions_text() -> None:
    raised = Event(name="exception", attributes={"exception.type": "Error", "exception.message": "no such ISBN"})
    facts = read("ai.toolCall", {"ai.toolCall.name": "f"}, status=StatusCode.ERROR, events=(raised,))
    assert facts.tool is not None
    assert (facts.tool.result, facts.tool.error) == (None, "no such ISBN")


@pytest.mark.parametrize("key", ["ai.telemetry.metadata.sessionId", "ai.settings.context.chat_id"])
def test_the_session_stands_under_the_applications_own_name_for_it(key: str) -> None:
    assert read("ai.toolCall", {key: "s-1", "ai.telemetry.metadata.userId": "u"}).session_id == "s-1"


def test_a_prompt_cut_by_a_length_limit_keeps_what_is_whole_and_says_so() -> None:
    long: JsonValue = [*QUESTION, {"role": "user", "content": "a" * 40}]  # type: ignore[misc]
    facts = read("ai.generateText.doGenerate", {"ai.prompt.messages": json.dumps(long)[:-10]})
    assert facts.truncated
    assert facts.input is not None and [one.text for one in facts.input[:2]] == [
        "You run a library desk.",
        "Is Emma in?",
    ]


def run_of(*spans: Span) -> Run:
    (run,) = transcribe("t", spans).runs
    return run


def test_a_streamed_runs_tool_span_may_begin_before_its_model_call_and_lie_beside_or_below_it() -> None:
    calls = json.dumps([{"toolCallId": "c1", "toolName": "find_book", "input": {"isbn": "978"}}])
    history: JsonValue = [
        *QUESTION,  # type: ignore[misc]
        {"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "c1", "toolName": "find_book"}]},
        {
            "role": "tool",
            "content": [
                {
                    "type": "tool-result",
                    "toolCallId": "c1",
                    "toolName": "find_book",
                    "output": {"type": "json", "value": {"copies": 2}},
                }
            ],
        },
    ]

    def made(span_id: str, parent: str | None, start: int, operation: str, attributes: dict[str, JsonValue]) -> Span:
        everything = {"ai.operationId": operation, **attributes}
        return Span(
            trace_id="t", span_id=span_id, parent_id=parent, start_ns=start, end_ns=start + 5, attributes=everything
        )

    for parent in ("top", "m1"):
        run = run_of(
            made("top", None, 0, "ai.streamText", {"ai.prompt": '{"prompt": "Is Emma in?"}'}),
            made(
                "t1",
                parent,
                1,
                "ai.toolCall",
                {
                    "ai.toolCall.name": "find_book",
                    "ai.toolCall.id": "c1",
                    "ai.toolCall.args": '{"isbn": "978"}',
                    "ai.toolCall.result": '{"copies": 2}',
                },
            ),
            made(
                "m1",
                "top",
                2,
                "ai.streamText.doStream",
                {
                    "ai.prompt.messages": json.dumps(QUESTION),
                    "ai.response.text": "",
                    "ai.response.toolCalls": calls,
                },
            ),
            made(
                "m2",
                "top",
                9,
                "ai.streamText.doStream",
                {"ai.prompt.messages": json.dumps(history), "ai.response.text": "Yes, two copies."},
            ),
        )
        (call,) = run.calls
        assert (call.ref, call.name, call.arguments) == ("t1", "find_book", {"isbn": "978"})
        assert call.result is not None and call.result.content == '{"copies":2}'
        assert (run.user_inputs, run.final_answer) == (("Is Emma in?",), "Yes, two copies.")
