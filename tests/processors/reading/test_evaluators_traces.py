"""What judges do, our own and other people's, is never taken for the work of an agent."""

from __future__ import annotations

import json

import pytest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from evaluators.judge.showing.prompt import build_prompt, prepare
from processors.conventions.wanted import wants
from processors.otlp import decode_span
from processors.reading.transcribe import transcribe
from tests.evaluators.judge_cases import choice, six_steps


def _messages(role: str, text: str) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])


_CHAT = {
    "gen_ai.operation.name": "chat",
    "gen_ai.input.messages": _messages("user", "Was this step right?"),
    "gen_ai.output.messages": _messages("assistant", "correct"),
}
_LLM = {
    "openinference.span.kind": "LLM",
    "llm.input_messages.0.message.role": "user",
    "llm.input_messages.0.message.content": "Was this step right?",
    "llm.output_messages.0.message.role": "assistant",
    "llm.output_messages.0.message.content": "correct",
}
_EVALUATION = {"gen_ai.operation.name": "evaluation"}
_EVALUATOR = {"openinference.span.kind": "EVALUATOR"}

One = tuple[int, int, str, dict[str, str]]
"""A span: its number, its parent's (0: none), its scope, its attributes."""


def _turns(*spans: One) -> list[int]:
    """The turns of each run that is read from these spans, as they would reach the judging process."""
    read = []
    for number, parent, scope_name, attributes in spans:
        scope = InstrumentationScope(name=scope_name).SerializeToString()
        span = Span(
            trace_id=b"t" * 16,
            span_id=bytes([number]) * 8,
            parent_span_id=bytes([parent]) * 8 if parent else b"",
            name="span",
            start_time_unix_nano=number,
            end_time_unix_nano=number + 1,
            attributes=[KeyValue(key=key, value=AnyValue(string_value=value)) for key, value in attributes.items()],
        ).SerializeToString()
        if wants(span, scope):
            read.append(decode_span(b"", scope, span))
    return [len(run.turns) for run in transcribe("74" * 16, read).runs]


@pytest.mark.parametrize(
    "spans",
    [
        pytest.param([(1, 0, "spanjudge", _CHAT)], id="our own request"),
        pytest.param([(1, 0, "spanjudge", _EVALUATION), (2, 1, "spanjudge", _CHAT)], id="our own, below another"),
        pytest.param([(2, 9, "spanjudge", _CHAT)], id="our own, whose parent never came"),
        pytest.param([(1, 0, "evals", _EVALUATION), (2, 1, "openai", _CHAT)], id="below an evaluation"),
        pytest.param([(1, 0, "evals", _EVALUATOR), (2, 1, "openai", _LLM)], id="below an evaluator"),
        pytest.param(
            [(1, 0, "evals", _EVALUATOR), (2, 1, "x", {"openinference.span.kind": "CHAIN"}), (3, 2, "openai", _LLM)],
            id="two below an evaluator",
        ),
        pytest.param(
            [(3, 2, "openai", _CHAT), (2, 1, "http", {"http.request.method": "POST"}), (1, 0, "evals", _EVALUATION)],
            id="below an evaluation that came last",
        ),
    ],
)
def test_a_judge_at_work_is_no_run(spans: list[One]) -> None:
    assert _turns(*spans) in ([], [0])


def test_an_evaluation_within_an_agent_s_run_is_no_turn_of_it() -> None:
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "a"}
    spans: list[One] = [(1, 0, "x", agent), (2, 1, "evals", _EVALUATION), (3, 2, "openai", _CHAT), (4, 1, "o", _CHAT)]
    assert _turns(*spans) == [1]


def test_a_request_of_our_own_that_a_gateway_traced_is_recognised_by_its_instructions() -> None:
    prompt = build_prompt(prepare(six_steps()), [("q1", choice(1))], 20_000)
    assert prompt is not None
    asked = [
        {"role": "system", "parts": [{"type": "text", "content": prompt.system}]},
        {"role": "user", "parts": [{"type": "text", "content": prompt.user}]},
    ]
    assert _turns((1, 0, "litellm", {**_CHAT, "gen_ai.input.messages": json.dumps(asked)})) == []


def test_a_user_who_quotes_our_instructions_does_not_escape_being_judged() -> None:
    prompt = build_prompt(prepare(six_steps()), [("q1", choice(1))], 20_000)
    assert prompt is not None
    assert _turns((1, 0, "openai", {**_CHAT, "gen_ai.input.messages": _messages("user", prompt.system)})) == [1]
