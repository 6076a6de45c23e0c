"""Who is believed where several dialects stand on one span, and who may read at all."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from evaluators.cases import JsonValue
from processors.conventions.facts import SpanFacts
from processors.conventions.registry import Readers
from processors.otlp import Span


def chat(text: str) -> str:
    return json.dumps({"choices": [{"message": {"role": "assistant", "content": text}}]})


SAID: Mapping[str, Mapping[str, JsonValue]] = {
    "openinference": {
        "openinference.span.kind": "LLM",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "openinference",
    },
    "adk": {"gcp.vertex.agent.llm_response": '{"content": {"role": "model", "parts": [{"text": "adk"}]}}'},
    "genai": {
        "gen_ai.operation.name": "chat",
        "gen_ai.output.messages": '[{"role": "assistant", "parts": [{"type": "text", "content": "genai"}]}]',
    },
    "vercel": {"ai.operationId": "ai.generateText.doGenerate", "ai.response.text": "vercel"},
    "traceloop": {"traceloop.span.kind": "llm", "traceloop.entity.output": chat("traceloop")},
    "langfuse": {"langfuse.observation.type": "generation", "langfuse.observation.output": chat("langfuse")},
    "mlflow": {"mlflow.spanType": '"LLM"', "mlflow.spanOutputs": chat("mlflow")},
    "laminar": {"lmnr.span.type": "LLM", "lmnr.span.output": chat("laminar")},
    "langwatch": {
        "langwatch.span.type": "llm",
        "langwatch.output": json.dumps({"type": "json", "value": chat("langwatch")}),
    },
    "agentops": {"agentops.span.kind": "llm", "agentops.entity.output": chat("agentops")},
    "braintrust": {"braintrust.span_attributes.type": "llm", "braintrust.output_json": chat("braintrust")},
    "logfire": {"logfire.json_schema": "{}", "response_data": json.dumps({"message": {"content": "logfire"}})},
}
"""An answer in each dialect that has a form of its own for it, in order of trust."""


def read(attributes: Mapping[str, JsonValue]) -> SpanFacts:
    facts = Readers().read(Span(trace_id="t", span_id="s", attributes=attributes))
    assert facts is not None
    return facts


@pytest.mark.parametrize("dialect", SAID)
def test_of_all_dialects_on_a_span_the_one_that_is_trusted_most_is_believed(dialect: str) -> None:
    spoken = [*SAID][[*SAID].index(dialect) :]
    for order in (spoken, spoken[::-1]):
        facts = read({key: value for name in order for key, value in SAID[name].items()})
        assert [message.text for message in facts.output or ()] == [dialect]
        assert facts.dialects == tuple(spoken)


def test_a_dialect_whose_spans_look_like_anothers_is_read_alone() -> None:
    facts = read({"function.args": "('Emma',)", **SAID["genai"]})
    assert facts.dialects == ("openlit",)


def test_a_span_that_a_reader_knows_is_not_read_by_the_plain_meaning_of_its_keys() -> None:
    assert read({**SAID["genai"], "acme.tool_name": "find_book"}).tool is None
    assert read({"acme.tool_name": "find_book", "acme.tool_input": "{}"}).dialects == ("unknown",)
